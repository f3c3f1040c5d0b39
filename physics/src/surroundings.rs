//! The parameters of a region: its bounds, its gravity, whether bodies sleep, and what is a hit.

use metatopia_math::{Fx, Vec2};

use crate::bounds::Bounds;
use crate::fixed::{Q20, Vector, narrow};
use crate::limits::GRAVITY_MAX;
use crate::mass_props::SUBSTEP_RATE;

/// The parameters of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Surroundings {
    /// The ground that the bodies keep to.
    pub(crate) bounds: Bounds,
    /// The gravity in metres a second squared.
    pub(crate) gravity: Vector,
    /// Whether slow bodies fall asleep.
    pub(crate) sleeping: bool,
    /// The least speed of a hit that is reported; none is, without it.
    pub(crate) hit_speed: Option<Q20>,
}

impl Surroundings {
    /// The largest bounds, no gravity, bodies that sleep, and no report of hits.
    pub(crate) const USUAL: Self =
        Self { bounds: Bounds::MAX, gravity: Vector::ZERO, sleeping: true, hit_speed: None };

    /// Sets the gravity, shortened to the greatest.
    pub(crate) fn set_gravity(&mut self, gravity: Vec2) {
        // First clamped to a box, which keeps the direction of every vector that anybody would mean.
        let clamped = Vector::clamped(gravity, Q20::constant(Fx::from_int(1_024)));
        self.gravity = clamped.clamp_length(Q20::constant(GRAVITY_MAX));
    }

    /// Returns what gravity adds to a velocity in one substep.
    pub(crate) fn fall(&self) -> Vector {
        let part = |side: Q20| Q20(narrow(i64::from(side.0) / SUBSTEP_RATE));
        Vector::new(part(self.gravity.x), part(self.gravity.y))
    }
}

impl Default for Surroundings {
    fn default() -> Self {
        Self::USUAL
    }
}
