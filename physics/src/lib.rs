//! Rigid bodies in one region, in integer arithmetic: the same commands give the same bits on every
//! machine.
//!
//! A [`Region`] holds [`Body`]s by object id. Commands insert bodies, move them, apply impulses and
//! hold them together by [`Joint`]s. [`Region::step`] simulates a 60th of a second and returns the
//! [`Touch`]es that began and ended; [`Region::step_events`] returns hard [`Hit`]s and the ends of joints
//! as well. Queries find the bodies near a point, and the first one on a straight way. Without
//! [gravity](Region::with_gravity) the region is ground that is seen from above, and damping is its
//! friction.
//!
//! # What it promises
//!
//! - A step is a pure function of the bodies, the [`Contact`]s, the joints and the region's parameters.
//!   A region [restored](Region::restore) from them goes on exactly as the one that they were taken from,
//!   and a [snapshot](Region::snapshot) has all of them. Every other structure follows from them.
//! - The order of commands on different bodies makes no difference.
//! - The arguments of a command are rounded and clamped to the [`limits`], or refused. Nothing can
//!   make a step panic, overflow or take more than a bounded time. A heap of bodies in one place
//!   takes no contact from any other body.
//! - Sleeping bodies cost nothing. A slow body falls asleep and gets a velocity of exactly zero, and
//!   a region in which all bodies sleep does not change by a single bit.
//!
//! # What it cannot do
//!
//! Bodies of another region beside this one are here as
//! [ghosts](limits::GHOSTS_FROM) that whoever owns the region puts in and moves; a region tells no other
//! one of its bodies. No body is faster than [`limits::SPEED_MAX`], so none tunnels through a wall, unless
//! a kinematic body crushes it against the wall. A drift that is slower than [`limits::SLEEP_SPEED`]
//! ends after half a second.
//! A box that slides along a wall made of several rectangles can catch on their seams; a circle does
//! not. [`Region::set_pose`] does not push the bodies on the way: only a velocity does.
//!
//! # How a step works
//!
//! `active_set` selects the bodies that something can happen to. For them `broad_phase` finds the
//! pairs whose boxes overlap, and each pair becomes a `contact_pair` with the impulses of its
//! contact; a pair of compounds becomes a `compound_pair`, which has a contact for each pair of their parts
//! that is near. `narrow_phase` computes a manifold per pair, once a step, and again for bodies that move
//! far against each other. `solver` goes through four substeps; in each, it solves joints, friction and
//! non-penetration and integrates the positions. `step` turns the result into the changed bodies, the
//! new contacts, the impulses of joints and the events.
//!
//! # Formats
//!
//! Positions, velocities and spins have 20 fraction bits in 32 (a unit of 0.95 micrometres over
//! +-2 km). Cosines, sines and the solver's mass ratios have 30. Both convert to `Fx` exactly. The
//! solver measures an impulse by the change of relative speed that it makes, so that the numbers
//! have one size whether it pushes a marble or a lorry.
//!
//! # Examples
//!
//! A wedge falls onto the floor and comes to rest:
//!
//! ```
//! use metatopia_math::{Fx, Vec2};
//! use metatopia_physics::{BodySpec, Motion, Polygon, Region, Shape};
//! use metatopia_types::ObjectId;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let point = |x, y| Vec2::new(Fx::from_int(x), Fx::from_int(y));
//! let mut region = Region::new().with_gravity(point(0, -10));
//! let floor = Shape::Rect { half: point(20, 1) };
//! region.insert(ObjectId(1), &BodySpec::new(floor, Motion::Static, point(0, -1)))?;
//! let wedge = Shape::Polygon(Polygon::new(&[point(0, 0), point(3, 0), point(0, 3)])?);
//! region.insert(ObjectId(2), &BodySpec::new(wedge, Motion::Dynamic, point(0, 4)))?;
//!
//! while !region.is_asleep() {
//!     region.step();
//! }
//! // The centre of mass of a triangle is at a third of its height.
//! let height = region.body(ObjectId(2)).map(|body| body.position().y);
//! assert!(height.is_some_and(|height| height > Fx::from_ratio(95, 100) && height < Fx::ONE));
//! # Ok(())
//! # }
//! ```
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
//! let start = Vec2::new(Fx::from_int(2), Fx::ZERO);
//! region.insert(crate_, &BodySpec::new(square, Motion::Dynamic, start))?;
//! region.apply_impulse(ball, Vec2::new(Fx::from_int(3), Fx::ZERO))?;
//!
//! let mut touches = Vec::new();
//! for _ in 0..60 {
//!     touches.extend(region.step());
//! }
//! assert!(matches!(touches[0], Touch::Began { a, b, .. } if (a, b) == (ball, crate_)));
//! let moved = region.body(crate_).map(|body| body.position());
//! assert!(moved.is_some_and(|position| position.x > start.x));
//! # Ok(())
//! # }
//! ```
//!
//! A weight on a hinge swings, and comes to rest below it where something damps it:
//!
//! ```
//! use metatopia_math::{Fx, Vec2};
//! use metatopia_physics::{BodySpec, JointId, JointKind, Motion, Region, Shape};
//! use metatopia_types::ObjectId;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut region = Region::new().with_gravity(Vec2::new(Fx::ZERO, Fx::from_int(-10)));
//! let round = Shape::Circle { radius: Fx::HALF };
//! let beside = Vec2::new(Fx::from_int(2), Fx::ZERO);
//! let weight = BodySpec { linear_damping: Fx::ONE, ..BodySpec::new(round, Motion::Dynamic, beside) };
//! region.insert(ObjectId(1), &weight)?;
//! let hinge = JointKind::Revolute { limits: None, motor: None };
//! let joint = region.joint_at(None, ObjectId(1), Vec2::ZERO, hinge)?;
//! region.insert_joint(JointId(1), &joint)?;
//!
//! while !region.is_asleep() {
//!     region.step();
//! }
//! let below = Vec2::new(Fx::ZERO, Fx::from_int(-2));
//! let rest = region.body(ObjectId(1)).map(|body| body.position());
//! assert!(rest.is_some_and(|rest| rest.distance(below) < Fx::from_ratio(1, 20)));
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod active_set;
mod body;
mod bounds;
mod broad_phase;
mod chain;
mod compound;
mod compound_pair;
mod constraint;
mod contact;
mod contact_pair;
mod filter;
mod fixed;
mod grid;
mod joint;
mod joint_store;
pub mod limits;
mod mass_props;
mod material;
mod motion;
mod movement;
mod narrow_phase;
mod outline;
#[cfg(test)]
mod overflow;
mod polygon;
mod query;
mod ray;
mod recording;
mod region;
mod restore;
mod segment;
mod shape;
mod shape_cast;
mod snapshot;
mod solver;
mod solver_body;
mod spec;
mod step;
mod stream;
mod surroundings;
mod sweep_body;
mod tier;
mod touch;

/// Has the example of the README tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExample;

pub use body::Body;
pub use bounds::{Bounds, BoundsError};
pub use chain::{ChainError, SegmentChain};
pub use compound::{Compound, CompoundError, CompoundPart, PartFault};
pub use contact::Contact;
pub use filter::Filter;
pub use joint::{
    Joint, JointEnd, JointEnded, JointError, JointId, JointKind, JointSpec, Motor, Spring,
};
pub use material::CombineRule;
pub use motion::Motion;
pub use movement::OutOfRange;
pub use polygon::{Polygon, PolygonError};
pub use query::NearbyBody;
pub use ray::RayHit;
pub use recording::{RecordingError, RegionRecorder, RegionReplay, ReplayedTick};
pub use region::{
    Aspect, Changes, ImpulseError, InsertError, MissingBody, MotionError, OutOfBounds, Region,
    ReshapeError, RevertError, VelocityError,
};
pub use restore::RestoreRegionError;
pub use segment::{LineSegment, SegmentError};
pub use shape::{Shape, ShapeError, SizeError};
pub use shape_cast::ShapeCast;
pub use snapshot::RegionSnapshotError;
pub use spec::{BodySpec, Pose};
pub use stream::{RegionCommand, RegionReply};
pub use tier::{
    BodyMotion, NEWTON1, Tier, TierMaker, TierStateError, TierStep, TierView, TooManyForTier,
    Touching,
};
pub use touch::{Hit, StepEvents, Touch};
