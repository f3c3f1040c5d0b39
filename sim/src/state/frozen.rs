//! Frozen states: a state as it was after a turn, kept beside earlier ones. Leaves that two of them share
//! are kept once.

use std::sync::Arc;

use metatopia_types::wire;
use serde::Serialize;

use super::{snapshot::LeafEntry, world::World};

#[derive(Debug)]
struct Leaf {
    entry: LeafEntry,
    content: Vec<u8>,
}

/// All leaves of a state. Taking one costs as much as what changed since the one before it.
#[derive(Debug, Clone, Default)]
pub struct Frozen {
    /// In the order of their keys.
    leaves: Vec<Arc<Leaf>>,
}

/// The content of a leaf, encoded in one piece.
#[derive(Serialize)]
struct Content<'a>(#[serde(serialize_with = "wire::bytes::serialize")] &'a [u8]);

impl World {
    /// Returns the state as it is, which shares with `before` the leaves that are the same.
    #[must_use]
    pub fn freeze(&self, before: &Frozen) -> Frozen {
        let mut known = before.leaves.iter().peekable();
        let leaves = self.leaves.list().map(|(key, digest)| {
            while known.next_if(|leaf| leaf.entry.key < *key).is_some() {}
            let same = |leaf: &&Arc<Leaf>| leaf.entry.key == *key && leaf.entry.hash == digest.hash;
            if let Some(leaf) = known.next_if(same) {
                return Arc::clone(leaf);
            }
            let entry = LeafEntry { key: key.clone(), hash: digest.hash, bytes: digest.bytes };
            Arc::new(Leaf { entry, content: self.leaf(key).unwrap_or_default() })
        });
        Frozen { leaves: leaves.collect() }
    }
}

impl Frozen {
    /// Encodes the state as [`World::snapshot`] does.
    #[must_use]
    pub fn snapshot(&self) -> Vec<u8> {
        self.encode(None)
    }

    /// Encodes the state, without the content of the `missing` leaf if a broken rule asks for it.
    pub(super) fn encode(&self, missing: Option<&str>) -> Vec<u8> {
        let manifest: Vec<&LeafEntry> = self.leaves.iter().map(|leaf| &leaf.entry).collect();
        let there = |leaf: &&Arc<Leaf>| missing != Some(leaf.entry.key.0.as_str());
        let contents: Vec<Content<'_>> =
            self.leaves.iter().filter(there).map(|leaf| Content(&leaf.content)).collect();
        wire::encode(&(manifest, contents))
    }
}
