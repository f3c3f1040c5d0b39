//! The swarm of whole replicas: worlds of scripts, physics and clients, whose faults are drawn from a
//! seed, class by class, as agreement's swarm draws them.

mod calm;
mod fair;
mod impostor;
mod intruder;
mod plan;
mod run;
mod rush;

pub(crate) use fair::class_of;
pub use plan::ReplicaPlan;
use run::ReplicaRun;

use crate::course::{RunReport, SeedRun};

/// Plays the world of a course. It ends with the first law that is broken, or with its time.
#[must_use]
pub fn play(course: &SeedRun) -> RunReport {
    ReplicaRun::new(course).play()
}
