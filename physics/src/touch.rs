//! What a step reports: touches, hard hits, and the ends of joints.

use metatopia_math::{Fx, Vec2};
use metatopia_types::ObjectId;
use serde::{Deserialize, Serialize};

use crate::joint::JointEnded;

/// A beginning or end of contact. `a` is the lower id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Touch {
    /// The two did not touch in the step before, and do now.
    Began {
        /// The lower id.
        a: ObjectId,
        /// The higher id.
        b: ObjectId,
        /// The position of the contact, in metres from the region's origin.
        point: Vec2,
        /// The impulse along the normal over the whole step, in newton seconds; zero for a sensor.
        impulse: Fx,
    },
    /// The two touched in the step before, and no longer do, or one of them was removed.
    Ended {
        /// The lower id.
        a: ObjectId,
        /// The higher id.
        b: ObjectId,
    },
}

impl Touch {
    /// Returns the two bodies, the lower id first.
    #[must_use]
    pub const fn pair(&self) -> (ObjectId, ObjectId) {
        match *self {
            Self::Began { a, b, .. } | Self::Ended { a, b } => (a, b),
        }
    }
}

/// A hard hit: two bodies met faster than a threshold. Unlike [`Touch::Began`] it also tells when bodies
/// that touch already hit each other, as a crate that tips over onto its next corner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    /// The lower id.
    pub a: ObjectId,
    /// The higher id.
    pub b: ObjectId,
    /// The position where they meet, in metres from the region's origin.
    pub point: Vec2,
    /// The speed at which they approached each other there when the step began, in metres a second.
    pub speed: Fx,
    /// The impulse along the normal over the whole step, in newton seconds.
    pub impulse: Fx,
}

/// All that a step reports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepEvents {
    /// The beginnings of touches, then the ends, each in id order.
    pub touches: Vec<Touch>,
    /// The hard hits, in id order; none unless the region [asks for them](crate::Region::with_hits).
    pub hits: Vec<Hit>,
    /// The ends of joints, in id order.
    pub joints: Vec<JointEnded>,
}
