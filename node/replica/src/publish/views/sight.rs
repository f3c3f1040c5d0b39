//! Which tiles a client watches.

use std::collections::BTreeMap;

use metatopia_math::Vec2;
use metatopia_protocol::SIGHT;
use metatopia_sim::{TILE_METRES, Tile};
use metatopia_types::{Height, ObjectId};

/// How far away a watched tile may be, in whole metres. More than [`SIGHT`], so that whoever walks
/// to and fro at a border is not told the same tiles again and again.
pub const SIGHT_KEPT: i64 = 48;

/// What a client knows of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Copied {
    /// The height that its copy is of.
    pub(super) height: Height,
    /// Entries with greater ids were not told yet; the greatest id there is, once all were.
    pub(super) through: ObjectId,
}

impl Copied {
    /// Returns a copy that is whole.
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
pub(super) struct WatchedTiles {
    pub(super) tiles: BTreeMap<Tile, Watched>,
}

/// Returns how much the waiting of a tile counts: the own tile's most.
fn weight(tile: Tile, center: Vec2) -> u64 {
    match () {
        () if tile.is_within(0, center) => 4,
        () if tile.is_within(TILE_METRES / 2, center) => 2,
        () => 1,
    }
}

impl WatchedTiles {
    /// Looks from `center`; gives the tiles that went out of sight.
    pub(super) fn look(&mut self, center: Vec2) -> Vec<Tile> {
        let mut left = Vec::new();
        self.tiles.retain(|tile, watched| {
            watched.weight = weight(*tile, center);
            let kept = tile.is_within(SIGHT_KEPT, center);
            if !kept {
                left.push(*tile);
            }
            kept
        });
        for tile in Tile::around(center, SIGHT) {
            self.tiles.entry(tile).or_default().weight = weight(tile, center);
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use metatopia_math::Fx;

    use super::*;

    fn at(x: i32, y: i32) -> Vec2 {
        Vec2::new(Fx::from_int(x), Fx::from_int(y))
    }

    #[test]
    fn all_tiles_within_sight_are_watched_and_none_that_is_farther() {
        for (x, y) in [(0, 0), (16, 16), (31, -1), (-500, 77), (1_024, -1_024)] {
            let mut sight = WatchedTiles::default();
            assert_eq!(sight.look(at(x, y)), []);
            for dx in -100..100 {
                for dy in -100..100 {
                    let tile = Tile::of(at(x + dx, y + dy));
                    let near = dx * dx + dy * dy <= (SIGHT * SIGHT) as i32;
                    assert!(!near || sight.tiles.contains_key(&tile), "{x},{y} {dx},{dy}");
                }
            }
            assert!(sight.tiles.keys().all(|tile| tile.is_within(SIGHT, at(x, y))));
            assert!(sight.tiles.len() <= 21);
        }
    }

    #[test]
    fn walking_to_and_fro_at_a_border_changes_nothing_after_the_first_time() {
        let mut sight = WatchedTiles::default();
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
        let mut sight = WatchedTiles::default();
        sight.tiles.insert(Tile { x: edge, y: -edge }, Watched::default());
        assert_eq!(sight.look(at(0, 0)), [Tile { x: edge, y: -edge }]);
    }
}
