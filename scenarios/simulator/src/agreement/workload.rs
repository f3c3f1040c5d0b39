//! The swarm: worlds whose faults are drawn from a seed, class by class.
//!
//! For each seed every class of faults is absent with a probability of one third, so that some
//! worlds have only a few, and a fault that another one would hide comes out. A run has two phases:
//! first the faults, while only safety counts; then they stop, and the world must go on, in time.

mod drawn_scenario;
mod players;
mod recovery;

use std::time::Duration;

use metatopia_consensus::AgreementControls;
use metatopia_oracle::Law;
use metatopia_store::LogControls;

use super::outcome::ScenarioOutcome;
use crate::calm::FaultRecovery;
use crate::course::{self, Seed, SeedRun};
pub use drawn_scenario::AgreementPlan;
use players::AgreementRun;

/// One world of the swarm, and the rules that are broken in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Swarm {
    /// Decides everything else.
    pub course: SeedRun,
    /// Rules that all servers break.
    pub controls: AgreementControls,
    /// Rules that all logs break.
    pub log_controls: LogControls,
}

impl Swarm {
    /// The whole world of a seed.
    #[must_use]
    pub fn new(seed: Seed, span: Duration) -> Self {
        Self::of(SeedRun::new(seed, span))
    }

    /// The world of a course, in which no rule is broken.
    #[must_use]
    pub fn of(course: SeedRun) -> Self {
        let (controls, log_controls) = (AgreementControls::default(), LogControls::default());
        Self { course, controls, log_controls }
    }

    /// Draws the plan of the seed.
    #[must_use]
    pub fn plan(&self) -> AgreementPlan {
        AgreementPlan::draw(self)
    }

    /// Plays it. It ends with the first law that is broken, or with its time.
    #[must_use]
    pub fn play(&self) -> Played {
        let mut run = AgreementRun::new(self);
        let recovery = run.play();
        Played { outcome: run.stage.finish(), recovery }
    }

    /// Makes a world that broke a law smaller, as long as it still breaks it: drops what the law is broken
    /// without, see [`shrink`](course::shrink). `tells` is called before each world with what is tried,
    /// and may say no: then the smallest world so far comes back.
    #[must_use]
    pub fn shrink(&self, law: Law, mut tells: impl FnMut(&Self) -> bool) -> Self {
        let on = |course: &SeedRun| Self { course: course.clone(), ..self.clone() };
        on(&course::shrink(&self.course, &self.plan().classes, |course| {
            let swarm = on(course);
            tells(&swarm).then(|| swarm.play().outcome.shows(law))
        }))
    }
}

/// A world of the swarm after it was played.
#[derive(Debug)]
pub struct Played {
    /// What happened, what was broken, and how often which fault fired.
    pub outcome: ScenarioOutcome,
    /// How it went on after the faults; none if it did not come to that.
    pub recovery: Option<FaultRecovery>,
}

impl Played {
    /// Returns whether no law was broken.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.outcome.faults.is_empty()
    }
}
