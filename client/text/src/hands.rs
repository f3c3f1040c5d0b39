//! The commands about what a person holds.

use metatopia_client::{
    Scene, SceneObject,
    text::{compass, printable},
};
use metatopia_sim::limits::HANDS_MAX;
use metatopia_types::{Build, ObjectId};

use super::{
    builder::{meant_first, perform, place_near},
    charter,
    room::TextClient,
};
use crate::{LineKind, TextClientError};

/// Takes a thing. Of things with this name one that is in nobody's hands is meant, if there is any.
pub(super) async fn take(room: &mut TextClient, typed: &str) -> Result<(), TextClientError> {
    let is_free = |thing: &SceneObject| thing.movable && thing.held.is_none();
    let Some(thing) = meant_first(room, typed, |_, thing| is_free(thing)).await? else {
        return Ok(());
    };
    room.it = Some(thing.id);
    let name = printable(&thing.name);
    if room.scene.as_ref().is_some_and(|scene| holds(scene, thing.id)) {
        let line = format!("You hold {name} already; `put {name} down` puts it before you.");
        return room.tell(LineKind::Refused, &line);
    }
    let done = format!("You take {name}.");
    perform(room, Build::Take { object: thing.id }, &done).await
}

/// Puts a thing down where there is room for it. Of things with this name one in hand is meant, if there is
/// any.
pub(super) async fn put_down(room: &mut TextClient, typed: &str) -> Result<(), TextClientError> {
    let is_own =
        |scene: &Scene, thing: &SceneObject| thing.held.is_some() && thing.held == scene.me;
    let Some(thing) = meant_first(room, typed, is_own).await? else {
        return Ok(());
    };
    room.it = Some(thing.id);
    let Some(charter) = charter::needed(room).await? else { return Ok(()) };
    let Some((here, position)) = place_near(room, &charter, thing.half, true).await? else {
        return Ok(());
    };
    let (name, way) = (printable(&thing.name), position.saturating_sub(here));
    let done = format!("You put {name} down, {:.1} m {}.", way.length(), compass(way));
    perform(room, Build::PutDown { object: thing.id, position }, &done).await
}

/// Says whether the person holds this thing.
fn holds(scene: &Scene, id: ObjectId) -> bool {
    scene.me.is_some_and(|me| scene.in_hands_of(me).iter().any(|held| held.id == id))
}

/// Lists what the person holds.
pub(super) async fn list(room: &mut TextClient) -> Result<(), TextClientError> {
    let Some(scene) = room.look_around().await? else {
        return room.tell(LineKind::Refused, "The node shows nothing.");
    };
    let held: Vec<&SceneObject> = scene.me.map_or_else(Vec::new, |me| scene.in_hands_of(me));
    for thing in &held {
        let line = format!("You hold {}, object {}.", printable(&thing.name), thing.id);
        room.tell(LineKind::Answer, &line)?;
    }
    room.tell(LineKind::Answer, &format!("{} of {HANDS_MAX} things in hand.", held.len()))
}
