//! Rectangles of ground, as people write them in acts.

use core::fmt;

use serde::{Deserialize, Serialize};

/// A rectangle of ground in whole metres: of a lot, of a land, or where a right for an area holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GroundArea {
    /// How far east its south-western corner is.
    pub x: i32,
    /// How far north that corner is.
    pub y: i32,
    /// Its side from west to east; never 0 in a state.
    pub width: u16,
    /// Its side from south to north; never 0 in a state.
    pub depth: u16,
}

impl GroundArea {
    /// Returns how many square metres it has.
    #[must_use]
    pub fn square_metres(&self) -> u32 {
        u32::from(self.width).saturating_mul(u32::from(self.depth))
    }
}

impl fmt::Display for GroundArea {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { x, y, width, depth } = self;
        write!(f, "{width} m x {depth} m at {x}, {y}")
    }
}
