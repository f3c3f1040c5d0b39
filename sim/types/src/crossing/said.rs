//! What a sim says to a neighbour: one leaf of its state.

use alloc::{format, vec::Vec};

use metatopia_math::Vec2;
use serde::{Deserialize, Serialize};

use super::frame::BorderFrame;
use super::reasons::{PassRefusal, TravelRefusal};
use crate::{
    Digest, Height, LeafKey, Millis, Origin, PublicKey, SimId, limits,
    wire::{self, DecodeError},
};

/// Returns the key of the leaf that a sim keeps for this neighbour.
#[must_use]
pub fn said_key(neighbour: SimId) -> LeafKey {
    LeafKey(format!("neighbour/{neighbour}/said"))
}

/// Who or what goes over a border.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Traveller {
    /// Somebody with an avatar. A person is a key and no thing: a login makes the avatar anew wherever it
    /// is missed.
    Person(PublicKey),
    /// A thing, by its origin. It is in exactly one place.
    Thing(Origin),
}

/// Somebody or something that left for the neighbour, and that the neighbour has not settled yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BorderDeparture {
    /// Its number among all departures to this neighbour.
    pub number: u64,
    /// Who or what it is.
    pub traveller: Traveller,
    /// The neighbour may take it in turns up to this time of its own, and in none after.
    pub until: Millis,
    /// The digest of its parcel.
    pub parcel: Digest,
}

/// What became of a departure of the neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BorderVerdict {
    /// The number of the departure.
    pub number: u64,
    /// Why it was not taken; none if it was.
    pub refused: Option<TravelRefusal>,
}

/// The answer to somebody who approaches.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CrossingPass {
    /// The person whom it is about.
    pub person: PublicKey,
    /// Until when it counts, by the time of the sim that gives it.
    pub until: Millis,
    /// Why the person may not come; none if she may.
    pub refused: Option<PassRefusal>,
    /// The mark of what is answered here: what she holds or sits on since is not.
    pub mark: HandsMark,
    /// Why each thing that she would bring may not come along, in their order; `None` if it may.
    pub hands: Vec<Option<TravelRefusal>>,
}

/// A short digest of the things that somebody would bring along: it changes when these do.
pub type HandsMark = [u8; 8];

/// Somebody near a border, with what she would bring along.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NearPerson {
    /// Who it is.
    pub person: PublicKey,
    /// The mark of the things that she brings and this sim lets go: those in her hands, and then the one that she
    /// sits on.
    pub mark: HandsMark,
    /// What has to be known of each of them to answer whether it may come.
    pub brought: Vec<BroughtThing>,
}

/// What a neighbour is told of a thing that somebody would bring along, with all that is joined to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BroughtThing {
    /// How far the largest of them reaches from its middle, in whole centimetres, rounded down.
    pub reach: u16,
    /// How many of them are of several parts.
    pub compounds: u8,
    /// How many they are, if she owns all of them, else 0. They count as hers over there, if she may have so much
    /// there.
    pub hers: u8,
}

impl NearPerson {
    /// Returns the mark of these things; zeroes are that of none.
    #[must_use]
    pub fn mark_of(origins: &[Origin]) -> HandsMark {
        let mut mark = HandsMark::default();
        if !origins.is_empty() {
            let digest = Digest::of("metatopia hands v1", &wire::encode(&origins));
            mark.iter_mut().zip(digest.0).for_each(|(byte, of)| *byte = of);
        }
        mark
    }
}

/// All that a sim says to one neighbour.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Said {
    /// The height of the turn after which it is said.
    pub height: Height,
    /// The time of that turn. A deadline before it has passed for ever, because times grow.
    pub time: Millis,
    /// Whether the border is open on this side.
    pub open: bool,
    /// The middle of the portal through which one goes on this side; none where the squares share an edge.
    pub portal: Option<Vec2>,
    /// How often this sim gave up what was under way to the neighbour, see
    /// [`BorderOrder::Sever`](super::BorderOrder::Sever).
    pub epoch: u64,
    /// The last epoch of the neighbour that this sim has taken up.
    pub taken_up: u64,
    /// The number of its next departure. Numbers go on for ever, over closed borders and epochs.
    pub out_next: u64,
    /// Every departure of the neighbour with a number below this is judged, or never will be.
    pub in_next: u64,
    /// Its departures that are under way, ascending; at most [`limits::DEPARTURES_MAX`].
    pub departures: Vec<BorderDeparture>,
    /// Its verdicts on departures that the neighbour lists, ascending; at most [`limits::VERDICTS_MAX`].
    pub verdicts: Vec<BorderVerdict>,
    /// Numbers of departures that came home when it was severed, ascending, until the neighbour has taken
    /// up the epoch; at most [`limits::DEPARTURES_MAX`].
    pub came_home: Vec<u64>,
    /// Its answers to people who approach, ascending by key; at most [`limits::PASSES_MAX`].
    pub passes: Vec<CrossingPass>,
    /// People of its own near the border, ascending by key; at most [`limits::PEOPLE_NEAR_MAX`].
    pub near: Vec<NearPerson>,
    /// The bodies of its own that are next to the line: as many as fit the leaf beside all else.
    pub frame: BorderFrame,
}

/// Why bytes are nothing that a sim says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SaidError {
    /// They are too many, malformed, or of another format.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// A list is longer than it may be.
    #[error("{0} entries in a list that may have {1} at most")]
    Long(usize, usize),
    /// A list does not ascend.
    #[error("a list of numbers or keys does not ascend")]
    Order,
    /// A number is not below the one that comes next, or is no number of a turn's kind.
    #[error("the number {0} is out of range")]
    Number(u64),
    /// A body of the border frame is smaller or larger than bodies that move.
    #[error("a body of {0} / 1,024 m in the border frame")]
    Size(u16),
    /// The border frame is later than what is said.
    #[error("the border frame was made at {0} ms, after that was said")]
    Later(u64),
}

impl Said {
    /// The number of the format in which this program writes and reads it.
    pub const FORMAT: u8 = 6;

    /// Returns what is said at a border on which nothing was ever said.
    #[must_use]
    pub const fn nothing() -> Self {
        Self {
            height: Height(0),
            time: Millis(0),
            open: false,
            portal: None,
            epoch: 0,
            taken_up: 0,
            out_next: 0,
            in_next: 0,
            departures: Vec::new(),
            verdicts: Vec::new(),
            came_home: Vec::new(),
            passes: Vec::new(),
            near: Vec::new(),
            frame: BorderFrame::empty(),
        }
    }

    /// Encodes it as the content of its leaf: the number of the format comes first.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        wire::encode_format(Self::FORMAT, self)
    }

    /// Decodes the content of such a leaf.
    ///
    /// # Errors
    /// See [`SaidError`].
    pub fn decode(bytes: &[u8]) -> Result<Self, SaidError> {
        let said: Self = wire::decode_format(Self::FORMAT, bytes, limits::SAID_BYTES_MAX)?;
        said.check()?;
        Ok(said)
    }

    /// Returns the digest of what counts as news: all but the height and the time.
    #[must_use]
    pub fn news(&self) -> Digest {
        let timeless = Self { height: Height(0), time: Millis(0), ..self.clone() };
        Digest::of("metatopia border news v1", &timeless.encode())
    }

    /// Returns how many bytes the bodies of the border frame may have beside all else that is said.
    #[must_use]
    pub fn room_for_frame(&self) -> usize {
        let frame = BorderFrame { made: self.time, bodies: Vec::new() };
        let others = Self { frame, ..self.clone() }.encode().len();
        limits::SAID_BYTES_MAX.saturating_sub(others)
    }

    /// Checks lengths, orders and ranges.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self) -> Result<(), SaidError> {
        use limits::{DEPARTURES_MAX, PASSES_MAX, PEOPLE_NEAR_MAX, VERDICTS_MAX};
        let lengths = [
            (self.departures.len(), DEPARTURES_MAX),
            (self.verdicts.len(), VERDICTS_MAX),
            (self.came_home.len(), DEPARTURES_MAX),
            (self.passes.len(), PASSES_MAX),
            (self.near.len(), PEOPLE_NEAR_MAX),
        ];
        let answered = self.passes.iter().map(|pass| pass.hands.len());
        let held = self.near.iter().map(|near| near.brought.len());
        let brought = (answered.chain(held).max().unwrap_or_default(), limits::BROUGHT_MAX);
        let lengths = lengths.into_iter().chain([brought]);
        if let Some((found, max)) = lengths.into_iter().find(|(found, max)| found > max) {
            return Err(SaidError::Long(found, max));
        }
        let departures = self.departures.iter().map(|departure| departure.number);
        let verdicts = self.verdicts.iter().map(|verdict| verdict.number);
        let ascends = departures.clone().is_sorted_by(|a, b| a < b)
            && verdicts.clone().is_sorted_by(|a, b| a < b)
            && self.came_home.is_sorted_by(|a, b| a < b)
            && self.passes.is_sorted_by(|a, b| a.person < b.person)
            && self.near.is_sorted_by(|a, b| a.person < b.person);
        if !ascends {
            return Err(SaidError::Order);
        }
        let last_out = departures.chain(self.came_home.iter().copied()).max();
        let numbers = [(last_out, self.out_next), (verdicts.max(), self.in_next)];
        for (last, next) in numbers {
            // Numbers below 2^52 survive wherever numbers are floating-point ones.
            let last = last.filter(|last| *last >= next);
            if let Some(number) = last.or((next >= limits::OBJECT_NUMBERS_END).then_some(next)) {
                return Err(SaidError::Number(number));
            }
        }
        self.frame.check(self.time)
    }
}
