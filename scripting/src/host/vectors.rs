//! Vectors of the plane. Operators are checked, lengths and products stay within the range.

use metatopia_math::{Angle, Vec2};

use super::{
    numbers::{fixed_of, overflow},
    wrong_types,
};
use crate::{ErrorKind, HostFault, Value};

type VectorResult = Result<Value, HostFault>;

fn checked(name: &str, vector: Option<Vec2>) -> VectorResult {
    vector.map(Value::Vec2).ok_or_else(|| overflow(name))
}

pub(super) fn vec2(args: &[Value]) -> VectorResult {
    let [x, y] = args else {
        return Err(wrong_types("vec2", args));
    };
    Ok(Value::Vec2(Vec2::new(fixed_of("vec2", x)?, fixed_of("vec2", y)?)))
}

pub(super) fn add(args: &[Value]) -> VectorResult {
    match args {
        [Value::Vec2(a), Value::Vec2(b)] => checked("+", a.checked_add(*b)),
        _ => Err(wrong_types("+", args)),
    }
}

pub(super) fn sub(args: &[Value]) -> VectorResult {
    match args {
        [Value::Vec2(a), Value::Vec2(b)] => checked("-", a.checked_sub(*b)),
        _ => Err(wrong_types("-", args)),
    }
}

pub(super) fn neg(args: &[Value]) -> VectorResult {
    match args {
        [Value::Vec2(a)] => checked("-", Vec2::ZERO.checked_sub(*a)),
        _ => Err(wrong_types("-", args)),
    }
}

pub(super) fn mul(args: &[Value]) -> VectorResult {
    match args {
        [Value::Vec2(a), factor] | [factor, Value::Vec2(a)] => {
            checked("*", a.checked_scale(fixed_of("*", factor)?))
        }
        _ => Err(wrong_types("*", args)),
    }
}

pub(super) fn div(args: &[Value]) -> VectorResult {
    let [Value::Vec2(a), divisor] = args else {
        return Err(wrong_types("/", args));
    };
    let divisor = fixed_of("/", divisor)?;
    if divisor == metatopia_math::Fx::ZERO {
        return Err(HostFault::new(ErrorKind::Arithmetic, "/: division by zero"));
    }
    let quotient = a.x.checked_div(divisor).zip(a.y.checked_div(divisor));
    checked("/", quotient.map(|(x, y)| Vec2::new(x, y)))
}

/// Compares two vectors, or two handles.
pub(super) fn same(args: &[Value]) -> VectorResult {
    match args {
        [a, b] => Ok(Value::Bool(a == b)),
        _ => Err(wrong_types("==", args)),
    }
}

pub(super) fn different(args: &[Value]) -> VectorResult {
    match args {
        [a, b] => Ok(Value::Bool(a != b)),
        _ => Err(wrong_types("!=", args)),
    }
}

pub(super) fn length(args: &[Value]) -> VectorResult {
    match args {
        [Value::Vec2(a)] => Ok(Value::Fixed(a.length())),
        _ => Err(wrong_types("length", args)),
    }
}

pub(super) fn normalize(args: &[Value]) -> VectorResult {
    match args {
        [Value::Vec2(a)] => Ok(Value::Vec2(a.normalize().unwrap_or(Vec2::ZERO))),
        _ => Err(wrong_types("normalize", args)),
    }
}

pub(super) fn dist(args: &[Value]) -> VectorResult {
    match args {
        [Value::Vec2(a), Value::Vec2(b)] => Ok(Value::Fixed(a.distance(*b))),
        _ => Err(wrong_types("dist", args)),
    }
}

pub(super) fn dot(args: &[Value]) -> VectorResult {
    match args {
        [Value::Vec2(a), Value::Vec2(b)] => Ok(Value::Fixed(a.dot(*b))),
        _ => Err(wrong_types("dot", args)),
    }
}

pub(super) fn rotate(args: &[Value]) -> VectorResult {
    match args {
        [Value::Vec2(a), radians] => {
            Ok(Value::Vec2(a.rotate(Angle::from_radians(fixed_of("rotate", radians)?))))
        }
        _ => Err(wrong_types("rotate", args)),
    }
}

pub(super) fn direction(args: &[Value]) -> VectorResult {
    let [radians] = args else {
        return Err(wrong_types("direction", args));
    };
    let radians = fixed_of("direction", radians)?;
    Ok(Value::Vec2(Angle::from_radians(radians).direction()))
}
