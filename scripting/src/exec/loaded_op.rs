//! Operations as they run: those of the program, and those on numbers whose kinds are known before.

use crate::{
    ir::{BinaryOp, IrOp, PackedInt, PackedPrice, UnaryOp},
    scene::VectorProperty,
};

/// How many slots a function under way has: a number of one byte cannot leave them, so that nothing is checked.
pub(super) const WINDOW_SLOTS: usize = 256;

/// The slots of a function under way.
pub(super) type SlotWindow = [i64; WINDOW_SLOTS];

/// A kind of value that lies in slots; a vector takes two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlotKind {
    Bool,
    Int,
    Fixed,
    Object,
    Vec2,
}

/// An operation of loaded code. Numbers of slots have one byte, those of registers two.
///
/// Operations on registers are those of the program, see [`IrOp`]. Who made the code has proved what each slot
/// holds, so that nothing asks for it here. An operation on slots fails, and pays, as that of the program does
/// which it stands for.
// All have one tag: to find out of which of two enumerations an operation is took longer than most of them. Fields
// lie in this order.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoadedOp {
    /// Pays for all that follows, up to the next one.
    Charge(PackedPrice),
    /// Goes on elsewhere.
    Jump { target: u16 },
    /// Gives back what a register holds, and puts `()` there.
    Clear { register: u16 },
    /// Ends the function with the result that a register holds.
    Return { from: u16 },
    /// Ends the function with `()`.
    ReturnUnit,
    /// Puts a constant of the program into a register. This one, and all up to [`LoadedOp::Rethrow`], are
    /// on registers, as [`IrOp`] has them.
    Constant { to: u16, constant: u16 },
    /// Puts a small whole number into a register.
    Int { to: u16, value: PackedInt },
    /// Puts true or false into a register.
    Bool { to: u16, value: bool },
    /// Puts the handle of the own object into a register.
    Own { to: u16 },
    /// Puts the script's state itself into a register.
    State { to: u16 },
    /// Copies a variable.
    Copy { to: u16, from: u16 },
    /// Moves a value that nobody needs any more.
    Move { to: u16, from: u16 },
    /// Puts a sum into a register.
    Add { to: u16, a: u16, b: u16 },
    /// Puts a difference into a register.
    Sub { to: u16, a: u16, b: u16 },
    /// Puts a product into a register.
    Mul { to: u16, a: u16, b: u16 },
    /// Puts whether `a` is below `b` into a register.
    Less { to: u16, a: u16, b: u16 },
    /// Puts the result of any other operator into a register.
    Binary { op: BinaryOp, to: u16, a: u16, b: u16 },
    /// Puts the result of an operator on one value into a register.
    Unary { op: UnaryOp, to: u16, a: u16 },
    /// Goes on elsewhere if a condition, which must be true or false, is this.
    JumpIf { condition: u16, wanted: bool, target: u16 },
    /// Goes on elsewhere unless `a` is below `b`.
    JumpUnlessLess { a: u16, b: u16, target: u16 },
    /// Goes on elsewhere if a value is, or is not, `()`.
    JumpIfUnit { value: u16, wanted: bool, target: u16 },
    /// Goes on elsewhere unless a value is the same as one of the program's, in kind as well.
    JumpUnlessCase { value: u16, constant: u16, target: u16 },
    /// Goes on elsewhere unless a value is an int from `first` up to the int in the next register.
    JumpUnlessWithin { value: u16, first: u16, target: u16 },
    /// Makes an array of values that lie in a row.
    Array { to: u16, first: u16, count: u16 },
    /// Makes a map of values that lie in a row.
    Map { to: u16, first: u16, shape: u16 },
    /// Joins values that lie in a row as text.
    Text { to: u16, first: u16, count: u16 },
    /// Makes a closure; what it captures lies in a row.
    Closure { to: u16, first: u16, function: u16 },
    /// Reads a property.
    Get { to: u16, of: u16, name: u16 },
    /// Reads an element.
    Index { to: u16, of: u16, index: u16 },
    /// Writes an inner part of a variable.
    Store { root: u16, path: u16, value: u16 },
    /// Changes an inner part of a variable by an operator.
    Change { op: BinaryOp, root: u16, path: u16, value: u16 },
    /// Calls a host function that changes its first argument, as [`IrOp::Method`] does. There are fewer calls than
    /// 256, and so the operation has no more bytes than others.
    Method { call: u8, root: u16, path: u16, first: u16 },
    /// Calls a function; arguments lie in a row from `first` on, and its result replaces the first.
    Call { function: u16, first: u16 },
    /// Calls a host function in the same way.
    Host { call: u16, first: u16 },
    /// Calls a closure in the same way.
    CallValue { callee: u16, first: u16, count: u16 },
    /// Begins to take the elements of an array or range; two registers hold how far it is.
    Iterate { state: u16, from: u16 },
    /// Takes the next element, or goes on elsewhere.
    Next { state: u16, to: u16, target: u16 },
    /// Errors go on elsewhere from here, with the error in two registers: as scripts see it, and whole.
    Try { target: u16, error: u16 },
    /// Errors go where they went before.
    EndTry,
    /// Fails with a value of the script's own.
    Throw { from: u16 },
    /// Fails with the error that was caught.
    Rethrow { error: u16 },
    /// Pays for operands that are not two numbers of one kind.
    PayForOperands,
    /// Copies a slot.
    CopySlot { to: u8, from: u8 },
    /// Puts a sum of two numbers of one kind into a slot.
    AddSlots { to: u8, a: u8, b: u8 },
    /// Puts a difference of two numbers of one kind into a slot.
    SubSlots { to: u8, a: u8, b: u8 },
    /// Puts a product of fixed-point numbers into a slot.
    MulFixed { to: u8, a: u8, b: u8 },
    /// Puts the result of another operator on fixed-point numbers into a slot.
    Fixed { op: BinaryOp, to: u8, a: u8, b: u8 },
    /// Puts the result of another operator on whole numbers into a slot.
    Ints { op: BinaryOp, to: u8, a: u8, b: u8 },
    /// Puts a whole number as a fixed-point number into a slot, and pays for operands of two kinds.
    Promote { to: u8, a: u8 },
    /// Puts the opposite of a number into a slot.
    Negate { to: u8, a: u8 },
    /// Puts the other truth into a slot.
    Not { to: u8, a: u8 },
    /// Puts whether `a` is below `b`, two numbers of one kind, into a slot.
    LessSlots { to: u8, a: u8, b: u8 },
    /// Puts whether `a` is not above `b`, two numbers of one kind, into a slot.
    AtMost { to: u8, a: u8, b: u8 },
    /// Puts whether two values of one kind are equal into a slot, or whether they are not.
    Equal { to: u8, a: u8, b: u8, wanted: bool },
    /// Goes on elsewhere if a truth is this.
    JumpIfSlot { condition: u8, wanted: bool, target: u16 },
    /// Goes on elsewhere unless `a` is below `b`, two numbers of one kind.
    JumpUnlessLessSlots { a: u8, b: u8, target: u16 },
    /// Puts the handle of the own object into a slot.
    OwnSlot { to: u8 },
    /// Reads a property of an object that is a vector.
    Vector { property: VectorProperty, x: u8, y: u8, of: u8 },
    /// Looks around, and begins to take the objects that are found. It is a call of `nearby` whose result a loop
    /// goes over and nothing else has, so that it is no array.
    LookAround { kind: SlotKind, radius: u8, state: u16 },
    /// Takes the next object of an array of objects, or of those found around, or goes on elsewhere.
    NextObject { to: u8, state: u16, target: u16 },
    /// Takes the next number of a range, or goes on elsewhere.
    NextInt { to: u8, state: u16, target: u16 },
    /// Puts what a slot holds into a register.
    Spill { kind: SlotKind, slot: u8, register: u16 },
    /// Puts the vector that two slots hold into a register.
    SpillVector { x: u8, y: u8, register: u16 },
    /// Puts what a register holds into a slot.
    Fill { kind: SlotKind, slot: u8, register: u16 },
    /// Puts the vector that a register holds into two slots.
    FillVector { x: u8, y: u8, register: u16 },
    /// Writes a property that is a vector, if the object is the own one, and skips the operations that do so
    /// for any.
    SetVector { of: u8, x: u8, y: u8, skipped: u8, name: u16 },
    /// Does the same with a property that is a number.
    SetNumber { of: u8, value: u8, skipped: u8, name: u16 },
    /// Sends a value under a topic that is a constant of the program.
    Send { to: u8, kind: SlotKind, x: u8, y: u8, topic: u16 },
    /// [`LoadedOp::Charge`] and [`LoadedOp::Jump`]. This and all below do the work of two operations, of which
    /// the second stays behind it: a fault has its place, and a jump can lead to it.
    ChargeAndJump { price: u16, target: u16 },
    /// [`LoadedOp::Charge`] and [`LoadedOp::JumpUnlessLessSlots`].
    ChargeAndJumpUnlessLess { price: u16, a: u8, b: u8, target: u16 },
    /// [`LoadedOp::Charge`] and [`LoadedOp::NextObject`].
    ChargeAndNextObject { to: u8, price: u16, state: u16, target: u16 },
    /// [`LoadedOp::Charge`] and [`LoadedOp::NextInt`].
    ChargeAndNextInt { to: u8, price: u16, state: u16, target: u16 },
    /// [`LoadedOp::Charge`] and [`LoadedOp::Vector`].
    ChargeAndVector { price: u16, property: VectorProperty, x: u8, y: u8, of: u8 },
    /// [`LoadedOp::Charge`] and [`LoadedOp::Fixed`] that divides.
    ChargeAndDivide { price: u16, to: u8, a: u8, b: u8 },
    /// [`LoadedOp::Charge`] and two of [`LoadedOp::CopySlot`].
    ChargeAndCopies { price: u16, first: [u8; 2], second: [u8; 2] },
    /// Two of [`LoadedOp::CopySlot`].
    Copies { first: [u8; 2], second: [u8; 2] },
    /// Two of [`LoadedOp::AddSlots`], each with the slots of its result and operands.
    Adds { first: [u8; 3], second: [u8; 3] },
    /// Two of [`LoadedOp::SubSlots`].
    Subs { first: [u8; 3], second: [u8; 3] },
    /// Two of [`LoadedOp::MulFixed`].
    Products { first: [u8; 3], second: [u8; 3] },
    /// [`LoadedOp::MulFixed`] and [`LoadedOp::AddSlots`].
    ProductAndSum { first: [u8; 3], second: [u8; 3] },
    /// [`LoadedOp::MulFixed`] and [`LoadedOp::SubSlots`].
    ProductAndDifference { first: [u8; 3], second: [u8; 3] },
}

// What an idle script holds is operations for a third, and a place of eight bytes is found soonest.
const _: () = assert!(size_of::<LoadedOp>() == 8);

impl LoadedOp {
    /// Returns an operation of the program as it is, on registers.
    pub(super) fn plain(op: IrOp) -> Self {
        match op {
            IrOp::Charge(price) => Self::Charge(price),
            IrOp::Constant { to, constant } => Self::Constant { to, constant },
            IrOp::Int { to, value } => Self::Int { to, value },
            IrOp::Unit { to } => Self::Clear { register: to },
            IrOp::Bool { to, value } => Self::Bool { to, value },
            IrOp::Own { to } => Self::Own { to },
            IrOp::State { to } => Self::State { to },
            IrOp::Copy { to, from } => Self::Copy { to, from },
            IrOp::Move { to, from } => Self::Move { to, from },
            IrOp::Add { to, a, b } => Self::Add { to, a, b },
            IrOp::Sub { to, a, b } => Self::Sub { to, a, b },
            IrOp::Mul { to, a, b } => Self::Mul { to, a, b },
            IrOp::Less { to, a, b } => Self::Less { to, a, b },
            IrOp::Binary { op, to, a, b } => Self::Binary { op, to, a, b },
            IrOp::Unary { op, to, a } => Self::Unary { op, to, a },
            IrOp::Array { to, first, count } => Self::Array { to, first, count },
            IrOp::Map { to, first, shape } => Self::Map { to, first, shape },
            IrOp::Text { to, first, count } => Self::Text { to, first, count },
            IrOp::Closure { to, first, function } => Self::Closure { to, first, function },
            IrOp::Get { to, of, name } => Self::Get { to, of, name },
            IrOp::Index { to, of, index } => Self::Index { to, of, index },
            IrOp::Store { root, path, value } => Self::Store { root, path, value },
            IrOp::Change { op, root, path, value } => Self::Change { op, root, path, value },
            IrOp::Method { root, path, call, first } => {
                let call = u8::try_from(call).expect("there are fewer host functions");
                Self::Method { call, root, path, first }
            }
            IrOp::Call { function, first } => Self::Call { function, first },
            IrOp::Host { call, first } => Self::Host { call, first },
            IrOp::CallValue { callee, first, count } => Self::CallValue { callee, first, count },
            IrOp::Iterate { state, from } => Self::Iterate { state, from },
            IrOp::Return { from } => Self::Return { from },
            IrOp::EndTry => Self::EndTry,
            IrOp::Throw { from } => Self::Throw { from },
            IrOp::Rethrow { error } => Self::Rethrow { error },
            jump => Self::plain_jump(jump),
        }
    }

    fn plain_jump(op: IrOp) -> Self {
        match op {
            IrOp::Jump { target } => Self::Jump { target },
            IrOp::JumpIf { condition, wanted, target } => {
                Self::JumpIf { condition, wanted, target }
            }
            IrOp::JumpUnlessLess { a, b, target } => Self::JumpUnlessLess { a, b, target },
            IrOp::JumpIfUnit { value, wanted, target } => {
                Self::JumpIfUnit { value, wanted, target }
            }
            IrOp::JumpUnlessCase { value, constant, target } => {
                Self::JumpUnlessCase { value, constant, target }
            }
            IrOp::JumpUnlessWithin { value, first, target } => {
                Self::JumpUnlessWithin { value, first, target }
            }
            IrOp::Next { state, to, target } => Self::Next { state, to, target },
            IrOp::Try { target, error } => Self::Try { target, error },
            other => unreachable!("{other:?} is no jump"),
        }
    }

    /// Returns the register that it overwrites, whatever that holds, if it does nothing else.
    pub(super) const fn overwrites(self) -> Option<u16> {
        match self {
            Self::Constant { to, .. }
            | Self::Int { to, .. }
            | Self::Bool { to, .. }
            | Self::Own { to }
            | Self::State { to }
            | Self::Spill { register: to, .. }
            | Self::SpillVector { register: to, .. } => Some(to),
            _ => None,
        }
    }

    /// Says whether it cannot fail, and has nothing to do with what a register holds.
    pub(super) fn leaves_alone(self, register: u16) -> bool {
        match self {
            Self::OwnSlot { .. } | Self::CopySlot { .. } => true,
            Self::Clear { register: other } => other != register,
            other => other.overwrites().is_some_and(|other| other != register),
        }
    }

    /// Returns where a jump goes, to be changed.
    pub(super) const fn target_mut(&mut self) -> Option<&mut u16> {
        match self {
            Self::Jump { target }
            | Self::JumpIf { target, .. }
            | Self::JumpUnlessLess { target, .. }
            | Self::JumpIfUnit { target, .. }
            | Self::JumpUnlessCase { target, .. }
            | Self::JumpUnlessWithin { target, .. }
            | Self::Next { target, .. }
            | Self::Try { target, .. }
            | Self::JumpIfSlot { target, .. }
            | Self::JumpUnlessLessSlots { target, .. }
            | Self::NextObject { target, .. }
            | Self::NextInt { target, .. }
            | Self::ChargeAndJump { target, .. }
            | Self::ChargeAndJumpUnlessLess { target, .. }
            | Self::ChargeAndNextObject { target, .. }
            | Self::ChargeAndNextInt { target, .. } => Some(target),
            _ => None,
        }
    }

    /// Returns the operation that pays and does the work of the one behind it, if there is one.
    fn with_charge(price: PackedPrice, next: Self) -> Option<Self> {
        let price = u16::try_from(u64::from(price)).ok()?;
        Some(match next {
            Self::Jump { target } => Self::ChargeAndJump { price, target },
            Self::JumpUnlessLessSlots { a, b, target } => {
                Self::ChargeAndJumpUnlessLess { price, a, b, target }
            }
            Self::NextObject { to, state, target } => {
                Self::ChargeAndNextObject { price, to, state, target }
            }
            Self::NextInt { to, state, target } => {
                Self::ChargeAndNextInt { price, to, state, target }
            }
            Self::Vector { property, x, y, of } => {
                Self::ChargeAndVector { price, property, x, y, of }
            }
            Self::Fixed { op: BinaryOp::Div, to, a, b } => {
                Self::ChargeAndDivide { price, to, a, b }
            }
            Self::Copies { first, second } => Self::ChargeAndCopies { price, first, second },
            _ => return None,
        })
    }

    /// Returns the operation that does the work of this one and of the one behind it, if there is one.
    fn with(self, next: Self) -> Option<Self> {
        Some(match (self, next) {
            (Self::Charge(price), next) => return Self::with_charge(price, next),
            (Self::CopySlot { to, from }, Self::CopySlot { to: next, from: other }) => {
                Self::Copies { first: [to, from], second: [next, other] }
            }
            (Self::AddSlots { to, a, b }, Self::AddSlots { to: next, a: c, b: d }) => {
                Self::Adds { first: [to, a, b], second: [next, c, d] }
            }
            (Self::SubSlots { to, a, b }, Self::SubSlots { to: next, a: c, b: d }) => {
                Self::Subs { first: [to, a, b], second: [next, c, d] }
            }
            (Self::MulFixed { to, a, b }, Self::MulFixed { to: next, a: c, b: d }) => {
                Self::Products { first: [to, a, b], second: [next, c, d] }
            }
            (Self::MulFixed { to, a, b }, Self::AddSlots { to: next, a: c, b: d }) => {
                Self::ProductAndSum { first: [to, a, b], second: [next, c, d] }
            }
            (Self::MulFixed { to, a, b }, Self::SubSlots { to: next, a: c, b: d }) => {
                Self::ProductAndDifference { first: [to, a, b], second: [next, c, d] }
            }
            _ => return None,
        })
    }
}

/// Joins operations that often follow each other: to find out what is next takes as long as most of them.
pub(super) fn join_pairs(code: &mut [LoadedOp]) {
    let mut place = 0;
    while place + 1 < code.len() {
        match code[place].with(code[place + 1]) {
            Some(both) => {
                code[place] = both;
                place += 2;
            }
            None => place += 1,
        }
    }
    // What was joined may have a charge before it.
    for place in 1..code.len() {
        if let (LoadedOp::Charge(_), LoadedOp::Copies { .. }) = (code[place - 1], code[place]) {
            code[place - 1] = code[place - 1].with(code[place]).unwrap_or(code[place - 1]);
        }
    }
}
