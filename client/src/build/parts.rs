//! The parts of a thing as outlines, in which it can be made anew.

use alloc::vec::Vec;

use metatopia_math::{Angle, Vec2};
use metatopia_sim::Shape;
use metatopia_types::{Outline, OutlineCorners, OutlinePart};

/// Returns the outlines of a shape, each with its place and direction in the frame of the shape; nothing if it is a
/// line.
#[must_use]
pub fn outlines(shape: &Shape) -> Option<Vec<OutlinePart>> {
    match shape {
        Shape::Compound(compound) => {
            let parts = compound.parts();
            parts.map(|part| of_one(&part.shape, part.offset, part.angle)).collect()
        }
        single => Some(Vec::from([of_one(single, Vec2::ZERO, Angle::ZERO)?])),
    }
}

/// Returns the outline of a shape of one part; nothing if it is a line.
fn of_one(shape: &Shape, offset: Vec2, angle: Angle) -> Option<OutlinePart> {
    let outline = match *shape {
        Shape::Circle { radius } => Outline::Disc { radius },
        Shape::Rect { half } => Outline::Box { half },
        Shape::Capsule { half, radius } => Outline::Capsule { half, radius },
        Shape::Polygon(polygon) => {
            let corners: Vec<Vec2> = polygon.corners().collect();
            Outline::Polygon(OutlineCorners::new(&corners).expect("a polygon has as many corners"))
        }
        Shape::Segment(_) => return None,
        Shape::Compound(_) => unreachable!("a part is of one shape"),
    };
    Some(OutlinePart { outline, offset, angle })
}

/// Returns the first part as it is, and then the others as they are seen from it.
#[must_use]
pub fn around_the_first(parts: Vec<OutlinePart>) -> Vec<OutlinePart> {
    let mut all = parts.into_iter();
    let Some(first) = all.next() else { return Vec::new() };
    let seen = |part: OutlinePart| OutlinePart {
        offset: part.offset.saturating_sub(first.offset).rotate(first.angle.wrapping_neg()),
        angle: part.angle.wrapping_sub(first.angle),
        ..part
    };
    core::iter::once(first).chain(all.map(seen)).collect()
}
