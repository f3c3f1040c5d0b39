//! Outlines: what shapes of bodies builders and scripts describe, and how large they may be.

use metatopia_math::Fx;
use metatopia_physics::{
    Compound, CompoundError, CompoundPart, PartFault, Polygon, PolygonError, Pose, Shape,
    limits::{COMPOUND_PARTS_MAX, SIZE_MIN},
};
use metatopia_types::{
    Blueprint, BodyShape, Outline, OutlinePart, Refusal, limits::MORE_PARTS_MAX,
};

use crate::{space::Footprint, state::BuildingParameters};

// A blueprint describes whatever body physics has, and none that it has not.
const _: () = assert!(MORE_PARTS_MAX + 1 == COMPOUND_PARTS_MAX);

/// Checks that a shape is neither too small nor too large.
pub(super) fn check_shape(rules: &BuildingParameters, shape: Shape) -> Result<(), Refusal> {
    let (least, most) = match shape {
        Shape::Circle { radius } => (radius, radius),
        Shape::Rect { half } => (half.x.min(half.y), half.x.max(half.y)),
        Shape::Capsule { half, radius } => (radius.min(half), half.saturating_add(radius)),
        // Physics knows no thinner polygon, and no thinner part.
        Shape::Polygon(_) | Shape::Compound(_) => (SIZE_MIN, shape.reach()),
        // Nobody builds a thin line.
        Shape::Segment(_) => return Err(Refusal::BadSize),
    };
    if least < SIZE_MIN || most > rules.size_max.saturating_mul(Fx::HALF) {
        return Err(Refusal::BadSize);
    }
    Ok(())
}

/// Returns the ground that a thing of a blueprint covers.
///
/// # Errors
/// When its parts are none that a body can have; see [`shape`] and [`footprint_of_parts`].
pub(super) fn footprint_of(blueprint: &Blueprint) -> Result<Footprint, Refusal> {
    let Blueprint { outline, parts, position, angle, .. } = blueprint;
    let pose = Pose { position: *position, angle: *angle };
    let first = shape(*outline)?;
    if parts.as_slice().is_empty() {
        return Ok(Footprint { shape: first, pose });
    }
    let mut all = vec![CompoundPart::new(first)];
    for OutlinePart { outline, offset, angle } in parts.as_slice() {
        all.push(CompoundPart { shape: shape(*outline)?, offset: *offset, angle: *angle });
    }
    footprint_of_parts(&all, pose)
}

/// Returns the ground that one thing of these parts covers. They are seen from `pose`; the position of the thing is
/// its centre of mass.
///
/// # Errors
/// [`Refusal::BadParts`] if there are too few or too many of them, or one is a line; [`Refusal::BadSize`] if one is
/// too small or too far off; [`Refusal::BadCorners`] if its corners are no convex polygon.
pub(super) fn footprint_of_parts(parts: &[CompoundPart], pose: Pose) -> Result<Footprint, Refusal> {
    let compound = Compound::new(parts).map_err(bad_compound)?;
    let centred = compound.parts().next().expect("a compound has parts").offset;
    let centre = parts[0].offset.saturating_sub(centred);
    let position = pose.position.saturating_add(centre.rotate(pose.angle));
    Ok(Footprint { shape: Shape::Compound(compound), pose: Pose { position, ..pose } })
}

/// Returns why parts are no thing.
fn bad_compound(error: CompoundError) -> Refusal {
    match error {
        CompoundError::Count(_) | CompoundError::Part { fault: PartFault::Kind, .. } => {
            Refusal::BadParts
        }
        CompoundError::Part { fault: PartFault::Polygon(error), .. } => bad_polygon(error),
        CompoundError::Part { fault: PartFault::Size(_) | PartFault::Offset, .. } => {
            Refusal::BadSize
        }
    }
}

/// Returns why corners are no outline.
fn bad_polygon(error: PolygonError) -> Refusal {
    match error {
        PolygonError::Far(_) | PolygonError::Thin(_) => Refusal::BadSize,
        PolygonError::Corners(_) | PolygonError::NotConvex(_) => Refusal::BadCorners,
    }
}

/// Returns the shape of the body of an outline.
///
/// # Errors
/// When its corners are no convex polygon, or it is too thin or too far across for one.
pub(super) fn shape(outline: Outline) -> Result<Shape, Refusal> {
    Ok(match outline {
        Outline::Disc { radius } => Shape::Circle { radius },
        Outline::Box { half } => Shape::Rect { half },
        Outline::Capsule { half, radius } => Shape::Capsule { half, radius },
        Outline::Polygon(corners) => {
            Shape::Polygon(Polygon::new(corners.points()).map_err(bad_polygon)?)
        }
    })
}

/// Returns how an outline is drawn.
pub(super) fn drawn(outline: Outline) -> BodyShape {
    match outline {
        Outline::Disc { .. } => BodyShape::Round,
        Outline::Box { .. } | Outline::Capsule { .. } | Outline::Polygon(_) => BodyShape::Square,
    }
}
