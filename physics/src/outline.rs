//! Outlines: the shapes of bodies in the form that the narrow phase works on.

use crate::compound::FixedPart;
use crate::fixed::{Q20, Unit, Vector};
use crate::narrow_phase::Hull;
use crate::shape::Geometry;

/// The outline of a body in the form that is met with others.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BodyOutline {
    Circle(Q20),
    Rect(Vector),
    /// A capsule, a polygon or a segment, by its index in the list of hulls.
    Hull(u32),
    /// A compound, by the index of its first part in the list of parts, and how many it has.
    Compound(u32, u32),
}

/// What the outlines of a step's bodies have too much of to keep it beside each body.
#[derive(Debug, Default)]
pub(crate) struct Outlines {
    /// The hulls of what is no circle and no rectangle.
    pub(crate) hulls: Vec<Hull>,
    /// The parts of all compounds.
    pub(crate) parts: Vec<SolverPart>,
}

/// A part of a compound in the form that the narrow phase works on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SolverPart {
    /// The outline, which is no compound.
    pub(crate) outline: BodyOutline,
    /// Where it is in the body's frame.
    pub(crate) offset: Vector,
    pub(crate) facing: Unit,
    /// The distance of its furthest point from where it is.
    pub(crate) bounding_radius: Q20,
}

impl Outlines {
    pub(crate) fn clear(&mut self) {
        self.hulls.clear();
        self.parts.clear();
    }

    /// Returns the parts of a compound; none of what is no compound.
    pub(crate) fn parts_of(&self, outline: BodyOutline) -> &[SolverPart] {
        match outline {
            BodyOutline::Compound(first, count) => {
                &self.parts[first as usize..(first + count) as usize]
            }
            _ => &[],
        }
    }

    /// Returns half the width and half the height of the box around the position that holds a compound.
    #[cold]
    pub(crate) fn half_extents(&self, compound: BodyOutline, facing: Unit) -> Vector {
        let of_part = |part: &SolverPart| {
            let turned = facing.rotated(part.facing);
            let half = part.outline.hull(&self.hulls).half_extents(turned);
            let centre = part.offset.rotated(facing);
            // Rounding may cost a bit on each axis.
            half + Vector::new(centre.x.abs() + Q20(1), centre.y.abs() + Q20(1))
        };
        self.parts_of(compound)
            .iter()
            .map(of_part)
            .fold(Vector::ZERO, |most, half| Vector::new(most.x.max(half.x), most.y.max(half.y)))
    }
}

impl BodyOutline {
    /// Returns the outline of a shape, and appends to the lists what it needs of them.
    #[inline]
    pub(crate) fn new(geometry: &Geometry, outlines: &mut Outlines) -> Self {
        let hull = match geometry {
            Geometry::Circle(radius) => return Self::Circle(*radius),
            Geometry::Rect(half) => return Self::Rect(*half),
            Geometry::Capsule(half, radius) => Hull::capsule(*half, *radius),
            Geometry::Polygon(polygon) => Hull::polygon(polygon),
            Geometry::Segment(segment) => Hull::segment(segment),
            Geometry::Compound(compound) => {
                return Self::of_parts(compound.fixed_parts(), outlines);
            }
        };
        outlines.hulls.push(hull);
        Self::Hull(outlines.hulls.len() as u32 - 1)
    }

    #[cold]
    fn of_parts(parts: &[FixedPart], outlines: &mut Outlines) -> Self {
        let first = outlines.parts.len() as u32;
        for FixedPart { geometry, offset, facing, .. } in parts {
            let outline = Self::new(geometry, outlines);
            outlines.parts.push(SolverPart {
                outline,
                offset: *offset,
                facing: *facing,
                bounding_radius: geometry.bounding_radius(),
            });
        }
        Self::Compound(first, parts.len() as u32)
    }

    /// Returns the outline, which is that of no compound, as a hull.
    #[inline]
    pub(crate) fn hull(self, hulls: &[Hull]) -> Hull {
        match self {
            Self::Circle(radius) => Hull::disc(radius),
            Self::Rect(half) => Hull::rect(half),
            Self::Hull(index) => hulls[index as usize],
            Self::Compound(..) => unreachable!("compounds meet by their parts"),
        }
    }

    pub(crate) const fn is_circle(self) -> bool {
        matches!(self, Self::Circle(_))
    }

    pub(crate) const fn is_compound(self) -> bool {
        matches!(self, Self::Compound(..))
    }
}
