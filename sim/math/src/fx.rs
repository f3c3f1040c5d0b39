//! The fixed-point number.

mod arithmetic;
mod text;

use serde::{Deserialize, Serialize};

use crate::rounding;
pub use text::ParseFxError;

/// Fraction bits of an [`Fx`].
pub(crate) const FRACTION_BITS: u32 = 32;

/// A signed fixed-point number: 32 integer bits and 32 fraction bits in an `i64`.
///
/// It holds every multiple of 2^-32 from -2^31 to 2^31 - 2^-32. Two equal numbers have equal bits;
/// order, hash and the serialised form are those of the raw `i64`.
///
/// There are no operators, because they could not say what they do at the end of the range:
///
/// ```compile_fail,E0369
/// # use metatopia_math::Fx;
/// let two = Fx::ONE + Fx::ONE;
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fx(i64);

impl Fx {
    /// 0.
    pub const ZERO: Self = Self(0);
    /// 1.
    pub const ONE: Self = Self(1 << FRACTION_BITS);
    /// 1/2.
    pub const HALF: Self = Self(1 << (FRACTION_BITS - 1));
    /// The smallest number above zero, 2^-32: one unit in the last place.
    pub const ULP: Self = Self(1);
    /// Half a turn in radians: pi, rounded to the nearest number.
    pub const PI: Self = Self(0x3_243F_6A89);
    /// A full turn in radians: 2 pi, rounded to the nearest number.
    pub const TAU: Self = Self(0x6_487E_D511);
    /// The least number, -2^31.
    pub const MIN: Self = Self(i64::MIN);
    /// The greatest number, 2^31 - 2^-32.
    pub const MAX: Self = Self(i64::MAX);

    /// The number `bits` * 2^-32.
    #[must_use]
    pub const fn from_bits(bits: i64) -> Self {
        Self(bits)
    }

    /// The number in units of 2^-32.
    #[must_use]
    pub const fn to_bits(self) -> i64 {
        self.0
    }

    /// The integer as a number; every `i32` fits.
    #[must_use]
    pub const fn from_int(int: i32) -> Self {
        Self((int as i64) << FRACTION_BITS)
    }

    /// The integer as a number, if it is in -2^31 .. 2^31.
    #[must_use]
    pub const fn checked_from_int(int: i64) -> Option<Self> {
        if int >= i32::MIN as i64 && int <= i32::MAX as i64 {
            Some(Self(int << FRACTION_BITS))
        } else {
            None
        }
    }

    /// `numerator / denominator`, rounded to the nearest number, for constants:
    /// `const GRIP: Fx = Fx::from_ratio(3, 10);`
    ///
    /// # Panics
    ///
    /// If the denominator is zero or the value out of range, which fails the build of a constant.
    /// Use [`Fx::checked_ratio`] for values that are not known when the program is built.
    #[must_use]
    pub const fn from_ratio(numerator: i64, denominator: i64) -> Self {
        Self::checked_ratio(numerator, denominator)
            .expect("the ratio is a number between -2^31 and 2^31")
    }

    /// `numerator / denominator`, rounded to the nearest number, a tie to even.
    /// `None` for a denominator of zero and out of range.
    #[must_use]
    pub const fn checked_ratio(numerator: i64, denominator: i64) -> Option<Self> {
        if denominator == 0 {
            return None;
        }
        let scaled = (numerator as i128) << FRACTION_BITS;
        Self::checked_from_wide(rounding::divide(scaled, denominator as i128))
    }

    /// The greatest integer not above the number.
    #[must_use]
    pub const fn floor_int(self) -> i64 {
        self.0 >> FRACTION_BITS
    }

    /// The least integer not below the number; 2^31 for numbers close to [`Fx::MAX`].
    #[must_use]
    pub const fn ceil_int(self) -> i64 {
        let floor = self.floor_int();
        if self.fraction().0 == 0 { floor } else { floor + 1 }
    }

    /// The integer part, cut towards zero.
    #[must_use]
    pub const fn trunc_int(self) -> i64 {
        if self.0 < 0 { self.ceil_int() } else { self.floor_int() }
    }

    /// The nearest integer, a tie to the even one: 2.5 gives 2 and 3.5 gives 4.
    #[must_use]
    pub const fn round_int(self) -> i64 {
        rounding::shift_right(self.0 as i128, FRACTION_BITS) as i64
    }

    /// The number minus its floor: 0 to 1 - 2^-32, also below zero.
    #[must_use]
    pub const fn fraction(self) -> Self {
        Self(self.0 & (Self::ONE.0 - 1))
    }

    /// -1, 0 or 1.
    #[must_use]
    pub const fn signum(self) -> i32 {
        self.0.signum() as i32
    }

    /// The lesser of two.
    #[must_use]
    pub const fn min(self, other: Self) -> Self {
        if other.0 < self.0 { other } else { self }
    }

    /// The greater of two.
    #[must_use]
    pub const fn max(self, other: Self) -> Self {
        if other.0 > self.0 { other } else { self }
    }

    /// The number moved into `low..=high`. If the bounds are swapped, `high` wins.
    #[must_use]
    pub const fn clamp(self, low: Self, high: Self) -> Self {
        self.max(low).min(high)
    }

    /// The square root, rounded down: the greatest `r` with `r * r <= self`, exactly.
    /// `None` below zero.
    #[must_use]
    pub const fn sqrt(self) -> Option<Self> {
        if self.0 < 0 {
            return None;
        }
        // sqrt(bits * 2^-32) = sqrt(bits * 2^32) * 2^-32, and the root is below 2^48.
        Some(Self(((self.0 as u128) << FRACTION_BITS).isqrt() as i64))
    }

    /// The number whose bits are `wide`, if they fit.
    pub(crate) const fn checked_from_wide(wide: i128) -> Option<Self> {
        if wide >= i64::MIN as i128 && wide <= i64::MAX as i128 {
            Some(Self(wide as i64))
        } else {
            None
        }
    }

    /// The number whose bits are `wide`, moved into the range.
    pub(crate) const fn saturating_from_wide(wide: i128) -> Self {
        match Self::checked_from_wide(wide) {
            Some(fits) => fits,
            None if wide < 0 => Self::MIN,
            None => Self::MAX,
        }
    }
}
