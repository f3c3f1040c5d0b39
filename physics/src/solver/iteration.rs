//! What the solver does with one contact in one iteration.

use core::ops::Range;

use metatopia_math::Fx;

use crate::constraint::{ConstraintPoint, Coupling};
use crate::contact_pair::ContactPair;
use crate::fixed::{Q20, Unit, narrow};
use crate::limits::{LINEAR_SLOP, RESTITUTION_SPEED_MIN, STEPS_PER_SECOND, SUBSTEPS};
use crate::solver::softness::{CONTACT_SOFTNESS, STATIC_SOFTNESS, Softness};
use crate::solver_body::{BodyShift, BodyVelocity};

/// The greatest normal impulse, as a change of relative speed: as much as the two fastest bodies
/// can need.
pub(crate) const NORMAL_IMPULSE_MAX: Q20 = Q20::constant(Fx::from_int(128));
/// The greatest impulse of friction, in the same measure: four times the greatest normal impulse.
pub(crate) const TANGENT_IMPULSE_MAX: Q20 = Q20::constant(Fx::from_int(512));
/// The greatest speed of the push out of penetration.
pub(super) const PUSHOUT_SPEED_MAX: Q20 = Q20::constant(Fx::from_int(3));
/// Deeper penetration than this pushes no harder, so that products stay small.
pub(super) const PENETRATION_MAX: Q20 = Q20::constant(Fx::ONE);
/// The greatest gap that a substep closes, more than bodies travel in one; so that products stay small.
pub(super) const GAP_MAX: Q20 = Q20::constant(Fx::from_int(2));
pub(super) const SLOP: Q20 = Q20::constant(LINEAR_SLOP);
const RESTITUTION_SPEED: Q20 = Q20::constant(RESTITUTION_SPEED_MIN);

/// What the solver reads of a pair in every iteration.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContactConstraint {
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) first: u32,
    pub(super) count: u8,
    /// How many points there is room for.
    pub(super) room: u8,
    pub(super) infinite_mass: bool,
    restitution: Q20,
    pub(super) coupling: Coupling,
    /// The unit vector from the first body to the second.
    pub(super) normal: Unit,
}

impl ContactConstraint {
    /// Returns the constraint of a pair.
    pub(super) const fn new(pair: &ContactPair) -> Self {
        Self {
            a: pair.a,
            b: pair.b,
            first: pair.first,
            count: pair.count,
            room: pair.room,
            infinite_mass: pair.infinite_mass,
            restitution: pair.restitution,
            coupling: pair.coupling,
            normal: pair.normal,
        }
    }

    /// Returns where its points are in the solver's list.
    pub(super) fn range(&self) -> Range<usize> {
        let first = self.first as usize;
        first..first + usize::from(self.count)
    }

    /// Returns whether it has restitution.
    pub(super) fn bounces(&self) -> bool {
        !self.restitution.is_zero()
    }

    /// Takes over where a pair meets now.
    pub(super) const fn follow(&mut self, pair: &ContactPair) {
        self.first = pair.first;
        self.normal = pair.normal;
        self.coupling = pair.coupling;
    }
}

/// The motion of the two bodies of a constraint.
pub(super) struct PairMotion {
    pub(super) a: BodyVelocity,
    pub(super) b: BodyVelocity,
}

/// Finds how far the surfaces are from each other now, and applies the impulses of the last substep
/// again: a good first guess for a contact that lasts.
#[inline(always)]
pub(super) fn warm_start(
    constraint: &ContactConstraint,
    points: &mut [ConstraintPoint],
    PairMotion { a, b }: &mut PairMotion,
    shifts: &[BodyShift],
) {
    let normal = constraint.normal;
    let shifts = [&shifts[constraint.a as usize], &shifts[constraint.b as usize]];
    for point in points {
        point.separation = point.separation_now(normal, shifts);
        point.normal.apply_impulse(point.normal_impulse, a, b);
        point.tangent.apply_impulse(point.tangent_impulse, a, b);
    }
}

/// Solves the constraint of a pair, with a soft push out of penetration.
#[inline(always)]
pub(super) fn push_apart(
    constraint: &ContactConstraint,
    points: &mut [ConstraintPoint],
    motion: &mut PairMotion,
) {
    let softness = if constraint.infinite_mass { &STATIC_SOFTNESS } else { &CONTACT_SOFTNESS };
    solve(constraint, points, motion, Some(softness));
}

/// Solves the constraint of a pair without the push: the positions have taken it, and the velocities must not
/// keep it.
#[inline(always)]
pub(super) fn relax(
    constraint: &ContactConstraint,
    points: &mut [ConstraintPoint],
    motion: &mut PairMotion,
) {
    solve(constraint, points, motion, None);
    for point in points {
        point.total_impulse += point.normal_impulse;
    }
}

/// Solves the constraint of a pair: friction first, because non-penetration matters more and has
/// the last word.
#[inline(always)]
fn solve(
    constraint: &ContactConstraint,
    points: &mut [ConstraintPoint],
    motion: &mut PairMotion,
    softness: Option<&Softness>,
) {
    let (normal, tangent) = (constraint.normal, constraint.normal.right_perp());
    match points {
        // Without a loop, which the many contacts of discs would pay for.
        [point] => {
            solve_friction(point, tangent, motion);
            solve_normal(point, normal, softness, motion);
        }
        [one, other] => {
            solve_friction(one, tangent, motion);
            solve_friction(other, tangent, motion);
            if constraint.coupling.is_regular() {
                solve_both(one, other, constraint, softness, motion);
            } else {
                solve_normal(one, normal, softness, motion);
                solve_normal(other, normal, softness, motion);
            }
        }
        _ => unreachable!("a constraint that is solved has one or two points"),
    }
}

/// Stops the approach of the bodies at one point.
#[inline(always)]
fn solve_normal(
    point: &mut ConstraintPoint,
    normal: Unit,
    softness: Option<&Softness>,
    motion: &mut PairMotion,
) {
    let wanted = wanted_impulse(point, normal, softness, motion);
    apply_normal(point, point.normal_impulse + wanted, motion);
}

/// Solves two points at once, whose impulses act on each other. Where one of them does not push, each is on its own.
///
/// One after the other would leave a difference between both, which turns crates in a stack.
#[inline(always)]
fn solve_both(
    one: &mut ConstraintPoint,
    other: &mut ConstraintPoint,
    constraint: &ContactConstraint,
    softness: Option<&Softness>,
    motion: &mut PairMotion,
) {
    let normal = constraint.normal;
    let wanted = [
        wanted_impulse(one, normal, softness, motion),
        wanted_impulse(other, normal, softness, motion),
    ];
    let [first, second] = constraint.coupling.impulses(wanted);
    let totals = [one.normal_impulse + first, other.normal_impulse + second];
    let allowed = |total: Q20| total >= Q20::ZERO && total <= NORMAL_IMPULSE_MAX;
    if allowed(totals[0]) && allowed(totals[1]) {
        apply_normal(one, totals[0], motion);
        apply_normal(other, totals[1], motion);
        return;
    }
    let before = one.normal_impulse;
    apply_normal(one, one.normal_impulse + wanted[0], motion);
    // Where the first one changed nothing, the second one wants what it wanted.
    let wanted = if one.normal_impulse == before {
        wanted[1]
    } else {
        wanted_impulse(other, normal, softness, motion)
    };
    apply_normal(other, other.normal_impulse + wanted, motion);
}

/// Stops the sliding, with an impulse of at most the friction times the normal impulse.
#[inline(always)]
fn solve_friction(point: &mut ConstraintPoint, tangent: Unit, motion: &mut PairMotion) {
    // Many points are there only because two bodies are near.
    if point.normal_impulse.is_zero() && point.tangent_impulse.is_zero() {
        return;
    }
    let PairMotion { a, b } = motion;
    let max_friction = point.friction * point.normal_impulse;
    let sliding = point.tangent.relative_speed(tangent, a, b);
    let total = (point.tangent_impulse - sliding).bounded(max_friction);
    let impulse = total - point.tangent_impulse;
    point.tangent_impulse = total;
    point.tangent.apply_impulse(impulse, a, b);
}

/// Returns the impulse that stops the approach of the bodies at a point. It lets a gap close in one
/// substep, and with `softness` pushes the bodies out of penetration.
#[inline(always)]
fn wanted_impulse(
    point: &ConstraintPoint,
    normal: Unit,
    softness: Option<&Softness>,
    motion: &PairMotion,
) -> Q20 {
    let speed = point.normal.relative_speed(normal, &motion.a, &motion.b);
    match softness {
        _ if point.separation > Q20::ZERO => -(speed + closing_speed(point.separation)),
        Some(soft) => {
            let penetration = (point.separation + SLOP).min(Q20::ZERO).max(-PENETRATION_MAX);
            let bias = (soft.bias_rate * penetration).max(-PUSHOUT_SPEED_MAX);
            -(soft.mass_scale * (speed + bias)) - soft.impulse_scale * point.normal_impulse
        }
        None => -speed,
    }
}

/// Makes the normal impulse of a point this one in total. It is clamped as a total: an iteration may
/// take back what another one gave.
#[inline(always)]
fn apply_normal(point: &mut ConstraintPoint, total: Q20, motion: &mut PairMotion) {
    let total = total.max(Q20::ZERO).min(NORMAL_IMPULSE_MAX);
    let impulse = total - point.normal_impulse;
    point.normal_impulse = total;
    point.normal.apply_impulse(impulse, &mut motion.a, &mut motion.b);
}

/// Returns the speed that closes a gap in one substep.
fn closing_speed(separation: Q20) -> Q20 {
    let gap = separation.min(GAP_MAX);
    Q20(narrow(i64::from(gap.0) * i64::from(STEPS_PER_SECOND * SUBSTEPS)))
}

/// Applies restitution: turns an approach around once the substep has stopped it. That ends the
/// contact, so its impulses are no guess at those of the next substep.
#[inline(always)]
pub(super) fn apply_restitution(
    constraint: &ContactConstraint,
    points: &mut [ConstraintPoint],
    motion: &mut PairMotion,
) {
    let (normal, PairMotion { a, b }) = (constraint.normal, motion);
    for point in points {
        if point.normal_impulse > Q20::ZERO && point.relative_speed < -RESTITUTION_SPEED {
            let wanted = -(constraint.restitution * point.relative_speed);
            let speed = point.normal.relative_speed(normal, a, b);
            let impulse = (wanted - speed).max(Q20::ZERO);
            point.normal.apply_impulse(impulse, a, b);
            point.total_impulse += impulse.min(NORMAL_IMPULSE_MAX);
            (point.normal_impulse, point.tangent_impulse) = (Q20::ZERO, Q20::ZERO);
        }
    }
}
