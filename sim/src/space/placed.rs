//! Proofs of what is in some tiles, and that nothing is in others.
//!
//! A tile with entries has leaves, and the proof shows their places. A tile without entries has no leaf,
//! and the proof shows the two leaves between which its own would be: they are neighbours, so nothing is
//! between them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use metatopia_types::{Digest, LeafKey, leaf_hash, merkle};

use super::tile::Tile;
use crate::tree::{table_leaf_key, tile_table_name};

/// The place of one leaf of a tile in a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedLeaf {
    /// The tile that the leaf is of.
    pub tile: Tile,
    /// The first hexadecimal digits, one per byte, of the ids in this leaf; none when the tile is
    /// one leaf.
    pub prefix: Vec<u8>,
    /// Its place among all leaves of the state, from 0.
    pub place: u32,
    /// The hash at the bottom of the state's tree.
    pub hash: Digest,
}

/// A leaf that stands beside the place where a tile without entries would have its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdjacentLeaf {
    /// The key of the leaf.
    pub key: LeafKey,
    /// The hash of its content.
    pub content: Digest,
    /// Its place among all leaves of the state, from 0.
    pub place: u32,
}

impl AdjacentLeaf {
    /// Returns the hash at the bottom of the state's tree.
    #[must_use]
    pub fn hash(&self) -> Digest {
        leaf_hash(&self.key, &self.content)
    }
}

/// A proof of some tiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownTiles {
    /// Every leaf of the tiles, in the order of their keys.
    pub leaves: Vec<PlacedLeaf>,
    /// The other leaves around the tiles that have none, in the order of the keys.
    pub beside: Vec<AdjacentLeaf>,
    /// All of them at their places.
    pub places: merkle::JointProof,
}

/// The proofs of some tiles in one state, which stay valid when the world goes on.
#[derive(Debug, Clone)]
pub struct PlacedTiles {
    nodes: Arc<merkle::Tree>,
    /// The leaves of each tile, and if it has none, its neighbours: one at an end of the list.
    tiles: BTreeMap<Tile, (Vec<PlacedLeaf>, Vec<AdjacentLeaf>)>,
}

impl PlacedTiles {
    /// Finds tiles among all leaves, which are sorted by key: with the hash of each one's content
    /// and its hash in the tree.
    pub(crate) fn find<'a>(
        nodes: &Arc<merkle::Tree>,
        leaves: impl Iterator<Item = (&'a LeafKey, Digest, Digest)>,
        tiles: &BTreeSet<Tile>,
    ) -> Self {
        let leaves: Vec<_> = (0_u32..).zip(leaves).collect();
        let find = |tile: &Tile| {
            let keys = TileKeys::of(*tile);
            let from = leaves.partition_point(|(_, (key, ..))| key.0 < keys.first);
            let after = leaves.partition_point(|(_, (key, ..))| key.0 < keys.after);
            let own = leaves[from..after].iter().map(|(place, (key, _, hash))| PlacedLeaf {
                tile: *tile,
                prefix: keys.prefix(key),
                place: *place,
                hash: *hash,
            });
            let around = leaves[from.saturating_sub(1)..leaves.len().min(from + 1)].iter();
            let around = around.filter(|_| from == after).map(|(place, (key, content, _))| {
                AdjacentLeaf { key: (*key).clone(), content: *content, place: *place }
            });
            (*tile, (own.collect(), around.collect()))
        };
        Self { nodes: Arc::clone(nodes), tiles: tiles.iter().map(find).collect() }
    }

    /// Shows some of the tiles that were looked for.
    #[must_use]
    pub fn show(&self, tiles: &[Tile]) -> ShownTiles {
        let found = || tiles.iter().filter_map(|tile| self.tiles.get(tile));
        let own: BTreeMap<u32, &PlacedLeaf> =
            found().flat_map(|(own, _)| own).map(|leaf| (leaf.place, leaf)).collect();
        let around = found().flat_map(|(_, around)| around);
        let beside: BTreeMap<u32, &AdjacentLeaf> = around
            .filter(|leaf| !own.contains_key(&leaf.place))
            .map(|leaf| (leaf.place, leaf))
            .collect();
        let places: BTreeSet<u32> = own.keys().chain(beside.keys()).copied().collect();
        let places: Vec<u32> = places.into_iter().collect();
        ShownTiles {
            leaves: own.into_values().cloned().collect(),
            beside: beside.into_values().cloned().collect(),
            places: self.nodes.joint(&places).expect("they were found in this very tree"),
        }
    }
}

/// The keys that leaves of a tile may have, in the order of all keys: from the first, and before
/// another.
struct TileKeys {
    first: String,
    after: String,
}

impl TileKeys {
    /// Returns the range of keys of a tile.
    fn of(tile: Tile) -> Self {
        let first = tile_table_name(tile);
        // A tile's leaves are called as the tile, or go on with a slash; a digit comes next.
        let after = format!("{first}0");
        Self { first, after }
    }

    /// Returns the digits that follow the tile's name, one per byte.
    fn prefix(&self, key: &LeafKey) -> Vec<u8> {
        let digits = key.0[self.first.len()..].chars().filter_map(|digit| digit.to_digit(16));
        digits.filter_map(|digit| u8::try_from(digit).ok()).collect()
    }
}

/// Leaves that were shown to be at their places in a state.
#[derive(Debug, Clone, Default)]
pub struct KnownLeaves {
    count: u32,
    by_place: BTreeMap<u32, LeafKey>,
}

impl KnownLeaves {
    /// Returns a collection that knows nothing yet of a list of so many leaves.
    #[must_use]
    pub const fn new(count: u32) -> Self {
        Self { count, by_place: BTreeMap::new() }
    }

    /// Adds a leaf that is at this place.
    pub fn put(&mut self, place: u32, key: LeafKey) {
        self.by_place.insert(place, key);
    }

    /// Says whether these leaves prove that the tile has none: two of them that follow one another are on
    /// either side of its keys, or the first or last leaf of all is beyond them.
    #[must_use]
    pub fn lack(&self, tile: Tile) -> bool {
        let keys = TileKeys::of(tile);
        let last = self.count.checked_sub(1);
        self.by_place.iter().any(|(place, key)| {
            if key.0 < keys.first {
                let next = place.checked_add(1).and_then(|next| self.by_place.get(&next));
                return last == Some(*place) || next.is_some_and(|next| next.0 >= keys.after);
            }
            *place == 0 && key.0 >= keys.after
        })
    }
}

/// Returns the key of a tile's leaf.
#[must_use]
pub fn tile_key(tile: Tile, prefix: &[u8]) -> LeafKey {
    table_leaf_key(&tile_table_name(tile), prefix)
}
