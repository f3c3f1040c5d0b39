//! The number formats of the kernels.
//!
//! Products are taken in 64 bits and rounded to the nearest, a tie upwards. Narrowing back to 32
//! bits wraps. The limits of `limits.rs` keep every value in range; in the unit tests of this crate
//! an assertion in [`narrow`] shows it.

use core::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

use metatopia_math::{Fx, Vec2};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The bits that an [`Fx`] has below the last bit of a [`Q20`].
const BELOW: u32 = 12;

/// Returns the low 32 bits, which are all of the number by the limits of this crate.
pub(crate) const fn narrow(wide: i64) -> i32 {
    if cfg!(test) {
        assert!(wide >= i32::MIN as i64 && wide <= i32::MAX as i64);
    }
    wide as i32
}

/// Returns the product of numbers of which one is of more than 32 bits. By the limits of this crate it fits; in builds
/// with debug assertions an assertion shows it.
///
/// Where a product is checked in every build, wasm32 computes 128 bits by a call: an eighth of a step of a pile.
pub(crate) const fn product(one: i64, other: i64) -> i64 {
    debug_assert!(one.checked_mul(other).is_some());
    one.wrapping_mul(other)
}

/// Returns `wide / 2^bits`, rounded to the nearest, a tie upwards.
pub(crate) const fn rounded(wide: i64, bits: u32) -> i64 {
    wide.wrapping_add(1 << (bits - 1)) >> bits
}

/// Metres, metres a second, radians a second and plain factors: 12 integer and 20 fraction bits.
/// One unit is about a millionth, the greatest magnitude 2048.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Q20(pub(crate) i32);

impl Q20 {
    pub(crate) const ZERO: Self = Self(0);
    pub(crate) const ONE: Self = Self(1 << 20);

    /// Rounds a constant of the crate, which is in range.
    pub(crate) const fn constant(value: Fx) -> Self {
        Self(narrow(rounded(value.to_bits(), BELOW)))
    }

    /// Clamps `value` to `low..=high` and rounds it to the nearest.
    pub(crate) fn clamped(value: Fx, low: Self, high: Self) -> Self {
        let bits = value.clamp(low.fx(), high.fx()).to_bits();
        Self(narrow(rounded(bits, BELOW)))
    }

    /// Converts the number to an [`Fx`], exactly.
    pub(crate) const fn fx(self) -> Fx {
        Fx::from_bits((self.0 as i64) << BELOW)
    }

    pub(crate) const fn abs(self) -> Self {
        Self(self.0.wrapping_abs())
    }

    pub(crate) fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Returns half of the number, rounded down.
    pub(crate) const fn half(self) -> Self {
        Self(self.0 >> 1)
    }

    /// Clamps the number to `-bound..=bound`.
    pub(crate) fn bounded(self, bound: Self) -> Self {
        self.max(-bound).min(bound)
    }

    /// Returns `self / whole`, for magnitudes that make a ratio of at most one; zero for 0 / 0.
    pub(crate) fn ratio(self, whole: Self) -> Q30 {
        if whole.is_zero() {
            return Q30(0);
        }
        Q30(narrow((i64::from(self.0) << 30) / i64::from(whole.0)))
    }
}

impl Add for Q20 {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(narrow(i64::from(self.0) + i64::from(other.0)))
    }
}

impl Sub for Q20 {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(narrow(i64::from(self.0) - i64::from(other.0)))
    }
}

impl Neg for Q20 {
    type Output = Self;
    fn neg(self) -> Self {
        Self(narrow(-i64::from(self.0)))
    }
}

impl AddAssign for Q20 {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Q20 {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Mul for Q20 {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self(narrow(rounded(i64::from(self.0) * i64::from(other.0), 20)))
    }
}

/// The change of spin per change of relative speed at a contact: 8 integer and 24 fraction bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Q24(pub(crate) i32);

impl Q24 {
    /// Returns the product with 20 fraction bits, of up to 38 bits in all.
    pub(crate) fn times(self, other: Q20) -> i64 {
        rounded(i64::from(self.0) * i64::from(other.0), 24)
    }
}

/// Sines, cosines and ratios: 2 integer and 30 fraction bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Q30(pub(crate) i32);

impl Q30 {
    pub(crate) const ONE: Self = Self(1 << 30);

    pub(crate) const fn abs(self) -> Self {
        Self(self.0.wrapping_abs())
    }
}

impl Neg for Q30 {
    type Output = Self;
    fn neg(self) -> Self {
        Self(narrow(-i64::from(self.0)))
    }
}

impl Mul<Q20> for Q30 {
    type Output = Q20;
    fn mul(self, other: Q20) -> Q20 {
        Q20(narrow(rounded(i64::from(self.0) * i64::from(other.0), 30)))
    }
}

/// Encodes a number as its bits. What serde derives is not inlined, and a snapshot has numbers by the
/// hundred thousand.
macro_rules! encode_as_bits {
    ($($number:ident)*) => {$(
        impl Serialize for $number {
            #[inline]
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_i32(self.0)
            }
        }

        impl<'de> Deserialize<'de> for $number {
            #[inline]
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                i32::deserialize(deserializer).map(Self)
            }
        }
    )*};
}

encode_as_bits!(Q20 Q30);

/// A position, an offset or a velocity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Vector {
    pub(crate) x: Q20,
    pub(crate) y: Q20,
}

impl Vector {
    pub(crate) const ZERO: Self = Self { x: Q20::ZERO, y: Q20::ZERO };

    pub(crate) const fn new(x: Q20, y: Q20) -> Self {
        Self { x, y }
    }

    /// Clamps each coordinate to `-bound..=bound` and rounds it to the nearest.
    pub(crate) fn clamped(value: Vec2, bound: Q20) -> Self {
        Self { x: Q20::clamped(value.x, -bound, bound), y: Q20::clamped(value.y, -bound, bound) }
    }

    /// Converts the vector to the numbers of the public interface, exactly.
    pub(crate) const fn vec2(self) -> Vec2 {
        Vec2::new(self.x.fx(), self.y.fx())
    }

    pub(crate) fn is_zero(self) -> bool {
        self == Self::ZERO
    }

    /// Returns the dot product with a direction.
    pub(crate) fn dot(self, direction: Unit) -> Q20 {
        let x = i64::from(self.x.0) * i64::from(direction.x.0);
        let y = i64::from(self.y.0) * i64::from(direction.y.0);
        Q20(narrow(rounded(x.wrapping_add(y), 30)))
    }

    /// Returns the cross product with a direction: the lever arm of a force in this direction.
    pub(crate) fn cross(self, direction: Unit) -> Q20 {
        let x = i64::from(self.x.0) * i64::from(direction.y.0);
        let y = i64::from(self.y.0) * i64::from(direction.x.0);
        Q20(narrow(rounded(x.wrapping_sub(y), 30)))
    }

    /// Rotates the vector by the angle of `facing`: from a body's own frame to the region's.
    pub(crate) fn rotated(self, facing: Unit) -> Self {
        Self::new(self.dot(facing.conjugate()), self.dot(facing.swapped()))
    }

    /// Rotates the vector back: from the region's frame to a body's own.
    pub(crate) fn inverse_rotated(self, facing: Unit) -> Self {
        self.rotated(facing.conjugate())
    }

    /// Returns the sum of both coordinates' magnitudes: no less than the length.
    pub(crate) fn extent(self) -> Q20 {
        self.x.abs() + self.y.abs()
    }

    /// Returns the square of the length, in units of 2^-40.
    pub(crate) const fn length_squared(self) -> u64 {
        let (x, y) = (self.x.0.unsigned_abs() as u64, self.y.0.unsigned_abs() as u64);
        (x * x).wrapping_add(y * y)
    }

    /// Returns whether the vector is longer than `bound`, which is not below zero.
    pub(crate) fn is_longer_than(self, bound: Q20) -> bool {
        self.length_squared() > (i64::from(bound.0) * i64::from(bound.0)) as u64
    }

    /// Returns the length, rounded down.
    pub(crate) const fn length(self) -> Q20 {
        Q20(narrow(self.length_squared().isqrt() as i64))
    }

    /// Returns the direction of the vector, whose length is `length` and not zero.
    pub(crate) fn direction(self, length: Q20) -> Unit {
        Unit { x: self.x.ratio(length), y: self.y.ratio(length) }
    }

    /// Shortens the vector to at most `bound`, in the same direction.
    pub(crate) fn clamp_length(self, bound: Q20) -> Self {
        if !self.is_longer_than(bound) {
            return self;
        }
        let squared = self.length_squared();
        // Divided by the length rounded up, and cut towards zero: never longer than the bound.
        let floor = squared.isqrt();
        let length = (floor + u64::from(floor * floor < squared)) as i64;
        let part = |side: Q20| Q20(narrow(i64::from(side.0) * i64::from(bound.0) / length));
        Self::new(part(self.x), part(self.y))
    }

    /// Clamps each coordinate to `-bound..=bound`.
    pub(crate) fn bounded(self, bound: Q20) -> Self {
        Self::new(self.x.bounded(bound), self.y.bounded(bound))
    }
}

impl Add for Vector {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::new(self.x + other.x, self.y + other.y)
    }
}

impl Sub for Vector {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self::new(self.x - other.x, self.y - other.y)
    }
}

impl Neg for Vector {
    type Output = Self;
    fn neg(self) -> Self {
        Self::new(-self.x, -self.y)
    }
}

/// A vector of length one: a contact's normal, or a facing as its cosine and sine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Unit {
    pub(crate) x: Q30,
    pub(crate) y: Q30,
}

impl Unit {
    pub(crate) const X: Self = Self { x: Q30::ONE, y: Q30(0) };
    pub(crate) const Y: Self = Self { x: Q30(0), y: Q30::ONE };

    /// Returns the vector of this length in this direction.
    pub(crate) fn scaled(self, length: Q20) -> Vector {
        Vector::new(self.x * length, self.y * length)
    }

    /// Returns the direction times a ratio of at most one.
    pub(crate) fn shortened(self, ratio: Q30) -> Self {
        let part = |side: Q30| Q30(narrow(rounded(i64::from(side.0) * i64::from(ratio.0), 30)));
        Self { x: part(self.x), y: part(self.y) }
    }

    /// Rotates the direction by the angle of `facing`.
    pub(crate) fn rotated(self, facing: Self) -> Self {
        let product = |a: Q30, b: Q30| i64::from(a.0) * i64::from(b.0);
        let x = product(self.x, facing.x).wrapping_sub(product(self.y, facing.y));
        let y = product(self.x, facing.y).wrapping_add(product(self.y, facing.x));
        Self { x: Q30(narrow(rounded(x, 30))), y: Q30(narrow(rounded(y, 30))) }
    }

    /// Returns the direction of the opposite angle.
    pub(crate) fn conjugate(self) -> Self {
        Self { x: self.x, y: -self.y }
    }

    /// Rotates the direction by a quarter turn to the right: from a normal to its tangent.
    pub(crate) fn right_perp(self) -> Self {
        Self { x: self.y, y: -self.x }
    }

    /// Mirrors the direction at the diagonal.
    fn swapped(self) -> Self {
        Self { x: self.y, y: self.x }
    }

    /// Corrects the length by one step of Newton's iteration towards one.
    pub(crate) fn normalised(self) -> Self {
        let (x, y) = (i64::from(self.x.0), i64::from(self.y.0));
        let squared = rounded(x * x + y * y, 30);
        let factor = ((3 << 30) - squared) / 2;
        let scaled = |side: i64| Q30(narrow(rounded(product(side, factor), 30)));
        Self { x: scaled(x), y: scaled(y) }
    }
}

impl Neg for Unit {
    type Output = Self;
    fn neg(self) -> Self {
        Self { x: -self.x, y: -self.y }
    }
}
