//! The plane of a world: points, squares, and how far they are apart. Exact everywhere in an `i32`.

use metatopia_types::Square;
use serde::{Deserialize, Serialize};

/// A corner of tiles on a world's plane, in tiles of 32 m from its origin.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct TilePoint {
    /// Tiles from the origin eastwards.
    pub x: i32,
    /// Tiles from the origin northwards.
    pub y: i32,
}

impl TilePoint {
    /// Returns the middle of a square, or nothing if it is none: see [`Square::check`].
    #[must_use]
    pub fn middle(square: Square) -> Option<Self> {
        square.check().ok()?;
        let half = square.side()?.checked_div(2)?;
        Some(Self { x: square.x.checked_add(half)?, y: square.y.checked_add(half)? })
    }

    /// Returns the square of the distance, which needs 65 bits.
    #[must_use]
    pub fn distance_squared(self, other: Self) -> u128 {
        let (x, y) = (u64::from(self.x.abs_diff(other.x)), u64::from(self.y.abs_diff(other.y)));
        u128::from(x.wrapping_mul(x)) + u128::from(y.wrapping_mul(y))
    }

    /// Returns the coordinates, as estimators of cells take them.
    #[must_use]
    pub const fn coordinates(self) -> [i64; 2] {
        [self.x as i64, self.y as i64]
    }

    /// Returns the octave of the distance: 0 for one tile, 32 for the whole plane.
    #[must_use]
    pub fn octave(self, other: Self) -> u32 {
        let bits = u128::BITS - self.distance_squared(other).leading_zeros();
        bits.saturating_sub(1) / 2
    }
}

/// Says whether a tile that begins at this point lies in the square.
#[must_use]
pub fn holds(square: Square, point: TilePoint) -> bool {
    let Some(side) = square.side() else { return false };
    let within = |low: i32, at: i32| at >= low && at.abs_diff(low) < side.unsigned_abs();
    within(square.x, point.x) && within(square.y, point.y)
}

/// Says whether two squares share ground. Both are aligned, so one contains the other then.
#[must_use]
pub fn overlap(one: Square, other: Square) -> bool {
    let corner = |square: Square| TilePoint { x: square.x, y: square.y };
    holds(one, corner(other)) || holds(other, corner(one))
}

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

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(x: i32, y: i32) -> TilePoint {
        TilePoint { x, y }
    }

    #[test]
    fn distances_are_exact_from_one_end_of_the_plane_to_the_other() {
        let side = u128::from(u32::MAX);
        let far = at(i32::MIN, i32::MIN).distance_squared(at(i32::MAX, i32::MAX));
        assert_eq!(far, 2 * side * side);
        assert_eq!(at(i32::MIN, i32::MIN).octave(at(i32::MAX, i32::MAX)), 32);
        assert_eq!(at(0, 0).distance_squared(at(3, -4)), 25);
        let octaves =
            [(1, 0), (2, 1), (3, 1), (4, 2), (1_024, 10)].map(|(x, _)| at(0, 0).octave(at(x, 0)));
        assert_eq!(octaves, [0, 1, 1, 2, 10]);
    }

    #[test]
    fn a_square_holds_its_tiles_and_overlaps_what_contains_it() {
        let (small, large) =
            (Square { x: 2, y: -2, doublings: 0 }, Square { x: 0, y: -4, doublings: 1 });
        assert!(holds(small, at(3, -1)) && !holds(small, at(4, -1)) && !holds(small, at(1, -1)));
        assert!(overlap(small, large) && overlap(large, small));
        assert!(!overlap(small, Square { x: 4, y: -2, doublings: 0 }));
        assert_eq!(TilePoint::middle(small), Some(at(3, -1)));
        assert_eq!(TilePoint::middle(Square { x: 1, y: 0, doublings: 0 }), None);
        let last = Square { x: i32::MAX - 31, y: i32::MIN, doublings: 4 };
        assert_eq!(TilePoint::middle(last), Some(at(i32::MAX - 15, i32::MIN + 16)));
        assert!(holds(last, at(i32::MAX, i32::MIN)) && !holds(last, at(i32::MIN, i32::MIN)));
    }
}
