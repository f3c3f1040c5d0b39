//! One row of a joint's constraint: one direction in which it holds, drives or stops its bodies.
//!
//! Impulses along a direction are measured by the change of relative speed that they would make if
//! neither body turned, and impulses that only turn by the change of relative spin. So masses appear only
//! as shares, as in contacts.

use metatopia_math::Fx;

use super::softness::Softness;
use crate::fixed::{Q20, Q30, Unit, Vector, narrow, rounded};
use crate::limits::{JOINT_REACH_MAX, STEPS_PER_SECOND, SUBSTEPS};
use crate::solver_body::{BodyVelocity, SolverBody};

/// The greatest impulse of a row: what it would take to hold ten thousand times the mass of its bodies.
pub(crate) const JOINT_IMPULSE_MAX: Q20 = Q20::constant(Fx::from_int(1_023));
/// The greatest speed of a correction, so that sums of speeds keep below 2^31.
const BIAS_SPEED_MAX: i64 = 512 << 20;
/// A greater error pulls no harder on a stiff row.
pub(super) const ERROR_MAX: Q20 = Q20::constant(Fx::ONE);
/// The greatest gap that a substep closes, more than bodies travel in one.
const GAP_MAX: Q20 = Q20::constant(Fx::from_int(2));
/// A change of spin per impulse above this, with 24 fraction bits, is that of a tiny body on a long lever.
const TURN_WIDE: i64 = 1 << 32;
pub(super) const REACH: Q20 = Q20::constant(JOINT_REACH_MAX);

/// How the masses of the two bodies share an impulse.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct JointMass {
    share_a: Q30,
    share_b: Q30,
    /// The change of spin per impulse and lever, with 24 fraction bits: the share over the squared radius
    /// of gyration, up to 2^33.
    pub(super) gyre_a: i64,
    pub(super) gyre_b: i64,
    /// The sum of both inverse masses, with 28 fraction bits: up to 2^33.
    pub(super) inverse_mass: i64,
    /// The sum of both inverse inertias, with 36 fraction bits: up to 2^50.
    pub(super) inverse_inertia: i64,
}

/// The rule by which a row finds its impulse.
#[derive(Clone, Copy, Debug)]
pub(super) enum RowRule {
    /// Holds an error at zero.
    Hold { error: Q20, softness: Softness },
    /// Pulls to an error of zero as a spring does, also when nothing else is corrected.
    Pull { error: Q20, softness: Softness, most: Q20 },
    /// Keeps a gap above zero.
    Stop { gap: Q20, softness: Softness },
    /// Drives at a speed.
    Drive { speed: Q20, most: Q20 },
}

/// One row, with the place of its impulse among those of the joint.
#[derive(Clone, Copy, Debug)]
pub(super) struct JointRow {
    pub(super) slot: usize,
    pub(super) rule: RowRule,
    pub(super) jacobian: RowJacobian,
}

/// How an impulse of a row changes the velocities of both bodies.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RowJacobian {
    /// The direction; zero for a row that only turns.
    pub(super) direction: Unit,
    pub(super) arm_a: Q20,
    pub(super) arm_b: Q20,
    linear_a: Unit,
    linear_b: Unit,
    /// The changes of spin per impulse, with 24 fraction bits: up to 2^38.
    pub(super) turn_a: i64,
    pub(super) turn_b: i64,
    /// The impulse per change of relative speed, at most one.
    pub(super) mass: Q30,
}

impl JointMass {
    /// Computes the shares of two bodies; `None` is the ground. Returns `None` if neither moves.
    pub(super) fn new(a: Option<&SolverBody>, b: &SolverBody) -> Option<Self> {
        let props =
            |body: &SolverBody| (body.mass_props.inverse_mass, body.mass_props.inverse_gyration);
        let (of_a, of_b) = (a.map_or((0, 0), props), props(b));
        let inverse_mass = of_a.0 + of_b.0;
        if inverse_mass == 0 {
            return None;
        }
        let share_a = (of_a.0 << 30) / inverse_mass;
        let share_b = (1 << 30) - share_a;
        let share_b = if of_b.0 == 0 { 0 } else { share_b };
        // Halved first: 2^29 * 2^33 keeps in 62 bits.
        let gyre = |share: i64, gyration: i64| rounded((share >> 1) * gyration, 29);
        // 2^30 * 2^32, with 26 + 23 fraction bits.
        let inertia = |(mass, gyration): (i64, i64)| rounded((mass >> 2) * (gyration >> 1), 13);
        Some(Self {
            share_a: Q30(narrow(share_a)),
            share_b: Q30(narrow(share_b)),
            gyre_a: gyre(share_a, of_a.1),
            gyre_b: gyre(share_b, of_b.1),
            inverse_mass,
            inverse_inertia: inertia(of_a) + inertia(of_b),
        })
    }

    /// Returns whether either body can turn.
    pub(super) const fn turns(&self) -> bool {
        self.gyre_a + self.gyre_b > 0
    }

    /// Computes the row for impulses along a direction at two levers. A longer lever than
    /// [`JOINT_REACH_MAX`] is cut off.
    pub(super) fn along(&self, direction: Unit, lever_a: Vector, lever_b: Vector) -> RowJacobian {
        let arm_a = lever_a.clamp_length(REACH).cross(direction);
        let arm_b = lever_b.clamp_length(REACH).cross(direction);
        // Below 2^33 * 2^25.
        let turn = |gyre: i64, arm: Q20| rounded(gyre * i64::from(arm.0), 20);
        let (turn_a, turn_b) = (turn(self.gyre_a, arm_a), turn(self.gyre_b, arm_b));
        let own = |turn: i64, arm: Q20| rounded(turn * i64::from(arm.0), 24);
        let change = (1 << 20) + own(turn_a, arm_a) + own(turn_b, arm_b);
        RowJacobian {
            direction,
            arm_a,
            arm_b,
            linear_a: direction.shortened(self.share_a),
            linear_b: direction.shortened(self.share_b),
            turn_a,
            turn_b,
            mass: Q30(narrow((1 << 50) / change)),
        }
    }

    /// Computes the row for impulses that only turn: the second body to the left, or to the right for
    /// `backwards`.
    pub(super) fn turning(&self, backwards: bool) -> RowJacobian {
        let sum = (self.gyre_a + self.gyre_b).max(1);
        let share = |gyre: i64| (gyre << 24) / sum;
        let sign = if backwards { -1 } else { 1 };
        let arm = if backwards { -Q20::ONE } else { Q20::ONE };
        RowJacobian {
            arm_a: arm,
            arm_b: arm,
            turn_a: sign * share(self.gyre_a),
            turn_b: sign * share(self.gyre_b),
            mass: Q30::ONE,
            ..RowJacobian::default()
        }
    }
}

impl RowJacobian {
    /// Returns the speed of the second body, relative to the first.
    pub(super) fn relative_speed(&self, [a, b]: &[BodyVelocity; 2]) -> Q20 {
        (b.linear - a.linear).dot(self.direction) + b.spin * self.arm_b - a.spin * self.arm_a
    }

    /// Applies an impulse.
    pub(super) fn apply(&self, impulse: Q20, [a, b]: &mut [BodyVelocity; 2]) {
        if impulse.is_zero() {
            return;
        }
        let turned = |turn: i64| {
            // At most 2^32 * 2^30. Cut first, a wide one keeps 26 bits or more.
            let wide = if turn.abs() <= TURN_WIDE {
                rounded(turn * i64::from(impulse.0), 24)
            } else {
                rounded((turn >> 6) * i64::from(impulse.0), 18)
            };
            // No spin comes near this.
            Q20(narrow(wide.clamp(-(1 << 30), 1 << 30)))
        };
        // Nor does any speed come near this; a sum of both would leave the range.
        let moved = |linear: Vector| linear.bounded(Q20(1 << 30));
        a.add(-moved(self.linear_a.scaled(impulse)), -turned(self.turn_a));
        b.add(moved(self.linear_b.scaled(impulse)), turned(self.turn_b));
    }
}

impl RowJacobian {
    /// Returns the change of relative spin that an impulse makes of itself: none, for one along a direction.
    pub(super) fn spin_of(&self, impulse: Q20) -> i64 {
        if self.direction != Unit::default() {
            return 0;
        }
        i64::from(impulse.0) * i64::from(self.arm_b.0.signum())
    }
}

impl JointRow {
    /// Solves the row. Errors are corrected only if `corrects`.
    pub(super) fn solve(&self, impulse: &mut Q20, motion: &mut [BodyVelocity; 2], corrects: bool) {
        let speed = self.jacobian.relative_speed(motion);
        let mass = self.jacobian.mass;
        let stop = -i64::from((mass * speed).0);
        let all = -JOINT_IMPULSE_MAX..=JOINT_IMPULSE_MAX;
        let (change, range) = match self.rule {
            RowRule::Drive { speed: wanted, most } => {
                (-i64::from((mass * (speed - wanted)).0), -most..=most)
            }
            RowRule::Hold { error, softness } if corrects => {
                (softness.impulse(mass, speed, error.bounded(ERROR_MAX), *impulse), all)
            }
            RowRule::Hold { .. } => (stop, all),
            RowRule::Pull { error, softness, most } => {
                (softness.impulse(mass, speed, error, *impulse), -most..=most)
            }
            RowRule::Stop { gap, .. } if gap > Q20::ZERO => {
                (-i64::from((mass * (speed + closing_speed(gap))).0), Q20::ZERO..=JOINT_IMPULSE_MAX)
            }
            RowRule::Stop { gap, softness } => {
                let change = if corrects {
                    softness.impulse(mass, speed, gap.max(-ERROR_MAX), *impulse)
                } else {
                    stop
                };
                (change, Q20::ZERO..=JOINT_IMPULSE_MAX)
            }
        };
        let total = bounded(i64::from(impulse.0) + change).clamp(*range.start(), *range.end());
        self.jacobian.apply(total - *impulse, motion);
        *impulse = total;
    }
}

impl Softness {
    /// Returns the part of a speed that counts, with the speed that removes an error.
    pub(super) fn speed(&self, speed: Q20, error: Q20) -> i64 {
        let bias = rounded(i64::from(self.bias_rate.0) * i64::from(error.0), 20);
        let bias = bias.clamp(-BIAS_SPEED_MAX, BIAS_SPEED_MAX);
        rounded(i64::from(self.mass_scale.0) * (i64::from(speed.0) + bias), 30)
    }

    /// Returns the change of the impulse of a row.
    fn impulse(&self, mass: Q30, speed: Q20, error: Q20, impulse: Q20) -> i64 {
        let wanted = rounded(i64::from(mass.0) * self.speed(speed, error), 30);
        -wanted - i64::from((self.impulse_scale * impulse).0)
    }
}

/// Returns an impulse within the bound.
pub(super) fn bounded(wide: i64) -> Q20 {
    let bound = i64::from(JOINT_IMPULSE_MAX.0);
    Q20(narrow(wide.clamp(-bound, bound)))
}

/// Returns the speed that closes a gap in one substep.
fn closing_speed(gap: Q20) -> Q20 {
    let gap = gap.min(GAP_MAX);
    Q20(narrow(i64::from(gap.0) * i64::from(STEPS_PER_SECOND * SUBSTEPS)))
}
