//! One step of a region: from state to what changes of it, and what there is to tell.

use metatopia_types::ObjectId;

use crate::body::Body;
use crate::broad::{PairKey, places};
use crate::cast::{Cast, Ground};
use crate::contact::Contact;
use crate::pair::Pair;
use crate::solid::Solid;
use crate::solver::Scene;
use crate::touch::Touch;

/// What comes of a step.
pub(crate) struct Stepped {
    /// How many bodies took part.
    pub(crate) looked_at: usize,
    /// The bodies that are not what they were, with their places, in order.
    pub(crate) bodies: Vec<(usize, Body)>,
    /// The contacts, in id order, if they are not what they were.
    pub(crate) contacts: Option<Vec<Contact>>,
    /// The beginnings of touches, then the ends, each in id order.
    pub(crate) touches: Vec<Touch>,
}

/// What a step makes of a region, if those take part who are cast.
pub(crate) fn step(ground: &Ground<'_>, cast: Cast) -> Stepped {
    let Cast { places, solids, goings, keys, renewed } = cast;
    let ids: Vec<ObjectId> = places.iter().map(|place| ground.bodies[*place as usize].id).collect();
    let (before, kept) = split(ground.contacts, renewed.as_deref());
    let (pairs, unseen) = remember(&ids, &solids, keys, &before);
    let mut scene = Scene::new(solids, goings, pairs);
    scene.step();
    let mut bodies = Vec::new();
    for (place, (solid, going)) in places.iter().zip(scene.solids.iter().zip(&scene.goings)) {
        let place = *place as usize;
        let mut body = ground.bodies[place].clone();
        solid.store(going, &mut body);
        if body != ground.bodies[place] {
            bodies.push((place, body));
        }
    }
    let pair_ids = |pair: &Pair| [ids[pair.a], ids[pair.b]];
    let began = scene.pairs.iter().filter_map(|pair| pair.began(pair_ids(pair)));
    let mut touches: Vec<Touch> = began.collect();
    let after = scene.pairs.iter().filter_map(|pair| pair.contact(pair_ids(pair)));
    let mut after: Vec<Contact> = after.collect();
    after = merged(after, resting(ground, unseen));
    touches.extend(ended(&before, &after));
    let contacts = (before != after).then(|| merged(kept, after));
    Stepped { looked_at: places.len(), bodies, contacts, touches }
}

/// The contacts that are made anew, and those that stay, each in order.
fn split(contacts: &[Contact], renewed: Option<&[ObjectId]>) -> (Vec<Contact>, Vec<Contact>) {
    let Some(renewed) = renewed else {
        return (contacts.to_vec(), Vec::new());
    };
    let of_them = |id: ObjectId| renewed.binary_search(&id).is_ok();
    contacts.iter().partition(|contact| of_them(contact.a) || of_them(contact.b))
}

/// Two lists of contacts in one, in order.
fn merged(mut all: Vec<Contact>, more: Vec<Contact>) -> Vec<Contact> {
    if !more.is_empty() {
        all.extend(more);
        // Two runs that are in order already: this sort takes them as they are.
        all.sort_by_key(Contact::pair);
    }
    all
}

/// Of contacts whose bodies are not looked at together, those of two that rest. They stay, whether
/// or not there is room for the pair ([`PARTNERS_MAX`](crate::limits::PARTNERS_MAX)): what else is
/// near, and what moves far away, changes nothing about them.
fn resting(ground: &Ground<'_>, mut contacts: Vec<Contact>) -> Vec<Contact> {
    let rests = |id: ObjectId| {
        let place = ground.bodies.binary_search_by_key(&id, |body| body.id);
        place.is_ok_and(|place| ground.bodies[place].is_at_rest())
    };
    contacts.retain(|contact| rests(contact.a) && rests(contact.b));
    contacts
}

/// The pairs of this step with what they left at the end of the last one, and the contacts that are
/// of none of these pairs.
fn remember(
    ids: &[ObjectId],
    solids: &[Solid],
    keys: Vec<PairKey>,
    contacts: &[Contact],
) -> (Vec<Pair>, Vec<Contact>) {
    let mut unseen = Vec::new();
    let mut old = contacts.iter().peekable();
    let mut pairs = Vec::with_capacity(keys.len());
    for key in keys {
        let (a, b) = places(key);
        let ids: (ObjectId, ObjectId) = (ids[a], ids[b]);
        while let Some(contact) = old.next_if(|contact| contact.pair() < ids) {
            unseen.push(*contact);
        }
        let before = old.next_if(|contact| contact.pair() == ids);
        pairs.push(Pair::new(key, solids, before));
    }
    unseen.extend(old);
    (pairs, unseen)
}

/// The contacts that are no longer there: both lists are in id order.
fn ended<'a>(before: &'a [Contact], after: &'a [Contact]) -> impl Iterator<Item = Touch> + 'a {
    let mut new = after.iter().peekable();
    before.iter().filter_map(move |old| {
        while new.next_if(|contact| contact.pair() < old.pair()).is_some() {}
        let lasts = new.peek().is_some_and(|contact| contact.pair() == old.pair());
        let (a, b) = old.pair();
        (!lasts).then_some(Touch::Ended { a, b })
    })
}
