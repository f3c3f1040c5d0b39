//! Footprints: the ground that bodies cover, and the distance to it.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{Body, Pose, Shape};

use super::land::Area;

/// The ground that a body covers, or would cover.
#[derive(Debug, Clone)]
pub(crate) struct Footprint {
    pub(crate) shape: Shape,
    pub(crate) pose: Pose,
}

impl Footprint {
    /// Returns the footprint of a body.
    pub(crate) fn of(body: &Body) -> Self {
        Self { shape: body.shape(), pose: body.pose() }
    }

    /// Returns the point of it that is nearest to `from`; `from` itself if it is inside.
    pub(super) fn nearest(&self, from: Vec2) -> Vec2 {
        let Pose { position: center, angle } = self.pose;
        let own = from.saturating_sub(center).rotate(angle.wrapping_neg());
        let nearest = self.shape.nearest(own);
        if nearest == own { from } else { center.saturating_add(nearest.rotate(angle)) }
    }

    /// Returns the metres from a point to the nearest point of it; 0 inside.
    pub(crate) fn distance(&self, from: Vec2) -> Fx {
        self.nearest(from).distance(from)
    }

    /// Returns the smallest area that holds it.
    pub(crate) fn area(&self) -> Area {
        let corners = self.shape.corners_around(self.pose.angle);
        let [low, high] = corners.map(|corner| self.pose.position.saturating_add(corner));
        Area { low, high }
    }
}

/// Returns the point of a body that is nearest to `from`; `from` itself if it is inside.
pub(crate) fn nearest_point(body: &Body, from: Vec2) -> Vec2 {
    Footprint::of(body).nearest(from)
}

/// Returns the metres from a point to the nearest point of a body; 0 inside.
pub(crate) fn distance_to(body: &Body, from: Vec2) -> Fx {
    Footprint::of(body).distance(from)
}
