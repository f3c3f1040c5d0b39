//! How far it is to a body.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{Body, Shape};

/// The point of a body that is nearest to `from`; `from` itself if it is inside.
pub(crate) fn nearest_point(body: &Body, from: Vec2) -> Vec2 {
    let center = body.position();
    let offset = from.saturating_sub(center);
    match body.shape() {
        Shape::Circle { radius } => match offset.normalize() {
            Some(direction) if offset.length() > radius => {
                center.saturating_add(direction.scale(radius))
            }
            _ => from,
        },
        Shape::Rect { half } => {
            let own = offset.rotate(body.angle().wrapping_neg());
            let within = |value: Fx, half: Fx| value.clamp(half.saturating_neg(), half);
            let nearest = Vec2::new(within(own.x, half.x), within(own.y, half.y));
            if nearest == own {
                return from;
            }
            center.saturating_add(nearest.rotate(body.angle()))
        }
    }
}

/// Metres from a point to the nearest point of a body; 0 inside.
pub(crate) fn distance_to(body: &Body, from: Vec2) -> Fx {
    nearest_point(body, from).distance(from)
}
