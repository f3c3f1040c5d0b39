//! Parcels: what departs, whole, so that it can go on elsewhere.

use alloc::{string::String, vec::Vec};

use metatopia_math::Vec2;
use serde::{Deserialize, Serialize};

use crate::{
    Digest, Look, PublicKey, Traveller, limits,
    wire::{self, DecodeError},
};

/// Somebody or something on the way, with all that it is. Places are those of the sim that it left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Parcel {
    /// Somebody with empty hands.
    Person(TravellingPerson),
}

/// Somebody on the way: what the sim that takes her makes an avatar of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TravellingPerson {
    /// Who it is.
    pub key: PublicKey,
    /// The name above the avatar.
    pub name: String,
    /// What the avatar looks like.
    pub look: Look,
    /// Whether a program acts, by its own word.
    pub bot: bool,
    /// Where the avatar was, in metres from the middle of the sim that it left.
    pub position: Vec2,
    /// How fast it moved, in metres a second.
    pub velocity: Vec2,
    /// Where the person wanted to go.
    pub heading: Vec2,
    /// For how long the sim that she left had then heard nothing of the other one, in milliseconds.
    pub waited: u64,
}

/// Why bytes are no parcel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParcelError {
    /// They are too many, malformed, or of another format.
    #[error(transparent)]
    Decode(#[from] DecodeError),
}

impl Parcel {
    /// The number of the format in which this program writes and reads parcels.
    pub const FORMAT: u8 = 1;

    /// Encodes it behind the number of the format, for neighbours of other engines.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        wire::encode_format(Self::FORMAT, self)
    }

    /// Decodes what [`Parcel::encode`] made.
    ///
    /// # Errors
    /// See [`ParcelError`].
    pub fn decode(bytes: &[u8]) -> Result<Self, ParcelError> {
        Ok(wire::decode_format(Self::FORMAT, bytes, limits::PARCEL_BYTES_MAX)?)
    }

    /// Returns the digest by which a departure names the encoded parcel.
    #[must_use]
    pub fn digest(bytes: &[u8]) -> Digest {
        Digest::of("metatopia parcel v1", bytes)
    }

    /// Returns who or what is in it.
    #[must_use]
    pub const fn traveller(&self) -> Traveller {
        match self {
            Self::Person(person) => Traveller::Person(person.key),
        }
    }
}
