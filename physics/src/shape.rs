//! The shapes of bodies.

use std::sync::Arc;

use metatopia_math::{Angle, Fx, Vec2};
use serde::{Deserialize, Serialize};

use crate::compound::{Compound, CompoundError};
use crate::fixed::{Q20, Vector};
use crate::limits::{MOVING_SIZE_MAX, SIZE_MIN, STATIC_SIZE_MAX};
use crate::motion::Motion;
use crate::polygon::{Polygon, PolygonError};
use crate::segment::{LineSegment, SegmentError};

/// The shape of a body around its position, in metres.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// A capsule: all points no further than `radius` from a segment, which has its middle at the
    /// position and lies along the body's own x axis.
    Capsule {
        /// Half the length of the segment, in the range of a radius.
        half: Fx,
        /// The radius, in the range of that of a circle.
        radius: Fx,
    },
    /// A convex polygon. The distances of its corners from its centre of mass, which is the position,
    /// are at most the largest radius for the kind of motion.
    Polygon(Polygon),
    /// A thin line that others meet from both sides; of static bodies only.
    Segment(LineSegment),
    /// Several shapes that move as one. The distances of their points from the position, their centre of
    /// mass, are at most the largest radius for the kind of motion.
    Compound(Compound),
}

impl Shape {
    /// Returns the area in square metres, rounded; zero for a segment. Like all of a shape's own questions it takes
    /// the sizes as they are, also those that no body can have; what is too large for the numbers saturates.
    #[must_use]
    pub fn area(&self) -> Fx {
        let four = Fx::from_int(4);
        let disc = |radius: Fx| radius.saturating_mul(radius).saturating_mul(Fx::PI);
        match self {
            Self::Circle { radius } => disc(*radius),
            Self::Rect { half } => half.x.saturating_mul(half.y).saturating_mul(four),
            Self::Capsule { half, radius } => {
                disc(*radius).saturating_add(half.saturating_mul(*radius).saturating_mul(four))
            }
            Self::Polygon(polygon) => polygon.area(),
            Self::Segment(_) => Fx::ZERO,
            Self::Compound(compound) => compound.area(),
        }
    }

    /// Returns whether the shape is of several parts.
    #[must_use]
    pub const fn is_compound(&self) -> bool {
        matches!(self, Self::Compound(_))
    }

    /// Returns whether the centre of mass is the position. It is for every shape that this crate makes, but bytes may
    /// be a polygon or a compound of which it is not.
    #[must_use]
    pub fn is_centred(&self) -> bool {
        match self {
            Self::Polygon(polygon) => polygon.is_centred(),
            Self::Compound(compound) => compound.is_centred(),
            Self::Circle { .. } | Self::Rect { .. } | Self::Capsule { .. } | Self::Segment(_) => {
                true
            }
        }
    }

    /// Returns the distance from the position to the furthest point, in metres.
    #[must_use]
    pub fn reach(&self) -> Fx {
        match self {
            Self::Circle { radius } => *radius,
            Self::Rect { half } => half.length(),
            Self::Capsule { half, radius } => half.saturating_add(*radius),
            Self::Polygon(polygon) => polygon.bounding_radius().fx(),
            Self::Segment(segment) => segment.bounding_radius().fx(),
            Self::Compound(compound) => compound.bounding_radius().fx(),
        }
    }

    /// Returns the point of the shape that is nearest to a point, both in metres in the body's own frame; the
    /// point itself if it is inside. Of a shape with a size below zero it is the nearest one of some shape.
    #[must_use]
    pub fn nearest(&self, point: Vec2) -> Vec2 {
        // Not `clamp`, which panics at a size below zero. No body has one, but anybody may ask for one.
        let clamped = |value: Fx, half: Fx| value.max(half.saturating_neg()).min(half);
        match self {
            Self::Circle { radius } => nearest_of_disc(Vec2::ZERO, *radius, point),
            Self::Rect { half } => Vec2::new(clamped(point.x, half.x), clamped(point.y, half.y)),
            Self::Capsule { half, radius } => {
                let middle = Vec2::new(clamped(point.x, *half), Fx::ZERO);
                nearest_of_disc(middle, *radius, point)
            }
            Self::Polygon(polygon) => polygon.nearest(point),
            Self::Segment(segment) => segment.nearest(point),
            Self::Compound(compound) => compound.nearest(point),
        }
    }

    /// Returns half the width and half the height, in metres, of the smallest box, with its middle at the position
    /// and its sides along the axes, that holds the shape turned by an angle.
    #[must_use]
    pub fn half_extents(&self, angle: Angle) -> Vec2 {
        let (sine, cosine) = angle.sin_cos();
        let (sine, cosine) = (sine.saturating_abs(), cosine.saturating_abs());
        let sum = |half: Vec2, a: Fx, b: Fx| {
            half.x.saturating_mul(a).saturating_add(half.y.saturating_mul(b))
        };
        match self {
            Self::Circle { radius } => Vec2::new(*radius, *radius),
            Self::Rect { half } => Vec2::new(sum(*half, cosine, sine), sum(*half, sine, cosine)),
            Self::Capsule { half, radius } => {
                let segment = Vec2::new(*half, Fx::ZERO);
                Vec2::new(sum(segment, cosine, sine), sum(segment, sine, cosine))
                    .saturating_add(Vec2::new(*radius, *radius))
            }
            Self::Polygon(polygon) => polygon.corners().fold(Vec2::ZERO, |most, corner| {
                let turned = corner.rotate(angle);
                let (x, y) = (turned.x.saturating_abs(), turned.y.saturating_abs());
                Vec2::new(most.x.max(x), most.y.max(y))
            }),
            Self::Segment(segment) => segment.half_extents(angle),
            Self::Compound(compound) => compound.half_extents(angle),
        }
    }

    /// Returns the lower and the upper corner, in metres from the position, of the smallest box with its sides along
    /// the axes that holds the shape turned by an angle.
    #[must_use]
    pub fn corners_around(&self, angle: Angle) -> [Vec2; 2] {
        match self {
            Self::Circle { .. } | Self::Rect { .. } | Self::Capsule { .. } => {
                let half = self.half_extents(angle);
                [Vec2::ZERO.saturating_sub(half), half]
            }
            Self::Polygon(polygon) => around(polygon.corners(), angle),
            Self::Segment(segment) => around(segment.ends(), angle),
            Self::Compound(compound) => compound.corners_around(angle),
        }
    }
}

/// Returns the corners of the box around points that are turned by an angle.
fn around(points: impl IntoIterator<Item = Vec2>, angle: Angle) -> [Vec2; 2] {
    let points = points.into_iter().map(|point| [point.rotate(angle); 2]);
    points.reduce(joined).unwrap_or_default()
}

/// Returns the corners of the smallest box that holds two boxes.
pub(crate) fn joined([low, high]: [Vec2; 2], [other_low, other_high]: [Vec2; 2]) -> [Vec2; 2] {
    [
        Vec2::new(low.x.min(other_low.x), low.y.min(other_low.y)),
        Vec2::new(high.x.max(other_high.x), high.y.max(other_high.y)),
    ]
}

/// Returns the point of a disc that is nearest to a point; the point itself if it is inside.
fn nearest_of_disc(centre: Vec2, radius: Fx, point: Vec2) -> Vec2 {
    let offset = point.saturating_sub(centre);
    match offset.normalize() {
        Some(direction) if offset.length() > radius => {
            centre.saturating_add(direction.scale(radius))
        }
        _ => point,
    }
}

/// A reason why a body cannot have a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// A size is out of range.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// The corners are no polygon.
    #[error(transparent)]
    Polygon(#[from] PolygonError),
    /// The body is no segment.
    #[error(transparent)]
    Segment(#[from] SegmentError),
    /// The parts are no compound.
    #[error(transparent)]
    Compound(#[from] CompoundError),
}

/// A size outside the range for this kind of motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: a size of {size} m is not in {SIZE_MIN}..={limit} m for a {motion} body")]
pub struct SizeError {
    /// The name of the field of the [`Shape`]: `radius`, `half`, `half.x` or `half.y`; `reach` for the
    /// distance of the furthest corner of a polygon, or the furthest point of a compound's part.
    pub field: &'static str,
    /// The size that was given, in metres.
    pub size: Fx,
    /// The largest size allowed.
    pub limit: Fx,
    /// The motion that the limit is for.
    pub motion: Motion,
}

/// A shape in the number formats of the solver. The larger ones are elsewhere: a step looks at all bodies, and most
/// are small.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Geometry {
    Circle(Q20),
    Rect(Vector),
    /// Half the length of the segment, and the radius.
    Capsule(Q20, Q20),
    Polygon(Arc<Polygon>),
    Segment(Arc<LineSegment>),
    Compound(Compound),
}

/// Returns the largest radius or half width for a kind of motion.
pub(crate) fn size_max(motion: Motion) -> Fx {
    match motion {
        Motion::Static => STATIC_SIZE_MAX,
        Motion::Kinematic | Motion::Dynamic => MOVING_SIZE_MAX,
    }
}

impl Geometry {
    /// Rounds a shape, if its sizes are in the range for `motion`.
    pub(crate) fn new(shape: &Shape, motion: Motion) -> Result<Self, ShapeError> {
        let limit = size_max(motion);
        let fit = |field, size: Fx| {
            if size < SIZE_MIN || size > limit {
                return Err(SizeError { field, size, limit, motion });
            }
            Ok(Q20::clamped(size, Q20::ZERO, Q20::constant(limit)))
        };
        Ok(match *shape {
            Shape::Circle { radius } => Self::Circle(fit("radius", radius)?),
            Shape::Rect { half } => {
                Self::Rect(Vector::new(fit("half.x", half.x)?, fit("half.y", half.y)?))
            }
            Shape::Capsule { half, radius } => {
                Self::Capsule(fit("half", half)?, fit("radius", radius)?)
            }
            Shape::Polygon(polygon) => {
                polygon.check()?;
                // The last bit is that of rounding up.
                let reach = Q20(polygon.bounding_radius().0 - 1);
                fit("reach", reach.fx())?;
                Self::Polygon(Arc::new(polygon))
            }
            Shape::Segment(segment) if motion == Motion::Static => Self::Segment(Arc::new(segment)),
            Shape::Segment(_) => return Err(SegmentError::Moves(motion).into()),
            Shape::Compound(ref compound) => {
                compound.check(motion)?;
                Self::Compound(compound.clone())
            }
        })
    }

    /// Converts the shape to the numbers of the public interface, exactly.
    pub(crate) fn shape(&self) -> Shape {
        match *self {
            Self::Circle(radius) => Shape::Circle { radius: radius.fx() },
            Self::Rect(half) => Shape::Rect { half: half.vec2() },
            Self::Capsule(half, radius) => Shape::Capsule { half: half.fx(), radius: radius.fx() },
            Self::Polygon(ref polygon) => Shape::Polygon(**polygon),
            Self::Segment(ref segment) => Shape::Segment(**segment),
            Self::Compound(ref compound) => Shape::Compound(compound.clone()),
        }
    }

    /// Checks that the sizes are in the range for `motion`.
    pub(crate) fn check(&self, motion: Motion) -> Result<(), ShapeError> {
        Self::new(&self.shape(), motion).map(|_| ())
    }

    /// Returns the distance from the centre to the nearest point of the boundary; of a compound, the least of its
    /// parts.
    pub(crate) fn inscribed_radius(&self) -> Q20 {
        match *self {
            Self::Circle(radius) => radius,
            Self::Rect(half) => half.x.min(half.y),
            Self::Capsule(_, radius) => radius,
            Self::Polygon(ref polygon) => polygon.inscribed_radius(),
            Self::Segment(_) => Q20::ZERO,
            Self::Compound(ref compound) => compound.inscribed_radius(),
        }
    }

    /// Returns the distance from the centre to the furthest point of the boundary, rounded up.
    pub(crate) fn bounding_radius(&self) -> Q20 {
        match *self {
            Self::Circle(radius) => radius,
            Self::Rect(half) => half.length() + Q20(1),
            Self::Capsule(half, radius) => half + radius,
            Self::Polygon(ref polygon) => polygon.bounding_radius(),
            Self::Segment(ref segment) => segment.bounding_radius(),
            Self::Compound(ref compound) => compound.bounding_radius(),
        }
    }

    /// Returns one over the squared radius of gyration (mass per inertia), with 24 fraction bits:
    /// from 2^16 for the largest moving shapes to 2^33 for the smallest.
    pub(crate) fn inverse_gyration(&self) -> i64 {
        // 2^24 / (squared / 2^40), without leaving 63 bits: sizes of 2^16 and more square to 2^31.
        (1 << 62) / (self.gyration_squared() >> 2).max(1)
    }

    /// Returns the squared radius of gyration with 40 fraction bits, of a shape that moves.
    pub(crate) fn gyration_squared(&self) -> i64 {
        // A disc has r^2 / 2, a rectangle (w^2 + h^2) / 3 with half widths.
        match *self {
            Self::Circle(radius) => i64::from(radius.0) * i64::from(radius.0) / 2,
            Self::Rect(half) => half.length_squared() as i64 / 3,
            Self::Capsule(half, radius) => capsule_gyration_squared(half.fx(), radius.fx()),
            Self::Polygon(ref polygon) => polygon.gyration_squared(),
            // A thin rod, about the middle; none moves.
            Self::Segment(ref segment) => {
                let radius = i64::from(segment.bounding_radius().0);
                radius * radius / 3
            }
            Self::Compound(ref compound) => compound.gyration_squared(),
        }
    }

    /// Returns whether a point of the body's own frame is inside the shape or on its boundary.
    pub(crate) fn contains(&self, point: Vector) -> bool {
        match *self {
            Self::Circle(radius) => !point.is_longer_than(radius),
            Self::Rect(half) => point.x.abs() <= half.x && point.y.abs() <= half.y,
            Self::Capsule(half, radius) => {
                let middle = Vector::new(point.x.bounded(half), Q20::ZERO);
                !(point - middle).is_longer_than(radius)
            }
            Self::Polygon(ref polygon) => polygon.contains(point),
            Self::Segment(ref segment) => segment.contains(point),
            Self::Compound(ref compound) => compound.contains(point),
        }
    }
}

/// Returns the squared radius of gyration of a capsule that moves, with 40 fraction bits.
fn capsule_gyration_squared(half: Fx, radius: Fx) -> i64 {
    // A rectangle of 2 h times 2 r, and a disc whose halves are h away: the mass of each times its own.
    let square = |side: Fx| side.saturating_mul(side);
    let (four, third) = (Fx::from_int(4), Fx::from_ratio(1, 3));
    let rect_mass = half.saturating_mul(radius).saturating_mul(four);
    let rect = square(half).saturating_add(square(radius)).saturating_mul(third);
    let disc_mass = square(radius).saturating_mul(Fx::PI);
    // The centre of a half disc is 4 r / (3 pi) from the whole one's: 8 h r / (3 pi) in the square.
    let lever = half.saturating_mul(radius).saturating_mul(Fx::from_int(8)).saturating_mul(third);
    let disc = square(radius).saturating_mul(Fx::HALF).saturating_add(square(half));
    let disc = disc.saturating_add(lever.saturating_div(Fx::PI));
    let sum = rect_mass.saturating_mul(rect).saturating_add(disc_mass.saturating_mul(disc));
    sum.saturating_div(rect_mass.saturating_add(disc_mass)).to_bits() << 8
}
