//! One step of a region: from its state to the changes and events of the step.

use std::borrow::Cow;

use metatopia_types::ObjectId;

use crate::active_set::RegionView;
use crate::body::MovedBody;
use crate::broad_phase::indices;
use crate::contact::Contact;
use crate::contact_pair::ContactPair;
use crate::solver::Solver;
use crate::touch::Touch;

/// The result of a step.
pub(crate) struct StepResult {
    /// The bodies that changed, by their indices in the region, in order.
    pub(crate) moved: Vec<(u32, MovedBody)>,
    /// The contacts, in id order, if any changed.
    pub(crate) contacts: Option<Vec<Contact>>,
    /// The beginnings of touches, then the ends, each in id order.
    pub(crate) touches: Vec<Touch>,
}

/// Simulates one step of the bodies of the solver's active set.
pub(crate) fn step(view: &RegionView<'_>, solver: &mut Solver) -> StepResult {
    let set = &solver.set;
    let id = |index: &u32| view.bodies[*index as usize].id;
    let ids: Vec<ObjectId> = set.indices.iter().map(id).collect();
    let (before, unaffected) = split(view.contacts, set.renewed.as_deref());
    let unpaired = make_pairs(&ids, solver, &before);
    solver.step(view.surroundings);
    let moved = moved(view, solver);
    let pair_ids = |pair: &ContactPair| [ids[pair.a as usize], ids[pair.b as usize]];
    let points = &solver.points;
    let began = solver.pairs.iter().filter_map(|pair| pair.began(pair_ids(pair), points));
    let mut touches: Vec<Touch> = began.collect();
    let after = solver.pairs.iter().filter_map(|pair| pair.contact(pair_ids(pair), points));
    let mut after: Vec<Contact> = after.collect();
    after = merged(after, asleep(view, unpaired));
    touches.extend(ended(&before, &after));
    let contacts = (*before != *after).then(|| merged(unaffected, after));
    StepResult { moved, contacts, touches }
}

/// Returns what the step makes of the bodies that it changed.
fn moved(view: &RegionView<'_>, solver: &Solver) -> Vec<(u32, MovedBody)> {
    let (set, slow) = (&solver.set, solver.slow_steps(view));
    let solved = set.indices.iter().zip(set.bodies.iter().zip(&set.velocities)).zip(slow);
    solved
        .filter_map(|((index, (solved, velocity)), slow)| {
            let moved = solved.finalize(velocity, slow);
            (moved != MovedBody::of(&view.bodies[*index as usize])).then_some((*index, moved))
        })
        .collect()
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
    let (before, unaffected): (Vec<Contact>, _) =
        contacts.iter().partition(|contact| is_renewed(contact.a) || is_renewed(contact.b));
    (Cow::Owned(before), unaffected)
}

/// Merges two lists of contacts, each in order.
fn merged(mut all: Vec<Contact>, more: Vec<Contact>) -> Vec<Contact> {
    if !more.is_empty() {
        all.extend(more);
        // Two runs that are in order already: this sort takes them as they are.
        all.sort_by_key(Contact::pair);
    }
    all
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
fn make_pairs(ids: &[ObjectId], solver: &mut Solver, contacts: &[Contact]) -> Vec<Contact> {
    let Solver { set, pairs, points, .. } = solver;
    let mut unpaired = Vec::new();
    let mut old = contacts.iter().peekable();
    pairs.clear();
    points.clear();
    for key in &set.keys {
        let (a, b) = indices(*key);
        let ids: (ObjectId, ObjectId) = (ids[a], ids[b]);
        // Both lists are in id order, so one pass over the contacts finds each pair's own.
        while let Some(contact) = old.next_if(|contact| contact.pair() < ids) {
            unpaired.push(*contact);
        }
        let before = old.next_if(|contact| contact.pair() == ids);
        pairs.push(ContactPair::new(*key, &set.bodies, before, points));
    }
    unpaired.extend(old);
    unpaired
}

/// Returns the ends of the contacts that are no longer there. Both lists are in id order.
fn ended<'a>(before: &'a [Contact], after: &'a [Contact]) -> impl Iterator<Item = Touch> + 'a {
    let mut new = after.iter().peekable();
    before.iter().filter_map(move |old| {
        while new.next_if(|contact| contact.pair() < old.pair()).is_some() {}
        let lasts = new.peek().is_some_and(|contact| contact.pair() == old.pair());
        let (a, b) = old.pair();
        (!lasts).then_some(Touch::Ended { a, b })
    })
}
