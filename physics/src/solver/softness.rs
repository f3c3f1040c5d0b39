//! Constraints that give way as damped springs do.

use metatopia_math::Fx;

use crate::fixed::{Q20, Q30, narrow};
use crate::limits::{STEPS_PER_SECOND, SUBSTEPS};
use crate::mass_props::SUBSTEP_RATE;

/// A constraint as a spring of angular frequency w and damping ratio z over a substep h.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Softness {
    /// w / (2 z + h w): how fast an error is to vanish, per second.
    pub(super) bias_rate: Q20,
    /// a / (1 + a) with a = h w (2 z + h w): how much of an impulse counts.
    pub(super) mass_scale: Q30,
    /// 1 / (1 + a): how much of the accumulated impulse is taken back.
    pub(super) impulse_scale: Q30,
}

/// The damping ratio of contacts.
const CONTACT_DAMPING: i64 = 10;
/// The softness between two bodies of finite mass: 30 Hz (w = 60 pi) with z = 10, so h w = pi / 4.
pub(super) const CONTACT_SOFTNESS: Softness = softness(Fx::PI.to_bits() / 4, CONTACT_DAMPING << 33);
/// The softness against an infinite mass: 60 Hz, so h w = pi / 2.
pub(super) const STATIC_SOFTNESS: Softness = softness(Fx::PI.to_bits() / 2, CONTACT_DAMPING << 33);
/// The softness of a joint that is to be stiff: 60 Hz with z = 2. Less damping than that of contacts closes
/// what has opened sooner; a joint has no sides that it could be pushed out to.
pub(crate) const STIFF: Softness = softness(Fx::PI.to_bits() / 2, 2 << 33);

/// Computes the softness for `h w` and 2 z, each with 32 fraction bits.
const fn softness(hw: i64, twice_damping: i64) -> Softness {
    let one = 1_i64 << 32;
    let damped = twice_damping + hw;
    // With 32 fraction bits again: below 2^39.
    let a = ((hw >> 8) * (damped >> 8)) >> 16;
    let bias_rate = ((hw * (STEPS_PER_SECOND * SUBSTEPS) as i64) << 18) / above_zero(damped >> 2);
    let impulse_scale = (one << 28) / ((one + a) >> 2);
    Softness {
        bias_rate: Q20(narrow(bias_rate)),
        mass_scale: Q30(narrow((1 << 30) - impulse_scale)),
        impulse_scale: Q30(narrow(impulse_scale)),
    }
}

/// Returns the number, or one: the divisor for a spring that neither pulls nor damps.
const fn above_zero(divisor: i64) -> i64 {
    if divisor < 1 { 1 } else { divisor }
}

impl Softness {
    /// Returns the softness of a spring with this frequency in hertz, up to
    /// [`SPRING_FREQUENCY_MAX`](crate::limits::SPRING_FREQUENCY_MAX), and this damping ratio, up to
    /// [`SPRING_DAMPING_MAX`](crate::limits::SPRING_DAMPING_MAX).
    pub(crate) fn spring(frequency: Fx, damping: Fx) -> Self {
        let turns = Fx::from_bits(frequency.to_bits() / SUBSTEP_RATE);
        let hw = turns.saturating_mul(Fx::PI).to_bits() * 2;
        softness(hw, damping.to_bits() * 2)
    }
}
