//! Arithmetic. Each operation names what it does at the end of the range.
//!
//! Sums, differences, remainders, negations and magnitudes are those of `fixed`. Products and
//! quotients are our own, because `fixed` truncates them and this crate rounds to the nearest.

use super::{FRACTION_BITS, Fx};
use crate::rounding;

/// Returns the rounded product, which may lie outside of the range. At most 2^94 in magnitude.
#[inline]
const fn product(a: Fx, b: Fx) -> i128 {
    rounding::rounded_product(a.to_bits(), b.to_bits(), FRACTION_BITS) >> FRACTION_BITS
}

/// Returns the rounded quotient, which may lie outside of the range. `b` is not zero.
#[inline]
const fn quotient(a: Fx, b: Fx) -> i128 {
    let magnitude = (a.to_bits().unsigned_abs() as u128) << FRACTION_BITS;
    let magnitude = rounding::divide_short(magnitude, b.to_bits().unsigned_abs()).cast_signed();
    if a.0.is_negative() == b.0.is_negative() { magnitude } else { magnitude.wrapping_neg() }
}

/// Addition, subtraction and negation are exact wherever the result is in range. Multiplication and
/// division round the exact result to the nearest number, a tie to the one with even bits, before
/// they check the range.
impl Fx {
    /// Returns the sum; `None` if it is out of range.
    #[must_use]
    #[inline]
    pub const fn checked_add(self, other: Self) -> Option<Self> {
        match self.0.checked_add(other.0) {
            Some(sum) => Some(Self(sum)),
            None => None,
        }
    }

    /// Returns the difference; `None` if it is out of range.
    #[must_use]
    #[inline]
    pub const fn checked_sub(self, other: Self) -> Option<Self> {
        match self.0.checked_sub(other.0) {
            Some(difference) => Some(Self(difference)),
            None => None,
        }
    }

    /// Returns the rounded product; `None` if it is out of range.
    #[must_use]
    #[inline]
    pub const fn checked_mul(self, other: Self) -> Option<Self> {
        let product = rounding::rounded_product(self.to_bits(), other.to_bits(), FRACTION_BITS);
        // It fits if its integer part does, which lies in the upper half.
        let integer = (product >> (2 * FRACTION_BITS)) as i64;
        if integer as i32 as i64 == integer {
            Some(Self::from_bits((product >> FRACTION_BITS) as i64))
        } else {
            None
        }
    }

    /// Returns the rounded quotient; `None` if it is out of range or the divisor is zero.
    #[must_use]
    pub const fn checked_div(self, divisor: Self) -> Option<Self> {
        if divisor.0.is_zero() { None } else { Self::checked_from_wide(quotient(self, divisor)) }
    }

    /// Returns the exact remainder of a division whose quotient is truncated towards zero: it
    /// has the sign of `self`. Returns `None` for a divisor of zero.
    #[must_use]
    #[inline]
    pub const fn checked_rem(self, divisor: Self) -> Option<Self> {
        match self.0.checked_rem(divisor.0) {
            Some(remainder) => Some(Self(remainder)),
            None => None,
        }
    }

    /// Returns the exact remainder of a division that is never negative: from zero up to, not
    /// including, the magnitude of the divisor. Returns `None` for a divisor of zero.
    #[must_use]
    #[inline]
    pub const fn checked_rem_euclid(self, divisor: Self) -> Option<Self> {
        match self.0.checked_rem_euclid(divisor.0) {
            Some(remainder) => Some(Self(remainder)),
            None => None,
        }
    }

    /// Returns the negated number; `None` for [`Fx::MIN`].
    #[must_use]
    #[inline]
    pub const fn checked_neg(self) -> Option<Self> {
        match self.0.checked_neg() {
            Some(negated) => Some(Self(negated)),
            None => None,
        }
    }

    /// Returns the magnitude; `None` for [`Fx::MIN`].
    #[must_use]
    #[inline]
    pub const fn checked_abs(self) -> Option<Self> {
        match self.0.checked_abs() {
            Some(magnitude) => Some(Self(magnitude)),
            None => None,
        }
    }

    /// Returns the sum, clamped to the range.
    #[must_use]
    #[inline]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Returns the difference, clamped to the range.
    #[must_use]
    #[inline]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Returns the rounded product, clamped to the range.
    #[must_use]
    pub const fn saturating_mul(self, other: Self) -> Self {
        Self::saturating_from_wide(product(self, other))
    }

    /// Returns the rounded quotient, clamped to the range. A division by zero returns the end of
    /// the range that has the sign of `self`, and 0 / 0 returns 0.
    #[must_use]
    pub const fn saturating_div(self, divisor: Self) -> Self {
        match (divisor.to_bits(), self.signum()) {
            (0, 0) => Self::ZERO,
            (0, 1) => Self::MAX,
            (0, _) => Self::MIN,
            _ => Self::saturating_from_wide(quotient(self, divisor)),
        }
    }

    /// Returns the negated number; [`Fx::MAX`] for [`Fx::MIN`].
    #[must_use]
    #[inline]
    pub const fn saturating_neg(self) -> Self {
        Self(self.0.saturating_neg())
    }

    /// Returns the magnitude; [`Fx::MAX`] for [`Fx::MIN`].
    #[must_use]
    #[inline]
    pub const fn saturating_abs(self) -> Self {
        Self(self.0.saturating_abs())
    }

    /// Returns the sum modulo 2^32.
    #[must_use]
    #[inline]
    pub const fn wrapping_add(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }

    /// Returns the difference modulo 2^32.
    #[must_use]
    #[inline]
    pub const fn wrapping_sub(self, other: Self) -> Self {
        Self(self.0.wrapping_sub(other.0))
    }

    /// Returns the rounded product modulo 2^32. (There is no wrapping division: it could not be
    /// total.)
    #[must_use]
    pub const fn wrapping_mul(self, other: Self) -> Self {
        Self::from_bits(product(self, other) as i64)
    }

    /// Returns the negated number; [`Fx::MIN`] for [`Fx::MIN`].
    #[must_use]
    #[inline]
    pub const fn wrapping_neg(self) -> Self {
        Self(self.0.wrapping_neg())
    }

    /// Returns the magnitude; [`Fx::MIN`] for [`Fx::MIN`].
    #[must_use]
    #[inline]
    pub const fn wrapping_abs(self) -> Self {
        Self(self.0.wrapping_abs())
    }
}
