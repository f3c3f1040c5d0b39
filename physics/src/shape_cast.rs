//! Shape casts and overlaps: what a shape meets that is moved along a straight way, or put somewhere.
//!
//! A shape that moves without turning meets another one where its position comes into the Minkowski sum
//! of the other one and its own mirror image. The sum of two convex outlines is a convex outline, so a
//! shape cast is a ray cast against it.

use metatopia_math::{Fx, Vec2};
use metatopia_types::ObjectId;
use serde::{Deserialize, Serialize};

use crate::body::Body;
use crate::compound::FixedPart;
use crate::filter::Filter;
use crate::motion::Motion;
use crate::ray::{RayHit, circle_met, convex_met, own_axis};
use crate::region::Region;
use crate::shape::{Geometry, Shape, ShapeError};
use crate::spec::Pose;

/// A shape that is moved along a straight way without turning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShapeCast {
    /// The shape, with the sizes that a moving body may have.
    pub shape: Shape,
    /// Where the way begins, in metres from the region's origin, and the direction that the shape faces. It may be
    /// outside of the region, where nothing is met.
    pub pose: Pose,
    /// The way, in metres. Nothing is met farther than
    /// [`RAY_LENGTH_MAX`](crate::limits::RAY_LENGTH_MAX) along it.
    pub way: Vec2,
    /// A body that is passed through.
    pub skip: ObjectId,
    /// The filter of the shape.
    pub filter: Filter,
}

/// A convex outline: corners, counter-clockwise, and a radius around them.
struct RoundedOutline {
    corners: Vec<Vec2>,
    radius: Fx,
}

impl Region {
    /// Returns the body that a shape meets first on its way, and how many bodies the query looked at. Of
    /// two bodies that are met at once the one with the lesser id counts. Sensors, and what the filter
    /// leaves out, are passed through. A fraction of zero says that the shape overlaps the body from the
    /// start.
    ///
    /// # Errors
    /// Returns [`ShapeError`] if the shape is none that a moving body can have.
    pub fn shape_cast(&self, cast: &ShapeCast) -> Result<(Option<RayHit>, usize), ShapeError> {
        let ShapeCast { ref shape, pose, way, skip, filter } = *cast;
        Geometry::new(shape, Motion::Dynamic)?;
        let concerns =
            |body: &Body| body.id() != skip && !body.is_sensor() && filter.meets(body.filter());
        let to = pose.position.saturating_add(way);
        Ok(self.first_met(pose.position, to, shape.reach(), concerns, |body, from, to| {
            body.met_by_shape(shape, Pose { position: from, ..pose }, to.saturating_sub(from))
        }))
    }

    /// Returns the bodies, in id order, of which a point is inside a shape. Sensors are among them, and
    /// what the filter leaves out is not.
    ///
    /// # Errors
    /// Returns [`ShapeError`] if the shape is none that a moving body can have.
    pub fn overlapping_shape(
        &self,
        shape: &Shape,
        pose: Pose,
        filter: Filter,
    ) -> Result<Vec<ObjectId>, ShapeError> {
        Geometry::new(shape, Motion::Dynamic)?;
        let overlaps = |body: &&Body| {
            filter.meets(body.filter()) && body.met_by_shape(shape, pose, Vec2::ZERO).is_some()
        };
        let near = self.around(pose.position, shape.reach());
        let mut ids: Vec<ObjectId> = near.filter(overlaps).map(Body::id).collect();
        ids.sort_unstable();
        Ok(ids)
    }
}

impl Body {
    /// Returns the part of a short way at which a shape meets the body; 0 if it overlaps it from the start.
    fn met_by_shape(&self, shape: &Shape, pose: Pose, way: Vec2) -> Option<Fx> {
        let axis = own_axis(self);
        let turned = |offset: Vec2| Vec2::new(offset.dot(axis), axis.cross(offset));
        let mirrored = |corner: Vec2| turned(corner.rotate(pose.angle)).saturating_neg();
        let mirrors = RoundedOutline::all_of(shape).into_iter().map(|outline| RoundedOutline {
            corners: outline.corners.into_iter().map(mirrored).collect(),
            ..outline
        });
        let own = RoundedOutline::all_of(&self.shape());
        let (from, way) = (self.own_frame(pose.position), turned(way));
        let met = mirrors
            .flat_map(|mirror| own.iter().filter_map(move |own| own.plus(&mirror).met(from, way)));
        met.min()
    }
}

impl RoundedOutline {
    /// Returns the outlines of a shape: one of each part of a compound, and one of all else.
    fn all_of(shape: &Shape) -> Vec<Self> {
        let Shape::Compound(compound) = shape else {
            return vec![Self::of(shape)];
        };
        let of_part = |part: &FixedPart| {
            let outline = Self::of(&part.geometry.shape());
            let corners = outline.corners.into_iter().map(|corner| part.out_of_frame(corner));
            Self { corners: corners.collect(), ..outline }
        };
        compound.fixed_parts().iter().map(of_part).collect()
    }

    /// Returns the outline of a shape that is no compound.
    fn of(shape: &Shape) -> Self {
        let point = Vec2::new;
        let (corners, radius) = match shape {
            Shape::Circle { radius } => (vec![Vec2::ZERO], *radius),
            Shape::Rect { half: Vec2 { x, y } } => {
                let (x, y) = (*x, *y);
                let (left, down) = (x.saturating_neg(), y.saturating_neg());
                (vec![point(left, down), point(x, down), point(x, y), point(left, y)], Fx::ZERO)
            }
            Shape::Capsule { half, radius } => {
                let ends = [half.saturating_neg(), *half].map(|x| point(x, Fx::ZERO));
                (ends.to_vec(), *radius)
            }
            Shape::Polygon(polygon) => (polygon.corners().collect(), Fx::ZERO),
            Shape::Segment(segment) => (segment.ends().to_vec(), Fx::ZERO),
            Shape::Compound(_) => unreachable!("a compound is met by its parts"),
        };
        Self { corners, radius }
    }

    /// Returns the Minkowski sum. The sides of both, in the order of their directions, are its sides.
    fn plus(&self, other: &Self) -> Self {
        let (ours, theirs) = (from_lowest(&self.corners), from_lowest(&other.corners));
        let (mut i, mut j) = (0, 0);
        let mut corners = Vec::with_capacity(ours.len() + theirs.len());
        let at = |corners: &[Vec2], index: usize| corners[index % corners.len()];
        while i < ours.len() || j < theirs.len() {
            let corner = at(&ours, i).saturating_add(at(&theirs, j));
            corners.push(corner);
            let side = at(&ours, i + 1).saturating_sub(at(&ours, i));
            let their_side = at(&theirs, j + 1).saturating_sub(at(&theirs, j));
            let (ours_first, theirs_first) = order(side, their_side);
            let (ours_left, theirs_left) = (i < ours.len(), j < theirs.len());
            i += usize::from(ours_left && (ours_first || !theirs_left));
            j += usize::from(theirs_left && (theirs_first || !ours_left));
        }
        Self { corners, radius: self.radius.saturating_add(other.radius) }
    }

    /// Returns where a way comes into the outline: into its core, the strip along a side, or the disc
    /// around a corner, whichever comes first.
    fn met(&self, from: Vec2, way: Vec2) -> Option<Fx> {
        let core = convex_met(from, way, &self.corners);
        if self.radius == Fx::ZERO {
            return core;
        }
        let next = self.corners.iter().cycle().skip(1);
        let strips = self.corners.iter().zip(next).filter_map(|(corner, next)| {
            let out = next.saturating_sub(*corner).normalize()?.scale(self.radius);
            let out = Vec2::new(out.y, out.x.saturating_neg());
            let strip = [*corner, corner.saturating_add(out), next.saturating_add(out), *next];
            convex_met(from, way, &strip)
        });
        let discs = self
            .corners
            .iter()
            .filter_map(|corner| circle_met(from.saturating_sub(*corner), way, self.radius));
        // One corner alone has no inside; the core of all others has one, or is a part of a strip.
        let core = core.filter(|_| self.corners.len() > 2);
        core.into_iter().chain(strips).chain(discs).min()
    }
}

/// Returns which of two sides goes first around a sum: both, if they have the same direction.
fn order(ours: Vec2, theirs: Vec2) -> (bool, bool) {
    let cross = ours.cross(theirs);
    if cross == Fx::ZERO && ours.dot(theirs) < Fx::ZERO {
        // Opposite directions, as those of a capsule: the one that leads upwards comes first.
        let upwards = ours.y > Fx::ZERO || (ours.y == Fx::ZERO && ours.x > Fx::ZERO);
        return (upwards, !upwards);
    }
    (cross >= Fx::ZERO, cross <= Fx::ZERO)
}

/// Returns the corners beginning with the lowest one, and of several with the leftmost.
fn from_lowest(corners: &[Vec2]) -> Vec<Vec2> {
    let lowest = (0..corners.len()).min_by_key(|index| (corners[*index].y, corners[*index].x));
    let mut rotated = corners.to_vec();
    rotated.rotate_left(lowest.unwrap_or(0));
    rotated
}
