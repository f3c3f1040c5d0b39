//! Arithmetic, roots and roundings, tested against exact integers.

use fixed::types::I32F32;
use metatopia_math::Fx;
use proptest::prelude::*;

use crate::big::Big;
use crate::samples::{any_fx, cases, edges};

const UNIT: i128 = 1 << 32;
const MIN: i128 = i64::MIN as i128;
const MAX: i128 = i64::MAX as i128;

fn wide(fx: Fx) -> i128 {
    i128::from(fx.to_bits())
}

fn second_opinion(fx: Fx) -> I32F32 {
    I32F32::from_bits(fx.to_bits())
}

/// Returns whether `found` is `numerator / denominator`, rounded to the nearest, a tie to even.
fn is_nearest(found: i128, numerator: &Big, denominator: &Big) -> bool {
    let twice_off = numerator.sub(&Big::from(found).mul(denominator)).mul(&Big::from(2)).abs();
    let whole = denominator.abs();
    twice_off < whole || (twice_off == whole && found % 2 == 0)
}

/// Returns whether `numerator / denominator` rounds to an integer that no number has as its bits. The
/// denominator is above zero.
fn is_out_of_range(numerator: &Big, denominator: &Big) -> bool {
    let twice = numerator.mul(&Big::from(2));
    // MAX is odd: the tie above it goes up. MIN is even: the tie below it stays.
    twice >= denominator.mul(&Big::from(2 * MAX + 1))
        || twice < denominator.mul(&Big::from(2 * MIN - 1))
}

/// Checks a rounded operation in its three forms.
fn check_rounded(
    (numerator, denominator): (Big, Big),
    checked: Option<Fx>,
    saturating: Fx,
) -> Result<(), TestCaseError> {
    match checked {
        Some(found) => {
            prop_assert!(is_nearest(wide(found), &numerator, &denominator), "found {found}");
            prop_assert_eq!(saturating, found);
        }
        None => {
            prop_assert!(is_out_of_range(&numerator, &denominator), "refused without need");
            let end = if numerator < Big::zero() { Fx::MIN } else { Fx::MAX };
            prop_assert_eq!(saturating, end);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn sums_and_differences_are_those_of_wide_integers(a in any_fx(), b in any_fx()) {
        let forms = [
            (wide(a) + wide(b), a.checked_add(b), a.saturating_add(b), a.wrapping_add(b)),
            (wide(a) - wide(b), a.checked_sub(b), a.saturating_sub(b), a.wrapping_sub(b)),
            (-wide(a), a.checked_neg(), a.saturating_neg(), a.wrapping_neg()),
            (wide(a).abs(), a.checked_abs(), a.saturating_abs(), a.wrapping_abs()),
        ];
        for (exact, checked, saturating, wrapping) in forms {
            prop_assert_eq!(checked.map(wide), (MIN..=MAX).contains(&exact).then_some(exact));
            prop_assert_eq!(wide(saturating), exact.clamp(MIN, MAX));
            prop_assert_eq!((wide(wrapping) - exact) % (1 << 64), 0);
        }
    }

    #[test]
    fn a_product_is_the_nearest_number_or_refused(a in any_fx(), b in any_fx()) {
        let exact = wide(a) * wide(b);
        check_rounded((exact.into(), UNIT.into()), a.checked_mul(b), a.saturating_mul(b))?;

        // The wrapped product is the right one in its lowest 64 bits.
        let wrapped = wide(a.wrapping_mul(b));
        let whole = (exact - (wrapped << 32)) / (1 << 95) / 2;
        let unwrapped = [whole - 1, whole, whole + 1].map(|turns| wrapped + (turns << 64));
        let nearest = |candidate: &i128| is_nearest(*candidate, &exact.into(), &UNIT.into());
        prop_assert!(unwrapped.iter().any(nearest));
    }

    #[test]
    fn a_quotient_is_the_nearest_number_or_refused(a in any_fx(), b in any_fx()) {
        if b == Fx::ZERO {
            prop_assert_eq!(a.checked_div(b), None);
            let end = [Fx::MIN, Fx::ZERO, Fx::MAX][(a.signum() + 1) as usize];
            prop_assert_eq!(a.saturating_div(b), end);
        } else {
            let exact = (wide(a) * UNIT * i128::from(b.signum()), wide(b).abs());
            let exact = (exact.0.into(), exact.1.into());
            check_rounded(exact, a.checked_div(b), a.saturating_div(b))?;
        }
    }

    #[test]
    fn a_ratio_of_integers_is_the_nearest_number_or_refused(a in any::<i64>(), b in any_fx()) {
        let b = b.to_bits();
        let exact = (Big::from(i128::from(a) * UNIT * i128::from(b.signum())), i128::from(b).abs());
        match Fx::checked_ratio(a, b) {
            Some(found) => prop_assert!(is_nearest(wide(found), &exact.0, &exact.1.into())),
            None => prop_assert!(b == 0 || is_out_of_range(&exact.0, &exact.1.into())),
        }
    }

    #[test]
    fn remainders_are_exact(a in any_fx(), b in any_fx()) {
        let exact = (b != Fx::ZERO).then(|| wide(a) % wide(b));
        prop_assert_eq!(a.checked_rem(b).map(wide), exact);
        let exact = (b != Fx::ZERO).then(|| wide(a).rem_euclid(wide(b)));
        prop_assert_eq!(a.checked_rem_euclid(b).map(wide), exact);
    }

    #[test]
    fn a_root_is_the_exact_floor(x in any_fx()) {
        match x.sqrt() {
            None => prop_assert!(x < Fx::ZERO),
            Some(root) => {
                let (square, next) = (wide(root).pow(2), (wide(root) + 1).pow(2));
                prop_assert!(root >= Fx::ZERO);
                prop_assert!(square <= wide(x) * UNIT && wide(x) * UNIT < next, "root {root}");
            }
        }
    }

    #[test]
    fn the_root_of_a_square_is_the_number(x in any_fx()) {
        let magnitude = x.saturating_abs();
        // An integer, so that its square is exact.
        let int = Fx::checked_from_int(magnitude.floor_int()).unwrap();
        if let Some(square) = int.checked_mul(int) {
            prop_assert_eq!(square.sqrt(), Some(int));
        }
    }

    #[test]
    fn integer_parts_are_those_of_exact_division(x in any_fx()) {
        let (floor, rest) = (wide(x).div_euclid(UNIT), wide(x).rem_euclid(UNIT));
        prop_assert_eq!(i128::from(x.floor_int()), floor);
        prop_assert_eq!(i128::from(x.ceil_int()), -(-wide(x)).div_euclid(UNIT));
        prop_assert_eq!(i128::from(x.trunc_int()), wide(x) / UNIT);
        prop_assert_eq!(wide(x.fraction()), rest);
        prop_assert!(is_nearest(x.round_int().into(), &wide(x).into(), &UNIT.into()));
    }

    #[test]
    fn another_library_gives_the_same_sums_and_roots(a in any_fx(), b in any_fx()) {
        let (x, y) = (second_opinion(a), second_opinion(b));
        let bits = |other: Option<I32F32>| other.map(|other| Fx::from_bits(other.to_bits()));
        prop_assert_eq!(a.checked_add(b), bits(x.checked_add(y)));
        prop_assert_eq!(a.checked_sub(b), bits(x.checked_sub(y)));
        prop_assert_eq!(a.sqrt(), bits(x.checked_sqrt()));
        prop_assert_eq!(a.cmp(&b), x.cmp(&y));
        // It rounds products down and quotients towards zero, so ours are at most one unit off.
        if let (Some(ours), Some(theirs)) = (a.checked_mul(b), bits(x.checked_mul(y))) {
            prop_assert!((0..=1).contains(&(wide(ours) - wide(theirs))));
        }
        if let (Some(ours), Some(theirs)) = (a.checked_div(b), bits(x.checked_div(y))) {
            prop_assert!((wide(ours) - wide(theirs)).abs() <= 1);
        }
    }

    #[test]
    fn signs_pass_through_products_and_quotients(a in any_fx(), b in any_fx()) {
        prop_assume!(a != Fx::MIN && b != Fx::MIN);
        let negated = |x: Option<Fx>| x.and_then(Fx::checked_neg);
        let inside = |x: Option<Fx>| x.filter(|x| *x != Fx::MIN);
        let minus = a.wrapping_neg();
        prop_assert_eq!(inside(minus.checked_mul(b)), negated(inside(a.checked_mul(b))));
        prop_assert_eq!(inside(minus.checked_div(b)), negated(inside(a.checked_div(b))));
    }

    #[test]
    fn the_serialised_form_is_that_of_the_raw_bits(x in any_fx()) {
        let bytes = postcard::to_allocvec(&x).unwrap();
        prop_assert_eq!(&bytes, &postcard::to_allocvec(&x.to_bits()).unwrap());
        prop_assert_eq!(postcard::from_bytes::<Fx>(&bytes).unwrap(), x);
    }
}

/// Tests check overflow: arithmetic that would wrap in another build panics here.
#[test]
fn no_operation_overflows_internally_at_the_ends_of_the_range() {
    let mut done = 0_u32;
    for a in edges() {
        for b in edges() {
            let results = [
                a.checked_mul(b),
                a.checked_div(b),
                a.checked_rem(b),
                a.checked_rem_euclid(b),
                Fx::checked_ratio(a.to_bits(), b.to_bits()),
                Some(a.wrapping_mul(b)),
                Some(a.saturating_div(b)),
                a.sqrt(),
            ];
            done += results.iter().flatten().count() as u32;
        }
    }
    assert!(done > 8 * 1000, "only {done} operations had a result");
}

#[test]
fn ties_go_to_the_even_number() {
    let bits = |bits| Fx::from_bits(bits);

    // Times one half: the exact result lies in the middle between two numbers.
    let halves = [-5, -3, -1, 1, 3, 5].map(|odd| bits(odd).saturating_mul(Fx::HALF).to_bits());
    assert_eq!(halves, [-2, -2, 0, 0, 2, 2]);

    let quotients =
        [-5, -3, -1, 1, 3, 5].map(|odd| bits(odd).saturating_div(Fx::from_int(2)).to_bits());
    assert_eq!(quotients, [-2, -2, 0, 0, 2, 2]);

    let ints = [-5, -3, -1, 1, 3, 5].map(|odd| Fx::from_ratio(odd, 2).round_int());
    assert_eq!(ints, [-2, -2, 0, 0, 2, 2]);
}

#[test]
fn a_result_is_rounded_before_its_range_is_checked() {
    // 2^64 - 1 is divisible by 3: the product is the tie above the last number, whose bits are odd,
    // and goes up, out of range. The number before that fits.
    let factor = Fx::from_ratio(3, 2);
    let third = Fx::from_bits(6_148_914_691_236_517_205);
    assert_eq!(factor.checked_mul(third), None);
    let less = factor.checked_mul(third.wrapping_sub(Fx::ULP));
    assert_eq!(less.map(Fx::to_bits), Some(i64::MAX - 1));

    // 2^64 + 1 is 274177 * 67280421310721: the tie below the first number, whose bits are even,
    // stays; the next product does not.
    let (factor, other) = (Fx::from_bits(-(274_177 << 31)), Fx::from_bits(67_280_421_310_721));
    assert_eq!(factor.checked_mul(other), Some(Fx::MIN));
    assert_eq!(factor.checked_mul(other.wrapping_add(Fx::ULP)), None);

    let below_one = Fx::ONE.wrapping_sub(Fx::ULP);
    assert_eq!(Fx::MAX.checked_div(below_one), None);
    assert_eq!(Fx::MIN.checked_mul(Fx::ONE), Some(Fx::MIN));
    assert_eq!(Fx::MIN.checked_mul(Fx::from_int(-1)), None);
    assert_eq!(Fx::MIN.checked_div(Fx::from_int(-1)), None);
    assert_eq!(Fx::MAX.checked_div(Fx::ONE), Some(Fx::MAX));
    assert_eq!(Fx::checked_ratio(1 << 31, 1), None);
    assert_eq!(Fx::checked_ratio(-(1 << 31), 1), Some(Fx::MIN));
}

#[test]
fn integers_fit_exactly_in_the_range_of_i32() {
    assert_eq!(Fx::checked_from_int(i64::from(i32::MAX)), Some(Fx::from_int(i32::MAX)));
    assert_eq!(Fx::checked_from_int(i64::from(i32::MIN)), Some(Fx::MIN));
    assert_eq!(Fx::checked_from_int(i64::from(i32::MAX) + 1), None);
    assert_eq!(Fx::checked_from_int(i64::from(i32::MIN) - 1), None);
    assert_eq!(Fx::MAX.ceil_int(), 1 << 31);
    assert_eq!(Fx::MAX.round_int(), 1 << 31);
}

#[test]
fn clamp_with_swapped_bounds_returns_the_high_bound() {
    let [low, high] = [1, 3].map(Fx::from_int);
    let clamped = |x| Fx::from_int(x).clamp(low, high).floor_int();
    assert_eq!([0, 1, 2, 3, 4].map(clamped), [1, 1, 2, 3, 3]);
    assert_eq!(Fx::from_int(2).clamp(high, low), low);
    assert_eq!(low.min(high), low);
    assert_eq!(low.max(high), high);
}
