//! What the leaves of the copies were at heights that are proved later.

use alloc::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    vec::Vec,
};

use metatopia_protocol::{PROOF_TURNS, SIGHT, TileName};
use metatopia_sim::{Tile, TileEntry};
use metatopia_types::{Digest, Height, ObjectId};

use super::{Sight, TileState};

/// Proof heights whose leaves are remembered: 16 of them are 64 turns, about three seconds.
pub const KEPT_MAX: usize = 16;

/// The leaves of one tile, by prefix, and whose entries are in them.
#[derive(Clone, Debug)]
pub(super) struct TileLeaves {
    pub(super) hashes: BTreeMap<Vec<u8>, Digest>,
    pub(super) objects: Vec<ObjectId>,
    /// Entries of it are still under way, or nothing of it was told, so that it cannot be proved.
    pub(super) more: bool,
}

/// What all copies were.
#[derive(Clone, Debug)]
pub(super) struct SightLeaves {
    /// The leaves of every tile that there is a copy of, and of every other that should be in sight.
    pub(super) tiles: BTreeMap<TileName, TileLeaves>,
    /// The view named an own avatar.
    pub(super) avatar: bool,
    /// The tile by whose copy it was drawn, if it is the viewer's.
    pub(super) own: Option<TileName>,
}

#[derive(Clone, Debug)]
pub(super) struct LeafHistory(VecDeque<(Height, Arc<SightLeaves>)>);

impl LeafHistory {
    pub(super) const fn new() -> Self {
        Self(VecDeque::new())
    }
}

impl Sight {
    /// Remembers the leaves at the proof heights up to, and without, that of the next view.
    pub(super) fn keep(&mut self, next: Height) {
        let last = next.0.saturating_sub(1) / PROOF_TURNS * PROOF_TURNS;
        let heights = (0_u64..).map(|n| last.saturating_sub(n.saturating_mul(PROOF_TURNS)));
        let first = self.height.0.max(1);
        let mut heights: Vec<u64> =
            heights.take(KEPT_MAX).take_while(|height| *height >= first).collect();
        if heights.is_empty() {
            return;
        }
        heights.reverse();
        let leaves = Arc::new(self.leaves());
        let kept = &mut self.kept.0;
        kept.extend(heights.into_iter().map(|height| (Height(height), Arc::clone(&leaves))));
        kept.drain(..kept.len().saturating_sub(KEPT_MAX));
    }

    fn leaves(&mut self) -> SightLeaves {
        let viewer = Some(self.viewer);
        // What moves beside its copy is drawn where nothing proves it to be.
        let is_own =
            |entry: &TileEntry| entry.object.player == viewer && !self.near.contains_key(&entry.id);
        let own = self.own().filter(|(_, entry)| is_own(entry)).map(|(tile, _)| tile);
        let tile = |(tile, held): (&TileName, &mut TileState)| {
            let leaves = held.copy.leaves().into_iter();
            let hashes = leaves.map(|leaf| (leaf.prefix, leaf.hash)).collect();
            let objects = held.copy.entries().map(|entry| entry.id).collect();
            (*tile, TileLeaves { hashes, objects, more: held.more })
        };
        let mut tiles: BTreeMap<_, _> = self.sought().into_iter().collect();
        tiles.extend(self.tiles.iter_mut().map(tile));
        SightLeaves { tiles, avatar: self.me.is_some(), own }
    }

    /// The tiles that an honest server tells of, for whoever has an avatar, as if none were told.
    fn sought(&self) -> Vec<(TileName, TileLeaves)> {
        let (hashes, objects) = (BTreeMap::new(), Vec::new());
        let untold = TileLeaves { hashes, objects, more: true };
        let near = self.position().map(|center| Tile::around(center, SIGHT));
        let name = |tile: Tile| {
            let (x, y) = (i32::try_from(tile.x).ok()?, i32::try_from(tile.y).ok()?);
            Some((TileName { x, y }, untold.clone()))
        };
        near.into_iter().flatten().filter_map(name).collect()
    }

    /// The leaves as they were after the turn of this height; nothing if that is forgotten.
    pub(super) fn leaves_at(&mut self, of: Height) -> Option<Arc<SightLeaves>> {
        if self.from.is_none_or(|from| of < from) {
            return None;
        }
        if of >= self.height {
            return Some(Arc::new(self.leaves()));
        }
        let kept = self.kept.0.iter().find(|(height, _)| *height == of)?;
        Some(Arc::clone(&kept.1))
    }
}
