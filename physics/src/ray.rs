//! Ray casts: which body a straight way meets first.

use metatopia_math::{Fx, Vec2};
use metatopia_types::ObjectId;
use serde::{Deserialize, Serialize};

use crate::body::Body;
use crate::filter::Filter;
use crate::fixed::{Q20, Unit, Vector};
use crate::limits::RAY_LENGTH_MAX;
use crate::region::Region;
use crate::shape::Shape;
use crate::sweep_body::Aabb;

/// The length of the pieces in which a way is looked along, in metres: the box around a short piece of a
/// slanted way holds few bodies that the way misses.
const PIECE: i32 = 8;

/// Where a ray meets a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RayHit {
    /// The id of the body.
    pub id: ObjectId,
    /// The part of the way up to there: from 0, where the ray begins inside of the body, to 1.
    pub fraction: Fx,
}

impl Region {
    /// Returns the body that the straight way between two points meets first, and how many bodies the
    /// query looked at. Of two bodies at one point the one with the lesser id counts. Sensors and the body
    /// `skip` are passed through. Nothing is met farther away than [`RAY_LENGTH_MAX`] metres.
    ///
    /// Both points are in metres from the region's origin and may be outside of the region, where nothing is met.
    /// A way between two equal points meets what contains the point.
    ///
    /// Both results follow from the positions of all bodies.
    #[must_use]
    pub fn ray_cast(&self, from: Vec2, to: Vec2, skip: ObjectId) -> (Option<RayHit>, usize) {
        self.ray_cast_filtered(from, to, skip, Filter::ALL)
    }

    /// Returns what [`Region::ray_cast`] returns for a ray that also passes through what a filter leaves
    /// out.
    #[must_use]
    pub fn ray_cast_filtered(
        &self,
        from: Vec2,
        to: Vec2,
        skip: ObjectId,
        filter: Filter,
    ) -> (Option<RayHit>, usize) {
        let concerns =
            |body: &Body| body.id() != skip && !body.is_sensor() && filter.meets(body.filter());
        self.first_met(from, to, Fx::ZERO, concerns, Body::met_by_ray)
    }

    /// Returns the first body that something on the straight way between two points meets, and how many
    /// bodies it looked at. `met` says for a short piece of the way where a body is met, and `reach` how
    /// far from the way.
    pub(crate) fn first_met(
        &self,
        from: Vec2,
        to: Vec2,
        reach: Fx,
        concerns: impl Fn(&Body) -> bool,
        met: impl Fn(&Body, Vec2, Vec2) -> Option<Fx>,
    ) -> (Option<RayHit>, usize) {
        let way = to.saturating_sub(from);
        let pieces = way.length().saturating_div(Fx::from_int(PIECE)).ceil_int().max(1);
        let most = i64::from(RAY_LENGTH_MAX / PIECE);
        let count = i32::try_from(pieces.min(most)).expect("at most the limit");
        let whole = Fx::checked_from_int(pieces).unwrap_or(Fx::MAX);
        let share = |n: i32| Fx::from_int(n).saturating_div(whole);
        let point = |n: i32| from.saturating_add(way.scale(share(n)));
        let mut looked_at = 0;
        for n in 0..count {
            let (first, last) = (point(n), point(n + 1));
            let near = self.bodies_in(first, last, reach).inspect(|_| looked_at += 1);
            let near = near.filter(|body| concerns(body));
            let meets = near.filter_map(|body| Some((met(body, first, last)?, body.id())));
            if let Some((along, id)) = meets.min() {
                let along = share(n).saturating_add(along.saturating_mul(share(1)));
                return (Some(RayHit { id, fraction: along.min(Fx::ONE) }), looked_at);
            }
        }
        (None, looked_at)
    }

    /// Returns all bodies that overlap the box between two corners, or come as close to it as `reach`, and
    /// some more, in no meaningful order.
    fn bodies_in(&self, a: Vec2, b: Vec2, reach: Fx) -> impl Iterator<Item = &Body> {
        // No body reaches this far out, so clamping a corner to here leaves none out.
        let far = Q20::constant(Fx::from_int(2_047));
        let corner = |x: Fx, y: Fx| Vector::clamped(Vec2::new(x, y), far);
        let low = |a: Fx, b: Fx| a.min(b).saturating_sub(reach);
        let high = |a: Fx, b: Fx| a.max(b).saturating_add(reach);
        let (low, high) =
            (corner(low(a.x, b.x), low(a.y, b.y)), corner(high(a.x, b.x), high(a.y, b.y)));
        self.grid.query(Aabb { low, high }).filter_map(|id| self.own_body(id))
    }
}

impl Body {
    /// Returns a point of the region in the body's own frame, in metres. What is too far away for the numbers
    /// saturates.
    #[must_use]
    pub fn own_frame(&self, point: Vec2) -> Vec2 {
        let (facing, offset) = (own_axis(self), point.saturating_sub(self.position()));
        Vec2::new(offset.dot(facing), facing.cross(offset))
    }

    /// Returns the part of a short way at which it comes into the body; 0 if it begins inside.
    fn met_by_ray(&self, from: Vec2, to: Vec2) -> Option<Fx> {
        let (from, to) = (self.own_frame(from), self.own_frame(to));
        let way = to.saturating_sub(from);
        shape_met(from, way, &self.shape())
    }
}

/// Returns where a way comes into a shape around the origin.
fn shape_met(from: Vec2, way: Vec2, shape: &Shape) -> Option<Fx> {
    match shape {
        Shape::Circle { radius } => circle_met(from, way, *radius),
        Shape::Rect { half } => rect_met(from, way, *half),
        Shape::Capsule { half, radius } => capsule_met(from, way, *half, *radius),
        Shape::Segment(segment) => segment.met_by_ray(from, way),
        Shape::Polygon(polygon) => convex_met(from, way, &polygon.corners().collect::<Vec<Vec2>>()),
        Shape::Compound(compound) => {
            let met = compound.fixed_parts().iter().filter_map(|part| {
                let (from, way) = (part.own_frame(from), part.own_direction(way));
                shape_met(from, way, &part.geometry.shape())
            });
            met.min()
        }
    }
}

/// Returns the direction of a body's own x axis in the numbers of the public interface, exactly.
pub(crate) fn own_axis(body: &Body) -> Vec2 {
    let Unit { x, y } = body.facing;
    // From 30 fraction bits to 32.
    let coordinate = |bits: i32| Fx::from_bits(i64::from(bits) << 2);
    Vec2::new(coordinate(x.0), coordinate(y.0))
}

/// Returns where a way comes into the disc around the origin: the lesser solution of a quadratic equation.
/// A way of 8 m and centres and radii up to 1,024 m keep each product below 2^28.
pub(crate) fn circle_met(from: Vec2, way: Vec2, radius: Fx) -> Option<Fx> {
    let outside = from.length_squared().saturating_sub(radius.saturating_mul(radius));
    if outside <= Fx::ZERO {
        return Some(Fx::ZERO);
    }
    let (towards, squared) = (way.dot(from).saturating_neg(), way.length_squared());
    if towards <= Fx::ZERO || squared <= Fx::ZERO {
        return None;
    }
    let under = towards.saturating_mul(towards).saturating_sub(squared.saturating_mul(outside));
    let along = towards.saturating_sub(under.sqrt()?).saturating_div(squared);
    (along <= Fx::ONE).then(|| along.max(Fx::ZERO))
}

/// Returns where a way comes into the rectangle around the origin: the last of the sides that it crosses
/// inwards, if it crosses none outwards before.
fn rect_met(from: Vec2, way: Vec2, half: Vec2) -> Option<Fx> {
    let (mut enter, mut leave) = (Fx::ZERO, Fx::ONE);
    for (start, step, half) in [(from.x, way.x, half.x), (from.y, way.y, half.y)] {
        if step == Fx::ZERO {
            if start.saturating_abs() > half {
                return None;
            }
            continue;
        }
        let cross = |side: Fx| side.saturating_sub(start).saturating_div(step);
        let (one, other) = (cross(half.saturating_neg()), cross(half));
        enter = enter.max(one.min(other));
        leave = leave.min(one.max(other));
    }
    (enter <= leave).then_some(enter)
}

/// Returns where a way comes into a capsule: into the first of its two discs and the rectangle between.
fn capsule_met(from: Vec2, way: Vec2, half: Fx, radius: Fx) -> Option<Fx> {
    let end = Vec2::new(half, Fx::ZERO);
    let parts = [
        circle_met(from.saturating_sub(end), way, radius),
        circle_met(from.saturating_add(end), way, radius),
        rect_met(from, way, Vec2::new(half, radius)),
    ];
    parts.into_iter().flatten().min()
}

/// Returns where a way comes into a convex outline, whose corners run counter-clockwise: the last of the
/// sides that it crosses inwards, if it crosses none outwards before.
pub(crate) fn convex_met(from: Vec2, way: Vec2, corners: &[Vec2]) -> Option<Fx> {
    let (mut enter, mut leave) = (Fx::ZERO, Fx::ONE);
    for (corner, next) in corners.iter().zip(corners.iter().cycle().skip(1)) {
        let side = next.saturating_sub(*corner);
        // What is to the left of a side is inside of it.
        let inside = side.cross(from.saturating_sub(*corner));
        let step = side.cross(way);
        if step == Fx::ZERO {
            if inside < Fx::ZERO {
                return None;
            }
            continue;
        }
        let cross = inside.saturating_neg().saturating_div(step);
        if step > Fx::ZERO {
            enter = enter.max(cross);
        } else {
            leave = leave.min(cross);
        }
    }
    (enter <= leave).then_some(enter)
}
