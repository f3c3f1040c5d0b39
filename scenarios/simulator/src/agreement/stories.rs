//! The stories that agreement is put through: each a sentence, and a world for every seed.

mod controls;
mod crashes;
mod liars;
mod people;
mod rough_links;

use std::collections::BTreeSet;
use std::time::Duration;

use metatopia_oracle::Law;

use super::ledger_setting::Flaw;
use super::outcome::ScenarioOutcome;
use crate::course::Seed;

pub(super) use controls::stormy;
pub use crashes::{CrashSetting, crash_settings};
pub(super) use crashes::{after_votes, power};
pub(super) use liars::lie;
pub use liars::lies;
pub use people::{GrowingStage, crowd_of, grow_and_shrink, join_refusals};
pub use rough_links::pace;

/// The seat that goes another way in a world of the story "a diverged server", and the outcome.
#[must_use]
pub fn divergence(seed: Seed) -> (usize, ScenarioOutcome) {
    let outcome = controls::diverged("a diverged server", seed);
    match outcome.scenario.flaw {
        Some(Flaw::Diverges { seat, .. }) => (seat, outcome),
        _ => unreachable!("the story has that flaw"),
    }
}

/// What must come out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedEnding {
    /// Nothing wrong in any seed.
    Sound,
    /// One of these laws is broken within so many seeds, counted from 0.
    Found(&'static [Law], u64),
}

/// A story for many seeds.
#[derive(Debug, Clone, Copy)]
pub struct SeedStory {
    /// For the command line.
    pub name: &'static str,
    /// What happens, in a sentence.
    pub sentence: &'static str,
    /// What must come out.
    pub ending: ExpectedEnding,
    /// Plays one seed.
    pub play: fn(Seed) -> ScenarioOutcome,
}

/// Returns all stories, in the order in which they are played.
#[must_use]
pub fn stories() -> Vec<SeedStory> {
    [rough_links::STORIES, crashes::STORIES, liars::STORIES, people::STORIES, controls::STORIES]
        .concat()
}

/// The story of this name.
///
/// # Panics
/// If there is none.
#[must_use]
pub fn story(name: &str) -> SeedStory {
    let found = stories().into_iter().find(|story| story.name == name);
    found.unwrap_or_else(|| panic!("there is no story {name}"))
}

/// What came out of a story over several seeds.
#[derive(Debug, Clone, Default)]
pub struct StoryTally {
    /// How many worlds were played.
    pub runs: u64,
    /// Worlds in which something was wrong.
    pub faulty: u64,
    /// The first seed with a fault that the ending names, or any fault.
    pub first: Option<u64>,
    /// Processes that died.
    pub crashes: u64,
    /// How many turns were decided.
    pub turns: u64,
    /// Turns built after round 0.
    pub later_rounds: u64,
    /// Proposals of a turn with an earlier quorum of prevotes.
    pub proposed_again: u64,
    /// Pieces of evidence.
    pub evidence: u64,
    /// Acts in decided turns.
    pub acts: u64,
    /// How long each world needed after its trouble ended until somebody decided.
    pub recoveries: Vec<Duration>,
    /// Laws that were broken.
    pub broken: BTreeSet<Law>,
    /// Milliseconds of the worlds' time.
    pub milliseconds: u128,
    /// The worst of it, for people.
    pub report: Option<String>,
}

impl StoryTally {
    /// Adds a world.
    pub fn add(&mut self, ending: ExpectedEnding, seed: u64, outcome: &ScenarioOutcome) {
        self.runs += 1;
        self.crashes += outcome.crashes;
        self.turns += outcome.height();
        self.proposed_again += outcome.proposed_again;
        self.evidence += outcome.evidence.values().sum::<u64>();
        self.acts += outcome.acts as u64;
        self.recoveries.extend(outcome.recovery());
        self.broken.extend(outcome.faults.iter().map(|fault| fault.law));
        self.milliseconds += outcome.took.as_millis();
        self.later_rounds +=
            outcome.rounds().iter().filter(|(r, _)| **r > 0).map(|(_, n)| *n as u64).sum::<u64>();
        let found = match ending {
            ExpectedEnding::Sound => !outcome.faults.is_empty(),
            ExpectedEnding::Found(laws, _) => laws.iter().any(|law| outcome.shows(*law)),
        };
        if found {
            self.faulty += 1;
            self.first.get_or_insert(seed);
            self.report.get_or_insert_with(|| outcome.report());
        }
    }

    /// Returns whether the story ended as it must.
    #[must_use]
    pub fn is_as_told(&self, ending: ExpectedEnding) -> bool {
        match ending {
            ExpectedEnding::Sound => self.faulty == 0,
            ExpectedEnding::Found(_, budget) => self.first.is_some_and(|first| first < budget),
        }
    }
}

impl SeedStory {
    /// Plays some seeds. A story that must show a fault ends with the first one.
    #[must_use]
    pub fn tell(&self, seeds: impl IntoIterator<Item = u64>) -> StoryTally {
        let mut tally = StoryTally::default();
        for seed in seeds {
            tally.add(self.ending, seed, &(self.play)(seed.into()));
            if self.ending != ExpectedEnding::Sound && tally.faulty > 0 {
                break;
            }
        }
        tally
    }

    /// Plays the seeds that this story needs at most, and checks how it ends.
    ///
    /// # Panics
    /// With seed, options and faults, if it came out otherwise.
    #[track_caller]
    pub fn check(&self, seeds: u64) -> StoryTally {
        let tally = self.tell(0..seeds);
        assert!(
            tally.is_as_told(self.ending),
            "{}: {} of {} worlds show a fault\n{}",
            self.name,
            tally.faulty,
            tally.runs,
            tally.report.as_deref().unwrap_or("")
        );
        let StoryTally { runs, crashes, turns, later_rounds, proposed_again, evidence, .. } = tally;
        println!(
            "{}: {runs} worlds, {turns} turns ({later_rounds} after round 0), {crashes} crashes, \
             {proposed_again} proposed again, {evidence} pieces of evidence, first fault {:?}",
            self.name, tally.first
        );
        tally
    }
}
