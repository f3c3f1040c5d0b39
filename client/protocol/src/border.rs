//! Questions across borders: what one sim says to its neighbour, and how its borders stand.

use alloc::{string::String, vec::Vec};

use metatopia_math::Vec2;
use metatopia_types::{
    Digest, HandRefusal, HearRefusal, Height, HomeReason, ObjectId, PassRefusal, SimId, Square,
};
use serde::{Deserialize, Serialize};

/// The longest time that a question for a dispatch stands, in milliseconds: so often a neighbour of
/// which nothing is new is heard all the same.
pub const DISPATCH_WAIT_MAX_MS: u32 = 10_000;

/// Nodes of a neighbour in one answer about borders.
pub const NEIGHBOUR_NODES_MAX: usize = 8;

/// Asks what a sim says to a neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DispatchQuestion {
    /// The neighbour whose server asks.
    pub neighbour: SimId,
    /// The neighbour follows the validators of this sim up to there.
    pub followed: Height,
    /// The number of the first thing that came from this sim and was not judged yet. What comes before it
    /// need not be sent again.
    pub judged: u64,
    /// The digest of the news that came with the last answer; none before the first.
    pub had: Option<Digest>,
    /// The question stands for so many milliseconds where nothing is new; at most
    /// [`DISPATCH_WAIT_MAX_MS`].
    pub wait: u32,
}

/// What a sim says to a neighbour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DispatchAnswer {
    /// The digest of the news that it tells. It changes when there is something new to say.
    pub news: Digest,
    /// An encoded [`Dispatch`](metatopia_types::Dispatch), which proves itself.
    #[serde(with = "metatopia_types::wire::bytes")]
    pub dispatch: Vec<u8>,
}

/// What a neighbour says, as somebody carried it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandedDispatch {
    /// The neighbour that says it.
    pub neighbour: SimId,
    /// An encoded [`Dispatch`](metatopia_types::Dispatch), which proves itself.
    #[serde(with = "metatopia_types::wire::bytes")]
    pub dispatch: Vec<u8>,
}

/// Why a node does not take a dispatch that somebody hands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum HandInRefusal {
    /// It proposes no turns.
    #[error("that node is no server of its sim; hand it to one that is")]
    NoServer,
    /// It has heard of the neighbour by itself a moment ago.
    #[error("that server hears the neighbour itself")]
    Heard,
    /// It lacks the parcel of the first departure that was not judged: nobody may hold up what comes over by that.
    #[error("the parcel of the first departure that was not judged yet is not in it")]
    NoParcel,
    /// The dispatch itself is not heard.
    #[error(transparent)]
    Hear(HearRefusal),
}

/// How a border stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BorderStanding {
    /// People may cross.
    Open,
    /// It is a wall, for this reason.
    Wall(String),
}

/// What is said to somebody near a border, of whatever does not go over it as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassAnswer {
    /// Why the neighbour does not let her over; none if it does, or has not been asked.
    pub refused: Option<PassRefusal>,
    /// What she holds and does not bring along, and why.
    pub hands: Vec<(ObjectId, HandRefusal)>,
    /// The number of the departure over this border from which she came home a moment ago, and why.
    pub turned_back: Option<(u64, HomeReason)>,
}

/// The portal through which one goes over a border between sims that do not touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortalEntry {
    /// Its middle on this side.
    pub here: Vec2,
    /// Its middle on the other side, as the neighbour said last; none if nothing was heard.
    pub there: Option<Vec2>,
}

/// A border of the sim, for people to read, and for clients that walk over it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BorderEntry {
    /// The sim on the other side.
    pub neighbour: SimId,
    /// The ground of that sim.
    pub square: Square,
    /// The portal that leads there; none where the two squares share an edge.
    pub portal: Option<PortalEntry>,
    /// Whether people may cross.
    pub standing: BorderStanding,
    /// How often the border was severed.
    pub epoch: u64,
    /// The height of the neighbour that was heard of last; 0 if nothing was.
    pub heard: Height,
    /// Milliseconds of the sim's time since then; none if nothing was heard.
    pub silent: Option<u64>,
    /// What departed and is not settled.
    pub under_way: u32,
    /// The validators of the neighbour are followed up to there.
    pub followed: Height,
    /// The number of the first thing of the neighbour that was not judged yet.
    pub judged: u64,
    /// Nodes of the neighbour that this node knows of, at most [`NEIGHBOUR_NODES_MAX`].
    pub nodes: Vec<String>,
    /// What the person who was asked for is told there; none if nobody was asked for.
    pub answer: Option<PassAnswer>,
}
