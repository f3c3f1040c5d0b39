//! Seats of things: who sits where, and what scripts are told of it.
//!
//! Whoever sits is joined to the thing by a hinge at its seat. That joint is the only truth about it: the
//! thing carries her, nothing walks her away, and she has stood up once it is off.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{JointKind, JointSpec, Motion};
use metatopia_scripting::Event;
use metatopia_types::ObjectId;

use crate::{
    space::{Area, Footprint},
    state::{Object, State, ThingSeat},
};

impl State {
    /// Returns the avatar that sits on a thing.
    pub(crate) fn sitter(&self, thing: ObjectId) -> Option<ObjectId> {
        let mut ends = self.bodies.joints_of(thing).map(|joint| joint.spec().b);
        ends.find(|id| self.is_avatar(*id))
    }

    /// Returns the thing that an avatar sits on.
    pub(crate) fn mount(&self, avatar: ObjectId) -> Option<ObjectId> {
        self.bodies.joints_of(avatar).find_map(|joint| joint.spec().a)
    }

    /// Says whether an avatar sits somewhere: nothing else joins one.
    pub(crate) fn sits(&self, avatar: ObjectId) -> bool {
        self.bodies.is_joined(avatar)
    }

    /// Has an avatar sit on a thing, at the seat that the thing has; on none, stand up.
    pub(crate) fn sit(&mut self, avatar: ObjectId, on: Option<ObjectId>) {
        self.stand(avatar);
        let Some(thing) = on else { return };
        let Some((at, place)) = self.seat_place(thing) else { return };
        // The act was refused if the place is beyond the edge of the ground.
        let _ = self.bodies.set_position(avatar, place);
        self.stop_body(avatar);
        let kind = JointKind::Revolute { limits: None, motor: None };
        let spec = JointSpec { anchor_a: at, ..JointSpec::new(Some(thing), avatar, kind) };
        if self.add_joint(&spec).is_ok() {
            self.seats.insert(thing);
        }
    }

    /// Has an avatar stand up, if it sits.
    pub(crate) fn stand(&mut self, avatar: ObjectId) {
        let joint = self.bodies.joints_of(avatar).map(|joint| (joint.id(), joint.spec().a)).next();
        if let Some((joint, thing)) = joint {
            self.bodies.unjoin(joint);
            if let Some(thing) = thing {
                self.step_onto(avatar, thing);
            }
        }
    }

    /// Puts an avatar that stood up on top of the thing, where gravity would hold it inside: a thing that cannot
    /// be pushed does not yield, and the weight is stronger than what parts the two.
    fn step_onto(&mut self, avatar: ObjectId, thing: ObjectId) {
        let (gravity, room) =
            (self.charter.parameters.gravity, self.charter.parameters.avatar.radius);
        let body = self.bodies.body(thing).filter(|body| body.motion() != Motion::Dynamic);
        let Some(ground) = body.filter(|_| gravity != Vec2::ZERO).map(Footprint::of) else {
            return;
        };
        let at = self.bodies.body(avatar).expect("who sat has a body").position();
        // Whoever sat beside the thing is free.
        if ground.distance(at) >= room {
            return;
        }
        let Area { low, high } = ground.area();
        let above = |pull: Fx, low: Fx, high: Fx| {
            if pull < Fx::ZERO { high.saturating_add(room) } else { low.saturating_sub(room) }
        };
        let place = if gravity.y.saturating_abs() >= gravity.x.saturating_abs() {
            Vec2::new(at.x, above(gravity.y, low.y, high.y))
        } else {
            Vec2::new(above(gravity.x, low.x, high.x), at.y)
        };
        // Where the ground ends there is no place, and the avatar stays where it is.
        let _ = self.bodies.set_position(avatar, place);
    }

    /// Makes a thing a seat, or ends that: then whoever sits there stands up.
    pub(crate) fn set_seat(&mut self, thing: ObjectId, at: Option<Vec2>) {
        let Some(before) = self.objects.get(&thing).map(|object| object.seat) else { return };
        if before.map(|seat| seat.at) == at {
            return;
        }
        // Who sits would be somewhere else.
        if let Some(sitter) = self.sitter(thing) {
            self.stand(sitter);
        }
        let told = before.and_then(|seat| seat.told);
        if let Some(object) = self.objects.get_mut(&thing) {
            object.seat = at.map(|at| ThingSeat { at, told });
        }
    }

    /// Has whoever sits on a thing stand up. The thing stays a seat.
    pub(crate) fn vacate(&mut self, thing: ObjectId) {
        if let Some(sitter) = self.sitter(thing) {
            self.stand(sitter);
        }
        if let Some(object) = self.objects.get_mut(&thing) {
            object.seat = object.seat.map(ThingSeat::empty);
        }
    }

    /// Returns what scripts are to be told of who sat down and who stood up since they were told the last
    /// time, and notes it as told.
    pub(crate) fn sitting_news(&mut self) -> Vec<(ObjectId, Event)> {
        let mut news = Vec::new();
        for thing in self.seats.clone() {
            let sitter = self.sitter(thing);
            if sitter.is_none() {
                self.seats.remove(&thing);
            }
            let seat = self.objects.get(&thing).and_then(|object| object.seat);
            let Some(seat) = seat.filter(|seat| seat.told != sitter) else { continue };
            news.extend(seat.told.map(|who| (thing, Event::Stand { who })));
            news.extend(sitter.map(|who| (thing, Event::Sit { who })));
            if let Some(object) = self.objects.get_mut(&thing) {
                object.seat = Some(ThingSeat { told: sitter, ..seat });
            }
        }
        news
    }

    /// Builds the index of things on which somebody sits, or sat when their scripts were told the last time.
    pub(crate) fn index_seats(&mut self) {
        let told = |(id, object): (&ObjectId, &Object)| object.seat?.told.map(|_| *id);
        self.seats = self.objects.iter().filter_map(told).collect();
        let avatars = self.present.values().flat_map(|avatar| self.bodies.joints_of(*avatar));
        let things: Vec<ObjectId> = avatars.filter_map(|joint| joint.spec().a).collect();
        self.seats.extend(things);
    }

    /// Says whether an object is somebody's avatar.
    pub(crate) fn is_avatar(&self, id: ObjectId) -> bool {
        self.objects.get(&id).is_some_and(|object| object.player.is_some())
    }

    /// Returns where somebody sits on a thing: as the thing sees it, and on the ground.
    pub(crate) fn seat_place(&self, thing: ObjectId) -> Option<(Vec2, Vec2)> {
        let at = self.objects.get(&thing)?.seat?.at;
        let body = self.bodies.body(thing)?;
        Some((at, body.position().saturating_add(at.rotate(body.angle()))))
    }
}
