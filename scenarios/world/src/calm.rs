//! After the faults: in which time a world must go on.

use std::time::Duration;

use metatopia_consensus::Patience;

use crate::conditions::Conditions;

/// A server that is so many turns behind the furthest is not behind.
pub(crate) const NEAR: u64 = 3;

/// Turns that are under way when an act comes, and hold what came before: the one that is voted on,
/// and the one that was promised for the next height by who has precommitted.
pub(crate) const UNDER_WAY: u64 = 2;

/// What a server needs, beside the waits of agreement, until it takes part again: it says its votes
/// again, and looks around whether others are ahead.
const SETTLE: Duration = Duration::from_millis(1_000);

/// How the world went on after its faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recovery {
    /// From the end of the faults to a new turn.
    pub turn: Duration,
    /// What it might have taken.
    pub turn_bound: Duration,
    /// From the end of the faults until nobody was behind.
    pub caught_up: Duration,
    /// Turns until an act that all servers knew was decided.
    pub act: u64,
}

/// What a world waits for in the calm.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace<'a> {
    pub(crate) conditions: &'a Conditions,
    pub(crate) patience: Patience,
    /// From one turn to the next.
    pub(crate) turn: Duration,
    /// How long links need to be in order again.
    pub(crate) links: Duration,
    /// Servers that may be gone for good.
    pub(crate) faults_borne: u32,
}

impl Pace<'_> {
    /// `f + 1` time-outs of proposers, of the rounds in which servers are now, the latest of which
    /// is `first`, and what it takes them to come together.
    pub(crate) fn turn_bound(&self, first: u32) -> Duration {
        let Self { conditions, patience, turn, links, faults_borne } = *self;
        let step = conditions.links.delay.most * 2 + conditions.sync.most;
        let waits = patience.propose + patience.prevote + patience.precommit;
        let rounds = first..first.saturating_add(faults_borne).saturating_add(2);
        let spent: Duration = rounds
            .map(|round| turn + waits + patience.per_round * (3 * round.min(64)) + step * 3)
            .sum();
        let again = patience.rebroadcast + patience.per_round * first.min(64);
        SETTLE + links + again + spent
    }

    /// What a server needs that is so many turns behind, to come up to the others.
    pub(crate) fn catch_up_bound(&self, missed: u64) -> Duration {
        let answers = u32::try_from(missed / 16).unwrap_or(u32::MAX);
        let step = self.conditions.links.delay.most * 4 + Duration::from_millis(100);
        Duration::from_secs(4) + step * (answers + 1)
    }
}
