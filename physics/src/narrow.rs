//! The narrow phase: where two shapes meet, or are about to.

use crate::fixed::{Q20, Unit, Vector};
use crate::shape::Form;
use crate::solid::Solid;

mod rects;

/// Where two bodies meet: a normal from the first to the second, and up to two points.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Manifold {
    pub(crate) normal: Unit,
    pub(crate) spots: [Spot; 2],
    /// How many of the spots there are.
    pub(crate) count: usize,
}

/// One point, on each of the two surfaces. The two differ by the gap, along the normal, which makes
/// no difference to what presses; and neither is ever further out than the body that it is on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spot {
    /// From the first body's position to the point on its surface.
    pub(crate) arm_a: Vector,
    /// From the second body's position to the point on its surface.
    pub(crate) arm_b: Vector,
    /// The distance of the surfaces; below zero where they overlap.
    pub(crate) gap: Q20,
    /// Which corner of which shape it is, so that the next step finds it again.
    pub(crate) feature: u8,
}

impl Manifold {
    fn one(normal: Unit, arm_a: Vector, arm_b: Vector, gap: Q20) -> Self {
        let spot = Spot { arm_a, arm_b, gap, feature: 0 };
        Self { normal, spots: [spot, Spot::default()], count: 1 }
    }

    /// The same meeting seen from the second body.
    fn flipped(mut self) -> Self {
        self.normal = -self.normal;
        for spot in &mut self.spots {
            core::mem::swap(&mut spot.arm_a, &mut spot.arm_b);
        }
        self
    }

    pub(crate) fn spots(&self) -> &[Spot] {
        &self.spots[..self.count]
    }
}

/// Where `a` and `b` meet, looking `margin` beyond their surfaces. The circles around both are no
/// further apart than that.
pub(crate) fn meet(a: &Solid, b: &Solid, margin: Q20) -> Manifold {
    match (a.form, b.form) {
        (Form::Circle(ra), Form::Circle(rb)) => circles(a, ra, b, rb),
        (Form::Rect(half), Form::Circle(radius)) => rect_circle(a, half, b, radius, margin),
        (Form::Circle(radius), Form::Rect(half)) => {
            rect_circle(b, half, a, radius, margin).flipped()
        }
        (Form::Rect(ha), Form::Rect(hb)) => rects::meet((a, ha), (b, hb), margin),
    }
}

fn circles(a: &Solid, ra: Q20, b: &Solid, rb: Q20) -> Manifold {
    let way = b.position - a.position;
    let sum = ra + rb;
    let distance = way.length();
    // Two centres in one place are pushed apart along the y axis, the same way every time.
    let normal = if distance.is_zero() { Unit::Y } else { way.direction(distance) };
    let gap = distance - sum;
    Manifold::one(normal, normal.times(ra), normal.times(-rb), gap)
}

fn rect_circle(rect: &Solid, half: Vector, circle: &Solid, radius: Q20, margin: Q20) -> Manifold {
    let way = circle.position - rect.position;
    let local = way.unturned(rect.facing);
    let nearest = Vector::new(local.x.bounded(half.x), local.y.bounded(half.y));
    let out = local - nearest;
    if out.is_longer_than(radius + margin) {
        return Manifold::default();
    }
    let distance = out.length();
    let (normal, surface, gap) = if distance.is_zero() {
        from_inside(local, half, radius)
    } else {
        (out.direction(distance), nearest, distance - radius)
    };
    let normal = normal.turned(rect.facing);
    let arm = surface.turned(rect.facing);
    Manifold::one(normal, arm, normal.times(-radius), gap)
}

/// The nearest side of a rectangle for a circle whose centre is inside: normal, point, gap.
fn from_inside(local: Vector, half: Vector, radius: Q20) -> (Unit, Vector, Q20) {
    let depth_x = half.x - local.x.abs();
    let depth_y = half.y - local.y.abs();
    let sign = |unit: Unit, negative: bool| if negative { -unit } else { unit };
    if depth_x < depth_y {
        let left = local.x < Q20::ZERO;
        let x = if left { -half.x } else { half.x };
        let surface = Vector::new(x, local.y);
        (sign(Unit::X, left), surface, -depth_x - radius)
    } else {
        let below = local.y < Q20::ZERO;
        let y = if below { -half.y } else { half.y };
        let surface = Vector::new(local.x, y);
        (sign(Unit::Y, below), surface, -depth_y - radius)
    }
}
