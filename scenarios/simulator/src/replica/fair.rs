//! The swarm of whole replicas: worlds of scripts, physics and clients, whose faults are drawn from a
//! seed, class by class, as agreement's swarm draws them.

mod afterwards;
mod drawn_fair;
mod ground;
mod impostor;
mod intruder;
mod rush;
mod visitors;

pub use drawn_fair::{FairPlan, ReplicaPlan};
pub(crate) use ground::class_of;
use visitors::ReplicaRun;

use crate::course::{RunReport, SeedRun};

/// Plays the world of a course. It ends with the first law that is broken, or with its time.
#[must_use]
pub fn play(course: &SeedRun) -> RunReport {
    ReplicaRun::new(course).tell()
}
