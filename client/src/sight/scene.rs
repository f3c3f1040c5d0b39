//! A picture of what is in sight: plain facts for describing and for choosing what to do.

use alloc::{collections::BTreeMap, string::String, vec::Vec};

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_protocol::TileName;
use metatopia_sim::{Body, Motion, Shape, ThingChange, TileEntry};
use metatopia_types::{
    BuiltMaterial, Emote, Height, Look, Movement, ObjectId, PublicKey, ScriptId, SimId, Tick,
};

use super::{Sight, material::material_of};

/// What is near an avatar after one turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scene {
    /// After this turn.
    pub height: Height,
    /// After this tick.
    pub tick: Tick,
    /// The client's own avatar, if it has one.
    pub me: Option<ObjectId>,
    /// Objects in sight, nearest first, at the same distance by id.
    pub objects: Vec<SceneObject>,
}

/// An object in sight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneObject {
    /// The object's id.
    pub id: ObjectId,
    /// What it is: [`AVATAR`](metatopia_sim::AVATAR), or what its maker said.
    pub kind: String,
    /// The name that people see.
    pub name: String,
    /// The owner; `None` means the sim itself.
    pub owner: Option<PublicKey>,
    /// Who made it, or made what it is a copy of; nobody's means that it came with the sim.
    pub author: Option<PublicKey>,
    /// Who changed it last.
    pub changed: Option<ThingChange>,
    /// Its position in metres.
    pub position: Vec2,
    /// Which way it faces.
    pub angle: Angle,
    /// Metres per second.
    pub velocity: Vec2,
    /// Half its width and height in metres, as it sees itself; a disc has both equal.
    pub half: Vec2,
    /// Its shape; `half` is half the box around its centre.
    pub shape: Shape,
    /// How it is drawn.
    pub look: Look,
    /// What it says on itself.
    pub text: String,
    /// Whether it can be pushed.
    pub movable: bool,
    /// The person whose avatar it is, and its gesture.
    pub player: Option<ScenePlayer>,
    /// Its scripts; [`Question::Scripts`](metatopia_protocol::Question::Scripts) tells of which
    /// packages they are.
    pub scripts: Vec<ScriptId>,
    /// The avatar that has it in hand.
    pub held: Option<ObjectId>,
    /// What it is made of; none if a founder or a script gave it numbers of its own.
    pub material: Option<BuiltMaterial>,
    /// Whether everything passes through it.
    pub sensor: bool,
    /// Whether it may leave over a border.
    pub travels: bool,
    /// The sim over whose border it came, if it counts against that border's share.
    pub guest: Option<SimId>,
}

impl SceneObject {
    /// Says whether it is a disc.
    #[must_use]
    pub const fn is_round(&self) -> bool {
        matches!(self.shape, Shape::Circle { .. })
    }
}

impl Scene {
    /// Returns what an avatar in sight holds, by id.
    #[must_use]
    pub fn in_hands_of(&self, avatar: ObjectId) -> Vec<&SceneObject> {
        let is_held = |object: &&SceneObject| object.held == Some(avatar);
        let mut held: Vec<&SceneObject> = self.objects.iter().filter(is_held).collect();
        held.sort_unstable_by_key(|object| object.id);
        held
    }
}

/// What is special about an avatar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenePlayer {
    /// The player's public key.
    pub key: PublicKey,
    /// The gesture it makes.
    pub emote: Option<Emote>,
}

impl Sight {
    /// Everything in sight as it is drawn: each object's entry, its body with what is known of its
    /// latest movement, and whether it is only seen from afar. Ascending by id.
    pub fn things(&self) -> impl Iterator<Item = (&TileEntry, Body, bool)> {
        let mut entries: BTreeMap<ObjectId, (Height, &TileEntry)> = BTreeMap::new();
        for held in self.tiles.values() {
            for entry in held.copy.entries() {
                let newest = entries.entry(entry.id).or_insert((held.height, entry));
                // It left a tile whose copy is older.
                if newest.0 < held.height {
                    *newest = (held.height, entry);
                }
            }
        }
        let mut all: BTreeMap<ObjectId, (&TileEntry, bool)> =
            self.far.iter().map(|(id, (entry, _))| (*id, (entry, true))).collect();
        all.extend(entries.into_iter().map(|(id, (_, entry))| (id, (entry, false))));
        all.into_values().map(|(entry, far)| (entry, self.drawn(entry), far))
    }

    /// The latest movements of what is very near, ascending by id; some of it may be in no copy yet.
    pub fn near(&self) -> impl Iterator<Item = (ObjectId, &Movement)> {
        self.near.iter().map(|(id, movement)| (*id, movement))
    }

    /// The gestures of this moment, ascending by id.
    pub fn gestures(&self) -> impl Iterator<Item = (ObjectId, Emote)> {
        self.gestures.iter().map(|(id, emote)| (*id, *emote))
    }

    /// The body of an entry, with what is known of its latest movement.
    fn drawn(&self, entry: &TileEntry) -> Body {
        let mut body = entry.body.clone();
        if let Some(movement) = self.near.get(&entry.id) {
            // What no body can do is not drawn; the copy itself is what counts.
            let _as_it_was = body.follow(movement);
        }
        body
    }

    /// Returns where the own avatar is drawn.
    #[must_use]
    pub fn position(&self) -> Option<Vec2> {
        let far = || self.far.get(&self.me?).map(|(entry, _)| entry);
        let entry = self.own().map(|(_, entry)| entry).or_else(far)?;
        Some(self.drawn(entry).position())
    }

    /// The copy by which the own avatar is drawn, and its tile.
    pub(super) fn own(&self) -> Option<(TileName, &TileEntry)> {
        let me = self.me?;
        let tiles = self.tiles.iter();
        let copies = tiles.filter_map(|(tile, held)| Some((held.height, tile, held.copy.get(me)?)));
        // Of copies of one height the first counts, as for all things.
        let newest = copies.reduce(|newest, next| if newest.0 < next.0 { next } else { newest });
        newest.map(|(_, tile, entry)| (*tile, entry))
    }

    /// The picture around the own avatar, or around `otherwise` while there is none: at most `max`
    /// objects whose centre is within `radius` metres.
    #[must_use]
    pub fn scene(&self, otherwise: Vec2, radius: Fx, max: usize) -> Scene {
        let center = self.position().unwrap_or(otherwise);
        let things: Vec<(&TileEntry, Body, bool)> = self.things().collect();
        let distances = things.iter().map(|(_, body, _)| body.position().distance(center));
        let mut near: Vec<(Fx, usize)> =
            distances.zip(0..).filter(|(distance, _)| *distance <= radius).collect();
        // Things come by id.
        near.sort_unstable();
        near.truncate(max);
        let thing = |(_, place): (Fx, usize)| self.object(things[place].0, &things[place].1);
        let objects = near.into_iter().map(thing).collect();
        Scene { height: self.height, tick: self.tick, me: self.me, objects }
    }

    fn object(&self, entry: &TileEntry, body: &Body) -> SceneObject {
        let object = &entry.object;
        let shape = body.shape();
        let emote = self.gestures.get(&entry.id).copied();
        SceneObject {
            id: entry.id,
            kind: object.kind.clone(),
            name: object.name.clone(),
            owner: object.owner,
            author: object.author,
            changed: object.changed.clone(),
            position: body.position(),
            angle: body.angle(),
            velocity: body.velocity(),
            half: shape.half_extents(Angle::ZERO),
            shape,
            look: object.look,
            text: object.text.clone(),
            movable: object.held.is_some()
                || (body.motion() == Motion::Dynamic && object.player.is_none()),
            player: object.player.map(|key| ScenePlayer { key, emote }),
            scripts: object.scripts.clone(),
            held: object.held.map(|held| held.by),
            material: material_of(body),
            sensor: body.is_sensor(),
            travels: object.travels,
            guest: object.guest.map(|guest| guest.from),
        }
    }
}
