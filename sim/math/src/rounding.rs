//! The one rounding rule of this crate, nearest with ties to even, over wide integers.

/// Returns `value / 2^bits`, to the nearest integer, a tie to the even one. `bits` is 1 to 126.
pub(crate) const fn shift_right(value: i128, bits: u32) -> i128 {
    let floor = value >> bits;
    // The shift is arithmetic, so the rest is not negative, also below zero.
    let rest = value - (floor << bits);
    let half = 1_i128 << (bits - 1);
    if rest > half || (rest == half && floor & 1 == 1) { floor + 1 } else { floor }
}

/// Returns `numerator / denominator`, to the nearest integer, a tie to the even one. The
/// denominator is not zero; both magnitudes are below 2^126.
pub(crate) const fn divide(numerator: i128, denominator: i128) -> i128 {
    let quotient = numerator / denominator;
    let rest = (numerator % denominator).unsigned_abs();
    let twice = rest * 2;
    let whole = denominator.unsigned_abs();
    if twice < whole || (twice == whole && quotient & 1 == 0) {
        return quotient;
    }
    // `quotient` is cut towards zero, and may be zero: its sign must come from the operands.
    if (numerator < 0) == (denominator < 0) { quotient + 1 } else { quotient - 1 }
}
