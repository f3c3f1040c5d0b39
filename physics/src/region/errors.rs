//! The errors of a region's commands.

use metatopia_types::ObjectId;

use crate::motion::Motion;
use crate::shape::ShapeError;

/// A reason why a body cannot be inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InsertError {
    /// There is a body of this id.
    #[error("object {0} has a body already")]
    Occupied(ObjectId),
    /// The region is full.
    #[error("the region holds {0} bodies already, and no more fit")]
    Full(usize),
    /// The shape is none that a body can have.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// The body that was to be put back is none: this field is out of range.
    #[error("the {0} is out of range")]
    Field(&'static str),
}

/// There is no body of this id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("object {0} has no body")]
pub struct MissingBody(pub ObjectId);

/// The position of this body is outside of the bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("object {0} is outside of the bounds")]
pub struct OutOfBounds(pub ObjectId);

/// A reason why a body cannot be given a velocity or spin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VelocityError {
    /// There is no body of this id.
    #[error(transparent)]
    Missing(#[from] MissingBody),
    /// A static body has no velocity.
    #[error("object {0} is static")]
    Static(ObjectId),
}

/// A reason why an impulse cannot be applied to a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImpulseError {
    /// There is no body of this id.
    #[error(transparent)]
    Missing(#[from] MissingBody),
    /// Impulses move only dynamic bodies.
    #[error("object {id} is {motion}, not dynamic")]
    NotDynamic {
        /// The id of the body.
        id: ObjectId,
        /// The body's kind of motion.
        motion: Motion,
    },
}

/// A reason why a body cannot change its kind of motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MotionError {
    /// There is no body of this id.
    #[error(transparent)]
    Missing(#[from] MissingBody),
    /// The shape is none for that kind of motion.
    #[error(transparent)]
    Shape(#[from] ShapeError),
}

/// A reason why a body cannot get another shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReshapeError {
    /// There is no body of this id.
    #[error(transparent)]
    Missing(#[from] MissingBody),
    /// The shape is none that a body can have.
    #[error(transparent)]
    Shape(#[from] ShapeError),
}

/// A reason why a body cannot return to an older state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RevertError {
    /// There is no body of this id.
    #[error(transparent)]
    Missing(#[from] MissingBody),
    /// The older state is no body: this field is out of range.
    #[error("the {0} is out of range")]
    Field(&'static str),
}
