//! The status of a replica, for people and dashboards.

use crate::{Condition, Fetching, Missing};
use metatopia_protocol::{AdminCountdown, DelayedEntry};
use metatopia_types::{Height, PublicKey, Root, Round, SimId, Tick};

/// The status of a replica after each turn, and whenever something else changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The id of the sim.
    pub sim: SimId,
    /// The key of this server.
    pub server: PublicKey,
    /// The last decided height.
    pub height: Height,
    /// The last tick of the last applied turn.
    pub tick: Tick,
    /// The root of the state after [`Self::root_height`].
    pub root: Root,
    /// The last applied height.
    pub root_height: Height,
    /// The proposer of the height under way.
    pub proposer: Option<PublicKey>,
    /// The round of the height under way.
    pub round: Option<Round>,
    /// The validators of the height under way.
    pub validators: Vec<PublicKey>,
    /// Whether this server votes.
    pub voting: bool,
    /// Servers that are connected.
    pub peers: u32,
    /// Client sessions that are open.
    pub clients: u32,
    /// Acts that wait for a turn.
    pub mempool: u32,
    /// Players in the world.
    pub players: u32,
    /// Whether the server trusts its own state.
    pub condition: Condition,
    /// The fetch of a state from peers, if there is one.
    pub fetching: Option<Fetching>,
    /// The turns that the server should keep and lacks, if there are any.
    pub missing: Option<Missing>,
    /// Changes of the validators by a temp admin that wait.
    pub delayed: Vec<DelayedEntry>,
    /// How long admins have been away, and who takes over.
    pub admins: AdminCountdown,
    /// Whether servers disagree about the state that the height under way rests on.
    pub split: bool,
    /// Milliseconds of governance time until the sim ends, below zero once it has ended; `None` if it
    /// never ends.
    pub time_left: Option<i64>,
    /// The world that the sim lies in, or founds, as its state says; `None` if it lies in none.
    pub world: Option<SimId>,
    /// Whether nothing has been decided for [`crate::STALL`].
    pub stalled: bool,
}

/// How much waits in a replica. Each figure has a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitingCounts {
    /// Bytes of acts that wait for a turn, at most [`crate::mempool::POOL_BYTES_MAX`].
    pub act_bytes: usize,
    /// Questions, at most [`crate::QUESTIONS_MAX`].
    pub questions: usize,
    /// Open sessions, at most [`crate::CLIENTS_MAX`].
    pub sessions: usize,
}
