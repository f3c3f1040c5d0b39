//! Sites: where a sim lies in a world of many sims.

use serde::{Deserialize, Serialize};

use crate::{
    SimId,
    limits::{SQUARE_DOUBLINGS_MAX, SQUARE_TILES_MIN},
};

/// The place of a sim in a world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Site {
    /// The world, which is named by its land office, a sim as well.
    pub world: SimId,
    /// The ground in it.
    pub square: Square,
}

/// An aligned square of a world's plane, counted in tiles of 32 m. Two of them are apart, or one
/// contains the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Square {
    /// The western edge, in tiles from the origin eastwards.
    pub x: i32,
    /// The southern edge, in tiles from the origin northwards.
    pub y: i32,
    /// How often the least side, of [`SQUARE_TILES_MIN`] tiles, is doubled.
    pub doublings: u8,
}

/// Why numbers are no square.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SquareError {
    /// The side is too long.
    #[error("the side is doubled {0} times, and may be at most {SQUARE_DOUBLINGS_MAX}")]
    Side(u8),
    /// The corner is no multiple of the side.
    #[error("the corner ({x}, {y}) is no multiple of the side, which is {side} tiles long")]
    Corner {
        /// Its first coordinate, in tiles.
        x: i32,
        /// Its second coordinate, in tiles.
        y: i32,
        /// The side, in tiles.
        side: i32,
    },
}

/// Writes a square as people do, `X:Y:SIDE`: the corner in tiles, the side in metres.
impl core::fmt::Display for Square {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}:{}:{}", self.x, self.y, self.side().unwrap_or_default() * 32)
    }
}

impl Square {
    /// Returns the length of the side in tiles, or nothing if it is too long.
    #[must_use]
    pub const fn side(self) -> Option<i32> {
        if self.doublings > SQUARE_DOUBLINGS_MAX {
            return None;
        }
        Some(SQUARE_TILES_MIN << self.doublings)
    }

    /// Checks the side and the corner.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn check(self) -> Result<(), SquareError> {
        let Self { x, y, doublings } = self;
        let side = self.side().ok_or(SquareError::Side(doublings))?;
        let is_aligned = |coordinate: i32| coordinate.rem_euclid(side) == 0;
        if is_aligned(x) && is_aligned(y) {
            Ok(())
        } else {
            Err(SquareError::Corner { x, y, side })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_are_64_to_1_024_metres_wide() {
        let sides = (0..=u8::MAX).map(|doublings| Square { x: 0, y: 0, doublings }.side());
        let metres: Vec<i32> = sides.flatten().map(|tiles| 32 * tiles).collect();
        assert_eq!(metres, [64, 128, 256, 512, 1_024]);
        assert_eq!(metres.len(), usize::from(SQUARE_DOUBLINGS_MAX) + 1);
        assert_eq!(metres[0], 32 * SQUARE_TILES_MIN);
    }

    #[test]
    fn corners_are_multiples_of_the_side_up_to_the_ends_of_the_plane() {
        let check = |x, y, doublings| Square { x, y, doublings }.check();
        for (x, y, doublings) in [(0, 0, 4), (2, -2, 0), (-32, 64, 4), (-16, 48, 3)] {
            assert_eq!(check(x, y, doublings), Ok(()));
        }
        // The last tile of such a square has the largest or the least coordinate there is.
        for doublings in 0..=SQUARE_DOUBLINGS_MAX {
            let side = SQUARE_TILES_MIN << doublings;
            assert_eq!(check(i32::MAX - side + 1, i32::MIN, doublings), Ok(()));
        }

        assert_eq!(check(0, 0, 5), Err(SquareError::Side(5)));
        assert_eq!(check(0, 0, u8::MAX), Err(SquareError::Side(u8::MAX)));
        assert_eq!(check(1, 0, 0), Err(SquareError::Corner { x: 1, y: 0, side: 2 }));
        assert_eq!(check(32, -2, 4), Err(SquareError::Corner { x: 32, y: -2, side: 32 }));
        assert_eq!(check(i32::MAX, 0, 0), Err(SquareError::Corner { x: i32::MAX, y: 0, side: 2 }));
    }
}
