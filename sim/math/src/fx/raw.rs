//! The serialised form of a number: its raw bits.
//!
//! `fixed` would write a structure with a field `bits`. This form is what states, logs and
//! messages hold, so it must stay the plain `i64`.

use fixed::types::I32F32;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Writes the bits of a number.
pub(super) fn serialize<S: Serializer>(number: &I32F32, serializer: S) -> Result<S::Ok, S::Error> {
    number.to_bits().serialize(serializer)
}

/// Reads the bits of a number.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<I32F32, D::Error> {
    i64::deserialize(deserializer).map(I32F32::from_bits)
}
