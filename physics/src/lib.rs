//! One region of ground, seen from above: bodies that move, touch and push each other, in integer
//! arithmetic, so that the same commands give the same bits on every machine.
//!
//! A [`Region`] holds [`Body`]s by object id. Commands insert, place and push them;
//! [`Region::step`] simulates a 60th of a second and returns the [`Touch`]es that began and ended;
//! queries ask who is near a point. There is no gravity: damping is the friction of the ground.
//!
//! # What it promises
//!
//! - A step is a pure function of the bodies and the [`Contact`]s, whatever led to them: a region
//!   [restored](Region::restore) from both goes on exactly as the one that they were taken from.
//!   Every other structure is made anew in each step.
//! - The order of commands on different bodies makes no difference.
//! - Whatever a script asks for is rounded and moved into the [`limits`], or refused. Nothing can
//!   make a step panic, overflow or take more than a bounded time, and a heap of bodies in one
//!   place costs nobody else a contact.
//! - What rests costs nothing: slow bodies get a velocity of exactly zero, and a region in which
//!   everything rests does not change by a single bit.
//!
//! # What it cannot do
//!
//! It has circles and rectangles only, no joints, no ray casts and no ghosts of neighbour regions.
//! Bodies faster than [`limits::SPEED_MAX`] do not exist, which is how nothing passes through a
//! wall but what a kinematic body crushes against it. A drift that is slower than
//! [`limits::REST_SPEED`] ends after half a second. A box that slides along a wall made of several
//! rectangles can catch on their seams; a circle does not. Placing a body by [`Region::set_pose`]
//! does not push what is on the way: only a velocity does.
//!
//! # Formats
//!
//! Positions, velocities and spins have 20 fraction bits in 32 (a step of 0.95 micrometres over
//! +-2 km), cosines, sines and the solver's shares of mass have 30. Both widen to `Fx` exactly. The
//! solver measures impulses by the change of relative speed that they make, so that the numbers are
//! of one size whether a marble or a lorry is pushed.
//!
//! # Example
//!
//! A ball rolls against a crate, which it pushes away:
//!
//! ```
//! use metatopia_math::{Fx, Vec2};
//! use metatopia_physics::{BodySpec, Motion, Region, Shape, Touch};
//! use metatopia_types::ObjectId;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (ball, crate_) = (ObjectId(1), ObjectId(2));
//! let round = Shape::Circle { radius: Fx::HALF };
//! let square = Shape::Rect { half: Vec2::new(Fx::HALF, Fx::HALF) };
//! let mut region = Region::new();
//! region.insert(ball, &BodySpec::new(round, Motion::Dynamic, Vec2::ZERO))?;
//! let place = Vec2::new(Fx::from_int(2), Fx::ZERO);
//! region.insert(crate_, &BodySpec::new(square, Motion::Dynamic, place))?;
//! region.impulse(ball, Vec2::new(Fx::from_int(3), Fx::ZERO))?;
//!
//! let mut touches = Vec::new();
//! for _ in 0..60 {
//!     touches.extend(region.step());
//! }
//! assert!(matches!(touches[0], Touch::Began { a, b, .. } if (a, b) == (ball, crate_)));
//! let moved = region.body(crate_).map(|body| body.position());
//! assert!(moved.is_some_and(|position| position.x > place.x));
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod body;
mod broad;
mod cast;
mod contact;
mod fixed;
mod grid;
pub mod limits;
mod matter;
mod motion;
mod movement;
mod narrow;
#[cfg(test)]
mod overflow;
mod pair;
mod query;
mod region;
mod restore;
mod shape;
mod solid;
mod solver;
mod step;
mod touch;

pub use body::{Body, BodySpec, Pose};
pub use contact::Contact;
pub use motion::Motion;
pub use movement::OutOfRange;
pub use query::Near;
pub use region::{
    Aspect, Changes, ImpulseError, InsertError, Missing, MotionError, Region, ReshapeError,
    RevertError, VelocityError,
};
pub use restore::RestoreError;
pub use shape::{Shape, SizeError};
pub use touch::Touch;
