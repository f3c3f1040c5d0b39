//! The one rounding rule of this crate, nearest with ties to even, over wide integers.

/// Returns `value / 2^bits`, to the nearest integer, a tie to the even one. `bits` is 1 to 126. A value that
/// is within half a step of 2^127 is rounded down.
#[inline]
pub(crate) const fn shift_right(value: i128, bits: u32) -> i128 {
    // Just below a half carries for what lies above a half, and a tie needs one more: it has it where the
    // number below is odd. Nothing branches, for products of scripts and bodies round both ways in turn.
    let half = 1_i128 << (bits - 1);
    let is_odd = (value >> bits) & 1;
    value.saturating_add(half - 1 + is_odd) >> bits
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
