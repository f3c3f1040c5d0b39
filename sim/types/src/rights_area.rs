//! Areas in which a right holds.

use core::fmt;

use serde::{Deserialize, Serialize};

/// The ground on which a right for an area holds, in whole metres.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RightsArea {
    /// How far east its south-western corner is.
    pub x: i32,
    /// How far north that corner is.
    pub y: i32,
    /// Its side from west to east; never 0 in a state.
    pub width: u16,
    /// Its side from south to north; never 0 in a state.
    pub depth: u16,
}

impl fmt::Display for RightsArea {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { x, y, width, depth } = self;
        write!(f, "{width} m x {depth} m at {x}, {y}")
    }
}
