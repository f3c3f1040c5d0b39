//! Objects: whatever has a place in the world. Their bodies belong to the region.

use metatopia_math::{Fx, Vec2};
use metatopia_types::{AssetLicence, Look, ObjectId, PublicKey, ScriptId};
use serde::{Deserialize, Serialize};

/// The kind that scripts see for players' bodies.
pub const AVATAR: &str = "avatar";

/// An object, without its body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Object {
    /// Its kind: [`AVATAR`], or what the world's maker said.
    pub kind: String,
    /// Its name; an avatar has its player's name.
    pub name: String,
    /// Its owner; nobody means that it is the sim's own.
    pub owner: Option<PublicKey>,
    /// The player whose avatar it is.
    pub player: Option<PublicKey>,
    /// How it is drawn.
    pub look: Look,
    /// The text it shows, often empty.
    pub text: String,
    /// The scripts on it, in the order of their ids.
    pub scripts: Vec<ScriptId>,
    /// The licence: what everybody may do with how it looks and what it says.
    pub licence: AssetLicence,
    /// Its maker, or the maker of what it is a copy of; nobody means the world's maker.
    pub author: Option<PublicKey>,
    /// The object that it is a copy of. That one may be gone, but its id is never given out again.
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
    /// Returns the tile in which a point lies.
    #[must_use]
    pub const fn of(point: Vec2) -> Self {
        const fn index(coordinate: Fx) -> i64 {
            coordinate.floor_int().div_euclid(TILE_METRES)
        }
        Self { x: index(point.x), y: index(point.y) }
    }

    /// Says whether it reaches into the circle of so many whole metres around a point. Distances are
    /// rounded to parts of a metre.
    #[must_use]
    pub fn is_within(self, metres: i64, around: Vec2) -> bool {
        const PARTS: i64 = 1_024;
        const SIDE: i64 = TILE_METRES * PARTS;
        let beyond = |at: Fx, index: i64| {
            let low = index.saturating_mul(SIDE);
            let at = at.to_bits() / (Fx::ONE.to_bits() / PARTS);
            low.saturating_sub(at).max(at.saturating_sub(low.saturating_add(SIDE))).max(0)
        };
        let squared = |n: i64| n.saturating_mul(n);
        let (x, y) = (beyond(around.x, self.x), beyond(around.y, self.y));
        squared(x).saturating_add(squared(y)) <= squared(metres.saturating_mul(PARTS))
    }

    /// Returns all tiles that reach into such a circle.
    pub fn around(center: Vec2, metres: i64) -> impl Iterator<Item = Self> {
        let middle = Self::of(center);
        let reach = metres / TILE_METRES + 1;
        let side = move |index: i64| index.saturating_sub(reach)..=index.saturating_add(reach);
        let square = side(middle.x).flat_map(move |x| side(middle.y).map(move |y| Self { x, y }));
        square.filter(move |tile| tile.is_within(metres, center))
    }
}

/// Returns an object's id in bytes that sort as ids do, for leaf tables.
pub(crate) fn object_key(id: ObjectId) -> [u8; 8] {
    id.0.to_be_bytes()
}
