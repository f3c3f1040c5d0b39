//! A contact: what two touching bodies carry over from one step to the next.

use metatopia_types::ObjectId;
use serde::{Deserialize, Serialize};

use crate::fixed::Q20;

/// Two bodies that touch, with the impulses that the next step warm-starts from.
///
/// Contacts are part of the state: without the impulses a restored heap would settle differently.
/// The encoding has at most [`CONTACT_BYTES_MAX`](crate::limits::CONTACT_BYTES_MAX) bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contact {
    pub(crate) a: ObjectId,
    pub(crate) b: ObjectId,
    pub(crate) points: [Option<ContactPoint>; 2],
}

/// One point of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ContactPoint {
    /// Identifies the corner and the shape that the point belongs to.
    pub(crate) feature: u8,
    /// The impulse along the normal, measured by the change of relative speed that it makes.
    pub(crate) normal_impulse: Q20,
    /// The impulse of friction along the surface, in the same measure.
    pub(crate) tangent_impulse: Q20,
}

impl Contact {
    /// Returns the two bodies, the lower id first. Contacts are ordered by this pair.
    #[must_use]
    pub const fn pair(&self) -> (ObjectId, ObjectId) {
        (self.a, self.b)
    }

    /// Returns whether `id` is one of the two bodies.
    pub(crate) fn involves(&self, id: ObjectId) -> bool {
        self.a == id || self.b == id
    }
}
