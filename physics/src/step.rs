//! One step of a region: from its state to the changes and events of the step.

use metatopia_types::ObjectId;

use crate::active_set::{ActiveSet, RegionView};
use crate::body::Body;
use crate::broad_phase::{PairKey, indices};
use crate::contact::Contact;
use crate::contact_pair::ContactPair;
use crate::solver::Solver;
use crate::solver_body::SolverBody;
use crate::touch::Touch;

/// The result of a step.
pub(crate) struct StepResult {
    /// How many bodies took part.
    pub(crate) active_bodies: usize,
    /// The bodies that changed, with their indices, in order.
    pub(crate) bodies: Vec<(usize, Body)>,
    /// The contacts, in id order, if any changed.
    pub(crate) contacts: Option<Vec<Contact>>,
    /// The beginnings of touches, then the ends, each in id order.
    pub(crate) touches: Vec<Touch>,
}

/// Simulates one step of the bodies of an active set.
pub(crate) fn step(view: &RegionView<'_>, active: ActiveSet) -> StepResult {
    let ActiveSet { indices, bodies, velocities, keys, renewed } = active;
    let ids: Vec<ObjectId> = indices.iter().map(|index| view.bodies[*index as usize].id).collect();
    let (before, unaffected) = split(view.contacts, renewed.as_deref());
    let (pairs, unpaired) = make_pairs(&ids, &bodies, keys, &before);
    let mut solver = Solver::new(view.bounds, bodies, velocities, pairs);
    solver.step();
    let mut changed = Vec::new();
    for (index, (solved, velocity)) in
        indices.iter().zip(solver.bodies.iter().zip(&solver.velocities))
    {
        let index = *index as usize;
        let mut body = view.bodies[index].clone();
        solved.finalize(velocity, &mut body);
        if body != view.bodies[index] {
            changed.push((index, body));
        }
    }
    let pair_ids = |pair: &ContactPair| [ids[pair.a], ids[pair.b]];
    let began = solver.pairs.iter().filter_map(|pair| pair.began(pair_ids(pair)));
    let mut touches: Vec<Touch> = began.collect();
    let after = solver.pairs.iter().filter_map(|pair| pair.contact(pair_ids(pair)));
    let mut after: Vec<Contact> = after.collect();
    after = merged(after, asleep(view, unpaired));
    touches.extend(ended(&before, &after));
    let contacts = (before != after).then(|| merged(unaffected, after));
    StepResult { active_bodies: indices.len(), bodies: changed, contacts, touches }
}

/// Splits the contacts into those that the step makes anew and those that it leaves, each in order.
fn split(contacts: &[Contact], renewed: Option<&[ObjectId]>) -> (Vec<Contact>, Vec<Contact>) {
    let Some(renewed) = renewed else {
        return (contacts.to_vec(), Vec::new());
    };
    let is_renewed = |id: ObjectId| renewed.binary_search(&id).is_ok();
    contacts.iter().partition(|contact| is_renewed(contact.a) || is_renewed(contact.b))
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

/// Makes the pairs of this step, each with its contact of the last one. Returns the pairs, and the
/// contacts that are of none of them.
fn make_pairs(
    ids: &[ObjectId],
    bodies: &[SolverBody],
    keys: Vec<PairKey>,
    contacts: &[Contact],
) -> (Vec<ContactPair>, Vec<Contact>) {
    let mut unpaired = Vec::new();
    let mut old = contacts.iter().peekable();
    let mut pairs = Vec::with_capacity(keys.len());
    for key in keys {
        let (a, b) = indices(key);
        let ids: (ObjectId, ObjectId) = (ids[a], ids[b]);
        // Both lists are in id order, so one pass over the contacts finds each pair's own.
        while let Some(contact) = old.next_if(|contact| contact.pair() < ids) {
            unpaired.push(*contact);
        }
        let before = old.next_if(|contact| contact.pair() == ids);
        pairs.push(ContactPair::new(key, bodies, before));
    }
    unpaired.extend(old);
    (pairs, unpaired)
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
