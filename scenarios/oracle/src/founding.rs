//! What the oracle knows of a sim before anything happens.

use std::fmt;
use std::sync::Arc;

use metatopia_types::{Millis, PublicKey, Root, SimId, Verify};

/// The sim that is watched, as it was founded.
#[derive(Clone)]
pub struct Founding {
    /// The id of the sim.
    pub sim: SimId,
    /// The scheme that checks signatures.
    pub verifier: Arc<dyn Verify>,
    /// The name of the server in each seat. Two seats with one name are one liar in two places.
    pub names: Vec<PublicKey>,
    /// The voting power of those in the first seats: they vote at genesis.
    pub powers: Vec<u64>,
    /// Whose changes of the members count. If it is nobody, those count that the servers say they
    /// carried out.
    pub admin: Option<PublicKey>,
    /// The root of the state before the first turn.
    pub root: Root,
    /// When it was founded: the first turn is later.
    pub time: Millis,
    /// Least time between two turns, in milliseconds.
    pub turn_length: u64,
}

impl fmt::Debug for Founding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Founding")
            .field("sim", &self.sim)
            .field("seats", &self.names.len())
            .field("powers", &self.powers)
            .field("admin", &self.admin)
            .field("root", &self.root)
            .field("time", &self.time)
            .field("turn_length", &self.turn_length)
            .finish_non_exhaustive()
    }
}

impl Founding {
    /// Returns whether this seat is the only one with its name.
    pub(crate) fn is_alone(&self, seat: usize) -> bool {
        self.names.iter().filter(|name| **name == self.names[seat]).count() == 1
    }
}
