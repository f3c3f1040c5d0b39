//! Pieces: bytes of packages that are too long for one act, until their author has the sim put them together.
//!
//! A piece that nobody puts together leaves after a minute of turns. Where a sim has no room for another one,
//! the oldest leaves before its time.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_types::{BlobId, Height, PublicKey};
use serde::{Deserialize, Serialize};

use crate::{
    limits::{PIECES_MAX, PIECES_PER_AUTHOR_MAX, PUBLISHING_HEIGHTS},
    tree::Tracked,
};

/// What names a piece: who published it, and the digest of its bytes.
pub(crate) type PieceKey = (PublicKey, BlobId);

/// A piece of a package that is not in the sim yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PackagePiece {
    /// The turn that brought it.
    pub(crate) height: Height,
    #[serde(with = "metatopia_types::wire::bytes")]
    pub(crate) bytes: Vec<u8>,
}

/// The pieces of a sim, with what follows from them.
#[derive(Debug, Clone, Default)]
pub(crate) struct PackagePieces {
    pub(crate) all: Tracked<PieceKey, PackagePiece>,
    /// Index: the pieces in the order in which they leave.
    by_height: BTreeSet<(Height, PieceKey)>,
    /// Index: how many pieces each author has, and how many bytes they take.
    by_author: BTreeMap<PublicKey, (usize, u64)>,
    /// Index: the bytes of all pieces.
    bytes: u64,
}

impl PackagePieces {
    /// Returns pieces with the indexes that follow from them.
    pub(crate) fn new(all: Tracked<PieceKey, PackagePiece>) -> Self {
        let mut pieces = Self { all, ..Self::default() };
        let listed: Vec<(PieceKey, Height, usize)> =
            pieces.all.iter().map(|(key, piece)| (*key, piece.height, piece.bytes.len())).collect();
        listed.into_iter().for_each(|(key, height, bytes)| pieces.list(key, height, bytes));
        pieces
    }

    /// Adds a piece to the indexes.
    fn list(&mut self, key: PieceKey, height: Height, bytes: usize) {
        self.by_height.insert((height, key));
        self.bytes += bytes as u64;
        let (count, of_author) = self.by_author.entry(key.0).or_default();
        *count += 1;
        *of_author += bytes as u64;
    }

    /// Returns the bytes of all pieces.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the bytes of the pieces that an author has.
    pub(crate) fn bytes_of(&self, author: &PublicKey) -> u64 {
        self.by_author.get(author).map_or(0, |(_, bytes)| *bytes)
    }

    /// Says whether an author may have another piece.
    pub(crate) fn has_room_for(&self, author: &PublicKey) -> bool {
        self.by_author.get(author).is_none_or(|(count, _)| *count < PIECES_PER_AUTHOR_MAX)
    }

    /// Returns the bytes of these pieces of an author, one after the other.
    ///
    /// # Errors
    /// The first one that is not there.
    pub(crate) fn joined(&self, author: PublicKey, ids: &[BlobId]) -> Result<Vec<u8>, BlobId> {
        let bytes =
            |id: &BlobId| self.all.get(&(author, *id)).map(|piece| &*piece.bytes).ok_or(*id);
        Ok(ids.iter().map(bytes).collect::<Result<Vec<&[u8]>, BlobId>>()?.concat())
    }

    /// Adds a piece that an author did not have.
    pub(crate) fn add(&mut self, key: PieceKey, piece: PackagePiece) {
        assert!(!self.all.contains(&key), "a piece comes that is there");
        if self.all.len() >= PIECES_MAX {
            let (_, oldest) = *self.by_height.first().expect("a sim with pieces lists them");
            self.remove(oldest);
        }
        self.list(key, piece.height, piece.bytes.len());
        self.all.insert(key, piece);
    }

    /// Removes a piece, if it is there.
    pub(crate) fn remove(&mut self, key: PieceKey) {
        let Some(piece) = self.all.remove(&key) else { return };
        self.by_height.remove(&(piece.height, key));
        self.bytes -= piece.bytes.len() as u64;
        let of_author = self.by_author.get_mut(&key.0).expect("the author of a piece is listed");
        *of_author = (of_author.0 - 1, of_author.1 - piece.bytes.len() as u64);
        if of_author.0 == 0 {
            self.by_author.remove(&key.0);
        }
    }

    /// Removes the pieces that nobody put together in a minute of turns.
    pub(crate) fn remove_stale(&mut self, now: Height) {
        while let Some((height, key)) = self.by_height.first().copied()
            && height.plus(PUBLISHING_HEIGHTS) <= now
        {
            self.remove(key);
        }
    }
}

#[cfg(test)]
mod tests;
