//! Exact numbers in TOML: whole ones as they are, others in quotes, since an unquoted `1.5` would
//! pass through a binary float on its way.

use core::fmt;

use metatopia_math::{Fx, Vec2};
use serde::{Deserialize, Deserializer, de};

/// A fixed-point number in a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Number(pub(crate) Fx);

struct NumberVisitor;

impl de::Visitor<'_> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number, or a decimal in quotes such as \"1.5\"")
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Number, E> {
        let number = Fx::checked_from_int(value);
        number.map(Number).ok_or_else(|| E::custom(format!("{value} is out of range")))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Number, E> {
        let number = Fx::parse(text);
        number.map(Number).map_err(|error| E::custom(format!("{text:?} is no number: {error}")))
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

/// Two numbers: a place or a size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct NumberPair(Number, Number);

impl NumberPair {
    pub(crate) fn vec2(self) -> Vec2 {
        Vec2::new(self.0.0, self.1.0)
    }
}

/// A colour in a file: six hexadecimal digits, `rrggbb`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Color(pub(crate) u32);

impl<'de> Deserialize<'de> for Color {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digits = text.len() == 6 && text.chars().all(|c| c.is_ascii_hexdigit());
        let color = if digits { u32::from_str_radix(&text, 16).ok() } else { None };
        color.map(Self).ok_or_else(|| {
            de::Error::custom(format!(
                "{text:?} is no colour: write six hexadecimal digits, rrggbb"
            ))
        })
    }
}
