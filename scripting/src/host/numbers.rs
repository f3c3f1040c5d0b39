//! Arithmetic on whole and fixed-point numbers, checked at every edge.

use core::cmp::Ordering;

use metatopia_math::Fx;

use super::wrong_types;
use crate::{ErrorKind, HostFault, Value};

type NumberResult = Result<Value, HostFault>;

/// A number as fixed point, if the argument is one.
pub(super) fn fixed_of(name: &str, value: &Value) -> Result<Fx, HostFault> {
    match value {
        Value::Fixed(fixed) => Ok(*fixed),
        Value::Int(int) => Fx::checked_from_int(*int).ok_or_else(|| {
            let message = alloc::format!("{int} is out of the range of fixed-point numbers");
            HostFault::new(ErrorKind::Arithmetic, message)
        }),
        other => Err(wrong_types(name, core::slice::from_ref(other))),
    }
}

pub(super) fn overflow(name: &str) -> HostFault {
    HostFault::new(ErrorKind::Arithmetic, alloc::format!("{name}: the result is out of range"))
}

fn division_by_zero(name: &str) -> HostFault {
    HostFault::new(ErrorKind::Arithmetic, alloc::format!("{name}: division by zero"))
}

/// Two numbers, at least one of them fixed. (Operators on two ints are every executor's own.)
fn both(
    name: &str,
    args: &[Value],
    operation: fn(Fx, Fx) -> Option<Fx>,
    fault: fn(&str) -> HostFault,
) -> NumberResult {
    let [a, b] = args else {
        return Err(wrong_types(name, args));
    };
    let result = operation(fixed_of(name, a)?, fixed_of(name, b)?);
    result.map(Value::Fixed).ok_or_else(|| fault(name))
}

pub(super) fn add(args: &[Value]) -> NumberResult {
    both("+", args, Fx::checked_add, overflow)
}

pub(super) fn sub(args: &[Value]) -> NumberResult {
    both("-", args, Fx::checked_sub, overflow)
}

pub(super) fn mul(args: &[Value]) -> NumberResult {
    both("*", args, Fx::checked_mul, overflow)
}

pub(super) fn div(args: &[Value]) -> NumberResult {
    let zero = args.get(1).is_some_and(|b| match b {
        Value::Fixed(fixed) => *fixed == Fx::ZERO,
        Value::Int(int) => *int == 0,
        _ => false,
    });
    both("/", args, Fx::checked_div, if zero { division_by_zero } else { overflow })
}

pub(super) fn rem(args: &[Value]) -> NumberResult {
    both("%", args, Fx::checked_rem, division_by_zero)
}

pub(super) fn neg(args: &[Value]) -> NumberResult {
    let result = match args {
        [Value::Int(a)] => a.checked_neg().map(Value::Int),
        [Value::Fixed(a)] => a.checked_neg().map(Value::Fixed),
        _ => return Err(wrong_types("-", args)),
    };
    result.ok_or_else(|| overflow("-"))
}

pub(super) fn not(args: &[Value]) -> NumberResult {
    match args {
        [Value::Bool(a)] => Ok(Value::Bool(!a)),
        _ => Err(wrong_types("!", args)),
    }
}

/// Exact, also where an int has no fixed-point form.
pub(super) fn compare(a: &Value, b: &Value) -> Option<Ordering> {
    let wide = |value: &Value| match value {
        Value::Int(int) => Some(i128::from(*int) << 32),
        Value::Fixed(fixed) => Some(i128::from(fixed.to_bits())),
        _ => None,
    };
    Some(wide(a)?.cmp(&wide(b)?))
}

macro_rules! comparisons {
    ($($name:ident $sign:literal $accept:expr;)*) => {$(
        pub(super) fn $name(args: &[Value]) -> NumberResult {
            let accept: fn(Ordering) -> bool = $accept;
            let order = if let [a, b] = args { compare(a, b) } else { None };
            order.map(|order| Value::Bool(accept(order))).ok_or_else(|| wrong_types($sign, args))
        }
    )*};
}

comparisons! {
    equal "==" Ordering::is_eq;
    unequal "!=" Ordering::is_ne;
    less "<" Ordering::is_lt;
    at_most "<=" Ordering::is_le;
    more ">" Ordering::is_gt;
    at_least ">=" Ordering::is_ge;
}

pub(super) fn abs(args: &[Value]) -> NumberResult {
    let result = match args {
        [Value::Int(a)] => a.checked_abs().map(Value::Int),
        [Value::Fixed(a)] => a.checked_abs().map(Value::Fixed),
        _ => return Err(wrong_types("abs", args)),
    };
    result.ok_or_else(|| overflow("abs"))
}

/// The first of two numbers if `order` says so, else the second; an int beside a fixed is promoted.
fn choose(name: &str, args: &[Value], keep_first: fn(Ordering) -> bool) -> NumberResult {
    let [a, b] = args else {
        return Err(wrong_types(name, args));
    };
    let order = compare(a, b).ok_or_else(|| wrong_types(name, args))?;
    let chosen = if keep_first(order) { a } else { b };
    let mixed = a.kind() != b.kind();
    if mixed { fixed_of(name, chosen).map(Value::Fixed) } else { Ok(chosen.clone()) }
}

pub(super) fn min(args: &[Value]) -> NumberResult {
    choose("min", args, Ordering::is_le)
}

pub(super) fn max(args: &[Value]) -> NumberResult {
    choose("max", args, Ordering::is_ge)
}

pub(super) fn clamp(args: &[Value]) -> NumberResult {
    let [value, low, high] = args else {
        return Err(wrong_types("clamp", args));
    };
    if compare(low, high) == Some(Ordering::Greater) {
        return Err(HostFault::new(ErrorKind::Argument, "clamp: the bounds are swapped"));
    }
    min(&[max(&[value.clone(), low.clone()])?, high.clone()])
}

/// An int from a number: an int stays what it is.
fn rounded(name: &str, args: &[Value], round: fn(Fx) -> i64) -> NumberResult {
    match args {
        [Value::Int(int)] => Ok(Value::Int(*int)),
        [Value::Fixed(fixed)] => Ok(Value::Int(round(*fixed))),
        _ => Err(wrong_types(name, args)),
    }
}

pub(super) fn floor(args: &[Value]) -> NumberResult {
    rounded("floor", args, Fx::floor_int)
}

pub(super) fn ceil(args: &[Value]) -> NumberResult {
    rounded("ceil", args, Fx::ceil_int)
}

pub(super) fn round(args: &[Value]) -> NumberResult {
    rounded("round", args, Fx::round_int)
}

/// A function of one number.
fn one(name: &str, args: &[Value]) -> Result<Fx, HostFault> {
    match args {
        [value] => fixed_of(name, value),
        _ => Err(wrong_types(name, args)),
    }
}

pub(super) fn fixed(args: &[Value]) -> NumberResult {
    one("fixed", args).map(Value::Fixed)
}

pub(super) fn sqrt(args: &[Value]) -> NumberResult {
    let root = one("sqrt", args)?.sqrt();
    let negative = || HostFault::new(ErrorKind::Arithmetic, "sqrt: the number is below zero");
    root.map(Value::Fixed).ok_or_else(negative)
}

pub(super) fn sin(args: &[Value]) -> NumberResult {
    one("sin", args).map(|radians| Value::Fixed(radians.sin()))
}

pub(super) fn cos(args: &[Value]) -> NumberResult {
    one("cos", args).map(|radians| Value::Fixed(radians.cos()))
}

pub(super) fn atan2(args: &[Value]) -> NumberResult {
    let [y, x] = args else {
        return Err(wrong_types("atan2", args));
    };
    Ok(Value::Fixed(Fx::atan2(fixed_of("atan2", y)?, fixed_of("atan2", x)?)))
}
