//! The four operations, each with its behaviour at the edge of the range in its name.

use super::{FRACTION_BITS, Fx};
use crate::rounding;

/// The rounded product, which may lie outside of the range. At most 2^94 in magnitude.
const fn product(a: Fx, b: Fx) -> i128 {
    rounding::shift_right(a.0 as i128 * b.0 as i128, FRACTION_BITS)
}

/// The rounded quotient, which may lie outside of the range. `b` is not zero.
const fn quotient(a: Fx, b: Fx) -> i128 {
    rounding::divide((a.0 as i128) << FRACTION_BITS, b.0 as i128)
}

/// Addition, subtraction and negation are exact wherever the result is in range. Multiplication and
/// division round the exact result to the nearest number, a tie to the one with even bits, and then
/// look at the range.
impl Fx {
    /// The sum; `None` out of range.
    #[must_use]
    pub const fn checked_add(self, other: Self) -> Option<Self> {
        match self.0.checked_add(other.0) {
            Some(bits) => Some(Self(bits)),
            None => None,
        }
    }

    /// The difference; `None` out of range.
    #[must_use]
    pub const fn checked_sub(self, other: Self) -> Option<Self> {
        match self.0.checked_sub(other.0) {
            Some(bits) => Some(Self(bits)),
            None => None,
        }
    }

    /// The rounded product; `None` out of range.
    #[must_use]
    pub const fn checked_mul(self, other: Self) -> Option<Self> {
        Self::checked_from_wide(product(self, other))
    }

    /// The rounded quotient; `None` out of range and for a divisor of zero.
    #[must_use]
    pub const fn checked_div(self, divisor: Self) -> Option<Self> {
        if divisor.0 == 0 { None } else { Self::checked_from_wide(quotient(self, divisor)) }
    }

    /// The rest of a division whose quotient is cut towards zero, exactly: it has the sign of
    /// `self`. `None` for a divisor of zero.
    #[must_use]
    pub const fn checked_rem(self, divisor: Self) -> Option<Self> {
        // Wrapping, since MIN % -ULP is zero but counts as an overflow.
        if divisor.0 == 0 { None } else { Some(Self(self.0.wrapping_rem(divisor.0))) }
    }

    /// The rest of a division, exactly and never negative: from zero up to, not including, the
    /// magnitude of the divisor. `None` for a divisor of zero.
    #[must_use]
    pub const fn checked_rem_euclid(self, divisor: Self) -> Option<Self> {
        if divisor.0 == 0 { None } else { Some(Self(self.0.wrapping_rem_euclid(divisor.0))) }
    }

    /// The negated number; `None` for [`Fx::MIN`].
    #[must_use]
    pub const fn checked_neg(self) -> Option<Self> {
        Self::ZERO.checked_sub(self)
    }

    /// The magnitude; `None` for [`Fx::MIN`].
    #[must_use]
    pub const fn checked_abs(self) -> Option<Self> {
        if self.0 < 0 { self.checked_neg() } else { Some(self) }
    }

    /// The sum, moved into the range.
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The difference, moved into the range.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The rounded product, moved into the range.
    #[must_use]
    pub const fn saturating_mul(self, other: Self) -> Self {
        Self::saturating_from_wide(product(self, other))
    }

    /// The rounded quotient, moved into the range. Division by zero gives the end of the range that
    /// has the sign of `self`, and 0 / 0 gives 0.
    #[must_use]
    pub const fn saturating_div(self, divisor: Self) -> Self {
        match (divisor.0, self.0.signum()) {
            (0, 0) => Self::ZERO,
            (0, 1) => Self::MAX,
            (0, _) => Self::MIN,
            _ => Self::saturating_from_wide(quotient(self, divisor)),
        }
    }

    /// The negated number; [`Fx::MAX`] for [`Fx::MIN`].
    #[must_use]
    pub const fn saturating_neg(self) -> Self {
        Self::ZERO.saturating_sub(self)
    }

    /// The magnitude; [`Fx::MAX`] for [`Fx::MIN`].
    #[must_use]
    pub const fn saturating_abs(self) -> Self {
        if self.0 < 0 { self.saturating_neg() } else { self }
    }

    /// The sum modulo 2^32.
    #[must_use]
    pub const fn wrapping_add(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }

    /// The difference modulo 2^32.
    #[must_use]
    pub const fn wrapping_sub(self, other: Self) -> Self {
        Self(self.0.wrapping_sub(other.0))
    }

    /// The rounded product modulo 2^32. (There is no wrapping division: it could not be total.)
    #[must_use]
    pub const fn wrapping_mul(self, other: Self) -> Self {
        Self(product(self, other) as i64)
    }

    /// The negated number; [`Fx::MIN`] for [`Fx::MIN`].
    #[must_use]
    pub const fn wrapping_neg(self) -> Self {
        Self(self.0.wrapping_neg())
    }

    /// The magnitude; [`Fx::MIN`] for [`Fx::MIN`].
    #[must_use]
    pub const fn wrapping_abs(self) -> Self {
        Self(self.0.wrapping_abs())
    }
}
