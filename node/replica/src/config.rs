//! What a replica is set up with, and the limits of its questions.

use std::{sync::Arc, time::Duration};

use metatopia_consensus as consensus;
use metatopia_types::{Millis, SimId, limits};

/// The time without a decision after which a server calls itself stalled.
pub const STALL: Duration = Duration::from_secs(5);

/// Questions that wait for the world to come back from being applied to, or for the log.
pub const QUESTIONS_MAX: usize = 1_024;

/// Questions of one peer that wait.
pub const PEER_QUESTIONS_MAX: usize = 16;

/// Turns between snapshots: half a minute.
pub const SNAPSHOT_TURNS: u64 = 600;

/// Turns up to the base that a replica should get when it starts.
pub const RECALL_HEIGHTS: u64 = limits::EXPIRY_HEIGHTS_MAX;

/// What does not change while a replica lives.
#[derive(Clone)]
pub struct Config {
    /// The id of the sim.
    pub sim: SimId,
    /// The sim's genesis, encoded, for peers and clients that ask.
    pub genesis: Arc<Vec<u8>>,
    /// How agreement is set up.
    pub agreement: consensus::AgreementConfig,
    /// Turns a second when nothing holds them up.
    pub turns_per_second: u32,
    /// Turns between snapshots, at least 1; a restart replays at most so many, and a bit. Usually
    /// [`SNAPSHOT_TURNS`].
    pub snapshot_turns: u64,
    /// Turns behind the others from which on a state is fetched. Usually [`BEHIND_TURNS`].
    ///
    /// [`BEHIND_TURNS`]: crate::BEHIND_TURNS
    pub behind_turns: u64,
    /// The times of this server's repairs, as [`Effect::RepairTimes`] gave them last.
    ///
    /// [`Effect::RepairTimes`]: crate::Effect::RepairTimes
    pub repairs: Vec<Millis>,
    /// Secret and new at every start.
    pub seed: [u8; 32],
}

impl core::fmt::Debug for Config {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Config of {} in sim {}", self.agreement.signer.public(), self.sim)
    }
}
