//! What servers tell clients about tiles.

use std::collections::BTreeSet;

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{Body, limits::GHOSTS_FROM};
use metatopia_types::{Emote, Movement, ObjectId};

use super::{placed::PlacedTiles, tile::Tile};
use crate::state::World;

impl World {
    /// Returns the tile of an object, and its entry there, in the state's own encoding.
    #[must_use]
    pub fn entry(&self, id: ObjectId) -> Option<(Tile, &[u8])> {
        self.leaves.entry(id)
    }

    /// Returns the entries of a tile, in the state's own encoding, by id.
    pub fn entries(&self, tile: Tile) -> impl Iterator<Item = (ObjectId, &[u8])> {
        self.leaves.entries(tile)
    }

    /// Returns all parts of an object's motion.
    #[must_use]
    pub fn movement(&self, id: ObjectId) -> Option<Movement> {
        self.state.bodies.body(id).map(Body::movement)
    }

    /// Returns the position of an object, in metres.
    #[must_use]
    pub fn place(&self, id: ObjectId) -> Option<Vec2> {
        self.state.bodies.body(id).map(Body::position)
    }

    /// Finds the leaves of these tiles, and the leaves beside those that have none, in the state as it is
    /// now.
    #[must_use]
    pub fn place_tiles(&self, tiles: &BTreeSet<Tile>) -> PlacedTiles {
        self.leaves.place(tiles)
    }

    /// Returns the objects that touch this one, by id. Looks through all contacts.
    #[must_use]
    pub fn touching(&self, id: ObjectId) -> Vec<ObjectId> {
        let contacts = self.state.bodies.contacts().iter();
        let other = |(a, b)| match () {
            () if a == id => Some(b),
            () if b == id => Some(a),
            () => None,
        };
        let touching = contacts.filter_map(|contact| other(contact.pair()));
        touching.filter(|other| *other < GHOSTS_FROM).collect()
    }

    /// Returns the gestures of this moment, by avatar.
    #[must_use]
    pub fn gestures(&self) -> Vec<(ObjectId, Emote)> {
        let now = |(player, avatar)| Some((avatar, self.gesture(&player)?));
        self.present().filter_map(now).collect()
    }

    /// Returns the objects that reach at least `reach` metres in some direction from their centre, by id, with
    /// their centre and reach.
    pub fn large(&self, reach: Fx) -> impl Iterator<Item = (ObjectId, Vec2, Fx)> {
        let of = |body: &Body| body.shape().reach();
        let mut large: Vec<_> = self
            .state
            .bodies
            .reaching(reach)
            .map(|body| (body.id(), body.position(), of(body)))
            .filter(|(.., own)| *own >= reach)
            .collect();
        large.sort_unstable_by_key(|(id, ..)| *id);
        large.into_iter()
    }
}
