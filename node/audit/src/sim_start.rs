//! The beginning of a sim, as those who check its history need it.

use std::sync::Arc;

use metatopia_physics_rapier::Newton2Maker;
use metatopia_sim::{Genesis, Tools, World};
use metatopia_types::Ed25519;

/// A genesis, and the state before the first turn that follows from it.
#[derive(Debug)]
pub struct SimStart {
    /// The founding document of the sim.
    pub genesis: Genesis,
    /// The state before the first turn, or the reason why it is not there. A successor begins with a
    /// state that somebody must have kept. A pruned log is checked without it.
    pub first_state: Result<World, String>,
}

/// Returns the tools of a program that runs sims: the signatures, and both tiers of physics.
#[must_use]
pub fn tools() -> Tools {
    Tools { advanced: Some(Arc::new(Newton2Maker)), ..Tools::new(Arc::new(Ed25519)) }
}
