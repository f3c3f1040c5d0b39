//! The overlay of a world of thousands of sites in one process: the very machine that members run, on
//! simulated clocks and connections, against what is true of the plane.
//!
//! A cycle is 2 seconds; frames travel for 10 to 100 ms; the peers of who died notice within a cycle.
//! Signatures are the keyed stand-in of the agreement swarm, and so are proofs of the map.

pub mod census;
pub mod land;
pub mod liars;
pub mod rows;
pub mod scenes;
mod starts;
pub mod town;
pub mod truth;
pub mod variants;

pub use rows::{OverlayBound, OverlayRow, OverlayUnit};
pub use scenes::{OverlayPlay, OverlayPlayed, OverlayScene};
