//! The solver: soft contacts in four substeps with warm starting ("soft step", as in Box2D 3).
//!
//! Contacts are found once, at the beginning of the step, and again only between bodies that move far
//! against each other. Each substep applies the impulses of the last one again. It solves each contact
//! with a soft push out of penetration, integrates the positions, and solves each contact once more
//! without that push, so that the push leaves no velocity behind. At last it applies restitution to
//! what came in fast enough. The separation of a contact in a substep follows from how far its bodies
//! have moved and turned since the step began.

use crate::active_set::ActiveSet;
use crate::compound_pair::CompoundPair;
use crate::constraint::ConstraintPoint;
use crate::contact_pair::{ContactPair, PairView, SLACK};
use crate::fixed::Q20;
use crate::limits::SUBSTEPS;
use crate::motion::Motion;
use crate::solver_body::{BodyShift, BodyVelocity, SolverBody};
use crate::surroundings::Surroundings;

mod block;
mod blocks;
mod hold_block;
mod iteration;
mod joint_row;
mod joints;
mod lanes;
mod softness;

use blocks::Blocks;
use iteration::{ContactConstraint, PairMotion, apply_restitution, push_apart, relax, warm_start};
pub(crate) use iteration::{NORMAL_IMPULSE_MAX, TANGENT_IMPULSE_MAX};
pub(crate) use joint_row::JOINT_IMPULSE_MAX;
pub(crate) use joints::JointConstraint;
pub(crate) use softness::{STIFF, Softness};

/// So few contacts are solved one by one.
const BLOCKS_MIN: usize = 16;

/// Further than a pair that is known may have moved.
const FAR: Q20 = Q20(i32::MAX / 2);

/// The bodies and pairs of one step. A region keeps it for the sake of its memory.
#[derive(Debug, Default)]
pub(crate) struct Solver {
    surroundings: Surroundings,
    /// The bodies, which the solver moves.
    pub(crate) set: ActiveSet,
    shifts: Vec<BodyShift>,
    pub(crate) pairs: Vec<ContactPair>,
    /// The bodies of each pair that is known; of others nobody, twice.
    known: Vec<[u32; 2]>,
    /// How far any point of each body is from where it was, at most, when this substep ends; of nobody, far.
    reaches: Vec<Q20>,
    /// The pairs of compounds, in id order.
    pub(crate) compounds: Vec<CompoundPair>,
    /// The points of all pairs, see [`ContactPair::first`].
    pub(crate) points: Vec<ConstraintPoint>,
    /// The pairs that have had a constraint in this step, in the order in which they first had it; in one
    /// substep, in id order.
    constraints: Vec<ContactConstraint>,
    /// The same in blocks of four, where that takes less time.
    blocks: Blocks,
    /// Whether any of them has restitution.
    bounces: bool,
    /// Whether a test wants blocks, or none, for the sake of their bits.
    #[cfg(test)]
    pub(crate) wants_blocks: Option<bool>,
    /// The joints of the set, in id order.
    pub(crate) joints: Vec<JointConstraint>,
}

/// What is kept for the sake of its memory is no part of what a copy is a copy of.
impl Clone for Solver {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Solver {
    /// Simulates one step.
    ///
    /// The set, the pairs and the joints are those of this step.
    pub(crate) fn step(&mut self, surroundings: Surroundings) {
        self.surroundings = surroundings;
        self.constraints.clear();
        self.bounces = false;
        self.shifts.clear();
        self.shifts.extend(self.set.bodies.iter().map(BodyShift::new));
        // Those of nobody, whom lanes of blocks push that have no contact.
        self.shifts.push(BodyShift::default());
        self.set.velocities.push(BodyVelocity::STILL);
        let nobody = self.set.bodies.len();
        self.reaches.resize(nobody + 1, FAR);
        self.known.clear();
        self.known.resize(self.pairs.len(), [nobody as u32; 2]);
        self.blocks.forget();
        for _ in 0..SUBSTEPS {
            self.begin_substep();
            self.choose_blocks();
            self.apply_forces();
            for joint in &mut self.joints {
                joint.warm_start(&self.set.bodies, &mut self.set.velocities);
            }
            self.warm_start();
            for joint in &mut self.joints {
                joint.solve(&mut self.set.velocities);
            }
            self.push_apart();
            self.integrate_positions();
            for joint in &mut self.joints {
                joint.relax(&self.set.bodies, &mut self.set.velocities);
            }
            self.relax();
            if self.bounces {
                self.apply_restitution();
            }
        }
        self.blocks.give_back(&self.constraints, &mut self.points);
        self.shifts.pop();
        self.set.velocities.pop();
        for (body, velocity) in self.set.bodies.iter().zip(&mut self.set.velocities) {
            body.clamp_velocity(velocity);
        }
        for pair in &mut self.pairs {
            let bodies = [pair.a, pair.b];
            let shifts = bodies.map(|body| &self.shifts[body as usize]);
            if !pair.has_response {
                pair.notice(view(bodies, &self.set, &self.shifts));
            } else if !(shifts[0].asleep && shifts[1].asleep) {
                pair.settle(shifts, &self.points);
            }
        }
        for compound in &mut self.compounds {
            let view = view(compound.bodies(), &self.set, &self.shifts);
            compound.finish(view, &self.set.outlines, &self.points);
        }
    }

    /// Looks at the pairs whose bodies have moved too far, and lists those with a constraint.
    fn begin_substep(&mut self) {
        for ((shift, velocity), reach) in
            self.shifts.iter_mut().zip(&self.set.velocities).zip(&mut self.reaches)
        {
            shift.begin_substep(velocity);
            *reach = shift.reach;
        }
        let nobody = self.set.bodies.len() as u32;
        self.reaches[nobody as usize] = FAR;
        let falls = !self.surroundings.gravity.is_zero();
        for (pair, known) in self.pairs.iter_mut().zip(&mut self.known) {
            // A pair that is known is listed as it is. If it is solved, then from an earlier substep on, and its bodies
            // are stirred. Thousands of pairs are looked at, so what decides lies close together.
            let [a, b] = known.map(|body| self.reaches[body as usize]);
            if a + b <= SLACK {
                continue;
            }
            self.blocks.give_back_one(pair.listed, &self.constraints, &mut self.points);
            let view = view([pair.a, pair.b], &self.set, &self.shifts);
            let solved = pair.refresh(view, &mut self.points);
            if solved && falls {
                stir(&mut self.shifts, &self.set.bodies, [pair.a, pair.b]);
            }
            self.bounces |= solved && !pair.restitution.is_zero();
            if list(pair, solved, &mut self.constraints) {
                self.blocks.take(pair.listed, &self.constraints, &mut self.points);
            }
            *known = if pair.is_known() { [pair.a, pair.b] } else { [nobody; 2] };
        }
        for compound in &mut self.compounds {
            for part in &compound.parts {
                self.blocks.give_back_one(part.pair.listed, &self.constraints, &mut self.points);
            }
            let view = view(compound.bodies(), &self.set, &self.shifts);
            let pushes = compound.refresh(view, &self.set.outlines, &mut self.points);
            let mut any_solved = false;
            for part in &mut compound.parts {
                let solved = pushes && part.pair.begin(view, &mut self.points);
                any_solved |= solved;
                self.bounces |= solved && !part.pair.restitution.is_zero();
                if list(&mut part.pair, solved, &mut self.constraints) {
                    self.blocks.take(part.pair.listed, &self.constraints, &mut self.points);
                }
            }
            if any_solved && falls {
                stir(&mut self.shifts, &self.set.bodies, compound.bodies());
            }
        }
        for joint in &mut self.joints {
            let solved = joint.begin_substep(&self.shifts);
            if solved && falls {
                let ends = joint.a.into_iter().chain([joint.b]);
                stir(&mut self.shifts, &self.set.bodies, ends);
            }
        }
    }

    /// Takes the contacts into blocks where that takes less time.
    fn choose_blocks(&mut self) {
        let pay = lanes::PAY && self.constraints.len() >= BLOCKS_MIN;
        #[cfg(test)]
        let pay = self.wants_blocks.unwrap_or(pay);
        if pay && !self.blocks.is_filled() {
            self.blocks.fill(&self.constraints, &self.points, &self.set.bodies);
        }
    }

    fn warm_start(&mut self) {
        if self.blocks.is_filled() {
            self.blocks.warm_start(&mut self.set.velocities, &self.shifts);
        } else {
            self.each_constraint(warm_start);
        }
    }

    fn push_apart(&mut self) {
        if self.blocks.is_filled() {
            self.blocks.solve::<true>(&mut self.set.velocities);
        } else {
            self.each_constraint(|of, points, motion, _| push_apart(of, points, motion));
        }
    }

    fn relax(&mut self) {
        if self.blocks.is_filled() {
            self.blocks.solve::<false>(&mut self.set.velocities);
        } else {
            self.each_constraint(|of, points, motion, _| relax(of, points, motion));
        }
    }

    fn apply_restitution(&mut self) {
        let Self { constraints, points, set, blocks, .. } = self;
        let bouncing = (0..).zip(&*constraints).filter(|(_, of)| of.count > 0 && of.bounces());
        for (index, constraint) in bouncing {
            blocks.give_back_one(Some(index), constraints, points);
            work_on(constraint, points, &mut set.velocities, apply_restitution);
            blocks.take(Some(index), constraints, points);
        }
    }

    /// Applies damping and gravity to the bodies that are awake.
    fn apply_forces(&mut self) {
        let fall = self.surroundings.fall();
        for ((body, velocity), shift) in
            self.set.bodies.iter().zip(&mut self.set.velocities).zip(&self.shifts)
        {
            if !shift.asleep || shift.stirred {
                body.apply_forces(velocity, fall);
            }
        }
    }

    fn integrate_positions(&mut self) {
        for ((body, velocity), shift) in
            self.set.bodies.iter_mut().zip(&mut self.set.velocities).zip(&mut self.shifts)
        {
            body.integrate_position(velocity, &self.surroundings.bounds);
            shift.follow(body, velocity);
        }
    }

    /// Returns for how many steps each body has been slow, with this one. Bodies that a joint holds together
    /// share the least count, and under gravity also those that lean on each other, so that all of them
    /// fall asleep at once: one that slept alone would be held by its neighbours' impulses without its own
    /// weight.
    pub(crate) fn slow_steps(&self) -> Vec<u8> {
        let set = &self.set;
        let solved = set.slow_steps.iter().zip(set.bodies.iter().zip(&set.velocities));
        let counts = solved.map(|(before, (body, velocity))| {
            body.slow_steps(velocity, self.surroundings.sleeping, *before)
        });
        let mut counts: Vec<u8> = counts.collect();
        let falls = !self.surroundings.gravity.is_zero();
        if !falls && self.joints.is_empty() {
            return counts;
        }
        let mut parents: Vec<u32> = (0..counts.len() as u32).collect();
        let touching = self.constraints.iter().filter(|constraint| falls && constraint.count > 0);
        let held = self.joints.iter().filter(|joint| joint.was_active);
        let held = held.filter_map(|joint| Some([joint.a?, joint.b]));
        for ends in touching.map(|constraint| [constraint.a, constraint.b]).chain(held) {
            let rests = |end: &u32| set.bodies[*end as usize].motion == Motion::Static;
            if !ends.iter().any(rests) {
                let [a, b] = ends.map(|end| root(&mut parents, end));
                parents[a.max(b) as usize] = a.min(b);
            }
        }
        for body in 0..counts.len() {
            let root = root(&mut parents, body as u32) as usize;
            counts[root] = counts[root].min(counts[body]);
        }
        (0..counts.len() as u32).map(|body| counts[root(&mut parents, body) as usize]).collect()
    }

    /// Runs `work` on each constraint. Their order decides the result, because each one sees the
    /// velocities that those before it left.
    #[inline(always)]
    fn each_constraint(
        &mut self,
        work: impl Fn(&ContactConstraint, &mut [ConstraintPoint], &mut PairMotion, &[BodyShift]),
    ) {
        let (velocities, shifts) = (&mut self.set.velocities[..], &self.shifts[..]);
        let points = &mut self.points[..];
        for constraint in self.constraints.iter().filter(|constraint| constraint.count > 0) {
            work_on(constraint, points, velocities, |constraint, points, motion| {
                work(constraint, points, motion, shifts);
            });
        }
    }
}

/// Runs `work` on one constraint.
#[inline(always)]
fn work_on(
    constraint: &ContactConstraint,
    points: &mut [ConstraintPoint],
    velocities: &mut [BodyVelocity],
    work: impl FnOnce(&ContactConstraint, &mut [ConstraintPoint], &mut PairMotion),
) {
    let (index_a, index_b) = (constraint.a as usize, constraint.b as usize);
    let mut motion = PairMotion { a: velocities[index_a], b: velocities[index_b] };
    work(constraint, &mut points[constraint.range()], &mut motion);
    velocities[index_a].take(&motion.a);
    velocities[index_b].take(&motion.b);
}

/// Lists the constraint of a pair once it is solved, and from then on takes over what the pair knows. Returns whether
/// the constraint is new, or has changed.
#[inline]
fn list(pair: &mut ContactPair, solved: bool, constraints: &mut Vec<ContactConstraint>) -> bool {
    match pair.listed {
        Some(place) => {
            let constraint = &mut constraints[place as usize];
            let count = if solved { pair.count } else { 0 };
            let counts = core::mem::replace(&mut constraint.count, count) != count;
            let renewed = core::mem::take(&mut pair.renewed);
            if renewed {
                constraint.follow(pair);
            }
            counts || renewed
        }
        None if solved => {
            pair.renewed = false;
            pair.listed = Some(constraints.len() as u32);
            constraints.push(ContactConstraint::new(pair));
            true
        }
        None => false,
    }
}

/// Lets gravity pull on bodies although they slept. What has an infinite mass does not fall, and stays as
/// it is: a floor that one body moves on wakes no other one.
fn stir(shifts: &mut [BodyShift], bodies: &[SolverBody], stirred: impl IntoIterator<Item = u32>) {
    for body in stirred {
        shifts[body as usize].stirred |= !bodies[body as usize].has_infinite_mass();
    }
}

/// Returns the least body of an island, and shortens the way to it.
fn root(parents: &mut [u32], body: u32) -> u32 {
    let mut at = body;
    while parents[at as usize] != at {
        let next = parents[at as usize];
        parents[at as usize] = parents[next as usize];
        at = next;
    }
    at
}

/// Returns what a pair reads of its bodies.
fn view<'a>(pair: [u32; 2], set: &'a ActiveSet, shifts: &'a [BodyShift]) -> PairView<'a> {
    let [a, b] = pair.map(|body| body as usize);
    let ActiveSet { bodies, velocities, outlines, .. } = set;
    PairView {
        bodies: [&bodies[a], &bodies[b]],
        velocities: [&velocities[a], &velocities[b]],
        shifts: [&shifts[a], &shifts[b]],
        hulls: &outlines.hulls,
    }
}
