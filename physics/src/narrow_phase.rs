//! The narrow phase: where two shapes meet, or are about to.

use metatopia_math::Fx;

use crate::fixed::{Q20, Unit, Vector, narrow, product, rounded};
use crate::outline::BodyOutline;
use crate::solver_body::SolverBody;

mod hull;
mod rects;

pub(crate) use hull::Hull;

/// A later axis must be better by this much, so that equal ones do not take turns.
const AXIS_TOLERANCE: Q20 = Q20::constant(Fx::from_ratio(1, 2_048));

/// A contact manifold: a normal from the first body to the second, and up to two points.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Manifold {
    pub(crate) normal: Unit,
    pub(crate) points: [ManifoldPoint; 2],
    /// How many of the points there are.
    pub(crate) count: usize,
}

/// One point of a manifold, on each of the two surfaces.
///
/// The points on the surfaces differ by the separation, along the normal, which makes no difference
/// to a normal impulse. An anchor never lies further out than the body that it belongs to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ManifoldPoint {
    /// The vector from the first body's position to the point on its surface.
    pub(crate) anchor_a: Vector,
    /// The vector from the second body's position to the point on its surface.
    pub(crate) anchor_b: Vector,
    /// The distance of the surfaces; below zero where they penetrate.
    pub(crate) separation: Q20,
    /// Identifies the corner and the shape that the point belongs to, so that the next step can
    /// match it with its own.
    pub(crate) feature: u8,
}

impl Manifold {
    /// Returns a manifold of one point.
    fn one(normal: Unit, anchor_a: Vector, anchor_b: Vector, separation: Q20) -> Self {
        let point = ManifoldPoint { anchor_a, anchor_b, separation, feature: 0 };
        Self { normal, points: [point, ManifoldPoint::default()], count: 1 }
    }

    /// Returns the same manifold as the second body sees it.
    fn flipped(mut self) -> Self {
        self.normal = -self.normal;
        for point in &mut self.points {
            core::mem::swap(&mut point.anchor_a, &mut point.anchor_b);
        }
        self
    }

    /// Returns the points that there are.
    pub(crate) fn points(&self) -> &[ManifoldPoint] {
        &self.points[..self.count]
    }
}

/// Returns the manifold of `a` and `b`, with points up to a separation of `margin`. The bounding
/// circles of both are no further apart than that.
pub(crate) fn collide(a: &SolverBody, b: &SolverBody, hulls: &[Hull], margin: Q20) -> Manifold {
    match (a.outline, b.outline) {
        (BodyOutline::Circle(ra), BodyOutline::Circle(rb)) => collide_circles(a, ra, b, rb),
        (BodyOutline::Rect(half), BodyOutline::Circle(radius)) => {
            collide_rect_and_circle(a, half, b, radius, margin)
        }
        (BodyOutline::Circle(radius), BodyOutline::Rect(half)) => {
            collide_rect_and_circle(b, half, a, radius, margin).flipped()
        }
        (BodyOutline::Rect(ha), BodyOutline::Rect(hb)) => rects::collide((a, ha), (b, hb), margin),
        (of_a, of_b) => hull::collide((a, &of_a.hull(hulls)), (b, &of_b.hull(hulls)), margin),
    }
}

fn collide_circles(a: &SolverBody, ra: Q20, b: &SolverBody, rb: Q20) -> Manifold {
    let offset = b.position - a.position;
    let distance = offset.length();
    // Two centres in one place are pushed apart along the y axis, the same way every time.
    let normal = if distance.is_zero() { Unit::Y } else { offset.direction(distance) };
    let separation = distance - (ra + rb);
    Manifold::one(normal, normal.scaled(ra), normal.scaled(-rb), separation)
}

fn collide_rect_and_circle(
    rect: &SolverBody,
    half: Vector,
    circle: &SolverBody,
    radius: Q20,
    margin: Q20,
) -> Manifold {
    let local = (circle.position - rect.position).inverse_rotated(rect.facing);
    let nearest = Vector::new(local.x.bounded(half.x), local.y.bounded(half.y));
    let offset = local - nearest;
    if offset.is_longer_than(radius + margin) {
        return Manifold::default();
    }
    let distance = offset.length();
    let (normal, surface, separation) = if distance.is_zero() {
        nearest_side(local, half, radius)
    } else {
        (offset.direction(distance), nearest, distance - radius)
    };
    let normal = normal.rotated(rect.facing);
    let anchor = surface.rotated(rect.facing);
    Manifold::one(normal, anchor, normal.scaled(-radius), separation)
}

/// Returns the normal, point and separation at the nearest side of a rectangle, for a circle whose
/// centre is inside.
fn nearest_side(local: Vector, half: Vector, radius: Q20) -> (Unit, Vector, Q20) {
    let depth_x = half.x - local.x.abs();
    let depth_y = half.y - local.y.abs();
    let sign = |unit: Unit, negative: bool| if negative { -unit } else { unit };
    if depth_x < depth_y {
        let left = local.x < Q20::ZERO;
        let x = if left { -half.x } else { half.x };
        let surface = Vector::new(x, local.y);
        (sign(Unit::X, left), surface, -depth_x - radius)
    } else {
        let below = local.y < Q20::ZERO;
        let y = if below { -half.y } else { half.y };
        let surface = Vector::new(local.x, y);
        (sign(Unit::Y, below), surface, -depth_y - radius)
    }
}

/// Returns `vector * part / whole`, for a part of zero to one whole.
fn scaled_by_ratio(vector: Vector, part: Q20, whole: Q20) -> Vector {
    let ratio = (i64::from(part.0) << 30) / i64::from(whole.0);
    let scaled = |side: Q20| Q20(narrow(rounded(product(i64::from(side.0), ratio), 30)));
    Vector::new(scaled(vector.x), scaled(vector.y))
}
