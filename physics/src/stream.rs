//! Commands and questions to a region as values, which can be written down, sent and played again.

use metatopia_math::{Fx, Vec2};
use metatopia_types::ObjectId;
use serde::{Deserialize, Serialize};

use crate::body::Body;
use crate::filter::Filter;
use crate::joint::{Joint, JointId, JointKind, JointSpec, Motor};
use crate::motion::Motion;
use crate::query::NearbyBody;
use crate::ray::RayHit;
use crate::region::{Aspect, Region};
use crate::shape::Shape;
use crate::shape_cast::ShapeCast;
use crate::spec::{BodySpec, Pose};
use crate::touch::StepEvents;

/// A command or a question to a region. Each stands for the method of [`Region`] that it is named after.
///
/// The encoding may come from anywhere: [`Region::apply`] refuses or clamps what the method does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RegionCommand {
    /// Adds a body, which may be a [sensor](BodySpec::sensor).
    Insert(ObjectId, Box<BodySpec>),
    /// Removes a body, and its joints in the next step.
    Remove(ObjectId),
    /// Inserts a body that was removed, as it was.
    PutBack(Box<Body>),
    /// Moves a body to a pose.
    SetPose(ObjectId, Pose),
    /// Moves a body to a position.
    SetPosition(ObjectId, Vec2),
    /// Sets a velocity in metres a second.
    SetVelocity(ObjectId, Vec2),
    /// Sets a spin in radians a second.
    SetSpin(ObjectId, Fx),
    /// Applies an impulse in newton seconds.
    ApplyImpulse(ObjectId, Vec2),
    /// Changes the kind of motion of a body.
    SetMotion(ObjectId, Motion),
    /// Gives a body another shape, and a mass in kilograms.
    SetShape(ObjectId, Box<Shape>, Fx),
    /// Gives a body another filter.
    SetFilter(ObjectId, Filter),
    /// Reverts one aspect of a body to an older state.
    Revert(Box<Body>, Aspect),
    /// Adds a joint.
    InsertJoint(JointId, Box<JointSpec>),
    /// Adds a joint of two bodies as they are now, at a point of the region; or of one and the ground.
    JointAt(JointId, Option<ObjectId>, ObjectId, Vec2, JointKind),
    /// Removes a joint.
    RemoveJoint(JointId),
    /// Gives a hinge or a slider another motor, or none.
    SetMotor(JointId, Option<Motor>),
    /// Moves the first anchor of a target.
    MoveTarget(JointId, Vec2),
    /// Makes the tier forget all that it keeps.
    ForgetTierState,
    /// Simulates a 60th of a second.
    Step,
    /// Asks for the bodies near a point: its place, the radius, at most how many, and which.
    Nearby(Vec2, Fx, u32, Filter),
    /// Asks for the bodies that contain a point.
    At(Vec2),
    /// Asks for the bodies that a circle overlaps.
    Overlapping(Vec2, Fx),
    /// Asks for the bodies that a shape overlaps.
    OverlappingShape(Box<Shape>, Pose, Filter),
    /// Asks which body the way between two points meets first, apart from one.
    RayCast(Vec2, Vec2, ObjectId, Filter),
    /// Asks which body a shape meets first that is moved along a way.
    ShapeCast(Box<ShapeCast>),
    /// Makes a body a sensor, or solid again.
    SetSensor(ObjectId, bool),
    /// Sets the force in newtons above which a joint breaks; none for one that does not.
    SetBreakForce(JointId, Option<Fx>),
}

/// What a region says to a [`RegionCommand`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RegionReply {
    /// The command was carried out.
    Done,
    /// Nothing has changed, for this reason.
    Refused(String),
    /// The body that was removed.
    Removed(Box<Body>),
    /// The joint that was removed.
    RemovedJoint(Box<Joint>),
    /// What the step reports, and the bodies that the tier froze in it.
    Stepped(StepEvents, Vec<ObjectId>),
    /// The bodies near a point, and how many the query looked at.
    Near(Vec<NearbyBody>, u32),
    /// The bodies that were asked for, in id order.
    Bodies(Vec<ObjectId>),
    /// What was met first, and how many bodies the query looked at.
    Met(Option<RayHit>, u32),
}

impl Region {
    /// Carries out a command, or answers a question.
    pub fn apply(&mut self, command: &RegionCommand) -> RegionReply {
        use RegionCommand as Command;
        match command {
            Command::Insert(id, spec) => done(self.insert(*id, spec)),
            Command::Remove(id) => told(self.remove(*id).map(Box::new), RegionReply::Removed),
            Command::PutBack(body) => done(self.put_back(body)),
            Command::SetPose(id, pose) => done(self.set_pose(*id, *pose)),
            Command::SetPosition(id, position) => done(self.set_position(*id, *position)),
            Command::SetVelocity(id, velocity) => done(self.set_velocity(*id, *velocity)),
            Command::SetSpin(id, spin) => done(self.set_spin(*id, *spin)),
            Command::ApplyImpulse(id, impulse) => done(self.apply_impulse(*id, *impulse)),
            Command::SetMotion(id, motion) => done(self.set_motion(*id, *motion)),
            Command::SetShape(id, shape, mass) => {
                done(self.set_shape(*id, (**shape).clone(), *mass))
            }
            Command::SetFilter(id, filter) => done(self.set_filter(*id, *filter)),
            Command::Revert(before, aspect) => done(self.revert(before, *aspect)),
            Command::InsertJoint(id, spec) => done(self.insert_joint(*id, spec)),
            Command::JointAt(id, a, b, point, kind) => match self.joint_at(*a, *b, *point, *kind) {
                Ok(spec) => done(self.insert_joint(*id, &spec)),
                Err(missing) => RegionReply::Refused(missing.to_string()),
            },
            Command::RemoveJoint(id) => {
                told(self.remove_joint(*id).map(Box::new), RegionReply::RemovedJoint)
            }
            Command::SetMotor(id, motor) => done(self.set_motor(*id, *motor)),
            Command::SetBreakForce(id, force) => done(self.set_break_force(*id, *force)),
            Command::SetSensor(id, sensor) => done(self.set_sensor(*id, *sensor)),
            Command::MoveTarget(id, to) => done(self.move_target(*id, *to)),
            Command::ForgetTierState => {
                self.forget_tier_state();
                RegionReply::Done
            }
            Command::Step => {
                let events = self.step_events();
                RegionReply::Stepped(events, self.frozen().to_vec())
            }
            question => self.answer(question),
        }
    }

    /// Answers a question. A command is none, and done nothing about.
    fn answer(&self, question: &RegionCommand) -> RegionReply {
        use RegionCommand as Command;
        match question {
            Command::Nearby(center, radius, max, filter) => {
                let max = usize::try_from(*max).unwrap_or(usize::MAX);
                let (found, looked_at) = self.nearby_filtered(*center, *radius, max, *filter);
                RegionReply::Near(found, count(looked_at))
            }
            Command::At(point) => RegionReply::Bodies(self.at(*point)),
            Command::Overlapping(center, radius) => {
                RegionReply::Bodies(self.overlapping(*center, *radius))
            }
            Command::OverlappingShape(shape, pose, filter) => {
                told(self.overlapping_shape(shape, *pose, *filter), RegionReply::Bodies)
            }
            Command::RayCast(from, to, skip, filter) => {
                let (hit, looked_at) = self.ray_cast_filtered(*from, *to, *skip, *filter);
                RegionReply::Met(hit, count(looked_at))
            }
            Command::ShapeCast(cast) => told(self.shape_cast(cast), |(hit, looked_at)| {
                RegionReply::Met(hit, count(looked_at))
            }),
            _ => RegionReply::Done,
        }
    }
}

/// Returns the reply to a command that has no result but that it was carried out.
fn done<E: core::fmt::Display>(result: Result<(), E>) -> RegionReply {
    told(result, |()| RegionReply::Done)
}

/// Returns the reply to a command that has a result.
fn told<T, E: core::fmt::Display>(
    result: Result<T, E>,
    reply: impl FnOnce(T) -> RegionReply,
) -> RegionReply {
    match result {
        Ok(value) => reply(value),
        Err(error) => RegionReply::Refused(error.to_string()),
    }
}

/// Returns a number of bodies, of which a region has fewer than 2^32.
fn count(bodies: usize) -> u32 {
    u32::try_from(bodies).unwrap_or(u32::MAX)
}
