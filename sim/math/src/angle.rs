//! Angles, as directions in the plane.

use serde::{Deserialize, Serialize};

use crate::fx::Fx;
use crate::rounding;
use crate::trig;
use crate::vec2::Vec2;

/// A direction, as a share of a full turn in units of 2^-32 turns.
///
/// Angles grow from the x axis towards the y axis and wrap exactly: 2^32 units make a full turn,
/// which is the same direction with the same bits. The serialised form is the `u32`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Angle(u32);

impl Angle {
    /// The direction of the x axis.
    pub const ZERO: Self = Self(0);
    /// An eighth of a turn.
    pub const EIGHTH: Self = Self(1 << 29);
    /// A quarter of a turn: the direction of the y axis.
    pub const QUARTER: Self = Self(1 << 30);
    /// Half a turn: the direction opposite to the x axis.
    pub const HALF: Self = Self(1 << 31);

    /// Returns the angle `bits` * 2^-32 turns.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Returns the angle in units of 2^-32 turns.
    #[must_use]
    pub const fn to_bits(self) -> u32 {
        self.0
    }

    /// Returns the angle of a number of radians, without whole turns, rounded to the nearest.
    #[must_use]
    pub const fn from_radians(radians: Fx) -> Self {
        Self::from_turn(trig::turn_from_radians(radians))
    }

    /// Returns the angle in radians, rounded to the nearest number: above -pi and up to [`Fx::PI`].
    /// [`Angle::from_radians`] returns the same angle again.
    #[must_use]
    pub const fn to_radians(self) -> Fx {
        let turn = (self.0 as i128) << 32;
        trig::radians_from_turn(if self.0 > Self::HALF.0 { turn - (1 << 64) } else { turn })
    }

    /// Returns the angle of a number of turns, without whole turns; exact.
    #[must_use]
    pub const fn from_turns(turns: Fx) -> Self {
        Self(turns.to_bits() as u32)
    }

    /// Returns the sum of two angles.
    #[must_use]
    pub const fn wrapping_add(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }

    /// Returns the angle from `other` to `self`.
    #[must_use]
    pub const fn wrapping_sub(self, other: Self) -> Self {
        Self(self.0.wrapping_sub(other.0))
    }

    /// Returns the opposite angle, mirrored at the x axis.
    #[must_use]
    pub const fn wrapping_neg(self) -> Self {
        Self(self.0.wrapping_neg())
    }

    /// Returns the sine and the cosine. They are exact at whole quarters, and elsewhere have an
    /// error of at most 2^-32.9.
    #[must_use]
    pub const fn sin_cos(self) -> (Fx, Fx) {
        let (sine, cosine) = self.wide_sin_cos();
        (trig::fx_from_sine(sine), trig::fx_from_sine(cosine))
    }

    /// Returns the sine.
    #[must_use]
    pub const fn sin(self) -> Fx {
        self.sin_cos().0
    }

    /// Returns the cosine.
    #[must_use]
    pub const fn cos(self) -> Fx {
        self.sin_cos().1
    }

    /// Returns the point at distance one in this direction.
    #[must_use]
    pub const fn direction(self) -> Vec2 {
        let (y, x) = self.sin_cos();
        Vec2 { x, y }
    }

    /// Returns the direction of the point (x, y), rounded to the nearest angle; zero for the
    /// origin.
    #[must_use]
    pub const fn atan2(y: Fx, x: Fx) -> Self {
        let turn = trig::turn_of(y.to_bits(), x.to_bits());
        Self::from_turn(if y.to_bits() < 0 { turn.wrapping_neg() } else { turn })
    }

    /// Returns sine and cosine in units of 2^-62.
    pub(crate) const fn wide_sin_cos(self) -> (i64, i64) {
        trig::sin_cos((self.0 as u64) << 32)
    }

    /// Rounds a share of a turn in units of 2^-64 turns.
    const fn from_turn(turn: u64) -> Self {
        Self(rounding::shift_right(turn as i128, 32) as u32)
    }
}
