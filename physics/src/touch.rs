//! What a step tells the world.

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
        /// Where, in metres from the region's origin.
        point: Vec2,
        /// How hard, in newton seconds along the normal over the whole step; zero for a sensor.
        impulse: Fx,
    },
    /// The two touched in the step before, and no longer do, or one of them is gone.
    Ended {
        /// The lower id.
        a: ObjectId,
        /// The higher id.
        b: ObjectId,
    },
}

impl Touch {
    /// The two bodies, the lower id first.
    #[must_use]
    pub const fn pair(&self) -> (ObjectId, ObjectId) {
        match *self {
            Self::Began { a, b, .. } | Self::Ended { a, b } => (a, b),
        }
    }
}
