//! Joints that scripts make, drive and take off.

use metatopia_math::Fx;
use metatopia_physics::{JointError, JointId, JointKind, JointSpec, MissingBody, Motor};
use metatopia_scripting::ThingJoint;
use metatopia_types::ObjectId;

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
        self.check_owner(own, other)?;
        let joints = self.bodies.joints();
        if joints.len() >= SIM_JOINTS_MAX {
            return Err(JoiningError::Full);
        }
        let holds = |spec: &JointSpec, id| spec.b == id || spec.a == Some(id);
        let held = |id| joints.iter().filter(|joint| holds(joint.spec(), id)).count();
        if let Some(id) = [own, other].into_iter().find(|id| held(*id) >= OBJECT_JOINTS_MAX) {
            return Err(JoiningError::Held(id));
        }
        let owner = |id| self.objects.get(&id).and_then(|object| object.owner);
        let share = owner(own)
            .map(|own| joints.iter().filter(|joint| owner(joint.spec().b) == Some(own)).count());
        if share.is_some_and(|count| count >= OWNER_JOINTS_MAX) {
            return Err(JoiningError::Share);
        }
        let next = joints.last().map_or(1, |joint| joint.id().0.saturating_add(1));
        let spec = match by {
            ThingJoint::Pin(at) => {
                let kind = JointKind::Revolute { limits: None, motor: None };
                self.bodies.joint_at(own, other, at, kind)?
            }
            ThingJoint::Weld(at) => {
                self.bodies.joint_at(own, other, at, JointKind::Weld { spring: None })?
            }
            ThingJoint::Rope(max) => {
                let kind = JointKind::Distance { min: Fx::ZERO, max, spring: None };
                JointSpec { collide: true, ..JointSpec::new(Some(own), other, kind) }
            }
        };
        Ok(self.bodies.join(JointId(next), &spec)?)
    }

    /// Takes off all joints between two things of one owner.
    pub(crate) fn unjoin_things(&mut self, own: ObjectId, other: ObjectId) {
        for id in self.joints_between(own, other) {
            self.bodies.unjoin(id);
        }
    }

    /// Gives the hinges between two things of one owner a motor, by which the other one turns as the own one
    /// sees it. One without strength is none.
    pub(crate) fn drive_things(&mut self, own: ObjectId, other: ObjectId, motor: Motor) {
        for id in self.joints_between(own, other) {
            let is_first = self.bodies.joint(id).is_some_and(|joint| joint.spec().a == Some(own));
            let speed = if is_first { motor.speed } else { motor.speed.saturating_neg() };
            let motor = (motor.strength > Fx::ZERO).then_some(Motor { speed, ..motor });
            self.bodies.drive_hinge(id, motor);
        }
    }

    /// Returns the joints between two things of one owner.
    fn joints_between(&self, own: ObjectId, other: ObjectId) -> Vec<JointId> {
        if self.check_owner(own, other).is_err() {
            return Vec::new();
        }
        let between = |spec: &JointSpec| {
            (spec.a, spec.b) == (Some(own), other) || (spec.a, spec.b) == (Some(other), own)
        };
        let joints = self.bodies.joints().iter().filter(|joint| between(joint.spec()));
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
