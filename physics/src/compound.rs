//! Compounds: several shapes that are one body.

use std::sync::Arc;

use metatopia_math::{Angle, Fx, Vec2};
use serde::{Deserialize, Serialize};

use crate::body::facing;
use crate::fixed::{Q20, Q30, Unit, Vector};
use crate::limits::{COMPOUND_PARTS_MAX, STATIC_SIZE_MAX};
use crate::motion::Motion;
use crate::polygon::{Polygon, PolygonError};
use crate::shape::{Geometry, Shape, ShapeError, SizeError, joined, size_max};

/// Two to [`COMPOUND_PARTS_MAX`] shapes around the body's position, which is their centre of mass. They may
/// overlap; each part has a mass in proportion to its own area then, so what overlaps counts twice.
///
/// Clones are cheap: they share the parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<CompoundPartForm>", into = "Vec<CompoundPartForm>")]
pub struct Compound(Arc<[FixedPart]>);

/// One shape of a compound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompoundPart {
    /// The shape: a circle, a rectangle, a capsule or a polygon.
    pub shape: Shape,
    /// Where the position of the shape is in the body's own frame, in metres. That of a polygon is its
    /// centre of mass, see [`CompoundPart::of_corners`].
    pub offset: Vec2,
    /// The direction of the shape's own x axis in the body's own frame.
    pub angle: Angle,
}

/// A reason why shapes are no compound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompoundError {
    /// There are too few parts or too many.
    #[error("parts: {0} where a compound has 2..={COMPOUND_PARTS_MAX}")]
    Count(usize),
    /// A part is none that a compound can have.
    #[error("parts[{part}].{fault}")]
    Part {
        /// The index of the part.
        part: usize,
        /// What is wrong with it.
        fault: PartFault,
    },
}

/// What is wrong with a part of a compound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartFault {
    /// The shape is a segment or a compound.
    #[error("shape: a part is a circle, a rectangle, a capsule or a polygon")]
    Kind,
    /// A size is out of range; `reach` is the distance of the part's furthest point from the compound's
    /// centre of mass.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// The corners are no polygon.
    #[error("shape: {0}")]
    Polygon(#[from] PolygonError),
    /// The offset is too far from the origin of the body's frame.
    #[error("offset: more than {STATIC_SIZE_MAX} m from the origin on an axis")]
    Offset,
}

/// A part in the number formats of the solver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FixedPart {
    pub(crate) geometry: Geometry,
    pub(crate) offset: Vector,
    angle: Angle,
    /// The cosine and the sine of the angle.
    pub(crate) facing: Unit,
}

/// The encoding of a part. Its outline has no compound in it, so no bytes nest deeply.
#[derive(Serialize, Deserialize)]
struct CompoundPartForm {
    outline: PartOutline,
    offset: Vector,
    angle: Angle,
}

/// The shape of a part in the number formats of the solver.
#[derive(Serialize, Deserialize)]
enum PartOutline {
    Circle(Q20),
    Rect(Vector),
    Capsule(Q20, Q20),
    Polygon(Polygon),
}

impl CompoundPart {
    /// Returns the part of this shape, where the body's position is at first.
    #[must_use]
    pub const fn new(shape: Shape) -> Self {
        Self { shape, offset: Vec2::ZERO, angle: Angle::ZERO }
    }

    /// Returns the polygon with these corners in the body's own frame, in metres, in counter-clockwise order.
    ///
    /// # Errors
    /// Returns [`PolygonError`], which names the corner.
    pub fn of_corners(corners: &[Vec2]) -> Result<Self, PolygonError> {
        let (polygon, offset) = Polygon::with_centre(corners)?;
        Ok(Self { offset, ..Self::new(Shape::Polygon(polygon)) })
    }

    /// Returns the same part somewhere else.
    #[must_use]
    pub fn at(self, offset: Vec2) -> Self {
        Self { offset, ..self }
    }
}

impl Compound {
    /// Returns the compound of these parts. It is moved so that its centre of mass is the body's position, as
    /// a [polygon](Polygon::new) is; all offsets change by the same vector. Numbers are rounded to multiples
    /// of 2^-20 m.
    ///
    /// ```
    /// use metatopia_math::{Fx, Vec2};
    /// use metatopia_physics::{BodySpec, Compound, CompoundPart, Motion, Region, Shape};
    /// use metatopia_types::ObjectId;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let bar = |x, y| {
    ///     let half = Vec2::new(Fx::from_ratio(x, 10), Fx::from_ratio(y, 10));
    ///     CompoundPart::new(Shape::Rect { half })
    /// };
    /// // An L of a lying bar and one that stands on its left end.
    /// let standing = bar(1, 3).at(Vec2::new(Fx::from_ratio(-2, 10), Fx::from_ratio(4, 10)));
    /// let ell = Compound::new(&[bar(3, 1), standing])?;
    /// let mut region = Region::new();
    /// let spec = BodySpec::new(Shape::Compound(ell), Motion::Dynamic, Vec2::ZERO);
    /// region.insert(ObjectId(1), &spec.with_density(Fx::from_int(10)))?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns [`CompoundError`], which names the part and its field.
    pub fn new(parts: &[CompoundPart]) -> Result<Self, CompoundError> {
        check_count(parts.len())?;
        let rounded = parts.iter().enumerate().map(|(part, of)| {
            FixedPart::new(of).map_err(|fault| CompoundError::Part { part, fault })
        });
        let compound = Self::centred(rounded.collect::<Result<_, _>>()?);
        compound.check(Motion::Static)?;
        Ok(compound)
    }

    /// Returns the compound of parts that are moved so that their centre of mass is the position. What lies so
    /// already stays, bit for bit: the centre is rounded as it is seen from the first part.
    fn centred(mut parts: Vec<FixedPart>) -> Self {
        let first = parts.first().map_or(Vector::ZERO, |part| part.offset);
        for part in &mut parts {
            part.offset = part.offset - first;
        }
        let centre = centre(&parts);
        for part in &mut parts {
            part.offset = part.offset - centre;
        }
        Self(parts.into())
    }

    /// Returns whether the centre of mass of all parts is the position, and that of each polygon among them where
    /// the part is. [`Compound::new`] makes the first so, [`Polygon::new`] the second; bytes may say otherwise.
    #[must_use]
    pub fn is_centred(&self) -> bool {
        let own = |part: &FixedPart| part.geometry.shape().is_centred();
        self.0.iter().all(own) && Self::centred(self.0.to_vec()) == *self
    }

    /// Returns the parts, with their offsets from the centre of mass, exactly.
    pub fn parts(&self) -> impl Iterator<Item = CompoundPart> + '_ {
        self.0.iter().map(|part| CompoundPart {
            shape: part.geometry.shape(),
            offset: part.offset.vec2(),
            angle: part.angle,
        })
    }

    pub(crate) fn fixed_parts(&self) -> &[FixedPart] {
        &self.0
    }

    /// Checks that a body of this motion can have the compound.
    pub(crate) fn check(&self, motion: Motion) -> Result<(), CompoundError> {
        for (part, of) in self.0.iter().enumerate() {
            of.check(motion).map_err(|fault| CompoundError::Part { part, fault })?;
        }
        Ok(())
    }

    /// Returns the sum of the areas of the parts.
    pub(crate) fn area(&self) -> Fx {
        self.0.iter().map(FixedPart::area).fold(Fx::ZERO, Fx::saturating_add)
    }

    /// Returns the distance from the position to the furthest point of any part, rounded up.
    pub(crate) fn bounding_radius(&self) -> Q20 {
        self.0.iter().map(FixedPart::reach).max().unwrap_or(Q20::ZERO)
    }

    /// Returns the least inscribed radius of any part: no body moves further in a substep, so no part of it
    /// tunnels.
    pub(crate) fn inscribed_radius(&self) -> Q20 {
        self.0.iter().map(|part| part.geometry.inscribed_radius()).min().unwrap_or(Q20::ZERO)
    }

    /// Returns the squared radius of gyration with 40 fraction bits, of a compound that moves: that of each
    /// part about the position, by its share of the area.
    pub(crate) fn gyration_squared(&self) -> i64 {
        let of_part = |part: &FixedPart| {
            let own = Fx::from_bits(part.geometry.gyration_squared() >> 8);
            let lever = part.offset.vec2().length_squared();
            own.saturating_add(lever).saturating_mul(part.area())
        };
        let sum = self.0.iter().map(of_part).fold(Fx::ZERO, Fx::saturating_add);
        sum.saturating_div(self.area()).to_bits() << 8
    }

    /// Returns whether a point of the body's own frame is inside a part or on its boundary.
    pub(crate) fn contains(&self, point: Vector) -> bool {
        let inside = |part: &FixedPart| {
            // First without a rotation, whose products only fit close to the part.
            let (offset, radius) = (point - part.offset, part.geometry.bounding_radius());
            offset.x.abs() <= radius
                && offset.y.abs() <= radius
                && part.geometry.contains(offset.inverse_rotated(part.facing))
        };
        self.0.iter().any(inside)
    }

    /// Returns the point of the compound that is nearest to a point; the point itself if it is inside.
    pub(crate) fn nearest(&self, point: Vec2) -> Vec2 {
        let of_part = |part: &FixedPart| {
            let own = part.own_frame(point);
            let nearest = part.geometry.shape().nearest(own);
            if nearest == own { point } else { part.out_of_frame(nearest) }
        };
        let nearest = self.0.iter().map(of_part).min_by_key(|nearest| nearest.distance(point));
        nearest.unwrap_or(point)
    }

    /// Returns half the width and half the height of the box around the position that holds the compound
    /// turned by an angle.
    pub(crate) fn half_extents(&self, angle: Angle) -> Vec2 {
        let of_part = |part: &FixedPart| {
            let centre = part.offset.vec2().rotate(angle);
            let turned = angle.wrapping_add(part.angle);
            let half = part.geometry.shape().half_extents(turned);
            Vec2::new(
                half.x.saturating_add(centre.x.saturating_abs()),
                half.y.saturating_add(centre.y.saturating_abs()),
            )
        };
        self.0
            .iter()
            .map(of_part)
            .fold(Vec2::ZERO, |most, half| Vec2::new(most.x.max(half.x), most.y.max(half.y)))
    }

    /// Returns what [`Shape::corners_around`] does.
    pub(crate) fn corners_around(&self, angle: Angle) -> [Vec2; 2] {
        let of_part = |part: &FixedPart| {
            let centre = part.offset.vec2().rotate(angle);
            let corners = part.geometry.shape().corners_around(angle.wrapping_add(part.angle));
            corners.map(|corner| corner.saturating_add(centre))
        };
        self.0.iter().map(of_part).reduce(joined).unwrap_or_default()
    }
}

impl FixedPart {
    fn new(part: &CompoundPart) -> Result<Self, PartFault> {
        let geometry = Geometry::new(&part.shape, Motion::Static).map_err(|error| match error {
            ShapeError::Size(size) => PartFault::Size(size),
            ShapeError::Polygon(polygon) => PartFault::Polygon(polygon),
            ShapeError::Segment(_) | ShapeError::Compound(_) => PartFault::Kind,
        })?;
        if matches!(geometry, Geometry::Segment(_) | Geometry::Compound(_)) {
            return Err(PartFault::Kind);
        }
        let far = |side: Fx| side.saturating_abs() > STATIC_SIZE_MAX;
        if far(part.offset.x) || far(part.offset.y) {
            return Err(PartFault::Offset);
        }
        let offset = Vector::clamped(part.offset, Q20::constant(STATIC_SIZE_MAX));
        Ok(Self { geometry, offset, angle: part.angle, facing: facing(part.angle) })
    }

    /// Checks that the part keeps within what a body of this motion may reach. Its sizes do then as well.
    fn check(&self, motion: Motion) -> Result<(), PartFault> {
        let (size, limit) = (Q20(self.reach().0 - ROUNDED_UP).fx(), size_max(motion));
        if size > limit {
            return Err(SizeError { field: "reach", size, limit, motion }.into());
        }
        Ok(())
    }

    fn area(&self) -> Fx {
        self.geometry.shape().area()
    }

    /// Returns the distance from the body's position to the furthest point of the part, rounded up.
    fn reach(&self) -> Q20 {
        let point = Vector::new;
        let (corners, radius) = match &self.geometry {
            Geometry::Circle(radius) => (vec![Vector::ZERO], *radius),
            Geometry::Rect(Vector { x, y }) => {
                let (x, y) = (*x, *y);
                (vec![point(-x, -y), point(x, -y), point(x, y), point(-x, y)], Q20::ZERO)
            }
            Geometry::Capsule(half, radius) => {
                (vec![point(-*half, Q20::ZERO), point(*half, Q20::ZERO)], *radius)
            }
            Geometry::Polygon(polygon) => (polygon.points().to_vec(), Q20::ZERO),
            Geometry::Segment(_) | Geometry::Compound(_) => unreachable!("a part is neither"),
        };
        let distance = |corner: &Vector| (self.offset + corner.rotated(self.facing)).length();
        corners.iter().map(distance).max().unwrap_or(Q20::ZERO) + radius + Q20(ROUNDED_UP)
    }

    /// Returns the direction of the part's own x axis in the numbers of the public interface, exactly.
    fn axis(&self) -> Vec2 {
        let coordinate = |part: Q30| Fx::from_bits(i64::from(part.0) << 2);
        Vec2::new(coordinate(self.facing.x), coordinate(self.facing.y))
    }

    /// Returns a point of the body's frame in the frame of the part.
    pub(crate) fn own_frame(&self, point: Vec2) -> Vec2 {
        self.own_direction(point.saturating_sub(self.offset.vec2()))
    }

    /// Returns a vector of the body's frame in the frame of the part.
    pub(crate) fn own_direction(&self, vector: Vec2) -> Vec2 {
        let axis = self.axis();
        Vec2::new(vector.dot(axis), axis.cross(vector))
    }

    /// Returns a point of the frame of the part in the body's frame.
    pub(crate) fn out_of_frame(&self, point: Vec2) -> Vec2 {
        let axis = self.axis();
        let turned = Vec2::new(
            axis.x.saturating_mul(point.x).saturating_sub(axis.y.saturating_mul(point.y)),
            axis.y.saturating_mul(point.x).saturating_add(axis.x.saturating_mul(point.y)),
        );
        self.offset.vec2().saturating_add(turned)
    }
}

/// What a reach is more than the length that it is rounded from, in bits: a corner is turned and measured.
const ROUNDED_UP: i32 = 3;

fn check_count(parts: usize) -> Result<(), CompoundError> {
    if (2..=COMPOUND_PARTS_MAX).contains(&parts) {
        return Ok(());
    }
    Err(CompoundError::Count(parts))
}

/// Returns the centre of mass.
fn centre(parts: &[FixedPart]) -> Vector {
    let area = parts.iter().map(FixedPart::area).fold(Fx::ZERO, Fx::saturating_add);
    let moment = parts
        .iter()
        .fold(Vec2::ZERO, |sum, part| sum.saturating_add(part.offset.vec2().scale(part.area())));
    let centre = Vec2::new(moment.x.saturating_div(area), moment.y.saturating_div(area));
    Vector::clamped(centre, Q20::constant(STATIC_SIZE_MAX))
}

impl From<Compound> for Vec<CompoundPartForm> {
    fn from(compound: Compound) -> Self {
        let form = |part: &FixedPart| {
            let outline = match &part.geometry {
                Geometry::Circle(radius) => PartOutline::Circle(*radius),
                Geometry::Rect(half) => PartOutline::Rect(*half),
                Geometry::Capsule(half, radius) => PartOutline::Capsule(*half, *radius),
                Geometry::Polygon(polygon) => PartOutline::Polygon(**polygon),
                Geometry::Segment(_) | Geometry::Compound(_) => unreachable!("a part is neither"),
            };
            CompoundPartForm { outline, offset: part.offset, angle: part.angle }
        };
        compound.0.iter().map(form).collect()
    }
}

impl TryFrom<Vec<CompoundPartForm>> for Compound {
    type Error = CompoundError;

    /// Takes only what [`Compound::new`] could have made, but for where the centre of mass is.
    fn try_from(forms: Vec<CompoundPartForm>) -> Result<Self, CompoundError> {
        check_count(forms.len())?;
        let part = |CompoundPartForm { outline, offset, angle }: CompoundPartForm| {
            let geometry = match outline {
                PartOutline::Circle(radius) => Geometry::Circle(radius),
                PartOutline::Rect(half) => Geometry::Rect(half),
                PartOutline::Capsule(half, radius) => Geometry::Capsule(half, radius),
                PartOutline::Polygon(polygon) => Geometry::Polygon(Arc::new(polygon)),
            };
            FixedPart::new(&CompoundPart { shape: geometry.shape(), offset: offset.vec2(), angle })
        };
        let parts = forms.into_iter().enumerate().map(|(index, form)| {
            part(form).map_err(|fault| CompoundError::Part { part: index, fault })
        });
        let compound = Self(parts.collect::<Result<Vec<_>, _>>()?.into());
        compound.check(Motion::Static)?;
        Ok(compound)
    }
}
