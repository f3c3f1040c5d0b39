//! What joints hold at once: a point, or a point on a line, and with it the angle between both bodies.

use super::joint_row::{ERROR_MAX, JointMass, REACH, RowJacobian, bounded};
use super::softness::{STIFF, Softness};
use crate::fixed::{Q20, Unit, Vector, rounded};
use crate::solver_body::BodyVelocity;

/// The greatest way between two levers.
const REACH_OF_BOTH: Q20 = Q20(2 * REACH.0);

/// What holds a point, or a point on a line: two rows that are solved at once. If the bodies must not turn
/// against each other either, that is solved with them.
#[derive(Clone, Copy, Debug)]
pub(super) struct HoldBlock {
    pub(super) rows: [RowJacobian; 2],
    /// The inverse of the matrix that turns impulses into changes of speed: both diagonal elements, and
    /// the one beside them.
    inverse: [i64; 3],
    errors: [Q20; 2],
    softness: Softness,
    /// The greatest impulse, if it is a spring, which also pulls when nothing else is corrected.
    pull: Option<Q20>,
    pub(super) lock: Option<AngleLock>,
}

/// What keeps two bodies from turning against each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct AngleLock {
    pub(super) jacobian: RowJacobian,
    pub(super) error: Q20,
    pub(super) softness: Softness,
}

impl JointMass {
    /// Returns what keeps both bodies from turning against each other, if any of them turns.
    pub(super) fn lock(&self, error: Q20, softness: Softness) -> Option<AngleLock> {
        self.turns().then(|| AngleLock { jacobian: self.turning(false), error, softness })
    }

    /// Computes the block that holds a point at two levers.
    pub(super) fn point(
        &self,
        lever_a: Vector,
        lever_b: Vector,
        error: Vector,
        softness: Softness,
    ) -> HoldBlock {
        HoldBlock {
            rows: [Unit::X, Unit::Y].map(|axis| self.along(axis, lever_a, lever_b)),
            inverse: inverse([(self.gyre_a, lever_a), (self.gyre_b, lever_b)]),
            errors: [error.x, error.y],
            softness,
            pull: None,
            lock: None,
        }
    }

    /// Computes the block that holds a point and the angle. What turns the bodies against each other is up
    /// to the angle; what turns both as one acts on the point by the way between the levers.
    pub(super) fn locked_point(
        &self,
        point: HoldBlock,
        lever: Vector,
        lock: AngleLock,
    ) -> HoldBlock {
        let inverse = inverse([(self.gyre_of_both(), lever), (0, Vector::ZERO)]);
        HoldBlock { inverse, lock: Some(lock), ..point }
    }

    /// Computes the block that holds a point on a line, and the angle if there is a lock.
    pub(super) fn line(&self, row: RowJacobian, error: Q20, lock: Option<AngleLock>) -> HoldBlock {
        let mass = match lock {
            None => i64::from(row.mass.0),
            Some(_) => {
                let arm = i64::from((row.arm_a - row.arm_b).0);
                // Below 2^33 * 2^26, and 2^39 * 2^26 with 20 bits cut off.
                let own = rounded(rounded(self.gyre_of_both() * arm, 24) * arm, 20);
                (1 << 50) / ((1 << 20) + own)
            }
        };
        HoldBlock {
            rows: [row, RowJacobian::default()],
            inverse: [mass, 0, 0],
            errors: [error, Q20::ZERO],
            softness: STIFF,
            pull: None,
            lock,
        }
    }

    /// Returns the gyre of two bodies that turn as one: a b / (a + b).
    const fn gyre_of_both(&self) -> i64 {
        let sum = self.gyre_a + self.gyre_b;
        if sum == 0 {
            return 0;
        }
        // The share of the first one with 29 bits, times at most 2^33.
        let share = (self.gyre_a << 29) / sum;
        rounded(share * self.gyre_b, 29)
    }
}

/// Returns the inverse of the matrix that turns impulses at a point into changes of speed there, for the
/// levers of two gyres, with 30 fraction bits: both diagonal elements, and the one beside them. The matrix
/// is no less than one, so no element of the inverse is more.
fn inverse(levers: [(i64, Vector); 2]) -> [i64; 3] {
    let sum = |of: fn(Vector) -> (Q20, Q20)| {
        let part = |(gyre, lever): (i64, Vector)| {
            // Below 2^33 * 2^25, and 2^38 * 2^25.
            let (one, other) = of(lever.clamp_length(REACH_OF_BOTH));
            rounded(rounded(gyre * i64::from(one.0), 21) * i64::from(other.0), 23)
        };
        levers.map(part).into_iter().sum::<i64>()
    };
    let first = (1 << 20) + sum(|lever| (lever.y, lever.y));
    let second = (1 << 20) + sum(|lever| (lever.x, lever.x));
    let across = -sum(|lever| (lever.x, lever.y));
    // Cut to 30 bits, so that products fit; the determinant is no less than the greater of both.
    let shift = (64 - first.max(second).leading_zeros()).saturating_sub(30);
    let (first, second, across) = (first >> shift, second >> shift, across >> shift);
    let determinant = ((first * second - across * across) >> 20).max(1);
    let element = |of: i64| ((of << (30 - shift)) / determinant).clamp(-(1 << 30), 1 << 30);
    [element(second), element(first), element(-across)]
}

impl HoldBlock {
    /// Returns the block as a spring that pulls with at most an impulse.
    pub(super) fn pulling(self, most: Q20) -> Self {
        Self { pull: Some(most), ..self }
    }

    /// Solves all rows at once: the impulses of both rows, and then that of the angle, whose effect on the
    /// rows they have taken into account.
    pub(super) fn solve(
        &self,
        impulses: &mut [Q20; 3],
        motion: &mut [BodyVelocity; 2],
        corrects: bool,
    ) {
        let angle = self.lock.map(|lock| lock.wanted(motion, corrects));
        let soft = (corrects || self.pull.is_some()).then_some(self.softness);
        let wanted = [0, 1].map(|axis: usize| {
            let (row, error) = (&self.rows[axis], self.errors[axis]);
            let error = if self.pull.is_some() { error } else { error.bounded(ERROR_MAX) };
            let speed = row.relative_speed(motion);
            let own = soft.map_or(i64::from(speed.0), |soft| soft.speed(speed, error));
            let turned = angle
                .zip(self.lock)
                .map_or(0, |(angle, lock)| lock.jacobian.turning_speed(row, angle));
            (own - turned).clamp(-(1 << 31), 1 << 31)
        });
        let [first, second, across] = self.inverse;
        // Elements of at most one, and speeds up to 2^31: sums up to 2^62.
        let product = [
            rounded(first * wanted[0] + across * wanted[1], 30),
            rounded(across * wanted[0] + second * wanted[1], 30),
        ];
        let mut totals = [0, 1].map(|axis: usize| {
            let taken = soft.map_or(Q20::ZERO, |soft| soft.impulse_scale * impulses[axis]);
            bounded(i64::from(impulses[axis].0) - product[axis] - i64::from(taken.0))
        });
        if let Some(most) = self.pull {
            let total = Vector::new(totals[0], totals[1]).clamp_length(most);
            totals = [total.x, total.y];
        }
        let before = self.lock.map(|lock| lock.jacobian.relative_speed(motion));
        for axis in 0..2 {
            self.rows[axis].apply(totals[axis] - impulses[axis], motion);
            impulses[axis] = totals[axis];
        }
        if let (Some(lock), Some(angle), Some(before)) = (self.lock, angle, before) {
            let turned = lock.jacobian.relative_speed(motion) - before;
            let taken =
                if corrects { lock.softness.impulse_scale * impulses[2] } else { Q20::ZERO };
            let change = angle + i64::from(turned.0) + i64::from(taken.0);
            let total = bounded(i64::from(impulses[2].0) - change);
            lock.jacobian.apply(total - impulses[2], motion);
            impulses[2] = total;
        }
    }
}

impl AngleLock {
    /// Returns the change of relative spin that is wanted, with the other sign.
    fn wanted(&self, motion: &[BodyVelocity; 2], corrects: bool) -> i64 {
        let spin = self.jacobian.relative_speed(motion);
        if corrects { self.softness.speed(spin, self.error) } else { i64::from(spin.0) }
    }
}

impl RowJacobian {
    /// Returns the change of speed along a row, if this row that turns changes the spin by an amount.
    fn turning_speed(&self, row: &Self, spin: i64) -> i64 {
        // Shares of at most one, with 24 fraction bits, and levers below 2^25.
        let lever = rounded(self.turn_a * i64::from(row.arm_a.0), 24)
            + rounded(self.turn_b * i64::from(row.arm_b.0), 24);
        rounded(lever * spin, 20)
    }
}
