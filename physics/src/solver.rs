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
use crate::contact_pair::{ContactPair, PairView};
use crate::limits::SUBSTEPS;
use crate::motion::Motion;
use crate::solver_body::{BodyShift, SolverBody};
use crate::surroundings::Surroundings;

mod hold_block;
mod iteration;
mod joint_row;
mod joints;
mod softness;

use iteration::{ContactConstraint, PairMotion, apply_restitution, push_apart, relax, warm_start};
pub(crate) use iteration::{NORMAL_IMPULSE_MAX, TANGENT_IMPULSE_MAX};
pub(crate) use joint_row::JOINT_IMPULSE_MAX;
pub(crate) use joints::JointConstraint;
pub(crate) use softness::{STIFF, Softness};

/// The bodies and pairs of one step. A region keeps it for the sake of its memory.
#[derive(Debug, Default)]
pub(crate) struct Solver {
    surroundings: Surroundings,
    /// The bodies, which the solver moves.
    pub(crate) set: ActiveSet,
    shifts: Vec<BodyShift>,
    pub(crate) pairs: Vec<ContactPair>,
    /// The pairs of compounds, in id order.
    pub(crate) compounds: Vec<CompoundPair>,
    /// The points of all pairs, see [`ContactPair::first`].
    pub(crate) points: Vec<ConstraintPoint>,
    /// The pairs that have had a constraint in this step, in the order in which they first had it; in one
    /// substep, in id order.
    constraints: Vec<ContactConstraint>,
    /// Whether any of them has restitution.
    bounces: bool,
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
        for _ in 0..SUBSTEPS {
            self.begin_substep();
            self.apply_forces();
            for joint in &mut self.joints {
                joint.warm_start(&self.set.bodies, &mut self.set.velocities);
            }
            self.each_constraint(warm_start);
            for joint in &mut self.joints {
                joint.solve(&mut self.set.velocities);
            }
            self.each_constraint(|of, points, motion, _| push_apart(of, points, motion));
            self.integrate_positions();
            for joint in &mut self.joints {
                joint.relax(&self.set.bodies, &mut self.set.velocities);
            }
            self.each_constraint(|of, points, motion, _| relax(of, points, motion));
            if self.bounces {
                self.each_constraint(|of, points, motion, _| apply_restitution(of, points, motion));
            }
        }
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
        for (shift, velocity) in self.shifts.iter_mut().zip(&self.set.velocities) {
            shift.begin_substep(velocity);
        }
        let falls = !self.surroundings.gravity.is_zero();
        for pair in &mut self.pairs {
            let shifts = [pair.a, pair.b].map(|body| &self.shifts[body as usize]);
            // It is listed as it is. If it is solved, then from an earlier substep on, and its bodies are stirred.
            if pair.is_known(shifts) {
                continue;
            }
            let view = view([pair.a, pair.b], &self.set, &self.shifts);
            let solved = pair.refresh(view, &mut self.points);
            if solved && falls {
                stir(&mut self.shifts, &self.set.bodies, [pair.a, pair.b]);
            }
            self.bounces |= solved && !pair.restitution.is_zero();
            list(pair, solved, &mut self.constraints);
        }
        for compound in &mut self.compounds {
            let view = view(compound.bodies(), &self.set, &self.shifts);
            let pushes = compound.refresh(view, &self.set.outlines, &mut self.points);
            let mut any_solved = false;
            for part in &mut compound.parts {
                let solved = pushes && part.pair.begin(view, &mut self.points);
                any_solved |= solved;
                self.bounces |= solved && !part.pair.restitution.is_zero();
                list(&mut part.pair, solved, &mut self.constraints);
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
            let (index_a, index_b) = (constraint.a as usize, constraint.b as usize);
            let first = constraint.first as usize;
            let points = &mut points[first..first + usize::from(constraint.count)];
            let mut motion = PairMotion { a: velocities[index_a], b: velocities[index_b] };
            work(constraint, points, &mut motion, shifts);
            velocities[index_a].take(&motion.a);
            velocities[index_b].take(&motion.b);
        }
    }
}

/// Lists the constraint of a pair once it is solved, and from then on takes over what the pair knows.
#[inline]
fn list(pair: &mut ContactPair, solved: bool, constraints: &mut Vec<ContactConstraint>) {
    match pair.listed {
        Some(place) => {
            let constraint = &mut constraints[place as usize];
            constraint.count = if solved { pair.count } else { 0 };
            if core::mem::take(&mut pair.renewed) {
                constraint.follow(pair);
            }
        }
        None if solved => {
            pair.renewed = false;
            pair.listed = Some(constraints.len() as u32);
            constraints.push(ContactConstraint::new(pair));
        }
        None => {}
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
