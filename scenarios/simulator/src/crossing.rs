//! Two sims side by side, each of whole servers, with people and balls that cross the border between them.
//!
//! A [`CrossingPlan`] says what a seed stands for. Both sims are stages of their own, which are played
//! over one time in slices. Couriers carry dispatches between them, each over a road that delays, loses,
//! doubles and spoils them. A ledger looks at each state of both sims, and says when somebody or something
//! is in no place, or in two.

pub mod bugs;
mod counts;
mod courier;
mod ground;
mod ledger;
mod plan;
mod run;
mod walker;

pub use counts::{CHANGE_STEPS, CRASH_STEPS, CrossingCounts, HOMECOMINGS, NamedCounts};
pub use plan::{
    BorderLiar, BorderTrouble, CrossingClass, CrossingPlan, DepartureLie, DispatchRoad, Narrowness,
    SilentDay,
};
pub use run::{CrossingReport, RoadCounts, play_crossing};

/// The two sims, from west to east.
pub(crate) const SIMS: [usize; 2] = [0, 1];

/// Returns the neighbour of one of the two.
pub(crate) const fn beyond(sim: usize) -> usize {
    1 - sim
}
