//! Operations as they run: those of the program, and those on numbers whose kinds are known before.

use crate::{
    ir::{BinaryOp, IrOp, PackedPrice},
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
/// Who made the code has proved what each slot holds, so that nothing asks for it here. An operation on
/// slots fails, and pays, as that of the program does which it stands for.
// With a tag of its own: to find out of which enumeration an operation is took longer than most of them. Without
// it an operation would have 10 bytes, and a handler of arithmetic would take a twentieth longer.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoadedOp {
    /// An operation of the program, on registers.
    Plain(IrOp),
    /// Pays for all that follows, up to the next one.
    Charge(PackedPrice),
    /// Pays for operands that are not two numbers of one kind.
    PayForOperands,
    /// Copies a slot.
    Copy { to: u8, from: u8 },
    /// Puts a sum of two numbers of one kind into a slot.
    Add { to: u8, a: u8, b: u8 },
    /// Puts a difference of two numbers of one kind into a slot.
    Sub { to: u8, a: u8, b: u8 },
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
    Less { to: u8, a: u8, b: u8 },
    /// Puts whether `a` is not above `b`, two numbers of one kind, into a slot.
    AtMost { to: u8, a: u8, b: u8 },
    /// Puts whether two values of one kind are equal into a slot, or whether they are not.
    Equal { to: u8, a: u8, b: u8, wanted: bool },
    /// Goes on elsewhere.
    Jump { target: u16 },
    /// Goes on elsewhere if a truth is this.
    JumpIf { condition: u8, wanted: bool, target: u16 },
    /// Goes on elsewhere unless `a` is below `b`, two numbers of one kind.
    JumpUnlessLess { a: u8, b: u8, target: u16 },
    /// Puts the handle of the own object into a slot.
    Own { to: u8 },
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
    /// Gives back what a register holds, and puts `()` there.
    Clear { register: u16 },
    /// Ends the function with the result that a register holds.
    Return { from: u16 },
    /// Writes a property that is a vector, if the object is the own one, and skips the operations that do so
    /// for any.
    SetVector { of: u8, x: u8, y: u8, skipped: u8, name: u16 },
    /// Does the same with a property that is a number.
    SetNumber { of: u8, value: u8, skipped: u8, name: u16 },
    /// Sends a value under a topic that is a constant of the program.
    Send { to: u8, kind: SlotKind, x: u8, y: u8, topic: u16 },
    /// [`LoadedOp::Charge`] and [`LoadedOp::Jump`]. This and all below do the work of two operations, of which
    /// the second stays behind it: a fault has its place, and a jump can lead to it.
    ChargeAndJump { price: PackedPrice, target: u16 },
    /// [`LoadedOp::Charge`] and [`LoadedOp::JumpUnlessLess`].
    ChargeAndJumpUnlessLess { price: PackedPrice, a: u8, b: u8, target: u16 },
    /// [`LoadedOp::Charge`] and [`LoadedOp::NextObject`].
    ChargeAndNextObject { price: PackedPrice, to: u8, state: u16, target: u16 },
    /// [`LoadedOp::Charge`] and [`LoadedOp::NextInt`].
    ChargeAndNextInt { price: PackedPrice, to: u8, state: u16, target: u16 },
    /// [`LoadedOp::Charge`] and [`LoadedOp::Vector`].
    ChargeAndVector { price: PackedPrice, property: VectorProperty, x: u8, y: u8, of: u8 },
    /// Two of [`LoadedOp::Copy`].
    Copies { first: [u8; 2], second: [u8; 2] },
    /// Two of [`LoadedOp::Add`], each with the slots of its result and operands.
    Adds { first: [u8; 3], second: [u8; 3] },
    /// Two of [`LoadedOp::Sub`].
    Subs { first: [u8; 3], second: [u8; 3] },
    /// Two of [`LoadedOp::MulFixed`].
    Products { first: [u8; 3], second: [u8; 3] },
    /// [`LoadedOp::MulFixed`] and [`LoadedOp::Add`].
    ProductAndSum { first: [u8; 3], second: [u8; 3] },
    /// [`LoadedOp::MulFixed`] and [`LoadedOp::Sub`].
    ProductAndDifference { first: [u8; 3], second: [u8; 3] },
}

// What an idle script holds is operations for a third.
const _: () = assert!(size_of::<LoadedOp>() <= 12);

impl LoadedOp {
    /// Returns where a jump goes, to be changed.
    pub(super) const fn target_mut(&mut self) -> Option<&mut u16> {
        match self {
            Self::Jump { target }
            | Self::JumpIf { target, .. }
            | Self::JumpUnlessLess { target, .. }
            | Self::NextObject { target, .. }
            | Self::NextInt { target, .. }
            | Self::ChargeAndJump { target, .. }
            | Self::ChargeAndJumpUnlessLess { target, .. }
            | Self::ChargeAndNextObject { target, .. }
            | Self::ChargeAndNextInt { target, .. } => Some(target),
            Self::Plain(op) => op.target_mut(),
            _ => None,
        }
    }

    /// Returns the operation that does the work of this one and of the one behind it, if there is one.
    const fn with(self, next: Self) -> Option<Self> {
        Some(match (self, next) {
            (Self::Charge(price), Self::Jump { target }) => Self::ChargeAndJump { price, target },
            (Self::Charge(price), Self::JumpUnlessLess { a, b, target }) => {
                Self::ChargeAndJumpUnlessLess { price, a, b, target }
            }
            (Self::Charge(price), Self::NextObject { to, state, target }) => {
                Self::ChargeAndNextObject { price, to, state, target }
            }
            (Self::Charge(price), Self::NextInt { to, state, target }) => {
                Self::ChargeAndNextInt { price, to, state, target }
            }
            (Self::Charge(price), Self::Vector { property, x, y, of }) => {
                Self::ChargeAndVector { price, property, x, y, of }
            }
            (Self::Copy { to, from }, Self::Copy { to: next, from: other }) => {
                Self::Copies { first: [to, from], second: [next, other] }
            }
            (Self::Add { to, a, b }, Self::Add { to: next, a: c, b: d }) => {
                Self::Adds { first: [to, a, b], second: [next, c, d] }
            }
            (Self::Sub { to, a, b }, Self::Sub { to: next, a: c, b: d }) => {
                Self::Subs { first: [to, a, b], second: [next, c, d] }
            }
            (Self::MulFixed { to, a, b }, Self::MulFixed { to: next, a: c, b: d }) => {
                Self::Products { first: [to, a, b], second: [next, c, d] }
            }
            (Self::MulFixed { to, a, b }, Self::Add { to: next, a: c, b: d }) => {
                Self::ProductAndSum { first: [to, a, b], second: [next, c, d] }
            }
            (Self::MulFixed { to, a, b }, Self::Sub { to: next, a: c, b: d }) => {
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
}
