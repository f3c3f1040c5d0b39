//! A pair of bodies at least one of which is a compound: a contact constraint for each pair of their parts
//! that is near, and one touch of the two bodies.
//!
//! Such pairs are kept apart from the others, which cost nothing more because of them.

use metatopia_math::Fx;
use metatopia_types::ObjectId;

use crate::broad_phase::PairKey;
use crate::constraint::ConstraintPoint;
use crate::contact::{Contact, ContactPoints, PartContact};
use crate::contact_pair::{ContactPair, PairView};
use crate::fixed::Q20;
use crate::limits::{COMPOUND_PARTS_MAX, PART_PAIRS_MAX};
use crate::narrow_phase::{Manifold, collide};
use crate::outline::{Outlines, SolverPart};
use crate::solver_body::{BodyVelocity, SolverBody};
use crate::touch::{Hit, Touch};

/// Two bodies whose boxes overlap, at least one of which is a compound.
#[derive(Clone, Debug)]
pub(crate) struct CompoundPair {
    /// What a pair of parts begins as.
    blank: ContactPair,
    /// Whether the two touched in the step before.
    touched_before: bool,
    /// Whether the shapes have been looked at in this step.
    detected: bool,
    /// The pairs of parts that are near, or were in this step or before it, in the order of their numbers.
    pub(crate) parts: Vec<PartPair>,
}

/// A pair of parts during one step.
#[derive(Clone, Debug)]
pub(crate) struct PartPair {
    /// The number of the two parts, see [`PartContact::parts`].
    number: u8,
    pub(crate) pair: ContactPair,
}

impl CompoundPair {
    /// Prepares a pair for a step, with the impulses of its contact of the step before.
    pub(crate) fn new(
        key: PairKey,
        bodies: &[SolverBody],
        outlines: &Outlines,
        before: Option<&Contact>,
        points: &mut Vec<ConstraintPoint>,
    ) -> Self {
        let blank = ContactPair::new(key, bodies, false);
        let mut parts = Vec::new();
        if let Some(ContactPoints::OfParts(stored)) = before.map(|contact| &contact.points) {
            let [of_a, of_b] = [blank.a, blank.b]
                .map(|body| outlines.parts_of(bodies[body as usize].outline).len().max(1));
            for PartContact { parts: number, points: stored } in stored {
                // A state from elsewhere may name parts that are not there.
                let (a, b) = part_indices(*number);
                if a < of_a && b < of_b {
                    let mut pair = blank.clone();
                    pair.warm_start(stored, points);
                    parts.push(PartPair { number: *number, pair });
                }
            }
        }
        Self { blank, touched_before: before.is_some(), detected: false, parts }
    }

    /// Returns the indices of the two bodies.
    pub(crate) const fn bodies(&self) -> [u32; 2] {
        [self.blank.a, self.blank.b]
    }

    /// Finds where the parts meet, unless what was found before in this step still holds. Returns whether the
    /// two push each other, if they meet; two sleeping bodies are left as they are.
    pub(crate) fn refresh(
        &mut self,
        view: PairView<'_>,
        outlines: &Outlines,
        points: &mut Vec<ConstraintPoint>,
    ) -> bool {
        if view.is_asleep() {
            return false;
        }
        let holds = view.holds();
        if !self.detected || !holds {
            self.detect(view, outlines, holds, points);
        }
        self.blank.has_response
    }

    fn detect(
        &mut self,
        view: PairView<'_>,
        outlines: &Outlines,
        holds: bool,
        points: &mut Vec<ConstraintPoint>,
    ) {
        self.detected = true;
        let found = manifolds(view, outlines, view.margin(holds));
        for part in &mut self.parts {
            if found.binary_search_by_key(&part.number, |(number, _)| *number).is_err() {
                part.pair.take(&Manifold::default(), view, points);
            }
        }
        for (number, manifold) in found {
            let place = self.parts.binary_search_by_key(&number, |part| part.number);
            let place = place.unwrap_or_else(|place| {
                self.parts.insert(place, PartPair { number, pair: self.blank.clone() });
                place
            });
            self.parts[place].pair.take(&manifold, view, points);
        }
    }

    /// Notes which parts touch at the end of the step.
    pub(crate) fn finish(
        &mut self,
        view: PairView<'_>,
        outlines: &Outlines,
        points: &[ConstraintPoint],
    ) {
        if view.is_asleep() {
            return;
        }
        if !self.blank.has_response {
            self.detect(view, outlines, false, &mut Vec::new());
            return;
        }
        for part in &mut self.parts {
            part.pair.settle(view.shifts, points);
        }
    }

    fn pairs(&self) -> impl Iterator<Item = &ContactPair> + Clone {
        self.parts.iter().map(|part| &part.pair)
    }

    fn touched(&self) -> bool {
        self.pairs().any(|pair| pair.touched)
    }

    /// Returns the impulse along the normals over the whole step.
    fn newton_seconds(&self, points: &[ConstraintPoint]) -> Fx {
        let impulses = self.pairs().map(|pair| pair.newton_seconds(points));
        impulses.fold(Fx::ZERO, Fx::saturating_add)
    }

    /// Returns the event of this step if a touch of the two bodies began in it. It has the point of the parts
    /// that met hardest, of several the first ones.
    pub(crate) fn began(&self, [a, b]: [ObjectId; 2], points: &[ConstraintPoint]) -> Option<Touch> {
        if self.touched_before {
            return None;
        }
        let touched = self.pairs().filter(|pair| pair.touched);
        let hardest = first_greatest(touched, |pair| pair.newton_seconds(points))?.0;
        let point = hardest.touch_point.vec2();
        Some(Touch::Began { a, b, point, impulse: self.newton_seconds(points) })
    }

    /// Returns the hit of this step, if any parts met at no less than a speed, with the point of those that
    /// met fastest. `before` are the velocities of both bodies at its beginning.
    pub(crate) fn hit(
        &self,
        [a, b]: [ObjectId; 2],
        points: &[ConstraintPoint],
        before: [BodyVelocity; 2],
        least: Q20,
    ) -> Option<Hit> {
        let (fastest, speed) = first_greatest(self.pairs(), |pair| pair.approach(points, before))?;
        let speed = speed.filter(|speed| *speed >= least)?;
        let (point, impulse) = (fastest.touch_point.vec2(), self.newton_seconds(points));
        Some(Hit { a, b, point, speed: speed.fx(), impulse })
    }

    /// Returns the contact that the next step starts from, or nothing if the two are apart.
    pub(crate) fn contact(
        &self,
        [a, b]: [ObjectId; 2],
        points: &[ConstraintPoint],
    ) -> Option<Contact> {
        let within_margin = !self.detected || self.pairs().any(|pair| pair.within_margin);
        let lasts = self.touched() || (self.touched_before && within_margin);
        let stored = self.parts.iter().filter_map(|PartPair { number, pair }| {
            let points = pair.stored(points);
            // A point without impulses is as good as one that is new.
            let pushes = points.iter().flatten().any(|point| !point.is_idle());
            pushes.then_some(PartContact { parts: *number, points })
        });
        lasts.then(|| {
            let stored: Box<[PartContact]> = stored.collect();
            let contact = Contact::bare(a, b);
            if stored.is_empty() {
                return contact;
            }
            Contact { points: ContactPoints::OfParts(stored), ..contact }
        })
    }
}

/// Returns the greatest of some pairs by a measure, and the measure; of several, the first one.
fn first_greatest<'a, T: PartialOrd>(
    pairs: impl Iterator<Item = &'a ContactPair>,
    measure: impl Fn(&ContactPair) -> T,
) -> Option<(&'a ContactPair, T)> {
    let measured = pairs.map(|pair| (pair, measure(pair)));
    measured.reduce(|best, next| if next.1 > best.1 { next } else { best })
}

/// Returns the number of two parts.
const fn part_number(a: usize, b: usize) -> u8 {
    (a * COMPOUND_PARTS_MAX + b) as u8
}

/// Returns the indices of the two parts with a number.
const fn part_indices(number: u8) -> (usize, usize) {
    (number as usize / COMPOUND_PARTS_MAX, number as usize % COMPOUND_PARTS_MAX)
}

/// Returns the manifolds of all pairs of parts with points up to a separation of `margin`, in the order of
/// their numbers: at most [`PART_PAIRS_MAX`], the deepest.
fn manifolds(view: PairView<'_>, outlines: &Outlines, margin: Q20) -> Vec<(u8, Manifold)> {
    let [a, b] = view.bodies;
    if a.is_apart_from(b, margin) {
        return Vec::new();
    }
    let [parts_a, parts_b] = [a, b].map(|body| alone(body, outlines));
    let mut found = Vec::new();
    for (index_a, part_a) in parts_a.iter().enumerate() {
        for (index_b, part_b) in parts_b.iter().enumerate() {
            if part_a.is_apart_from(part_b, margin) {
                continue;
            }
            let mut manifold = collide(part_a, part_b, view.hulls, margin);
            let count = manifold.count;
            for point in &mut manifold.points[..count] {
                point.anchor_a = point.anchor_a + (part_a.position - a.position);
                point.anchor_b = point.anchor_b + (part_b.position - b.position);
            }
            if count > 0 {
                found.push((part_number(index_a, index_b), manifold));
            }
        }
    }
    if found.len() > PART_PAIRS_MAX {
        found.sort_by_key(|(_, manifold)| manifold.points().iter().map(|p| p.separation).min());
        found.truncate(PART_PAIRS_MAX);
        found.sort_by_key(|(number, _)| *number);
    }
    found
}

/// Returns a body of each part of a body alone, where it is now.
fn alone(body: &SolverBody, outlines: &Outlines) -> Vec<SolverBody> {
    let of_part = |part: &SolverPart| {
        let mut alone = *body;
        alone.outline = part.outline;
        alone.position = body.position + part.offset.rotated(body.facing);
        alone.facing = body.facing.rotated(part.facing).normalised();
        alone.mass_props.bounding_radius = part.bounding_radius;
        alone
    };
    match outlines.parts_of(body.outline) {
        [] => vec![*body],
        parts => parts.iter().map(of_part).collect(),
    }
}
