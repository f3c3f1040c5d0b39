//! The state of affairs, for people and dashboards.

use crate::{Condition, Fetching, Missing};
use metatopia_protocol::DelayedEntry;
use metatopia_types::{Height, PublicKey, Root, Round, SimId, Tick};

/// What a replica says about itself after each turn, and when something else changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The sim.
    pub sim: SimId,
    /// This server's own key.
    pub server: PublicKey,
    /// The last decided height.
    pub height: Height,
    /// The last tick of the last applied turn.
    pub tick: Tick,
    /// The root of the state after [`Self::root_height`].
    pub root: Root,
    /// The last applied height.
    pub root_height: Height,
    /// Who proposes at the height under way.
    pub proposer: Option<PublicKey>,
    /// The round of the height under way.
    pub round: Option<Round>,
    /// Who votes at the height under way.
    pub validators: Vec<PublicKey>,
    /// Does this server vote?
    pub voting: bool,
    /// Servers that are connected.
    pub peers: u32,
    /// Client sessions that are open.
    pub clients: u32,
    /// Acts that wait for a turn.
    pub mempool: u32,
    /// Players in the world.
    pub players: u32,
    /// How it stands with its own state.
    pub condition: Condition,
    /// The state that it fetches from its peers, if it does.
    pub fetching: Option<Fetching>,
    /// Turns that it should keep and lacks, if it lacks any.
    pub missing: Option<Missing>,
    /// Changes of who votes by a temp admin that wait.
    pub delayed: Vec<DelayedEntry>,
    /// Do servers disagree about the state that the height under way rests on?
    pub split: bool,
    /// Has nothing been decided for [`crate::STALL`]?
    pub stalled: bool,
}

/// What waits in a replica. Each has a limit of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Bytes of acts that wait for a turn, at most [`crate::mempool::POOL_BYTES_MAX`].
    pub act_bytes: usize,
    /// Questions, at most [`crate::QUESTIONS_MAX`].
    pub questions: usize,
    /// Open sessions, at most [`crate::CLIENTS_MAX`].
    pub sessions: usize,
}
