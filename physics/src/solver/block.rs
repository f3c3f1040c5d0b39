//! Four contacts at once, no two of which have a body in common that moves. Each lane computes what `iteration.rs`
//! computes for one contact, bit by bit.

use super::iteration::{
    ContactConstraint, GAP_MAX, NORMAL_IMPULSE_MAX, PENETRATION_MAX, PUSHOUT_SPEED_MAX, SLOP,
};
use super::lanes::{Column, Lanes, Products};
use super::softness::{CONTACT_SOFTNESS, STATIC_SOFTNESS};
use crate::constraint::{ConstraintPoint, ConstraintRow};
use crate::fixed::{Q20, Vector};
use crate::limits::{STEPS_PER_SECOND, SUBSTEPS};
use crate::solver_body::{BodyShift, BodyVelocity, SOLVER_SPEED_MAX};

/// The greatest impulse that solving two points as one adds to either, as `Coupling::impulses` has it.
const COUPLED_MAX: i32 = 1 << 29;

/// The lanes of a [`ConstraintRow`].
#[derive(Clone, Copy, Debug, Default)]
struct RowLanes {
    arm_a: Column,
    arm_b: Column,
    linear_a: [Column; 2],
    linear_b: [Column; 2],
    angular_a: Column,
    angular_b: Column,
}

/// The lanes of a [`ConstraintPoint`].
#[derive(Clone, Copy, Debug, Default)]
struct PointLanes {
    normal: RowLanes,
    tangent: RowLanes,
    offset: Column,
    separation: Column,
    normal_impulse: Column,
    tangent_impulse: Column,
    friction: Column,
    total_impulse: Column,
}

/// Up to four contacts of up to `N` points.
#[derive(Clone, Debug)]
pub(super) struct ContactBlock<const N: usize> {
    bodies: [[u32; 4]; 2],
    normal: [Column; 2],
    /// How far each contact gives way, as `Softness` has it.
    bias_rate: Column,
    mass_scale: Column,
    impulse_scale: Column,
    /// See `Coupling`. Where a contact has fewer than two points now, it is no coupling.
    own: Column,
    first: Column,
    second: Column,
    points: [PointLanes; N],
}

/// How four bodies move, or how far they have moved.
struct Motions {
    x: Lanes,
    y: Lanes,
    spin: Lanes,
    spin_bound: Lanes,
}

/// The softness of four contacts.
struct SoftLanes {
    bias_rate: Lanes,
    mass_scale: Lanes,
    impulse_scale: Lanes,
}

impl Motions {
    // Written out, here and below: loops over lanes are not inlined.
    #[inline(always)]
    fn of(velocities: &[BodyVelocity], [a, b, c, d]: [u32; 4]) -> Self {
        let row = |body: u32| {
            let BodyVelocity { linear, spin, spin_bound } = &velocities[body as usize];
            Lanes::new([linear.x.0, linear.y.0, spin.0, spin_bound.0])
        };
        let [x, y, spin, spin_bound] = Lanes::transposed([row(a), row(b), row(c), row(d)]);
        Self { x, y, spin, spin_bound }
    }

    #[inline(always)]
    fn of_shifts(shifts: &[BodyShift], [a, b, c, d]: [u32; 4]) -> Self {
        let row = |body: u32| {
            let BodyShift { linear, turn, reach, .. } = &shifts[body as usize];
            Lanes::new([linear.x.0, linear.y.0, turn.0, reach.0])
        };
        let [x, y, spin, spin_bound] = Lanes::transposed([row(a), row(b), row(c), row(d)]);
        Self { x, y, spin, spin_bound }
    }

    #[inline(always)]
    fn put(&self, velocities: &mut [BodyVelocity], [a, b, c, d]: [u32; 4]) {
        let rows = Lanes::transposed([self.x, self.y, self.spin, self.spin_bound]);
        let mut put = |body: u32, row: Lanes| {
            let [x, y, spin, spin_bound] = row.array().map(Q20);
            let linear = Vector { x, y };
            velocities[body as usize] = BodyVelocity { linear, spin, spin_bound };
        };
        put(a, rows[0]);
        put(b, rows[1]);
        put(c, rows[2]);
        put(d, rows[3]);
    }
}

impl RowLanes {
    fn set(&mut self, lane: usize, row: &ConstraintRow) {
        self.arm_a.0[lane] = row.arm_a.0;
        self.arm_b.0[lane] = row.arm_b.0;
        self.linear_a[0].0[lane] = row.linear_a.x.0;
        self.linear_a[1].0[lane] = row.linear_a.y.0;
        self.linear_b[0].0[lane] = row.linear_b.x.0;
        self.linear_b[1].0[lane] = row.linear_b.y.0;
        self.angular_a.0[lane] = row.angular_a.0;
        self.angular_b.0[lane] = row.angular_b.0;
    }

    /// Does what [`ConstraintRow::relative_speed`] does, and [`ConstraintRow::shifted`].
    #[inline(always)]
    fn relative_speed(&self, [x, y]: [Lanes; 2], a: &Motions, b: &Motions) -> Lanes {
        let linear = ((b.x - a.x).times(x) + (b.y - a.y).times(y)).rounded::<30, 2>();
        linear + b.spin.times_q20(self.arm_b.get()) - a.spin.times_q20(self.arm_a.get())
    }

    /// Does what [`ConstraintRow::apply_impulse`] does.
    #[inline(always)]
    fn apply_impulse(&self, impulse: Lanes, a: &mut Motions, b: &mut Motions) {
        let most = Lanes::splat(SOLVER_SPEED_MAX.0);
        let part = |share: &Column| impulse.times_q30(share.get());
        a.x = (a.x - part(&self.linear_a[0])).bounded(most);
        a.y = (a.y - part(&self.linear_a[1])).bounded(most);
        b.x = (b.x + part(&self.linear_b[0])).bounded(most);
        b.y = (b.y + part(&self.linear_b[1])).bounded(most);
        let (turn_a, turn_b) =
            (self.angular_a.get().times(impulse), self.angular_b.get().times(impulse));
        // Small impulses, which nearly all are, make changes of spin below 2^30, whatever the factor is. Greater ones
        // are cut to that: far more than the bound of a spin still.
        let (turn_a, turn_b) = if impulse.are_small() {
            (turn_a.rounded::<24, 8>(), turn_b.rounded::<24, 8>())
        } else {
            (turn_a.cut24(), turn_b.cut24())
        };
        a.spin = (a.spin - turn_a).bounded(a.spin_bound);
        b.spin = (b.spin + turn_b).bounded(b.spin_bound);
    }
}

impl PointLanes {
    fn set(&mut self, lane: usize, point: &ConstraintPoint) {
        self.normal.set(lane, &point.normal);
        self.tangent.set(lane, &point.tangent);
        self.offset.0[lane] = point.offset.0;
        self.normal_impulse.0[lane] = point.normal_impulse.0;
        self.tangent_impulse.0[lane] = point.tangent_impulse.0;
        self.friction.0[lane] = point.friction.0;
        self.total_impulse.0[lane] = point.total_impulse.0;
    }

    /// Gives back what the solver computes of a point.
    const fn put(&self, lane: usize, point: &mut ConstraintPoint) {
        point.normal_impulse = Q20(self.normal_impulse.0[lane]);
        point.tangent_impulse = Q20(self.tangent_impulse.0[lane]);
        point.total_impulse = Q20(self.total_impulse.0[lane]);
    }

    #[inline(always)]
    fn warm_start(
        &mut self,
        normal: [Lanes; 2],
        [shifts_a, shifts_b]: [&Motions; 2],
        a: &mut Motions,
        b: &mut Motions,
    ) {
        let shifted = self.normal.relative_speed(normal, shifts_a, shifts_b);
        self.separation.put(self.offset.get() + shifted);
        self.normal.apply_impulse(self.normal_impulse.get(), a, b);
        self.tangent.apply_impulse(self.tangent_impulse.get(), a, b);
    }

    #[inline(always)]
    fn solve_friction(&mut self, tangent: [Lanes; 2], a: &mut Motions, b: &mut Motions) {
        let before = self.tangent_impulse.get();
        let max_friction = self.friction.get().times_q20(self.normal_impulse.get());
        let sliding = self.tangent.relative_speed(tangent, a, b);
        let total = (before - sliding).bounded(max_friction);
        self.tangent_impulse.put(total);
        self.tangent.apply_impulse(total - before, a, b);
    }

    #[inline(always)]
    fn wanted_impulse<const SOFT: bool>(
        &self,
        normal: [Lanes; 2],
        soft: &SoftLanes,
        a: &Motions,
        b: &Motions,
    ) -> Lanes {
        const RATE: i32 = (STEPS_PER_SECOND * SUBSTEPS) as i32;
        let zero = Lanes::splat(0);
        let speed = self.normal.relative_speed(normal, a, b);
        let separation = self.separation.get();
        let apart = separation.above(zero);
        let closing = separation.min(Lanes::splat(GAP_MAX.0)).times_low(Lanes::splat(RATE));
        if !SOFT {
            return zero - speed - closing.and(apart);
        }
        let penetration = (separation + Lanes::splat(SLOP.0)).min(zero);
        let penetration = penetration.max(Lanes::splat(-PENETRATION_MAX.0));
        let bias = soft.bias_rate.times_q20(penetration).max(Lanes::splat(-PUSHOUT_SPEED_MAX.0));
        let taken_back = soft.impulse_scale.times_q30(self.normal_impulse.get());
        let pushed = zero - soft.mass_scale.times_q30(speed + bias) - taken_back;
        (zero - speed - closing).where_or(apart, pushed)
    }

    /// Makes the normal impulse this one in total, which is clamped already.
    #[inline(always)]
    fn apply_normal<const SOFT: bool>(&mut self, total: Lanes, a: &mut Motions, b: &mut Motions) {
        let before = self.normal_impulse.get();
        self.normal_impulse.put(total);
        if !SOFT {
            self.total_impulse.put(self.total_impulse.get() + total);
        }
        self.normal.apply_impulse(total - before, a, b);
    }
}

impl<const N: usize> ContactBlock<N> {
    /// Returns a block without contacts: all lanes push a body that is nobody's.
    pub(super) fn new(nobody: u32) -> Self {
        Self {
            bodies: [[nobody; 4]; 2],
            normal: Default::default(),
            bias_rate: Column::default(),
            mass_scale: Column::default(),
            impulse_scale: Column::default(),
            own: Column::default(),
            first: Column::default(),
            second: Column::default(),
            points: [PointLanes::default(); N],
        }
    }

    /// Takes over a contact into a lane.
    pub(super) fn set(
        &mut self,
        lane: usize,
        from: &ContactConstraint,
        points: &[ConstraintPoint],
    ) {
        (self.bodies[0][lane], self.bodies[1][lane]) = (from.a, from.b);
        self.normal[0].0[lane] = from.normal.x.0;
        self.normal[1].0[lane] = from.normal.y.0;
        let soft = if from.infinite_mass { &STATIC_SOFTNESS } else { &CONTACT_SOFTNESS };
        self.bias_rate.0[lane] = soft.bias_rate.0;
        self.mass_scale.0[lane] = soft.mass_scale.0;
        self.impulse_scale.0[lane] = soft.impulse_scale.0;
        let is_full = usize::from(from.count) == N;
        self.own.0[lane] = if is_full { from.coupling.own } else { 0 };
        self.first.0[lane] = from.coupling.first;
        self.second.0[lane] = from.coupling.second;
        let points = &points[from.range()];
        for (n, into) in self.points.iter_mut().enumerate() {
            match points.get(n) {
                Some(point) => into.set(lane, point),
                // What has no effect on its bodies is solved as well.
                None => into.set(lane, &ConstraintPoint::default()),
            }
        }
    }

    /// Has a lane push nobody.
    pub(super) const fn clear(&mut self, lane: usize, nobody: u32) {
        (self.bodies[0][lane], self.bodies[1][lane]) = (nobody, nobody);
    }

    /// Gives back what the solver computed of a contact.
    pub(super) fn put(
        &self,
        lane: usize,
        constraint: &ContactConstraint,
        points: &mut [ConstraintPoint],
    ) {
        for (from, point) in self.points.iter().zip(&mut points[constraint.range()]) {
            from.put(lane, point);
        }
    }

    /// Does what `iteration::warm_start` does.
    #[inline(always)]
    pub(super) fn warm_start(&mut self, velocities: &mut [BodyVelocity], shifts: &[BodyShift]) {
        let [bodies_a, bodies_b] = self.bodies;
        let (mut a, mut b) = (Motions::of(velocities, bodies_a), Motions::of(velocities, bodies_b));
        let (shifts_a, shifts_b) =
            (Motions::of_shifts(shifts, bodies_a), Motions::of_shifts(shifts, bodies_b));
        let normal = [self.normal[0].get(), self.normal[1].get()];
        self.points[0].warm_start(normal, [&shifts_a, &shifts_b], &mut a, &mut b);
        if N > 1 {
            self.points[N - 1].warm_start(normal, [&shifts_a, &shifts_b], &mut a, &mut b);
        }
        a.put(velocities, bodies_a);
        b.put(velocities, bodies_b);
    }

    /// Does what `iteration::push_apart` does, or without `SOFT` what `iteration::relax` does.
    #[inline(always)]
    pub(super) fn solve<const SOFT: bool>(&mut self, velocities: &mut [BodyVelocity]) {
        let [bodies_a, bodies_b] = self.bodies;
        let (mut a, mut b) = (Motions::of(velocities, bodies_a), Motions::of(velocities, bodies_b));
        let normal = [self.normal[0].get(), self.normal[1].get()];
        let tangent = [normal[1], Lanes::splat(0) - normal[0]];
        let soft = SoftLanes {
            bias_rate: self.bias_rate.get(),
            mass_scale: self.mass_scale.get(),
            impulse_scale: self.impulse_scale.get(),
        };
        self.points[0].solve_friction(tangent, &mut a, &mut b);
        if N > 1 {
            self.points[N - 1].solve_friction(tangent, &mut a, &mut b);
            self.solve_both::<SOFT>(normal, &soft, &mut a, &mut b);
        } else {
            let point = &mut self.points[0];
            let wanted = point.wanted_impulse::<SOFT>(normal, &soft, &a, &b);
            point.apply_normal::<SOFT>(
                allowed(point.normal_impulse.get() + wanted),
                &mut a,
                &mut b,
            );
        }
        a.put(velocities, bodies_a);
        b.put(velocities, bodies_b);
    }

    /// Solves both points: lane by lane as one, or the first and then the second.
    #[inline(always)]
    fn solve_both<const SOFT: bool>(
        &mut self,
        normal: [Lanes; 2],
        soft: &SoftLanes,
        a: &mut Motions,
        b: &mut Motions,
    ) {
        let wanted = [0, N - 1].map(|n| self.points[n].wanted_impulse::<SOFT>(normal, soft, a, b));
        let before = [0, N - 1].map(|n| self.points[n].normal_impulse.get());
        let cut = |sum: Products| sum.cut24().bounded(Lanes::splat(COUPLED_MAX));
        let (own, first, second) = (self.own.get(), self.first.get(), self.second.get());
        let totals = [
            before[0] + cut(own.times(wanted[0]) + first.times(wanted[1])),
            before[1] + cut(second.times(wanted[0]) + own.times(wanted[1])),
        ];
        let both_push = totals.map(|total| allowed(total).equals(total));
        let at_once = own.above(Lanes::splat(0)).and(both_push[0]).and(both_push[1]);
        if at_once.all() {
            self.points[0].apply_normal::<SOFT>(totals[0], a, b);
            self.points[N - 1].apply_normal::<SOFT>(totals[1], a, b);
            return;
        }
        let total = totals[0].where_or(at_once, allowed(before[0] + wanted[0]));
        self.points[0].apply_normal::<SOFT>(total, a, b);
        let other = &mut self.points[N - 1];
        let wanted = other.wanted_impulse::<SOFT>(normal, soft, a, b);
        let total = totals[1].where_or(at_once, allowed(before[1] + wanted));
        other.apply_normal::<SOFT>(total, a, b);
    }
}

/// Clamps totals of normal impulses.
#[inline(always)]
fn allowed(total: Lanes) -> Lanes {
    total.max(Lanes::splat(0)).min(Lanes::splat(NORMAL_IMPULSE_MAX.0))
}
