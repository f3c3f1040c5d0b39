//! The active set: which bodies take part in a step.
//!
//! In each substep an impulse passes from a body that moves to those that touch it, and no further.
//! So a step concerns the awake bodies, all bodies that they can meet, all that those can meet, and
//! so on for as many rings as there are substeps. The step leaves all others out: bodies that sleep
//! far from anything that moves cost nothing, and the result is the same as if every body had taken
//! part.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_types::ObjectId;

use crate::body::Body;
use crate::broad_phase::{self, PairKey, PairKind, SweepMemory, classify, pair_key, refill};
use crate::contact::Contact;
use crate::grid::Grid;
use crate::joint::Joint;
use crate::joint_store::JointStore;
use crate::limits::{PARTNERS_MAX, SUBSTEPS};
use crate::mass_props::MassProps;
use crate::outline::Outlines;
use crate::solver_body::{BodyVelocity, SolverBody};
use crate::surroundings::Surroundings;
use crate::sweep_body::{Aabb, SweepBodies, SweepBody};

#[cfg(test)]
mod tests;

/// If more than one in so many bodies is active, a step of all bodies costs less.
const ACTIVE_SHARE: usize = 8;

/// If finding the active set looks at more than so many bodies for each body of the region, a step of
/// all bodies costs less: a cell of the grid holds hundreds where small bodies lie close. To look at a
/// body costs about a sixth of what a body costs that takes part.
const LOOKS_PER_BODY: usize = 2;

/// So many looks are always worth it: a third of a millisecond.
const LOOKS_MIN: usize = 4_096;

/// The parts of a region that a step reads.
pub(crate) struct RegionView<'a> {
    /// What acts on all bodies.
    pub(crate) surroundings: Surroundings,
    /// All bodies, in id order. Indices below are indices into this list.
    pub(crate) bodies: &'a [Body],
    /// The mass properties of each body.
    pub(crate) mass_props: &'a [MassProps],
    /// All contacts, in id order.
    pub(crate) contacts: &'a [Contact],
    /// The indices of the bodies that are awake, in order.
    pub(crate) awake: Vec<u32>,
    /// The bodies that were removed since the last step and left contacts behind.
    pub(crate) removed: &'a [ObjectId],
    pub(crate) grid: &'a Grid,
    pub(crate) joints: &'a JointStore,
}

/// The bodies that take part in a step, and their pairs. A region keeps it for the sake of its memory.
#[derive(Debug, Default)]
pub(crate) struct ActiveSet {
    /// The indices of the bodies in the region that have no pair and no joint, in order. No other body changes
    /// what becomes of them, and the solver does without them.
    pub(crate) lone: Vec<u32>,
    /// The indices of the other bodies, in order. All that follows is of these.
    pub(crate) indices: Vec<u32>,
    pub(crate) ids: Vec<ObjectId>,
    /// For how many steps each body has been slow.
    pub(crate) slow_steps: Vec<u8>,
    pub(crate) bodies: Vec<SolverBody>,
    pub(crate) velocities: Vec<BodyVelocity>,
    /// What the outlines of the bodies refer to.
    pub(crate) outlines: Outlines,
    /// The pairs to solve, in order, by indices into this set.
    pub(crate) keys: Vec<PairKey>,
    /// The indices of the joints to solve, in order.
    pub(crate) joints: Vec<u32>,
    /// The bodies whose contacts the step makes anew, in order; `None` for all bodies.
    pub(crate) renewed: Option<Vec<ObjectId>>,
    swept: SweepBodies,
    sweep: SweepMemory,
    /// The index of each body of the region in this set, or [`LONE`].
    places: Vec<u32>,
}

/// The place of a body that has no pair and no joint.
const LONE: u32 = u32::MAX;

impl ActiveSet {
    /// Returns how many bodies take part in the step.
    pub(crate) const fn len(&self) -> usize {
        self.lone.len() + self.indices.len()
    }

    /// Makes the bodies of a region that have a pair or a joint its own, and gives its keys the indices that
    /// these have here.
    fn link(&mut self, view: &RegionView<'_>) {
        let Self { keys, lone, indices, places, .. } = self;
        places.clear();
        places.resize(view.bodies.len(), LONE);
        for (a, b) in keys.iter().map(|key| broad_phase::indices(*key)) {
            (places[a], places[b]) = (0, 0);
        }
        for end in view.joints.all().iter().flat_map(Joint::ends) {
            if let Ok(index) = view.bodies.binary_search_by_key(&end, |body| body.id) {
                places[index] = 0;
            }
        }
        lone.clear();
        indices.clear();
        for (index, place) in (0..).zip(&mut *places) {
            if *place == LONE {
                lone.push(index);
            } else {
                *place = indices.len() as u32;
                indices.push(index);
            }
        }
        if !lone.is_empty() {
            for key in keys {
                let (a, b) = broad_phase::indices(*key);
                *key = pair_key(places[a], places[b]);
            }
        }
    }

    /// Prepares its bodies for the solver.
    fn prepare(&mut self, view: &RegionView<'_>) {
        let Self { indices, ids, slow_steps, bodies, velocities, outlines, .. } = self;
        outlines.clear();
        let own = indices.iter().map(|index| *index as usize);
        let own = own.map(|index| (&view.bodies[index], &view.mass_props[index]));
        refill(bodies, own.clone().map(|(body, props)| SolverBody::new(body, props, outlines)));
        refill(velocities, own.clone().map(|(body, props)| BodyVelocity::new(body, props)));
        refill(ids, own.clone().map(|(body, _)| body.id));
        refill(slow_steps, own.map(|(body, _)| body.slow_steps));
    }
}

impl RegionView<'_> {
    /// Makes it the set of all bodies.
    pub(crate) fn all_bodies(&self, set: &mut ActiveSet) {
        set.swept.fill(self.bodies, self.mass_props);
        broad_phase::find_pairs(&set.swept, self.bodies, &mut set.sweep, &mut set.keys);
        set.link(self);
        set.prepare(self);
        set.joints.clear();
        set.joints.extend(0..self.joints.all().len() as u32);
        set.renewed = None;
    }

    /// Makes it the set of the bodies that something can happen to. Returns `None` if they are so many
    /// that a step of all bodies costs less.
    pub(crate) fn active_bodies(&self, set: &mut ActiveSet) -> Option<()> {
        let max = self.bodies.len() / ACTIVE_SHARE;
        if self.awake.len() > max {
            return None;
        }
        let looks = (self.bodies.len() * LOOKS_PER_BODY).max(LOOKS_MIN);
        let mut finder =
            PairFinder { view: self, looks, neighbours: BTreeMap::new(), along_x: None };
        let mut members: BTreeSet<u32> = self.awake.iter().copied().collect();
        let mut movers = members.clone();
        let (mut keys, mut joints) = (BTreeSet::new(), BTreeSet::new());
        let mut ring = self.awake.clone();
        for _ in 0..SUBSTEPS {
            let mut next = Vec::new();
            for index in ring {
                if members.len() > max {
                    return None;
                }
                for PairCandidate { other, movable } in finder.pairs_of(index)? {
                    members.insert(other);
                    keys.insert(pair_key(index, other));
                    if movable && movers.insert(other) {
                        next.push(other);
                    }
                }
                for (joint, other) in self.joined(index) {
                    joints.insert(joint);
                    if let Some((other, movable)) = other {
                        members.insert(other);
                        if movable && movers.insert(other) {
                            next.push(other);
                        }
                    }
                }
            }
            ring = next;
        }
        // The last ring may be moved, but nothing follows from that in this step. Its contacts with
        // bodies outside of the set stay as they are.
        let last: BTreeSet<u32> = ring.into_iter().collect();
        let moving = movers.difference(&last).map(|index| self.bodies[*index as usize].id);
        let mut renewed: Vec<ObjectId> = moving.chain(self.removed.iter().copied()).collect();
        renewed.sort_unstable();
        let indices: Vec<u32> = members.into_iter().collect();
        let index_in_set = |index: usize| {
            let found = indices.binary_search(&(index as u32));
            found.expect("a body of a pair is in the set") as u32
        };
        let local = |key| {
            let (a, b) = broad_phase::indices(key);
            pair_key(index_in_set(a), index_in_set(b))
        };
        set.keys.clear();
        set.keys.extend(keys.into_iter().map(local));
        set.joints.clear();
        set.joints.extend(joints);
        set.renewed = Some(renewed);
        set.lone.clear();
        set.indices = indices;
        set.prepare(self);
        Some(())
    }

    /// Returns the joints that hold a body, by their indices, each with the body at its other end and whether
    /// that one has a finite mass.
    fn joined(&self, index: u32) -> impl Iterator<Item = (u32, Option<(u32, bool)>)> {
        let id = self.bodies[index as usize].id;
        self.joints.of_body(id).map(move |joint| {
            let other = self.joints.all()[joint].ends().find(|end| *end != id);
            let other = other.and_then(|other| {
                let found = self.bodies.binary_search_by_key(&other, |body| body.id).ok()?;
                Some((found as u32, self.mass_props[found].inverse_mass != 0))
            });
            (joint as u32, other)
        })
    }

    /// Returns a body, and the box that it stays in during this step.
    fn boxed(&self, index: u32) -> (SweepBody, Aabb) {
        let (body, props) = (&self.bodies[index as usize], &self.mass_props[index as usize]);
        (SweepBody::of(body, props), Aabb::of(body, props, &mut Outlines::default()))
    }

    /// Returns the bodies whose boxes overlap that of a body, with their indices, in order, and takes
    /// the bodies that it looked at off `looks`; `None` if there are not so many looks left.
    fn overlapping(
        &self,
        index: u32,
        aabb: Aabb,
        looks: &mut usize,
    ) -> Option<Vec<(u32, SweepBody)>> {
        let candidates: Vec<ObjectId> = self.grid.query(aabb).take(*looks + 1).collect();
        *looks = looks.checked_sub(candidates.len())?;
        let near = candidates.into_iter().filter_map(|id| {
            let other = self.bodies.binary_search_by_key(&id, |body| body.id).ok()? as u32;
            let (other_body, other_box) = self.boxed(other);
            let overlaps = other != index && other_box.overlaps(&aabb);
            overlaps.then_some((other, other_body))
        });
        let mut near: Vec<(u32, SweepBody)> = near.collect();
        near.sort_unstable_by_key(|(index, _)| *index);
        Some(near)
    }
}

/// A body that may form a pair with another one.
#[derive(Clone, Copy)]
struct PairCandidate {
    other: u32,
    /// Whether the two push each other, and the other one has a finite mass.
    movable: bool,
}

/// The surroundings of a body.
struct BodyNeighbours {
    /// All bodies that its kind is concerned with, whichever of the two the pair counts for.
    all: Vec<PairCandidate>,
    /// The bodies with which the pair counts for this body, within [`PARTNERS_MAX`], in order.
    counted: Vec<u32>,
}

impl BodyNeighbours {
    fn counts(&self, other: u32) -> bool {
        self.counted.binary_search(&other).is_ok()
    }
}

/// Finds the pairs of single bodies, and looks at the surroundings of each body only once.
struct PairFinder<'a> {
    view: &'a RegionView<'a>,
    /// How many bodies may still be looked at.
    looks: usize,
    neighbours: BTreeMap<u32, BodyNeighbours>,
    /// Whether the broad phase sweeps along the x axis; `None` until it is needed.
    along_x: Option<bool>,
}

impl PairFinder<'_> {
    /// Returns the pairs of a body that a step of all bodies would look at; `None` if no looks are left.
    fn pairs_of(&mut self, index: u32) -> Option<Vec<PairCandidate>> {
        let all = self.neighbours_of(index)?.all.clone();
        let mut pairs = Vec::with_capacity(all.len());
        for candidate in all {
            let other = candidate.other;
            if self.neighbours_of(index)?.counts(other) || self.neighbours_of(other)?.counts(index)
            {
                pairs.push(candidate);
            }
        }
        Some(pairs)
    }

    fn neighbours_of(&mut self, index: u32) -> Option<&BodyNeighbours> {
        if !self.neighbours.contains_key(&index) {
            let found = self.find_neighbours(index)?;
            self.neighbours.insert(index, found);
        }
        self.neighbours.get(&index)
    }

    fn find_neighbours(&mut self, index: u32) -> Option<BodyNeighbours> {
        let (body, aabb) = self.view.boxed(index);
        let (mut all, mut counted) = (Vec::new(), [const { Vec::new() }; PairKind::COUNT]);
        for (other, other_body) in self.view.overlapping(index, aabb, &mut self.looks)? {
            // The same order of the two as in the sweep, so that both count a pair alike.
            let classified = if index < other {
                classify((index, &body), (other, &other_body))
            } else {
                classify((other, &other_body), (index, &body))
            };
            let Some((owner, kind)) = classified else { continue };
            let pushes = !body.is_sensor() && !other_body.is_sensor();
            all.push(PairCandidate { other, movable: pushes && !other_body.has_infinite_mass() });
            if owner == index {
                counted[kind as usize].push(other);
            }
        }
        for partners in &mut counted {
            self.truncate(index, partners);
        }
        let mut counted = counted.concat();
        counted.sort_unstable();
        Some(BodyNeighbours { all, counted })
    }

    /// Keeps at most [`PARTNERS_MAX`] partners: those that the sweep of all bodies finds first.
    fn truncate(&mut self, index: u32, partners: &mut Vec<u32>) {
        if partners.len() <= usize::from(PARTNERS_MAX) {
            return;
        }
        let bodies = self.view.bodies;
        let along_x = *self
            .along_x
            .get_or_insert_with(|| broad_phase::sweeps_along_x(bodies.iter().map(|b| b.position)));
        let begins = |index: u32| {
            let low = self.view.boxed(index).1.low;
            (if along_x { low.x.0 } else { low.y.0 }, index)
        };
        let own = begins(index);
        partners.sort_by_cached_key(|other| {
            let other = begins(*other);
            (own.min(other), own.max(other))
        });
        partners.truncate(usize::from(PARTNERS_MAX));
    }
}
