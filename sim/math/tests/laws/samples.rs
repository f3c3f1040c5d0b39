//! Sample numbers: of every magnitude, and around the values where behaviour changes.

use metatopia_math::{Angle, Fx, Vec2};
use proptest::prelude::*;

/// The number of cases of each law, and of arguments that it may reject.
pub(crate) fn cases() -> ProptestConfig {
    ProptestConfig { cases: 2000, max_global_rejects: 20_000, ..ProptestConfig::default() }
}

/// Raw values where errors are likely: the ends, zero, one, pi, and their neighbours.
pub(crate) fn edge_bits() -> Vec<i64> {
    let one = Fx::ONE.to_bits();
    let marks = [0, 1 << 16, one / 2, one, 3 * one / 2, 2 * one, 1 << 62, i64::MAX, i64::MIN];
    let circle = [Fx::PI.to_bits() / 4, Fx::PI.to_bits() / 2, Fx::PI.to_bits(), Fx::TAU.to_bits()];
    let mut bits = Vec::new();
    for mark in marks.into_iter().chain(circle) {
        for step in [-2, -1, 0, 1, 2] {
            let near = mark.wrapping_add(step);
            bits.extend([near, near.wrapping_neg()]);
        }
    }
    bits.sort();
    bits.dedup();
    bits
}

pub(crate) fn edges() -> Vec<Fx> {
    edge_bits().into_iter().map(Fx::from_bits).collect()
}

/// Draws any number, each magnitude as likely as any other, and the values above often.
pub(crate) fn any_fx() -> impl Strategy<Value = Fx> {
    prop_oneof![
        6 => (any::<i64>(), 0_u32..64).prop_map(|(bits, shift)| Fx::from_bits(bits >> shift)),
        1 => prop::sample::select(edges()),
    ]
}

pub(crate) fn any_vec2() -> impl Strategy<Value = Vec2> {
    (any_fx(), any_fx()).prop_map(|(x, y)| Vec2::new(x, y))
}

pub(crate) fn any_angle() -> impl Strategy<Value = Angle> {
    let edge =
        (0_u32..8, -2_i32..=2).prop_map(|(eighth, step)| (eighth << 29).wrapping_add_signed(step));
    prop_oneof![4 => any::<u32>(), 1 => edge].prop_map(Angle::from_bits)
}
