//! Two rectangles: the separating axis with the greatest separation selects the reference face, and
//! the incident edge of the other rectangle is clipped to it.

use super::{AXIS_TOLERANCE, Manifold, ManifoldPoint, scaled_by_ratio};
use crate::fixed::{Q20, Q30, Unit, Vector};
use crate::solver_body::SolverBody;

/// A rectangle in the frame of the other one.
struct LocalRect {
    position: Vector,
    facing: Unit,
    half: Vector,
}

/// The face of the reference rectangle that the normal belongs to.
#[derive(Clone, Copy)]
struct ReferenceFace {
    along_y: bool,
    negative: bool,
}

impl ReferenceFace {
    fn normal(self) -> Unit {
        let unit = if self.along_y { Unit::Y } else { Unit::X };
        if self.negative { -unit } else { unit }
    }
}

type Rect<'a> = (&'a SolverBody, Vector);

/// Returns the manifold of two rectangles.
pub(super) fn collide(a: Rect<'_>, b: Rect<'_>, margin: Q20) -> Manifold {
    let local_b = to_local(a.0, b);
    let [a_x, a_y] = separations(a.1, &local_b);
    if a_x > margin || a_y > margin {
        return Manifold::default();
    }
    let local_a = to_local(b.0, a);
    let [b_x, b_y] = separations(b.1, &local_a);
    if b_x > margin || b_y > margin {
        return Manifold::default();
    }
    let mut axis = 0;
    let mut greatest = a_x;
    for (index, separation) in [(1, a_y), (2, b_x), (3, b_y)] {
        if separation > greatest + AXIS_TOLERANCE {
            (axis, greatest) = (index, separation);
        }
    }
    let along_y = axis & 1 == 1;
    if axis < 2 {
        clip(a, &local_b, along_y, axis, margin)
    } else {
        clip(b, &local_a, along_y, axis, margin).flipped()
    }
}

/// Transforms a rectangle into the frame of another body.
fn to_local(frame: &SolverBody, (body, half): Rect<'_>) -> LocalRect {
    LocalRect {
        position: (body.position - frame.position).inverse_rotated(frame.facing),
        facing: body.facing.rotated(frame.facing.conjugate()),
        half,
    }
}

/// Returns the separations along the reference rectangle's own two axes.
fn separations(half: Vector, other: &LocalRect) -> [Q20; 2] {
    let (c, s) = (other.facing.x.abs(), other.facing.y.abs());
    let x = other.position.x.abs() - half.x - (c * other.half.x + s * other.half.y);
    let y = other.position.y.abs() - half.y - (s * other.half.x + c * other.half.y);
    [x, y]
}

/// Returns the manifold for a known axis, from the reference rectangle to the other.
fn clip(reference: Rect<'_>, other: &LocalRect, along_y: bool, axis: u8, margin: Q20) -> Manifold {
    let (body, half) = reference;
    let offset = if along_y { other.position.y } else { other.position.x };
    let face = ReferenceFace { along_y, negative: offset < Q20::ZERO };
    let (corners, edge) = incident_edge(other, face.normal());
    let limit = if along_y { half.x } else { half.y };
    let depth = if along_y { half.y } else { half.x };
    let mut manifold =
        Manifold { normal: face.normal().rotated(body.facing), ..Manifold::default() };
    let Some(points) = clip_segment(corners, limit, along_y) else {
        return Manifold::default();
    };
    for (end, point) in (0_u8..).zip(points) {
        let separation = point.dot(face.normal()) - depth;
        if separation > margin {
            continue;
        }
        let projected = point - face.normal().scaled(separation);
        manifold.points[manifold.count] = ManifoldPoint {
            anchor_a: projected.rotated(body.facing),
            anchor_b: (point - other.position).rotated(body.facing),
            separation,
            feature: 1 + (axis << 3 | edge << 1 | end),
        };
        manifold.count += 1;
    }
    manifold
}

/// Returns the two corners of the edge that faces most against the normal, and the edge's number.
fn incident_edge(rect: &LocalRect, normal: Unit) -> ([Vector; 2], u8) {
    let local = normal.rotated(rect.facing.conjugate());
    let (x, y) = (rect.half.x, rect.half.y);
    let zero = Q30(0);
    let (first, second, edge) = if local.x.abs() > local.y.abs() {
        if local.x > zero {
            (Vector::new(-x, -y), Vector::new(-x, y), 0)
        } else {
            (Vector::new(x, y), Vector::new(x, -y), 1)
        }
    } else if local.y > zero {
        (Vector::new(x, -y), Vector::new(-x, -y), 2)
    } else {
        (Vector::new(-x, y), Vector::new(x, y), 3)
    };
    let to_frame = |corner: Vector| rect.position + corner.rotated(rect.facing);
    ([to_frame(first), to_frame(second)], edge)
}

/// Clips a segment to the sides of a face of half length `limit`. Returns `None` if it lies beside
/// the face.
fn clip_segment(ends: [Vector; 2], limit: Q20, along_y: bool) -> Option<[Vector; 2]> {
    // The coordinate along the face.
    let lateral = |point: Vector| if along_y { point.x } else { point.y };
    let (first, second) = (lateral(ends[0]), lateral(ends[1]));
    if (first > limit && second > limit) || (first < -limit && second < -limit) {
        return None;
    }
    let cut = |from: Vector, to: Vector| {
        let at = lateral(from);
        let bound = at.bounded(limit);
        let span = lateral(to) - at;
        if bound == at || span.is_zero() {
            return from;
        }
        from + scaled_by_ratio(to - from, bound - at, span)
    };
    Some([cut(ends[0], ends[1]), cut(ends[1], ends[0])])
}
