//! The parts of a thing as outlines, in which it can be made anew.

use alloc::vec::Vec;

use metatopia_math::{Angle, Vec2};
use metatopia_sim::Shape;
use metatopia_types::{Outline, OutlineCorners, OutlinePart};

/// Returns the outlines of a shape, each with its place and direction in the frame of the shape; nothing if it is a
/// line.
#[must_use]
pub fn outlines(shape: &Shape) -> Option<Vec<OutlinePart>> {
    let outline = match *shape {
        Shape::Circle { radius } => Outline::Disc { radius },
        Shape::Rect { half } => Outline::Box { half },
        Shape::Capsule { half, radius } => Outline::Capsule { half, radius },
        Shape::Polygon(polygon) => {
            let corners: Vec<Vec2> = polygon.corners().collect();
            Outline::Polygon(OutlineCorners::new(&corners).expect("a polygon has as many corners"))
        }
        Shape::Segment(_) => return None,
        Shape::Compound(ref compound) => {
            let turned = |outer: OutlinePart, (offset, angle): (Vec2, Angle)| OutlinePart {
                offset: outer.offset.rotate(angle).saturating_add(offset),
                angle: outer.angle.wrapping_add(angle),
                ..outer
            };
            let parts = compound.parts().map(|part| {
                let own = outlines(&part.shape)?;
                Some(own.into_iter().map(move |of| turned(of, (part.offset, part.angle))))
            });
            return Some(parts.collect::<Option<Vec<_>>>()?.into_iter().flatten().collect());
        }
    };
    Some(Vec::from([OutlinePart { outline, offset: Vec2::ZERO, angle: Angle::ZERO }]))
}

/// Returns parts as they are seen from the first of them, which comes first, and where that one is.
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
