//! What can be asked of a region.

use metatopia_math::{Fx, Vec2};
use metatopia_types::ObjectId;

use crate::body::Body;
use crate::fixed::{Q20, Vector};
use crate::limits::NEARBY_MAX;
use crate::region::Region;
use crate::solid::Extent;

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
        if let Ok(bits) = u64::try_from(radius.to_bits()) {
            // In units of 2^-20 m, and no longer than the region's diagonal.
            let length = (bits >> 12).min(1 << 32);
            let reach = length.saturating_mul(length);
            let near = self.around(center, radius);
            let distances = near.map(|body| (squared(body, center), body.id()));
            found.extend(distances.filter(|(distance, _)| *distance <= reach));
        }
        let most = max.min(NEARBY_MAX);
        if found.len() > most {
            // The nearest first, in any order: only they need be sorted.
            found.select_nth_unstable(most);
            found.truncate(most);
        }
        found.sort_unstable();
        let near = |(squared, id): (u64, ObjectId)| Near {
            id,
            distance: Fx::from_bits((squared.isqrt() << 12) as i64),
        };
        found.into_iter().map(near).collect()
    }

    /// The bodies, in id order, that a point is inside of or on the outline of.
    #[must_use]
    pub fn at(&self, point: Vec2) -> Vec<ObjectId> {
        let holds = self.around(point, Fx::ZERO).filter(|body| body.contains(point));
        let mut ids: Vec<ObjectId> = holds.map(Body::id).collect();
        ids.sort_unstable();
        ids
    }

    /// All bodies that reach into the circle of this radius around a point, and some more that are
    /// near it, in no order that means anything.
    pub fn around(&self, center: Vec2, radius: Fx) -> impl Iterator<Item = &Body> {
        let corner = |way: Fx| {
            let corner = Vec2::new(center.x.saturating_add(way), center.y.saturating_add(way));
            // No body reaches this far out, so moving a corner in to here leaves none out.
            Vector::clamped(corner, Q20::constant(Fx::from_int(2_047)))
        };
        let extent = Extent { low: corner(radius.saturating_neg()), high: corner(radius) };
        self.grid.around(extent).filter_map(|id| self.body(id))
    }

    /// The bodies that reach at least so far from their position in some direction, and some that
    /// reach less, in no order that means anything.
    pub fn reaching(&self, reach: Fx) -> impl Iterator<Item = &Body> {
        let reach = Q20::clamped(reach, Q20::ZERO, Q20::constant(Fx::from_int(2_047)));
        self.grid.reaching(reach).filter_map(|id| self.body(id))
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
