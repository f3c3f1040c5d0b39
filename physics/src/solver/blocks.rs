//! The contacts of a step in blocks of four, each contact after all that it waits for.
//!
//! A contact sees the velocities that the contacts before it left of its two bodies, and of no others. So whatever
//! order keeps the contacts of each body in the order of the list gives the same bits. A block takes over what the
//! solver works on; [`Blocks::give_back`] brings the impulses back.

use super::block::ContactBlock;
use super::iteration::ContactConstraint;
use crate::constraint::ConstraintPoint;
use crate::motion::Motion;
use crate::solver_body::{BodyShift, BodyVelocity, SolverBody};

/// What a contact has that is in no block, and a static body, which no contact waits for.
const NONE: u32 = u32::MAX;

/// The contacts of a step. It is empty until they are taken in, and again after they are given back.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    is_filled: bool,
    /// The body that lanes without a contact push.
    nobody: u32,
    /// The blocks, in the order in which they are solved.
    order: Vec<BlockPlace>,
    single: Vec<ContactBlock<1>>,
    double: Vec<ContactBlock<2>>,
    /// How many blocks of either are in use.
    used: [usize; 2],
    /// For contacts with room for one point, and for those with room for two: from each place on the next one that may
    /// have a free lane for such a contact.
    next_free: [Vec<u32>; 2],
    /// The first place after the last contact of each body.
    after: Vec<u32>,
    /// The place of each contact, times four, and its lane.
    homes: Vec<u32>,
}

/// Where in the order a block is.
#[derive(Clone, Copy, Debug)]
struct BlockPlace {
    /// The index of the block among those of its kind.
    block: u32,
    is_double: bool,
    /// How many of its lanes are taken.
    lanes: u8,
}

impl Blocks {
    /// Returns whether the contacts are in blocks.
    pub(super) const fn is_filled(&self) -> bool {
        self.is_filled
    }

    /// Forgets what it holds.
    pub(super) const fn forget(&mut self) {
        self.is_filled = false;
    }

    /// Takes in all contacts of a step. There is one more velocity than there are bodies: nobody's.
    pub(super) fn fill(
        &mut self,
        constraints: &[ContactConstraint],
        points: &[ConstraintPoint],
        bodies: &[SolverBody],
    ) {
        self.is_filled = true;
        self.nobody = bodies.len() as u32;
        self.order.clear();
        self.used = [0; 2];
        self.next_free.iter_mut().for_each(Vec::clear);
        self.homes.clear();
        self.after.clear();
        let waits = |body: &SolverBody| if body.motion == Motion::Static { NONE } else { 0 };
        self.after.extend(bodies.iter().map(waits));
        for constraint in constraints {
            self.add(constraint, points);
        }
    }

    /// Gives back the impulses of all contacts.
    pub(super) fn give_back(
        &mut self,
        constraints: &[ContactConstraint],
        points: &mut [ConstraintPoint],
    ) {
        if self.is_filled {
            for (constraint, home) in constraints.iter().zip(&self.homes) {
                self.put(constraint, *home, points);
            }
            self.is_filled = false;
        }
    }

    /// Gives back the impulses of one contact, which may then change.
    #[inline]
    pub(super) fn give_back_one(
        &self,
        listed: Option<u32>,
        constraints: &[ContactConstraint],
        points: &mut [ConstraintPoint],
    ) {
        if let Some(index) = listed.filter(|_| self.is_filled) {
            self.put(&constraints[index as usize], self.homes[index as usize], points);
        }
    }

    /// Takes in a contact that is new at the end of the list, or that may have changed.
    pub(super) fn take(
        &mut self,
        listed: Option<u32>,
        constraints: &[ContactConstraint],
        points: &mut [ConstraintPoint],
    ) {
        let Some(index) = listed.filter(|_| self.is_filled) else { return };
        let constraint = &constraints[index as usize];
        let Some(&home) = self.homes.get(index as usize) else {
            self.add(constraint, points);
            return;
        };
        if home != NONE {
            self.set(constraint, home, points);
        } else if constraint.count > 0 {
            // It had nothing to solve, and has no place among those before and after it. With nothing in blocks any
            // more, this substep takes all contacts in anew before it solves them.
            self.give_back(constraints, points);
        }
    }

    /// Does what `iteration::warm_start` does with each contact.
    #[inline(never)]
    pub(super) fn warm_start(&mut self, velocities: &mut [BodyVelocity], shifts: &[BodyShift]) {
        for place in &self.order {
            if place.is_double {
                self.double[place.block as usize].warm_start(velocities, shifts);
            } else {
                self.single[place.block as usize].warm_start(velocities, shifts);
            }
        }
    }

    /// Does what `iteration::push_apart` does with each contact, or without `SOFT` what `iteration::relax` does.
    #[inline(never)]
    pub(super) fn solve<const SOFT: bool>(&mut self, velocities: &mut [BodyVelocity]) {
        for place in &self.order {
            if place.is_double {
                self.double[place.block as usize].solve::<SOFT>(velocities);
            } else {
                self.single[place.block as usize].solve::<SOFT>(velocities);
            }
        }
    }

    /// Adds a contact after all that it waits for, if there is something to solve.
    fn add(&mut self, constraint: &ContactConstraint, points: &[ConstraintPoint]) {
        if constraint.count == 0 {
            self.homes.push(NONE);
            return;
        }
        let ends = [constraint.a as usize, constraint.b as usize];
        let earliest = ends.map(|end| self.after[end]).into_iter().filter(|after| *after != NONE);
        let is_double = constraint.room > 1;
        let next_free = &mut self.next_free[usize::from(is_double)];
        let index = first_free(next_free, earliest.max().unwrap_or(0));
        if index as usize == self.order.len() {
            self.add_block(is_double);
        }
        let place = &mut self.order[index as usize];
        let home = index << 2 | u32::from(place.lanes);
        place.lanes += 1;
        if place.lanes == 4 {
            self.next_free[usize::from(is_double)][index as usize] = index + 1;
        }
        for end in ends {
            if self.after[end] != NONE {
                self.after[end] = index + 1;
            }
        }
        self.homes.push(home);
        self.set(constraint, home, points);
    }

    /// Adds an empty block at the end.
    fn add_block(&mut self, is_double: bool) {
        let index = self.order.len() as u32;
        let block = self.used[usize::from(is_double)];
        self.used[usize::from(is_double)] += 1;
        if is_double {
            renew(&mut self.double, block, self.nobody);
        } else {
            renew(&mut self.single, block, self.nobody);
        }
        self.order.push(BlockPlace { block: block as u32, is_double, lanes: 0 });
        self.next_free[usize::from(is_double)].push(index);
        self.next_free[usize::from(!is_double)].push(index + 1);
    }

    /// Takes over a contact as it is now.
    fn set(&mut self, constraint: &ContactConstraint, home: u32, points: &[ConstraintPoint]) {
        let (place, lane) = (self.order[(home >> 2) as usize], (home & 3) as usize);
        let (block, nobody) = (place.block as usize, self.nobody);
        match (constraint.count, place.is_double) {
            (0, false) => self.single[block].clear(lane, nobody),
            (0, true) => self.double[block].clear(lane, nobody),
            (_, false) => self.single[block].set(lane, constraint, points),
            (_, true) => self.double[block].set(lane, constraint, points),
        }
    }

    fn put(&self, constraint: &ContactConstraint, home: u32, points: &mut [ConstraintPoint]) {
        if home == NONE {
            return;
        }
        let (place, lane) = (self.order[(home >> 2) as usize], (home & 3) as usize);
        if place.is_double {
            self.double[place.block as usize].put(lane, constraint, points);
        } else {
            self.single[place.block as usize].put(lane, constraint, points);
        }
    }
}

/// Makes an empty block at this index, which is at most one beyond the last.
fn renew<const N: usize>(blocks: &mut Vec<ContactBlock<N>>, index: usize, nobody: u32) {
    match blocks.get_mut(index) {
        Some(block) => (0..4).for_each(|lane| block.clear(lane, nobody)),
        None => blocks.push(ContactBlock::new(nobody)),
    }
}

/// Returns the first place from here on that has a free lane, or the one beyond the last. It shortens the way there.
fn first_free(next_free: &mut [u32], from: u32) -> u32 {
    let mut at = from;
    while let Some(&next) = next_free.get(at as usize) {
        if next == at {
            break;
        }
        let beyond = next_free.get(next as usize).copied().unwrap_or(next);
        next_free[at as usize] = beyond;
        at = beyond;
    }
    at
}
