//! One step of a region: from state to state, and what there is to tell.

use metatopia_types::ObjectId;

use crate::body::Body;
use crate::broad::{self, places};
use crate::contact::Contact;
use crate::matter::Matter;
use crate::pair::Pair;
use crate::solid::Solid;
use crate::solver::Scene;
use crate::touch::Touch;

/// Moves the bodies and replaces the contacts; both are in id order, and each body's matter is at
/// its place. Returns the beginnings of
/// touches, then the ends, each in id order.
pub(crate) fn step(
    bodies: &mut [Body],
    matters: &[Matter],
    contacts: &mut Vec<Contact>,
) -> Vec<Touch> {
    let solids = bodies.iter().zip(matters);
    let (solids, goings): (Vec<_>, Vec<_>) =
        solids.map(|(body, matter)| Solid::new(body, matter)).unzip();
    let pairs = remember(bodies, &solids, contacts);
    let mut scene = Scene::new(solids, goings, pairs);
    scene.step();
    for (body, (solid, going)) in bodies.iter_mut().zip(scene.solids.iter().zip(&scene.goings)) {
        solid.store(going, body);
    }
    let ids = |pair: &Pair| [bodies[pair.a].id, bodies[pair.b].id];
    let mut touches: Vec<Touch> =
        scene.pairs.iter().filter_map(|pair| pair.began(ids(pair))).collect();
    let after: Vec<Contact> =
        scene.pairs.iter().filter_map(|pair| pair.contact(ids(pair))).collect();
    touches.extend(ended(contacts, &after));
    *contacts = after;
    touches
}

/// The pairs of this step with what they left at the end of the last one.
fn remember(bodies: &[Body], solids: &[Solid], contacts: &[Contact]) -> Vec<Pair> {
    let mut old = contacts.iter().peekable();
    let keys = broad::pairs(solids);
    let mut pairs = Vec::with_capacity(keys.len());
    for key in keys {
        let (a, b) = places(key);
        let ids: (ObjectId, ObjectId) = (bodies[a].id, bodies[b].id);
        while old.next_if(|contact| contact.pair() < ids).is_some() {}
        let before = old.next_if(|contact| contact.pair() == ids);
        pairs.push(Pair::new(key, solids, before));
    }
    pairs
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
