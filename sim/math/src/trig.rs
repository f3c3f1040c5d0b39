//! Sine, cosine and arc tangent, with about 60 exact bits inside, rounded once at the end.
//!
//! Between steps an angle is a share of a full turn in units of 2^-64, so that the period is exact
//! in the arithmetic of `u64`. Tables are computed when the crate is built, by integers; the digits
//! of pi are checked by the tests.

use crate::fx::Fx;
use crate::rounding;

/// 1 / (2 pi) in units of 2^-128, rounded down.
const INVERSE_TAU_128: u128 = 0x28BE_60DB_9391_054A_7F09_D5F4_7D4D_3770;
/// 1 / (2 pi) in units of 2^-64.
const INVERSE_TAU_64: u64 = 0x28BE_60DB_9391_054A;
/// 2 pi in units of 2^-61.
const TAU_61: u64 = 0xC90F_DAA2_2168_C235;

/// An eighth of a turn in units of 2^-64 turns.
const EIGHTH: u64 = 1 << 61;
/// A quarter of a turn in units of 2^-64 turns.
const QUARTER: u64 = 1 << 62;
/// Half a turn in units of 2^-64 turns.
const HALF: u64 = 1 << 63;

/// Fraction bits of the sines and cosines inside this crate.
pub(crate) const SINE_BITS: u32 = 62;

/// 1/3!, 1/5! .. 1/17! in units of 2^-64. On an eighth of a turn the next term is below 2^-63.
const SINE_TERMS: [u64; 8] = [
    inverse_factorial(3),
    inverse_factorial(5),
    inverse_factorial(7),
    inverse_factorial(9),
    inverse_factorial(11),
    inverse_factorial(13),
    inverse_factorial(15),
    inverse_factorial(17),
];

/// 1/2!, 1/4! .. 1/18! in units of 2^-64. On an eighth of a turn the next term is below 2^-67.
const COSINE_TERMS: [u64; 9] = [
    inverse_factorial(2),
    inverse_factorial(4),
    inverse_factorial(6),
    inverse_factorial(8),
    inverse_factorial(10),
    inverse_factorial(12),
    inverse_factorial(14),
    inverse_factorial(16),
    inverse_factorial(18),
];

/// 1/3, 1/5 .. 1/11 in units of 2^-64. Up to 1/32 the next term is below 2^-68.
const ARC_TERMS: [u64; 5] = [inverse(3), inverse(5), inverse(7), inverse(9), inverse(11)];

/// The arc tangents of 0/16, 1/16 .. 16/16 in units of 2^-64 turns.
const ARC_TANGENTS: [u64; 17] = {
    let (mut table, mut k) = ([0; 17], 0);
    while k < 17 {
        table[k] = arc_tangent_of_sixteenths(k as u128);
        k += 1;
    }
    table
};

/// Returns the arc tangent of k/16 in units of 2^-64 turns, with an error of at most one of them, by
/// Euler's series for x = k/16: the sum of t(n), where t(0) = x / (1 + x^2) and t(n) = t(n-1) * 2n
/// / (2n + 1) * x^2 / (1 + x^2).
const fn arc_tangent_of_sixteenths(k: u128) -> u64 {
    // In units of 2^-100 radians. No term is above a half, so that its products fit.
    let (mut sum, mut n) = (0, 0);
    let mut term = ((16 * k) << 100) / (256 + k * k);
    while term > 0 {
        sum += term;
        n += 1;
        term = term * (2 * n * k * k) / ((2 * n + 1) * (256 + k * k));
    }
    ((((sum >> 36) * INVERSE_TAU_64 as u128) + (1 << 63)) >> 64) as u64
}

/// Returns 1/n in units of 2^-64, rounded to the nearest.
const fn inverse(n: u128) -> u64 {
    (((1 << 64) + n / 2) / n) as u64
}

/// Returns 1/n! in units of 2^-64, rounded to the nearest.
const fn inverse_factorial(n: u128) -> u64 {
    let (mut product, mut factor) = (1, 2);
    while factor <= n {
        product *= factor;
        factor += 1;
    }
    inverse(product)
}

/// Returns the product of two fractions in units of 2^-64, rounded down.
const fn times(a: u64, b: u64) -> u64 {
    ((a as u128 * b as u128) >> 64) as u64
}

/// Returns `t0 - z * (t1 - z * (t2 - ..))`, all in units of 2^-64. The terms fall and `z` is below
/// one, so that no difference is below zero.
const fn alternating(terms: &[u64], z: u64) -> u64 {
    let mut last = terms.len() - 1;
    let mut sum = terms[last];
    while last > 0 {
        last -= 1;
        sum = terms[last] - times(z, sum);
    }
    sum
}

/// Converts radians to a share of a turn in units of 2^-64 turns, rounded towards zero.
///
/// The product of 64 and 126 bits keeps the share beyond whole turns to within 2^-95 turns for any
/// argument, before it is rounded.
pub(crate) const fn turn_from_radians(radians: Fx) -> u64 {
    let bits = radians.to_bits();
    let (high, low) = ((INVERSE_TAU_128 >> 64) as u64, INVERSE_TAU_128 as u64);
    let magnitude = bits.unsigned_abs() as u128;
    // In units of 2^-96 turns. 63 + 62 bits, and a little, fit; whole turns are cut off below.
    let turns = magnitude * high as u128 + ((magnitude * low as u128) >> 64);
    let share = (turns >> 32) as u64;
    if bits < 0 { share.wrapping_neg() } else { share }
}

/// Converts a share of a turn, -1/2 to 1/2 in units of 2^-64 turns, to radians.
pub(crate) const fn radians_from_turn(turn: i128) -> Fx {
    // 2^-64 * 2^-61 down to 2^-32.
    Fx::saturating_from_wide(rounding::shift_right(turn * TAU_61 as i128, 93))
}

/// Returns sine and cosine of a share of a turn in units of 2^-64 turns, in units of 2^-62, each
/// with an error below 2^-60.
pub(crate) const fn sin_cos(turn: u64) -> (i64, i64) {
    let quadrant = turn >> 62;
    let rest = turn & (QUARTER - 1);
    // The second eighth mirrors the first one.
    let mirrored = rest > EIGHTH;
    let (sine, cosine) = first_eighth(if mirrored { QUARTER - rest } else { rest });
    let (sine, cosine) = if mirrored { (cosine, sine) } else { (sine, cosine) };
    match quadrant {
        0 => (sine, cosine),
        1 => (cosine, -sine),
        2 => (-sine, -cosine),
        _ => (-cosine, sine),
    }
}

/// Returns sine and cosine of at most an eighth of a turn.
const fn first_eighth(turn: u64) -> (i64, i64) {
    // 2^-64 * 2^-61 to 2^-64; at most pi / 4.
    let angle = ((turn as u128 * TAU_61 as u128) >> 61) as u64;
    let square = times(angle, angle);
    let sine = angle - times(angle, times(square, alternating(&SINE_TERMS, square)));
    let below_one = times(square, alternating(&COSINE_TERMS, square));
    ((sine >> 2) as i64, (1 << SINE_BITS) - (below_one >> 2) as i64)
}

/// Returns the angle between the direction of the point (x, y) and the x axis, without a sign, in
/// units of 2^-64 turns: up to half a turn, with an error below 2^-61 turns; zero for the origin.
pub(crate) const fn turn_of(y: i64, x: i64) -> u64 {
    let (rise, run) = (y.unsigned_abs(), x.unsigned_abs());
    let steep = rise > run;
    let eighth = if steep { arc(run, rise) } else { arc(rise, run) };
    let quarter = if steep { QUARTER - eighth } else { eighth };
    if x < 0 { HALF - quarter } else { quarter }
}

/// Returns the arc tangent of `low / high`, at most 1, in units of 2^-64 turns; zero for 0 / 0.
const fn arc(low: u64, high: u64) -> u64 {
    if high == 0 {
        return 0;
    }
    let scale = high.leading_zeros();
    let (low, high) = ((low << scale) as u128, (high << scale) as u128);
    // atan(low / high) = atan(k / 16) + atan((16 low - k high) / (16 high + k low)); with the
    // sixteenth k that is nearest to the ratio, the second argument is at most 1 / 32.
    let k = (low * 16 + high / 2) / high;
    let (gain, loss) = (low * 16, high * k);
    let ratio = (gain.abs_diff(loss) << 64) / (high * 16 + low * k);
    let ratio = ratio as u64;
    let square = times(ratio, ratio);
    let angle = ratio - times(ratio, times(square, alternating(&ARC_TERMS, square)));
    let turn = times(angle, INVERSE_TAU_64);
    let base = ARC_TANGENTS[k as usize];
    if gain >= loss { base + turn } else { base - turn }
}

/// Rounds a sine or cosine in units of 2^-62 to a number.
pub(crate) const fn fx_from_sine(sine: i64) -> Fx {
    Fx::saturating_from_wide(rounding::shift_right(sine as i128, SINE_BITS - 32))
}

/// Angles are in radians, and every number is valid. The error of a sine or cosine is at most
/// 2^-32.9 for all of them, barely more than the half unit that rounding costs.
impl Fx {
    /// Returns the sine and the cosine.
    #[must_use]
    pub const fn sin_cos(self) -> (Self, Self) {
        let (sine, cosine) = sin_cos(turn_from_radians(self));
        (fx_from_sine(sine), fx_from_sine(cosine))
    }

    /// Returns the sine.
    #[must_use]
    pub const fn sin(self) -> Self {
        self.sin_cos().0
    }

    /// Returns the cosine.
    #[must_use]
    pub const fn cos(self) -> Self {
        self.sin_cos().1
    }

    /// Returns the direction of the point (x, y) in radians, from the x axis towards the y axis:
    /// between -[`Fx::PI`] and [`Fx::PI`], with the sign of `y`, and with an error of at most 2^-32.9. Zero
    /// for the origin.
    #[must_use]
    pub const fn atan2(y: Self, x: Self) -> Self {
        let turn = turn_of(y.to_bits(), x.to_bits()) as i128;
        radians_from_turn(if y.to_bits() < 0 { -turn } else { turn })
    }
}

#[cfg(test)]
mod tests {
    use super::{ARC_TANGENTS, EIGHTH, INVERSE_TAU_64, INVERSE_TAU_128, TAU_61};

    /// Returns pi in units of 2^-124, by Machin's formula, wrong by a few hundred of them at most.
    fn pi() -> u128 {
        let arc_tangent_of_inverse = |n: u128| {
            let (mut sum, mut power, mut odd) = (0, (1 << 124) / n, 1);
            while power > 0 {
                sum = if odd % 4 == 1 { sum + power / odd } else { sum - power / odd };
                power /= n * n;
                odd += 2;
            }
            sum
        };
        16 * arc_tangent_of_inverse(5) - 4 * arc_tangent_of_inverse(239)
    }

    /// Returns the upper half of a product of 256 bits, with an error of at most three.
    fn high_product(a: u128, b: u128) -> u128 {
        let halves = |x: u128| (x >> 64, x & u128::from(u64::MAX));
        let ((a_high, a_low), (b_high, b_low)) = (halves(a), halves(b));
        a_high * b_high + ((a_high * b_low) >> 64) + ((a_low * b_high) >> 64)
    }

    #[test]
    fn the_constants_agree_with_pi() {
        let one = 1 << 124;
        assert!(high_product(INVERSE_TAU_128, 2 * pi()).abs_diff(one) < 1 << 10);
        assert_eq!(u128::from(TAU_61), (2 * pi() + (1 << 62)) >> 63);
        assert_eq!(u128::from(INVERSE_TAU_64), INVERSE_TAU_128 >> 64);
    }

    #[test]
    fn the_table_of_arc_tangents_obeys_the_addition_rule() {
        let near = |a: u64, b: u64| a.abs_diff(b) <= 4;

        // atan(1) is an eighth of a turn; atan(4/3) = 2 atan(1/2) is a quarter less atan(3/4).
        assert!(near(ARC_TANGENTS[16], EIGHTH));
        assert!(near(ARC_TANGENTS[12], 2 * EIGHTH - 2 * ARC_TANGENTS[8]));
        assert!(ARC_TANGENTS.is_sorted());
        assert_eq!(ARC_TANGENTS[0], 0);
    }
}
