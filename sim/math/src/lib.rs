//! Numbers that are the same on every machine: fixed-point values, plane vectors, angles and seeded
//! random streams, in integer arithmetic only.
//!
//! - [`Fx`]: a signed number with 32 integer and 32 fraction bits.
//! - [`Vec2`]: two of them, a point or a vector in the plane.
//! - [`Angle`]: a direction as a share of a full turn, which wraps exactly.
//! - [`Stream`]: a random stream that is a pure function of a key, a domain and some numbers.
//!
//! # What it promises
//!
//! Every function is total and pure. No result depends on the processor, the build profile, the
//! platform's maths library or a floating-point unit. No argument makes a function panic, except for
//! [`Fx::from_ratio`], which is meant for constants. There are no operators on [`Fx`]: each operation
//! names what it does at the end of the range (`checked_`, `saturating_`, `wrapping_`).
//!
//! There is one rounding rule: a result that is not exact is rounded to the nearest representable
//! value, a tie to the even one. The exceptions are [`Fx::sqrt`], [`Vec2::length`] and
//! [`Vec2::distance`], which return the floor of the exact root, and the functions with `floor`,
//! `ceil` or `trunc` in their name.
//!
//! # What it cannot do
//!
//! It has no floats, not even conversions from or to them, no units and no third dimension. It draws
//! no entropy of its own.
//!
//! # Example
//!
//! A ball flies for a quarter of a second, then turns left:
//!
//! ```
//! use metatopia_math::{Angle, Fx, Stream, Vec2};
//!
//! # fn main() -> Result<(), metatopia_math::ParseFxError> {
//! let velocity = Vec2::new(Fx::parse("3.5")?, Fx::parse("-0.5")?);
//! let step = Fx::from_ratio(1, 4);
//! let position = Vec2::ZERO.saturating_add(velocity.scale(step));
//! assert_eq!(position.to_string(), "(0.875, -0.125)");
//!
//! assert_eq!(velocity.rotate(Angle::QUARTER).to_string(), "(0.5, 3.5)");
//! assert_eq!(Fx::from_int(2).sqrt().map(|root| root.floor_int()), Some(1));
//!
//! // The same key gives the same numbers.
//! let key = [7; 32];
//! let mut dice = Stream::new(&key, "example.dice", &[42]);
//! let mut again = Stream::new(&key, "example.dice", &[42]);
//! assert_eq!(dice.below(6), again.below(6));
//! # Ok(())
//! # }
//! ```
#![no_std]
#![forbid(unsafe_code)]

mod angle;
mod fx;
mod rounding;
mod stream;
mod trig;
mod vec2;

pub use angle::Angle;
pub use fx::{Fx, ParseFxError, ShortestFx};
pub use stream::Stream;
pub use vec2::Vec2;
