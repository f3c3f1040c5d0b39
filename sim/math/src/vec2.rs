//! Vectors in the plane.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::angle::Angle;
use crate::fx::{FRACTION_BITS, Fx};
use crate::rounding;
use crate::trig;

/// A point or a direction in the plane.
///
/// The order is by `x`, then by `y`; the serialised form is the two numbers in that order.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Vec2 {
    /// The first coordinate.
    pub x: Fx,
    /// The second coordinate.
    pub y: Fx,
}

impl Vec2 {
    /// The origin of coordinates.
    pub const ZERO: Self = Self { x: Fx::ZERO, y: Fx::ZERO };
    /// One along the x axis.
    pub const X: Self = Self { x: Fx::ONE, y: Fx::ZERO };
    /// One along the y axis.
    pub const Y: Self = Self { x: Fx::ZERO, y: Fx::ONE };

    /// Returns the vector (x, y).
    #[must_use]
    pub const fn new(x: Fx, y: Fx) -> Self {
        Self { x, y }
    }

    /// Returns the sum; `None` if a coordinate is out of range.
    #[must_use]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        Some(Self { x: self.x.checked_add(other.x)?, y: self.y.checked_add(other.y)? })
    }

    /// Returns the difference; `None` if a coordinate is out of range.
    #[must_use]
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        Some(Self { x: self.x.checked_sub(other.x)?, y: self.y.checked_sub(other.y)? })
    }

    /// Returns the vector times a number, each coordinate rounded; `None` if one is out of range.
    #[must_use]
    pub fn checked_scale(self, factor: Fx) -> Option<Self> {
        Some(Self { x: self.x.checked_mul(factor)?, y: self.y.checked_mul(factor)? })
    }

    /// Returns the sum, each coordinate clamped to the range.
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self { x: self.x.saturating_add(other.x), y: self.y.saturating_add(other.y) }
    }

    /// Returns the difference, each coordinate clamped to the range.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self { x: self.x.saturating_sub(other.x), y: self.y.saturating_sub(other.y) }
    }

    /// Returns the opposite vector, each coordinate clamped to the range.
    #[must_use]
    pub const fn saturating_neg(self) -> Self {
        Self { x: self.x.saturating_neg(), y: self.y.saturating_neg() }
    }

    /// Returns the vector times a number, each coordinate rounded and clamped to the range.
    #[must_use]
    pub const fn scale(self, factor: Fx) -> Self {
        Self { x: self.x.saturating_mul(factor), y: self.y.saturating_mul(factor) }
    }

    /// Returns the dot product x x' + y y', rounded once and clamped to the range.
    #[must_use]
    pub const fn dot(self, other: Self) -> Fx {
        let (x, y) = (product(self.x, other.x), product(self.y, other.y));
        // Only the greatest sum of all, 2^127, does not fit, and it saturates to the same result.
        narrow(x.saturating_add(y), FRACTION_BITS)
    }

    /// Returns the cross product x y' - y x', rounded once and clamped to the range: above zero if
    /// `other` is to the left of `self` (less than half a turn ahead).
    #[must_use]
    pub const fn cross(self, other: Self) -> Fx {
        narrow(product(self.x, other.y) - product(self.y, other.x), FRACTION_BITS)
    }

    /// Returns the length, rounded down; [`Fx::MAX`] if it is above that.
    #[must_use]
    pub const fn length(self) -> Fx {
        length(self.x.to_bits().unsigned_abs(), self.y.to_bits().unsigned_abs())
    }

    /// Returns the square of the length, rounded once and clamped to the range.
    #[must_use]
    pub const fn length_squared(self) -> Fx {
        self.dot(self)
    }

    /// Returns the distance to another point, rounded down; [`Fx::MAX`] if it is above that. The
    /// difference of the points itself may be out of range.
    #[must_use]
    pub const fn distance(self, other: Self) -> Fx {
        let width = self.x.to_bits().abs_diff(other.x.to_bits());
        let height = self.y.to_bits().abs_diff(other.y.to_bits());
        if width > Fx::MAX.to_bits() as u64 || height > Fx::MAX.to_bits() as u64 {
            return Fx::MAX;
        }
        length(width, height)
    }

    /// Returns the vector of length one in this direction, each coordinate with an error below
    /// 2^-32; `None` for the origin. Short vectors are as exact as long ones.
    #[must_use]
    pub const fn normalize(self) -> Option<Self> {
        let (x, y) = (self.x.to_bits() as i128, self.y.to_bits() as i128);
        let greatest = x.unsigned_abs() | y.unsigned_abs();
        if greatest == 0 {
            return None;
        }
        // Scaled up until the length has 63 or 64 bits, so that its floor is as good as exact. The
        // greater side gets 63 bits; only 2^63 itself has more, and the squares still fit.
        let scale = greatest.leading_zeros().saturating_sub(65);
        let (x, y) = (x << scale, y << scale);
        let length = (x.unsigned_abs().pow(2) + y.unsigned_abs().pow(2)).isqrt() as i128;
        Some(Self {
            x: Fx::saturating_from_wide(rounding::divide(x << FRACTION_BITS, length)),
            y: Fx::saturating_from_wide(rounding::divide(y << FRACTION_BITS, length)),
        })
    }

    /// Returns the vector a quarter of a turn ahead, (-y, x), clamped to the range.
    #[must_use]
    pub const fn perp(self) -> Self {
        Self { x: self.y.saturating_neg(), y: self.x }
    }

    /// Returns the vector turned by an angle, each coordinate rounded once and moved into the
    /// range. A coordinate is with an error of at most half a unit in the last place plus the length times
    /// 2^-59.
    #[must_use]
    pub const fn rotate(self, angle: Angle) -> Self {
        let (sine, cosine) = angle.wide_sin_cos();
        let (sine, cosine) = (Fx::from_bits(sine), Fx::from_bits(cosine));
        let x = product(self.x, cosine) - product(self.y, sine);
        let y = product(self.x, sine) + product(self.y, cosine);
        Self { x: narrow(x, trig::SINE_BITS), y: narrow(y, trig::SINE_BITS) }
    }

    /// Returns the direction of the vector; zero for the origin.
    #[must_use]
    pub const fn angle(self) -> Angle {
        Angle::atan2(self.y, self.x)
    }
}

/// `(x, y)`, each exact.
impl fmt::Display for Vec2 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.x, self.y)
    }
}

/// Returns the product of the bits of two numbers; at most 2^126 in magnitude.
const fn product(a: Fx, b: Fx) -> i128 {
    a.to_bits() as i128 * b.to_bits() as i128
}

/// Removes `bits` fraction bits, with rounding.
const fn narrow(wide: i128, bits: u32) -> Fx {
    Fx::saturating_from_wide(rounding::shift_right(wide, bits))
}

/// Returns the length of a diagonal. Both sides are at most 2^63.
const fn length(width: u64, height: u64) -> Fx {
    let square = (width as u128).pow(2) + (height as u128).pow(2);
    Fx::saturating_from_wide(square.isqrt() as i128)
}
