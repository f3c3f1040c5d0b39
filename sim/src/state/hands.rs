//! Hands: what people carry, and how it is put down.
//!
//! The body of a thing in hand stays among the others, so that the thing keeps its place in quotas, indexes,
//! tiles and sight. It meets no other body, and stands still where its holder is. Nothing is held by somebody
//! who has no avatar: whoever loses hers puts down all that she holds.

use std::collections::BTreeSet;

use metatopia_math::Vec2;
use metatopia_physics::{Body, Filter, Motion, Pose};
use metatopia_types::ObjectId;

use super::{
    object::{Held, Object},
    sim_state::State,
    world::World,
};

/// What the body of a thing in hand meets: nothing.
const MEETS_NOTHING: Filter = Filter { category: u32::MAX, mask: 0 };

impl State {
    /// Returns the things that an avatar holds, by id.
    pub(crate) fn in_hands_of(&self, avatar: ObjectId) -> impl Iterator<Item = ObjectId> {
        let all = (avatar, ObjectId(0))..=(avatar, ObjectId(u64::MAX));
        self.hands.range(all).map(|(_, id)| *id)
    }

    /// Says whether somebody has an object in hand.
    pub(crate) fn is_held(&self, id: ObjectId) -> bool {
        self.objects.get(&id).is_some_and(|object| object.held.is_some())
    }

    /// Returns how the body of an object moves when nobody holds the object.
    pub(crate) fn motion_of(&self, id: ObjectId) -> Option<Motion> {
        let (object, body) = (self.objects.get(&id)?, self.bodies.body(id)?);
        // Only what can be pushed is taken.
        Some(if object.held.is_some() { Motion::Dynamic } else { body.motion() })
    }

    /// Puts a thing into the hands of an avatar. The act was decided over this very state.
    pub(crate) fn pick_up(&mut self, id: ObjectId, by: ObjectId) {
        let body = self.bodies.body(id).expect("a thing that was just seen has a body");
        let held = Held { by, filter: body.filter() };
        self.bodies.set_role(id, Motion::Static, MEETS_NOTHING);
        self.objects.get_mut(&id).expect("a thing that was just seen").held = Some(held);
        self.hands.insert((by, id));
        self.follow_holder(by, id);
    }

    /// Puts a thing down at a place, or on the sim's own ground where it is. Nothing happens to a thing that
    /// nobody holds.
    pub(crate) fn put_down(&mut self, id: ObjectId, place: Option<Vec2>) {
        let Some(held) = self.objects.get(&id).and_then(|object| object.held) else { return };
        self.objects.get_mut(&id).expect("a thing that was just seen").held = None;
        self.hands.remove(&(held.by, id));
        let here = self.bodies.body(id).expect("a thing in hand has a body").position();
        let place = place.unwrap_or_else(|| self.charter.parameters.ground.nearest(here));
        self.bodies.set_position(id, place).expect("a body that was just seen");
        self.bodies.set_role(id, Motion::Dynamic, held.filter);
    }

    /// Returns the body that a thing has once it is put down where it is.
    pub(crate) fn put_down_body(&self, id: ObjectId, object: &Object) -> Option<Body> {
        let body = self.bodies.body(id)?;
        let Some(held) = object.held else { return Some(body.clone()) };
        let place = self.charter.parameters.ground.nearest(body.position());
        Some(self.bodies.in_role(body, place, (Motion::Dynamic, held.filter)))
    }

    /// Puts all down that an avatar holds, where it stands.
    pub(super) fn empty_hands(&mut self, avatar: ObjectId) {
        let held: Vec<ObjectId> = self.in_hands_of(avatar).collect();
        for id in held {
            self.follow_holder(avatar, id);
            self.put_down(id, None);
        }
    }

    /// Brings what people hold to where they are now.
    pub(super) fn carry_held(&mut self) {
        let held: Vec<(ObjectId, ObjectId)> = self.hands.iter().copied().collect();
        held.into_iter().for_each(|(avatar, id)| self.follow_holder(avatar, id));
    }

    /// Brings a thing in hand to its holder.
    fn follow_holder(&mut self, avatar: ObjectId, id: ObjectId) {
        let Some(pose) = self.bodies.body(avatar).map(Body::pose) else {
            return;
        };
        // The pose of a body is within the bounds, and a thing in hand has a body.
        let Pose { position, angle } = pose;
        let _ = self.bodies.set_pose(id, Pose { position, angle });
    }

    /// Builds the index of what is held.
    pub(super) fn index_hands(&mut self) {
        let pair = |(id, object): (&ObjectId, &Object)| Some((object.held?.by, *id));
        self.hands = self.objects.iter().filter_map(pair).collect::<BTreeSet<_>>();
    }
}

impl World {
    /// Returns the things that an avatar holds, by id.
    pub fn in_hands_of(&self, avatar: ObjectId) -> impl Iterator<Item = ObjectId> {
        self.state.in_hands_of(avatar)
    }
}
