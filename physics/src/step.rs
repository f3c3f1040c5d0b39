//! One step of a region: from its state to the changes and events of the step.

use std::borrow::Cow;

use metatopia_types::ObjectId;

use crate::active_set::RegionView;
use crate::body::MovedBody;
use crate::broad_phase::{indices, pair_key};
use crate::compound_pair::CompoundPair;
use crate::contact::{Contact, ContactPoints};
use crate::contact_pair::ContactPair;
use crate::fixed::Q20;
use crate::joint::{IMPULSES, JointEnd, JointSpec};
use crate::limits::PART_CONTACTS_MAX;
use crate::solver::{JointConstraint, Solver};
use crate::solver_body::{BodyVelocity, SolverBody};
use crate::touch::{Hit, Touch};

/// The result of a step.
pub(crate) struct StepResult {
    /// The bodies that changed, by their indices in the region, in no meaningful order.
    pub(crate) moved: Vec<(u32, MovedBody)>,
    /// The contacts, in id order, if any changed.
    pub(crate) contacts: Option<Vec<Contact>>,
    /// The beginnings of touches, then the ends, each in id order.
    pub(crate) touches: Vec<Touch>,
    pub(crate) joints: JointChanges,
    /// The hard hits, in id order, if they are asked for.
    pub(crate) hits: Vec<Hit>,
}

/// What a step makes of the joints, by their indices in the region.
#[derive(Default)]
pub(crate) struct JointChanges {
    /// The joints that last and have other impulses.
    pub(crate) updated: Vec<(u32, [Q20; IMPULSES])>,
    /// The joints that ended, in order.
    pub(crate) ended: Vec<(u32, JointEnd)>,
}

/// Simulates one step of the bodies of the solver's active set.
pub(crate) fn step(view: &RegionView<'_>, solver: &mut Solver) -> StepResult {
    prepare_joints(view, solver);
    let (before, unaffected) = split(view.contacts, solver.set.renewed.as_deref());
    let unpaired = make_pairs(solver, &before);
    solver.step(view.surroundings);
    let moved = moved(view, solver);
    let ids = &solver.set.ids;
    let pair_ids = |pair: &ContactPair| [ids[pair.a as usize], ids[pair.b as usize]];
    let points = &solver.points;
    let (mut touches, mut after) = (Vec::new(), Vec::with_capacity(before.len()));
    for pair in &solver.pairs {
        let ids = pair_ids(pair);
        touches.extend(pair.began(ids, points));
        after.extend(pair.contact(ids, points));
    }
    let compound_ids = |pair: &CompoundPair| pair.bodies().map(|body| ids[body as usize]);
    let compounds = &solver.compounds;
    touches.extend(compounds.iter().filter_map(|pair| pair.began(compound_ids(pair), points)));
    sort_if(!compounds.is_empty(), &mut touches, Touch::pair);
    let of_compounds = compounds.iter().filter_map(|pair| pair.contact(compound_ids(pair), points));
    after = merged(after, of_compounds.collect());
    after = merged(after, asleep(view, unpaired));
    touches.extend(ended(&before, &after));
    let all = |after| bounded(merged(unaffected, after), compounds.is_empty());
    let contacts = (*before != *after).then(|| all(after));
    let (joints, hits) = (joint_changes(view, solver), hits(view, solver));
    StepResult { moved, contacts, touches, joints, hits }
}

/// Makes the solver's joints of this step, and leaves out the pairs that a joint keeps from meeting.
fn prepare_joints(view: &RegionView<'_>, solver: &mut Solver) {
    let Solver { set, joints, .. } = solver;
    joints.clear();
    if set.joints.is_empty() {
        return;
    }
    let in_set = |id: ObjectId| set.ids.binary_search(&id).ok().map(|index| index as u32);
    let mut apart = Vec::new();
    for &index in &set.joints {
        let joint = &view.joints.all()[index as usize];
        let JointSpec { a, b, collide, .. } = joint.spec;
        // A joint that lost a body, also one whose id another body has now, holds nothing any more.
        let Some(b) = in_set(b).filter(|_| joint.lost.is_none()) else { continue };
        let ends = match a.map(in_set) {
            Some(None) => continue,
            Some(Some(a)) => (Some(a), b),
            None => (None, b),
        };
        if let Some(a) = ends.0.filter(|_| !collide) {
            apart.push(pair_key(a, b));
        }
        let plan = view.joints.plan(index as usize);
        joints.push(JointConstraint::new(index, ends, joint, plan, &set.bodies));
    }
    apart.sort_unstable();
    set.keys.retain(|key| apart.binary_search(key).is_err());
}

/// Returns the joints that changed, and those that ended: that broke, or lost a body before the step.
fn joint_changes(view: &RegionView<'_>, solver: &Solver) -> JointChanges {
    let all = view.joints.all();
    let lost = (0..).zip(all).filter_map(|(index, joint)| Some((index, joint.lost?)));
    let ended = lost.map(|(index, lost)| (index, JointEnd::Removed(lost))).collect();
    let mut changes = JointChanges { ended, updated: Vec::new() };
    for joint in &solver.joints {
        match joint.broke() {
            Some(end) => changes.ended.push((joint.index, end)),
            None if joint.impulses != all[joint.index as usize].impulses => {
                changes.updated.push((joint.index, joint.impulses));
            }
            None => {}
        }
    }
    changes.ended.sort_unstable_by_key(|(index, _)| *index);
    changes
}

/// Returns what hit harder than the region's threshold.
fn hits(view: &RegionView<'_>, solver: &Solver) -> Vec<Hit> {
    let Some(least) = view.surroundings.hit_speed else { return Vec::new() };
    let before = |pair: [u32; 2]| {
        pair.map(|index| solver.set.indices[index as usize] as usize)
            .map(|index| BodyVelocity::before(&view.bodies[index]))
    };
    let ids = |pair: [u32; 2]| pair.map(|index| solver.set.ids[index as usize]);
    let hit = |pair: &ContactPair| {
        let of = [pair.a, pair.b];
        pair.hit(ids(of), &solver.points, before(of), least)
    };
    let compound_hit = |pair: &CompoundPair| {
        let of = pair.bodies();
        pair.hit(ids(of), &solver.points, before(of), least)
    };
    let mut hits: Vec<Hit> = solver.pairs.iter().filter_map(hit).collect();
    hits.extend(solver.compounds.iter().filter_map(compound_hit));
    sort_if(!solver.compounds.is_empty(), &mut hits, |hit| (hit.a, hit.b));
    hits
}

/// Returns what the step makes of the bodies that it changed.
fn moved(view: &RegionView<'_>, solver: &Solver) -> Vec<(u32, MovedBody)> {
    let (set, slow) = (&solver.set, solver.slow_steps());
    let solved = set.indices.iter().zip(set.bodies.iter().zip(&set.velocities)).zip(slow);
    let solved = solved.map(|((index, (solved, velocity)), slow)| {
        (*index, &view.bodies[*index as usize], solved.finalize(velocity, slow))
    });
    let lone = set.lone.iter().map(|index| {
        let (body, props) = (&view.bodies[*index as usize], &view.mass_props[*index as usize]);
        (*index, body, SolverBody::moved_alone(body, props, &view.surroundings))
    });
    let mut all = Vec::with_capacity(set.len());
    for (index, body, moved) in solved.chain(lone) {
        if moved != MovedBody::of(body) {
            all.push((index, moved));
        }
    }
    all
}

/// Splits the contacts into those that the step makes anew and those that it leaves, each in order.
fn split<'a>(
    contacts: &'a [Contact],
    renewed: Option<&[ObjectId]>,
) -> (Cow<'a, [Contact]>, Vec<Contact>) {
    let Some(renewed) = renewed else {
        return (Cow::Borrowed(contacts), Vec::new());
    };
    let is_renewed = |id: ObjectId| renewed.binary_search(&id).is_ok();
    let (before, unaffected): (Vec<Contact>, _) = contacts
        .iter()
        .cloned()
        .partition(|contact| is_renewed(contact.a) || is_renewed(contact.b));
    (Cow::Owned(before), unaffected)
}

/// Merges two lists of contacts, each in order.
fn merged(some: Vec<Contact>, more: Vec<Contact>) -> Vec<Contact> {
    if some.is_empty() || more.is_empty() {
        return if some.is_empty() { more } else { some };
    }
    let mut all = Vec::with_capacity(some.len() + more.len());
    let (mut some, mut more) = (some.into_iter().peekable(), more.into_iter().peekable());
    while let (Some(one), Some(other)) = (some.peek(), more.peek()) {
        all.extend(if other.pair() < one.pair() { more.next() } else { some.next() });
    }
    all.extend(some);
    all.extend(more);
    all
}

/// Drops the impulses of all contacts of compounds but the first [`PART_CONTACTS_MAX`]. A step of no pair of compounds
/// has added none.
fn bounded(mut contacts: Vec<Contact>, is_plain: bool) -> Vec<Contact> {
    if is_plain {
        return contacts;
    }
    let of_parts = |contact: &&mut Contact| matches!(contact.points, ContactPoints::OfParts(_));
    for beyond in contacts.iter_mut().filter(of_parts).skip(PART_CONTACTS_MAX) {
        beyond.points = ContactPoints::NONE;
    }
    contacts
}

/// Sorts what is of two bodies by their ids, if it may be out of order.
fn sort_if<T>(may_be: bool, list: &mut [T], pair: impl Fn(&T) -> (ObjectId, ObjectId)) {
    if may_be {
        list.sort_by_key(pair);
    }
}

/// Keeps the contacts of two sleeping bodies, of contacts that are of no pair of this step.
///
/// Such a contact stays whether or not there is room for the pair
/// ([`PARTNERS_MAX`](crate::limits::PARTNERS_MAX)): what else is near, and what moves far away,
/// changes nothing about it.
fn asleep(view: &RegionView<'_>, mut contacts: Vec<Contact>) -> Vec<Contact> {
    let is_asleep = |id: ObjectId| {
        let index = view.bodies.binary_search_by_key(&id, |body| body.id);
        index.is_ok_and(|index| view.bodies[index].is_asleep())
    };
    contacts.retain(|contact| is_asleep(contact.a) && is_asleep(contact.b));
    contacts
}

/// Makes the solver's pairs of this step, each with its contact of the last one. Returns the contacts
/// that are of none of them.
fn make_pairs(solver: &mut Solver, contacts: &[Contact]) -> Vec<Contact> {
    let Solver { set, pairs, compounds, points, .. } = solver;
    let mut unpaired = Vec::new();
    let mut old = contacts.iter().peekable();
    pairs.clear();
    compounds.clear();
    points.clear();
    let plain = set.outlines.parts.is_empty();
    let is_compound = |index: usize| set.bodies[index].outline.is_compound();
    for key in &set.keys {
        let (a, b) = indices(*key);
        let ids: (ObjectId, ObjectId) = (set.ids[a], set.ids[b]);
        // Both lists are in id order, so one pass over the contacts finds each pair's own.
        while let Some(contact) = old.next_if(|contact| contact.pair() < ids) {
            unpaired.push(contact.clone());
        }
        let before = old.next_if(|contact| contact.pair() == ids);
        if plain || !(is_compound(a) || is_compound(b)) {
            pairs.push(ContactPair::new(*key, &set.bodies, before.is_some()));
            // In its place: to copy a pair costs as much as to make it.
            if let Some(Contact { points: ContactPoints::Whole(stored), .. }) = before
                && let Some(pair) = pairs.last_mut()
            {
                pair.warm_start(stored, points);
            }
        } else {
            let outlines = &set.outlines;
            compounds.push(CompoundPair::new(*key, &set.bodies, outlines, before, points));
        }
    }
    unpaired.extend(old.cloned());
    unpaired
}

/// Returns the ends of the contacts that are no longer there. Both lists are in id order.
pub(crate) fn ended<'a>(
    before: &'a [Contact],
    after: &'a [Contact],
) -> impl Iterator<Item = Touch> + 'a {
    let mut new = after.iter().peekable();
    before.iter().filter_map(move |old| {
        while new.next_if(|contact| contact.pair() < old.pair()).is_some() {}
        let lasts = new.peek().is_some_and(|contact| contact.pair() == old.pair());
        let (a, b) = old.pair();
        (!lasts).then_some(Touch::Ended { a, b })
    })
}
