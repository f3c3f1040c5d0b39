//! Bodies in the form that the broad phase looks at: small, because each step looks at all of them, and most are near
//! nobody.

use crate::body::Body;
use crate::filter::Filter;
use crate::fixed::{Q20, Vector, narrow};
use crate::limits::TOUCH_MARGIN;
use crate::mass_props::MassProps;
use crate::motion::Motion;
use crate::outline::{BodyOutline, Outlines};
use crate::shape::Geometry;
use crate::solver_body::travel_max;

const MARGIN: Q20 = Q20::constant(TOUCH_MARGIN);

/// An axis-aligned bounding box that holds a body during a whole step, with the touch margin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aabb {
    pub(crate) low: Vector,
    pub(crate) high: Vector,
}

impl Aabb {
    /// Returns the box that a body stays in during a step. The outlines only save memory.
    #[inline]
    pub(crate) fn of(body: &Body, mass_props: &MassProps, outlines: &mut Outlines) -> Self {
        let half = match body.geometry {
            Geometry::Rect(half) if body.motion == Motion::Static => {
                let (c, s) = (body.facing.x.abs(), body.facing.y.abs());
                Vector::new(c * half.x + s * half.y, s * half.x + c * half.y)
            }
            Geometry::Circle(_) => {
                Vector::new(mass_props.bounding_radius, mass_props.bounding_radius)
            }
            _ if body.motion == Motion::Static => half_extents(body, outlines),
            // A moving body may turn, so the box must hold it at every angle.
            _ => Vector::new(mass_props.bounding_radius, mass_props.bounding_radius),
        };
        let half = half + travel_max(body) + Vector::new(MARGIN, MARGIN);
        Self { low: body.position - half, high: body.position + half }
    }

    /// Returns the middle, which is the position of the body.
    pub(crate) fn centre(&self) -> Vector {
        let middle = |low: Q20, high: Q20| Q20(narrow((low.0 as i64 + high.0 as i64) >> 1));
        Vector::new(middle(self.low.x, self.high.x), middle(self.low.y, self.high.y))
    }

    /// Returns whether the other box lies in this one.
    pub(crate) fn holds(&self, other: &Self) -> bool {
        // All four are looked at, which takes no branch for each.
        (self.low.x <= other.low.x)
            & (self.low.y <= other.low.y)
            & (self.high.x >= other.high.x)
            & (self.high.y >= other.high.y)
    }

    /// Returns whether the two boxes have a point in common.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        let overlap = |low: Q20, high: Q20, other_low: Q20, other_high: Q20| {
            low <= other_high && other_low <= high
        };
        overlap(self.low.x, self.high.x, other.low.x, other.high.x)
            && overlap(self.low.y, self.high.y, other.low.y, other.high.y)
    }
}

/// Returns half the width and half the height of the box around a body as it is turned.
fn half_extents(body: &Body, outlines: &mut Outlines) -> Vector {
    outlines.clear();
    match BodyOutline::new(&body.geometry, outlines) {
        BodyOutline::Hull(index) => outlines.hulls[index as usize].half_extents(body.facing),
        outline => outlines.half_extents(outline, body.facing),
    }
}

/// What of a body says whom it meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SweepBody {
    pub(crate) filter: Filter,
    pub(crate) bounding_radius: Q20,
    pub(crate) motion: Motion,
    marks: u8,
}

impl SweepBody {
    const SENSOR: u8 = 1;
    const GHOST: u8 = 2;
    const INFINITE_MASS: u8 = 4;

    /// Returns what of a body says whom it meets.
    #[inline]
    pub(crate) fn of(body: &Body, mass_props: &MassProps) -> Self {
        let mark = |is: bool, mark: u8| if is { mark } else { 0 };
        Self {
            filter: body.role.filter,
            bounding_radius: mass_props.bounding_radius,
            motion: body.motion,
            marks: mark(body.role.sensor, Self::SENSOR)
                | mark(body.is_ghost(), Self::GHOST)
                | mark(mass_props.inverse_mass == 0, Self::INFINITE_MASS),
        }
    }

    /// Returns whether it only notices others.
    pub(crate) const fn is_sensor(&self) -> bool {
        self.marks & Self::SENSOR != 0
    }

    /// Returns whether it is of another region.
    pub(crate) const fn is_ghost(&self) -> bool {
        self.marks & Self::GHOST != 0
    }

    /// Returns whether no impulse moves it: it is static or kinematic.
    pub(crate) const fn has_infinite_mass(&self) -> bool {
        self.marks & Self::INFINITE_MASS != 0
    }
}

/// All bodies of a region as the broad phase looks at them.
#[derive(Debug, Default)]
pub(crate) struct SweepBodies {
    pub(crate) bodies: Vec<SweepBody>,
    pub(crate) boxes: Vec<Aabb>,
    outlines: Outlines,
}

impl SweepBodies {
    /// Makes it these bodies.
    pub(crate) fn fill(&mut self, bodies: &[Body], mass_props: &[MassProps]) {
        let Self { bodies: filled, boxes, outlines } = self;
        filled.clear();
        boxes.clear();
        filled.reserve(bodies.len());
        boxes.reserve(bodies.len());
        for (body, props) in bodies.iter().zip(mass_props) {
            filled.push(SweepBody::of(body, props));
            boxes.push(Aabb::of(body, props, outlines));
        }
    }
}
