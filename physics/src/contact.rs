//! What two touching bodies remember of each other.

use metatopia_types::ObjectId;
use serde::{Deserialize, Serialize};

use crate::fixed::Q20;

/// Two bodies that touch, with the impulses that the next step starts from. They are part of the
/// state: without them a restored heap would settle differently.
///
/// At most [`CONTACT_BYTES_MAX`](crate::limits::CONTACT_BYTES_MAX) bytes when encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contact {
    pub(crate) a: ObjectId,
    pub(crate) b: ObjectId,
    pub(crate) marks: [Option<Mark>; 2],
}

/// One point of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// Which corner of which shape it is.
    pub(crate) feature: u8,
    /// The impulse along the normal, as the change of relative speed that it makes.
    pub(crate) pressed: Q20,
    /// The impulse of friction, likewise.
    pub(crate) rubbed: Q20,
}

impl Contact {
    /// The two bodies, the lower id first. Contacts are ordered by this.
    #[must_use]
    pub const fn pair(&self) -> (ObjectId, ObjectId) {
        (self.a, self.b)
    }

    pub(crate) fn involves(&self, id: ObjectId) -> bool {
        self.a == id || self.b == id
    }
}
