//! The parameters of a region: its bounds, its gravity, whether bodies sleep, and what is a hit.

use metatopia_math::{Fx, Vec2};

use crate::bounds::Bounds;
use crate::fixed::{Q20, Vector, narrow};
use crate::limits::{GRAVITY_MAX, HIT_SPEED_MIN, SPEED_MAX};
use crate::mass_props::SUBSTEP_RATE;
use crate::snapshot::SurroundingsForm;

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

    /// Sets the least speed of a hit that is reported, clamped to what it may be.
    pub(crate) fn set_hit_speed(&mut self, least: Option<Fx>) {
        let low = Q20::constant(HIT_SPEED_MIN);
        let high = Q20::constant(SPEED_MAX.saturating_mul(Fx::from_int(2)));
        self.hit_speed = least.map(|speed| Q20::clamped(speed, low, high));
    }

    /// Returns what gravity adds to a velocity in one substep.
    pub(crate) fn fall(&self) -> Vector {
        let part = |side: Q20| Q20(narrow(i64::from(side.0) / SUBSTEP_RATE));
        Vector::new(part(self.gravity.x), part(self.gravity.y))
    }
}

impl From<Surroundings> for SurroundingsForm {
    fn from(surroundings: Surroundings) -> Self {
        let Surroundings { bounds, gravity, sleeping, hit_speed } = surroundings;
        let (low, high) = bounds.corners();
        Self { low, high, gravity, sleeping, hit_speed }
    }
}

impl TryFrom<SurroundingsForm> for Surroundings {
    type Error = &'static str;

    /// Takes what a region can have. The error is the name of the first parameter that it cannot.
    fn try_from(form: SurroundingsForm) -> Result<Self, &'static str> {
        let SurroundingsForm { low, high, gravity, sleeping, hit_speed } = form;
        let bounds = Bounds::new(low.vec2(), high.vec2()).map_err(|_| "bounds")?;
        let mut surroundings = Self { bounds, sleeping, ..Self::USUAL };
        surroundings.set_gravity(gravity.vec2());
        surroundings.set_hit_speed(hit_speed.map(Q20::fx));
        if surroundings.gravity != gravity {
            return Err("gravity");
        }
        if surroundings.hit_speed != hit_speed {
            return Err("least speed of a hit");
        }
        Ok(surroundings)
    }
}

impl Default for Surroundings {
    fn default() -> Self {
        Self::USUAL
    }
}
