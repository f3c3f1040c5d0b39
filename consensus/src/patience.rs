//! How long a server waits for others, and how much longer with every round of a height.

use std::time::Duration;

use metatopia_types::Round;

/// Rounds after which patience grows no further: it is three seconds longer then, and a height that
/// fails this often waits for somebody to come back.
const PATIENT_ROUNDS_MAX: u32 = 64;

/// No wait is shorter, so that time goes on between two alarms.
pub(crate) const PATIENCE_MIN: Duration = Duration::from_millis(1);

/// How long a server waits before it goes on without somebody. Timeouts never endanger agreement:
/// too short ones waste rounds, too long ones waste time when a server is dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// The wait for a proposal, counted from when it may leave at the earliest.
    pub propose: Duration,
    /// The wait for prevotes to agree, once more than two thirds are there.
    pub prevote: Duration,
    /// The wait for precommits to agree, once more than two thirds are there.
    pub precommit: Duration,
    /// How much longer each of these gets with every round of a height.
    pub per_round: Duration,
    /// The pause before votes are said again.
    pub rebroadcast: Duration,
    /// The pause before a turn that others vote for is asked for, and between such questions.
    pub want: Duration,
    /// Between looks at whether this server is behind.
    pub sync: Duration,
}

impl Default for Patience {
    /// The patience for servers within 50 ms of each other. With 20 ms of travel a live proposer is heard 25
    /// ms after it may speak; 100 ms leaves room for a slow disk and a large turn.
    fn default() -> Self {
        Self {
            propose: Duration::from_millis(100),
            prevote: Duration::from_millis(50),
            precommit: Duration::from_millis(50),
            per_round: Duration::from_millis(50),
            rebroadcast: Duration::from_millis(200),
            want: Duration::from_millis(30),
            sync: Duration::from_millis(60),
        }
    }
}

impl Patience {
    /// Returns how much longer each wait is in this round of a height.
    pub(crate) fn grown_by(&self, round: Round) -> Duration {
        self.per_round * round.0.min(PATIENT_ROUNDS_MAX)
    }
}
