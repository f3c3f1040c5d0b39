//! Objects: whatever has a place in the world. Their bodies are kept in `space::Bodies`.

use metatopia_types::{
    AssetLicence, BorderGuest, Look, ObjectId, Origin, PublicKey, ScriptId, SimId,
};
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
    /// Where it was born; none if it was here, under the number that it has.
    pub birth: Option<Origin>,
    /// The origin of the object that it is a copy of. That one may be gone or elsewhere, but no other
    /// object ever has its origin.
    pub parent: Option<Origin>,
    /// Whether it may leave for another sim.
    pub travels: bool,
    /// Over which border it came, if it counts against that border's share.
    pub guest: Option<BorderGuest>,
    /// The object whose script spawned it, which removes it when it likes. It goes when that one goes.
    pub spawner: Option<ObjectId>,
}

impl Object {
    /// Returns the origin of the object, which has the number `id` in `sim`.
    #[must_use]
    pub fn origin(&self, sim: SimId, id: ObjectId) -> Origin {
        self.birth.unwrap_or(Origin { sim, number: id })
    }

    /// Notes that the object was born as number `id` of `sim`, unless it had come to that sim from another.
    pub(crate) fn note_birth(&mut self, sim: SimId, id: ObjectId) {
        self.birth = Some(self.origin(sim, id));
    }
}

/// Returns an object's id in bytes that sort as ids do, for leaf tables.
pub(crate) fn object_key(id: ObjectId) -> [u8; 8] {
    id.0.to_be_bytes()
}
