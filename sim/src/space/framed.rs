//! Bodies in border frames: how a sim says where one of its own is, and what the neighbour makes of that.

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_physics::{
    Body, BodySpec, Motion, Shape,
    limits::{MOVING_SIZE_MAX, SIZE_MIN},
};
use metatopia_types::{FRAME_METRE, FRAME_SPEED, FrameBody, FrameShape, Traveller};

use super::border_line::BorderLine;

/// The bits of a fixed-point number below a step of [`FRAME_METRE`], and below one of [`FRAME_SPEED`].
const METRE_BITS: u32 = 32 - FRAME_METRE.ilog2();
const SPEED_BITS: u32 = 32 - FRAME_SPEED.ilog2();

/// Returns a number in steps of so many bits, rounded to the nearest.
const fn steps(value: Fx, bits: u32) -> i64 {
    value.to_bits().saturating_add(1 << (bits - 1)) >> bits
}

/// Returns the number of so many steps.
fn of_steps(steps: impl Into<i64>, bits: u32) -> Fx {
    Fx::from_bits(steps.into() << bits)
}

/// Returns the body of a sim as its border frames say it, whose it is or what; none if it is a body of which no
/// neighbour has a ghost: one that pushes nothing, or larger than bodies that move.
pub(crate) fn framed(body: &Body, traveller: Traveller) -> Option<FrameBody> {
    if body.is_sensor() || body.filter().mask == 0 {
        return None;
    }
    let (outline, offset) = simple_outline(&body.shape());
    let middle = body.position().saturating_add(offset.rotate(body.angle()));
    let size = |size: Fx| {
        let size = size.max(SIZE_MIN);
        (size <= MOVING_SIZE_MAX).then(|| u16::try_from(steps(size, METRE_BITS)).ok()).flatten()
    };
    let shape = match outline {
        Shape::Circle { radius } => FrameShape::Circle(size(radius)?),
        Shape::Rect { half } => FrameShape::Rect(size(half.x)?, size(half.y)?),
        Shape::Capsule { half, radius } => FrameShape::Capsule(size(half)?, size(radius)?),
        // What stands for another shape is one of these three.
        Shape::Polygon(_) | Shape::Segment(_) | Shape::Compound(_) => return None,
    };
    let place = |part: Fx| i32::try_from(steps(part, METRE_BITS)).ok();
    let speed = |part: Fx| i16::try_from(steps(part, SPEED_BITS)).ok();
    let velocity = body.velocity();
    Some(FrameBody {
        traveller,
        place: (place(middle.x)?, place(middle.y)?),
        angle: (body.angle().to_bits().wrapping_add(1 << 15) >> 16) as u16,
        velocity: (speed(velocity.x)?, speed(velocity.y)?),
        spin: speed(body.spin())?,
        shape,
    })
}

/// Returns a circle, rectangle or capsule in place of a shape, and where its middle is in the body's own frame: any
/// other shape has the rectangle around it.
fn simple_outline(shape: &Shape) -> (Shape, Vec2) {
    if matches!(shape, Shape::Circle { .. } | Shape::Rect { .. } | Shape::Capsule { .. }) {
        return (shape.clone(), Vec2::ZERO);
    }
    let [low, high] = shape.corners_around(Angle::ZERO);
    let half = high.saturating_sub(low).scale(Fx::HALF);
    (Shape::Rect { half }, low.saturating_add(high).scale(Fx::HALF))
}

/// A body of a frame as it would stand on one of the two grounds.
#[derive(Debug, Clone)]
pub(crate) struct GhostPlace {
    place: Vec2,
    angle: Angle,
    shape: Shape,
}

impl GhostPlace {
    /// Returns it on the ground of the sim that says it.
    pub(crate) fn there(body: &FrameBody) -> Self {
        let metres = |steps: u16| of_steps(steps, METRE_BITS);
        let shape = match body.shape {
            FrameShape::Circle(radius) => Shape::Circle { radius: metres(radius) },
            FrameShape::Rect(x, y) => Shape::Rect { half: Vec2::new(metres(x), metres(y)) },
            FrameShape::Capsule(half, radius) => {
                Shape::Capsule { half: metres(half), radius: metres(radius) }
            }
        };
        let (x, y) = body.place;
        let place = Vec2::new(of_steps(x, METRE_BITS), of_steps(y, METRE_BITS));
        Self { place, angle: Angle::from_bits(u32::from(body.angle) << 16), shape }
    }

    /// Returns it on the ground of the sim that hears of it, whose line this is.
    pub(crate) fn here(body: &FrameBody, line: &BorderLine) -> Self {
        let there = Self::there(body);
        Self { place: line.place_here(there.place), ..there }
    }

    /// Says whether the line, as the sim has it that says the body, lets it be a ghost on the other side.
    pub(crate) fn may_be_said(&self, line: &BorderLine) -> bool {
        let half = self.shape.half_extents(self.angle);
        line.takes_ghost(line.depth(self.place).saturating_neg(), self.place, half)
    }

    /// Says whether the line, as the sim has it that hears of the body, lets it be a ghost here.
    pub(crate) fn may_be_heard(&self, line: &BorderLine) -> bool {
        let half = self.shape.half_extents(self.angle);
        line.takes_ghost(line.depth(self.place), self.place, half)
    }

    /// Returns how far it is from the line, as the sim has it that says it: less than zero if it reaches over it.
    pub(crate) fn distance(&self, line: &BorderLine) -> Fx {
        let half = line.across(self.shape.half_extents(self.angle));
        line.depth(self.place).saturating_neg().saturating_sub(half)
    }

    /// Returns the definition of the ghost: it pushes and is not pushed.
    pub(crate) fn ghost(&self, body: &FrameBody) -> BodySpec {
        let speed = |steps: i16| of_steps(steps, SPEED_BITS);
        let velocity = Vec2::new(speed(body.velocity.0), speed(body.velocity.1));
        let mut ghost = BodySpec::new(self.shape.clone(), Motion::Kinematic, self.place);
        ghost.pose.angle = self.angle;
        BodySpec { velocity, spin: speed(body.spin), ..ghost }
    }
}
