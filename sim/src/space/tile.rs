//! Tiles: squares of ground, by which bodies are hashed and watched.

use metatopia_math::{Fx, Vec2};

/// The side of a tile, in metres.
pub const TILE_METRES: i64 = 32;

/// A square of ground with sides of [`TILE_METRES`]: the unit of state hashing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tile {
    /// Counted in tiles from the origin eastwards.
    pub x: i64,
    /// Counted in tiles from the origin northwards.
    pub y: i64,
}

impl Tile {
    /// Returns the tile in which a point lies.
    #[must_use]
    pub const fn of(point: Vec2) -> Self {
        const fn index(coordinate: Fx) -> i64 {
            coordinate.floor_int().div_euclid(TILE_METRES)
        }
        Self { x: index(point.x), y: index(point.y) }
    }

    /// Says whether it reaches into the circle of so many whole metres around a point. Distances are
    /// rounded to parts of a metre.
    #[must_use]
    pub fn is_within(self, metres: i64, around: Vec2) -> bool {
        const PARTS: i64 = 1_024;
        const SIDE: i64 = TILE_METRES * PARTS;
        let beyond = |at: Fx, index: i64| {
            let low = index.saturating_mul(SIDE);
            let at = at.to_bits() / (Fx::ONE.to_bits() / PARTS);
            low.saturating_sub(at).max(at.saturating_sub(low.saturating_add(SIDE))).max(0)
        };
        let squared = |n: i64| n.saturating_mul(n);
        let (x, y) = (beyond(around.x, self.x), beyond(around.y, self.y));
        squared(x).saturating_add(squared(y)) <= squared(metres.saturating_mul(PARTS))
    }

    /// Returns all tiles that reach into such a circle.
    pub fn around(center: Vec2, metres: i64) -> impl Iterator<Item = Self> {
        let middle = Self::of(center);
        let reach = metres / TILE_METRES + 1;
        let side = move |index: i64| index.saturating_sub(reach)..=index.saturating_add(reach);
        let square = side(middle.x).flat_map(move |x| side(middle.y).map(move |y| Self { x, y }));
        square.filter(move |tile| tile.is_within(metres, center))
    }
}
