//! Vectors and angles, tested against exact integers and the oracle.

use metatopia_math::{Angle, Fx, Vec2};
use proptest::prelude::*;

use crate::big::Big;
use crate::oracle;
use crate::samples::{any_angle, any_vec2, cases, edges};
use crate::trigonometry::exact_radians;

fn big(fx: Fx) -> Big {
    Big::from(i128::from(fx.to_bits()))
}

/// Returns x^2 + y^2 in units of 2^-64.
fn exact_square(v: Vec2) -> Big {
    big(v.x).mul(&big(v.x)).add(&big(v.y).mul(&big(v.y)))
}

/// Returns whether `found` is the nearest number to `exact` units of 2^-64, or the end of the range.
fn is_nearest_or_end(found: Fx, exact: &Big) -> bool {
    let half = Big::power_of_two(31);
    let off = exact.sub(&big(found).shift_left(32));
    let even = found.to_bits() % 2 == 0;
    off.abs() < half
        || (off.abs() == half && even)
        || (found == Fx::MAX && off >= half)
        || (found == Fx::MIN && off < Big::zero())
}

/// Returns whether `found` is the floor of the root of `square` units of 2^-64, or the end of the range.
fn is_root_or_end(found: Fx, square: &Big) -> bool {
    let next = big(found).add(&Big::from(1));
    let below = big(found).mul(&big(found)) <= *square;
    below && (*square < next.mul(&next) || found == Fx::MAX)
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn products_of_vectors_are_rounded_once(a in any_vec2(), b in any_vec2()) {
        let dot = big(a.x).mul(&big(b.x)).add(&big(a.y).mul(&big(b.y)));
        prop_assert!(is_nearest_or_end(a.dot(b), &dot), "{}", a.dot(b));
        let cross = big(a.x).mul(&big(b.y)).sub(&big(a.y).mul(&big(b.x)));
        prop_assert!(is_nearest_or_end(a.cross(b), &cross), "{}", a.cross(b));
        prop_assert!(is_nearest_or_end(a.length_squared(), &exact_square(a)));
    }

    #[test]
    fn lengths_and_distances_are_exact_floors(a in any_vec2(), b in any_vec2()) {
        prop_assert!(is_root_or_end(a.length(), &exact_square(a)), "{}", a.length());

        let (width, height) = (big(a.x).sub(&big(b.x)), big(a.y).sub(&big(b.y)));
        let square = width.mul(&width).add(&height.mul(&height));
        prop_assert!(is_root_or_end(a.distance(b), &square), "{}", a.distance(b));
        prop_assert_eq!(a.distance(b), b.distance(a));
    }

    #[test]
    fn a_normalised_vector_has_the_direction_and_length_one(v in any_vec2()) {
        let Some(unit) = v.normalize() else {
            prop_assert_eq!(v, Vec2::ZERO);
            return Ok(());
        };
        // |unit.x - v.x / |v|| < 2^-32, without roots: compare squares times the square of |v|.
        let square = exact_square(v);
        for (found, from) in [(unit.x, v.x), (unit.y, v.y)] {
            prop_assert!(found.signum() * from.signum() >= 0);
            let exact = big(from).mul(&big(from)).shift_left(64);
            let upper = big(found).abs().add(&Big::from(1));
            prop_assert!(exact < upper.mul(&upper).mul(&square), "{} is too short", unit);
            if found != Fx::ZERO {
                let lower = big(found).abs().sub(&Big::from(1));
                prop_assert!(lower.mul(&lower).mul(&square) < exact, "{} is too long", unit);
            }
        }
        let off = i128::from(unit.length().to_bits()) - i128::from(Fx::ONE.to_bits());
        prop_assert!((-2..=1).contains(&off), "{} is off by {}", unit, off);
    }

    #[test]
    fn a_rotated_vector_agrees_with_the_oracle(v in any_vec2(), angle in any_angle()) {
        let (sine, cosine) = oracle::sin_cos(&exact_radians(angle));
        let (x, y) = (oracle::exact(v.x), oracle::exact(v.y));
        let exact_x = oracle::times(&x, &cosine).sub(&oracle::times(&y, &sine));
        let exact_y = oracle::times(&x, &sine).add(&oracle::times(&y, &cosine));

        // Half a unit, plus the length times 2^-59 (the length as a bound from above).
        let length = Big::from(2_i128.pow(32)).add(&big(v.x).abs()).add(&big(v.y).abs());
        let bound = Big::power_of_two(31).add(&length.shift_left(32).shift_right(59));
        let turned = v.rotate(angle);
        for (found, exact) in [(turned.x, exact_x), (turned.y, exact_y)] {
            let saturated = found == Fx::MAX || found == Fx::MIN;
            let off = oracle::error(found, &exact);
            prop_assert!(off <= bound || saturated, "{} is off by {:?} * 2^-64", found, off);
        }
    }

    #[test]
    fn a_rotation_keeps_the_length(v in any_vec2(), angle in any_angle()) {
        let turned = v.rotate(angle);
        let ends = [Fx::MIN, Fx::MAX];
        prop_assume!(![turned.x, turned.y].iter().any(|part| ends.contains(part)));
        prop_assume!(v.length() < Fx::MAX && turned.length() < Fx::MAX);
        // Each coordinate may be off by half a unit and length * 2^-59, and the floors by one.
        let slack = 2 + (v.length().to_bits() >> 57);
        let off = v.length().to_bits() - turned.length().to_bits();
        prop_assert!(off.abs() <= slack, "off by {} units", off);
    }

    #[test]
    fn a_rotation_and_its_inverse_return_the_vector(v in any_vec2(), angle in any_angle()) {
        let v = v.scale(Fx::from_ratio(1, 4));
        let back = v.rotate(angle).rotate(angle.wrapping_neg());
        let slack = 2 + (v.length().to_bits() >> 57);
        for (found, from) in [(back.x, v.x), (back.y, v.y)] {
            prop_assert!((found.to_bits() - from.to_bits()).abs() <= slack, "{} and {}", back, v);
        }
    }

    #[test]
    fn rotations_by_quarters_are_exact(v in any_vec2()) {
        prop_assert_eq!(v.rotate(Angle::ZERO), v);
        prop_assert_eq!(v.rotate(Angle::QUARTER), v.perp());
        prop_assert_eq!(v.rotate(Angle::HALF), v.saturating_neg());
    }

    #[test]
    fn the_angle_of_a_vector_is_that_of_its_coordinates(v in any_vec2()) {
        prop_assert_eq!(v.angle(), Angle::atan2(v.y, v.x));
        prop_assume!(v.length() > Fx::ONE && v.length() < Fx::MAX);
        // Seen along its own angle, a vector lies on the x axis, but for half of 2^-32 turns.
        let ahead = v.rotate(v.angle().wrapping_neg());
        let slack = Fx::from_bits(4).saturating_add(v.length().saturating_mul(Fx::from_bits(4)));
        prop_assert!(ahead.x > Fx::ZERO);
        prop_assert!(ahead.y.saturating_abs() <= slack, "{}", ahead);
    }

    #[test]
    fn sums_of_vectors_are_sums_of_coordinates(a in any_vec2(), b in any_vec2()) {
        let pairs = |f: fn(Fx, Fx) -> Fx| Vec2::new(f(a.x, b.x), f(a.y, b.y));
        prop_assert_eq!(a.saturating_add(b), pairs(Fx::saturating_add));
        prop_assert_eq!(a.saturating_sub(b), pairs(Fx::saturating_sub));
        let checked = |f: fn(Fx, Fx) -> Option<Fx>| {
            f(a.x, b.x).zip(f(a.y, b.y)).map(|(x, y)| Vec2::new(x, y))
        };
        prop_assert_eq!(a.checked_add(b), checked(Fx::checked_add));
        prop_assert_eq!(a.checked_sub(b), checked(Fx::checked_sub));

        let k = b.x;
        prop_assert_eq!(a.scale(k), Vec2::new(a.x.saturating_mul(k), a.y.saturating_mul(k)));
        let scaled = a.x.checked_mul(k).zip(a.y.checked_mul(k)).map(|(x, y)| Vec2::new(x, y));
        prop_assert_eq!(a.checked_scale(k), scaled);
    }

    #[test]
    fn angles_add_modulo_one_turn(a in any::<u32>(), b in any::<u32>(), turns in any::<i64>()) {
        let angles = [a, b].map(Angle::from_bits);
        prop_assert_eq!(angles[0].wrapping_add(angles[1]).to_bits(), a.wrapping_add(b));
        prop_assert_eq!(angles[0].wrapping_sub(angles[1]).to_bits(), a.wrapping_sub(b));
        prop_assert_eq!(angles[0].wrapping_neg().to_bits(), a.wrapping_neg());
        let share = turns.rem_euclid(1 << 32);
        let angle = Angle::from_turns(Fx::from_bits(turns));
        prop_assert_eq!(i64::from(angle.to_bits()), share);
    }

    #[test]
    fn the_serialised_form_is_plain(v in any_vec2(), angle in any_angle()) {
        let bytes = postcard::to_allocvec(&(v, angle)).unwrap();
        let plain = (v.x.to_bits(), v.y.to_bits(), angle.to_bits());
        prop_assert_eq!(&bytes, &postcard::to_allocvec(&plain).unwrap());
        prop_assert_eq!(postcard::from_bytes::<(Vec2, Angle)>(&bytes).unwrap(), (v, angle));
    }
}

/// Tests check overflow: arithmetic that would wrap in another build panics here.
#[test]
fn no_vector_overflows_internally_at_the_ends_of_the_range() {
    let edges = edges();
    let partners = [Fx::MIN, Fx::MAX, Fx::ZERO, Fx::ULP];
    for x in &edges {
        for y in &edges {
            let v = Vec2::new(*x, *y);
            assert!(is_root_or_end(v.length(), &exact_square(v)), "{v}");
            assert_eq!(v.normalize().is_none(), v == Vec2::ZERO, "{v}");
            for w in partners.map(|part| Vec2::new(part, Fx::MIN)) {
                let dot = big(v.x).mul(&big(w.x)).add(&big(v.y).mul(&big(w.y)));
                assert!(is_nearest_or_end(v.dot(w), &dot), "{v} and {w}");
                let cross = big(v.x).mul(&big(w.y)).sub(&big(v.y).mul(&big(w.x)));
                assert!(is_nearest_or_end(v.cross(w), &cross), "{v} and {w}");
                assert!(v.distance(w) >= Fx::ZERO, "{v} and {w}");
            }
            for eighth in 0..8 {
                let turned = v.rotate(Angle::from_bits(eighth << 29));
                assert_eq!(turned == Vec2::ZERO, v == Vec2::ZERO, "{v}");
            }
        }
    }
}
