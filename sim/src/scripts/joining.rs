//! Joints that scripts make, drive and take off, and the rules for all joints of things.

use metatopia_math::Fx;
use metatopia_physics::{
    Body, JointError, JointId, JointKind, JointSpec, MissingBody, Motor, Spring,
    limits::JOINT_LENGTH_MAX,
};
use metatopia_scripting::ThingJoint;
use metatopia_types::{ObjectId, PublicKey};

use crate::{
    limits::{OBJECT_JOINTS_MAX, OWNER_JOINTS_MAX, SIM_JOINTS_MAX},
    state::State,
};

/// Why two things are not joined.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum JoiningError {
    /// One of them is a person, or they have different owners.
    #[error("only things of the same owner are joined")]
    Owner,
    /// There are as many joints as a sim has.
    #[error("the sim has {SIM_JOINTS_MAX} joints already")]
    Full,
    /// The things of their owner have as many joints as one owner's may.
    #[error("the things of this owner have {OWNER_JOINTS_MAX} joints already")]
    Share,
    /// One of them is held by as many joints as one thing may be.
    #[error("object {0} is held by {OBJECT_JOINTS_MAX} joints already")]
    Held(ObjectId),
    /// Somebody has one of them in hand.
    #[error("somebody has object {0} in hand")]
    InHand(ObjectId),
    /// Physics refuses the joint.
    #[error(transparent)]
    Physics(#[from] JointError),
    /// One of them is gone.
    #[error(transparent)]
    Gone(#[from] MissingBody),
}

impl State {
    /// Joins two things of one owner as they stand.
    ///
    /// # Errors
    /// The rule by which they may not be joined; nothing changed then.
    pub(crate) fn join_things(
        &mut self,
        own: ObjectId,
        other: ObjectId,
        by: ThingJoint,
    ) -> Result<(), JoiningError> {
        let place = |id: ObjectId| self.bodies.body(id).map(Body::position).ok_or(MissingBody(id));
        // What is between both centres keeps them apart, so they may meet.
        let between = |kind| JointSpec { collide: true, ..JointSpec::new(Some(own), other, kind) };
        let spec = match by {
            ThingJoint::Pin(at) => {
                let kind = JointKind::Revolute { limits: None, motor: None };
                self.bodies.joint_at(Some(own), other, at, kind)?
            }
            ThingJoint::Weld(at) => {
                self.bodies.joint_at(Some(own), other, at, JointKind::Weld { spring: None })?
            }
            ThingJoint::Rope(max) => {
                between(JointKind::Distance { min: Fx::ZERO, max, spring: None })
            }
            ThingJoint::Rod => {
                let length = place(own)?.distance(place(other)?);
                between(JointKind::Distance { min: length, max: length, spring: None })
            }
            ThingJoint::Spring { frequency, damping } => {
                let rest = place(own)?.distance(place(other)?);
                let spring = Some((rest, Spring { frequency, damping }));
                between(JointKind::Distance { min: Fx::ZERO, max: JOINT_LENGTH_MAX, spring })
            }
            ThingJoint::Slider { along, limits } => {
                let facing = self.bodies.body(own).ok_or(MissingBody(own))?.angle();
                let axis = along.wrapping_sub(facing).direction();
                let kind = JointKind::Prismatic { axis, limits, motor: None };
                self.bodies.joint_at(Some(own), other, place(other)?, kind)?
            }
        };
        self.check_joint(&spec)?;
        self.add_joint(&spec)?;
        Ok(())
    }

    /// Checks that a joint may be added: it holds things of one owner, and nothing that has as many joints
    /// as it may.
    pub(crate) fn check_joint(&self, spec: &JointSpec) -> Result<(), JoiningError> {
        match spec.a {
            Some(first) => self.check_owner(first, spec.b)?,
            None => self.check_owner(spec.b, spec.b)?,
        }
        let ends = || [spec.a, Some(spec.b)].into_iter().flatten();
        if let Some(id) = ends().find(|id| self.is_held(*id)) {
            return Err(JoiningError::InHand(id));
        }
        if self.bodies.joints().len() >= SIM_JOINTS_MAX {
            return Err(JoiningError::Full);
        }
        let held = |id| self.bodies.joints_of(id).count();
        if let Some(id) = ends().find(|id| held(*id) >= OBJECT_JOINTS_MAX) {
            return Err(JoiningError::Held(id));
        }
        let owner = self.objects.get(&spec.b).and_then(|object| object.owner);
        if owner.is_some_and(|owner| self.joints_of_owner(&owner) >= OWNER_JOINTS_MAX) {
            return Err(JoiningError::Share);
        }
        Ok(self.bodies.check_joint(spec)?)
    }

    /// Returns how many joints the things of an owner have. It looks at these things only, as a sim may have
    /// a thousand other joints.
    fn joints_of_owner(&self, owner: &PublicKey) -> usize {
        let second = |id: &ObjectId| {
            self.bodies.joints_of(*id).filter(|joint| joint.spec().b == *id).count()
        };
        self.owned.get(owner).into_iter().flatten().map(second).sum()
    }

    /// Adds a joint under the next id, which it returns.
    pub(crate) fn add_joint(&mut self, spec: &JointSpec) -> Result<JointId, JointError> {
        let last = self.bodies.joints().last();
        let next = JointId(last.map_or(1, |joint| joint.id().0.saturating_add(1)));
        self.bodies.join(next, spec)?;
        Ok(next)
    }

    /// Takes off all joints between two things of one owner.
    pub(crate) fn unjoin_things(&mut self, own: ObjectId, other: ObjectId) {
        for id in self.joints_between(own, other) {
            self.bodies.unjoin(id);
        }
    }

    /// Gives the hinges and sliders between two things of one owner a motor, by which the other one moves as the own
    /// one sees it. One without strength is none.
    pub(crate) fn drive_things(&mut self, own: ObjectId, other: ObjectId, motor: Motor) {
        for id in self.joints_between(own, other) {
            let is_first = self.bodies.joint(id).is_some_and(|joint| joint.spec().a == Some(own));
            let speed = if is_first { motor.speed } else { motor.speed.saturating_neg() };
            let motor = (motor.strength > Fx::ZERO).then_some(Motor { speed, ..motor });
            self.bodies.drive(id, motor);
        }
    }

    /// Has all joints between two things of one owner break above a force in newtons. If it is 0, none of them breaks.
    pub(crate) fn break_joints_at(&mut self, own: ObjectId, other: ObjectId, force: Fx) {
        let force = (force > Fx::ZERO).then_some(force);
        for id in self.joints_between(own, other) {
            self.bodies.set_break_force(id, force);
        }
    }

    /// Returns the joints between two things of one owner.
    fn joints_between(&self, own: ObjectId, other: ObjectId) -> Vec<JointId> {
        if self.check_owner(own, other).is_err() {
            return Vec::new();
        }
        let between = |spec: &JointSpec| spec.a == Some(other) || spec.b == other;
        let joints = self.bodies.joints_of(own).filter(|joint| between(joint.spec()));
        joints.map(|joint| joint.id()).collect()
    }

    /// Checks that both are things of one owner.
    fn check_owner(&self, own: ObjectId, other: ObjectId) -> Result<(), JoiningError> {
        let find = |id| self.objects.get(&id).ok_or(JoiningError::Gone(MissingBody(id)));
        let (own, other) = (find(own)?, find(other)?);
        let are_things = own.player.is_none() && other.player.is_none();
        if are_things && own.owner == other.owner { Ok(()) } else { Err(JoiningError::Owner) }
    }
}
