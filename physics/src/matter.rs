//! What a body's shape, mass and damping come to in the kernels. It changes only when the body's
//! kind does, and is a pure function of the body, so it is kept beside it and is no state.

use crate::body::Body;
use crate::fixed::{Q20, Q30, narrow};
use crate::limits::{STEPS_PER_SECOND, SUBSTEPS};

/// Substeps of a second.
pub(crate) const SUBSTEP_RATE: i64 = (STEPS_PER_SECOND * SUBSTEPS) as i64;

/// The constants of a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matter {
    /// One over the mass, with 28 fraction bits: 2^14 to 2^32, or zero if nothing moves it.
    pub(crate) inverse_mass: i64,
    /// One over the squared radius of gyration, with 24 fraction bits, or zero if nothing turns it.
    pub(crate) inverse_gyration: i64,
    /// The distance from the position to the furthest point.
    pub(crate) outer_radius: Q20,
    /// The square root of the friction: two bodies rub with the product of theirs.
    pub(crate) grip: Q20,
    pub(crate) restitution: Q20,
    pub(crate) speed_bound: Q20,
    pub(crate) spin_bound: Q20,
    /// What damping leaves of the velocity after a substep.
    pub(crate) kept_velocity: Q30,
    /// What damping leaves of the spin after a substep.
    pub(crate) kept_spin: Q30,
}

impl Matter {
    pub(crate) fn of(body: &Body) -> Self {
        let inverse_mass = body.inverse_mass();
        let inverse_gyration =
            if inverse_mass == 0 || body.fixed_rotation { 0 } else { body.form.inverse_gyration() };
        Self {
            inverse_mass,
            inverse_gyration,
            outer_radius: body.form.outer_radius(),
            grip: Q20(narrow((i64::from(body.friction.0) << 20).isqrt())),
            restitution: body.restitution,
            speed_bound: body.speed_bound(),
            spin_bound: body.spin_bound(),
            kept_velocity: kept(body.linear_damping),
            kept_spin: kept(body.angular_damping),
        }
    }
}

/// What damping leaves after a substep: 1 / (1 + damping * substep), exactly one without damping.
fn kept(damping: Q20) -> Q30 {
    let slowed = (SUBSTEP_RATE << 20) + i64::from(damping.0);
    Q30(narrow((SUBSTEP_RATE << 50) / slowed))
}
