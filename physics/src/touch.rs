//! Touch events: what a step reports of its contacts.

use metatopia_math::{Fx, Vec2};
use metatopia_types::ObjectId;

/// A beginning or end of contact. `a` is the lower id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
