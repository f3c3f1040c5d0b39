//! Operators: arithmetic is checked at every edge, and equal on every machine.

use alloc::{boxed::Box, format, string::String, sync::Arc};
use core::cmp::Ordering;

use metatopia_math::{Fx, Vec2};

use super::{
    datum::{Datum, order_of_texts},
    machine::CallMachine,
    meter::{CallFault, CallOutcome},
    prices,
};
use crate::{
    ErrorKind,
    ir::{BinaryOp, UnaryOp},
    limits::{STRING_BYTES_MAX, TEXT_BYTES},
};

/// Letters of a value that is no text: most have fewer.
const PRINTED_LETTERS: usize = 12;

#[cold]
pub(super) fn out_of_range(sign: &str) -> Box<CallFault> {
    CallFault::new(ErrorKind::Arithmetic, format!("{sign}: the result is out of range"))
}

#[cold]
fn division_by_zero(sign: &str) -> Box<CallFault> {
    CallFault::new(ErrorKind::Arithmetic, format!("{sign}: division by zero"))
}

#[cold]
fn wrong_types(sign: &str, a: &Datum, b: &Datum) -> Box<CallFault> {
    let is_number = |datum: &Datum| matches!(datum, Datum::Int(_) | Datum::Fixed(_));
    let hint = match (a, b) {
        (Datum::Unit, other) | (other, Datum::Unit) if is_number(other) => {
            ": () was never set, and `?? 0` counts it as 0"
        }
        _ => "",
    };
    let (a, b) = (a.kind_name(), b.kind_name());
    CallFault::new(ErrorKind::Type, format!("{sign} does not take ({a}, {b}){hint}"))
}

/// A number as fixed point, if the value is one and within range.
pub(super) fn fixed_of(sign: &str, value: &Datum) -> CallOutcome<Fx> {
    match value {
        Datum::Fixed(fixed) => Ok(*fixed),
        Datum::Int(int) => Fx::checked_from_int(*int).ok_or_else(|| {
            let words = format!("{int} is out of the range of fixed-point numbers");
            CallFault::new(ErrorKind::Arithmetic, words)
        }),
        other => {
            let words = format!("{sign} does not take ({})", other.kind_name());
            Err(CallFault::new(ErrorKind::Type, words))
        }
    }
}

const fn is_number(value: &Datum) -> bool {
    matches!(value, Datum::Int(_) | Datum::Fixed(_))
}

/// The order of two numbers; exact, also where an int has no fixed-point form.
fn order_of_numbers(a: &Datum, b: &Datum) -> Option<Ordering> {
    let wide = |value: &Datum| match value {
        Datum::Int(int) => Some(i128::from(*int) << 32),
        Datum::Fixed(fixed) => Some(i128::from(fixed.to_bits())),
        _ => None,
    };
    Some(wide(a)?.cmp(&wide(b)?))
}

/// The order of two numbers, two texts by code points, or two truths; others have none.
pub(super) fn order(a: &Datum, b: &Datum) -> Option<Ordering> {
    match (a, b) {
        (Datum::Int(a), Datum::Int(b)) => Some(a.cmp(b)),
        (Datum::Fixed(a), Datum::Fixed(b)) => Some(a.cmp(b)),
        (Datum::Text(a), Datum::Text(b)) => Some(order_of_texts(a, b)),
        (Datum::Bool(a), Datum::Bool(b)) => Some(a.cmp(b)),
        _ => order_of_numbers(a, b),
    }
}

/// Returns whether two values are equal. Numbers are compared by value: 1 and 1.0 are. Closures are equal to none.
pub(super) fn equal(a: &Datum, b: &Datum) -> bool {
    match (a, b) {
        (Datum::Unit, Datum::Unit) | (Datum::State, Datum::State) => true,
        (Datum::Vec2(a), Datum::Vec2(b)) => a == b,
        (Datum::Object(a), Datum::Object(b)) => a == b,
        (Datum::Range(a, b), Datum::Range(c, d)) | (Datum::RangeTo(a, b), Datum::RangeTo(c, d)) => {
            (a, b) == (c, d)
        }
        (Datum::Array(a), Datum::Array(b)) => {
            let (a, b) = (a.items(), b.items());
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Datum::Map(a), Datum::Map(b)) => {
            let (a, b) = (a.entries(), b.entries());
            a.len() == b.len() && a.iter().zip(b).all(|((an, a), (bn, b))| an == bn && equal(a, b))
        }
        _ => order(a, b).is_some_and(Ordering::is_eq),
    }
}

impl CallMachine<'_> {
    /// The result of an operator on two values.
    pub(super) fn binary(&mut self, op: BinaryOp, a: &Datum, b: &Datum) -> CallOutcome<Datum> {
        use BinaryOp as B;
        match op {
            B::Equal | B::Unequal => {
                self.meter.walk(a)?;
                Ok(Datum::Bool(equal(a, b) == (op == B::Equal)))
            }
            B::Less | B::AtMost | B::More | B::AtLeast => self.compare(op, a, b),
            B::Range | B::RangeTo => range(op, a, b),
            _ => match (a, b) {
                (Datum::Int(a), Datum::Int(b)) => ints(op, *a, *b).map(Datum::Int),
                (Datum::Fixed(a), Datum::Fixed(b)) => fixed(op, *a, *b).map(Datum::Fixed),
                (a, b) => self.other_operands(op, a, b),
            },
        }
    }

    fn other_operands(&mut self, op: BinaryOp, a: &Datum, b: &Datum) -> CallOutcome<Datum> {
        use BinaryOp as B;
        self.meter.pay(prices::OTHER_OPERANDS)?;
        match (a, b) {
            (Datum::Bool(x), Datum::Bool(y)) => match op {
                B::BitAnd => Ok(Datum::Bool(x & y)),
                B::BitOr => Ok(Datum::Bool(x | y)),
                B::BitXor => Ok(Datum::Bool(x ^ y)),
                _ => Err(wrong_types(op.sign(), a, b)),
            },
            (Datum::Vec2(x), Datum::Vec2(y)) => vectors(op, *x, *y)
                .unwrap_or_else(|| Err(wrong_types(op.sign(), a, b)))
                .map(Datum::Vec2),
            // Nothing is added by `()`.
            (text @ Datum::Text(_), Datum::Unit) | (Datum::Unit, text @ Datum::Text(_))
                if op == B::Add =>
            {
                Ok(text.clone())
            }
            (Datum::Text(_), _) | (_, Datum::Text(_)) if op == B::Add => self.join([a, b]),
            (Datum::Vec2(vector), factor) if is_number(factor) => {
                scaled(op, *vector, factor).unwrap_or_else(|| Err(wrong_types(op.sign(), a, b)))
            }
            (factor, Datum::Vec2(vector)) if is_number(factor) && op == B::Mul => {
                scaled(op, *vector, factor).unwrap_or_else(|| Err(wrong_types(op.sign(), a, b)))
            }
            (a, b) if is_number(a) && is_number(b) && is_of_fixed(op) => {
                let (a, b) = (fixed_of(op.sign(), a)?, fixed_of(op.sign(), b)?);
                fixed(op, a, b).map(Datum::Fixed)
            }
            (a, b) => Err(wrong_types(op.sign(), a, b)),
        }
    }

    /// Values of different kinds have no order: then all four questions get a no.
    fn compare(&mut self, op: BinaryOp, a: &Datum, b: &Datum) -> CallOutcome<Datum> {
        if let (Datum::Text(a), Datum::Text(b)) = (a, b) {
            self.meter.pay(a.len().min(b.len()) as u64 / prices::LETTERS_PER_NANOSECOND)?;
        }
        let Some(order) = order(a, b) else {
            return match (a.kind(), b.kind()) {
                (Some(same), Some(other))
                    if same == other && same != crate::host::ValueKind::Unit =>
                {
                    Err(wrong_types(op.sign(), a, b))
                }
                _ => Ok(Datum::Bool(false)),
            };
        };
        Ok(Datum::Bool(match op {
            BinaryOp::Less => order.is_lt(),
            BinaryOp::AtMost => order.is_le(),
            BinaryOp::More => order.is_gt(),
            _ => order.is_ge(),
        }))
    }

    pub(super) fn unary(op: UnaryOp, a: &Datum) -> CallOutcome<Datum> {
        let (sign, result) = match (op, a) {
            (UnaryOp::Not, Datum::Bool(a)) => return Ok(Datum::Bool(!a)),
            (UnaryOp::Negate, Datum::Int(a)) => ("-", a.checked_neg().map(Datum::Int)),
            (UnaryOp::Negate, Datum::Fixed(a)) => ("-", a.checked_neg().map(Datum::Fixed)),
            (UnaryOp::Negate, Datum::Vec2(a)) => ("-", Vec2::ZERO.checked_sub(*a).map(Datum::Vec2)),
            (UnaryOp::Plus, Datum::Int(_) | Datum::Fixed(_)) => return Ok(a.clone()),
            (op, a) => {
                let sign = match op {
                    UnaryOp::Not => "!",
                    UnaryOp::Negate => "-",
                    UnaryOp::Plus => "+",
                };
                let words = format!("{sign} does not take ({})", a.kind_name());
                return Err(CallFault::new(ErrorKind::Type, words));
            }
        };
        result.ok_or_else(|| out_of_range(sign))
    }

    /// Joins values as text.
    pub(super) fn join<'a>(
        &mut self,
        parts: impl IntoIterator<Item = &'a Datum> + Clone,
    ) -> CallOutcome<Datum> {
        // A text that grows moves, often more than once.
        let letters = |part: &Datum| match part {
            Datum::Text(text) => text.len(),
            _ => PRINTED_LETTERS,
        };
        let length = parts.clone().into_iter().map(letters).fold(0, usize::saturating_add);
        let mut text = String::with_capacity(length.min(STRING_BYTES_MAX));
        for part in parts {
            self.print(part, &mut text)?;
        }
        self.meter.take(TEXT_BYTES + text.len() as u64)?;
        Ok(Datum::Text(Arc::new(text)))
    }

    /// Adds a value to a text, which is paid for by what the value counts.
    pub(super) fn print(&mut self, value: &Datum, text: &mut String) -> CallOutcome<()> {
        if let Datum::Text(part) = value {
            self.meter.pay(part.len() as u64 / prices::LETTERS_PER_NANOSECOND)?;
            if text.len() + part.len() <= STRING_BYTES_MAX {
                text.push_str(part);
                return Ok(());
            }
        } else {
            self.meter.pay(value.size().saturating_mul(prices::PRINTED))?;
            let mut short = ShortText(text);
            if core::fmt::write(&mut short, format_args!("{value}")).is_ok() {
                return Ok(());
            }
        }
        let words = format!("a text of more than {STRING_BYTES_MAX} bytes");
        Err(CallFault::new(ErrorKind::Memory, words))
    }
}

/// A text that refuses to grow past what a text may be.
struct ShortText<'a>(&'a mut String);

impl core::fmt::Write for ShortText<'_> {
    fn write_str(&mut self, part: &str) -> core::fmt::Result {
        if self.0.len() + part.len() > STRING_BYTES_MAX {
            return Err(core::fmt::Error);
        }
        self.0.push_str(part);
        Ok(())
    }
}

fn range(op: BinaryOp, a: &Datum, b: &Datum) -> CallOutcome<Datum> {
    match (a, b) {
        (Datum::Int(start), Datum::Int(end)) if op == BinaryOp::Range => {
            Ok(Datum::Range(*start, *end))
        }
        (Datum::Int(start), Datum::Int(end)) => Ok(Datum::RangeTo(*start, *end)),
        _ => Err(wrong_types(op.sign(), a, b)),
    }
}

/// Returns whether an operator is one of fixed-point numbers.
const fn is_of_fixed(op: BinaryOp) -> bool {
    use BinaryOp as B;
    matches!(op, B::Add | B::Sub | B::Mul | B::Div | B::Rem)
}

pub(super) fn ints(op: BinaryOp, a: i64, b: i64) -> CallOutcome<i64> {
    use BinaryOp as B;
    let result = match op {
        B::Add => a.checked_add(b),
        B::Sub => a.checked_sub(b),
        B::Mul => a.checked_mul(b),
        B::Div | B::Rem if b == 0 => return Err(division_by_zero(op.sign())),
        B::Div => a.checked_div(b),
        B::Rem => a.checked_rem(b),
        B::Pow => match u32::try_from(b) {
            Ok(power) => a.checked_pow(power),
            // A number of more than 32 bits: all but three bases leave the range.
            Err(_) if b > 0 => None,
            Err(_) => {
                let words = format!("{a} ** {b}: the power is below zero");
                return Err(CallFault::new(ErrorKind::Arithmetic, words));
            }
        },
        B::ShiftLeft => Some(shifted_left(a, b)),
        B::ShiftRight => Some(shifted_right(a, b)),
        B::BitAnd => Some(a & b),
        B::BitOr => Some(a | b),
        B::BitXor => Some(a ^ b),
        _ => unreachable!("{op:?} is no arithmetic"),
    };
    result.ok_or_else(|| out_of_range(op.sign()))
}

/// Shifts to the left. Below zero it goes the other way; past the width nothing is left.
fn shifted_left(a: i64, by: i64) -> i64 {
    if by < 0 {
        return by.checked_neg().map_or(if a < 0 { -1 } else { 0 }, |by| shifted_right(a, by));
    }
    u32::try_from(by).ok().and_then(|by| a.checked_shl(by)).unwrap_or(0)
}

fn shifted_right(a: i64, by: i64) -> i64 {
    if by < 0 {
        return by.checked_neg().map_or(0, |by| shifted_left(a, by));
    }
    let sign = if a < 0 { -1 } else { 0 };
    u32::try_from(by).ok().and_then(|by| a.checked_shr(by)).unwrap_or(sign)
}

pub(super) fn fixed(op: BinaryOp, a: Fx, b: Fx) -> CallOutcome<Fx> {
    use BinaryOp as B;
    let result = match op {
        B::Add => a.checked_add(b),
        B::Sub => a.checked_sub(b),
        B::Mul => a.checked_mul(b),
        B::Div | B::Rem if b == Fx::ZERO => return Err(division_by_zero(op.sign())),
        B::Div => a.checked_div(b),
        B::Rem => a.checked_rem(b),
        _ => return Err(wrong_types(op.sign(), &Datum::Fixed(a), &Datum::Fixed(b))),
    };
    result.ok_or_else(|| out_of_range(op.sign()))
}

fn vectors(op: BinaryOp, a: Vec2, b: Vec2) -> Option<CallOutcome<Vec2>> {
    let result = match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Sub => a.checked_sub(b),
        _ => return None,
    };
    Some(result.ok_or_else(|| out_of_range(op.sign())))
}

fn scaled(op: BinaryOp, vector: Vec2, factor: &Datum) -> Option<CallOutcome<Datum>> {
    let factor = match fixed_of(op.sign(), factor) {
        Ok(factor) => factor,
        Err(fault) => return Some(Err(fault)),
    };
    let result = match op {
        BinaryOp::Mul => vector.checked_scale(factor),
        BinaryOp::Div if factor == Fx::ZERO => return Some(Err(division_by_zero("/"))),
        BinaryOp::Div => {
            let quotient = vector.x.checked_div(factor).zip(vector.y.checked_div(factor));
            quotient.map(|(x, y)| Vec2::new(x, y))
        }
        _ => return None,
    };
    Some(result.map(Datum::Vec2).ok_or_else(|| out_of_range(op.sign())))
}
