//! Values of the interpreter, and ours: conversions and sizes.

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

use metatopia_math::{Fx, Vec2};
use metatopia_types::ObjectId;
use rhai::{Array, Dynamic, ImmutableString, Map};

use crate::{
    ErrorKind, HostFault, Value,
    limits::{ARRAY_LENGTH_MAX, MAP_LENGTH_MAX, VALUE_DEPTH_MAX},
};

/// What `state` is while a script runs: its variables are in the scene.
#[derive(Clone, Copy, Debug)]
pub(super) struct StateRoot;

/// Bytes that a value counts besides its text.
const VALUE_BYTES: usize = 16;

/// How deep an expression can nest a value before it meets a variable; deeper is refused anyway.
const CONVERSION_DEPTH_MAX: u32 = 64;

/// The interpreter's value as ours.
pub(super) fn to_value(value: &Dynamic) -> Result<Value, HostFault> {
    convert(value, CONVERSION_DEPTH_MAX)
}

fn convert(value: &Dynamic, levels: u32) -> Result<Value, HostFault> {
    let Some(levels) = levels.checked_sub(1) else {
        return Err(HostFault::new(ErrorKind::Depth, "a value is nested too deeply"));
    };
    if value.is_unit() {
        return Ok(Value::Unit);
    }
    if let Ok(value) = value.as_bool() {
        return Ok(Value::Bool(value));
    }
    if let Ok(value) = value.as_int() {
        return Ok(Value::Int(value));
    }
    if let Some(value) = value.read_lock::<Fx>() {
        return Ok(Value::Fixed(*value));
    }
    if let Some(value) = value.read_lock::<Vec2>() {
        return Ok(Value::Vec2(*value));
    }
    if let Some(value) = value.read_lock::<ObjectId>() {
        return Ok(Value::Object(*value));
    }
    if let Some(value) = value.read_lock::<ImmutableString>() {
        return Ok(Value::Text(value.as_str().into()));
    }
    if let Ok(value) = value.as_char() {
        return Ok(Value::Text(value.into()));
    }
    if let Some(values) = value.read_lock::<Array>() {
        let values: Result<Vec<_>, _> = values.iter().map(|v| convert(v, levels)).collect();
        return values.map(Value::Array);
    }
    if let Some(values) = value.read_lock::<Map>() {
        let entry = |(name, v): (&_, &_)| {
            let name: &rhai::Identifier = name;
            convert(v, levels).map(|v| (String::from(name.as_str()), v))
        };
        let values: Result<BTreeMap<_, _>, _> = values.iter().map(entry).collect();
        return values.map(Value::Map);
    }
    Err(HostFault::new(ErrorKind::Type, "a function, a range or state itself is no value to keep"))
}

/// Our value as the interpreter's.
pub(super) fn to_dynamic(value: Value) -> Dynamic {
    match value {
        Value::Unit => Dynamic::UNIT,
        Value::Bool(value) => value.into(),
        Value::Int(value) => value.into(),
        Value::Fixed(value) => Dynamic::from(value),
        Value::Vec2(value) => Dynamic::from(value),
        Value::Object(value) => Dynamic::from(value),
        Value::Text(value) => value.into(),
        Value::Array(values) => {
            Dynamic::from_array(values.into_iter().map(to_dynamic).collect::<Array>())
        }
        Value::Map(values) => {
            let entry = |(name, value): (String, _)| (name.as_str().into(), to_dynamic(value));
            Dynamic::from_map(values.into_iter().map(entry).collect::<Map>())
        }
    }
}

/// What it is to copy a value, or to look at all of it: plain ones lie in their list, the others have
/// memory of their own, and a copy asks for that anew. The numbers stand to one another as the times
/// that were measured.
mod work {
    /// A number without a fraction, a character, a truth or nothing.
    pub(super) const PLAIN: usize = 1;
    /// A number with a fraction, a vector, an object: two allocations.
    pub(super) const BOXED: usize = 16;
    /// A list, beside what is in it: two allocations as well, and its elements are taken apart.
    pub(super) const LIST: usize = 64;
    /// A map, beside what is in it: it has memory for eleven names.
    pub(super) const MAP: usize = 128;
    /// A name in a map, beside its value.
    pub(super) const NAME: usize = 16;
    /// A text, which copies share.
    pub(super) const TEXT: usize = 8;
    /// A byte of the longest text. Copies share their texts, but a letter that is written takes a walk
    /// over all of one, and nothing tells which access does that.
    pub(super) const TEXT_BYTE: usize = 5;
}

/// Work for a unit of gas.
const WORK_PER_GAS: usize = 32;

/// What a value counts against the limits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Size {
    /// Against the byte budget.
    pub(super) bytes: usize,
    /// Values, inner ones included.
    pub(super) values: usize,
    /// What a copy costs.
    work: usize,
    /// Bytes of the longest text.
    longest: usize,
    /// Elements of arrays, inner ones included.
    pub(super) elements: usize,
    /// Entries of maps, inner ones included.
    pub(super) entries: usize,
}

impl Size {
    /// Gas of an access to a variable or constant that is so large: the interpreter may copy it.
    pub(super) const fn gas(&self) -> u64 {
        ((self.work + self.longest * work::TEXT_BYTE) / WORK_PER_GAS) as u64
    }

    /// A fault if arrays and maps are nested deeper, or are longer, than they may be.
    pub(super) fn of(value: &Dynamic) -> Result<Self, HostFault> {
        let mut size = Self::default();
        size.add(value, VALUE_DEPTH_MAX)?;
        let message = if size.elements > ARRAY_LENGTH_MAX {
            format!("an array of more than {ARRAY_LENGTH_MAX} elements")
        } else if size.entries > MAP_LENGTH_MAX {
            format!("a map of more than {MAP_LENGTH_MAX} entries")
        } else {
            return Ok(size);
        };
        Err(HostFault::new(ErrorKind::Memory, message))
    }

    fn add(&mut self, value: &Dynamic, levels: u32) -> Result<(), HostFault> {
        let deeper = || {
            let message = format!("arrays and maps nested deeper than {VALUE_DEPTH_MAX}");
            levels.checked_sub(1).ok_or_else(|| HostFault::new(ErrorKind::Depth, message))
        };
        self.bytes += VALUE_BYTES;
        self.values += 1;
        // Nearly all values are plain: this runs for each of them, at each access to a variable.
        if value.is_int() || value.is_bool() || value.is_unit() || value.is_char() {
            self.work += work::PLAIN;
            return Ok(());
        }
        if !(value.is_array() || value.is_map() || value.is_string()) {
            self.work += work::BOXED;
            return Ok(());
        }
        if let Ok(values) = value.as_array_ref() {
            let levels = deeper()?;
            self.work += work::LIST;
            self.elements += values.len();
            values.iter().try_for_each(|value| self.add(value, levels))?;
        } else if let Ok(values) = value.as_map_ref() {
            let levels = deeper()?;
            self.work += work::MAP;
            self.entries += values.len();
            for (name, value) in values.iter() {
                self.bytes += VALUE_BYTES + name.len();
                self.work += work::NAME + name.len();
                self.add(value, levels)?;
            }
        } else if let Ok(text) = value.as_immutable_string_ref() {
            self.bytes += text.len();
            self.work += work::TEXT;
            self.longest = self.longest.max(text.len());
        }
        Ok(())
    }
}

/// Bytes that a list or map counts beside what is in it: it has memory of its own.
const CONTAINER_BYTES: usize = 112;

/// Bytes that a text counts beside its letters, for the same reason.
const TEXT_BYTES: usize = 48;

/// Bytes that our value takes, roughly: what a host function is charged for.
pub(super) fn weight(value: &Value) -> usize {
    let name = |name: &String| CONTAINER_BYTES + name.len();
    VALUE_BYTES
        + match value {
            Value::Text(text) => TEXT_BYTES + text.len(),
            Value::Array(values) => CONTAINER_BYTES + values.iter().map(weight).sum::<usize>(),
            Value::Map(values) => values.iter().map(|(n, v)| name(n) + weight(v)).sum(),
            _ => 0,
        }
}
