//! Values as text, as [`Value`](crate::Value) prints them.

use core::fmt;

use super::Datum;
use crate::value::{PrintedValue, show_array, show_fixed, show_map, show_object, show_vec2};

impl PrintedValue for Datum {
    fn is_text(&self) -> bool {
        matches!(self, Self::Text(_))
    }
}

impl fmt::Display for Datum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unit => f.write_str("()"),
            Self::Bool(value) => value.fmt(f),
            Self::Int(value) => value.fmt(f),
            Self::Fixed(value) => show_fixed(*value, f),
            Self::Vec2(value) => show_vec2(*value, f),
            Self::Text(text) => f.write_str(text),
            Self::Object(_) => show_object(f),
            Self::Array(list) => show_array(list.items().iter(), f),
            Self::Map(map) => {
                show_map(map.entries().iter().map(|(name, value)| (&**name, value)), f)
            }
            Self::Range(start, end) => write!(f, "{start}..{end}"),
            Self::RangeTo(start, end) => write!(f, "{start}..={end}"),
            Self::Function(_) => f.write_str("function"),
            Self::State => f.write_str("state"),
            Self::Fault(_) => f.write_str("error"),
            Self::Found(_) => f.write_str("objects"),
        }
    }
}
