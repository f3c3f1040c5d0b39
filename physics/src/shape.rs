//! The shapes of bodies.

use metatopia_math::{Fx, Vec2};
use serde::{Deserialize, Serialize};

use crate::fixed::{Q20, Vector};
use crate::limits::{MOVING_SIZE_MAX, SIZE_MIN, STATIC_SIZE_MAX};
use crate::motion::Motion;

/// The shape of a body around its position, in metres.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shape {
    /// A disc: all points no further away than `radius`.
    Circle {
        /// The radius: from [`SIZE_MIN`] to [`MOVING_SIZE_MAX`], or to [`STATIC_SIZE_MAX`] for a
        /// static body.
        radius: Fx,
    },
    /// A rectangle with its centre at the position, which rotates with the body.
    Rect {
        /// Half the width and half the height, each in the range of a radius.
        half: Vec2,
    },
}

/// A radius or half width outside the range for this kind of motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a size of {size} m is not in {SIZE_MIN}..={limit} m for a {motion} body")]
pub struct SizeError {
    /// The radius or half width, in metres.
    pub size: Fx,
    /// The largest size allowed.
    pub limit: Fx,
    /// The motion that the limit is for.
    pub motion: Motion,
}

/// A shape in the number formats of the solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Geometry {
    Circle(Q20),
    Rect(Vector),
}

/// Returns the largest radius or half width for a kind of motion.
fn size_max(motion: Motion) -> Fx {
    match motion {
        Motion::Static => STATIC_SIZE_MAX,
        Motion::Kinematic | Motion::Dynamic => MOVING_SIZE_MAX,
    }
}

impl Geometry {
    /// Rounds a shape, if its sizes are in the range for `motion`.
    pub(crate) fn new(shape: Shape, motion: Motion) -> Result<Self, SizeError> {
        let limit = size_max(motion);
        let fit = |size: Fx| {
            if size < SIZE_MIN || size > limit {
                return Err(SizeError { size, limit, motion });
            }
            Ok(Q20::clamped(size, Q20::ZERO, Q20::constant(limit)))
        };
        Ok(match shape {
            Shape::Circle { radius } => Self::Circle(fit(radius)?),
            Shape::Rect { half } => Self::Rect(Vector::new(fit(half.x)?, fit(half.y)?)),
        })
    }

    /// Converts the shape to the numbers of the public interface, exactly.
    pub(crate) fn shape(self) -> Shape {
        match self {
            Self::Circle(radius) => Shape::Circle { radius: radius.fx() },
            Self::Rect(half) => Shape::Rect { half: half.vec2() },
        }
    }

    /// Checks that the sizes are in the range for `motion`.
    pub(crate) fn check(self, motion: Motion) -> Result<(), SizeError> {
        Self::new(self.shape(), motion).map(|_| ())
    }

    /// Returns the distance from the centre to the nearest point of the boundary.
    pub(crate) fn inscribed_radius(self) -> Q20 {
        match self {
            Self::Circle(radius) => radius,
            Self::Rect(half) => half.x.min(half.y),
        }
    }

    /// Returns the distance from the centre to the furthest point of the boundary, rounded up.
    pub(crate) fn bounding_radius(self) -> Q20 {
        match self {
            Self::Circle(radius) => radius,
            Self::Rect(half) => half.length() + Q20(1),
        }
    }

    /// Returns one over the squared radius of gyration (mass per inertia), with 24 fraction bits:
    /// from 2^16 for the largest moving shapes to 2^33 for the smallest.
    pub(crate) fn inverse_gyration(self) -> i64 {
        // A disc has r^2 / 2, a rectangle (w^2 + h^2) / 3 with half widths, both here with 40 bits.
        let squared = match self {
            Self::Circle(radius) => i64::from(radius.0) * i64::from(radius.0) / 2,
            Self::Rect(half) => half.length_squared() as i64 / 3,
        };
        // 2^24 / (squared / 2^40), without leaving 63 bits: sizes of 2^16 and more square to 2^31.
        (1 << 62) / (squared >> 2).max(1)
    }

    /// Returns whether a point of the body's own frame is inside the shape or on its boundary.
    pub(crate) fn contains(self, point: Vector) -> bool {
        match self {
            Self::Circle(radius) => !point.is_longer_than(radius),
            Self::Rect(half) => point.x.abs() <= half.x && point.y.abs() <= half.y,
        }
    }
}
