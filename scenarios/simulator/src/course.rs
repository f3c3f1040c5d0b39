//! One world of a swarm, whatever is played in it: what a seed stands for, what is left out of it,
//! and what is told of it afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use metatopia_oracle::Violation;
use metatopia_types::Digest;

use crate::agreement;
use crate::calm::FaultRecovery;
use crate::class::{Class, Fired, Level};
use crate::fall::{self, WorldPanic};
use crate::replica;

/// Times are not narrowed down further than this.
const FINEST: Duration = Duration::from_millis(500);

/// What the dice of a world are thrown from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seed {
    /// The number of the world.
    pub number: u64,
    /// Whether the history is written down for people.
    pub written: bool,
}

impl From<u64> for Seed {
    fn from(number: u64) -> Self {
        Self { number, written: false }
    }
}

/// A seed, and what a shorter retelling leaves out of its world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeedRun {
    /// Decides everything else.
    pub seed: Seed,
    /// How long the world lives.
    pub span: Duration,
    /// Classes of faults that do not happen, though the seed drew them.
    pub without: BTreeSet<Class>,
    /// Faults begin here.
    pub from: Duration,
    /// Faults end here, instead of after four fifths of the span.
    pub until: Option<Duration>,
    /// Every server calculates every turn for itself, whatever the seed drew.
    pub apart: bool,
}

impl SeedRun {
    /// The whole world of a seed.
    #[must_use]
    pub fn new(seed: Seed, span: Duration) -> Self {
        Self {
            seed,
            span,
            without: BTreeSet::new(),
            from: Duration::ZERO,
            until: None,
            apart: false,
        }
    }

    /// Returns when the faults stop.
    #[must_use]
    pub fn calm_from(&self) -> Duration {
        self.until.unwrap_or(self.span * 4 / 5).min(self.span)
    }
}

/// A law that was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breach {
    /// The name of the law.
    pub law: &'static str,
    /// When, by whom, and how.
    pub what: String,
}

impl From<&Violation> for Breach {
    fn from(fault: &Violation) -> Self {
        Self { law: fault.law.name(), what: fault.to_string() }
    }
}

/// What is told of a world after it was played.
#[derive(Debug, Clone)]
pub struct RunReport {
    /// What was broken, the first thing first.
    pub breaches: Vec<Breach>,
    /// How often which fault fired.
    pub fired: Fired,
    /// How it went on after the faults; none if it did not come to that.
    pub recovery: Option<FaultRecovery>,
    /// When each height was first decided, and in which round its turn was built.
    pub decided: BTreeMap<u64, (Duration, u32)>,
    /// The last decided height of every server that runs.
    pub heights: Vec<Option<u64>>,
    /// Processes that died.
    pub crashes: u64,
    /// Acts in decided turns.
    pub acts: u64,
    /// Time of the world.
    pub took: Duration,
    /// Events of the world.
    pub events: u64,
    /// Who stopped for good, and why.
    pub halts: Vec<(usize, String)>,
    /// What happened, if the seed asked for it.
    pub history: Vec<String>,
    /// The same for every run of this course.
    pub digest: Digest,
}

impl RunReport {
    /// Returns whether no law was broken.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.breaches.is_empty()
    }

    /// The highest decided height.
    #[must_use]
    pub fn height(&self) -> u64 {
        self.heights.iter().flatten().copied().max().unwrap_or(0)
    }

    /// The report of a world that panicked, of which nothing else is known.
    fn of_fall(fall: WorldPanic) -> Self {
        let WorldPanic { why, history } = fall;
        Self {
            breaches: vec![Breach { law: fall::LAW, what: why }],
            fired: Fired::default(),
            recovery: None,
            decided: BTreeMap::new(),
            heights: Vec::new(),
            crashes: 0,
            acts: 0,
            took: Duration::ZERO,
            events: 0,
            halts: Vec::new(),
            history,
            digest: Digest::ZERO,
        }
    }

    fn of_agreement(played: agreement::Played) -> Self {
        let agreement::Played { outcome, recovery } = played;
        let mut decided = BTreeMap::new();
        for told in &outcome.decided {
            decided.entry(told.height).or_insert((told.at, told.round));
        }
        Self {
            breaches: outcome.faults.iter().map(Breach::from).collect(),
            recovery,
            decided,
            acts: outcome.acts as u64,
            fired: outcome.fired,
            heights: outcome.heights,
            crashes: outcome.crashes,
            took: outcome.took,
            events: outcome.events,
            halts: outcome.halts,
            history: outcome.history,
            digest: outcome.digest,
        }
    }
}

impl Level {
    /// Returns the classes of faults that a run has, and its whole plan in words.
    #[must_use]
    pub fn plan(self, course: &SeedRun) -> (BTreeSet<Class>, String) {
        match self {
            Self::Agreement => {
                let plan = agreement::Swarm::of(course.clone()).plan();
                (plan.classes.clone(), plan.to_string())
            }
            Self::Whole => {
                let plan = replica::ReplicaPlan::draw(course);
                (plan.classes.clone(), plan.to_string())
            }
        }
    }

    /// Plays a course. It ends with the first law that is broken, or with its time.
    #[must_use]
    pub fn play(self, course: &SeedRun) -> RunReport {
        let play = || match self {
            Self::Agreement => RunReport::of_agreement(agreement::Swarm::of(course.clone()).play()),
            Self::Whole => replica::play(course),
        };
        fall::survive(play).unwrap_or_else(RunReport::of_fall)
    }
}

/// Drops every one of these classes of faults without which a course `breaks` its law all the same,
/// then lets the faults stop as soon, and begin as late, as possible. `breaks` may also say nothing:
/// then the smallest course so far comes back.
#[must_use]
pub fn shrink(
    found: &SeedRun,
    classes: &BTreeSet<Class>,
    mut breaks: impl FnMut(&SeedRun) -> Option<bool>,
) -> SeedRun {
    let mut smallest = found.clone();
    for class in classes {
        let mut smaller = smallest.clone();
        smaller.without.insert(*class);
        match breaks(&smaller) {
            Some(true) => smallest = smaller,
            Some(false) => {}
            None => return smallest,
        }
    }
    // The first end of the faults that is late enough.
    let (mut early, mut late) = (smallest.from, smallest.calm_from());
    while late.saturating_sub(early) > FINEST {
        let middle = (early + late) / 2;
        let smaller = SeedRun { until: Some(middle), ..smallest.clone() };
        match breaks(&smaller) {
            Some(true) => (late, smallest) = (middle, smaller),
            Some(false) => early = middle,
            None => return smallest,
        }
    }
    // The last beginning that is early enough.
    let (mut early, mut late) = (smallest.from, smallest.calm_from());
    while late.saturating_sub(early) > FINEST {
        let middle = (early + late) / 2;
        let smaller = SeedRun { from: middle, ..smallest.clone() };
        match breaks(&smaller) {
            Some(true) => (early, smallest) = (middle, smaller),
            Some(false) => late = middle,
            None => return smallest,
        }
    }
    smallest
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Level, SeedRun, fall};

    #[test]
    fn a_world_that_falls_over_has_broken_a_law() {
        // No moment is so late: drawing its plan panics.
        let endless = SeedRun::new(7.into(), Duration::MAX);

        for level in [Level::Agreement, Level::Whole] {
            let tale = level.play(&endless);

            let [breach] = &tale.breaches[..] else { panic!("{:?}", tale.breaches) };
            assert_eq!(breach.law, fall::LAW);
            assert!(breach.what.contains("overflow"), "{}", breach.what);
        }
    }
}
