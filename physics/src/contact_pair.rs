//! A pair of bodies during one step: its contact constraint, warm-started from the last step.

use metatopia_math::Fx;
use metatopia_types::ObjectId;

use crate::broad_phase::{PairKey, indices};
use crate::contact::{Contact, ContactPoint};
use crate::fixed::{Q20, Q24, Q30, Unit, Vector, narrow, rounded};
use crate::limits::TOUCH_MARGIN;
use crate::narrow_phase::{Manifold, ManifoldPoint, collide};
use crate::solver_body::{BodyVelocity, SolverBody};
use crate::touch::Touch;

const MARGIN: Q20 = Q20::constant(TOUCH_MARGIN);
/// The greatest friction of one point, so that products stay small.
const POINT_FRICTION_MAX: Q20 = Q20::constant(Fx::from_int(4));

/// One row of the constraint's Jacobian with its effective mass: how an impulse along one direction
/// at one point changes two bodies.
///
/// Impulses are measured by the change of relative speed that they make. So masses appear only as
/// ratios, and the numbers keep their size whatever the bodies weigh.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ConstraintRow {
    /// The cross product of the anchor and the direction: the lever arm of the impulse.
    arm_a: Q20,
    arm_b: Q20,
    /// The share of the change of relative speed that the body's own velocity takes.
    linear_a: Q30,
    linear_b: Q30,
    /// The change of spin per change of relative speed.
    angular_a: Q24,
    angular_b: Q24,
}

/// One point of the contact constraint.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ConstraintPoint {
    pub(crate) normal: ConstraintRow,
    pub(crate) tangent: ConstraintRow,
    /// The distance of the surfaces; below zero where they penetrate.
    pub(crate) separation: Q20,
    /// The impulse along the normal, accumulated over the iterations.
    pub(crate) normal_impulse: Q20,
    /// The impulse of friction, accumulated over the iterations.
    pub(crate) tangent_impulse: Q20,
    /// The friction of the contact in the measure of the impulses: the greatest `tangent_impulse`
    /// per `normal_impulse`.
    pub(crate) friction: Q20,
    /// The relative speed along the normal before the substep's impulses; below zero, the bodies
    /// approached.
    pub(crate) relative_speed: Q20,
    /// The normal impulse of this substep if the restitution turned the approach around.
    pub(crate) bounce_impulse: Q20,
    feature: u8,
    /// One over the effective mass along the normal, with 28 fraction bits: what one newton second
    /// changes the relative speed by.
    inverse_effective_mass: i64,
}

/// The properties that all points of a constraint share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContactSurface {
    /// The unit vector from the first body to the second.
    pub(crate) normal: Unit,
    /// Whether one of the two bodies has an infinite mass.
    pub(crate) infinite_mass: bool,
    pub(crate) restitution: Q20,
}

/// Two bodies whose boxes overlap.
#[derive(Clone, Debug)]
pub(crate) struct ContactPair {
    pub(crate) a: usize,
    pub(crate) b: usize,
    normal: Unit,
    points: [ConstraintPoint; 2],
    count: usize,
    /// Whether neither body is a sensor, so that the two push each other.
    has_response: bool,
    infinite_mass: bool,
    friction: Q20,
    restitution: Q20,
    /// Whether the two touched in the step before.
    touched_before: bool,
    /// Whether the two touched in this step.
    touched: bool,
    /// Whether the two are within the touch margin at the end of this step.
    within_margin: bool,
    /// The position where the two first touched.
    touch_point: Vector,
    /// The sum of the normal impulses of this step, in newton seconds.
    total_impulse: Fx,
}

impl ContactPair {
    /// Prepares a pair for a step, with the impulses of its contact of the step before.
    pub(crate) fn new(key: PairKey, bodies: &[SolverBody], before: Option<&Contact>) -> Self {
        let (a, b) = indices(key);
        let (first, second) = (&bodies[a], &bodies[b]);
        let mut pair = Self {
            a,
            b,
            normal: Unit::X,
            points: [ConstraintPoint::default(); 2],
            count: 0,
            has_response: !first.sensor && !second.sensor,
            infinite_mass: first.has_infinite_mass() || second.has_infinite_mass(),
            friction: first.mass_props.friction_root * second.mass_props.friction_root,
            restitution: first.mass_props.restitution.max(second.mass_props.restitution),
            touched_before: before.is_some(),
            touched: false,
            within_margin: before.is_some(),
            touch_point: Vector::ZERO,
            total_impulse: Fx::ZERO,
        };
        let stored =
            before.filter(|_| pair.has_response).map_or([None; 2], |contact| contact.points);
        for old in stored.into_iter().flatten() {
            let point = &mut pair.points[pair.count];
            point.feature = old.feature;
            point.normal_impulse = old.normal_impulse;
            point.tangent_impulse = old.tangent_impulse;
            pair.count += 1;
        }
        pair
    }

    /// Returns what the points share, and the points that the last detection found.
    pub(crate) fn constraint(&mut self) -> (ContactSurface, &mut [ConstraintPoint]) {
        let surface = ContactSurface {
            normal: self.normal,
            infinite_mass: self.infinite_mass,
            restitution: self.restitution,
        };
        (surface, &mut self.points[..self.count])
    }

    /// Detects where the two meet now, and prepares the constraint. Returns whether there is
    /// something to solve; two sleeping bodies are left as they are.
    pub(crate) fn detect(&mut self, bodies: &[SolverBody], velocities: &[BodyVelocity]) -> bool {
        let (a, b) = (&bodies[self.a], &bodies[self.b]);
        let (velocity_a, velocity_b) = (&velocities[self.a], &velocities[self.b]);
        // The points of a sleeping pair must stay untouched: they go into the state as they came.
        if a.is_still_asleep(velocity_a) && b.is_still_asleep(velocity_b) {
            return false;
        }
        let margin = a.travel(velocity_a) + b.travel(velocity_b);
        let manifold =
            if a.is_apart_from(b, margin) { Manifold::default() } else { collide(a, b, margin) };
        if manifold.count == 0 {
            (self.within_margin, self.count) = (false, 0);
            return false;
        }
        self.within_margin = manifold.points().iter().any(|point| point.separation <= MARGIN);
        let deepest = manifold.points().iter().min_by_key(|point| point.separation);
        if let Some(point) = deepest.filter(|_| !self.touched) {
            self.touch_point = a.position + point.anchor_a;
            self.touched = point.separation <= Q20::ZERO;
        }
        if self.has_response {
            self.prepare(&manifold, [a, b], [velocity_a, velocity_b]);
        }
        self.has_response && self.count > 0
    }

    /// Prepares the constraint's points. A point whose feature was there before keeps its impulses.
    fn prepare(
        &mut self,
        manifold: &Manifold,
        bodies: [&SolverBody; 2],
        velocities: [&BodyVelocity; 2],
    ) {
        let before = self.points.map(|point| point.stored());
        let known = &before[..self.count];
        self.normal = manifold.normal;
        self.count = manifold.count;
        for (point, found) in self.points.iter_mut().zip(manifold.points()) {
            *point = ConstraintPoint::new(found, self.normal, bodies, self.friction);
            point.relative_speed =
                point.normal.relative_speed(self.normal, velocities[0], velocities[1]);
            if let Some(old) = known.iter().find(|old| old.feature == found.feature) {
                point.normal_impulse = old.normal_impulse;
                point.tangent_impulse = old.tangent_impulse;
            }
        }
    }

    /// Adds the normal impulses of this substep to the total. Only the beginning of a touch is
    /// reported, so the impulses of a lasting one are not summed.
    pub(crate) fn store_impulses(&mut self) {
        if self.touched_before {
            return;
        }
        for point in &self.points[..self.count] {
            let impulse = point.normal_impulse + point.bounce_impulse;
            self.touched |= impulse > Q20::ZERO;
            self.total_impulse = self.total_impulse.saturating_add(point.newton_seconds(impulse));
        }
    }

    /// Returns the event of this step if a touch began in it.
    pub(crate) fn began(&self, [a, b]: [ObjectId; 2]) -> Option<Touch> {
        (self.touched && !self.touched_before).then(|| Touch::Began {
            a,
            b,
            point: self.touch_point.vec2(),
            impulse: self.total_impulse,
        })
    }

    /// Returns the contact that the next step starts from, or nothing if the two are apart.
    pub(crate) fn contact(&self, [a, b]: [ObjectId; 2]) -> Option<Contact> {
        let lasts = self.touched || (self.touched_before && self.within_margin);
        lasts.then(|| {
            let mut points = [None; 2];
            for (stored, point) in points.iter_mut().zip(&self.points[..self.count]) {
                *stored = Some(point.stored());
            }
            Contact { a, b, points }
        })
    }
}

impl ConstraintPoint {
    /// Prepares the point for a substep, without impulses.
    fn new(
        found: &ManifoldPoint,
        direction: Unit,
        [a, b]: [&SolverBody; 2],
        friction: Q20,
    ) -> Self {
        let (normal, normal_inverse) = ConstraintRow::new(direction, found, a, b);
        let (tangent, tangent_inverse) = ConstraintRow::new(direction.right_perp(), found, a, b);
        // The same newton seconds change the relative speed by another amount along the tangent
        // than along the normal, so the friction is scaled by the ratio.
        let friction = i64::from(friction.0) * tangent_inverse / normal_inverse;
        Self {
            normal,
            tangent,
            separation: found.separation,
            friction: Q20(narrow(friction.min(i64::from(POINT_FRICTION_MAX.0)))),
            feature: found.feature,
            inverse_effective_mass: normal_inverse,
            ..Self::default()
        }
    }

    /// Returns the part of the point that is carried over to the next step.
    fn stored(&self) -> ContactPoint {
        ContactPoint {
            feature: self.feature,
            normal_impulse: self.normal_impulse,
            tangent_impulse: self.tangent_impulse,
        }
    }

    /// Converts an impulse along the normal to newton seconds.
    fn newton_seconds(&self, impulse: Q20) -> Fx {
        Fx::from_bits(((i64::from(impulse.0) << 32) / self.inverse_effective_mass) << 8)
    }
}

impl ConstraintRow {
    /// Computes the row for impulses along `direction`, and one over its effective mass: what one
    /// newton second changes the relative speed by (28 fraction bits, from 2^14 to 2^38). At least
    /// one of the two bodies has a finite mass.
    fn new(direction: Unit, point: &ManifoldPoint, a: &SolverBody, b: &SolverBody) -> (Self, i64) {
        let arm_a = point.anchor_a.cross(direction);
        let arm_b = point.anchor_b.cross(direction);
        let (turn_a, inverse_a) = response(a, arm_a);
        let (turn_b, inverse_b) = response(b, arm_b);
        let inverse_effective_mass = inverse_a + inverse_b;
        let effective_mass = (1_i64 << 60) / inverse_effective_mass;
        // A body's share is at most one, so these products stay below 2^60.
        let linear = |body: &SolverBody| {
            Q30(narrow(rounded(body.mass_props.inverse_mass * effective_mass, 30)))
        };
        let (linear_a, linear_b) = (linear(a), linear(b));
        let angular = |linear: Q30, turn: i64| Q24(narrow(rounded(i64::from(linear.0) * turn, 26)));
        let row = Self {
            arm_a,
            arm_b,
            linear_a,
            linear_b,
            angular_a: angular(linear_a, turn_a),
            angular_b: angular(linear_b, turn_b),
        };
        (row, inverse_effective_mass)
    }

    /// Returns the speed of the second body along the direction, relative to the first.
    pub(crate) fn relative_speed(
        &self,
        direction: Unit,
        a: &BodyVelocity,
        b: &BodyVelocity,
    ) -> Q20 {
        (b.linear - a.linear).dot(direction) + b.spin * self.arm_b - a.spin * self.arm_a
    }

    /// Applies an impulse that pushes the two apart along the direction, so that their relative
    /// speed grows by `impulse`.
    pub(crate) fn apply_impulse(
        &self,
        direction: Unit,
        impulse: Q20,
        a: &mut BodyVelocity,
        b: &mut BodyVelocity,
    ) {
        // Many points are there only because two bodies are near, and carry no impulse.
        if impulse.is_zero() {
            return;
        }
        a.add(-direction.scaled(self.linear_a * impulse), -(self.angular_a * impulse));
        b.add(direction.scaled(self.linear_b * impulse), self.angular_b * impulse);
    }
}

/// Returns the spin per speed that an impulse at an arm makes (20 fraction bits), and the change of
/// speed there per newton second (28 fraction bits).
fn response(body: &SolverBody, arm: Q20) -> (i64, i64) {
    let inverse_mass = body.mass_props.inverse_mass;
    if inverse_mass == 0 {
        return (0, 0);
    }
    let arm = i64::from(arm.0);
    // Below 2^26 * 2^33: arms of the shapes with the smallest gyration are short.
    let turn = rounded(arm * body.mass_props.inverse_gyration, 24);
    let angular = rounded(arm * turn, 20);
    (turn, inverse_mass + rounded(inverse_mass * angular, 20))
}
