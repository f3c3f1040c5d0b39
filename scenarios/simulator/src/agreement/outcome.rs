//! What came out of a scenario.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use metatopia_oracle::{Law, Violation};
use metatopia_types::{Digest, PublicKey};

use super::scenario::Scenario;
use super::voters::FirstDecision;
use crate::class::Fired;
use crate::crash::StepCounts;

/// What came out of a scenario.
#[derive(Debug, Clone)]
pub struct ScenarioOutcome {
    /// What was played.
    pub scenario: Scenario,
    /// The last decided height of every server that runs.
    pub heights: Vec<Option<u64>>,
    /// Processes that died.
    pub crashes: u64,
    /// When all trouble ended.
    pub healed_at: Option<Duration>,
    /// Faults that happened.
    pub fired: Fired,
    /// Events of the world.
    pub events: u64,
    /// Time of the world.
    pub took: Duration,
    /// What the oracle saw.
    pub faults: Vec<Violation>,
    /// How many pieces of evidence accuse whom.
    pub evidence: BTreeMap<PublicKey, u64>,
    /// Who told of which height when.
    pub decided: Vec<FirstDecision>,
    /// Proposals of a turn that had a quorum of prevotes before.
    pub proposed_again: u64,
    /// Rounds in which an ambush cut witnesses off.
    pub sprung: usize,
    /// Who stopped for good, and why.
    pub halts: Vec<(usize, String)>,
    /// Acts in decided turns.
    pub acts: usize,
    /// What each server did.
    pub steps: Vec<StepCounts>,
    /// What happened, if the seed asked for it.
    pub history: Vec<String>,
    /// The same for every run of this scenario.
    pub digest: Digest,
}

impl ScenarioOutcome {
    /// The highest decided height.
    #[must_use]
    pub fn height(&self) -> u64 {
        self.heights.iter().flatten().copied().max().unwrap_or(0)
    }

    /// Times between the decisions that one server told of, from a moment on.
    #[must_use]
    pub fn intervals(&self, seat: usize, from: Duration) -> Vec<Duration> {
        let told = self.decided.iter().filter(|d| d.seat == seat && d.at >= from);
        let times: Vec<Duration> = told.map(|d| d.at).collect();
        times.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    /// Returns how long it took from the end of all trouble until somebody decided a turn.
    #[must_use]
    pub fn recovery(&self) -> Option<Duration> {
        let healed = self.healed_at?;
        let mut after = self.decided.iter().map(|d| d.at).filter(|at| *at > healed);
        after.next().map(|at| at - healed)
    }

    /// Returns whether this law was broken.
    #[must_use]
    pub fn shows(&self, law: Law) -> bool {
        self.faults.iter().any(|fault| fault.law == law)
    }

    /// Tells everything that is needed to play the scenario again, and what was wrong.
    #[must_use]
    pub fn report(&self) -> String {
        let mut text = format!("{:#?}\n", self.scenario);
        let heights = &self.heights;
        writeln!(
            text,
            "{} seed {}: heights {heights:?}",
            self.scenario.name, self.scenario.seed.number
        )
        .expect("a string takes everything");
        for fault in &self.faults {
            writeln!(text, "  {fault}").expect("a string takes everything");
        }
        text
    }

    /// Returns how many turns were built in each round.
    #[must_use]
    pub fn rounds(&self) -> BTreeMap<u32, usize> {
        let built: BTreeMap<u64, u32> = self.decided.iter().map(|d| (d.height, d.round)).collect();
        let mut rounds = BTreeMap::new();
        for round in built.values() {
            *rounds.entry(*round).or_default() += 1;
        }
        rounds
    }

    /// Asserts that nothing was wrong.
    ///
    /// # Panics
    /// With the seed, the options and the faults, if something was.
    #[track_caller]
    pub fn assert_sound(&self) {
        assert!(self.faults.is_empty(), "{}", self.report());
    }
}

/// The value that `percent` of a list are at most; the list need not be ordered.
#[must_use]
pub fn percentile(durations: &[Duration], percent: usize) -> Duration {
    let mut sorted = durations.to_vec();
    sorted.sort();
    let at = sorted.len().saturating_sub(1) * percent / 100;
    sorted.get(at).copied().unwrap_or_default()
}
