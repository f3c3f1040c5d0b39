//! Newton 2: the second tier of physics, where [rapier](https://rapier.rs) moves the bodies.
//!
//! A [`Region`](metatopia_physics::Region) with the tier [`Newton2`] has the same bodies, commands,
//! bounds, events and queries as one without, in the same numbers. Rapier computes in floats: they stay in
//! this crate. What goes in comes from fixed point, and what comes out is rounded to it in every step.
//!
//! # What it promises
//!
//! - A step is a pure function of the bodies, the contacts, the region's parameters and the tier's
//!   [state](metatopia_physics::Tier::state). A region that is restored from them goes on with the same
//!   bits. The state names the version of rapier: another one moves bodies differently.
//! - A body for which rapier computes no number is frozen where it was, before anybody sees it, and
//!   [named](metatopia_physics::Region::frozen).
//! - A region has at most [`limits::BODIES_MAX`] bodies. In a heap of bodies in one place some stand still and
//!   meet nothing until there is room, so a step takes a bounded time.
//! - A region in which all bodies sleep does not change by a single bit.
//!
//! # Example
//!
//! One word decides which tier moves a scene:
//!
//! ```
//! use metatopia_math::{Fx, Vec2};
//! use metatopia_physics::{BodySpec, Motion, Region, Shape};
//! use metatopia_physics_rapier::Newton2;
//! use metatopia_types::ObjectId;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let point = |x, y| Vec2::new(Fx::from_int(x), Fx::from_int(y));
//! let scene = || -> Result<Region, Box<dyn std::error::Error>> {
//!     let mut region = Region::new().with_gravity(point(0, -10));
//!     let floor = Shape::Rect { half: point(20, 1) };
//!     region.insert(ObjectId(1), &BodySpec::new(floor, Motion::Static, point(0, -1)))?;
//!     let ball = Shape::Circle { radius: Fx::HALF };
//!     region.insert(ObjectId(2), &BodySpec::new(ball, Motion::Dynamic, point(0, 4)))?;
//!     Ok(region)
//! };
//! for mut region in [scene()?, scene()?.with_tier(Box::new(Newton2::new()))?] {
//!     while !region.is_asleep() {
//!         region.step();
//!     }
//!     let height = region.body(ObjectId(2)).map(|body| body.position().y);
//!     let error = height.map(|height| height.saturating_sub(Fx::HALF).saturating_abs());
//!     assert!(error.is_some_and(|error| error < Fx::from_ratio(1, 100)), "{height:?}");
//! }
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod crowds;
mod engine;
mod joints;
pub mod limits;
mod loads;
mod newton2;
mod numbers;
mod snapshot;
mod touches;

pub use newton2::{Newton2, Newton2Maker};
pub use snapshot::RestoreTierError;
