//! A contact: what two touching bodies carry over from one step to the next.

use metatopia_types::ObjectId;
use serde::{Deserialize, Serialize};

use crate::fixed::Q20;

/// Two bodies that touch, with the impulses that the next step warm-starts from.
///
/// Contacts are part of the state: without the impulses a restored heap would settle differently.
/// The encoding has at most [`CONTACT_BYTES_MAX`](crate::limits::CONTACT_BYTES_MAX) bytes, or
/// [`COMPOUND_CONTACT_BYTES_MAX`](crate::limits::COMPOUND_CONTACT_BYTES_MAX) if one of the two is a compound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contact {
    pub(crate) a: ObjectId,
    pub(crate) b: ObjectId,
    pub(crate) points: ContactPoints,
}

/// The points of one manifold.
pub(crate) type PointPair = [Option<ContactPoint>; 2];

/// The points of a contact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "PointsForm", into = "PointsForm")]
pub(crate) enum ContactPoints {
    /// The points of two bodies of one shape each. Two bodies that touch without pushing each other have none.
    Whole(PointPair),
    /// The points of a compound and another body, by pairs of parts in the order of their numbers.
    OfParts(Box<[PartContact]>),
}

/// The points of a pair of parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PartContact {
    /// The index of the first body's part times eight, and the index of the second one's.
    pub(crate) parts: u8,
    pub(crate) points: PointPair,
}

/// The encoding of the points: two options, or what no option begins with and the pairs of parts.
#[derive(Serialize, Deserialize)]
enum PointsForm {
    None(Option<ContactPoint>),
    Some(ContactPoint, Option<ContactPoint>),
    OfParts(Box<[PartContact]>),
}

impl From<ContactPoints> for PointsForm {
    fn from(points: ContactPoints) -> Self {
        match points {
            ContactPoints::Whole([None, second]) => Self::None(second),
            ContactPoints::Whole([Some(first), second]) => Self::Some(first, second),
            ContactPoints::OfParts(parts) => Self::OfParts(parts),
        }
    }
}

impl From<PointsForm> for ContactPoints {
    fn from(form: PointsForm) -> Self {
        match form {
            PointsForm::None(second) => Self::Whole([None, second]),
            PointsForm::Some(first, second) => Self::Whole([Some(first), second]),
            PointsForm::OfParts(parts) => Self::OfParts(parts),
        }
    }
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

impl ContactPoint {
    /// Returns whether the next step finds nothing in the point.
    pub(crate) fn is_idle(&self) -> bool {
        self.normal_impulse.is_zero() && self.tangent_impulse.is_zero()
    }
}

impl ContactPoints {
    pub(crate) const NONE: Self = Self::Whole([None; 2]);
}

impl Contact {
    /// Returns the contact of two bodies that touch without points.
    pub(crate) const fn bare(a: ObjectId, b: ObjectId) -> Self {
        Self { a, b, points: ContactPoints::NONE }
    }

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

// Thousands are copied and compared in a step: a contact of a compound keeps what is more elsewhere.
const _: () = assert!(size_of::<Contact>() == 48);
