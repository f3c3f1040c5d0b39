//! Pairs that are kept over the steps, so that most steps sort and sweep nothing.
//!
//! A body's kept box holds the box that it has in a step, and what it reaches in the next steps at the speed that it
//! has. While each body is inside its kept box, two boxes can overlap only where their kept boxes do: these are the
//! candidates, and a step looks at them alone. Once any body leaves its kept box, or is another one than it was, all
//! boxes and candidates are made anew. So what is kept decides how long a step takes, and never what it finds.

use super::{
    PairKey, PairKind, SweepMemory, classified, entry, indices, refill, sort_into_strips,
    sweep_sorted_strips, sweeps_along_x,
};
use crate::body::Body;
use crate::fixed::{Q20, Vector};
use crate::limits::{PARTNERS_MAX, STEPS_PER_SECOND};
use crate::motion::Motion;
use crate::sweep_body::{Aabb, SweepBodies, SweepBody};

/// The steps whose way a kept box holds.
const STEPS_AHEAD: i32 = 8;
/// How much further, in metres, a body may get where bodies are near each other: an eighth, as far as it falls
/// from rest in nine steps. With a quarter, a pile of 5,000 balls and crates had half as many candidates more.
const ROOM_IN_CROWD: i32 = Q20::ONE.0 >> 3;
/// How much further, in metres, where few are near each other: what stood still is hit there now and then, and goes
/// away fast. With an eighth, candidates of 10,000 bodies served three steps, and eleven with this.
const ROOM_ALONE: i32 = Q20::ONE.0;
/// With more candidates for each body than one in so many, bodies are near each other.
const BODIES_PER_CANDIDATE: usize = 2;
/// So many candidates for each body are worth keeping. A heap in one place has more.
const CANDIDATES_PER_BODY: usize = 8;
/// Candidates that served fewer steps than this cost more than they saved.
const STEPS_MIN: u32 = 2;
/// The steps until candidates are made again where they were not worth it.
const PAUSE: u32 = 16;

/// Two bodies whose boxes may overlap.
#[derive(Clone, Copy, Debug)]
struct CandidatePair {
    key: PairKey,
    kind: PairKind,
    /// Whether the pair counts for the first body of the key.
    counts_for_first: bool,
}

/// The pairs whose boxes may overlap while the bodies stay in their kept boxes.
#[derive(Debug, Default)]
pub(super) struct KeptPairs {
    bodies: Vec<SweepBody>,
    boxes: Vec<Aabb>,
    /// Whether bodies were near each other when the boxes were made.
    is_crowded: bool,
    /// In id order.
    candidates: Vec<CandidatePair>,
    /// The steps that the candidates have served.
    served: u32,
    /// The steps until candidates are made again.
    pause: u32,
}

impl KeptPairs {
    /// Finds the pairs of a step, in id order. Returns `None` if that takes a whole sweep: where a body has more
    /// partners than it may have, or where too much is near each other or moves too wildly for pairs to be kept.
    pub(super) fn find(
        &mut self,
        swept: &SweepBodies,
        bodies: &[Body],
        memory: &mut SweepMemory,
        found: &mut Vec<PairKey>,
    ) -> Option<()> {
        if self.pause > 0 {
            self.pause -= 1;
            return None;
        }
        if !self.holds(swept) {
            let served = core::mem::take(&mut self.served);
            let is_worth_it = self.candidates.is_empty() || served >= STEPS_MIN;
            if !is_worth_it || self.renew(swept, bodies, memory).is_none() {
                return self.give_up();
            }
        }
        self.served += 1;
        if self.overlapping(&swept.boxes, &mut memory.partners, found).is_none() {
            return self.give_up();
        }
        Some(())
    }

    /// Returns how many steps the candidates have served.
    #[cfg(test)]
    pub(super) const fn served(&self) -> u32 {
        self.served
    }

    /// Forgets the candidates for some steps.
    fn give_up(&mut self) -> Option<()> {
        self.bodies.clear();
        self.boxes.clear();
        self.candidates.clear();
        (self.served, self.pause) = (0, PAUSE);
        None
    }

    /// Returns whether all bodies are in their kept boxes, and meet whom they met.
    fn holds(&self, swept: &SweepBodies) -> bool {
        let kept = self.bodies.iter().zip(&self.boxes);
        self.bodies.len() == swept.bodies.len()
            && kept
                .zip(swept.bodies.iter().zip(&swept.boxes))
                .all(|((kept, kept_box), (body, aabb))| kept_box.holds(aabb) && kept == body)
    }

    /// Makes the boxes and the candidates anew. Returns `None` if there are too many candidates.
    fn renew(
        &mut self,
        swept: &SweepBodies,
        bodies: &[Body],
        memory: &mut SweepMemory,
    ) -> Option<()> {
        self.bodies.clone_from(&swept.bodies);
        let count = bodies.len();
        let few = count / BODIES_PER_CANDIDATE;
        if !self.is_crowded && self.collect((ROOM_ALONE, few), swept, bodies, memory).is_some() {
            return Some(());
        }
        let most = count * CANDIDATES_PER_BODY;
        self.collect((ROOM_IN_CROWD, most), swept, bodies, memory)?;
        // Far fewer, so that the next boxes are not made twice.
        self.is_crowded = self.candidates.len() > few / 8;
        Some(())
    }

    /// Makes boxes with so much room, and collects the candidates. Returns `None` if there are more than a number.
    fn collect(
        &mut self,
        (room, candidates_max): (i32, usize),
        swept: &SweepBodies,
        bodies: &[Body],
        memory: &mut SweepMemory,
    ) -> Option<()> {
        let Self { bodies: kept, boxes, candidates, .. } = self;
        refill(boxes, swept.boxes.iter().zip(bodies).map(|(aabb, body)| ahead(aabb, body, room)));
        candidates.clear();
        let along_x = sweeps_along_x(swept.boxes.iter().map(Aabb::centre));
        let entries = (0_u32..).zip(&*boxes).map(|(index, aabb)| entry(index, aabb, along_x));
        refill(&mut memory.unsorted, entries);
        sort_into_strips(memory)?;
        sweep_sorted_strips(memory, |first, second| {
            if let Some((key, owner, kind)) = classified(first, second, kept) {
                let counts_for_first = owner as usize == indices(key).0;
                candidates.push(CandidatePair { key, kind, counts_for_first });
            }
            (candidates.len() <= candidates_max).then_some(())
        })?;
        candidates.sort_unstable_by_key(|candidate| candidate.key);
        Some(())
    }

    /// Finds the candidates whose boxes overlap now. Returns `None` if a body has more partners than it may have.
    fn overlapping(
        &self,
        boxes: &[Aabb],
        partners: &mut Vec<[u8; PairKind::COUNT]>,
        found: &mut Vec<PairKey>,
    ) -> Option<()> {
        found.clear();
        partners.clear();
        partners.resize(boxes.len(), [0; PairKind::COUNT]);
        for candidate in &self.candidates {
            let (a, b) = indices(candidate.key);
            if !boxes[a].overlaps(&boxes[b]) {
                continue;
            }
            let owner = if candidate.counts_for_first { a } else { b };
            let count = &mut partners[owner][candidate.kind as usize];
            if *count == PARTNERS_MAX {
                return None;
            }
            *count += 1;
            found.push(candidate.key);
        }
        Some(())
    }
}

/// Returns the kept box of a body with this box: with room for the way of the next steps, and for what may happen to
/// it. What is static keeps its own.
fn ahead(aabb: &Aabb, body: &Body, room: i32) -> Aabb {
    if body.motion == Motion::Static {
        return *aabb;
    }
    // It may turn around, so both ends have the room.
    let reach = |speed: Q20| speed.abs().0 / STEPS_PER_SECOND as i32 * STEPS_AHEAD + room;
    let (x, y) = (reach(body.velocity.x), reach(body.velocity.y));
    let moved = |side: Q20, by: i32| Q20(side.0.saturating_add(by));
    Aabb {
        low: Vector::new(moved(aabb.low.x, -x), moved(aabb.low.y, -y)),
        high: Vector::new(moved(aabb.high.x, x), moved(aabb.high.y, y)),
    }
}
