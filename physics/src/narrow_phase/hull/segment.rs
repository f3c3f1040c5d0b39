//! Segments of a chain, which others slide over without a jolt.
//!
//! Each segment of a chain is a body of its own. What lies over the end of one overlaps the ends of two, and the
//! shortest way out of an end would lead along the chain: a corner that is not there. So a segment pushes
//! only in directions that the neighbour at that end leaves to it: between its own normal and that of the
//! neighbour where the chain bends away, and only along its own normal where it bends towards the other
//! body.

use metatopia_math::Fx;

use super::{APART, Clip, Hull, Placed};
use crate::fixed::{Q20, Q30, Unit, Vector};
use crate::narrow_phase::{AXIS_TOLERANCE, Manifold};
use crate::polygon::{side_normal, turn};

/// How much further than its limit the direction of a side may lean, with 30 fraction bits: with less, what
/// rests on a chain would change between directions that are almost the same.
const SIDE_LEAN: i64 = (Q20::constant(Fx::from_ratio(1, 32)).0 as i64) << 10;

/// The same for the way between two corners: no more than rounding makes of it, or a round end that is a
/// little beyond the segment would be pushed back.
const CORNER_LEAN: i64 = 1 << 16;

/// The directions in which a segment pushes another body.
struct Pushes {
    /// The side of the segment that the other body is on: 0 is the right one, 1 the left.
    side: usize,
    normal: Unit,
    /// The direction from the first end to the last one.
    along: Unit,
    /// How far a direction may lean over each end, if there is a neighbour.
    limits: [Option<Unit>; 2],
}

impl Pushes {
    /// Finds them for a body with this centre, in the frame of the segment.
    fn new(hull: &Hull, [before, after]: [Option<Vector>; 2], centre: Vector) -> Self {
        let [from, to] = hull.side(0);
        let is_left = |[from, to]: [Vector; 2], point| turn(to - from, point - from) >= 0;
        let edges = [before.map(|before| [before, from]), after.map(|after| [to, after])];
        // Whether the left side is the hollow one of each bend.
        let hollow = [
            edges[0].is_some_and(|edge| is_left(edge, to)),
            after.is_some_and(|after| is_left([from, to], after)),
        ];
        let beside = |end: usize| edges[end].map(|edge| is_left(edge, centre));
        // In the hollow of a bend is what is left of both edges; around its back what is left of one.
        let mut left = is_left([from, to], centre);
        left &= [0, 1].into_iter().all(|end| !hollow[end] || beside(end).unwrap_or(true));
        left |= [0, 1].into_iter().any(|end| !hollow[end] && beside(end).unwrap_or(false));
        let side = usize::from(left);
        let normal = hull.normals[side];
        let limit = |end: usize| {
            edges[end].map(|[from, to]| match (hollow[end] == left, left) {
                (true, _) => normal,
                (false, true) => -side_normal(from, to),
                (false, false) => side_normal(from, to),
            })
        };
        let along = -hull.normals[0].right_perp();
        Self { side, normal, along, limits: [limit(0), limit(1)] }
    }

    /// Returns whether the segment pushes in a direction that may lean so much too far.
    fn allow(&self, direction: Unit, most: i64) -> bool {
        let end = usize::from(part(direction, self.along) >= 0);
        let lean = |limit| part(direction, self.normal) - part(limit, self.normal);
        self.limits[end].is_none_or(|limit| lean(limit) >= -most)
    }
}

/// Returns how much of a direction lies along another one, with 30 fraction bits.
fn part(direction: Unit, along: Unit) -> i64 {
    let product = |a: Q30, b: Q30| i64::from(a.0) * i64::from(b.0);
    (product(direction.x, along.x) + product(direction.y, along.y)) >> 30
}

/// Returns the dot product of two offsets, in units of 2^-40.
fn dot(a: Vector, b: Vector) -> i64 {
    i64::from(a.x.0) * i64::from(b.x.0) + i64::from(a.y.0) * i64::from(b.y.0)
}

/// Returns the manifold of a segment, whose neighbours end there, and another hull.
pub(super) fn collide(
    segment: Placed<'_>,
    neighbours: [Option<Vector>; 2],
    other: Placed<'_>,
    margin: Q20,
) -> Manifold {
    let body = segment.0;
    let position = (other.0.position - body.position).inverse_rotated(body.facing);
    if other.1.count == 1 {
        return collide_disc(segment, neighbours, (position, other.1.radius), margin);
    }
    let facing = other.0.facing.rotated(body.facing.conjugate());
    let (first, second) = (segment.1, &other.1.placed(position, facing));
    let pushes = Pushes::new(first, neighbours, position);
    let reach = margin + second.radius;
    let separation = first.separation(pushes.side, second);
    if separation > reach {
        return Manifold::default();
    }
    let mut best: Option<(usize, Q20)> = None;
    for side in 0..second.count {
        let found = second.separation(side, first);
        if found > reach {
            return Manifold::default();
        }
        let better = found > best.map_or(separation + AXIS_TOLERANCE, |(_, best)| best);
        if better && pushes.allow(-second.normals[side], SIDE_LEAN) {
            best = Some((side, found));
        }
    }
    let (reference, side, incident) =
        best.map_or((first, pushes.side, second), |(side, _)| (second, side, first));
    let clip = Clip { reference, side, incident, reach: margin };
    let deepest = best.map_or(separation, |(_, found)| found);
    let corners = if deepest > APART || second.count == 2 { clip.corners() } else { None };
    let lean = if corners.is_some() { CORNER_LEAN } else { SIDE_LEAN };
    let found = corners.map_or_else(|| clip.sides(), |corners| clip.of_corners(corners));
    let manifold = if best.is_some() { found.flipped() } else { found };
    // Beyond an end it is the neighbour that is met, not the corner.
    if !pushes.allow(manifold.normal, lean) {
        return Manifold::default();
    }
    manifold.out_of_frame(best.is_some(), body.facing, position)
}

/// Returns the manifold of a segment and a disc. Beyond an end with a neighbour it is the neighbour that
/// meets the disc; the corner itself belongs to the later one of the two.
fn collide_disc(
    (body, hull): Placed<'_>,
    [before, after]: [Option<Vector>; 2],
    (centre, radius): (Vector, Q20),
    margin: Q20,
) -> Manifold {
    let [from, to] = hull.side(0);
    let way = to - from;
    let along = dot(way, centre - from);
    let side = usize::from(turn(way, centre - from) >= 0);
    let end = if along <= 0 {
        if before.is_some_and(|before| dot(from - before, from - centre) > 0) {
            return Manifold::default();
        }
        Some(from)
    } else if along >= dot(way, way) {
        if after.is_some() {
            return Manifold::default();
        }
        Some(to)
    } else {
        None
    };
    let offset = centre - end.unwrap_or(from);
    let (normal, distance) = match end {
        Some(_) if !offset.is_zero() => (offset.direction(offset.length()), offset.length()),
        _ => (hull.normals[side], offset.dot(hull.normals[side])),
    };
    if distance - radius > margin {
        return Manifold::default();
    }
    let anchor = (centre - normal.scaled(distance)).rotated(body.facing);
    let normal = normal.rotated(body.facing);
    Manifold::one(normal, anchor, normal.scaled(-radius), distance - radius)
}
