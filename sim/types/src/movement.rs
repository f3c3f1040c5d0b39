//! What changes of a body from turn to turn, without what stays: for deltas on the wire.

use core::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error as _, SeqAccess, Visitor},
    ser::SerializeTuple as _,
};

/// The changed parts of a body's motion, in the physics engine's own fixed-point numbers, so that
/// whoever follows them holds the very body that the servers hash. A part that did not change is
/// none.
///
/// On the wire: a byte whose bits 0 to 4 say which parts follow, in the order of the fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Movement {
    /// Metres, with 20 fraction bits.
    pub position: Option<[i32; 2]>,
    /// Cosine and sine of where it faces, with 30 fraction bits.
    pub facing: Option<[i32; 2]>,
    /// Metres a second, with 20 fraction bits.
    pub velocity: Option<[i32; 2]>,
    /// Radians a second, with 20 fraction bits.
    pub spin: Option<i32>,
    /// Steps for which it has been slow.
    pub slow_steps: Option<u8>,
}

impl Movement {
    /// Returns whether it says nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Bits of the first byte, in the order of the fields.
const PARTS: u8 = 5;

impl Serialize for Movement {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parts = [
            self.position.is_some(),
            self.facing.is_some(),
            self.velocity.is_some(),
            self.spin.is_some(),
            self.slow_steps.is_some(),
        ];
        let mask = (0..PARTS).zip(parts).fold(0, |mask, (bit, is)| mask | u8::from(is) << bit);
        let mut tuple = serializer.serialize_tuple(1 + mask.count_ones() as usize)?;
        tuple.serialize_element(&mask)?;
        for pair in [self.position, self.facing, self.velocity].iter().flatten() {
            tuple.serialize_element(pair)?;
        }
        if let Some(spin) = &self.spin {
            tuple.serialize_element(spin)?;
        }
        if let Some(steps) = &self.slow_steps {
            tuple.serialize_element(steps)?;
        }
        tuple.end()
    }
}

impl<'de> Deserialize<'de> for Movement {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_tuple(1 + usize::from(PARTS), MovementVisitor)
    }
}

struct MovementVisitor;

impl<'de> Visitor<'de> for MovementVisitor {
    type Value = Movement;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a byte of parts, and the parts")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Movement, A::Error> {
        let short = || A::Error::custom("a part is missing");
        let mask: u8 = seq.next_element()?.ok_or_else(short)?;
        if mask >> PARTS != 0 {
            return Err(A::Error::custom("a part that is not known"));
        }
        let has = |bit: u8| mask >> bit & 1 == 1;
        let mut pair = |bit| match has(bit) {
            true => seq.next_element()?.ok_or_else(short).map(Some),
            false => Ok(None),
        };
        let (position, facing, velocity) = (pair(0)?, pair(1)?, pair(2)?);
        let spin = if has(3) { Some(seq.next_element()?.ok_or_else(short)?) } else { None };
        let slow_steps = if has(4) { Some(seq.next_element()?.ok_or_else(short)?) } else { None };
        Ok(Movement { position, facing, velocity, spin, slow_steps })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire;

    #[test]
    fn every_set_of_parts_comes_back_and_costs_only_what_it_says() {
        for mask in 0_u8..32 {
            let has = |bit: u8| mask >> bit & 1 == 1;
            let movement = Movement {
                position: has(0).then_some([1 << 20, -3]),
                facing: has(1).then_some([1 << 30, 0]),
                velocity: has(2).then_some([i32::MIN, i32::MAX]),
                spin: has(3).then_some(-1),
                slow_steps: has(4).then_some(30),
            };
            let bytes = wire::encode(&movement);
            assert_eq!(bytes[0], mask);
            assert_eq!(wire::decode::<Movement>(&bytes, 64), Ok(movement));
            assert_eq!(movement.is_empty(), bytes.len() == 1);
        }
    }

    #[test]
    fn unknown_parts_and_missing_ones_are_refused() {
        assert!(wire::decode::<Movement>(&[1 << PARTS], 64).is_err());
        assert!(wire::decode::<Movement>(&[1], 64).is_err());
        assert!(wire::decode::<Movement>(&[0, 0], 64).is_err());
    }
}
