//! An oracle for sine, cosine and arc tangent, by other methods and with 192 fraction bits: pi by
//! Machin's formula, plain Taylor series on the whole circle, and CORDIC for the arc tangent.

use std::sync::LazyLock;

use metatopia_math::Fx;

use crate::big::Big;

/// Fraction bits of every number of the oracle.
pub(crate) const BITS: usize = 192;

/// Steps of CORDIC; each gives one bit.
const CORDIC_STEPS: usize = 90;

static PI: LazyLock<Big> = LazyLock::new(|| {
    // pi = 16 atan(1/5) - 4 atan(1/239)
    let fifth = arc_tangent_of_inverse(5).mul(&Big::from(16));
    fifth.sub(&arc_tangent_of_inverse(239).mul(&Big::from(4)))
});

/// The arc tangents of 2^0, 2^-1, ..; the first is pi / 4.
static CORDIC_ANGLES: LazyLock<Vec<Big>> = LazyLock::new(|| {
    let first = PI.div_small(4);
    let others = (1..CORDIC_STEPS).map(|step| {
        arc_series(&Big::power_of_two(BITS - step), |power| power.shift_right(2 * step))
    });
    std::iter::once(first).chain(others).collect()
});

fn one() -> Big {
    Big::power_of_two(BITS)
}

/// Returns the product of two numbers of the oracle.
pub(crate) fn times(a: &Big, b: &Big) -> Big {
    a.mul(b).shift_right(BITS)
}

/// Converts a number to one of the oracle.
pub(crate) fn exact(fx: Fx) -> Big {
    Big::from(i128::from(fx.to_bits())).shift_left(BITS - 32)
}

pub(crate) fn pi() -> Big {
    PI.clone()
}

/// x - x^3/3 + x^5/5 - .., where `by_square` takes a power of x to the next but one.
fn arc_series(x: &Big, by_square: impl Fn(&Big) -> Big) -> Big {
    let (mut sum, mut power, mut n) = (Big::zero(), x.clone(), 1);
    while !power.is_zero() {
        sum = sum.add(&power.div_small(n));
        power = by_square(&power).neg();
        n += 2;
    }
    sum
}

fn arc_tangent_of_inverse(n: u32) -> Big {
    arc_series(&one().div_small(n), |power| power.div_small(n * n))
}

/// Returns the sine and the cosine of any angle.
pub(crate) fn sin_cos(radians: &Big) -> (Big, Big) {
    let mut rest = radians.abs();
    for doublings in (0..=32).rev() {
        let turns = PI.shift_left(doublings + 1);
        if rest >= turns {
            rest = rest.sub(&turns);
        }
    }
    let (mut sine, mut cosine, mut term, mut n) = (Big::zero(), Big::zero(), one(), 0);
    while !term.is_zero() {
        // The powers go 1, x, -x^2/2!, -x^3/3!, x^4/4!, ..
        if n % 2 == 0 {
            cosine = cosine.add(&term);
        } else {
            sine = sine.add(&term);
        }
        n += 1;
        term = times(&term, &rest).div_small(n);
        if n % 2 == 0 {
            term = term.neg();
        }
    }
    (if radians < &Big::zero() { sine.neg() } else { sine }, cosine)
}

/// Returns the direction of the point (x, y), above -pi and up to pi; zero for the origin.
pub(crate) fn atan2(y: &Big, x: &Big) -> Big {
    if y.is_zero() && x.is_zero() {
        return Big::zero();
    }
    // Through the origin into the right half-plane if needed, then onto the x axis by ever smaller
    // known angles.
    let behind = x < &Big::zero();
    let (mut run, mut rise) = if behind { (x.neg(), y.neg()) } else { (x.clone(), y.clone()) };
    let mut turned = Big::zero();
    for (step, angle) in CORDIC_ANGLES.iter().enumerate() {
        let (run_part, rise_part) = (run.shift_right(step), rise.shift_right(step));
        if rise >= Big::zero() {
            (run, rise) = (run.add(&rise_part), rise.sub(&run_part));
            turned = turned.add(angle);
        } else {
            (run, rise) = (run.sub(&rise_part), rise.add(&run_part));
            turned = turned.sub(angle);
        }
    }
    match (behind, y < &Big::zero()) {
        (false, _) => turned,
        (true, false) => turned.add(&PI),
        (true, true) => turned.sub(&PI),
    }
}

/// Returns the error of a number, in units of 2^-64.
pub(crate) fn error(found: Fx, exact_value: &Big) -> Big {
    exact(found).sub(exact_value).abs().shift_right(BITS - 64)
}

#[test]
fn the_oracle_knows_the_published_digits_of_pi() {
    // 50 decimals of pi, twice 25.
    let first = 31_415_926_535_897_932_384_626_433;
    let second = 8_327_950_288_419_716_939_937_510;
    let scale = Big::from(10_i128.pow(25));
    let decimals = pi().mul(&scale).mul(&scale).shift_right(BITS);
    assert_eq!(decimals, Big::from(first).mul(&scale).add(&Big::from(second)));
}

#[test]
fn the_oracle_inverts_its_own_sines() {
    for eighths in -7..=7 {
        let angle = PI.mul(&Big::from(eighths)).div_small(8);
        let (sine, cosine) = sin_cos(&angle);
        let miss = atan2(&sine, &cosine).sub(&angle).abs();
        assert!(miss < Big::power_of_two(BITS - 80), "at {eighths} eighths of pi");
        let square = times(&sine, &sine).add(&times(&cosine, &cosine));
        assert!(square.sub(&one()).abs() < Big::power_of_two(BITS - 180));
    }
}
