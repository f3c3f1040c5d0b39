//! The edge to JSON: metres and radians of the page as fixed-point numbers, and back.

use std::fmt::Debug;

use metatopia_math::{Angle, Fx, Vec2};
use serde::Deserialize;

/// A number of the page. What is no number there, such as a division by zero, comes as null.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(from = "Option<f64>")]
pub(super) struct PageNumber(pub(super) f64);

impl From<Option<f64>> for PageNumber {
    fn from(number: Option<f64>) -> Self {
        Self(number.unwrap_or(f64::NAN))
    }
}

/// One in an [`Fx`], and a whole turn in an [`Angle`].
const TWO_TO_32: f64 = 4_294_967_296.0;

/// Returns metres, or a share of a speed; nothing outside of what an [`Fx`] holds.
pub(super) fn to_fx(PageNumber(value): PageNumber) -> Option<Fx> {
    let bits = (value * TWO_TO_32).round();
    // 2^63 is the first number beyond; a number that is none is not below it either.
    let fits = bits.abs() < TWO_TO_32 * TWO_TO_32 / 2.0;
    fits.then(|| Fx::from_bits(bits as i64))
}

/// Returns a place or direction.
pub(super) fn to_vec(x: PageNumber, y: PageNumber) -> Option<Vec2> {
    Some(Vec2::new(to_fx(x)?, to_fx(y)?))
}

/// Returns radians as an angle, counterclockwise.
pub(super) fn to_angle(PageNumber(radians): PageNumber) -> Option<Angle> {
    let turns = radians / std::f64::consts::TAU;
    let bits = ((turns - turns.floor()) * TWO_TO_32).round();
    bits.is_finite().then(|| Angle::from_bits((bits as u64 & u64::from(u32::MAX)) as u32))
}

/// Returns a number as the page reads it.
pub(crate) fn from_fx(value: Fx) -> f64 {
    value.to_bits() as f64 / TWO_TO_32
}

/// Returns an angle in radians, more than -pi and at most pi.
pub(super) fn from_angle(angle: Angle) -> f64 {
    // As a signed number, half a turn is the least one, and the page calls it pi.
    match angle.to_bits() as i32 {
        i32::MIN => std::f64::consts::PI,
        bits => f64::from(bits) * (std::f64::consts::TAU / TWO_TO_32),
    }
}

/// Returns milliseconds as the page counts them.
pub(super) fn to_ms(time: std::time::Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

/// Returns the name of an enum's variant, as the protocol calls it.
pub(crate) fn variant(value: &impl Debug) -> String {
    format!("{value:?}").chars().take_while(|sign| sign.is_alphanumeric()).collect()
}
