//! Views: what a client sees, as copies of the tiles that the servers hash.
//!
//! A client that watches holds a copy of each tile near its avatar: the tile's entries, exactly as
//! they are in the state. An update of a tile says what changed after the height that the client
//! has; so the same update serves everybody who is at that height, and a client that missed some is
//! sent fewer, never older, states. [`ViewProof`] then shows that the copies are in a state whose
//! root more than two thirds of the voting power signed; of a tile without entries it shows that it
//! has none. So a client that knows where its avatar is misses what is hidden from it.
//!
//! The server sends no view while [`UNSEEN_MAX`] of them are not acknowledged by
//! [`ClientMessage::Seen`](crate::ClientMessage::Seen): what waits for a slow client is bounded.

use alloc::vec::Vec;

use metatopia_math::Vec2;
use metatopia_types::{
    Certificate, Digest, Emote, Header, Height, LeafKey, Movement, ObjectId, Tick, merkle,
};
use serde::{Deserialize, Serialize};

/// Views under way to one client. Eight turns are 400 ms: the round trip around the world.
pub const UNSEEN_MAX: u32 = 8;

/// Copies are proved after every turn whose height this divides: five times a second.
pub const PROOF_TURNS: u64 = 4;

/// Big things far away are told again at least once in so many turns, while the bytes suffice.
pub const FAR_TURNS_MAX: u64 = 200;

/// How far from its avatar a client watches, in whole metres: every tile that reaches into this
/// circle is told about, and proved.
pub const SIGHT: i64 = 40;

/// Tiles that a client may say it has.
pub const HAVE_MAX: usize = 64;

/// Least and most bytes a second that a client may ask for.
pub const BYTES_PER_SECOND: core::ops::RangeInclusive<u32> = 2_000..=400_000;

/// A square of ground with sides of 32 m.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TileName {
    /// Counted in tiles from the origin eastwards.
    pub x: i32,
    /// Counted in tiles from the origin northwards.
    pub y: i32,
}

/// How a client wants to watch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watching {
    /// Bytes of views a second, moved into [`BYTES_PER_SECOND`].
    pub bytes_per_second: u32,
    /// At most one view in so many turns, at least 1; for tabs that nobody looks at.
    pub turns_apart: u16,
    /// Whether it wants proofs.
    pub proofs: bool,
    /// Where to look while it has no avatar; otherwise the view follows that.
    pub at: Option<Vec2>,
    /// Copies it kept from an earlier session, here or elsewhere, and the heights they are of; at
    /// most [`HAVE_MAX`].
    pub have: Vec<(TileName, Height)>,
}

/// What changed in sight of a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// Counts the views of a session, from 1; acknowledged by it.
    pub number: u32,
    /// After the turn of this height.
    pub height: Height,
    /// After this tick.
    pub tick: Tick,
    /// The client's own avatar, if it has one.
    pub me: Option<ObjectId>,
    /// The tiles that are told about in this view.
    pub tiles: Vec<TileUpdate>,
    /// Tiles that are out of sight: their copies may be forgotten.
    pub left: Vec<TileName>,
    /// Own avatar and what it touches, whose tiles are not told about in this view, for drawing; the
    /// copies stay as they are. May name what came into a tile since, and is in no copy yet.
    pub near: Vec<(ObjectId, Movement)>,
    /// Big things farther away than tiles are followed, for drawing: whole entries. What is not told
    /// again within [`FAR_TURNS_MAX`] turns is gone.
    #[serde(with = "metatopia_types::wire::pieces")]
    pub far: Vec<Vec<u8>>,
    /// Gestures of this moment, of objects in the tiles.
    pub gestures: Vec<(ObjectId, Emote)>,
}

/// What changed in a tile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TileUpdate {
    /// The tile that changed.
    pub tile: TileName,
    /// Changes after this height, which is that of the client's copy or an earlier one; none if
    /// this is the whole tile, and takes the place of any copy.
    pub since: Option<Height>,
    /// Entries that are new, or changed in more than how they move, in the state's own encoding.
    #[serde(with = "metatopia_types::wire::pieces")]
    pub entries: Vec<Vec<u8>>,
    /// Entries that moved within the tile.
    pub moved: Vec<(ObjectId, Movement)>,
    /// Entries that are no longer in the tile.
    pub gone: Vec<ObjectId>,
    /// The whole tile did not fit: entries of greater ids follow in later views, as changes. Until
    /// an update of the tile comes without this, the copy is not whole: it is in no proof, and not
    /// to be named in [`Watching::have`].
    pub more: bool,
}

/// Shows that copies of tiles are the state's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewProof {
    /// The copies as they were after the turn of this height: those that the view of this height,
    /// or an earlier one, brought up to it.
    pub of: Height,
    /// States the root of that state: its height is `of` + `ROOT_LAG`.
    pub header: Header,
    /// For the header.
    pub certificate: Certificate,
    /// The leaves of all tiles that the client had at that height, each leaf once. A tile that has
    /// no entries has no leaf.
    pub leaves: Vec<TileLeaf>,
    /// What else stands on either side of where the leaves of tiles without entries would be. Keys
    /// ascend with places, so that nothing is between two leaves whose places follow one another.
    pub beside: Vec<NeighbourLeaf>,
    /// Shows both kinds at their places, in the order of those.
    pub places: merkle::JointProof,
}

/// Where one leaf of a tile is in the state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TileLeaf {
    /// The tile that the leaf is of.
    pub tile: TileName,
    /// The first hexadecimal digits, one per byte, of the ids in this leaf; none when the tile is
    /// one leaf.
    pub prefix: Vec<u8>,
    /// The leaf's place among all leaves, from 0.
    pub place: u32,
    /// Its hash at the bottom of the state's tree.
    pub hash: Digest,
}

/// A leaf of anything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NeighbourLeaf {
    /// The key of the leaf.
    pub key: LeafKey,
    /// The hash of its content.
    pub content: Digest,
    /// Its place among all leaves, from 0.
    pub place: u32,
}
