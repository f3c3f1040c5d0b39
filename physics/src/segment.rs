//! Segments: thin, two-sided pieces of ground, alone or as parts of a chain.

use metatopia_math::{Angle, Fx, Vec2};
use serde::{Deserialize, Serialize};

use crate::fixed::{Q20, Vector, narrow};
use crate::limits::{SIZE_MIN, STATIC_SIZE_MAX};
use crate::motion::Motion;
use crate::polygon::turn;

/// How far apart the ends of a segment may be on an axis.
pub(crate) const SPAN_MAX: Q20 = Q20::constant(STATIC_SIZE_MAX.saturating_mul(Fx::from_int(2)));

/// How far the other end of a neighbour may be from the middle.
const NEIGHBOUR_MAX: Q20 = Q20::constant(STATIC_SIZE_MAX.saturating_mul(Fx::from_int(3)));

/// A straight line between two ends, which others meet from both sides. Only static bodies have it.
///
/// One of a [`SegmentChain`](crate::SegmentChain) also knows where its neighbours end: what slides from one to the next
/// meets them as one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "SegmentForm", into = "SegmentForm")]
pub struct LineSegment {
    ends: [Vector; 2],
    /// The other end of the segment before, and that of the one after.
    neighbours: [Option<Vector>; 2],
}

/// A reason why ends are no segment of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SegmentError {
    /// An end is too far from the middle.
    #[error("{field}: more than {STATIC_SIZE_MAX} m from the middle of the segment")]
    Far {
        /// The end: `from` or `to`; `before` or `after` for that of a neighbour, which may be three times as
        /// far.
        field: &'static str,
    },
    /// An end is too close to the one that it is joined to, or in the same place.
    #[error("{field}: less than {SIZE_MIN} m from the other end")]
    Short {
        /// The end: `to`, or `before` or `after` for that of a neighbour.
        field: &'static str,
    },
    /// Only static bodies are segments.
    #[error("motion: a segment has no inside, so its body is static, not {0}")]
    Moves(Motion),
}

/// The encoding of a segment.
type SegmentForm = (Vector, Vector, Option<Vector>, Option<Vector>);

impl LineSegment {
    /// Returns the segment between two points, in metres. It is moved so that its middle is the body's
    /// position, and rounded to multiples of 2^-20 m.
    ///
    /// # Errors
    /// Returns [`SegmentError`], which names the end.
    pub fn new(from: Vec2, to: Vec2) -> Result<Self, SegmentError> {
        let way = to.saturating_sub(from);
        let reach = SPAN_MAX.fx();
        if way.x.saturating_abs() > reach || way.y.saturating_abs() > reach {
            return Err(SegmentError::Far { field: "to" });
        }
        let way = Vector::clamped(way, SPAN_MAX);
        Self::placed([Vector::ZERO, way], [None; 2]).map(|(_, segment)| segment)
    }

    /// Returns the segment between two points of a region that are no further apart than [`SPAN_MAX`], and
    /// the position of its body. The points of the neighbours are no further from these.
    pub(crate) fn placed(
        [from, to]: [Vector; 2],
        neighbours: [Option<Vector>; 2],
    ) -> Result<(Vector, Self), SegmentError> {
        let half = |from: Q20, to: Q20| Q20(narrow((i64::from(from.0) + i64::from(to.0)) >> 1));
        let middle = Vector::new(half(from.x, to.x), half(from.y, to.y));
        let own = |point: Vector| point - middle;
        let segment =
            Self { ends: [own(from), own(to)], neighbours: neighbours.map(|end| end.map(own)) };
        segment.check()?;
        Ok((middle, segment))
    }

    /// Returns both ends in metres from the body's position, exactly.
    #[must_use]
    pub fn ends(&self) -> [Vec2; 2] {
        self.ends.map(Vector::vec2)
    }

    /// Returns where the segment before it begins and where the one after it ends, in metres from the body's
    /// position, exactly; none at an end of a chain, and of a segment that is alone.
    #[must_use]
    pub fn neighbour_ends(&self) -> [Option<Vec2>; 2] {
        self.neighbours.map(|end| end.map(Vector::vec2))
    }

    pub(crate) const fn points(&self) -> [Vector; 2] {
        self.ends
    }

    pub(crate) const fn neighbours(&self) -> [Option<Vector>; 2] {
        self.neighbours
    }

    /// Checks that the segment is one that a static body can have.
    fn check(&self) -> Result<(), SegmentError> {
        let [from, to] = self.ends;
        let [before, after] = self.neighbours;
        let far = |field, end: Option<Vector>, most: Q20| match end {
            Some(end) if end.is_longer_than(most) => Err(SegmentError::Far { field }),
            _ => Ok(()),
        };
        far("from", Some(from), Q20::constant(STATIC_SIZE_MAX))?;
        far("to", Some(to), Q20::constant(STATIC_SIZE_MAX))?;
        far("before", before, NEIGHBOUR_MAX)?;
        far("after", after, NEIGHBOUR_MAX)?;
        let short = |field, end: Option<Vector>, other: Vector| match end {
            Some(end) if (end - other).length() < Q20::constant(SIZE_MIN) => {
                Err(SegmentError::Short { field })
            }
            _ => Ok(()),
        };
        short("to", Some(to), from)?;
        short("before", before, from)?;
        short("after", after, to)
    }

    /// Returns the distance from the position to the further end, rounded up.
    pub(crate) fn bounding_radius(&self) -> Q20 {
        let [from, to] = self.ends;
        from.length().max(to.length()) + Q20(1)
    }

    /// Returns half the width and half the height of the box around the position that holds the segment
    /// turned by an angle.
    pub(crate) fn half_extents(&self, angle: Angle) -> Vec2 {
        let [a, b] = self.ends().map(|end| end.rotate(angle));
        let most = |a: Fx, b: Fx| a.saturating_abs().max(b.saturating_abs());
        Vec2::new(most(a.x, b.x), most(a.y, b.y))
    }

    /// Returns the point of the segment that is nearest to a point.
    pub(crate) fn nearest(&self, point: Vec2) -> Vec2 {
        let [from, to] = self.ends();
        let way = to.saturating_sub(from);
        let along = way.dot(point.saturating_sub(from)).saturating_div(way.length_squared());
        from.saturating_add(way.scale(along.clamp(Fx::ZERO, Fx::ONE)))
    }

    /// Returns whether a point no further away than the ends is exactly on the segment.
    pub(crate) fn contains(&self, point: Vector) -> bool {
        let [from, to] = self.ends;
        let between = |at: Q20, a: Q20, b: Q20| a.min(b) <= at && at <= a.max(b);
        between(point.x, from.x, to.x)
            && between(point.y, from.y, to.y)
            && turn(to - from, point - from) == 0
    }

    /// Returns the part of a short way at which it crosses the segment, from either side. Two of a
    /// chain leave no gap: both ask on which side of the way their common end is, and get one answer.
    pub(crate) fn met_by_ray(&self, start: Vec2, way: Vec2) -> Option<Fx> {
        let [from, to] = self.ends();
        let along = to.saturating_sub(from);
        let beside =
            |a: Fx, b: Fx| (a > Fx::ZERO && b > Fx::ZERO) || (a < Fx::ZERO && b < Fx::ZERO);
        let side_of_way = |end: Vec2| way.cross(end.saturating_sub(start));
        let side = |point: Vec2| along.cross(point.saturating_sub(from));
        let (first, last) = (side(start), side(start.saturating_add(way)));
        // What runs along a segment does not come into it.
        if first == last || beside(first, last) || beside(side_of_way(from), side_of_way(to)) {
            return None;
        }
        let part = first.saturating_div(first.saturating_sub(last));
        Some(part.clamp(Fx::ZERO, Fx::ONE))
    }
}

impl From<LineSegment> for SegmentForm {
    fn from(segment: LineSegment) -> Self {
        let ([from, to], [before, after]) = (segment.ends, segment.neighbours);
        (from, to, before, after)
    }
}

impl TryFrom<SegmentForm> for LineSegment {
    type Error = SegmentError;

    fn try_from((from, to, before, after): SegmentForm) -> Result<Self, SegmentError> {
        let segment = Self { ends: [from, to], neighbours: [before, after] };
        segment.check()?;
        Ok(segment)
    }
}
