//! What scripts keep and send: one canonical form of a value.

use alloc::{collections::BTreeMap, string::String, vec::Vec};
use core::fmt;

use metatopia_math::{Fx, Vec2};
use metatopia_types::{ObjectId, wire};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, DeserializeSeed, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor},
};

use crate::limits::{
    ARRAY_LENGTH_MAX, MAP_LENGTH_MAX, STATE_BYTES_MAX, STRING_BYTES_MAX, VALUE_DEPTH_MAX,
};

/// A value that outlives a call: in a script's state, or on its way to another script.
///
/// Functions and closures are no values. Decoding refuses what is nested deeper than
/// [`VALUE_DEPTH_MAX`], so that hostile bytes cannot exhaust the stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub enum Value {
    /// Nothing: what a function without a result gives.
    #[default]
    Unit,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A fixed-point number.
    Fixed(Fx),
    /// A point, direction or velocity.
    Vec2(Vec2),
    /// A text.
    Text(String),
    /// A handle of an object, which may be gone by now.
    Object(ObjectId),
    /// Values in order.
    Array(Vec<Self>),
    /// Values by name, in the order of the names.
    Map(BTreeMap<String, Self>),
}

const VARIANTS: &[&str] = &[
    "Unit", "Bool", "Int", "Fixed", "Vec2", "Text", "Object", "Array", "Map",
];

impl Value {
    /// How many arrays and maps are inside one another: 0 for a plain value. Looks no deeper than
    /// one level past [`VALUE_DEPTH_MAX`].
    #[must_use]
    pub fn depth(&self) -> u32 {
        fn depth(value: &Value, left: u32) -> u32 {
            if left == 0 {
                return 0;
            }
            let inner = match value {
                Value::Array(values) => values.iter().map(|v| depth(v, left - 1)).max(),
                Value::Map(values) => values.values().map(|v| depth(v, left - 1)).max(),
                _ => return 0,
            };
            1 + inner.unwrap_or(0)
        }
        depth(self, VALUE_DEPTH_MAX + 1)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Nested {
            levels: VALUE_DEPTH_MAX,
        }
        .deserialize(deserializer)
    }
}

/// A value inside a value, with the levels that may still follow.
#[derive(Clone, Copy)]
struct Nested {
    levels: u32,
}

impl Nested {
    fn inner<E: de::Error>(self) -> Result<Self, E> {
        let levels = self.levels.checked_sub(1);
        levels
            .map(|levels| Self { levels })
            .ok_or_else(|| E::custom("nested too deeply"))
    }
}

impl<'de> DeserializeSeed<'de> for Nested {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_enum("Value", VARIANTS, self)
    }
}

impl<'de> Visitor<'de> for Nested {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a script's value")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<Value, A::Error> {
        let (variant, content) = data.variant::<u32>()?;
        Ok(match variant {
            0 => content.unit_variant().map(|()| Value::Unit)?,
            1 => Value::Bool(content.newtype_variant()?),
            2 => Value::Int(content.newtype_variant()?),
            3 => Value::Fixed(content.newtype_variant()?),
            4 => Value::Vec2(content.newtype_variant()?),
            5 => Value::Text(content.newtype_variant()?),
            6 => Value::Object(content.newtype_variant()?),
            7 => Value::Array(content.newtype_variant_seed(Array(self.inner()?))?),
            8 => Value::Map(content.newtype_variant_seed(Map(self.inner()?))?),
            _ => return Err(de::Error::custom("unknown kind of value")),
        })
    }
}

struct Array(Nested);

impl<'de> DeserializeSeed<'de> for Array {
    type Value = Vec<Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Array {
    type Value = Vec<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut data: A) -> Result<Self::Value, A::Error> {
        // The stated length is not believed: the vector grows as elements really come.
        let mut values = Vec::new();
        while let Some(value) = data.next_element_seed(self.0)? {
            values.push(value);
        }
        Ok(values)
    }
}

struct Map(Nested);

impl<'de> DeserializeSeed<'de> for Map {
    type Value = BTreeMap<String, Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Map {
    type Value = BTreeMap<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut data: A) -> Result<Self::Value, A::Error> {
        let mut values = BTreeMap::new();
        while let Some(name) = data.next_key()? {
            values.insert(name, data.next_value_seed(self.0)?);
        }
        Ok(values)
    }
}

/// What a script keeps between calls: its `state.` variables, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State(pub BTreeMap<String, Value>);

/// Why a value may not be kept or sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// Arrays and maps nested deeper than [`VALUE_DEPTH_MAX`].
    #[error("nested deeper than {VALUE_DEPTH_MAX} levels")]
    Depth,
    /// More than [`ARRAY_LENGTH_MAX`] elements, those of inner arrays included.
    #[error("more than {ARRAY_LENGTH_MAX} elements")]
    Elements,
    /// More than [`MAP_LENGTH_MAX`] entries, those of inner maps included.
    #[error("more than {MAP_LENGTH_MAX} entries")]
    Entries,
    /// More than [`STRING_BYTES_MAX`] bytes of text.
    #[error("more than {STRING_BYTES_MAX} bytes of text")]
    Text,
}

impl Value {
    /// Can a script hold it? What one script keeps or sends, another must be able to read.
    ///
    /// # Errors
    /// See [`ValueError`].
    pub fn check(&self) -> Result<(), ValueError> {
        // Depth first, because the count recurses.
        if self.depth() > VALUE_DEPTH_MAX {
            return Err(ValueError::Depth);
        }
        let Count {
            elements,
            entries,
            text,
        } = self.count();
        if elements > ARRAY_LENGTH_MAX {
            Err(ValueError::Elements)
        } else if entries > MAP_LENGTH_MAX {
            Err(ValueError::Entries)
        } else if text > STRING_BYTES_MAX {
            Err(ValueError::Text)
        } else {
            Ok(())
        }
    }

    fn count(&self) -> Count {
        match self {
            Self::Text(text) => Count {
                text: text.len(),
                ..Count::default()
            },
            Self::Array(values) => values.iter().map(Self::count).fold(
                Count {
                    elements: values.len(),
                    ..Count::default()
                },
                Count::plus,
            ),
            Self::Map(values) => values.values().map(Self::count).fold(
                Count {
                    entries: values.len(),
                    ..Count::default()
                },
                Count::plus,
            ),
            _ => Count::default(),
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Count {
    elements: usize,
    entries: usize,
    text: usize,
}

impl Count {
    const fn plus(self, other: Self) -> Self {
        Self {
            elements: self.elements + other.elements,
            entries: self.entries + other.entries,
            text: self.text + other.text,
        }
    }
}

/// Why a state may not be kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// Encoded, it is longer than [`STATE_BYTES_MAX`].
    #[error("the state takes {bytes} bytes, more than {STATE_BYTES_MAX}")]
    Bytes {
        /// Its encoded length.
        bytes: usize,
    },
    /// A variable holds what no script can hold.
    #[error("state.{name}: {error}")]
    Variable {
        /// The variable.
        name: String,
        /// Why not.
        error: ValueError,
    },
}

impl State {
    /// May it be kept? The values are looked at first, so that encoding cannot exhaust the stack.
    ///
    /// # Errors
    /// See [`StateError`].
    pub fn check(&self) -> Result<(), StateError> {
        for (name, value) in &self.0 {
            value.check().map_err(|error| StateError::Variable {
                name: name.clone(),
                error,
            })?;
        }
        let bytes = wire::encode(self).len();
        if bytes > STATE_BYTES_MAX {
            Err(StateError::Bytes { bytes })
        } else {
            Ok(())
        }
    }
}

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
            Self::Object(id) => write!(f, "object {id}"),
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
fn show_fixed(value: Fx, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let text = alloc::format!("{value:.6}");
    let short = text.trim_end_matches('0');
    f.write_str(short)?;
    f.write_str(if short.ends_with('.') { "0" } else { "" })
}
