//! The plane of a world: its points, and the aligned blocks that squares and shelves of the map are.

use serde::{Deserialize, Serialize};

use crate::Square;

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

    /// Returns the south-western corner of a square.
    #[must_use]
    pub const fn corner(square: Square) -> Self {
        Self { x: square.x, y: square.y }
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

    /// Returns its place on the curve that goes through the quarters of each block in turn: the bits of
    /// both coordinates in turn, from the highest ones down, those of `y` first. The points of a block
    /// follow one another on it.
    #[must_use]
    pub const fn quadtree_code(self) -> u64 {
        spread(self.x) | spread(self.y) << 1
    }
}

/// Returns the bits of a coordinate, counted from the least one there is, at every second place.
const fn spread(coordinate: i32) -> u64 {
    let mut bits = (coordinate.cast_unsigned() ^ 1 << 31) as u64;
    bits = (bits | bits << 16) & 0x0000_ffff_0000_ffff;
    bits = (bits | bits << 8) & 0x00ff_00ff_00ff_00ff;
    bits = (bits | bits << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    bits = (bits | bits << 2) & 0x3333_3333_3333_3333;
    (bits | bits << 1) & 0x5555_5555_5555_5555
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
    let corner = TilePoint::corner;
    holds(one, corner(other)) || holds(other, corner(one))
}

/// An aligned square of the plane of any size: what one shelf of the map is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PlaneBlock {
    /// How often its side of one tile is doubled: at most 32.
    pub doublings: u8,
    /// Its least point, a multiple of its side, but for the whole plane: that has no such multiple.
    pub corner: TilePoint,
}

impl PlaneBlock {
    /// The most that a side can be doubled: the whole plane.
    pub const DOUBLINGS_MAX: u8 = 32;

    /// The whole plane.
    pub const PLANE: Self =
        Self { doublings: Self::DOUBLINGS_MAX, corner: TilePoint { x: i32::MIN, y: i32::MIN } };

    /// Returns the block of this size that holds a point.
    #[must_use]
    pub const fn around(point: TilePoint, doublings: u8) -> Self {
        if doublings >= Self::DOUBLINGS_MAX {
            return Self::PLANE;
        }
        let mask = -1_i32 << doublings;
        Self { doublings, corner: TilePoint { x: point.x & mask, y: point.y & mask } }
    }

    /// Says whether the block holds a point.
    #[must_use]
    pub fn contains(&self, point: TilePoint) -> bool {
        Self::around(point, self.doublings) == *self
    }

    /// Says whether all points of the other block lie in this one.
    #[must_use]
    pub fn encloses(&self, other: Self) -> bool {
        other.doublings <= self.doublings && self.contains(other.corner)
    }

    /// Says whether each of its points lies in one of these blocks.
    #[must_use]
    pub fn is_covered_by(&self, blocks: impl IntoIterator<Item = Self>) -> bool {
        // On the curve through the quadtree a block is a range.
        let range = |block: Self| {
            let from = u128::from(block.corner.quadtree_code());
            (from, from + (1 << (2 * u32::from(block.doublings.min(Self::DOUBLINGS_MAX)))))
        };
        let (mut from, to) = range(*self);
        let mut ranges: Vec<(u128, u128)> = blocks.into_iter().map(range).collect();
        ranges.sort_unstable();
        for (low, high) in ranges {
            if low > from {
                break;
            }
            from = from.max(high);
        }
        from >= to
    }

    /// Returns the block of a quadtree address: digits from 0 to 3, from the whole plane down. A digit
    /// is 1 for an eastern quarter and 2 for a northern one, together. Nothing for what is no address.
    #[must_use]
    pub fn of_digits(digits: &[u8]) -> Option<Self> {
        let depth = u8::try_from(digits.len()).ok()?;
        let doublings = Self::DOUBLINGS_MAX.checked_sub(depth)?;
        let (mut x, mut y) = (0_u32, 0_u32);
        for (bit, digit) in (0..32_u32).rev().zip(digits) {
            if *digit > 3 {
                return None;
            }
            x |= u32::from(digit & 1) << bit;
            y |= u32::from(digit >> 1) << bit;
        }
        let signed = |biased: u32| (biased ^ 1 << 31).cast_signed();
        Some(Self { doublings, corner: TilePoint { x: signed(x), y: signed(y) } })
    }
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

    #[test]
    fn blocks_hold_their_points_and_the_largest_one_is_the_plane() {
        let ends = [at(i32::MIN, i32::MIN), at(i32::MAX, i32::MAX), at(0, -1), at(-7, 12)];
        for point in ends {
            assert!(PlaneBlock::PLANE.contains(point));
            assert_eq!(PlaneBlock::around(point, 0).corner, point);
            for doublings in 1..=PlaneBlock::DOUBLINGS_MAX {
                let block = PlaneBlock::around(point, doublings);
                assert!(block.contains(point) && block.contains(block.corner), "{block:?}");
            }
        }
        assert!(!PlaneBlock::around(at(0, 0), 31).contains(at(-1, 0)));
        assert_eq!(PlaneBlock::around(at(5, 5), u8::MAX), PlaneBlock::PLANE);
    }

    #[test]
    fn a_block_is_covered_by_itself_a_larger_one_or_all_of_its_quarters() {
        let block = PlaneBlock::around(at(0, 0), 4);
        let quarters =
            [(0, 0), (8, 0), (0, 8), (8, 8)].map(|(x, y)| PlaneBlock::around(at(x, y), 3));
        assert!(block.is_covered_by([block]) && block.is_covered_by([PlaneBlock::PLANE]));
        assert!(
            block.is_covered_by(quarters) && !block.is_covered_by(quarters.into_iter().skip(1))
        );
        assert!(!block.is_covered_by(quarters.into_iter().take(3)) && !block.is_covered_by([]));
        assert!(quarters.iter().all(|quarter| block.encloses(*quarter)));
        assert!(!quarters[0].encloses(block) && !quarters[0].encloses(quarters[1]));
        assert!(PlaneBlock::PLANE.encloses(block) && block.encloses(block));
        let sides = [(-1, -1), (-1, 0), (0, -1), (0, 0)].map(|(x, y)| at(x, y));
        let whole = sides.map(|corner| PlaneBlock::around(corner, 31));
        assert!(PlaneBlock::PLANE.is_covered_by(whole));
        assert!(!PlaneBlock::PLANE.is_covered_by([whole[0], whole[1], whole[3], block]));
    }

    #[test]
    fn a_quadtree_address_names_a_block_and_the_codes_of_its_points_begin_with_it() {
        assert_eq!(PlaneBlock::of_digits(&[]), Some(PlaneBlock::PLANE));
        let quarter = |digit, x, y| {
            let block = PlaneBlock::of_digits(&[digit]).expect("a digit");
            assert_eq!((block.doublings, block.corner), (31, at(x, y)));
        };
        quarter(0, i32::MIN, i32::MIN);
        quarter(1, 0, i32::MIN);
        quarter(2, i32::MIN, 0);
        quarter(3, 0, 0);
        assert_eq!(PlaneBlock::of_digits(&[4]), None);
        assert_eq!(PlaneBlock::of_digits(&[0; 33]), None);
        for point in [at(i32::MIN, i32::MAX), at(-1, 0), at(64, -96), at(i32::MAX, i32::MAX)] {
            let code = point.quadtree_code();
            let digits: Vec<u8> =
                (0..32).rev().map(|n| u8::try_from(code >> (2 * n) & 3).expect("2 bits")).collect();
            for depth in 0..=32_usize {
                let doublings = 32 - u8::try_from(depth).expect("at most 32");
                let block = PlaneBlock::of_digits(&digits[..depth]);
                assert_eq!(block, Some(PlaneBlock::around(point, doublings)));
            }
        }
    }
}
