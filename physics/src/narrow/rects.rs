//! Two rectangles: the separating axis with the widest gap, then the other's nearest side clipped
//! to the side that this axis belongs to.

use metatopia_math::Fx;

use super::{Manifold, Spot};
use crate::fixed::{Q20, Q30, Unit, Vector, narrow, rounded};
use crate::solid::Solid;

/// A later axis must be better by this much, so that equal ones do not take turns.
const FAVOUR: Q20 = Q20::constant(Fx::from_ratio(1, 2_048));

/// One rectangle seen from another's frame.
struct Seen {
    position: Vector,
    facing: Unit,
    half: Vector,
}

/// The side of the reference rectangle that the normal belongs to.
#[derive(Clone, Copy)]
struct Side {
    across_y: bool,
    negative: bool,
}

impl Side {
    fn normal(self) -> Unit {
        let unit = if self.across_y { Unit::Y } else { Unit::X };
        if self.negative { -unit } else { unit }
    }
}

type Rect<'a> = (&'a Solid, Vector);

pub(super) fn meet(a: Rect<'_>, b: Rect<'_>, margin: Q20) -> Manifold {
    let b_seen = see(a.0, b);
    let [a_x, a_y] = gaps(a.1, &b_seen);
    if a_x > margin || a_y > margin {
        return Manifold::default();
    }
    let a_seen = see(b.0, a);
    let [b_x, b_y] = gaps(b.1, &a_seen);
    if b_x > margin || b_y > margin {
        return Manifold::default();
    }
    let mut axis = 0;
    let mut widest = a_x;
    for (index, gap) in [(1, a_y), (2, b_x), (3, b_y)] {
        if gap > widest + FAVOUR {
            (axis, widest) = (index, gap);
        }
    }
    let across_y = axis & 1 == 1;
    if axis < 2 {
        clip(a, &b_seen, across_y, axis, margin)
    } else {
        clip(b, &a_seen, across_y, axis, margin).flipped()
    }
}

fn see(from: &Solid, (solid, half): Rect<'_>) -> Seen {
    Seen {
        position: (solid.position - from.position).unturned(from.facing),
        facing: solid.facing.turned(from.facing.conjugate()),
        half,
    }
}

/// The gaps along the reference's own two axes.
fn gaps(half: Vector, seen: &Seen) -> [Q20; 2] {
    let (c, s) = (seen.facing.x.abs(), seen.facing.y.abs());
    let x = seen.position.x.abs() - half.x - (c * seen.half.x + s * seen.half.y);
    let y = seen.position.y.abs() - half.y - (s * seen.half.x + c * seen.half.y);
    [x, y]
}

/// The manifold for a known axis, from the reference rectangle to the other.
fn clip(reference: Rect<'_>, seen: &Seen, across_y: bool, axis: u8, margin: Q20) -> Manifold {
    let (solid, half) = reference;
    let offset = if across_y { seen.position.y } else { seen.position.x };
    let side = Side { across_y, negative: offset < Q20::ZERO };
    let (corners, face) = facing_side(seen, side.normal());
    let limit = if across_y { half.x } else { half.y };
    let depth = if across_y { half.y } else { half.x };
    let mut manifold =
        Manifold { normal: side.normal().turned(solid.facing), ..Manifold::default() };
    let Some(points) = clipped(corners, limit, across_y) else {
        return Manifold::default();
    };
    for (end, point) in (0_u8..).zip(points) {
        let gap = point.along(side.normal()) - depth;
        if gap > margin {
            continue;
        }
        let opposite = point - side.normal().times(gap);
        manifold.spots[manifold.count] = Spot {
            arm_a: opposite.turned(solid.facing),
            arm_b: (point - seen.position).turned(solid.facing),
            gap,
            feature: 1 + (axis << 3 | face << 1 | end),
        };
        manifold.count += 1;
    }
    manifold
}

/// The two corners of the side that looks most against the normal, and its number.
fn facing_side(seen: &Seen, normal: Unit) -> ([Vector; 2], u8) {
    let local = normal.turned(seen.facing.conjugate());
    let (x, y) = (seen.half.x, seen.half.y);
    let zero = Q30(0);
    let (first, second, face) = if local.x.abs() > local.y.abs() {
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
    let place = |corner: Vector| seen.position + corner.turned(seen.facing);
    ([place(first), place(second)], face)
}

/// The part of a segment that lies beside a side of half length `limit`; nothing if none does.
fn clipped(ends: [Vector; 2], limit: Q20, across_y: bool) -> Option<[Vector; 2]> {
    let beside = |point: Vector| if across_y { point.x } else { point.y };
    let (first, second) = (beside(ends[0]), beside(ends[1]));
    if (first > limit && second > limit) || (first < -limit && second < -limit) {
        return None;
    }
    let cut = |from: Vector, to: Vector| {
        let at = beside(from);
        let bound = at.bounded(limit);
        let span = beside(to) - at;
        if bound == at || span.is_zero() {
            return from;
        }
        from + part(to - from, bound - at, span)
    };
    Some([cut(ends[0], ends[1]), cut(ends[1], ends[0])])
}

/// `way * share / whole`, for a share of zero to one whole.
fn part(way: Vector, share: Q20, whole: Q20) -> Vector {
    let ratio = (i64::from(share.0) << 30) / i64::from(whole.0);
    let scaled = |side: Q20| Q20(narrow(rounded(i64::from(side.0) * ratio, 30)));
    Vector::new(scaled(way.x), scaled(way.y))
}
