//! The solver: soft contacts in four substeps with warm starting ("soft step", as in Box2D 3).
//!
//! Each substep detects the contacts anew and applies the impulses of the last one again. It solves
//! each contact with a soft push out of penetration, integrates the positions, and solves each
//! contact once more without that push, so that the push leaves no velocity behind. At last it
//! applies restitution to what came in fast enough.

use metatopia_math::Fx;

use crate::bounds::Bounds;
use crate::contact_pair::{ConstraintPoint, ContactPair, ContactSurface};
use crate::fixed::{Q20, Q30, Unit, narrow};
use crate::limits::{LINEAR_SLOP, RESTITUTION_SPEED_MIN, STEPS_PER_SECOND, SUBSTEPS};
use crate::solver_body::{BodyVelocity, SolverBody};

/// The greatest normal impulse, as a change of relative speed: as much as the two fastest bodies
/// can need.
pub(crate) const NORMAL_IMPULSE_MAX: Q20 = Q20::constant(Fx::from_int(128));
/// The greatest impulse of friction, in the same measure: four times the greatest normal impulse.
pub(crate) const TANGENT_IMPULSE_MAX: Q20 = Q20::constant(Fx::from_int(512));
/// The greatest speed of the push out of penetration.
const PUSHOUT_SPEED_MAX: Q20 = Q20::constant(Fx::from_int(3));
/// Deeper penetration than this pushes no harder, so that products stay small.
const PENETRATION_MAX: Q20 = Q20::constant(Fx::ONE);
const SLOP: Q20 = Q20::constant(LINEAR_SLOP);
const RESTITUTION_SPEED: Q20 = Q20::constant(RESTITUTION_SPEED_MIN);

/// A contact as a spring of angular frequency w and damping ratio z over a substep h.
struct Softness {
    /// w / (2 z + h w): how fast penetration is to vanish, per second.
    bias_rate: Q20,
    /// a / (1 + a) with a = h w (2 z + h w): how much of an impulse counts.
    mass_scale: Q30,
    /// 1 / (1 + a): how much of the accumulated impulse is taken back.
    impulse_scale: Q30,
}

/// The softness between two bodies of finite mass: 30 Hz (w = 60 pi) with z = 10, so h w = pi / 4.
const CONTACT_SOFTNESS: Softness = softness(Fx::PI.to_bits() / 4);
/// The softness against an infinite mass: 60 Hz, so h w = pi / 2.
const STATIC_SOFTNESS: Softness = softness(Fx::PI.to_bits() / 2);

/// Computes the softness for `h w` with 32 fraction bits and a damping ratio of ten.
const fn softness(hw: i64) -> Softness {
    let one = 1_i64 << 32;
    let damped = 20 * one + hw;
    // With 32 fraction bits again: below 2^38.
    let a = ((hw >> 8) * (damped >> 8)) >> 16;
    let bias_rate = ((hw * (STEPS_PER_SECOND * SUBSTEPS) as i64) << 18) / (damped >> 2);
    let impulse_scale = (one << 28) / ((one + a) >> 2);
    Softness {
        bias_rate: Q20(narrow(bias_rate)),
        mass_scale: Q30(narrow((1 << 30) - impulse_scale)),
        impulse_scale: Q30(narrow(impulse_scale)),
    }
}

/// The bodies and pairs of one step.
pub(crate) struct Solver {
    bounds: Bounds,
    pub(crate) bodies: Vec<SolverBody>,
    pub(crate) velocities: Vec<BodyVelocity>,
    pub(crate) pairs: Vec<ContactPair>,
    /// The pairs with a constraint in this substep, in id order.
    constrained: Vec<usize>,
}

impl Solver {
    pub(crate) const fn new(
        bounds: Bounds,
        bodies: Vec<SolverBody>,
        velocities: Vec<BodyVelocity>,
        pairs: Vec<ContactPair>,
    ) -> Self {
        Self { bounds, bodies, velocities, pairs, constrained: Vec::new() }
    }

    /// Simulates one step.
    pub(crate) fn step(&mut self) {
        for _ in 0..SUBSTEPS {
            for (body, velocity) in self.bodies.iter().zip(&mut self.velocities) {
                body.apply_damping(velocity);
            }
            self.detect();
            self.each_constraint(warm_start);
            self.each_constraint(|surface, points, a, b| solve(surface, points, a, b, true));
            for (body, velocity) in self.bodies.iter_mut().zip(&mut self.velocities) {
                body.integrate_position(velocity, &self.bounds);
            }
            // Without the push: the positions have taken it, and the velocities must not keep it.
            self.each_constraint(|surface, points, a, b| solve(surface, points, a, b, false));
            self.each_constraint(apply_restitution);
            self.store_impulses();
        }
        for (body, velocity) in self.bodies.iter().zip(&mut self.velocities) {
            body.clamp_velocity(velocity);
        }
    }

    /// Detects the contacts of this substep.
    fn detect(&mut self) {
        self.constrained.clear();
        for (index, pair) in self.pairs.iter_mut().enumerate() {
            if pair.detect(&self.bodies, &self.velocities) {
                self.constrained.push(index);
            }
        }
    }

    /// Adds the impulses of this substep to the totals of their pairs.
    fn store_impulses(&mut self) {
        for &index in &self.constrained {
            self.pairs[index].store_impulses();
        }
    }

    /// Runs `work` on each pair with a constraint. The id order decides the result, because each
    /// pair sees the velocities that the pairs before it left.
    fn each_constraint(
        &mut self,
        work: impl Fn(ContactSurface, &mut [ConstraintPoint], &mut BodyVelocity, &mut BodyVelocity),
    ) {
        for &index in &self.constrained {
            let pair = &mut self.pairs[index];
            let (index_a, index_b) = (pair.a, pair.b);
            let (surface, points) = pair.constraint();
            let (mut a, mut b) = (self.velocities[index_a], self.velocities[index_b]);
            work(surface, points, &mut a, &mut b);
            self.velocities[index_a] = a;
            self.velocities[index_b] = b;
        }
    }
}

/// Applies the impulses of the last substep again: a good first guess for a contact that lasts.
fn warm_start(
    surface: ContactSurface,
    points: &mut [ConstraintPoint],
    a: &mut BodyVelocity,
    b: &mut BodyVelocity,
) {
    for point in points {
        point.normal.apply_impulse(surface.normal, point.normal_impulse, a, b);
        point.tangent.apply_impulse(surface.normal.right_perp(), point.tangent_impulse, a, b);
    }
}

/// Solves the constraint of a pair: friction first, because non-penetration matters more and has
/// the last word.
fn solve(
    surface: ContactSurface,
    points: &mut [ConstraintPoint],
    a: &mut BodyVelocity,
    b: &mut BodyVelocity,
    use_bias: bool,
) {
    let softness = if surface.infinite_mass { &STATIC_SOFTNESS } else { &CONTACT_SOFTNESS };
    for point in &mut *points {
        solve_friction(point, surface.normal.right_perp(), a, b);
    }
    // The two points of a side pull on each other. Going over them twice leaves a hundredth of the
    // difference that one round leaves, which would turn a crate that is pushed against a wall.
    for _ in 0..points.len() {
        for point in &mut *points {
            solve_normal(point, surface.normal, use_bias.then_some(softness), a, b);
        }
    }
}

/// Stops the sliding, with an impulse of at most the friction times the normal impulse.
fn solve_friction(
    point: &mut ConstraintPoint,
    tangent: Unit,
    a: &mut BodyVelocity,
    b: &mut BodyVelocity,
) {
    let max_friction = point.friction * point.normal_impulse;
    let sliding = point.tangent.relative_speed(tangent, a, b);
    let total = (point.tangent_impulse - sliding).bounded(max_friction);
    let impulse = total - point.tangent_impulse;
    point.tangent_impulse = total;
    point.tangent.apply_impulse(tangent, impulse, a, b);
}

/// Stops the approach of the bodies. Lets a gap close in one substep, and with `softness` pushes
/// the bodies out of penetration.
fn solve_normal(
    point: &mut ConstraintPoint,
    normal: Unit,
    softness: Option<&Softness>,
    a: &mut BodyVelocity,
    b: &mut BodyVelocity,
) {
    let speed = point.normal.relative_speed(normal, a, b);
    let impulse = match softness {
        _ if point.separation > Q20::ZERO => -(speed + closing_speed(point.separation)),
        Some(soft) => {
            let penetration = (point.separation + SLOP).min(Q20::ZERO).max(-PENETRATION_MAX);
            let bias = (soft.bias_rate * penetration).max(-PUSHOUT_SPEED_MAX);
            -(soft.mass_scale * (speed + bias)) - soft.impulse_scale * point.normal_impulse
        }
        None => -speed,
    };
    // Clamped as a total, not one by one: an iteration may take back what another one gave.
    let total = (point.normal_impulse + impulse).max(Q20::ZERO).min(NORMAL_IMPULSE_MAX);
    let impulse = total - point.normal_impulse;
    point.normal_impulse = total;
    point.normal.apply_impulse(normal, impulse, a, b);
}

/// Returns the speed that closes a gap in one substep.
fn closing_speed(separation: Q20) -> Q20 {
    Q20(narrow(i64::from(separation.0) * i64::from(STEPS_PER_SECOND * SUBSTEPS)))
}

/// Applies restitution: turns an approach around once the substep has stopped it. That ends the
/// contact, so its impulses are no guess at those of the next substep.
fn apply_restitution(
    surface: ContactSurface,
    points: &mut [ConstraintPoint],
    a: &mut BodyVelocity,
    b: &mut BodyVelocity,
) {
    if surface.restitution.is_zero() {
        return;
    }
    for point in points {
        if point.normal_impulse > Q20::ZERO && point.relative_speed < -RESTITUTION_SPEED {
            let wanted = -(surface.restitution * point.relative_speed);
            let speed = point.normal.relative_speed(surface.normal, a, b);
            let impulse = (wanted - speed).max(Q20::ZERO);
            point.normal.apply_impulse(surface.normal, impulse, a, b);
            point.bounce_impulse = (point.normal_impulse + impulse).min(NORMAL_IMPULSE_MAX);
            (point.normal_impulse, point.tangent_impulse) = (Q20::ZERO, Q20::ZERO);
        }
    }
}
