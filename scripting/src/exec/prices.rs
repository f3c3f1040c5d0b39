//! What each operation costs, in nanoseconds of the reference machine: the one table of operations. What
//! functions of the world cost stands in the table of host functions.
//!
//! `cargo run --release -p metatopia-scripting --example calibrate` measures each of them, and fails where
//! one takes more than one and a half times its price. A change here changes what calls cost, and is a new
//! engine.

use crate::{
    host::{HostFunction, HostImplementation},
    ir::{BinaryOp, IrOp},
};

/// Asking for memory, and giving it back.
pub(super) const ALLOCATION: u64 = 40;

/// Bytes that are written in a nanosecond, beside asking for their memory.
pub(super) const BYTES_PER_NANOSECOND: u64 = 8;

/// Bytes, as values count, that are looked at in a nanosecond.
pub(super) const WALKED_PER_NANOSECOND: u64 = 2;

/// Bytes of a text whose characters are counted or compared in a nanosecond.
pub(super) const LETTERS_PER_NANOSECOND: u64 = 2;

/// Bytes of values, as they count, that become text in a nanosecond is one: printing is slow.
pub(super) const PRINTED: u64 = 6;

/// What a byte of a value, as values count, costs that is handed to the world.
pub(super) const HANDED_PER_BYTE: u64 = 2;

/// Looking at one element of an array or entry of a map.
pub(super) const ELEMENT: u64 = 3;

/// Copying one element, whose inner memory is shared.
pub(super) const ELEMENT_COPY: u64 = 8;

/// Finding a name in a map.
pub(super) const MAP_LOOKUP: u64 = 30;

/// Finding a variable of the state, for the first time in a call or later.
pub(super) const STATE_LOOKUP: u64 = 60;

/// Writing a variable of the state: its value is looked at again, compared, and kept at the end.
pub(super) const STATE_WRITE: u64 = 250;

/// Bytes, as values count, of the state that are kept in a nanosecond.
pub(super) const KEPT_PER_NANOSECOND: u64 = 1;

/// Following one link of a path that is written.
pub(super) const PATH_LINK: u64 = 20;

/// Calling a function, beside clearing its registers.
pub(super) const CALL: u64 = 25;

/// Clearing one register of a function that has ended.
pub(super) const CLEARED_REGISTER: u64 = 1;

/// A failure that is caught, and what a `catch` is told.
pub(super) const FAILURE: u64 = 400;

/// Comparing two elements by their own order, and moving one.
pub(super) const COMPARISON: u64 = 24;

/// An operator on values that are not two numbers of one kind.
pub(super) const OTHER_OPERANDS: u64 = 15;

/// An object that `nearby` looks at.
pub(super) const LOOK: u64 = 50;

/// Putting or turning the own object: its body is held against all that is near it, at worst for
/// 40 microseconds.
pub(super) const POSE: u64 = 20_000;

/// Reading a property of an object, beside the text that it may be.
const PROPERTY: u64 = 45;

/// Reading a property that is a text, beside its letters: an origin is printed for it, in 64 digits.
pub(super) const PROPERTY_TEXT: u64 = 50;

/// What a host function costs besides its own price: its arguments become ours.
const HOST: u64 = 40;

/// Returns what an operation costs that has no operand whose size matters.
pub(super) const fn price(op: &IrOp) -> u64 {
    match op {
        IrOp::Charge(_) => 2,
        IrOp::Constant { .. } => 8,
        // What is longer than a number is shared: to count those who share it takes most of it.
        IrOp::Copy { .. } => 11,
        IrOp::Int { .. } | IrOp::Unit { .. } | IrOp::Bool { .. } | IrOp::Own { .. } => 5,
        IrOp::State { .. } | IrOp::Move { .. } | IrOp::Jump { .. } | IrOp::EndTry => 3,
        IrOp::Add { .. } | IrOp::Sub { .. } | IrOp::Less { .. } => 8,
        IrOp::Mul { .. } => 8,
        IrOp::Binary { op, .. } | IrOp::Change { op, .. } => binary(*op),
        IrOp::Unary { .. } => 5,
        IrOp::JumpIf { .. } | IrOp::JumpUnlessLess { .. } | IrOp::JumpIfUnit { .. } => 4,
        IrOp::JumpUnlessCase { .. } | IrOp::JumpUnlessWithin { .. } => 8,
        IrOp::Array { .. } | IrOp::Map { .. } | IrOp::Text { .. } | IrOp::Closure { .. } => 20,
        IrOp::Get { .. } => PROPERTY,
        IrOp::Index { .. } => 30,
        IrOp::Store { .. } => 60,
        IrOp::Method { .. } => 70,
        IrOp::Call { .. } | IrOp::CallValue { .. } => CALL,
        IrOp::Host { .. } => 10,
        IrOp::Iterate { .. } => 10,
        IrOp::Next { .. } => 8,
        IrOp::Return { .. } => 8,
        IrOp::Try { .. } => 8,
        IrOp::Throw { .. } | IrOp::Rethrow { .. } => FAILURE,
    }
}

const fn binary(op: BinaryOp) -> u64 {
    match op {
        BinaryOp::Div | BinaryOp::Rem => 30,
        BinaryOp::Pow => 40,
        _ => 12,
    }
}

/// Returns what a host function costs.
pub(super) const fn host(row: &HostFunction) -> u64 {
    match row.run {
        HostImplementation::Executor => row.price,
        HostImplementation::Pure(_) | HostImplementation::Scene(_) => HOST + row.price,
    }
}
