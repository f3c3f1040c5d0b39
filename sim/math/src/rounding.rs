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

/// Returns the product of two numbers so that, cut off `bits` bits, it is what [`shift_right`] makes of it. A product
/// is at most 2^126 in magnitude: no step can leave the range, and none asks for that. `bits` is 1 to 64.
#[inline]
pub(crate) const fn rounded_product(a: i64, b: i64, bits: u32) -> i128 {
    let value = a as i128 * b as i128;
    let half = 1_i128 << (bits - 1);
    let is_odd = (value >> bits) & 1;
    value.wrapping_add((half - 1).wrapping_add(is_odd))
}

/// Returns `numerator / denominator`, to the nearest integer, a tie to the even one. The
/// denominator is not zero; both magnitudes are below 2^126.
pub(crate) const fn divide(numerator: i128, denominator: i128) -> i128 {
    let (magnitude, whole) = (numerator.unsigned_abs(), denominator.unsigned_abs());
    // One division: a product says what it leaves, and a second division takes much longer.
    let quotient = magnitude / whole;
    let rest = magnitude.wrapping_sub(quotient.wrapping_mul(whole));
    let goes_up = is_rounded_up(rest, whole.wrapping_sub(rest), quotient & 1 == 1);
    let rounded = quotient.wrapping_add(goes_up as u128).cast_signed();
    if (numerator < 0) == (denominator < 0) { rounded } else { rounded.wrapping_neg() }
}

/// Returns what [`divide`] does of a numerator that is not negative and a denominator of 64 bits.
#[inline]
pub(crate) const fn divide_short(numerator: u128, denominator: u64) -> u128 {
    let quotient = numerator / denominator as u128;
    // What is left has 64 bits, as the denominator does.
    let rest = (numerator as u64).wrapping_sub((quotient as u64).wrapping_mul(denominator));
    let left = denominator.wrapping_sub(rest);
    let goes_up = is_rounded_up(rest as u128, left as u128, quotient & 1 == 1);
    quotient.wrapping_add(goes_up as u128)
}

/// Says whether a quotient is rounded up that leaves a rest, with so much missing up to the next one.
#[inline]
const fn is_rounded_up(rest: u128, missing: u128, is_odd: bool) -> bool {
    rest > missing || (rest == missing && is_odd)
}
