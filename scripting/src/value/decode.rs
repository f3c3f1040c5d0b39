//! Reading a value: hostile bytes can neither exhaust the stack nor reserve memory.

use alloc::{collections::BTreeMap, string::String, vec::Vec};
use core::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{self, DeserializeSeed, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor},
};

use super::Value;
use crate::limits::VALUE_DEPTH_MAX;

const VARIANTS: &[&str] =
    &["Unit", "Bool", "Int", "Fixed", "Vec2", "Text", "Object", "Array", "Map"];

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Nested { levels: VALUE_DEPTH_MAX }.deserialize(deserializer)
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
        levels.map(|levels| Self { levels }).ok_or_else(|| E::custom("nested too deeply"))
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
