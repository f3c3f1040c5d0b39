//! Queries: which bodies are near a point, or cover it. Ghosts are not among them.

use metatopia_math::{Fx, Vec2};
use metatopia_types::ObjectId;
use serde::{Deserialize, Serialize};

use crate::body::Body;
use crate::filter::Filter;
use crate::fixed::{Q20, Vector};
use crate::limits::NEARBY_MAX;
use crate::region::Region;
use crate::sweep_body::Aabb;

/// A body near a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NearbyBody {
    /// The id of the body.
    pub id: ObjectId,
    /// The distance from the point to the body's position, in metres, rounded down to a multiple of
    /// 2^-20.
    pub distance: Fx,
}

impl Region {
    /// Returns the bodies whose position is at most `radius` metres from `center`, whatever they meet: the
    /// nearest first, those at the same distance in id order. There are at most `max` of them, and at most
    /// [`NEARBY_MAX`]; none for a radius below zero. Any point may be asked about, also outside of the region.
    #[must_use]
    pub fn nearby(&self, center: Vec2, radius: Fx, max: usize) -> Vec<NearbyBody> {
        self.nearby_with_cost(center, radius, max).0
    }

    /// Returns what [`Region::nearby`] returns, and how many bodies the query looked at. That number
    /// follows from the positions of all bodies; it is zero for a radius below zero.
    #[must_use]
    pub fn nearby_with_cost(
        &self,
        center: Vec2,
        radius: Fx,
        max: usize,
    ) -> (Vec<NearbyBody>, usize) {
        self.nearest(center, radius, max, |_| true)
    }

    /// Returns what [`Region::nearby_with_cost`] returns, without what a filter leaves out.
    #[must_use]
    pub fn nearby_filtered(
        &self,
        center: Vec2,
        radius: Fx,
        max: usize,
        filter: Filter,
    ) -> (Vec<NearbyBody>, usize) {
        self.nearest(center, radius, max, |body| filter.meets(body.filter()))
    }

    /// Returns the nearest bodies that a test lets through, and how many bodies it was asked of.
    fn nearest(
        &self,
        center: Vec2,
        radius: Fx,
        max: usize,
        is_wanted: impl Fn(&Body) -> bool,
    ) -> (Vec<NearbyBody>, usize) {
        let mut found: Vec<(u64, ObjectId)> = Vec::new();
        let mut looked_at = 0;
        if let Ok(bits) = u64::try_from(radius.to_bits()) {
            // In units of 2^-20 m, and no longer than the region's diagonal.
            let length = (bits >> 12).min(1 << 32);
            let radius_squared = length.saturating_mul(length);
            let near = self.around(center, radius).inspect(|_| looked_at += 1);
            let near = near.filter(|body| is_wanted(body));
            let distances = near.map(|body| (squared(body, center), body.id()));
            found.extend(distances.filter(|(distance, _)| *distance <= radius_squared));
        }
        let max = max.min(NEARBY_MAX);
        if found.len() > max {
            // Selects the nearest in any order, so that only they need be sorted.
            found.select_nth_unstable(max);
            found.truncate(max);
        }
        found.sort_unstable();
        let neighbour = |(squared, id): (u64, ObjectId)| NearbyBody {
            id,
            distance: Fx::from_bits((squared.isqrt() << 12) as i64),
        };
        (found.into_iter().map(neighbour).collect(), looked_at)
    }

    /// Returns the bodies, in id order, that contain a point inside or on the boundary. The point is in metres from
    /// the region's origin; none contain one that is far outside of the region.
    #[must_use]
    pub fn at(&self, point: Vec2) -> Vec<ObjectId> {
        let containing = self.around(point, Fx::ZERO).filter(|body| body.contains(point));
        let mut ids: Vec<ObjectId> = containing.map(Body::id).collect();
        ids.sort_unstable();
        ids
    }

    /// Returns the bodies, in id order, of which a point is at most `radius` metres from a point. There are
    /// at most [`BODIES_MAX`](crate::limits::BODIES_MAX); none for a radius below zero.
    #[must_use]
    pub fn overlapping(&self, center: Vec2, radius: Fx) -> Vec<ObjectId> {
        let overlaps = |body: &&Body| {
            let own = body.own_frame(center);
            body.shape().nearest(own).distance(own) <= radius
        };
        let mut ids: Vec<ObjectId> =
            self.around(center, radius).filter(overlaps).map(Body::id).collect();
        ids.sort_unstable();
        ids
    }

    /// Returns all bodies that overlap the circle of this radius, in metres, around a point, and some more near
    /// it, in no meaningful order. A radius below zero is as one of zero.
    pub fn around(&self, center: Vec2, radius: Fx) -> impl Iterator<Item = &Body> {
        let corner = |offset: Fx| {
            let corner =
                Vec2::new(center.x.saturating_add(offset), center.y.saturating_add(offset));
            // No body reaches this far out, so clamping a corner to here leaves none out.
            Vector::clamped(corner, Q20::constant(Fx::from_int(2_047)))
        };
        // The grid takes a box whose low corner is the lower one.
        let radius = radius.max(Fx::ZERO);
        let aabb = Aabb { low: corner(radius.saturating_neg()), high: corner(radius) };
        self.grid.query(aabb).filter_map(|id| self.own_body(id))
    }

    /// Returns the bodies with a point at least `reach` metres away from their position, and some smaller
    /// ones, in no meaningful order: all bodies for a reach below zero.
    pub fn reaching(&self, reach: Fx) -> impl Iterator<Item = &Body> {
        let reach = Q20::clamped(reach, Q20::ZERO, Q20::constant(Fx::from_int(2_047)));
        self.grid.with_bounding_radius(reach).filter_map(|id| self.own_body(id))
    }
}

/// Returns the squared distance in units of 2^-40; the greatest `u64` for a point far outside.
fn squared(body: &Body, point: Vec2) -> u64 {
    let side = |body: Fx, point: Fx| {
        let length = body.saturating_sub(point).to_bits().unsigned_abs() >> 12;
        length.saturating_mul(length)
    };
    let position = body.position();
    side(position.x, point.x).saturating_add(side(position.y, point.y))
}
