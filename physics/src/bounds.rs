//! The bounds of a region: the ground that its bodies keep to.

use metatopia_math::{Fx, Vec2};

use crate::fixed::{Q20, Vector};
use crate::limits::COORDINATE_MAX;

/// The ground of a region: a rectangle that the position of no body leaves. Its corners are rounded
/// to multiples of 2^-20 m.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    low: Vector,
    high: Vector,
}

/// A reason why two corners are no bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BoundsError {
    /// A corner is further from the origin than positions can be.
    #[error("the corner {0} is more than {COORDINATE_MAX} m from the origin on an axis")]
    OutOfRange(Vec2),
    /// The low corner is not below the high one on both axes.
    #[error("there is no ground between the corners {low} and {high}")]
    Empty {
        /// The south-western corner.
        low: Vec2,
        /// The north-eastern corner.
        high: Vec2,
    },
}

impl Bounds {
    /// The largest bounds: [`COORDINATE_MAX`] from the origin on both axes, either sign.
    pub const MAX: Self = {
        let far = Q20::constant(COORDINATE_MAX);
        let near = Q20(-far.0);
        Self { low: Vector::new(near, near), high: Vector::new(far, far) }
    };

    /// Returns the bounds with these south-western and north-eastern corners, in metres.
    ///
    /// # Errors
    /// Returns [`BoundsError`] if a corner is too far away, or there is no ground between them.
    pub fn new(low: Vec2, high: Vec2) -> Result<Self, BoundsError> {
        let is_far = |part: Fx| part.saturating_abs() > COORDINATE_MAX;
        if let Some(far) = [low, high].into_iter().find(|at| is_far(at.x) || is_far(at.y)) {
            return Err(BoundsError::OutOfRange(far));
        }
        let corner = |at| Vector::clamped(at, Q20::constant(COORDINATE_MAX));
        let bounds = Self { low: corner(low), high: corner(high) };
        if bounds.low.x >= bounds.high.x || bounds.low.y >= bounds.high.y {
            return Err(BoundsError::Empty { low, high });
        }
        Ok(bounds)
    }

    /// Returns the south-western and the north-eastern corner.
    pub(crate) const fn corners(&self) -> (Vector, Vector) {
        (self.low, self.high)
    }

    /// Returns whether a position is inside or on the edge.
    #[must_use]
    pub fn contains(&self, position: Vec2) -> bool {
        let (low, high) = (self.low.vec2(), self.high.vec2());
        (low.x..=high.x).contains(&position.x) && (low.y..=high.y).contains(&position.y)
    }

    /// Returns the position inside that is nearest to this one.
    pub(crate) fn clamp(&self, position: Vector) -> Vector {
        Vector::new(
            position.x.clamp(self.low.x, self.high.x),
            position.y.clamp(self.low.y, self.high.y),
        )
    }
}

impl Default for Bounds {
    fn default() -> Self {
        Self::MAX
    }
}
