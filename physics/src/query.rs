//! What can be asked of a region.

use metatopia_math::{Fx, Vec2};
use metatopia_types::ObjectId;

use crate::body::Body;
use crate::limits::NEARBY_MAX;
use crate::region::Region;

/// A body near a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Near {
    /// Whose body.
    pub id: ObjectId,
    /// From the point to the body's position, in metres, rounded down to a multiple of 2^-20.
    pub distance: Fx,
}

impl Region {
    /// The bodies whose position is at most `radius` metres from `center`: the nearest first,
    /// those at the same distance in id order; at most `max` of them, and at most [`NEARBY_MAX`].
    #[must_use]
    pub fn nearby(&self, center: Vec2, radius: Fx, max: usize) -> Vec<Near> {
        let mut found: Vec<(u64, ObjectId)> = Vec::new();
        if let Ok(radius) = u64::try_from(radius.to_bits()) {
            // In units of 2^-20 m, and no longer than the region's diagonal.
            let radius = (radius >> 12).min(1 << 32);
            let reach = radius.saturating_mul(radius);
            let distances = self.bodies().iter().map(|body| (squared(body, center), body.id()));
            found.extend(distances.filter(|(distance, _)| *distance <= reach));
        }
        found.sort_unstable();
        found.truncate(max.min(NEARBY_MAX));
        let near = |(squared, id): (u64, ObjectId)| Near {
            id,
            distance: Fx::from_bits((squared.isqrt() << 12) as i64),
        };
        found.into_iter().map(near).collect()
    }

    /// The bodies, in id order, that a point is inside of or on the outline of.
    #[must_use]
    pub fn at(&self, point: Vec2) -> Vec<ObjectId> {
        let holds = self.bodies().iter().filter(|body| body.contains(point));
        holds.map(Body::id).collect()
    }
}

/// The squared distance in units of 2^-40; as far as a `u64` goes for a point far outside.
fn squared(body: &Body, point: Vec2) -> u64 {
    let side = |body: Fx, point: Fx| {
        let way = body.saturating_sub(point).to_bits().unsigned_abs() >> 12;
        way.saturating_mul(way)
    };
    let position = body.position();
    side(position.x, point.x).saturating_add(side(position.y, point.y))
}
