//! A joint: what holds two bodies together, or a body to the ground.

use core::fmt;

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_types::ObjectId;
use serde::{Deserialize, Serialize};

use crate::fixed::Q20;

mod check;
mod plan;

pub use check::JointError;
pub(crate) use plan::{JointPlan, PlanKind, SpringPlan};

/// The impulses that a joint keeps for the next step, by the rows of its constraint.
pub(crate) const IMPULSES: usize = 6;

/// The id of a joint, which the caller chooses. Joints are solved in the order of their ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JointId(pub u64);

impl fmt::Display for JointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A drive that keeps a hinge turning, or a slider moving.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Motor {
    /// The speed of the second body as the first one sees it: radians a second for a hinge, metres a
    /// second for a slider. It is clamped to [`SPEED_MAX`](crate::limits::SPEED_MAX), either sign.
    pub speed: Fx,
    /// The greatest torque in newton metres, or force in newtons, from 0 to
    /// [`JOINT_FORCE_MAX`](crate::limits::JOINT_FORCE_MAX), to which it is clamped.
    pub strength: Fx,
}

/// A damped spring, by how the two bodies of a joint swing on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spring {
    /// The frequency in hertz, clamped to 0 to
    /// [`SPRING_FREQUENCY_MAX`](crate::limits::SPRING_FREQUENCY_MAX).
    pub frequency: Fx,
    /// The damping ratio, clamped to 0 to
    /// [`SPRING_DAMPING_MAX`](crate::limits::SPRING_DAMPING_MAX): 0 swings forever, 1 not at all.
    pub damping: Fx,
}

/// What a joint leaves its bodies free to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum JointKind {
    /// A hinge: both anchors stay at one point, around which the bodies turn.
    Revolute {
        /// The least and the greatest angle in radians, within
        /// [`JOINT_ANGLE_MAX`](crate::limits::JOINT_ANGLE_MAX), either sign. Others, and a least one above the
        /// greatest, are refused.
        limits: Option<[Fx; 2]>,
        /// What turns the hinge.
        motor: Option<Motor>,
    },
    /// A rod, a rope or a spring between the two anchors.
    Distance {
        /// The least distance in metres, from 0. One below is refused.
        min: Fx,
        /// The greatest distance in metres: at least the least one, which makes a rod, and up to
        /// [`JOINT_LENGTH_MAX`](crate::limits::JOINT_LENGTH_MAX). Others are refused.
        max: Fx,
        /// A length in metres from 0 to [`JOINT_LENGTH_MAX`](crate::limits::JOINT_LENGTH_MAX), others are
        /// refused, and the spring that pulls to it.
        spring: Option<(Fx, Spring)>,
    },
    /// Both anchors stay at one point, and the bodies do not turn against each other.
    Weld {
        /// How the bodies give way when they are bent; they do not, without it.
        spring: Option<Spring>,
    },
    /// A slider: the second anchor moves along a line through the first one, and the bodies do not turn
    /// against each other.
    Prismatic {
        /// The direction of the line in the first body's own frame; only its direction counts. It is
        /// refused if it is shorter than a 64th, or longer than 1,024.
        axis: Vec2,
        /// The least and the greatest way in metres, within
        /// [`JOINT_LENGTH_MAX`](crate::limits::JOINT_LENGTH_MAX), either sign. Others, and a least one above the
        /// greatest, are refused.
        limits: Option<[Fx; 2]>,
        /// What moves the slider.
        motor: Option<Motor>,
    },
    /// A pull of the second anchor to the first one, as of somebody who drags a body.
    Target {
        /// The spring of the pull.
        spring: Spring,
        /// The greatest force in newtons, from 0 to
        /// [`JOINT_FORCE_MAX`](crate::limits::JOINT_FORCE_MAX), to which it is clamped.
        force: Fx,
    },
}

/// The definition of a joint. Start from [`JointSpec::new`] and change fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JointSpec {
    /// The first body; `None` for the ground, which does not move.
    pub a: Option<ObjectId>,
    /// The second body.
    pub b: ObjectId,
    /// Where the joint is in the first body's own frame, in metres from its position, at most
    /// [`JOINT_REACH_MAX`](crate::limits::JOINT_REACH_MAX) away; or on the ground, in metres from the
    /// region's origin, within [`COORDINATE_MAX`](crate::limits::COORDINATE_MAX). One further away is refused.
    /// It is rounded to multiples of 2^-20 m.
    pub anchor_a: Vec2,
    /// Where the joint is in the second body's own frame, likewise.
    pub anchor_b: Vec2,
    /// The angle of the second body as the first one sees it, at which the joint's angle is zero.
    pub angle: Angle,
    /// What the joint leaves free.
    pub kind: JointKind,
    /// Whether the two bodies meet each other in spite of the joint.
    pub collide: bool,
    /// The force in newtons, averaged over a step, above which the joint breaks. It is clamped to 0 to
    /// [`JOINT_FORCE_MAX`](crate::limits::JOINT_FORCE_MAX).
    pub break_force: Option<Fx>,
    /// The torque in newton metres above which the joint breaks, likewise.
    pub break_torque: Option<Fx>,
}

impl JointSpec {
    /// Defines a joint of a kind at the positions of two bodies, which do not meet each other and are held
    /// for good.
    #[must_use]
    pub const fn new(a: Option<ObjectId>, b: ObjectId, kind: JointKind) -> Self {
        Self {
            a,
            b,
            anchor_a: Vec2::ZERO,
            anchor_b: Vec2::ZERO,
            angle: Angle::ZERO,
            kind,
            collide: false,
            break_force: None,
            break_torque: None,
        }
    }
}

/// The complete state of a joint. The encoding has at most
/// [`JOINT_BYTES_MAX`](crate::limits::JOINT_BYTES_MAX) bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Joint {
    pub(crate) id: JointId,
    /// The definition, rounded and clamped.
    pub(crate) spec: JointSpec,
    /// The impulses that the next step warm-starts from.
    pub(crate) impulses: [Q20; IMPULSES],
    /// A body of the joint that was removed. The next step reports the end of the joint.
    pub(crate) lost: Option<ObjectId>,
}

impl Joint {
    /// Returns the id of the joint.
    #[must_use]
    pub const fn id(&self) -> JointId {
        self.id
    }

    /// Returns the definition of the joint, rounded and clamped.
    #[must_use]
    pub const fn spec(&self) -> &JointSpec {
        &self.spec
    }

    /// Returns whether a body of the joint was removed, so that it holds nothing any more.
    #[must_use]
    pub const fn is_lost(&self) -> bool {
        self.lost.is_some()
    }

    /// Returns the bodies that the joint holds.
    pub(crate) fn ends(&self) -> impl Iterator<Item = ObjectId> {
        [self.spec.a, Some(self.spec.b)].into_iter().flatten()
    }

    /// Returns whether `id` is one of the bodies.
    pub(crate) fn involves(&self, id: ObjectId) -> bool {
        self.spec.b == id || self.spec.a == Some(id)
    }
}

/// The end of a joint that nobody asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JointEnded {
    /// The id of the joint, which is free again.
    pub id: JointId,
    /// Why it ended.
    pub reason: JointEnd,
}

/// A reason why a joint ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum JointEnd {
    /// It had to hold more than it can.
    Broke {
        /// The force of the step in newtons.
        force: Fx,
        /// The torque of the step in newton metres.
        torque: Fx,
    },
    /// This body of the joint was removed.
    Removed(ObjectId),
}
