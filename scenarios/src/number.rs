//! Exact numbers in TOML: whole ones as they are, others in quotes, since an unquoted `1.5` would
//! pass through a binary float on its way.

use core::fmt;

use metatopia_math::{Fx, Vec2};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

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

/// Writes a whole number as it is, and any other in quotes, as the shortest text that is read as this very number.
impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.trunc_int() {
            whole if Fx::checked_from_int(whole) == Some(self.0) => serializer.serialize_i64(whole),
            _ => serializer.collect_str(&self.0.shortest()),
        }
    }
}

/// Two numbers: a place or a size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct NumberPair(Number, Number);

struct PairVisitor;

impl<'de> de::Visitor<'de> for PairVisitor {
    type Value = NumberPair;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("two numbers such as [1, \"2.5\"]")
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut all: A) -> Result<NumberPair, A::Error> {
        let (Some(x), Some(y)) = (all.next_element()?, all.next_element()?) else {
            return Err(de::Error::custom("one number too few: write two, such as [1, \"2.5\"]"));
        };
        match all.next_element::<de::IgnoredAny>()? {
            None => Ok(NumberPair(x, y)),
            Some(_) => Err(de::Error::custom("more than two numbers: write two, such as [1, 2]")),
        }
    }
}

impl<'de> Deserialize<'de> for NumberPair {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(PairVisitor)
    }
}

impl NumberPair {
    pub(crate) fn vec2(self) -> Vec2 {
        Vec2::new(self.0.0, self.1.0)
    }
}

impl From<Vec2> for NumberPair {
    fn from(at: Vec2) -> Self {
        Self(Number(at.x), Number(at.y))
    }
}

/// A value of the rules as a text, whether it was written as a number, a switch or a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting(pub(crate) String);

struct SettingVisitor;

impl de::Visitor<'_> for SettingVisitor {
    type Value = Setting;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number, a decimal in quotes such as \"1.5\", true, false or a word")
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Setting, E> {
        Ok(Setting(value.to_string()))
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Setting, E> {
        Ok(Setting(value.to_string()))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Setting, E> {
        Ok(Setting(text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for Setting {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SettingVisitor)
    }
}

/// Writes a whole number and a switch as they are, and anything else in quotes.
impl Serialize for Setting {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.0.parse(), self.0.parse()) {
            (Ok(whole), _) => serializer.serialize_i64(whole),
            (_, Ok(switch)) => serializer.serialize_bool(switch),
            _ => serializer.serialize_str(&self.0),
        }
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

impl Serialize for Color {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:06x}", self.0))
    }
}
