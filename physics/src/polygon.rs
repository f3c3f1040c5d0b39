//! Convex polygons: the shape of a body, and the sides that the solver meets others with.

use metatopia_math::{Fx, Vec2};
use serde::{Deserialize, Serialize};

use crate::fixed::{Q20, Unit, Vector, narrow};
use crate::limits::{CORNERS_MAX, SIZE_MIN, STATIC_SIZE_MAX};

/// A convex polygon of three to [`CORNERS_MAX`] corners, which run counter-clockwise around the body's
/// position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Vector>", into = "Vec<Vector>")]
pub struct Polygon {
    corners: [Vector; CORNERS_MAX],
    count: u8,
}

/// A reason why corners are no polygon of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolygonError {
    /// There are too few corners or too many.
    #[error("a polygon of {0} corners: it has 3..={CORNERS_MAX}")]
    Corners(usize),
    /// A corner, counted from 0 here and from 1 in the text, is too far from the others.
    #[error("corner {} is more than {STATIC_SIZE_MAX} m from the middle", .0 + 1)]
    Far(usize),
    /// The way around does not turn left at a corner: the polygon is not convex, runs clockwise, or has
    /// a corner twice or on a straight side.
    #[error(
        "the polygon does not turn left at corner {}: corners run counter-clockwise, convex",
        .0 + 1
    )]
    NotConvex(usize),
    /// The side that begins at a corner is too close to the centre of mass: the polygon is too thin.
    #[error(
        "the side from corner {} is less than {SIZE_MIN} m from the centre of the polygon",
        .0 + 1
    )]
    Thin(usize),
}

impl Polygon {
    /// Returns the polygon with these corners, in metres, in counter-clockwise order. It is moved so that
    /// its centre of mass is the body's position, and rounded to multiples of 2^-20 m.
    ///
    /// # Errors
    /// Returns [`PolygonError`], which names the corner.
    pub fn new(corners: &[Vec2]) -> Result<Self, PolygonError> {
        Self::with_centre(corners).map(|(polygon, _)| polygon)
    }

    /// Returns the polygon with these corners, and where its centre of mass is among them.
    pub(crate) fn with_centre(corners: &[Vec2]) -> Result<(Self, Vec2), PolygonError> {
        if !(3..=CORNERS_MAX).contains(&corners.len()) {
            return Err(PolygonError::Corners(corners.len()));
        }
        let first = corners[0];
        let reach = STATIC_SIZE_MAX.saturating_mul(Fx::from_int(2));
        let near = |at: &Vec2| {
            let offset = at.saturating_sub(first);
            offset.x.saturating_abs() <= reach && offset.y.saturating_abs() <= reach
        };
        if let Some(far) = corners.iter().position(|at| !near(at)) {
            return Err(PolygonError::Far(far));
        }
        let mut polygon = Self { corners: [Vector::ZERO; CORNERS_MAX], count: corners.len() as u8 };
        for (rounded, at) in polygon.corners.iter_mut().zip(corners) {
            *rounded = Vector::clamped(at.saturating_sub(first), Q20::constant(reach));
        }
        // A turn that is none makes an area of nothing, so this comes first.
        polygon.check_turns()?;
        let centre = polygon.centre();
        for corner in &mut polygon.corners[..corners.len()] {
            *corner = *corner - centre;
        }
        polygon.check()?;
        Ok((polygon, first.saturating_add(centre.vec2())))
    }

    /// Returns whether the centre of mass is the position, as [`Polygon::new`] makes it. Bytes may say otherwise.
    #[must_use]
    pub fn is_centred(&self) -> bool {
        // The centre is rounded as it is seen from the first corner, so that of a polygon that was made is exact.
        self.centre() == Vector::ZERO
    }

    /// Returns the corners in metres from the body's position, exactly.
    pub fn corners(&self) -> impl Iterator<Item = Vec2> {
        self.points().iter().map(|corner| corner.vec2()).collect::<Vec<_>>().into_iter()
    }

    pub(crate) fn points(&self) -> &[Vector] {
        &self.corners[..usize::from(self.count)]
    }

    /// Returns the sides, each as its two ends.
    fn sides(&self) -> impl Iterator<Item = (Vector, Vector)> {
        let points = self.points();
        points.iter().zip(points.iter().cycle().skip(1)).map(|(from, to)| (*from, *to))
    }

    /// Checks that the polygon is one that a body can have.
    pub(crate) fn check(&self) -> Result<(), PolygonError> {
        let far = Q20::constant(STATIC_SIZE_MAX);
        if let Some(far) = self.points().iter().position(|corner| corner.is_longer_than(far)) {
            return Err(PolygonError::Far(far));
        }
        self.check_turns()?;
        let least = Q20::constant(SIZE_MIN);
        let distance = |(from, to)| side_distance(from, to);
        match self.sides().map(distance).position(|distance| distance < least) {
            Some(thin) => Err(PolygonError::Thin(thin)),
            None => Ok(()),
        }
    }

    /// Checks that every corner lies to the left of every side that does not end there. So the way around
    /// turns left, and only once.
    fn check_turns(&self) -> Result<(), PolygonError> {
        let count = self.points().len();
        for (side, (from, to)) in self.sides().enumerate() {
            for other in 2..count {
                let corner = self.points()[(side + other) % count];
                if turn(to - from, corner - from) <= 0 {
                    return Err(PolygonError::NotConvex((side + 1) % count));
                }
            }
        }
        Ok(())
    }

    /// Returns the centre of mass.
    fn centre(&self) -> Vector {
        let origin = self.points()[0];
        let extents = self.points().iter().map(|corner| (*corner - origin).extent());
        let shift = excess_bits(extents.max().unwrap_or(Q20::ZERO), 18);
        let short = |corner: Vector| {
            let offset = corner - origin;
            (i64::from(offset.x.0 >> shift), i64::from(offset.y.0 >> shift))
        };
        let (mut area, mut x, mut y) = (0, 0, 0);
        for (from, to) in self.sides() {
            let ((ax, ay), (bx, by)) = (short(from), short(to));
            let cross = ax * by - ay * bx;
            area += cross;
            x += cross * (ax + bx);
            y += cross * (ay + by);
        }
        let part = |sum: i64| Q20(narrow((sum / (3 * area.max(1))) << shift));
        origin + Vector::new(part(x), part(y))
    }

    /// Returns the distance from the position to the nearest side.
    pub(crate) fn inscribed_radius(&self) -> Q20 {
        let distances = self.sides().map(|(from, to)| side_distance(from, to));
        distances.min().unwrap_or(Q20::ZERO)
    }

    /// Returns the distance from the position to the furthest corner, rounded up.
    pub(crate) fn bounding_radius(&self) -> Q20 {
        let lengths = self.points().iter().map(|corner| corner.length());
        lengths.max().unwrap_or(Q20::ZERO) + Q20(1)
    }

    /// Returns the area in square metres.
    pub(crate) fn area(&self) -> Fx {
        let cross: i64 = self.sides().map(|(from, to)| turn(from, to)).sum();
        Fx::from_bits(cross >> 9)
    }

    /// Returns the squared radius of gyration with 40 fraction bits, for a polygon that moves.
    pub(crate) fn gyration_squared(&self) -> i64 {
        // With 14 bits for a coordinate, the sum of fourth powers keeps in 63.
        let shift = excess_bits(self.bounding_radius(), 14);
        let short = |side: Q20| i64::from(side.0 >> shift);
        let (mut area, mut sum) = (0, 0);
        for (from, to) in self.sides() {
            let (ax, ay, bx, by) = (short(from.x), short(from.y), short(to.x), short(to.y));
            let cross = ax * by - ay * bx;
            area += cross;
            sum += cross * (ax * ax + ay * ay + bx * bx + by * by + ax * bx + ay * by);
        }
        (sum / (6 * area.max(1))).max(1) << (2 * shift)
    }

    /// Returns the point of the polygon that is nearest to a point; the point itself if it is inside.
    pub(crate) fn nearest(&self, point: Vec2) -> Vec2 {
        let mut nearest: Option<(Fx, Vec2)> = None;
        let mut inside = true;
        for (from, to) in self.sides() {
            let (from, to) = (from.vec2(), to.vec2());
            let (way, offset) = (to.saturating_sub(from), point.saturating_sub(from));
            inside &= way.cross(offset) >= Fx::ZERO;
            let along = way.dot(offset).saturating_div(way.length_squared());
            let at = from.saturating_add(way.scale(along.clamp(Fx::ZERO, Fx::ONE)));
            let distance = at.distance(point);
            if nearest.is_none_or(|(least, _)| distance < least) {
                nearest = Some((distance, at));
            }
        }
        nearest.filter(|_| !inside).map_or(point, |(_, at)| at)
    }

    pub(crate) fn contains(&self, point: Vector) -> bool {
        self.sides().all(|(from, to)| turn(to - from, point - from) >= 0)
    }
}

/// Returns how many bits more a length has than so many.
fn excess_bits(length: Q20, bits: u32) -> u32 {
    (32 - length.0.leading_zeros()).saturating_sub(bits)
}

/// Returns the cross product, in units of 2^-40: above zero if `other` turns left.
pub(crate) fn turn(way: Vector, other: Vector) -> i64 {
    i64::from(way.x.0) * i64::from(other.y.0) - i64::from(way.y.0) * i64::from(other.x.0)
}

/// Returns how far to the right of the position a side runs, rounded down.
fn side_distance(from: Vector, to: Vector) -> Q20 {
    let length = i64::from((to - from).length().0) + 1;
    Q20(narrow(turn(from, to) / length))
}

/// Returns the direction that a side of a shape faces.
pub(crate) fn side_normal(from: Vector, to: Vector) -> Unit {
    let way = to - from;
    let length = way.length();
    if length.is_zero() { Unit::X } else { way.direction(length).right_perp() }
}

impl From<Polygon> for Vec<Vector> {
    fn from(polygon: Polygon) -> Self {
        polygon.points().to_vec()
    }
}

impl TryFrom<Vec<Vector>> for Polygon {
    type Error = PolygonError;

    /// Takes any number of corners that there is room for; [`Polygon::check`] says whether they are any.
    fn try_from(points: Vec<Vector>) -> Result<Self, PolygonError> {
        let mut corners = [Vector::ZERO; CORNERS_MAX];
        if !(3..=CORNERS_MAX).contains(&points.len()) {
            return Err(PolygonError::Corners(points.len()));
        }
        corners[..points.len()].copy_from_slice(&points);
        let polygon = Self { corners, count: points.len() as u8 };
        // Further out, sums of coordinates would not fit.
        let far = Q20::constant(STATIC_SIZE_MAX);
        let is_far = |at: &Vector| at.x.0.unsigned_abs().max(at.y.0.unsigned_abs()) > far.0 as u32;
        match points.iter().position(is_far) {
            Some(far) => Err(PolygonError::Far(far)),
            None => Ok(polygon),
        }
    }
}
