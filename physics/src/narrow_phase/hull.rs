//! Rounded convex hulls: corners with a radius around them. A capsule has two corners, a polygon up to
//! eight, and a disc one. The separating side with the greatest separation selects the reference side,
//! and the side of the other hull that faces it is clipped to it.

use metatopia_math::Fx;

use super::{AXIS_TOLERANCE, Manifold, ManifoldPoint, scaled_by_ratio};
use crate::fixed::{Q20, Unit, Vector, narrow};
use crate::limits::CORNERS_MAX;
use crate::polygon::{Polygon, side_normal};
use crate::segment::LineSegment;
use crate::solver_body::SolverBody;

mod segment;

/// Hulls further apart than this may meet with two corners, which no side's normal tells.
const APART: Q20 = Q20::constant(Fx::from_ratio(1, 2_048));

/// A rounded convex hull in the frame of a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hull {
    points: [Vector; CORNERS_MAX],
    /// The direction that the side from each corner to the next one faces.
    normals: [Unit; CORNERS_MAX],
    count: usize,
    radius: Q20,
    /// Where the neighbours of a segment end, if it has any; nothing for what is no segment.
    neighbours: Option<[Option<Vector>; 2]>,
}

type Placed<'a> = (&'a SolverBody, &'a Hull);

impl Hull {
    fn new(corners: &[Vector], radius: Q20) -> Self {
        let count = corners.len();
        let mut hull = Self {
            points: [Vector::ZERO; CORNERS_MAX],
            normals: [Unit::X; CORNERS_MAX],
            count,
            radius,
            neighbours: None,
        };
        hull.points[..count].copy_from_slice(corners);
        for (index, normal) in hull.normals[..count].iter_mut().enumerate() {
            *normal = side_normal(corners[index], corners[(index + 1) % count]);
        }
        hull
    }

    pub(crate) fn disc(radius: Q20) -> Self {
        Self::new(&[Vector::ZERO], radius)
    }

    pub(crate) fn rect(half: Vector) -> Self {
        let (x, y) = (half.x, half.y);
        let corners = [(-x, -y), (x, -y), (x, y), (-x, y)].map(|(x, y)| Vector::new(x, y));
        let mut hull = Self::new(&corners[..1], Q20::ZERO);
        hull.count = corners.len();
        hull.points[..hull.count].copy_from_slice(&corners);
        hull.normals[..hull.count].copy_from_slice(&[-Unit::Y, Unit::X, Unit::Y, -Unit::X]);
        hull
    }

    pub(crate) fn capsule(half: Q20, radius: Q20) -> Self {
        Self::new(&[-half, half].map(|x| Vector::new(x, Q20::ZERO)), radius)
    }

    pub(crate) fn polygon(polygon: &Polygon) -> Self {
        Self::new(polygon.points(), Q20::ZERO)
    }

    pub(crate) fn segment(segment: &LineSegment) -> Self {
        let hull = Self::new(&segment.points(), Q20::ZERO);
        Self { neighbours: Some(segment.neighbours()), ..hull }
    }

    /// Returns half the width and half the height of the box around the position that holds the hull.
    pub(crate) fn half_extents(&self, facing: Unit) -> Vector {
        let corners = self.points[..self.count].iter().map(|corner| corner.rotated(facing));
        let most = corners.fold(Vector::ZERO, |most, corner| {
            Vector::new(most.x.max(corner.x.abs()), most.y.max(corner.y.abs()))
        });
        // Rounding may cost a bit on each axis.
        let more = self.radius + Q20(1);
        most + Vector::new(more, more)
    }

    /// Returns the hull turned and moved into another frame.
    fn placed(&self, position: Vector, facing: Unit) -> Self {
        let mut placed = *self;
        for index in 0..self.count {
            placed.points[index] = position + self.points[index].rotated(facing);
            placed.normals[index] = self.normals[index].rotated(facing);
        }
        placed
    }

    /// Returns the two ends of a side.
    fn side(&self, index: usize) -> [Vector; 2] {
        [self.points[index], self.points[(index + 1) % self.count]]
    }

    /// Returns the side that is furthest from another hull, and how far; corners only, without radii.
    fn furthest_side(&self, other: &Self) -> (usize, Q20) {
        let mut best = (0, self.separation(0, other));
        for side in 1..self.count {
            let found = self.separation(side, other);
            if found > best.1 {
                best = (side, found);
            }
        }
        best
    }

    /// Returns how far another hull is from a side; corners only, without radii.
    fn separation(&self, side: usize, other: &Self) -> Q20 {
        let (from, normal) = (self.points[side], self.normals[side]);
        let corners = other.points[..other.count].iter();
        corners.map(|corner| (*corner - from).dot(normal)).min().unwrap_or(Q20::ZERO)
    }

    /// Returns the side that faces most against a direction.
    fn opposing_side(&self, direction: Unit) -> usize {
        let along = |normal: Unit| {
            i64::from(normal.x.0) * i64::from(direction.x.0)
                + i64::from(normal.y.0) * i64::from(direction.y.0)
        };
        (0..self.count).min_by_key(|side| along(self.normals[*side])).unwrap_or(0)
    }
}

/// Returns the manifold of two hulls, at least one of which is no disc.
pub(super) fn collide(a: Placed<'_>, b: Placed<'_>, margin: Q20) -> Manifold {
    if let Some(neighbours) = a.1.neighbours {
        return segment::collide(a, neighbours, b, margin);
    }
    if let Some(neighbours) = b.1.neighbours {
        return segment::collide(b, neighbours, a, margin).flipped();
    }
    if a.1.count == 1 {
        return collide_disc(b, a, margin).flipped();
    }
    if b.1.count == 1 {
        return collide_disc(a, b, margin);
    }
    let position = (b.0.position - a.0.position).inverse_rotated(a.0.facing);
    let facing = b.0.facing.rotated(a.0.facing.conjugate());
    let (first, second) = (a.1, &b.1.placed(position, facing));
    let reach = margin + (first.radius + second.radius);
    let (side_a, separation_a) = first.furthest_side(second);
    if separation_a > reach {
        return Manifold::default();
    }
    let (side_b, separation_b) = second.furthest_side(first);
    if separation_b > reach {
        return Manifold::default();
    }
    let of_second = separation_b > separation_a + AXIS_TOLERANCE;
    let (reference, side, incident) =
        if of_second { (second, side_b, first) } else { (first, side_a, second) };
    let clip = Clip { reference, side, incident, reach: margin };
    let apart = separation_a.max(separation_b) > APART || first.count.max(second.count) == 2;
    let corners = if apart { clip.corners() } else { None };
    let found = corners.map_or_else(|| clip.sides(), |corners| clip.of_corners(corners));
    let manifold = if of_second { found.flipped() } else { found };
    manifold.out_of_frame(of_second, a.0.facing, position)
}

impl Manifold {
    /// Returns the manifold in the region's frame, from that of the first body, with the second at its
    /// position there. `of_second` says whose side the points were found by.
    fn out_of_frame(self, of_second: bool, facing: Unit, position: Vector) -> Self {
        let mut turned = Self { normal: self.normal.rotated(facing), ..self };
        for point in &mut turned.points[..self.count] {
            point.feature |= u8::from(of_second) << 6;
            point.anchor_a = point.anchor_a.rotated(facing);
            point.anchor_b = (point.anchor_b - position).rotated(facing);
        }
        turned
    }
}

/// The side of one hull that another hull meets, both in one frame.
struct Clip<'a> {
    reference: &'a Hull,
    side: usize,
    incident: &'a Hull,
    /// The greatest separation of a point.
    reach: Q20,
}

impl Clip<'_> {
    fn incident_side(&self) -> usize {
        self.incident.opposing_side(self.reference.normals[self.side])
    }

    /// Returns the two corners, if the two sides are nearest to each other there.
    fn corners(&self) -> Option<[Vector; 2]> {
        let ours = self.reference.side(self.side);
        let theirs = self.incident.side(self.incident_side());
        let mut best = nearest_of_segment(ours[0], theirs).with(ours[0]);
        for found in [
            nearest_of_segment(ours[1], theirs).with(ours[1]),
            nearest_of_segment(theirs[0], ours).of(theirs[0]),
            nearest_of_segment(theirs[1], ours).of(theirs[1]),
        ] {
            if found.distance < best.distance {
                best = found;
            }
        }
        best.corners.filter(|_| !best.distance.is_zero())
    }

    /// Returns the manifold of two corners.
    fn of_corners(&self, [ours, theirs]: [Vector; 2]) -> Manifold {
        let offset = theirs - ours;
        let distance = offset.length();
        let normal = offset.direction(distance);
        let separation = distance - (self.reference.radius + self.incident.radius);
        if separation > self.reach {
            return Manifold::default();
        }
        let anchor_a = ours + normal.scaled(self.reference.radius);
        let anchor_b = theirs - normal.scaled(self.incident.radius);
        let mut manifold = Manifold::one(normal, anchor_a, anchor_b, separation);
        manifold.points[0].feature = 0x80;
        manifold
    }

    /// Returns the manifold of two sides.
    fn sides(&self) -> Manifold {
        let [start, end] = self.reference.side(self.side);
        let normal = self.reference.normals[self.side];
        // The direction of the side: the normal, a quarter turn to the left.
        let along = -normal.right_perp();
        let number = self.incident_side();
        let ends = self.incident.side(number);
        let length = (end - start).dot(along);
        let lateral = |point: Vector| (point - start).dot(along);
        let mut manifold = Manifold { normal, ..Manifold::default() };
        let ways = ends.map(lateral);
        let beside = |at: Q20| (at > length) as i8 - (at < Q20::ZERO) as i8;
        if beside(ways[0]) != 0 && beside(ways[0]) == beside(ways[1]) {
            return manifold;
        }
        let radii = self.reference.radius + self.incident.radius;
        for corner in 0..2 {
            let (at, span) = (ways[corner], ways[1 - corner] - ways[corner]);
            let bound = at.max(Q20::ZERO).min(length);
            let mut point = ends[corner];
            if bound != at && !span.is_zero() {
                point = point + scaled_by_ratio(ends[1 - corner] - point, bound - at, span);
            }
            let distance = (point - start).dot(normal);
            if distance - radii > self.reach {
                continue;
            }
            let incident = (number + corner) % self.incident.count;
            manifold.points[manifold.count] = ManifoldPoint {
                anchor_a: point - normal.scaled(distance - self.reference.radius),
                anchor_b: point - normal.scaled(self.incident.radius),
                separation: distance - radii,
                feature: (self.side << 3 | incident) as u8,
            };
            manifold.count += 1;
        }
        manifold
    }
}

/// Where a segment is nearest to a point.
struct SegmentPoint {
    distance: Q20,
    /// The end, if it is one.
    end: Option<Vector>,
}

/// The distance of two sides at one end of one of them, and both corners, if they are.
struct SideDistance {
    distance: Q20,
    corners: Option<[Vector; 2]>,
}

impl SegmentPoint {
    /// Returns the distance of an incident side to a corner of the reference side.
    fn with(self, ours: Vector) -> SideDistance {
        SideDistance { distance: self.distance, corners: self.end.map(|theirs| [ours, theirs]) }
    }

    /// Returns the distance of a reference side to a corner of the incident side.
    fn of(self, theirs: Vector) -> SideDistance {
        SideDistance { distance: self.distance, corners: self.end.map(|ours| [ours, theirs]) }
    }
}

fn nearest_of_segment(point: Vector, [from, to]: [Vector; 2]) -> SegmentPoint {
    let (way, offset) = (to - from, point - from);
    let product = |a: Q20, b: Q20| i64::from(a.0) * i64::from(b.0);
    let along = product(way.x, offset.x) + product(way.y, offset.y);
    let squared = product(way.x, way.x) + product(way.y, way.y);
    if along <= 0 {
        return SegmentPoint { distance: offset.length(), end: Some(from) };
    }
    if along >= squared {
        return SegmentPoint { distance: (point - to).length(), end: Some(to) };
    }
    let cross = product(way.x, offset.y) - product(way.y, offset.x);
    let distance = cross.abs() / i64::from(way.length().0.max(1));
    SegmentPoint { distance: Q20(narrow(distance)), end: None }
}

/// Returns the manifold of a hull and a disc.
fn collide_disc(hull: Placed<'_>, disc: Placed<'_>, margin: Q20) -> Manifold {
    let (body, hull) = hull;
    let centre = (disc.0.position - body.position).inverse_rotated(body.facing);
    let radius = disc.1.radius;
    let (side, separation) = hull.furthest_side(&disc.1.placed(centre, Unit::X));
    let radii = radius + hull.radius;
    if separation > margin + radii {
        return Manifold::default();
    }
    let (ends, side_normal) = (hull.side(side), hull.normals[side]);
    let nearest = nearest_of_segment(centre, ends);
    let inside = separation <= Q20::ZERO && hull.count > 2;
    let (normal, core, distance) = match nearest.end {
        Some(end) if !inside && !nearest.distance.is_zero() => {
            ((centre - end).direction(nearest.distance), end, nearest.distance)
        }
        _ => (side_normal, centre - side_normal.scaled(separation), separation),
    };
    if distance - radii > margin {
        return Manifold::default();
    }
    let anchor = (core + normal.scaled(hull.radius)).rotated(body.facing);
    let normal = normal.rotated(body.facing);
    Manifold::one(normal, anchor, normal.scaled(-radius), distance - radii)
}
