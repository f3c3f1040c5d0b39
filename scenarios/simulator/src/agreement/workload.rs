//! The swarm: worlds whose faults are drawn from a seed, class by class.
//!
//! For each seed every class of faults is absent with a probability of one third, so that some
//! worlds have only a few, and a fault that another one would hide comes out. A run has two phases:
//! first the faults, while only safety counts; then they stop, and the world must go on, in time.

mod drawn_scenario;
mod players;
mod recovery;
mod shrink;

use std::collections::BTreeSet;
use std::time::Duration;

use metatopia_consensus::AgreementControls;
use metatopia_store::LogControls;

use super::outcome::ScenarioOutcome;
use super::scenario::Seed;
pub use crate::calm::FaultRecovery;
use crate::class::Class;
use crate::course::SeedRun;
pub use crate::weather::PlannedFault;
pub use drawn_scenario::AgreementPlan;
use players::AgreementRun;
pub use shrink::shrink;

/// One world of the swarm: a seed, and what a shorter retelling leaves out of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Swarm {
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
    /// Rules that all servers break.
    pub controls: AgreementControls,
    /// Rules that all logs break.
    pub log_controls: LogControls,
}

impl Swarm {
    /// The whole world of a seed.
    #[must_use]
    pub fn new(seed: Seed, span: Duration) -> Self {
        Self {
            seed,
            span,
            without: BTreeSet::new(),
            from: Duration::ZERO,
            until: None,
            controls: AgreementControls::default(),
            log_controls: LogControls::default(),
        }
    }

    /// The same, without what only agreement has.
    #[must_use]
    pub fn course(&self) -> SeedRun {
        let Self { seed, span, from, until, .. } = *self;
        SeedRun { seed, span, without: self.without.clone(), from, until, apart: false }
    }

    /// This world on another course.
    #[must_use]
    pub fn on(&self, course: &SeedRun) -> Self {
        let SeedRun { seed, span, from, until, .. } = *course;
        Self { seed, span, without: course.without.clone(), from, until, ..self.clone() }
    }

    /// When the faults stop.
    #[must_use]
    pub fn calm_from(&self) -> Duration {
        self.course().calm_from()
    }

    /// What the seed stands for.
    #[must_use]
    pub fn plan(&self) -> AgreementPlan {
        AgreementPlan::draw(self)
    }

    /// Plays it. It ends with the first law that is broken, or with its time.
    #[must_use]
    pub fn play(&self) -> Played {
        AgreementRun::new(self).play()
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
    /// No law was broken.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.outcome.faults.is_empty()
    }
}
