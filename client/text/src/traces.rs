//! Who did something: what the sim keeps of the last act that changed a thing.

use std::{collections::BTreeMap, time::Duration};

use metatopia_client::text;
use metatopia_protocol::{Answer, Question};
use metatopia_types::PublicKey;

use super::{builder::meant, room::TextClient};
use crate::{LineKind, TextClientError};

/// Time for one question.
const ANSWER: Duration = Duration::from_secs(5);

/// Tells who made a thing in sight, whose it is, and who changed it last, and whether that is proved.
pub(super) async fn who_did(room: &mut TextClient, typed: &str) -> Result<(), TextClientError> {
    let Some(meant) = meant(room, typed).await? else { return Ok(()) };
    let found = room.scene.as_ref().and_then(|scene| {
        let thing = scene.objects.iter().find(|object| object.id == meant.id)?;
        Some((scene.height, thing.clone()))
    });
    let Some((height, thing)) = found else {
        return room.tell(LineKind::Refused, "It is out of sight; go near it to ask about it.");
    };
    let by = thing.changed.as_ref().map(|change| change.by);
    let mut names = BTreeMap::new();
    for key in [thing.author, thing.owner, by].into_iter().flatten() {
        if let std::collections::btree_map::Entry::Vacant(unknown) = names.entry(key) {
            unknown.insert(name(room, key).await?);
        }
    }
    let proof = room.proof_of(height).await?;
    let now = proof.as_ref().ok().map(|proven| proven.header.time);
    let name = |key: &PublicKey| names.get(key).cloned().unwrap_or_default();
    for line in text::who_did(&thing, name, now) {
        room.tell(LineKind::Answer, &line)?;
    }
    room.tell(LineKind::Answer, &text::proof(&proof))
}

/// Returns the name of a key by the word of the node; empty if it knows none.
pub(super) async fn name(room: &mut TextClient, key: PublicKey) -> Result<String, TextClientError> {
    match room.driver.ask(Question::Person { key }, ANSWER).await? {
        Answer::Person(person) => Ok(person.name),
        _ => Ok(String::new()),
    }
}
