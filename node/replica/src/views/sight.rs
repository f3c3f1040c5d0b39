//! Which tiles a client watches.

use std::collections::BTreeMap;

use metatopia_math::{Fx, Vec2};
use metatopia_sim::{TILE_METRES, Tile};
use metatopia_types::{Height, ObjectId};

/// How far from its avatar a client watches, in whole metres: every tile that reaches into this
/// circle.
pub const SIGHT: i64 = 40;

/// How far away a watched tile may be, in whole metres. More than [`SIGHT`], so that whoever walks
/// to and fro at a border is not told the same tiles again and again.
pub const SIGHT_KEPT: i64 = 48;

/// Distances are measured in this many parts of a metre.
const PARTS: i64 = 1_024;

/// What a client knows of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Copied {
    /// The height that its copy is of.
    pub(super) height: Height,
    /// Entries with greater ids were not told yet; the greatest id there is, once all were.
    pub(super) through: ObjectId,
}

impl Copied {
    /// A copy that is whole.
    pub(super) const fn whole(height: Height) -> Self {
        Self { height, through: ObjectId(u64::MAX) }
    }

    pub(super) const fn is_whole(&self) -> bool {
        self.through.0 == u64::MAX
    }
}

/// A tile that a client watches.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Watched {
    /// None until something of it was told.
    pub(super) copy: Option<Copied>,
    /// Since when there has been something to tell.
    pub(super) waiting: Option<Height>,
    /// How much its waiting counts: more for nearer ones.
    pub(super) weight: u64,
}

/// The tiles that one client watches.
#[derive(Debug, Default)]
pub(super) struct Sight {
    pub(super) tiles: BTreeMap<Tile, Watched>,
}

/// The square of the distance from a point to a tile, in parts of a metre.
fn distance_squared(from: Vec2, tile: Tile) -> i64 {
    let side = TILE_METRES * PARTS;
    let axis = |at: Fx, index: i64| {
        let low = index.saturating_mul(side);
        let at = at.to_bits() / (Fx::ONE.to_bits() / PARTS);
        let beyond = low.saturating_sub(at).max(at.saturating_sub(low.saturating_add(side)));
        beyond.max(0)
    };
    let (x, y) = (axis(from.x, tile.x), axis(from.y, tile.y));
    x.saturating_mul(x).saturating_add(y.saturating_mul(y))
}

const fn squared(metres: i64) -> i64 {
    metres * PARTS * metres * PARTS
}

/// How much the waiting of a tile counts that is so far away: the own tile's most.
fn weight(distance_squared: i64) -> u64 {
    match distance_squared {
        0 => 4,
        near if near <= squared(TILE_METRES / 2) => 2,
        _ => 1,
    }
}

impl Sight {
    /// Looks from `center`; gives the tiles that went out of sight.
    pub(super) fn look(&mut self, center: Vec2) -> Vec<Tile> {
        let mut left = Vec::new();
        self.tiles.retain(|tile, watched| {
            let distance = distance_squared(center, *tile);
            watched.weight = weight(distance);
            let kept = distance <= squared(SIGHT_KEPT);
            if !kept {
                left.push(*tile);
            }
            kept
        });
        let middle = Tile::of(center);
        let reach = SIGHT / TILE_METRES + 1;
        for x in middle.x - reach..=middle.x + reach {
            for y in middle.y - reach..=middle.y + reach {
                let tile = Tile { x, y };
                let distance = distance_squared(center, tile);
                if distance <= squared(SIGHT) {
                    self.tiles.entry(tile).or_default().weight = weight(distance);
                }
            }
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: i32, y: i32) -> Vec2 {
        Vec2::new(Fx::from_int(x), Fx::from_int(y))
    }

    #[test]
    fn all_tiles_within_sight_are_watched_and_none_that_is_farther() {
        for (x, y) in [(0, 0), (16, 16), (31, -1), (-500, 77), (1_024, -1_024)] {
            let mut sight = Sight::default();
            assert_eq!(sight.look(at(x, y)), []);
            for dx in -100..100 {
                for dy in -100..100 {
                    let tile = Tile::of(at(x + dx, y + dy));
                    let near = dx * dx + dy * dy <= (SIGHT * SIGHT) as i32;
                    assert!(!near || sight.tiles.contains_key(&tile), "{x},{y} {dx},{dy}");
                }
            }
            let far = |tile: &Tile| distance_squared(at(x, y), *tile) > squared(SIGHT);
            assert!(!sight.tiles.keys().any(far));
            assert!(sight.tiles.len() <= 21);
        }
    }

    #[test]
    fn walking_to_and_fro_at_a_border_changes_nothing_after_the_first_time() {
        let mut sight = Sight::default();
        sight.look(at(0, 0));
        sight.look(at(4, 0));
        let tiles: Vec<Tile> = sight.tiles.keys().copied().collect();
        for step in 0..20 {
            assert_eq!(sight.look(at(step % 2 * 4, 0)), []);
            assert!(sight.tiles.keys().eq(tiles.iter()));
        }
        assert!(!sight.look(at(40, 0)).is_empty(), "but going away does");
    }

    #[test]
    fn absurd_places_are_far_away() {
        let edge = i64::from(i32::MAX);
        let mut sight = Sight::default();
        sight.tiles.insert(Tile { x: edge, y: -edge }, Watched::default());
        assert_eq!(sight.look(at(0, 0)), [Tile { x: edge, y: -edge }]);
    }
}
