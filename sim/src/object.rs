//! Objects: whatever has a place in the world. Their bodies belong to the region.

use metatopia_math::Fx;
use metatopia_types::{AssetLicence, Look, ObjectId, PublicKey, ScriptId, merkle};
use serde::{Deserialize, Serialize};

/// The kind that scripts see for players' bodies.
pub const AVATAR: &str = "avatar";

/// An object, without its body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Object {
    /// What it is: [`AVATAR`], or what the world's maker said.
    pub kind: String,
    /// What it is called; an avatar has its player's name.
    pub name: String,
    /// Whose it is; nobody's means the sim's own.
    pub owner: Option<PublicKey>,
    /// Whose avatar it is.
    pub player: Option<PublicKey>,
    /// How it is drawn.
    pub look: Look,
    /// The text it shows, often empty.
    pub text: String,
    /// The scripts on it, in the order of their ids.
    pub scripts: Vec<ScriptId>,
    /// What everybody may do with how it looks and what it says.
    pub licence: AssetLicence,
    /// Who made it, or made what it is a copy of; nobody's means the world's maker.
    pub author: Option<PublicKey>,
    /// What it is a copy of. That may be gone, but its id is never given out again.
    pub parent: Option<ObjectId>,
}

/// The side of a tile, in metres.
pub const TILE_METRES: i64 = 32;

/// A square of ground with sides of [`TILE_METRES`]: the unit of state hashing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tile {
    /// Counted in tiles from the origin eastwards.
    pub x: i64,
    /// Counted in tiles from the origin northwards.
    pub y: i64,
}

impl Tile {
    /// The tile in which a point lies.
    #[must_use]
    pub const fn of(point: metatopia_math::Vec2) -> Self {
        const fn index(coordinate: Fx) -> i64 {
            coordinate.floor_int().div_euclid(TILE_METRES)
        }
        Self { x: index(point.x), y: index(point.y) }
    }
}

/// Where one leaf of a tile is in the state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedLeaf {
    /// The tile.
    pub tile: Tile,
    /// The first hexadecimal digits, one per byte, of the ids in this leaf; none when the tile is
    /// one leaf.
    pub prefix: Vec<u8>,
    /// Its place among all leaves of the state.
    pub place: merkle::Proof,
}

/// An object's id in the order-keeping bytes that shelves sort by.
pub(crate) fn object_key(id: ObjectId) -> [u8; 8] {
    id.0.to_be_bytes()
}
