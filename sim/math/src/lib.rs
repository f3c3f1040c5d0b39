//! Numbers that are the same on every machine: fixed-point values, plane vectors, angles and seeded
//! random streams, in integer arithmetic only.
//!
//! - [`Fx`]: a signed number with 32 integer and 32 fraction bits.
//! - [`Vec2`]: two of them, a place or a direction in the plane.
//! - [`Angle`]: a direction as a share of a full turn, which wraps exactly.
//! - [`Stream`]: a random stream that is a pure function of a key, a domain and some numbers.
//!
//! # What it promises
//!
//! Every function is total and pure: no result depends on the processor, the build profile, the
//! platform's maths library or a floating-point unit, and nothing here panics on any argument
//! (but for [`Fx::from_ratio`], which is meant for constants). There are no operators on [`Fx`]:
//! each operation names what it does at the edge of the range (`checked_`, `saturating_`,
//! `wrapping_`).
//!
//! There is one rounding rule. Whatever is not exact is rounded to the nearest representable value,
//! and a tie goes to the even one. What differs are [`Fx::sqrt`], [`Vec2::length`] and
//! [`Vec2::distance`], which answer the floor of the exact root, and the functions with `floor`,
//! `ceil` or `trunc` in their name.
//!
//! # What it cannot do
//!
//! It knows no floats, not even to convert from or to them, no unit and no third dimension, and it
//! draws no entropy of its own.
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
//! let place = Vec2::ZERO.saturating_add(velocity.scale(step));
//! assert_eq!(place.to_string(), "(0.875, -0.125)");
//!
//! assert_eq!(velocity.rotate(Angle::QUARTER).to_string(), "(0.5, 3.5)");
//! assert_eq!(Fx::from_int(2).sqrt().map(|root| root.floor_int()), Some(1));
//!
//! // Whoever knows the key draws the same numbers.
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
pub use fx::{Fx, ParseFxError};
pub use stream::Stream;
pub use vec2::Vec2;
