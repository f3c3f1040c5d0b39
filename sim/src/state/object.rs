//! Objects: whatever has a place in the world. Their bodies are kept in `space::Bodies`.

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

/// Returns an object's id in bytes that sort as ids do, for leaf tables.
pub(crate) fn object_key(id: ObjectId) -> [u8; 8] {
    id.0.to_be_bytes()
}
