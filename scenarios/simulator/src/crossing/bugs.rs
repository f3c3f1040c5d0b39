//! The bug bank of crossing: sims that break one of its rules, and the law by which each must be found.
//!
//! As in the [bank of agreement](crate::agreement::bugs), each bug is one line at the place where its rule is kept,
//! switched on only here, and the same worlds without it break no law. Both sims break the rule.

use metatopia_sim::CrossingBug;

use super::plan::CrossingPlan;
use super::run::{CrossingReport, play_crossing};

/// In how many seeds each bug is looked for.
pub const BORDER_BUG_SEEDS: u64 = 50;

/// A half of the law that everybody and everything is in one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceLaw {
    /// Nobody and nothing is in two places.
    Doubled,
    /// Everybody and everything is somewhere.
    Lost,
}

impl PlaceLaw {
    /// Returns its name, in words joined by `-`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Doubled => "nothing-is-doubled",
            Self::Lost => "nothing-is-lost",
        }
    }

    /// Says whether a run broke it.
    #[must_use]
    pub fn is_broken(self, report: &CrossingReport) -> bool {
        let words = match self {
            Self::Doubled => "is in 2 places",
            Self::Lost => "is in 0 places",
        };
        report.breaches.iter().any(|breach| breach.contains(words))
    }
}

/// A rule of crossing that is broken, and where that is looked for.
#[derive(Debug, Clone, Copy)]
pub struct BorderBug {
    /// Its name, in words joined by `-`.
    pub name: &'static str,
    /// The law that it must be found by.
    pub law: PlaceLaw,
    broken: CrossingBug,
    plan: fn(u64) -> CrossingPlan,
}

impl BorderBug {
    /// Plays the world of a seed with the bug, up to the first law that it breaks.
    #[must_use]
    pub fn play(&self, seed: u64) -> CrossingReport {
        play_crossing(&CrossingPlan { broken: Some(self.broken), ..(self.plan)(seed) })
    }

    /// Plays the same world without it, to its end.
    #[must_use]
    pub fn play_clean(&self, seed: u64) -> CrossingReport {
        play_crossing(&(self.plan)(seed))
    }
}

/// All bugs of crossing.
pub const BORDER_BUGS: &[BorderBug] = &[
    bug(
        "home-by-own-clock",
        PlaceLaw::Doubled,
        CrossingBug::HomeByOwnClock,
        CrossingPlan::cut_calm,
    ),
    bug("taken-too-late", PlaceLaw::Doubled, CrossingBug::TakenLate, CrossingPlan::cut_leap),
    bug(
        "number-passed-over",
        PlaceLaw::Doubled,
        CrossingBug::NumberPassedOver,
        CrossingPlan::cut_narrow,
    ),
    bug(
        "verdict-forgotten",
        PlaceLaw::Lost,
        CrossingBug::VerdictForgotten,
        CrossingPlan::cut_narrow,
    ),
    bug(
        "created-before-departed",
        PlaceLaw::Doubled,
        CrossingBug::CreatedFirst,
        CrossingPlan::cut_calm,
    ),
    bug(
        "handed-on-before-settled",
        PlaceLaw::Doubled,
        CrossingBug::HandedOn,
        CrossingPlan::cut_silent,
    ),
    bug(
        "homecomings-passed-over",
        PlaceLaw::Doubled,
        CrossingBug::ListPassedOver,
        CrossingPlan::cut_silent,
    ),
    bug("old-epochs-believed", PlaceLaw::Doubled, CrossingBug::OldEpochs, CrossingPlan::cut_stale),
];

const fn bug(
    name: &'static str,
    law: PlaceLaw,
    broken: CrossingBug,
    plan: fn(u64) -> CrossingPlan,
) -> BorderBug {
    BorderBug { name, law, broken, plan }
}
