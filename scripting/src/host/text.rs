//! Strings. Places and lengths count characters; only the letters a to z have cases, so that no
//! table of another Unicode release can change a result.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::wrong_types;
use crate::{HostFault, Value};

type TextResult = Result<Value, HostFault>;

pub(super) fn join(args: &[Value]) -> TextResult {
    match args {
        [a, b] => Ok(Value::Text(format!("{a}{b}"))),
        _ => Err(wrong_types("+", args)),
    }
}

pub(super) fn to_string(args: &[Value]) -> TextResult {
    match args {
        [value] => Ok(Value::Text(value.to_string())),
        _ => Err(wrong_types("to_string", args)),
    }
}

pub(super) fn to_int(args: &[Value]) -> TextResult {
    match args {
        [Value::Text(text)] => Ok(text.trim().parse().map_or(Value::Unit, Value::Int)),
        _ => Err(wrong_types("to_int", args)),
    }
}

fn int(count: usize) -> Value {
    Value::Int(i64::try_from(count).unwrap_or(i64::MAX))
}

pub(super) fn len(args: &[Value]) -> TextResult {
    match args {
        [Value::Text(text)] => Ok(int(text.chars().count())),
        _ => Err(wrong_types("len", args)),
    }
}

fn about(name: &str, args: &[Value], holds: fn(&str, &str) -> bool) -> TextResult {
    match args {
        [Value::Text(text), Value::Text(part)] => Ok(Value::Bool(holds(text, part))),
        _ => Err(wrong_types(name, args)),
    }
}

pub(super) fn contains(args: &[Value]) -> TextResult {
    about("contains", args, |text, part| text.contains(part))
}

pub(super) fn starts_with(args: &[Value]) -> TextResult {
    about("starts_with", args, |text, part| text.starts_with(part))
}

pub(super) fn ends_with(args: &[Value]) -> TextResult {
    about("ends_with", args, |text, part| text.ends_with(part))
}

pub(super) fn index_of(args: &[Value]) -> TextResult {
    match args {
        [Value::Text(text), Value::Text(part)] => {
            Ok(text.find(part.as_str()).map_or(Value::Unit, |at| int(text[..at].chars().count())))
        }
        _ => Err(wrong_types("index_of", args)),
    }
}

pub(super) fn sub(args: &[Value]) -> TextResult {
    match args {
        [Value::Text(text), Value::Int(start), Value::Int(length)] => {
            let (start, length) = (count(*start), count(*length));
            Ok(Value::Text(text.chars().skip(start).take(length).collect()))
        }
        _ => Err(wrong_types("sub", args)),
    }
}

/// Converts a count: one below zero is zero, and no text is longer than 2^31.
fn count(number: i64) -> usize {
    usize::try_from(number.clamp(0, i64::from(i32::MAX))).expect("within 31 bits")
}

fn changed(name: &str, args: &[Value], change: fn(&str) -> String) -> TextResult {
    match args {
        [Value::Text(text)] => Ok(Value::Text(change(text))),
        _ => Err(wrong_types(name, args)),
    }
}

pub(super) fn lower(args: &[Value]) -> TextResult {
    changed("lower", args, str::to_ascii_lowercase)
}

pub(super) fn upper(args: &[Value]) -> TextResult {
    changed("upper", args, str::to_ascii_uppercase)
}

pub(super) fn trim(args: &[Value]) -> TextResult {
    changed("trim", args, |text| text.trim_matches([' ', '\t', '\n']).into())
}

pub(super) fn split(args: &[Value]) -> TextResult {
    let parts: Vec<Value> = match args {
        [Value::Text(text), Value::Text(by)] if by.is_empty() => {
            text.chars().map(|c| Value::Text(c.into())).collect()
        }
        [Value::Text(text), Value::Text(by)] => {
            text.split(by.as_str()).map(|part| Value::Text(part.into())).collect()
        }
        _ => return Err(wrong_types("split", args)),
    };
    Ok(Value::Array(parts))
}
