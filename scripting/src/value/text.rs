//! Values as text.

use core::fmt;

use metatopia_math::Fx;

use super::Value;

/// As scripts print it: texts inside of arrays and maps in quotes, numbers with at most six
/// decimals.
impl fmt::Display for Value {
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
            Self::Array(values) => {
                f.write_str("[")?;
                for (i, value) in values.iter().enumerate() {
                    f.write_str(if i == 0 { "" } else { ", " })?;
                    show_inner(value, f)?;
                }
                f.write_str("]")
            }
            Self::Map(values) => {
                f.write_str("#{")?;
                for (i, (name, value)) in values.iter().enumerate() {
                    f.write_str(if i == 0 { "" } else { ", " })?;
                    write!(f, "{name}: ")?;
                    show_inner(value, f)?;
                }
                f.write_str("}")
            }
        }
    }
}

fn show_inner(value: &Value, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match value {
        Value::Text(text) => write!(f, "\"{text}\""),
        value => fmt::Display::fmt(value, f),
    }
}

/// Rounded to six decimals, without zeros at the end, but always with one decimal.
pub(crate) fn show_fixed(value: Fx, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let text = alloc::format!("{value:.6}");
    let short = text.trim_end_matches('0');
    f.write_str(short)?;
    f.write_str(if short.ends_with('.') { "0" } else { "" })
}
