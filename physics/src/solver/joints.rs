//! The constraints of joints. They are solved before the contacts, so that contacts have the last word and
//! no joint pulls a body through a wall.

use metatopia_math::{Angle, Fx};

use super::hold_block::HoldBlock;
use super::joint_row::{JointMass, JointRow, RowJacobian, RowRule};
use super::softness::STIFF;
use crate::fixed::{Q20, Unit, Vector, narrow, rounded};
use crate::joint::{IMPULSES, Joint, JointEnd, JointPlan, PlanKind, SpringPlan};
use crate::limits::STEPS_PER_SECOND;
use crate::mass_props::SUBSTEP_RATE;
use crate::solver_body::{BodyShift, BodyVelocity, SolverBody};

/// The places of the impulses of a joint: first the two rows of a block and its angle.
const HELD: usize = 3;
const LOWER: usize = 3;
const UPPER: usize = 4;
const DRIVE: usize = 5;

/// The greatest distance per axis that a joint sees, in metres: the diagonal is a length that fits.
const SPAN: i64 = 1_400 << 20;
/// The circle with 20 fraction bits.
const TAU: i64 = 6_588_397;

/// A joint during one step.
#[derive(Clone, Debug)]
pub(crate) struct JointConstraint {
    /// The index of the joint in the region.
    pub(crate) index: u32,
    /// The first body in the active set; `None` for the ground.
    pub(crate) a: Option<u32>,
    pub(crate) b: u32,
    plan: JointPlan,
    mass: Option<JointMass>,
    pub(crate) impulses: [Q20; IMPULSES],
    /// Whether it is solved in this substep: one of its bodies is awake.
    active: bool,
    /// Whether it was solved in any substep.
    pub(crate) was_active: bool,
    block: Option<HoldBlock>,
    rows: Vec<JointRow>,
    /// The sums of the impulses of the substeps: along both axes, and around.
    pushed: [i64; 2],
    turned: i64,
}

/// The bodies of a joint and where they are.
#[derive(Clone, Copy)]
struct JointFrame {
    facing_a: Unit,
    /// The anchors from the positions of their bodies.
    lever_a: Vector,
    lever_b: Vector,
    /// The way from the first anchor to the second.
    way: Vector,
    /// The facing of the second body, as the first one sees it, from where the angle is zero.
    bend: Unit,
}

impl JointConstraint {
    /// Prepares a joint for a step.
    pub(crate) fn new(
        index: u32,
        ends: (Option<u32>, u32),
        joint: &Joint,
        plan: &JointPlan,
        bodies: &[SolverBody],
    ) -> Self {
        let first = ends.0.map(|a| &bodies[a as usize]);
        Self {
            index,
            a: ends.0,
            b: ends.1,
            plan: *plan,
            mass: JointMass::new(first, &bodies[ends.1 as usize]),
            impulses: joint.impulses,
            active: false,
            was_active: false,
            block: None,
            rows: Vec::with_capacity(IMPULSES),
            pushed: [0; 2],
            turned: 0,
        }
    }

    /// Returns whether there is something to solve in this substep. Two sleeping bodies are left as they are.
    pub(super) fn begin_substep(&mut self, shifts: &[BodyShift]) -> bool {
        let sleeps = |body: u32| shifts[body as usize].asleep;
        self.active = self.mass.is_some() && !(self.a.is_none_or(sleeps) && sleeps(self.b));
        self.was_active |= self.active;
        self.active
    }

    /// Applies the impulses of the last substep again.
    pub(super) fn warm_start(&mut self, bodies: &[SolverBody], velocities: &mut [BodyVelocity]) {
        if !self.active {
            return;
        }
        self.place(bodies);
        let mut motion = self.motion(velocities);
        for (jacobian, slot) in self.jacobians() {
            jacobian.apply(self.impulses[slot], &mut motion);
        }
        self.set_motion(velocities, motion);
    }

    /// Solves the joint before positions are integrated: what drives it first, the point or line that it
    /// holds last.
    pub(super) fn solve(&mut self, velocities: &mut [BodyVelocity]) {
        if self.active {
            self.solve_rows(velocities, true);
        }
    }

    /// Solves the joint where its bodies are now, without corrections, and sums up what it had to hold.
    pub(super) fn relax(&mut self, bodies: &[SolverBody], velocities: &mut [BodyVelocity]) {
        if !self.active {
            return;
        }
        self.place(bodies);
        self.solve_rows(velocities, false);
        let (mut push, mut turn) = ([0; 2], 0);
        for (jacobian, slot) in self.jacobians() {
            let along = jacobian.direction.scaled(self.impulses[slot]);
            push[0] += i64::from(along.x.0);
            push[1] += i64::from(along.y.0);
            turn += jacobian.spin_of(self.impulses[slot]);
        }
        self.pushed[0] += push[0];
        self.pushed[1] += push[1];
        self.turned += turn;
    }

    /// Returns all rows, with the places of their impulses.
    fn jacobians(&self) -> impl Iterator<Item = (&RowJacobian, usize)> {
        let rows = self.block.iter().flat_map(|block| block.rows.iter().zip(0..));
        let lock = self.block.iter().filter_map(|block| block.lock.as_ref());
        let lock = lock.map(|lock| (&lock.jacobian, HELD - 1));
        rows.chain(lock).chain(self.rows.iter().map(|row| (&row.jacobian, row.slot)))
    }

    fn solve_rows(&mut self, velocities: &mut [BodyVelocity], corrects: bool) {
        let mut motion = self.motion(velocities);
        for row in &self.rows {
            row.solve(&mut self.impulses[row.slot], &mut motion, corrects);
        }
        if let Some(block) = &self.block {
            let [first, second, angle, ..] = self.impulses;
            let mut held = [first, second, angle];
            block.solve(&mut held, &mut motion, corrects);
            self.impulses[..HELD].copy_from_slice(&held);
        }
        self.set_motion(velocities, motion);
    }

    /// Returns the velocities of both bodies. The ground has none.
    fn motion(&self, velocities: &[BodyVelocity]) -> [BodyVelocity; 2] {
        let a = self.a.map_or(BodyVelocity::STILL, |a| velocities[a as usize]);
        [a, velocities[self.b as usize]]
    }

    fn set_motion(&self, velocities: &mut [BodyVelocity], [a, b]: [BodyVelocity; 2]) {
        if let Some(index) = self.a {
            velocities[index as usize] = a;
        }
        velocities[self.b as usize] = b;
    }

    /// Computes the rows for where the bodies are now.
    fn place(&mut self, bodies: &[SolverBody]) {
        let Some(mass) = self.mass else { return };
        let frame = self.frame(bodies);
        self.block = None;
        self.rows.clear();
        let rows = &mut self.rows;
        match self.plan.kind {
            PlanKind::Revolute { limits, motor } => {
                if mass.turns() {
                    let most = motor.map(|motor| most(motor.strength, mass.inverse_inertia, 36));
                    drive(rows, mass.turning(false), motor.map(|motor| motor.speed), most);
                    if let Some(limits) = limits {
                        stops(rows, frame.angle(), limits, |backwards| mass.turning(backwards));
                    }
                }
                self.block = Some(mass.point(frame.lever_a, frame.lever_b, frame.way, STIFF));
            }
            PlanKind::Distance { min, max, spring } => {
                distance(rows, &mass, &frame, (min, max), spring);
            }
            PlanKind::Weld { bending } => {
                let point = mass.point(frame.lever_a, frame.lever_b, frame.way, STIFF);
                let lock = mass.lock(frame.small_angle(), bending);
                let lever = frame.lever_a - frame.lever_b;
                self.block = Some(lock.map_or(point, |lock| mass.locked_point(point, lever, lock)));
            }
            PlanKind::Prismatic { axis, limits, motor } => {
                let axis = axis.rotated(frame.facing_a);
                let row =
                    |direction| mass.along(direction, frame.lever_a + frame.way, frame.lever_b);
                let most = motor.map(|motor| most(motor.strength, mass.inverse_mass, 28));
                drive(rows, row(axis), motor.map(|motor| motor.speed), most);
                if let Some(limits) = limits {
                    let along = |backwards: bool| row(if backwards { -axis } else { axis });
                    stops(rows, frame.way.dot(axis), limits, along);
                }
                let side = axis.right_perp();
                let lock = mass.lock(frame.small_angle(), STIFF);
                self.block = Some(mass.line(row(side), frame.way.dot(side), lock));
            }
            PlanKind::Target { softness, force } => {
                let point = mass.point(frame.lever_a, frame.lever_b, frame.way, softness);
                self.block = Some(point.pulling(most(force, mass.inverse_mass, 28)));
            }
        }
    }

    fn frame(&self, bodies: &[SolverBody]) -> JointFrame {
        let b = &bodies[self.b as usize];
        let lever_b = self.plan.anchor_b.rotated(b.facing);
        let (facing_a, lever_a, at) = match self.a.map(|a| &bodies[a as usize]) {
            Some(a) => (a.facing, self.plan.anchor_a.rotated(a.facing), a.position),
            None => (Unit::X, Vector::ZERO, self.plan.anchor_a),
        };
        let part = |b: Q20, lever_b: Q20, a: Q20, lever_a: Q20| {
            let wide =
                i64::from(b.0) + i64::from(lever_b.0) - i64::from(a.0) - i64::from(lever_a.0);
            Q20(narrow(wide.clamp(-SPAN, SPAN)))
        };
        let way = Vector::new(
            part(b.position.x, lever_b.x, at.x, lever_a.x),
            part(b.position.y, lever_b.y, at.y, lever_a.y),
        );
        let turned = b.facing.rotated(facing_a.conjugate());
        JointFrame {
            facing_a,
            lever_a,
            lever_b,
            way,
            bend: turned.rotated(self.plan.reference.conjugate()),
        }
    }

    /// Returns how the joint broke in this step, if it did.
    pub(crate) fn broke(&self) -> Option<JointEnd> {
        let mass = self.mass.as_ref().filter(|_| self.was_active)?;
        let [x, y] = self.pushed.map(i64::unsigned_abs).map(|part| part.min(1 << 31));
        let push = (x * x + y * y).isqrt() as i64;
        let turn = self.turned.abs().min(1 << 32);
        // Newton seconds with 20 fraction bits, and newton metre seconds with 12, to 32 bits each.
        let per_second =
            |bits: i64| Fx::from_bits(bits).saturating_mul(Fx::from_int(STEPS_PER_SECOND as i32));
        let force = per_second(((push << 28) / mass.inverse_mass) << 12);
        let torque = per_second(((turn << 28) / mass.inverse_inertia.max(1)).min(1 << 42) << 20);
        let breaks = |most: Option<Fx>, found: Fx| most.is_some_and(|most| found > most);
        let broken = breaks(self.plan.break_force, force) || breaks(self.plan.break_torque, torque);
        broken.then_some(JointEnd::Broke { force, torque })
    }
}

impl JointFrame {
    /// Returns the angle of the second body from where it is zero, in radians.
    fn angle(&self) -> Q20 {
        let side = |part: i32| Fx::from_bits(i64::from(part) << 2);
        let angle = Angle::atan2(side(self.bend.y.0), side(self.bend.x.0));
        Q20(narrow(rounded(i64::from(angle.to_bits().cast_signed()) * TAU, 32)))
    }

    /// Returns an angle that is to vanish: its sine, which is as good near zero, and one beyond a quarter of
    /// a turn.
    fn small_angle(&self) -> Q20 {
        let sine = Q20(narrow(rounded(i64::from(self.bend.y.0), 10)));
        match (self.bend.x.0 < 0, sine < Q20::ZERO) {
            (false, _) => sine,
            (true, true) => -Q20::ONE,
            (true, false) => Q20::ONE,
        }
    }
}

/// Adds the row of a motor, if there is one.
fn drive(rows: &mut Vec<JointRow>, jacobian: RowJacobian, speed: Option<Fx>, most: Option<Q20>) {
    if let (Some(speed), Some(most)) = (speed, most) {
        let rule = RowRule::Drive { speed: Q20::constant(speed), most };
        rows.push(JointRow { slot: DRIVE, rule, jacobian });
    }
}

/// Adds the rows of a lower and an upper limit.
fn stops(
    rows: &mut Vec<JointRow>,
    value: Q20,
    [low, high]: [Q20; 2],
    jacobian: impl Fn(bool) -> RowJacobian,
) {
    let rule = RowRule::Stop { gap: gap(value, low), softness: STIFF };
    rows.push(JointRow { slot: LOWER, rule, jacobian: jacobian(false) });
    rows.push(upper_stop(value, high, jacobian(true)));
}

/// Returns the row of an upper limit.
fn upper_stop(value: Q20, high: Q20, jacobian: RowJacobian) -> JointRow {
    let rule = RowRule::Stop { gap: gap(high, value), softness: STIFF };
    JointRow { slot: UPPER, rule, jacobian }
}

/// Returns a difference of two numbers below 2^31, which may need a bit more.
fn gap(more: Q20, less: Q20) -> Q20 {
    let wide = i64::from(more.0) - i64::from(less.0);
    Q20(narrow(wide.clamp(-(1 << 30), 1 << 30)))
}

/// Adds the rows of a rod, a rope or a spring.
fn distance(
    rows: &mut Vec<JointRow>,
    mass: &JointMass,
    frame: &JointFrame,
    (min, max): (Q20, Q20),
    spring: Option<SpringPlan>,
) {
    let length = frame.way.length();
    // Two anchors at one point are pushed apart along the y axis, the same way every time.
    let direction = if length.is_zero() { Unit::Y } else { frame.way.direction(length) };
    let row = |direction| mass.along(direction, frame.lever_a, frame.lever_b);
    if min == max {
        let rule = RowRule::Hold { error: length - min, softness: STIFF };
        rows.push(JointRow { slot: 0, rule, jacobian: row(direction) });
        return;
    }
    if let Some(SpringPlan { rest, softness }) = spring {
        let most = super::JOINT_IMPULSE_MAX;
        let rule = RowRule::Pull { error: length - rest, softness, most };
        rows.push(JointRow { slot: DRIVE, rule, jacobian: row(direction) });
    }
    let along = |back: bool| row(if back { -direction } else { direction });
    // A rope does not keep its ends from passing each other: no length is below zero.
    if min.is_zero() {
        rows.push(upper_stop(length, max, along(true)));
    } else {
        stops(rows, length, [min, max], along);
    }
}

/// Returns the greatest impulse of a substep for a force, or a torque: the change of relative speed that it
/// makes in that time. `inverse` is a sum of inverse masses with so many fraction bits.
fn most(strength: Fx, inverse: i64, bits: u32) -> Q20 {
    // With 20 fraction bits: up to 2^43.
    let push = rounded(strength.to_bits() / SUBSTEP_RATE, 12);
    // What is cut off the smaller of both is less than a millionth of it.
    let excess = (128 - push.leading_zeros() - inverse.leading_zeros()).saturating_sub(62);
    let cut = excess.min(bits - 1);
    let wide = if excess > cut { i64::MAX } else { (push * (inverse >> cut)) >> (bits - cut) };
    Q20(narrow(wide.min(i64::from(super::JOINT_IMPULSE_MAX.0))))
}
