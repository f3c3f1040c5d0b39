//! The constants of a body that the solver uses: inverse mass, inverse inertia, bounds, damping.
//!
//! They are a pure function of the body and change only when its shape, mass or motion does. So a
//! region caches them beside the body, and they are no part of the state.

use crate::body::{Body, spin_bound};
use crate::fixed::{Q20, Q30, narrow};
use crate::limits::{STEPS_PER_SECOND, SUBSTEPS};
use crate::material::Surface;

/// Substeps in a second.
pub(crate) const SUBSTEP_RATE: i64 = (STEPS_PER_SECOND * SUBSTEPS) as i64;

/// The mass properties and solver constants of a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MassProps {
    /// One over the mass, with 28 fraction bits: 2^14 to 2^32, or zero for an infinite mass.
    pub(crate) inverse_mass: i64,
    /// One over the squared radius of gyration, with 24 fraction bits. Zero for a body that
    /// contacts do not turn.
    pub(crate) inverse_gyration: i64,
    /// The distance from the position to the furthest point of the shape.
    pub(crate) bounding_radius: Q20,
    pub(crate) surface: Surface,
    pub(crate) speed_bound: Q20,
    pub(crate) spin_bound: Q20,
    /// The share of the velocity that damping leaves after a substep.
    pub(crate) linear_damping_factor: Q30,
    /// The share of the spin that damping leaves after a substep.
    pub(crate) angular_damping_factor: Q30,
}

impl MassProps {
    /// Computes the constants of a body.
    pub(crate) fn of(body: &Body) -> Self {
        Self::after(None, body)
    }

    /// Computes the constants of bodies.
    pub(crate) fn of_all(bodies: &[Body]) -> Vec<Self> {
        let mut all = Vec::with_capacity(bodies.len());
        for body in bodies {
            all.push(Self::after(all.last(), body));
        }
        all
    }

    /// Computes the constants of a body. Those of the body before it only save work.
    fn after(before: Option<&Self>, body: &Body) -> Self {
        let inverse_mass = body.inverse_mass();
        let inverse_gyration = if inverse_mass == 0 || body.fixed_rotation {
            0
        } else {
            body.geometry.inverse_gyration()
        };
        let bounding_radius = body.geometry.bounding_radius();
        Self {
            inverse_mass,
            inverse_gyration,
            bounding_radius,
            surface: Surface::after(before.map(|before| &before.surface), body),
            speed_bound: body.speed_bound(),
            spin_bound: spin_bound(bounding_radius),
            linear_damping_factor: damping_factor(body.linear_damping),
            angular_damping_factor: damping_factor(body.angular_damping),
        }
    }
}

/// Returns what damping leaves after a substep: 1 / (1 + damping * substep), exactly one without
/// damping.
fn damping_factor(damping: Q20) -> Q30 {
    let damped = (SUBSTEP_RATE << 20) + i64::from(damping.0);
    Q30(narrow((SUBSTEP_RATE << 50) / damped))
}
