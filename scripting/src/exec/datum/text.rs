//! Values as text, as `Value` prints them.

use core::fmt;

use super::Datum;
use crate::value::show_fixed;

impl fmt::Display for Datum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unit => f.write_str("()"),
            Self::Bool(value) => value.fmt(f),
            Self::Int(value) => value.fmt(f),
            Self::Fixed(value) => show_fixed(*value, f),
            Self::Vec2(value) => {
                f.write_str("(")?;
                show_fixed(value.x, f)?;
                f.write_str(", ")?;
                show_fixed(value.y, f)?;
                f.write_str(")")
            }
            Self::Text(text) => f.write_str(text),
            // Its number is nothing that a text may hold: elsewhere it is another thing's.
            Self::Object(_) => f.write_str("object"),
            Self::Array(list) => {
                f.write_str("[")?;
                for (i, value) in list.items().iter().enumerate() {
                    f.write_str(if i == 0 { "" } else { ", " })?;
                    show_inner(value, f)?;
                }
                f.write_str("]")
            }
            Self::Map(map) => {
                f.write_str("#{")?;
                for (i, (name, value)) in map.entries().iter().enumerate() {
                    f.write_str(if i == 0 { "" } else { ", " })?;
                    write!(f, "{name}: ")?;
                    show_inner(value, f)?;
                }
                f.write_str("}")
            }
            Self::Range(start, end) => write!(f, "{start}..{end}"),
            Self::RangeTo(start, end) => write!(f, "{start}..={end}"),
            Self::Function(_) => f.write_str("function"),
            Self::State => f.write_str("state"),
            Self::Fault(_) => f.write_str("error"),
        }
    }
}

fn show_inner(value: &Datum, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match value {
        Datum::Text(text) => write!(f, "\"{text}\""),
        value => fmt::Display::fmt(value, f),
    }
}
