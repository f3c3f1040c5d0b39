//! Copies of tiles, for whoever watches a world without running it.
//!
//! A copy holds the very entries of the state's leaves, and cuts and hashes them by the same rule.
//! So it shows by itself whether it is in a state whose root somebody signed.

use std::collections::BTreeMap;

use metatopia_physics::{
    Body, OutOfRange,
    limits::{BODIES_MAX, COMPOUND_BYTES_MAX},
};
use metatopia_scripting::limits::SIGN_BYTES_MAX;
use metatopia_types::{
    Digest, LeafKey, Movement, ObjectId, leaf_hash, limits::NAME_BYTES_MAX, wire,
};

use super::tile::Tile;
use crate::{
    limits::SCRIPTS_PER_OBJECT_MAX,
    state::{Object, object_key},
    tree::{LeafTable, table_leaf_key, tile_table_name},
};

/// Entries in one copy: a tile cannot have more objects than the world has bodies.
pub const TILE_ENTRIES_MAX: usize = BODIES_MAX;

/// Bytes of one encoded entry of a tile. The longest that a world makes is about 1 KiB, or 2 if its body is of several
/// parts, which few are.
pub const TILE_ENTRY_BYTES_MAX: usize = 4 * 1_024;

const _: () = assert!(
    TILE_ENTRY_BYTES_MAX
        > 2 * NAME_BYTES_MAX
            + SIGN_BYTES_MAX
            + SCRIPTS_PER_OBJECT_MAX * 10
            + COMPOUND_BYTES_MAX
            + 128,
    "kind, name, text, scripts and body of any object fit, with two keys and the lengths"
);

/// Bytes of all entries of one copy, each counted as it came: as many of the longest that a world
/// makes.
pub const TILE_BYTES_MAX: usize = TILE_ENTRIES_MAX * 1_024;

/// Why a copy does not take what a peer says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CopyError {
    /// The bytes are no entry.
    #[error("an entry: {0}")]
    Malformed(#[from] wire::DecodeError),
    /// The entry's body is that of another object.
    #[error("the entry of object {entry} has the body of object {body}")]
    OtherBody {
        /// The object of the entry.
        entry: ObjectId,
        /// The object whose body it is.
        body: ObjectId,
    },
    /// No world makes such a body.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// The object is not in this tile.
    #[error("object {0} is in another tile")]
    OtherTile(ObjectId),
    /// Something that is not in the copy moved.
    #[error("object {0} moved, and is not in the copy")]
    Unknown(ObjectId),
    /// A tile cannot hold so much.
    #[error("more entries or bytes than a tile can have")]
    Full,
}

/// An entry of a tile: an object and its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TileEntry {
    /// The object's id.
    pub id: ObjectId,
    /// The object without its body.
    pub object: Object,
    /// The body of the object.
    pub body: Body,
}

impl TileEntry {
    /// Decodes an entry that came from a peer, and checks its ranges.
    ///
    /// # Errors
    /// See [`CopyError`].
    pub fn decode(bytes: &[u8]) -> Result<Self, CopyError> {
        let (entry, object, body): (ObjectId, Object, Body) =
            wire::decode(bytes, TILE_ENTRY_BYTES_MAX)?;
        if body.id() != entry {
            return Err(CopyError::OtherBody { entry, body: body.id() });
        }
        body.check()?;
        Ok(Self { id: entry, object, body })
    }

    /// Encodes the entry as it is in the state's leaves.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        wire::encode(&(self.id, &self.object, &self.body))
    }
}

/// One leaf of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopiedLeaf {
    /// The first hexadecimal digits, one per byte, of the ids in this leaf; none when the tile is
    /// one leaf.
    pub prefix: Vec<u8>,
    /// The leaf's key among the leaves of the state.
    pub key: LeafKey,
    /// The hash at the bottom of the state's tree: what
    /// [`merkle::Proof::root`](metatopia_types::merkle::Proof::root) takes.
    pub hash: Digest,
}

/// A copy of the entries of one tile.
#[derive(Debug, Clone)]
pub struct TileCopy {
    tile: Tile,
    entries: BTreeMap<ObjectId, (TileEntry, usize)>,
    bytes: usize,
    /// Entries that changed since their leaves were cut; those that only moved with the body that
    /// is in the leaf.
    stale: BTreeMap<ObjectId, Option<Body>>,
    table: LeafTable<8>,
}

impl TileCopy {
    /// Returns a copy without entries.
    #[must_use]
    pub fn new(tile: Tile) -> Self {
        let (entries, stale) = (BTreeMap::new(), BTreeMap::new());
        Self { tile, entries, bytes: 0, stale, table: LeafTable::default() }
    }

    /// Returns the tile that is copied.
    #[must_use]
    pub const fn tile(&self) -> Tile {
        self.tile
    }

    /// Returns how many entries it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Says whether it has no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the bytes of the entries, each counted as it came.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the entry of an object.
    #[must_use]
    pub fn get(&self, id: ObjectId) -> Option<&TileEntry> {
        self.entries.get(&id).map(|(entry, _)| entry)
    }

    /// Returns all entries, by id.
    pub fn entries(&self) -> impl Iterator<Item = &TileEntry> {
        self.entries.values().map(|(entry, _)| entry)
    }

    /// Takes an encoded entry in, in place of the one that its object has.
    ///
    /// # Errors
    /// See [`CopyError`]; then nothing has changed.
    pub fn put(&mut self, bytes: &[u8]) -> Result<ObjectId, CopyError> {
        let entry = TileEntry::decode(bytes)?;
        let id = entry.id;
        if Tile::of(entry.body.position()) != self.tile {
            return Err(CopyError::OtherTile(id));
        }
        let old = self.entries.get(&id).map(|(_, bytes)| *bytes);
        let all = self.bytes - old.unwrap_or(0) + bytes.len();
        if all > TILE_BYTES_MAX || (old.is_none() && self.entries.len() >= TILE_ENTRIES_MAX) {
            return Err(CopyError::Full);
        }
        self.bytes = all;
        self.entries.insert(id, (entry, bytes.len()));
        self.stale.insert(id, None);
        Ok(id)
    }

    /// Applies a movement of an object within the tile.
    ///
    /// # Errors
    /// See [`CopyError`]; then nothing has changed.
    pub fn follow(&mut self, id: ObjectId, movement: &Movement) -> Result<(), CopyError> {
        let (entry, _) = self.entries.get_mut(&id).ok_or(CopyError::Unknown(id))?;
        let mut body = entry.body.clone();
        body.follow(movement)?;
        if Tile::of(body.position()) != self.tile {
            return Err(CopyError::OtherTile(id));
        }
        let before = core::mem::replace(&mut entry.body, body);
        self.stale.entry(id).or_insert(Some(before));
        Ok(())
    }

    /// Removes an object that is no longer in the tile. Says whether it was in the copy.
    pub fn remove(&mut self, id: ObjectId) -> bool {
        let Some((_, bytes)) = self.entries.remove(&id) else {
            return false;
        };
        self.bytes -= bytes;
        self.stale.insert(id, None);
        true
    }

    /// Returns the leaves that these entries form in a state, by their prefixes. Only those whose entries
    /// changed since the last call are hashed.
    pub fn leaves(&mut self) -> Vec<CopiedLeaf> {
        for (id, before) in core::mem::take(&mut self.stale) {
            let key = object_key(id);
            let Some((entry, _)) = self.entries.get(&id) else {
                self.table.take(key);
                continue;
            };
            let bytes = match before.zip(self.table.get(&key)) {
                Some((before, bytes)) => entry.body.encode_after(&before, bytes),
                None => entry.encode(),
            };
            self.table.put(key, bytes);
        }
        self.table.refresh();
        let name = tile_table_name(self.tile);
        let leaf = |(prefix, digest): (&[u8], crate::tree::LeafDigest)| {
            let key = table_leaf_key(&name, prefix);
            let hash = leaf_hash(&key, &digest.hash);
            CopiedLeaf { prefix: prefix.to_vec(), key, hash }
        };
        self.table.leaves().map(leaf).collect()
    }
}
