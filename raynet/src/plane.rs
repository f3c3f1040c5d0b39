//! The part of a plane that a world takes. Its points and blocks are nouns of `metatopia-types`.

use metatopia_types::TilePoint;
use serde::{Deserialize, Serialize};

/// The part of a plane in which a world lies: cells end at its edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// The least point.
    pub low: TilePoint,
    /// The greatest point.
    pub high: TilePoint,
}

impl Extent {
    /// The whole plane.
    pub const PLANE: Self = Self {
        low: TilePoint { x: i32::MIN, y: i32::MIN },
        high: TilePoint { x: i32::MAX, y: i32::MAX },
    };
}
