//! Mechanisms: things that are joined to each other and to nothing else, which go over a border as one.
//!
//! A mechanism hangs together by joints. One of its things is the main one: what somebody sits on, or else the
//! heaviest. What is joined to the ground, or to more things than a parcel takes, does not travel.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{Body, Joint, JointSpec};
use metatopia_types::{
    Companions, HandRefusal, ObjectId, TravellingJoint, TravellingThing,
    limits::{MECHANISM_JOINTS_MAX, MECHANISM_THINGS_MAX},
    wire,
};

use super::sim_state::State;
use crate::limits::MECHANISM_REACH_METRES;

/// A thing on the way with what is joined to it, and the numbers that all of them have here, its own first.
pub(super) struct PackedMechanism {
    pub(super) ids: Vec<ObjectId>,
    pub(super) main: TravellingThing,
    pub(super) companions: Companions,
}

impl State {
    /// Returns a thing and then, in the order of their numbers, all that is joined to it. Who sits there is no part
    /// of it. There is none of a thing that is joined to the ground, or to too many.
    pub(super) fn mechanism(&self, main: ObjectId) -> Option<Vec<ObjectId>> {
        let (mut all, mut seen) = (vec![main], 0);
        while let Some(id) = all.get(seen).copied() {
            seen += 1;
            for joint in self.bodies.joints_of(id) {
                let JointSpec { a, b, .. } = *joint.spec();
                if self.is_avatar(b) {
                    continue;
                }
                let other = if b == id { a? } else { b };
                if !all.contains(&other) {
                    all.push(other);
                }
                if all.len() > MECHANISM_THINGS_MAX {
                    return None;
                }
            }
        }
        all[1..].sort_unstable();
        Some(all)
    }

    /// Checks that this sim lets a thing leave, with all that is joined to it.
    ///
    /// # Errors
    /// The reason for which it stays.
    pub(super) fn lets_go(&self, id: ObjectId) -> Result<(), HandRefusal> {
        self.is_movable_as_one(id, |id| self.lets_go_alone(id))
    }

    /// Checks that a thing can leave with all that is joined to it, each of which `may_go` as far as it alone goes.
    ///
    /// # Errors
    /// The reason for which it stays.
    pub(super) fn is_movable_as_one(
        &self,
        id: ObjectId,
        may_go: impl Fn(ObjectId) -> Result<(), HandRefusal>,
    ) -> Result<(), HandRefusal> {
        may_go(id)?;
        let all = self.mechanism(id).ok_or(HandRefusal::HeldFast)?;
        all[1..].iter().try_for_each(|other| may_go(*other))?;
        // Whoever sits on a companion rides something else than who sits on the thing itself.
        let is_ridden = all[1..].iter().any(|other| self.sitter(*other).is_some());
        let place = |id: &ObjectId| self.bodies.body(*id).map(Body::position);
        let main = place(&id).ok_or(HandRefusal::HeldFast)?;
        let is_far = |at: Vec2| at.distance(main) > Fx::from_int(MECHANISM_REACH_METRES);
        let is_long = all.iter().filter_map(place).any(is_far);
        let joints = self.joints_among(&all).count();
        let fits = !is_ridden && !is_long && joints <= MECHANISM_JOINTS_MAX;
        if fits { Ok(()) } else { Err(HandRefusal::HeldFast) }
    }

    /// Returns the main thing of the mechanism that a thing is part of: what somebody sits on, or else the heaviest,
    /// of several the one with the least number.
    pub(super) fn main_of(&self, id: ObjectId) -> Option<ObjectId> {
        if !self.bodies.is_joined(id) {
            return Some(id);
        }
        let all = self.mechanism(id)?;
        let weight = |id: &ObjectId| {
            let mass = self.bodies.body(*id).map_or(Fx::ZERO, Body::mass);
            (self.sitter(*id).is_some(), mass, core::cmp::Reverse(*id))
        };
        all.into_iter().max_by_key(weight)
    }

    /// Returns the joints of these things, each once, in the order of their numbers.
    fn joints_among<'a>(&'a self, all: &'a [ObjectId]) -> impl Iterator<Item = &'a Joint> {
        let of =
            |id: &'a ObjectId| self.bodies.joints_of(*id).filter(|joint| joint.spec().b == *id);
        all.iter().flat_map(of).filter(|joint| joint.spec().a.is_some())
    }

    /// Returns a thing with all that is joined to it, each as it is once nobody holds it. There is none if one of
    /// them breaks a rule of things, or holds fast.
    pub(super) fn packed_mechanism(&self, id: ObjectId, waited: u64) -> Option<PackedMechanism> {
        let ids = self.mechanism(id)?;
        let number = |id: ObjectId| {
            let at = ids.iter().position(|other| *other == id)?;
            u8::try_from(at).ok()
        };
        let joint = |joint: &Joint| {
            let spec = *joint.spec();
            let (a, b) = (number(spec.a?)?, number(spec.b)?);
            Some(TravellingJoint { a, b, spec: wire::encode(&spec) })
        };
        let joints = self.joints_among(&ids).map(joint).collect::<Option<_>>()?;
        let things: Option<Vec<TravellingThing>> =
            ids.iter().map(|id| self.packed(*id, waited)).collect();
        let mut things = things?.into_iter();
        let main = things.next()?;
        Some(PackedMechanism {
            ids,
            main,
            companions: Companions { things: things.collect(), joints },
        })
    }

    /// Returns the definitions of joints on the way, between the things that have these numbers here.
    pub(super) fn joints_of_parcel(
        joints: &[TravellingJoint],
        ids: &[ObjectId],
    ) -> Option<Vec<JointSpec>> {
        let joint = |joint: &TravellingJoint| {
            let spec: JointSpec = wire::decode(&joint.spec, joint.spec.len()).ok()?;
            let (a, b) = (ids.get(usize::from(joint.a))?, ids.get(usize::from(joint.b))?);
            (a != b).then_some(JointSpec { a: Some(*a), b: *b, ..spec })
        };
        joints.iter().map(joint).collect()
    }

    /// Returns the shortest way by which all of these places are on the sim's own ground. What is larger than the
    /// ground goes as far as it can.
    pub(super) fn way_inside(&self, places: impl Iterator<Item = Vec2> + Clone) -> Vec2 {
        let ground = self.charter.parameters.ground;
        let ways = places.map(|place| ground.nearest(place).saturating_sub(place));
        let most = |way: fn(Vec2) -> Fx| {
            let (least, most) = (ways.clone().map(way).min(), ways.clone().map(way).max());
            let (least, most) = (least.unwrap_or_default(), most.unwrap_or_default());
            if most > Fx::ZERO { most } else { least }
        };
        Vec2::new(most(|way| way.x), most(|way| way.y))
    }
}
