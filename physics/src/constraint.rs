//! The constraint of a contact: how impulses at its points change both bodies, and by how much.

use metatopia_math::Fx;

use crate::contact::ContactPoint;
use crate::fixed::{Q20, Q24, Q30, Unit, narrow, product, rounded};
use crate::narrow_phase::ManifoldPoint;
use crate::solver_body::{BodyShift, BodyVelocity, SolverBody};

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
    pub(crate) arm_a: Q20,
    pub(crate) arm_b: Q20,
    /// The change of the body's own velocity per change of relative speed: the direction, times the
    /// body's share.
    pub(crate) linear_a: Unit,
    pub(crate) linear_b: Unit,
    /// The change of spin per change of relative speed.
    pub(crate) angular_a: Q24,
    pub(crate) angular_b: Q24,
}

/// One point of the contact constraint.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ConstraintPoint {
    pub(crate) normal: ConstraintRow,
    pub(crate) tangent: ConstraintRow,
    /// The distance of the surfaces, less what the bodies had moved when it was found.
    pub(crate) offset: Q20,
    /// The distance of the surfaces at the beginning of the substep; below zero where they penetrate.
    pub(crate) separation: Q20,
    /// The impulse along the normal, accumulated over the iterations.
    pub(crate) normal_impulse: Q20,
    /// The impulse of friction, accumulated over the iterations.
    pub(crate) tangent_impulse: Q20,
    /// The friction of the contact in the measure of the impulses: the greatest `tangent_impulse`
    /// per `normal_impulse`.
    pub(crate) friction: Q20,
    /// The sum of the normal impulses of the substeps so far.
    pub(crate) total_impulse: Q20,
    /// The relative speed along the normal before the substep's impulses; below zero, the bodies
    /// approached. Only contacts with restitution have it.
    pub(crate) relative_speed: Q20,
    pub(crate) feature: u8,
    /// One over the effective mass along the normal, with 28 fraction bits: what one newton second
    /// changes the relative speed by.
    pub(crate) inverse_effective_mass: i64,
}

/// The inverse of the matrix that turns the normal impulses of two points into changes of both relative
/// speeds, with 24 fraction bits. On the diagonal, that matrix has ones.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Coupling {
    pub(crate) own: i32,
    /// What the second point's speed adds to the first one's impulse.
    pub(crate) first: i32,
    /// What the first point's speed adds to the second one's impulse.
    pub(crate) second: i32,
}

impl Coupling {
    /// Computes the coupling; all zero if the two are nearly the same point.
    pub(crate) fn new(normal: Unit, one: &ConstraintRow, other: &ConstraintRow) -> Self {
        // With 30 fraction bits, from -1 to 1.
        let (to_one, to_other) = (one.response_to(normal, other), other.response_to(normal, one));
        let determinant = (1 << 30) - rounded(to_one * to_other, 30);
        if determinant < 1 << 26 {
            return Self::default();
        }
        let part = |of: i64| narrow((of << 24) / determinant);
        Self { own: part(1 << 30), first: part(-to_one), second: part(-to_other) }
    }

    /// Returns whether the two points can be solved as one.
    pub(crate) const fn is_regular(&self) -> bool {
        self.own != 0
    }

    /// Returns the impulses that change both relative speeds by these amounts.
    pub(crate) fn impulses(&self, [one, other]: [Q20; 2]) -> [Q20; 2] {
        let (one, other) = (i64::from(one.0), i64::from(other.0));
        let (own, first, second) =
            (i64::from(self.own), i64::from(self.first), i64::from(self.second));
        // Factors are at most 2^28, speeds 2^30, so that both products keep in 60 bits.
        let cut = |wide: i64| Q20(narrow(rounded(wide, 24).clamp(-(1 << 29), 1 << 29)));
        [cut(own * one + first * other), cut(second * one + own * other)]
    }
}

impl ConstraintPoint {
    /// Prepares the point for a substep, without impulses.
    #[inline(always)]
    pub(crate) fn new(
        found: &ManifoldPoint,
        direction: Unit,
        [a, b]: [&SolverBody; 2],
        friction: Q20,
    ) -> Self {
        let (normal, normal_inverse) = ConstraintRow::new(direction, found, a, b);
        let (tangent, tangent_inverse) = ConstraintRow::new(direction.right_perp(), found, a, b);
        // The same newton seconds change the relative speed by another amount along the tangent
        // than along the normal, so the friction is scaled by the ratio.
        let friction = product(i64::from(friction.0), tangent_inverse) / normal_inverse;
        Self {
            normal,
            tangent,
            friction: Q20(narrow(friction.min(i64::from(POINT_FRICTION_MAX.0)))),
            feature: found.feature,
            inverse_effective_mass: normal_inverse,
            ..Self::default()
        }
    }

    /// Returns the part of the point that is carried over to the next step.
    pub(crate) fn stored(&self) -> ContactPoint {
        ContactPoint {
            feature: self.feature,
            normal_impulse: self.normal_impulse,
            tangent_impulse: self.tangent_impulse,
        }
    }

    /// Returns the impulse along the normal over the whole step, in newton seconds.
    pub(crate) fn newton_seconds(&self) -> Fx {
        let impulse = i64::from(self.total_impulse.0) << 32;
        Fx::from_bits((impulse / self.inverse_effective_mass.max(1)) << 8)
    }

    /// Returns the distance of the surfaces where the bodies are now; below zero where they penetrate.
    pub(crate) fn separation_now(&self, normal: Unit, shifts: [&BodyShift; 2]) -> Q20 {
        self.offset + self.normal.shifted(normal, shifts)
    }
}

impl ConstraintRow {
    /// Computes the row for impulses along `direction`, and one over its effective mass: what one
    /// newton second changes the relative speed by (28 fraction bits, from 2^14 to 2^38). At least
    /// one of the two bodies has a finite mass.
    #[inline(always)]
    pub(crate) fn new(
        direction: Unit,
        point: &ManifoldPoint,
        a: &SolverBody,
        b: &SolverBody,
    ) -> (Self, i64) {
        let arm_a = point.anchor_a.cross(direction);
        let arm_b = point.anchor_b.cross(direction);
        let (turn_a, inverse_a) = response(a, arm_a);
        let (turn_b, inverse_b) = response(b, arm_b);
        let inverse_effective_mass = inverse_a + inverse_b;
        let effective_mass = (1_i64 << 60) / inverse_effective_mass;
        // A body's share is at most one, so these products stay below 2^60.
        let linear = |body: &SolverBody| {
            Q30(narrow(rounded(product(body.mass_props.inverse_mass, effective_mass), 30)))
        };
        let (linear_a, linear_b) = (linear(a), linear(b));
        let angular =
            |linear: Q30, turn: i64| Q24(narrow(rounded(product(i64::from(linear.0), turn), 26)));
        let row = Self {
            arm_a,
            arm_b,
            linear_a: direction.shortened(linear_a),
            linear_b: direction.shortened(linear_b),
            angular_a: angular(linear_a, turn_a),
            angular_b: angular(linear_b, turn_b),
        };
        (row, inverse_effective_mass)
    }

    /// Returns the change of relative speed here per impulse of another row along the same direction,
    /// with 30 fraction bits, limited to +-1.
    fn response_to(&self, direction: Unit, other: &Self) -> i64 {
        let along = |part: Unit| {
            let x = i64::from(part.x.0) * i64::from(direction.x.0);
            let y = i64::from(part.y.0) * i64::from(direction.y.0);
            rounded(x + y, 30)
        };
        let turned = |arm: Q20, turn: Q24| rounded(i64::from(arm.0) * i64::from(turn.0), 14);
        let linear = along(other.linear_a) + along(other.linear_b);
        let angular = turned(self.arm_a, other.angular_a) + turned(self.arm_b, other.angular_b);
        (linear + angular).clamp(-(1 << 30), 1 << 30)
    }

    /// Returns the speed of the second body along the direction, relative to the first.
    #[inline(always)]
    pub(crate) fn relative_speed(
        &self,
        direction: Unit,
        a: &BodyVelocity,
        b: &BodyVelocity,
    ) -> Q20 {
        (b.linear - a.linear).dot(direction) + b.spin * self.arm_b - a.spin * self.arm_a
    }

    /// Returns how far the second body has moved along the direction since the step began, relative to
    /// the first.
    pub(crate) fn shifted(&self, direction: Unit, [a, b]: [&BodyShift; 2]) -> Q20 {
        (b.linear - a.linear).dot(direction) + b.turn * self.arm_b - a.turn * self.arm_a
    }

    /// Applies an impulse that pushes the two apart along the direction, so that their relative
    /// speed grows by `impulse`.
    #[inline(always)]
    pub(crate) fn apply_impulse(&self, impulse: Q20, a: &mut BodyVelocity, b: &mut BodyVelocity) {
        // Many points are there only because two bodies are near, and carry no impulse.
        if impulse.is_zero() {
            return;
        }
        a.push(-self.linear_a.scaled(impulse), -self.angular_a.times(impulse));
        b.push(self.linear_b.scaled(impulse), self.angular_b.times(impulse));
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
    let turn = rounded(product(arm, body.mass_props.inverse_gyration), 24);
    let angular = rounded(product(arm, turn), 20);
    (turn, inverse_mass + rounded(product(inverse_mass, angular), 20))
}
