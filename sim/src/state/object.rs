//! Objects: whatever has a place in the world. Their bodies are kept in `space::Bodies`.

use metatopia_math::Vec2;
use metatopia_physics::{Body, BodySpec, Filter, Motion};
use metatopia_types::{
    AssetLicence, BorderGuest, Height, Look, Millis, ObjectId, Origin, PublicKey, ScriptId, SimId,
};
use serde::{Deserialize, Serialize};

use super::genesis::ObjectSpec;

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
    /// Who has it in hand.
    pub held: Option<Held>,
    /// Where somebody sits on it; none where nobody can.
    pub seat: Option<ThingSeat>,
    /// Who changed it last; none if nobody did since it came into the sim.
    pub changed: Option<ThingChange>,
}

/// A hold on a thing that is in somebody's hands. Its body stays where the others are and stands
/// still where the holder is, but meets no other body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// The avatar of whoever holds it.
    pub by: ObjectId,
    /// What its body meets again once it is put down.
    pub filter: Filter,
}

/// The seat of a thing, which a script or the genesis made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThingSeat {
    /// Where one sits, as the thing sees it, in metres.
    pub at: Vec2,
    /// The avatar that sits there, as far as the scripts on the thing were told.
    pub told: Option<ObjectId>,
}

impl ThingSeat {
    /// Returns the seat as it is while nobody sits there.
    pub(crate) const fn empty(self) -> Self {
        Self { told: None, ..self }
    }
}

/// The last act by which somebody changed a thing. What scripts and pushes do to it is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThingChange {
    /// Who did it.
    pub by: PublicKey,
    /// What was done, in a word.
    pub word: String,
    /// The turn that carried it out.
    pub height: Height,
    /// The time that the turn states.
    pub time: Millis,
}

impl Object {
    /// Returns the origin of the object, which has the number `id` in `sim`.
    #[must_use]
    pub fn origin(&self, sim: SimId, id: ObjectId) -> Origin {
        self.birth.unwrap_or(Origin { sim, number: id })
    }

    /// Returns a new object that is like this one. It has no scripts, and nothing of what became of this one: where it
    /// was born and of what it is a copy, who spawned, holds or changed it, and over which border it came.
    pub(crate) fn anew(&self) -> Self {
        Self {
            scripts: Vec::new(),
            birth: None,
            parent: None,
            guest: None,
            spawner: None,
            held: None,
            seat: None,
            changed: None,
            ..self.clone()
        }
    }

    /// Returns the object as a genesis lists it, without its scripts, whose states are not known here, and without
    /// what spawned it.
    #[must_use]
    pub fn listed(&self, body: &Body) -> ObjectSpec {
        ObjectSpec {
            kind: self.kind.clone(),
            name: self.name.clone(),
            owner: self.owner,
            look: self.look,
            text: self.text.clone(),
            body: self.spec_of(body),
            scripts: Vec::new(),
            licence: self.licence,
            spawner: None,
            seat: self.seat.map(|seat| seat.at),
        }
    }

    /// Returns the definition of the object's body as it is when nobody holds the object.
    pub(crate) fn spec_of(&self, body: &Body) -> BodySpec {
        let mut spec = body.spec();
        if let Some(held) = self.held {
            // Only what can be pushed is taken.
            (spec.motion, spec.filter) = (Motion::Dynamic, held.filter);
        }
        spec
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
