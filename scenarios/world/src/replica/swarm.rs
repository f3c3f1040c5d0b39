//! The swarm of whole replicas: worlds of scripts, physics and clients, whose faults are drawn from a
//! seed, class by class, as agreement's swarm draws them.

mod calm;
mod fair;
mod impostor;
mod intruder;
mod plan;
mod run;

pub(crate) use fair::class_of;
pub use plan::Plan;
use run::Run;

use crate::course::{Course, Tale};

/// Plays the world of a course. It ends with the first law that is broken, or with its time.
#[must_use]
pub fn play(course: &Course) -> Tale {
    Run::new(course).play()
}
