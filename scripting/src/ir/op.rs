//! Operations of a compiled function.

use serde::{Deserialize, Serialize};

use super::{PackedInt, PackedPrice};

/// One operation. Numbers of registers count from the first one of the function, targets are places in
/// its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum IrOp {
    /// Pays for all that follows, up to the next one.
    Charge(PackedPrice),
    /// Puts a constant of the program into a register.
    Constant { to: u16, constant: u16 },
    /// Puts a small whole number into a register.
    Int { to: u16, value: PackedInt },
    /// Puts `()` into a register.
    Unit { to: u16 },
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
    /// Goes on elsewhere.
    Jump { target: u16 },
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
    /// Calls a host function that changes its first argument, which is part of a variable. The other
    /// arguments lie in a row from `first` on, and the result replaces the first of them.
    Method { root: u16, path: u16, call: u16, first: u16 },
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
    /// Ends the function with a result.
    Return { from: u16 },
    /// Errors go on elsewhere from here, with the error in two registers: as scripts see it, and whole.
    Try { target: u16, error: u16 },
    /// Errors go where they went before.
    EndTry,
    /// Fails with a value of the script's own.
    Throw { from: u16 },
    /// Fails with the error that was caught.
    Rethrow { error: u16 },
}

impl IrOp {
    /// Returns where a jump goes, to be changed.
    pub(crate) const fn target_mut(&mut self) -> Option<&mut u16> {
        match self {
            Self::Jump { target }
            | Self::JumpIf { target, .. }
            | Self::JumpUnlessLess { target, .. }
            | Self::JumpIfUnit { target, .. }
            | Self::JumpUnlessCase { target, .. }
            | Self::JumpUnlessWithin { target, .. }
            | Self::Next { target, .. }
            | Self::Try { target, .. } => Some(target),
            _ => None,
        }
    }

    /// Returns where a jump goes.
    pub(crate) const fn target(mut self) -> Option<u16> {
        match self.target_mut() {
            Some(target) => Some(*target),
            None => None,
        }
    }
}

/// An operator on two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum BinaryOp {
    /// The sum of numbers or vectors; texts joined.
    Add,
    /// The difference of numbers or vectors.
    Sub,
    /// The product of numbers; a vector scaled.
    Mul,
    /// The quotient of numbers; a vector divided.
    Div,
    /// The rest of a division.
    Rem,
    /// A power of whole numbers.
    Pow,
    /// Bits moved left.
    ShiftLeft,
    /// Bits moved right.
    ShiftRight,
    /// Bits that both have; also of two truths.
    BitAnd,
    /// Bits that one has; also of two truths.
    BitOr,
    /// Bits that differ; also of two truths.
    BitXor,
    /// Are they equal?
    Equal,
    /// Are they unequal?
    Unequal,
    /// Is the first below the second?
    Less,
    /// Is the first not above the second?
    AtMost,
    /// Is the first above the second?
    More,
    /// Is the first not below the second?
    AtLeast,
    /// A range of whole numbers without its end.
    Range,
    /// A range of whole numbers with its end.
    RangeTo,
}

/// An operator on one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum UnaryOp {
    /// The opposite number or vector.
    Negate,
    /// The number itself.
    Plus,
    /// The other truth.
    Not,
}

impl BinaryOp {
    /// All of them.
    pub(crate) const ALL: [Self; 19] = [
        Self::Add,
        Self::Sub,
        Self::Mul,
        Self::Div,
        Self::Rem,
        Self::Pow,
        Self::ShiftLeft,
        Self::ShiftRight,
        Self::BitAnd,
        Self::BitOr,
        Self::BitXor,
        Self::Equal,
        Self::Unequal,
        Self::Less,
        Self::AtMost,
        Self::More,
        Self::AtLeast,
        Self::Range,
        Self::RangeTo,
    ];

    /// Returns how the operator is written.
    #[must_use]
    pub(crate) const fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "/",
            Self::Rem => "%",
            Self::Pow => "**",
            Self::ShiftLeft => "<<",
            Self::ShiftRight => ">>",
            Self::BitAnd => "&",
            Self::BitOr => "|",
            Self::BitXor => "^",
            Self::Equal => "==",
            Self::Unequal => "!=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::More => ">",
            Self::AtLeast => ">=",
            Self::Range => "..",
            Self::RangeTo => "..=",
        }
    }
}
