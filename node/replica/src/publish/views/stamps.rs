//! When what changed: for each tile, the heights of the last changes of its entries.
//!
//! What a client misses of a tile follows from these heights and the state alone, so nothing is
//! kept per client but the height that its copy is of.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use metatopia_protocol::TileUpdate;
use metatopia_sim::{Applied, Tile, World};
use metatopia_types::{Height, Movement, ObjectId};

use super::tile_name;

/// Entries that left a tile and are remembered, over all tiles. Whoever has a copy from before the
/// oldest that a tile forgot gets the whole tile.
pub const GONE_MAX: usize = 16_384;

/// When an entry changed last.
#[derive(Debug, Clone, Copy)]
struct Stamp {
    /// In anything but its motion, or when it came into the tile.
    rest: Height,
    /// In each part of its motion, in the order of [`Movement`]'s fields.
    parts: [Height; 5],
}

/// Things with the height of their last change, by both.
#[derive(Debug)]
struct Recent<T> {
    by_id: BTreeMap<ObjectId, (Height, T)>,
    by_height: BTreeSet<(Height, ObjectId)>,
}

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self { by_id: BTreeMap::new(), by_height: BTreeSet::new() }
    }
}

impl<T> Recent<T> {
    fn get(&self, id: ObjectId) -> Option<&(Height, T)> {
        self.by_id.get(&id)
    }

    fn put(&mut self, id: ObjectId, height: Height, value: T) {
        if let Some((old, _)) = self.by_id.insert(id, (height, value)) {
            self.by_height.remove(&(old, id));
        }
        self.by_height.insert((height, id));
    }

    fn take(&mut self, id: ObjectId) {
        if let Some((old, _)) = self.by_id.remove(&id) {
            self.by_height.remove(&(old, id));
        }
    }

    /// Returns the entries that changed after a height.
    fn after(&self, height: Height) -> impl Iterator<Item = (ObjectId, &T)> {
        let from = (height.plus(1), ObjectId(0));
        self.by_height.range(from..).filter_map(|(_, id)| Some((*id, &self.by_id.get(id)?.1)))
    }
}

#[derive(Debug, Default)]
struct TileStamps {
    /// The last change of anything.
    changed: Height,
    entries: Recent<Stamp>,
    gone: Recent<()>,
    /// What left up to this height may have been forgotten.
    forgotten: Height,
}

/// The stamps of all tiles.
#[derive(Debug)]
pub(super) struct Stamps {
    /// Changes up to this height are not known.
    known_from: Height,
    tiles: BTreeMap<Tile, TileStamps>,
    gone: VecDeque<(Height, Tile, ObjectId)>,
}

impl Stamps {
    /// Begins with a state of which nobody knows how it came to be.
    pub(super) fn new(height: Height) -> Self {
        Self { known_from: height, tiles: BTreeMap::new(), gone: VecDeque::new() }
    }

    /// Notes what a turn changed.
    pub(super) fn turn(&mut self, applied: &Applied) {
        let height = applied.height;
        for change in &applied.changed {
            for tile in [change.from, change.to].into_iter().flatten() {
                self.tiles.entry(tile).or_default().changed = height;
            }
            if let (Some(tile), Some(movement)) = (change.to, &change.movement)
                && change.from == change.to
            {
                self.moved(tile, change.id, movement, height);
                continue;
            }
            if let Some(tile) = change.from.filter(|_| change.from != change.to) {
                self.left(tile, change.id, height);
            }
            if let Some(tile) = change.to.and_then(|tile| self.tiles.get_mut(&tile)) {
                let stamp = Stamp { rest: height, parts: [height; 5] };
                tile.entries.put(change.id, height, stamp);
                tile.gone.take(change.id);
            }
        }
    }

    fn moved(&mut self, tile: Tile, id: ObjectId, movement: &Movement, height: Height) {
        let known_from = self.known_from;
        let tile = self.tiles.entry(tile).or_default();
        let before = tile.entries.get(id).map(|(_, stamp)| *stamp);
        let mut stamp = before.unwrap_or(Stamp { rest: known_from, parts: [known_from; 5] });
        for (part, changed) in stamp.parts.iter_mut().zip(parts(movement)) {
            if changed {
                *part = height;
            }
        }
        tile.entries.put(id, height, stamp);
    }

    fn left(&mut self, tile: Tile, id: ObjectId, height: Height) {
        let stamps = self.tiles.entry(tile).or_default();
        stamps.entries.take(id);
        stamps.gone.put(id, height, ());
        self.gone.push_back((height, tile, id));
        if self.gone.len() > GONE_MAX
            && let Some((height, tile, id)) = self.gone.pop_front()
            && let Some(stamps) = self.tiles.get_mut(&tile)
        {
            stamps.forgotten = stamps.forgotten.max(height);
            // It may have come back and left again since.
            if stamps.gone.get(id).is_some_and(|(left, ())| *left == height) {
                stamps.gone.take(id);
            }
        }
    }

    /// Returns the height of the last change in a tile.
    pub(super) fn changed(&self, tile: Tile) -> Height {
        self.tiles.get(&tile).map_or(self.known_from, |stamps| stamps.changed)
    }

    /// Returns the height of the last change of an entry.
    pub(super) fn changed_entry(&self, tile: Tile, id: ObjectId) -> Height {
        let stamp = self.tiles.get(&tile).and_then(|stamps| stamps.entries.get(id));
        stamp.map_or(self.known_from, |(height, _)| *height)
    }

    /// Returns whether everything is known that happened in a tile after a height.
    pub(super) fn reaches(&self, tile: Tile, since: Height) -> bool {
        let forgotten = self.tiles.get(&tile).map_or(Height(0), |stamps| stamps.forgotten);
        since >= self.known_from && since >= forgotten
    }

    /// Returns what changed in a tile after a height that is [reached](Self::reaches), of the entries
    /// up to an id.
    pub(super) fn update(
        &self,
        world: &World,
        tile: Tile,
        since: Height,
        through: ObjectId,
    ) -> TileUpdate {
        let mut update = TileUpdate {
            tile: tile_name(tile),
            since: Some(since),
            entries: Vec::new(),
            moved: Vec::new(),
            gone: Vec::new(),
            more: false,
        };
        let Some(stamps) = self.tiles.get(&tile) else {
            return update;
        };
        for (id, stamp) in stamps.entries.after(since).filter(|(id, _)| *id <= through) {
            if stamp.rest > since {
                update.entries.extend(world.entry(id).map(|(_, entry)| entry.to_vec()));
            } else {
                update.moved.extend(masked(world, id, stamp, since).map(|part| (id, part)));
            }
        }
        let gone = stamps.gone.after(since).map(|(id, ())| id);
        update.gone.extend(gone.filter(|id| *id <= through));
        update
    }

    /// Returns how an entry moved after a height.
    pub(super) fn movement(
        &self,
        world: &World,
        tile: Tile,
        id: ObjectId,
        since: Height,
    ) -> Option<Movement> {
        let (_, stamp) = self.tiles.get(&tile)?.entries.get(id)?;
        masked(world, id, stamp, since).filter(|movement| !movement.is_empty())
    }
}

/// Returns the parts of an object's motion that changed after a height.
fn masked(world: &World, id: ObjectId, stamp: &Stamp, since: Height) -> Option<Movement> {
    let all = world.movement(id)?;
    let [position, facing, velocity, spin, slow_steps] = stamp.parts.map(|at| at > since);
    Some(Movement {
        position: all.position.filter(|_| position),
        facing: all.facing.filter(|_| facing),
        velocity: all.velocity.filter(|_| velocity),
        spin: all.spin.filter(|_| spin),
        slow_steps: all.slow_steps.filter(|_| slow_steps),
    })
}

fn parts(movement: &Movement) -> [bool; 5] {
    [
        movement.position.is_some(),
        movement.facing.is_some(),
        movement.velocity.is_some(),
        movement.spin.is_some(),
        movement.slow_steps.is_some(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_away_longer_than_departures_are_remembered_is_not_reached() {
        let (here, there) = (Tile { x: 0, y: 0 }, Tile { x: 1, y: 0 });
        let mut stamps = Stamps::new(Height(0));
        for n in 1..=GONE_MAX as u64 {
            stamps.left(if n == 1 { there } else { here }, ObjectId(n), Height(n));
        }
        assert!(stamps.reaches(here, Height(0)) && stamps.reaches(there, Height(0)));

        stamps.left(here, ObjectId(1), Height(GONE_MAX as u64 + 1));
        assert!(stamps.reaches(here, Height(0)), "the oldest was another tile's");
        assert!(!stamps.reaches(there, Height(0)) && stamps.reaches(there, Height(1)));
        let kept = |tile: &Tile| stamps.tiles[tile].gone.by_id.len();
        assert_eq!((kept(&here), kept(&there)), (GONE_MAX, 0));
    }

    #[test]
    fn a_server_that_starts_does_not_know_what_was_before() {
        let stamps = Stamps::new(Height(7));
        let tile = Tile { x: 0, y: 0 };
        assert!(!stamps.reaches(tile, Height(6)) && stamps.reaches(tile, Height(7)));
        assert_eq!(stamps.changed(tile), Height(7));
    }
}
