//! The fixed-point number [`Fx`].

mod arithmetic;
mod raw;
mod text;

use core::cmp::Ordering;
use core::hash::{Hash, Hasher};

use fixed::types::I32F32;
use serde::{Deserialize, Serialize};

use crate::rounding;
pub use text::{ParseFxError, ShortestFx};

/// Fraction bits of an [`Fx`].
pub(crate) const FRACTION_BITS: u32 = 32;

/// A signed fixed-point number: 32 integer bits and 32 fraction bits in an `i64`, as [`I32F32`] of
/// the crate `fixed` holds them.
///
/// It holds every multiple of 2^-32 from -2^31 to 2^31 - 2^-32. Two equal numbers have equal bits;
/// order, hash and the serialised form are those of the raw `i64`.
///
/// There are no operators, because an operator cannot name what it does at the end of the range:
///
/// ```compile_fail,E0369
/// # use metatopia_math::Fx;
/// let two = Fx::ONE + Fx::ONE;
/// ```
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fx(#[serde(with = "raw")] I32F32);

impl Fx {
    /// The number 0.
    pub const ZERO: Self = Self(I32F32::ZERO);
    /// The number 1.
    pub const ONE: Self = Self(I32F32::ONE);
    /// The number 1/2.
    pub const HALF: Self = Self::from_bits(1 << (FRACTION_BITS - 1));
    /// The smallest number above zero, 2^-32: one unit in the last place.
    pub const ULP: Self = Self(I32F32::DELTA);
    /// Half a turn in radians: pi, rounded to the nearest number.
    // Not that of `fixed`, which truncates its constants and has one unit less.
    pub const PI: Self = Self::from_bits(0x3_243F_6A89);
    /// A full turn in radians: 2 pi, rounded to the nearest number.
    pub const TAU: Self = Self::from_bits(0x6_487E_D511);
    /// The least number, -2^31.
    pub const MIN: Self = Self(I32F32::MIN);
    /// The greatest number, 2^31 - 2^-32.
    pub const MAX: Self = Self(I32F32::MAX);

    /// Returns the number `bits` * 2^-32.
    #[must_use]
    #[inline]
    pub const fn from_bits(bits: i64) -> Self {
        Self(I32F32::from_bits(bits))
    }

    /// Returns the number in units of 2^-32.
    #[must_use]
    #[inline]
    pub const fn to_bits(self) -> i64 {
        self.0.to_bits()
    }

    /// Returns the integer as a number; every `i32` fits.
    #[must_use]
    #[inline]
    pub const fn from_int(int: i32) -> Self {
        Self::from_bits((int as i64) << FRACTION_BITS)
    }

    /// Returns the integer as a number, if it is in -2^31 .. 2^31.
    #[must_use]
    #[inline]
    pub const fn checked_from_int(int: i64) -> Option<Self> {
        if int >= i32::MIN as i64 && int <= i32::MAX as i64 {
            Some(Self::from_bits(int << FRACTION_BITS))
        } else {
            None
        }
    }

    /// Returns `numerator / denominator`, rounded to the nearest number, for constants:
    /// `const FRICTION: Fx = Fx::from_ratio(3, 10);`
    ///
    /// # Panics
    ///
    /// Panics if the denominator is zero or the value out of range. For a constant, that fails the
    /// build.
    /// Use [`Fx::checked_ratio`] for values that are not known when the program is built.
    #[must_use]
    pub const fn from_ratio(numerator: i64, denominator: i64) -> Self {
        Self::checked_ratio(numerator, denominator)
            .expect("the ratio is a number between -2^31 and 2^31")
    }

    /// Returns `numerator / denominator`, rounded to the nearest number, a tie to even;
    /// `None` if the denominator is zero or the value out of range.
    #[must_use]
    pub const fn checked_ratio(numerator: i64, denominator: i64) -> Option<Self> {
        if denominator == 0 {
            return None;
        }
        let scaled = (numerator as i128) << FRACTION_BITS;
        Self::checked_from_wide(rounding::divide(scaled, denominator as i128))
    }

    /// Returns the greatest integer not above the number.
    #[must_use]
    #[inline]
    pub const fn floor_int(self) -> i64 {
        self.to_bits() >> FRACTION_BITS
    }

    /// Returns the least integer not below the number; 2^31 for numbers close to [`Fx::MAX`].
    #[must_use]
    #[inline]
    pub const fn ceil_int(self) -> i64 {
        let floor = self.floor_int();
        if self.fraction().0.is_zero() { floor } else { floor + 1 }
    }

    /// Returns the integer part, truncated towards zero.
    #[must_use]
    #[inline]
    pub const fn trunc_int(self) -> i64 {
        if self.0.is_negative() { self.ceil_int() } else { self.floor_int() }
    }

    /// Returns the nearest integer, a tie to the even one: 2.5 gives 2 and 3.5 gives 4.
    #[must_use]
    #[inline]
    pub const fn round_int(self) -> i64 {
        rounding::shift_right(self.to_bits() as i128, FRACTION_BITS) as i64
    }

    /// Returns the number minus its floor: 0 to 1 - 2^-32, also below zero.
    #[must_use]
    #[inline]
    pub const fn fraction(self) -> Self {
        Self(self.0.frac())
    }

    /// Returns the sign: -1, 0 or 1.
    #[must_use]
    #[inline]
    pub const fn signum(self) -> i32 {
        self.to_bits().signum() as i32
    }

    /// Returns the lesser of two.
    #[must_use]
    #[inline]
    pub const fn min(self, other: Self) -> Self {
        if other.to_bits() < self.to_bits() { other } else { self }
    }

    /// Returns the greater of two.
    #[must_use]
    #[inline]
    pub const fn max(self, other: Self) -> Self {
        if other.to_bits() > self.to_bits() { other } else { self }
    }

    /// Returns the number clamped to `low..=high`. If the bounds are swapped, `high` wins.
    #[must_use]
    #[inline]
    pub const fn clamp(self, low: Self, high: Self) -> Self {
        self.max(low).min(high)
    }

    /// Returns the square root, rounded down: the greatest `r` with `r * r <= self`, exactly.
    /// Returns `None` below zero.
    #[must_use]
    pub const fn sqrt(self) -> Option<Self> {
        if self.0.is_negative() {
            return None;
        }
        // sqrt(bits * 2^-32) = sqrt(bits * 2^32) * 2^-32, and the root is below 2^48.
        Some(Self::from_bits(((self.to_bits() as u128) << FRACTION_BITS).isqrt() as i64))
    }

    /// Returns the number whose bits are `wide`, if they fit.
    pub(crate) const fn checked_from_wide(wide: i128) -> Option<Self> {
        if wide >= i64::MIN as i128 && wide <= i64::MAX as i128 {
            Some(Self::from_bits(wide as i64))
        } else {
            None
        }
    }

    /// Returns the number whose bits are `wide`, clamped to the range.
    pub(crate) const fn saturating_from_wide(wide: i128) -> Self {
        match Self::checked_from_wide(wide) {
            Some(fits) => fits,
            None if wide < 0 => Self::MIN,
            None => Self::MAX,
        }
    }
}

// By the bits, not derived: `fixed` compares numbers of any two formats, and takes more instructions.
impl PartialEq for Fx {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.to_bits() == other.to_bits()
    }
}

impl Eq for Fx {}

impl Hash for Fx {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.to_bits().hash(state);
    }
}

impl PartialOrd for Fx {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Fx {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.to_bits().cmp(&other.to_bits())
    }
}
