//! Parcels: what departs, whole, so that it can go on elsewhere.

use alloc::{boxed::Box, string::String, vec::Vec};

use metatopia_math::Vec2;
use serde::{Deserialize, Serialize};

use crate::{
    AssetLicence, Digest, Look, ObjectId, Origin, PackageId, PublicKey, SimId, Traveller, limits,
    wire::{self, DecodeError},
};

/// Somebody or something on the way, with all that it is. Places are those of the sim that it left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Parcel {
    /// Somebody with all that she holds: one mechanism, which is taken or refused as a whole.
    Person(TravellingPerson),
    /// A thing that nobody holds, with its body and its scripts, and what is joined to it.
    Thing(Box<TravellingThing>, Companions),
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
    /// What she holds, at most [`limits::HANDS_MAX`] things.
    pub hands: Vec<TravellingThing>,
    /// What she sits on, which has a seat.
    pub mount: Option<Box<TravellingThing>>,
    /// What is joined to that.
    pub companions: Companions,
}

/// What goes along because it is joined to a thing, to that thing itself or to another one of these.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Companions {
    /// The other things; with the one they are joined to at most [`limits::MECHANISM_THINGS_MAX`].
    pub things: Vec<TravellingThing>,
    /// The joints of all of them, at most [`limits::MECHANISM_JOINTS_MAX`].
    pub joints: Vec<TravellingJoint>,
}

/// A joint of two things of one parcel, which are numbered from the one that all are joined to, 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TravellingJoint {
    /// The number of its first thing.
    pub a: u8,
    /// The number of its second thing.
    pub b: u8,
    /// Its definition, as physics encodes one. The bodies that it names there mean nothing.
    pub spec: Vec<u8>,
}

/// A thing on the way: what the sim that takes it makes an object of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TravellingThing {
    /// Where it was born, and as what. No other thing ever has that.
    pub origin: Origin,
    /// The number that it had in the sim that it left. Its own scripts know it by that, and it has it again if
    /// it comes home.
    pub handle: ObjectId,
    /// What it is, as scripts are told.
    pub kind: String,
    /// The name that people see.
    pub name: String,
    /// Its owner; nobody means the sim that it left.
    pub owner: Option<PublicKey>,
    /// How it is drawn.
    pub look: Look,
    /// The text that it shows.
    pub text: String,
    /// What everybody may do with it.
    pub licence: AssetLicence,
    /// Its maker, or the maker of what it is a copy of.
    pub author: Option<PublicKey>,
    /// The origin of the thing that it is a copy of.
    pub parent: Option<Origin>,
    /// Where it had come from to the sim that it left, if it came over a border.
    pub guest: Option<BorderGuest>,
    /// Its body, as physics encodes one.
    pub body: Vec<u8>,
    /// How fast its body moved, in metres a second.
    pub velocity: Vec2,
    /// Where its body was, in metres from the middle of the sim that it left.
    pub position: Vec2,
    /// Its scripts, in their order; at most as many as one thing may have.
    pub scripts: Vec<TravellingScript>,
    /// Where one sits on it, as it sees itself, in metres; none where nobody can.
    pub seat: Option<Vec2>,
    /// Whether its owner let it travel in the sim that it left. What an admin sends home may go without that.
    pub travels: bool,
    /// For how long the sim that it left had then heard nothing of the other one, in milliseconds.
    pub waited: u64,
}

/// A script on the way. Events that it had not handled stay behind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TravellingScript {
    /// What it runs. Its source does not travel.
    pub package: PackageId,
    /// What it remembers, as scripts encode it.
    pub state: Vec<u8>,
    /// Its timers by name, ascending, with the ticks after which they run out.
    pub timers: Vec<(String, u64)>,
    /// Whether it failed too often.
    pub suspended: bool,
    /// How many events, timers and lines it lost, those included that stayed behind.
    pub dropped: u64,
}

/// A thing that came over a border, and counts against what that border may bring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BorderGuest {
    /// The neighbour from which it came.
    pub from: SimId,
    /// The bytes of the parcel in which it came.
    pub bytes: u32,
}

/// Why bytes are no parcel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParcelError {
    /// They are too many, malformed, or of another format.
    #[error(transparent)]
    Decode(#[from] DecodeError),
}

impl TravellingPerson {
    /// Returns what she brings: what she holds, then what she sits on, and then what is joined to that.
    pub fn things(&self) -> impl Iterator<Item = &TravellingThing> {
        self.hands.iter().chain(self.mount.as_deref()).chain(&self.companions.things)
    }
}

impl Parcel {
    /// The number of the format in which this program writes and reads parcels.
    pub const FORMAT: u8 = 5;

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

    /// Returns the things in it: what somebody in it holds, then what she sits on, and then what is joined to that;
    /// or a thing and then what is joined to it.
    pub fn things(&self) -> impl Iterator<Item = &TravellingThing> {
        let (person, thing, joined) = match self {
            Self::Person(person) => (Some(person), None, &[][..]),
            Self::Thing(thing, companions) => (None, Some(&**thing), &companions.things[..]),
        };
        person.into_iter().flat_map(TravellingPerson::things).chain(thing).chain(joined)
    }

    /// Returns what is joined in it.
    #[must_use]
    pub const fn companions(&self) -> &Companions {
        match self {
            Self::Person(person) => &person.companions,
            Self::Thing(_, companions) => companions,
        }
    }

    /// Returns who or what departs: of a mechanism that is the person who sits on it.
    #[must_use]
    pub fn traveller(&self) -> Traveller {
        match self {
            Self::Person(person) => Traveller::Person(person.key),
            Self::Thing(thing, _) => Traveller::Thing(thing.origin),
        }
    }
}
