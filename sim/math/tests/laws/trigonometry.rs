//! Sines, cosines and arc tangents, tested against the oracle.

use metatopia_math::{Angle, Fx, Stream};
use proptest::prelude::*;

use crate::big::Big;
use crate::oracle::{self, BITS};
use crate::samples::{any_angle, any_fx, cases, edges};

/// The stated error, 2^-32.9, in units of 2^-64: 2^-33 for the rounding and a sixteenth of it.
const ERROR_MAX: i128 = (1 << 31) + (1 << 27);

/// The error that must never be exceeded, even if the stated one changes: 2^-30.
const _: () = assert!(ERROR_MAX <= 1 << 34);

/// Arguments for the sweeps over the whole range.
const SWEEP: u32 = 4000;

fn check_sin_cos((sine, cosine): (Fx, Fx), radians: &Big) -> Result<(), TestCaseError> {
    let (exact_sine, exact_cosine) = oracle::sin_cos(radians);
    for (found, exact) in [(sine, exact_sine), (cosine, exact_cosine)] {
        let error = oracle::error(found, &exact);
        prop_assert!(error <= Big::from(ERROR_MAX), "{} is off by {:?} * 2^-64", found, error);
    }
    Ok(())
}

fn check_fx_sin_cos(x: Fx) -> Result<(), TestCaseError> {
    check_sin_cos(x.sin_cos(), &oracle::exact(x))
}

/// Returns the angle in the numbers of the oracle, from 0 up to 2 pi.
pub(crate) fn exact_radians(angle: Angle) -> Big {
    let turn = Big::from(i128::from(angle.to_bits()));
    oracle::pi().mul(&turn).shift_right(31)
}

fn check_atan2(y: Fx, x: Fx) -> Result<(), TestCaseError> {
    let exact = oracle::atan2(&oracle::exact(y), &oracle::exact(x));
    let error = oracle::error(Fx::atan2(y, x), &exact);
    prop_assert!(error <= Big::from(ERROR_MAX), "off by {:?} * 2^-64", error);
    let sign = if y < Fx::ZERO { -1 } else { 1 };
    prop_assert!(Fx::atan2(y, x).signum() * sign >= 0, "the sign is not that of y");

    // In units of 2^-32 turns the angle may be off by half a unit and a sixteenth of it.
    let found = exact_radians(Angle::atan2(y, x));
    let turn = oracle::pi().mul(&Big::from(2));
    let off = found.sub(&exact).abs();
    let off = off.clone().min(off.sub(&turn).abs()).shift_left(36);
    prop_assert!(off <= oracle::pi().mul(&Big::from(17)), "the angle is off by {:?}", off);
    Ok(())
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn sines_are_right_for_any_number(x in any_fx()) {
        check_fx_sin_cos(x)?;
        prop_assert_eq!(x.sin_cos(), (x.sin(), x.cos()));
    }

    #[test]
    fn sines_are_right_for_any_angle(angle in any_angle()) {
        check_sin_cos(angle.sin_cos(), &exact_radians(angle))?;
        prop_assert_eq!(angle.sin_cos(), (angle.sin(), angle.cos()));
    }

    #[test]
    fn directions_are_right_for_any_point(y in any_fx(), x in any_fx()) {
        check_atan2(y, x)?;
    }

    #[test]
    fn sine_is_odd_and_cosine_even(x in any_fx()) {
        prop_assume!(x != Fx::MIN);
        let (sine, cosine) = x.sin_cos();
        let mirrored = x.wrapping_neg().sin_cos();
        prop_assert_eq!(mirrored, (sine.wrapping_neg(), cosine));
    }

    #[test]
    fn the_squares_of_sine_and_cosine_add_up_to_one(x in any_fx()) {
        let (sine, cosine) = x.sin_cos();
        let square = |fx: Fx| i128::from(fx.to_bits()).pow(2);
        // Two values of at most one, each wrong by little more than half a unit: the sum of the
        // squares is off by less than 2 * (|sin| + |cos|) * 0.54 units, which is below 1.6.
        let off = square(sine) + square(cosine) - (1 << 64);
        prop_assert!(off.abs() < 8 << 30, "off by {} * 2^-64", off);
    }

    #[test]
    fn an_angle_converted_to_radians_and_back_is_the_same(angle in any_angle()) {
        prop_assert_eq!(Angle::from_radians(angle.to_radians()), angle);
    }

    #[test]
    fn the_direction_of_a_direction_is_the_angle(angle in any_angle()) {
        let point = angle.direction();
        let back = Angle::atan2(point.y, point.x).wrapping_sub(angle).to_bits();
        // The point is off by half a unit of 2^-32, which is a sixth of a unit of the angle.
        prop_assert_eq!(back, 0);
    }

    #[test]
    fn radians_convert_to_the_nearest_angle(x in any_fx()) {
        let found = exact_radians(Angle::from_radians(x));
        let (sine, cosine) = oracle::sin_cos(&oracle::exact(x).sub(&found));
        // The difference is so small that its sine is as good as itself: half of 2^-32 turns.
        prop_assert!(cosine > Big::zero());
        prop_assert!(sine.abs().shift_left(36) <= oracle::pi().mul(&Big::from(17)));
    }

    #[test]
    fn angles_convert_to_the_nearest_radians(angle in any_angle()) {
        let turn = oracle::pi().mul(&Big::from(2));
        let exact = exact_radians(angle);
        let exact = if exact > oracle::pi() { exact.sub(&turn) } else { exact };
        prop_assert!(oracle::error(angle.to_radians(), &exact) <= Big::from(ERROR_MAX));
    }

    #[test]
    fn points_on_one_ray_have_one_direction(
        x in -30_000_i32..30_000,
        y in -30_000_i32..30_000,
        k in 1_i32..60_000,
    ) {
        let [near_x, near_y] = [x, y].map(Fx::from_int);
        let [far_x, far_y] = [x * k, y * k].map(Fx::from_int);
        prop_assert_eq!(Angle::atan2(near_y, near_x), Angle::atan2(far_y, far_x));
        prop_assert_eq!(Fx::atan2(near_y, near_x), Fx::atan2(far_y, far_x));
    }
}

#[test]
fn sines_are_right_over_the_whole_range_and_around_multiples_of_an_eighth_of_pi() {
    let mut stream = Stream::new(&[1; 32], "test.sines", &[]);
    for _ in 0..SWEEP {
        let x = Fx::from_bits(stream.next_u64() as i64);
        check_fx_sin_cos(x).unwrap_or_else(|error| panic!("sine and cosine of {x:?}: {error}"));
    }
    for _ in 0..SWEEP {
        // The number next to k * pi / 8, for a k of any size: sine or cosine is next to zero or one
        // there, or both are alike.
        let k = stream.below(5_400_000_000) as i128;
        let mark = oracle::pi().mul(&Big::from(k)).shift_right(BITS - 29);
        let bits = (0..63).rev().fold(0_i64, |bits, bit| {
            let tried = bits | (1 << bit);
            if Big::from(i128::from(tried)) <= mark { tried } else { bits }
        });
        for x in [bits, -bits].map(Fx::from_bits) {
            check_fx_sin_cos(x).unwrap_or_else(|error| panic!("sine and cosine of {x:?}: {error}"));
        }
    }
}

#[test]
fn directions_are_right_at_the_edges() {
    for y in edges() {
        for x in edges() {
            check_atan2(y, x).unwrap_or_else(|error| panic!("direction of ({x}, {y}): {error}"));
        }
    }
}

#[test]
fn sines_are_exact_at_quarters_and_equal_at_eighths() {
    let quarters = (0_u32..4).map(|quarter| Angle::from_bits(quarter << 30).sin_cos());
    let (zero, one, minus) = (Fx::ZERO, Fx::ONE, Fx::from_int(-1));
    let expected = [(zero, one), (one, zero), (zero, minus), (minus, zero)];
    assert!(quarters.eq(expected));

    let (sine, cosine) = Angle::EIGHTH.sin_cos();
    assert_eq!(sine, cosine);
}

#[test]
fn no_sine_leaves_the_range_of_minus_one_to_one() {
    let one = Fx::ONE.to_bits();
    for quarter in 0_u32..4 {
        for step in -5000_i32..5000 {
            let angle = Angle::from_bits((quarter << 30).wrapping_add_signed(step));
            let (sine, cosine) = angle.sin_cos();
            assert!(sine.to_bits().abs() <= one && cosine.to_bits().abs() <= one, "{angle:?}");
        }
    }
}

#[test]
fn the_sine_does_not_decrease_on_the_first_quarter() {
    for start in [0_u32, 1 << 28, 1 << 29, (1 << 30) - 4000] {
        let sines = (start..start + 4000).map(|bits| Angle::from_bits(bits).sin());
        let cosines = (start..start + 4000).map(|bits| Angle::from_bits(bits).cos());
        assert!(sines.is_sorted(), "sines from {start}");
        assert!(cosines.rev().is_sorted(), "cosines from {start}");
    }
}

#[test]
fn the_axes_have_their_directions_exactly() {
    let (zero, one, minus) = (Fx::ZERO, Fx::MAX, Fx::MIN);
    assert_eq!(Fx::atan2(zero, zero), zero);
    assert_eq!(Fx::atan2(zero, one), zero);
    assert_eq!(Fx::atan2(zero, minus), Fx::PI);
    assert_eq!(Angle::atan2(zero, zero), Angle::ZERO);
    assert_eq!(Angle::atan2(zero, minus), Angle::HALF);
    assert_eq!(Angle::atan2(one, zero), Angle::QUARTER);
    assert_eq!(Angle::atan2(minus, zero), Angle::QUARTER.wrapping_neg());
    assert_eq!(Angle::atan2(Fx::ULP, Fx::ULP), Angle::EIGHTH);
    assert_eq!(Angle::HALF.to_radians(), Fx::PI);
}

#[test]
fn the_constants_are_the_nearest_numbers() {
    let half_unit = Big::power_of_two(31);
    assert!(oracle::error(Fx::PI, &oracle::pi()) <= half_unit);
    assert!(oracle::error(Fx::TAU, &oracle::pi().mul(&Big::from(2))) <= half_unit);
}
