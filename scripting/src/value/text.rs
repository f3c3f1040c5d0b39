//! Values as text, as scripts print them: texts inside of arrays and maps in quotes, numbers with at most
//! six decimals.

use core::fmt;

use metatopia_math::{Fx, Vec2};

use super::Value;

/// A value that prints as scripts print values.
pub(crate) trait PrintedValue: fmt::Display {
    /// Says whether it is a text, which stands in quotes inside of arrays and maps.
    fn is_text(&self) -> bool;
}

impl PrintedValue for Value {
    fn is_text(&self) -> bool {
        matches!(self, Self::Text(_))
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unit => f.write_str("()"),
            Self::Bool(value) => value.fmt(f),
            Self::Int(value) => value.fmt(f),
            Self::Fixed(value) => show_fixed(*value, f),
            Self::Vec2(value) => show_vec2(*value, f),
            Self::Text(text) => f.write_str(text),
            Self::Object(_) => show_object(f),
            Self::Array(values) => show_array(values.iter(), f),
            Self::Map(values) => show_map(values.iter().map(|(name, value)| (&**name, value)), f),
        }
    }
}

/// Shows a handle. Its number is nothing that a text may hold: elsewhere it is another thing's.
pub(crate) fn show_object(f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("object")
}

/// Shows a number, rounded to six decimals, without zeros at the end, but always with one decimal.
pub(crate) fn show_fixed(value: Fx, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let text = alloc::format!("{value:.6}");
    let short = text.trim_end_matches('0');
    f.write_str(short)?;
    f.write_str(if short.ends_with('.') { "0" } else { "" })
}

/// Shows a vector as its two coordinates.
pub(crate) fn show_vec2(value: Vec2, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("(")?;
    show_fixed(value.x, f)?;
    f.write_str(", ")?;
    show_fixed(value.y, f)?;
    f.write_str(")")
}

/// Shows the values of an array.
pub(crate) fn show_array<'a, V: PrintedValue + 'a>(
    values: impl Iterator<Item = &'a V>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    f.write_str("[")?;
    for (i, value) in values.enumerate() {
        f.write_str(if i == 0 { "" } else { ", " })?;
        show_inner(value, f)?;
    }
    f.write_str("]")
}

/// Shows the entries of a map.
pub(crate) fn show_map<'a, V: PrintedValue + 'a>(
    entries: impl Iterator<Item = (&'a str, &'a V)>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    f.write_str("#{")?;
    for (i, (name, value)) in entries.enumerate() {
        f.write_str(if i == 0 { "" } else { ", " })?;
        write!(f, "{name}: ")?;
        show_inner(value, f)?;
    }
    f.write_str("}")
}

fn show_inner<V: PrintedValue>(value: &V, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if value.is_text() { write!(f, "\"{value}\"") } else { value.fmt(f) }
}
