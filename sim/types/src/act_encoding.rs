//! How an act stands in its envelope: its number, then its bytes with their length.
//!
//! This shell never changes, so whoever does not know an act can still name, check and keep the turn that
//! carries it. Only what has a number is known; everything else is [`Act::Unknown`].

use alloc::vec::Vec;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser::SerializeTuple};

use crate::{Act, wire};

/// The acts that this program knows, each with its number. The table only grows: a number keeps its act
/// for ever, because turns that carry it are read for ever. Numbers are the places of the variants.
pub const ACT_NUMBERS: [(&str, u16); 39] = [
    ("Login", 0),
    ("Leave", 1),
    ("Heartbeat", 2),
    ("Walk", 3),
    ("Touch", 4),
    ("Push", 5),
    ("Say", 6),
    ("Emote", 7),
    ("SetLook", 8),
    ("SetChange", 9),
    ("Ready", 10),
    ("Report", 11),
    ("Build", 12),
    ("Ticket", 13),
    ("Amend", 14),
    ("Publish", 15),
    ("Reply", 16),
    ("Land", 17),
    ("Answer", 18),
    ("Forbid", 19),
    ("Hear", 20),
    ("Approach", 21),
    ("Border", 22),
    ("Govern", 23),
    ("Lot", 24),
    ("GoHome", 25),
    ("Sit", 26),
    ("FileReport", 27),
    ("WithdrawReport", 28),
    ("Tell", 29),
    ("EmptyMailbox", 30),
    ("NameFriends", 31),
    ("Vouch", 32),
    ("CancelRecovery", 33),
    ("Forget", 34),
    ("Club", 35),
    ("SetProfile", 36),
    ("PublishPiece", 37),
    ("Assemble", 38),
];

/// Bytes of an act that are encoded on the stack.
const SHORT: usize = 256;

impl Act {
    /// Returns the number by which envelopes name this kind of act.
    #[must_use]
    pub const fn number(&self) -> u16 {
        match self {
            Self::Login { .. } => 0,
            Self::Leave => 1,
            Self::Heartbeat => 2,
            Self::Walk { .. } => 3,
            Self::Touch { .. } => 4,
            Self::Push { .. } => 5,
            Self::Say { .. } => 6,
            Self::Emote(_) => 7,
            Self::SetLook(_) => 8,
            Self::SetChange(_) => 9,
            Self::Ready { .. } => 10,
            Self::Report(_) => 11,
            Self::Build(_) => 12,
            Self::Ticket(_) => 13,
            Self::Amend { .. } => 14,
            Self::Publish { .. } => 15,
            Self::Reply { .. } => 16,
            Self::Land { .. } => 17,
            Self::Answer { .. } => 18,
            Self::Forbid => 19,
            Self::Hear { .. } => 20,
            Self::Approach { .. } => 21,
            Self::Border { .. } => 22,
            Self::Govern(_) => 23,
            Self::Lot(_) => 24,
            Self::GoHome => 25,
            Self::Sit { .. } => 26,
            Self::FileReport { .. } => 27,
            Self::WithdrawReport { .. } => 28,
            Self::Tell { .. } => 29,
            Self::EmptyMailbox { .. } => 30,
            Self::NameFriends { .. } => 31,
            Self::Vouch { .. } => 32,
            Self::CancelRecovery => 33,
            Self::Forget { .. } => 34,
            Self::Club(_) => 35,
            Self::SetProfile { .. } => 36,
            Self::PublishPiece { .. } => 37,
            Self::Assemble { .. } => 38,
            Self::Unknown { number, .. } => *number,
        }
    }
}

/// Says whether this program knows the acts of a number.
fn is_known(number: u16) -> bool {
    ACT_NUMBERS.iter().any(|(_, known)| *known == number)
}

/// An act by the derived encoding: the place of its variant, and its fields.
struct Derived<T>(T);

impl Serialize for Derived<&Act> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Act::serialize(self.0, serializer)
    }
}

impl<'de> Deserialize<'de> for Derived<Act> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Act::deserialize(deserializer).map(Self)
    }
}

/// The bytes of an act, as they stand in an envelope.
struct ActBytes<'a>(&'a [u8]);

impl Serialize for ActBytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

/// Writes the number of an act and its bytes.
fn write<S: Serializer>(number: u16, bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    let mut shell = serializer.serialize_tuple(2)?;
    shell.serialize_element(&number)?;
    shell.serialize_element(&ActBytes(bytes))?;
    shell.end()
}

impl Serialize for Act {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return Self::serialize(self, serializer);
        }
        let number = self.number();
        if let Self::Unknown { bytes, .. } = self {
            return write(number, bytes, serializer);
        }
        // The place of the variant is its number, in as many bytes.
        let place = wire::length(&number);
        let mut short = [0; SHORT];
        match postcard::to_slice(&Derived(self), &mut short) {
            Ok(derived) => write(number, &derived[place..], serializer),
            Err(_) => write(number, &wire::encode(&Derived(self))[place..], serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Act {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return Self::deserialize(deserializer);
        }
        let (number, bytes) = <(u16, &'de [u8])>::deserialize(deserializer)?;
        if !is_known(number) {
            return Ok(Self::Unknown { number, bytes: bytes.to_vec() });
        }
        let mut derived: Vec<u8> = wire::encode(&number);
        derived.extend_from_slice(bytes);
        match postcard::take_from_bytes(&derived) {
            Ok((Derived(act), [])) => Ok(act),
            _ => Err(de::Error::custom("the bytes are no act of this number")),
        }
    }
}
