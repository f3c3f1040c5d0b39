//! Joints that builders make and take off: decides whether, and does it.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{
    Body, Joint, JointError, JointId, JointKind, JointSpec, MissingBody, Motion, Motor, Spring,
    limits::JOINT_LENGTH_MAX,
};
use metatopia_types::{Build, BuiltJoint, ObjectId, Refusal};

use super::{building::ObjectEdit, context::ActContext};
use crate::{
    limits::BUILD_BYTES_MAX,
    rules::{ActTarget, Right},
    scripts::JoiningError,
    space::{Area, Footprint},
    state::State,
};

impl From<JoiningError> for Refusal {
    fn from(error: JoiningError) -> Self {
        match error {
            JoiningError::Owner => Self::OwnersDiffer,
            JoiningError::Full | JoiningError::Share | JoiningError::Held(_) => Self::TooManyJoints,
            JoiningError::InHand(_) => Self::Held,
            JoiningError::Gone(_) => Self::NoObject,
            JoiningError::Physics(error) => match error {
                JointError::Itself(_) => Self::JoinedToItself,
                JointError::Body(_) | JointError::Missing(_) => Self::NoObject,
                JointError::Field(_) => Self::OutOfRange,
                JointError::Full | JointError::Occupied(_) => Self::TooManyJoints,
            },
        }
    }
}

impl ActContext<'_> {
    /// Decides a step that joins things or frees one.
    ///
    /// # Panics
    /// Where the step does neither.
    pub(super) fn joining(&self, build: &Build) -> Result<ObjectEdit, Refusal> {
        match build {
            Build::Join { object, to, at, kind } => self.join(*object, *to, *at, *kind),
            Build::Unjoin { object, from } => self.unjoin(*object, *from),
            other => unreachable!("{other:?} joins nothing"),
        }
    }

    /// Decides whether a thing is joined to another one, or to the ground. Who joins two things could move
    /// both.
    fn join(
        &self,
        object: ObjectId,
        to: Option<ObjectId>,
        at: Vec2,
        kind: BuiltJoint,
    ) -> Result<ObjectEdit, Refusal> {
        let (body, _) = self.within_reach(object)?;
        let other = to.map(|to| self.within_reach(to)).transpose()?.map(|(body, _)| body);
        if self.own_place()?.distance(at) > self.rules().reach {
            return Err(Refusal::OutOfReach);
        }
        let ground = other.map_or(Area { low: at, high: at }, |body| Footprint::of(body).area());
        let target = ActTarget { ground: Some(ground), ..ActTarget::SIM };
        self.state.may(&self.author(), Right::Build, &target)?;
        if other.is_none() && !self.state.is_own_ground(at) {
            return Err(Refusal::OutOfRange);
        }
        let spec = self.state.built_joint(body, to, at, kind).map_err(|_| Refusal::NoObject)?;
        self.state.check_joint(&spec)?;
        // A joint of two things that stay in their places would do nothing.
        let moves = |body: &Body| body.motion() == Motion::Dynamic;
        if !moves(body) && !other.is_some_and(moves) {
            return Err(Refusal::Immovable);
        }
        Ok(ObjectEdit::Join(Box::new(spec)))
    }

    /// Decides whether joints are taken off a thing. Whoever may move one of two things frees it, so that
    /// nobody is given a thing that holds on to another one's.
    fn unjoin(&self, object: ObjectId, from: Option<ObjectId>) -> Result<ObjectEdit, Refusal> {
        self.within_reach(object)?;
        let is_joined = !self.state.joints_with(object, from).is_empty();
        if is_joined { Ok(ObjectEdit::Unjoin(from)) } else { Err(Refusal::NotJoined) }
    }

    /// Checks that an undo brings at least one of these joints of a thing back.
    pub(super) fn check_rejoined(&self, id: ObjectId, specs: &[JointSpec]) -> Result<(), Refusal> {
        let mut refusal = Refusal::NotJoined;
        for spec in specs {
            match self.state.check_joint_again(id, spec) {
                Ok(()) => return Ok(()),
                Err(why) => refusal = why,
            }
        }
        Err(refusal)
    }

    /// Checks that the joint that an undo takes off is there.
    pub(super) fn check_joined(
        &self,
        id: ObjectId,
        joint: JointId,
        to: Option<ObjectId>,
    ) -> Result<(), Refusal> {
        // Another joint may have its id by now.
        let is_it = |found: &Joint| (found.id(), found.spec().a) == (joint, to);
        let is_there = self.state.bodies.joints_of(id).any(is_it);
        if is_there { Ok(()) } else { Err(Refusal::NotJoined) }
    }
}

impl State {
    /// Returns the definition of a joint that somebody builds, of a thing as it stands.
    fn built_joint(
        &self,
        body: &Body,
        to: Option<ObjectId>,
        at: Vec2,
        kind: BuiltJoint,
    ) -> Result<JointSpec, MissingBody> {
        let facing = |id: ObjectId| self.bodies.body(id).map_or_else(Default::default, Body::angle);
        let (limits, motor, length) = (None, None, body.position().distance(at));
        let physics = match kind {
            BuiltJoint::Hinge => JointKind::Revolute { limits, motor },
            BuiltJoint::Weld => JointKind::Weld { spring: None },
            BuiltJoint::Slider { along } => {
                let axis = along.wrapping_sub(to.map_or_else(Default::default, facing)).direction();
                JointKind::Prismatic { axis, limits, motor }
            }
            BuiltJoint::Motor { speed, strength } => {
                JointKind::Revolute { limits, motor: Some(Motor { speed, strength }) }
            }
            BuiltJoint::Rod => JointKind::Distance { min: length, max: length, spring: None },
            BuiltJoint::Rope => JointKind::Distance { min: Fx::ZERO, max: length, spring: None },
            BuiltJoint::Spring { frequency, damping } => {
                let spring = Some((length, Spring { frequency, damping }));
                JointKind::Distance { min: Fx::ZERO, max: JOINT_LENGTH_MAX, spring }
            }
        };
        let spec = self.bodies.joint_at(to, body.id(), at, physics)?;
        Ok(match physics {
            // What is between both keeps them apart, so they may meet.
            JointKind::Distance { .. } => JointSpec { anchor_b: Vec2::ZERO, collide: true, ..spec },
            _ => spec,
        })
    }

    /// Returns the joints of a thing, or those with this other one.
    fn joints_with(&self, id: ObjectId, other: Option<ObjectId>) -> Vec<Joint> {
        let is_with = |joint: &&Joint| {
            other.is_none_or(|other| joint.spec().a == Some(other) || joint.spec().b == other)
        };
        let joints = self.bodies.joints_of(id).filter(is_with);
        // Whoever sits there only sits there.
        joints.filter(|joint| !self.is_avatar(joint.spec().b)).copied().collect()
    }

    /// Returns the joints of a thing as an undo brings them back. A full world keeps none: histories would
    /// outgrow it.
    pub(super) fn kept_joints(&self, id: ObjectId, other: Option<ObjectId>) -> Vec<JointSpec> {
        if !self.byte_budget.has(BUILD_BYTES_MAX) {
            return Vec::new();
        }
        self.joints_with(id, other).iter().map(|joint| *joint.spec()).collect()
    }

    /// Takes joints off a thing: all of them, or those with this other one.
    pub(super) fn free_thing(&mut self, id: ObjectId, other: Option<ObjectId>) {
        for joint in self.joints_with(id, other) {
            self.bodies.unjoin(joint.id());
        }
    }

    /// Stops the motors of the hinges and sliders of a thing, for good.
    pub(super) fn stop_motors(&mut self, id: ObjectId) {
        let joints: Vec<JointId> = self.bodies.joints_of(id).map(Joint::id).collect();
        joints.into_iter().for_each(|joint| self.bodies.drive(joint, None));
    }

    /// Brings joints of a thing back, as far as their other ends stand and nothing has too many.
    pub(super) fn rejoin(&mut self, id: ObjectId, specs: &[JointSpec]) {
        for spec in specs {
            if self.check_joint_again(id, spec).is_ok() {
                // It was checked just now.
                let _ = self.add_joint(spec);
            }
        }
    }

    /// Checks that a joint of a thing may come back: its other end is as free as the thing is.
    fn check_joint_again(&self, id: ObjectId, spec: &JointSpec) -> Result<(), Refusal> {
        let mut others = [spec.a, Some(spec.b)].into_iter().flatten().filter(|end| *end != id);
        if others.any(|end| self.people.frozen.contains(&end)) {
            return Err(Refusal::Frozen);
        }
        Ok(self.check_joint(spec)?)
    }
}
