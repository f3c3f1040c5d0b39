//! Where an agreement starts from: a state, and what it fixed for the heights after it.

use metatopia_types::{HeaderId, Height, Millis, Root, ValidatorSet, limits::SET_LAG};
use serde::{Deserialize, Serialize};

use crate::Link;

/// All that agreement must know about the turns up to `height`: genesis, or a height with a stored
/// state. Belongs into the same place as that state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
    /// The height of the state.
    pub height: Height,
    /// Its header; all zero at genesis.
    pub header: HeaderId,
    /// The time of its header; of the genesis.
    pub time: Millis,
    /// The roots after `height - 1` and after `height`; twice that of genesis there.
    pub roots: [Root; 2],
    /// Who votes at `height + 1`, `+ 2`, `+ 3`.
    pub sets: [ValidatorSet; SET_LAG as usize],
    /// The set changes up to `height`, for those who join here.
    pub links: Vec<Link>,
    /// Whether this server signs. It is true once the log up to here says so, and false for a server that
    /// starts from another server's state.
    pub voice: bool,
}

impl Base {
    /// Returns the base at the start of a sim.
    #[must_use]
    pub fn genesis(time: Millis, root: Root, validators: &ValidatorSet) -> Self {
        Self {
            height: Height(0),
            header: HeaderId::BEFORE_FIRST,
            time,
            roots: [root; 2],
            sets: [validators.clone(), validators.clone(), validators.clone()],
            links: Vec::new(),
            voice: false,
        }
    }
}
