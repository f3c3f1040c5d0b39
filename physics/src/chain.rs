//! Chains: ground along a line of points, as static bodies that others slide over without a jolt.

use metatopia_math::{Fx, Vec2};

use crate::fixed::{Q20, Vector};
use crate::limits::{CHAIN_POINTS_MAX, COORDINATE_MAX, SIZE_MIN, STATIC_SIZE_MAX};
use crate::motion::Motion;
use crate::segment::{LineSegment, SPAN_MAX};
use crate::shape::Shape;
use crate::spec::{BodySpec, Pose};

/// A line through up to [`CHAIN_POINTS_MAX`] points, open or closed. Each of its segments becomes a static
/// body that knows where its neighbours end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentChain {
    segments: Vec<(Vector, LineSegment)>,
}

/// A reason why points are no chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChainError {
    /// There are too few points or too many.
    #[error("points: {found} where a chain has {least}..={CHAIN_POINTS_MAX}")]
    Points {
        /// How many there are.
        found: usize,
        /// How many it takes: two, and three if the chain is closed.
        least: usize,
    },
    /// A point is outside of every region.
    #[error("points[{0}]: more than {COORDINATE_MAX} m from the origin on an axis")]
    Outside(usize),
    /// The point after this one is too close to it, or in the same place.
    #[error("points[{0}]: less than {SIZE_MIN} m from the next point")]
    Short(usize),
    /// The point after this one is too far from it.
    #[error("points[{0}]: the next point is further than twice {STATIC_SIZE_MAX} m")]
    Long(usize),
}

impl SegmentChain {
    /// Returns the chain through these points of a region, in metres, rounded to multiples of 2^-20 m. A
    /// closed one goes back from the last point to the first.
    ///
    /// # Errors
    /// Returns [`ChainError`], which names the point.
    pub fn new(points: &[Vec2], closed: bool) -> Result<Self, ChainError> {
        let (count, least) = (points.len(), if closed { 3 } else { 2 });
        if !(least..=CHAIN_POINTS_MAX).contains(&count) {
            return Err(ChainError::Points { found: count, least });
        }
        let is_outside =
            |at: &Vec2| at.x.saturating_abs().max(at.y.saturating_abs()) > COORDINATE_MAX;
        if let Some(outside) = points.iter().position(is_outside) {
            return Err(ChainError::Outside(outside));
        }
        let bound = Q20::constant(COORDINATE_MAX);
        let rounded: Vec<Vector> = points.iter().map(|at| Vector::clamped(*at, bound)).collect();
        let segments = if closed { count } else { count - 1 };
        for n in 0..segments {
            check_span(rounded[n], rounded[(n + 1) % count]).map_err(|fault| fault(n))?;
        }
        let segment = |n: usize| {
            let before = (closed || n > 0).then(|| rounded[(n + count - 1) % count]);
            let after = (closed || n + 2 < count).then(|| rounded[(n + 2) % count]);
            LineSegment::placed([rounded[n], rounded[(n + 1) % count]], [before, after])
        };
        // What else a segment refuses is what the spans were checked for.
        let segments = (0..segments).map(|n| segment(n).map_err(|_| ChainError::Short(n)));
        Ok(Self { segments: segments.collect::<Result<_, _>>()? })
    }

    /// Returns the bodies of the chain, one for each segment in the order of the points: each as `like` is
    /// but for its shape, its motion and its pose. To move one alone, or to remove it, leaves its
    /// neighbours with a corner that is not there.
    #[must_use]
    pub fn bodies(&self, like: &BodySpec) -> Vec<BodySpec> {
        let body = |(position, segment): &(Vector, LineSegment)| BodySpec {
            shape: Shape::Segment(*segment),
            motion: Motion::Static,
            pose: Pose { position: position.vec2(), ..Pose::default() },
            velocity: Vec2::ZERO,
            spin: Fx::ZERO,
            ..*like
        };
        self.segments.iter().map(body).collect()
    }
}

/// Checks the distance of two points of a chain that follow each other.
fn check_span(from: Vector, to: Vector) -> Result<(), fn(usize) -> ChainError> {
    // Taken in 64 bits: two corners of a region are further apart than a number goes.
    let side = |from: Q20, to: Q20| (i64::from(to.0) - i64::from(from.0)).abs();
    let (x, y) = (side(from.x, to.x), side(from.y, to.y));
    let (most, least) = (i64::from(SPAN_MAX.0), i64::from(Q20::constant(SIZE_MIN).0));
    // On one axis first, so that the squares fit.
    if x.max(y) > most || x * x + y * y > most * most {
        return Err(ChainError::Long);
    }
    if x * x + y * y < least * least { Err(ChainError::Short) } else { Ok(()) }
}
