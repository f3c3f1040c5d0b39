//! What scripts keep and send: one canonical form of a value.

mod decode;
mod text;

use alloc::{collections::BTreeMap, string::String, vec::Vec};

use metatopia_math::{Fx, Vec2};
use metatopia_types::{ObjectId, wire};
use serde::{Deserialize, Serialize};

pub(crate) use text::{PrintedValue, show_array, show_fixed, show_map, show_object, show_vec2};

use crate::limits::{
    ARRAY_LENGTH_MAX, MAP_LENGTH_MAX, STATE_BYTES_MAX, STATE_BYTES_PER_GAS, STATE_ELEMENTS_PER_GAS,
    STRING_BYTES_MAX, VALUE_DEPTH_MAX,
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
    /// A text of UTF-8.
    Text(String),
    /// A handle of an object, which may be gone by now. Scripts compare and keep it, and never see its
    /// number.
    Object(ObjectId),
    /// Values in order.
    Array(Vec<Self>),
    /// Values by name, in the order of the names.
    Map(BTreeMap<String, Self>),
}

impl Value {
    /// Returns how many arrays and maps are inside one another: 0 for a plain value. Looks no deeper than one
    /// level past [`VALUE_DEPTH_MAX`].
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

/// What a script keeps between calls: its `state.` variables, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptState(pub BTreeMap<String, Value>);

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
    /// Checks that a script can hold the value. What one script keeps or sends, another must be able to read.
    ///
    /// # Errors
    /// See [`ValueError`].
    #[inline]
    pub fn check(&self) -> Result<(), ValueError> {
        match self {
            Self::Text(_) | Self::Array(_) | Self::Map(_) => self.check_whole(),
            _ => Ok(()),
        }
    }

    fn check_whole(&self) -> Result<(), ValueError> {
        // Depth first, because the count recurses.
        if self.depth() > VALUE_DEPTH_MAX {
            return Err(ValueError::Depth);
        }
        let Count { elements, entries, text } = self.count();
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
            Self::Text(text) => Count { text: text.len(), ..Count::default() },
            Self::Array(values) => values
                .iter()
                .map(Self::count)
                .fold(Count { elements: values.len(), ..Count::default() }, Count::plus),
            Self::Map(values) => values
                .values()
                .map(Self::count)
                .fold(Count { entries: values.len(), ..Count::default() }, Count::plus),
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
        /// The name of the variable.
        name: String,
        /// Why it cannot be kept.
        error: ValueError,
    },
}

impl ScriptState {
    /// Returns what a call costs because this state comes with it, in units of gas.
    #[must_use]
    pub(crate) fn gas(&self) -> u64 {
        // Many scripts keep nothing, which is one byte.
        const { assert!(STATE_BYTES_PER_GAS > 1) }
        if self.0.is_empty() {
            return 0;
        }
        let all = self.0.values().map(Value::count).fold(Count::default(), Count::plus);
        let names = self.0.len() + all.entries;
        let bytes = wire::length(self) / STATE_BYTES_PER_GAS;
        (bytes + names + all.elements / STATE_ELEMENTS_PER_GAS) as u64
    }

    /// Checks that the state may be kept. The values are checked first, so that encoding cannot exhaust the
    /// stack.
    ///
    /// # Errors
    /// See [`StateError`].
    pub fn check(&self) -> Result<(), StateError> {
        for (name, value) in &self.0 {
            value.check().map_err(|error| StateError::Variable { name: name.clone(), error })?;
        }
        let bytes = wire::length(self);
        if bytes > STATE_BYTES_MAX { Err(StateError::Bytes { bytes }) } else { Ok(()) }
    }
}
