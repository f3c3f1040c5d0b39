//! Joints in words: what holds a thing, and how a builder joins and frees things.

use std::{collections::BTreeSet, time::Duration};

use metatopia_client::{
    build::{JOINT_KINDS, joined},
    text::{describe_thing, position, printable},
};
use metatopia_math::{Fx, Vec2};
use metatopia_protocol::{Answer, JointEntry, Question};
use metatopia_types::{Build, ObjectId};

use super::{
    builder::{meant, perform},
    pointing::pointed,
    room::TextClient,
    traces,
};
use crate::{LineKind, TextClientError};

/// Time for one question.
const ANSWER: Duration = Duration::from_secs(5);

/// Returns the joints near a place, as the node says.
async fn joints(room: &mut TextClient, near: Vec2) -> Result<Vec<JointEntry>, TextClientError> {
    Ok(match room.driver.ask(Question::Joints { near }, ANSWER).await? {
        Answer::Joints(joints) => joints,
        _ => Vec::new(),
    })
}

/// Tells of one thing.
pub(super) async fn look_at(room: &mut TextClient, typed: &str) -> Result<(), TextClientError> {
    let Some(scene) = room.look_around().await? else {
        return room.tell(LineKind::Refused, "The node shows nothing.");
    };
    let Some(thing) = pointed(&scene, room.it, typed) else {
        let line = format!("There is no {} in sight.", printable(typed));
        return room.tell(LineKind::Refused, &line);
    };
    room.it = Some(thing.id);
    let near = position(&scene).unwrap_or(thing.position);
    let joints = joints(room, near).await?;
    let owner = match thing.owner {
        Some(key) if thing.player.is_none() => traces::name(room, key).await?,
        _ => String::new(),
    };
    for line in describe_thing(&scene, thing, &joints, |_| owner.clone()) {
        room.tell(LineKind::Answer, &printable(&line))?;
    }
    Ok(())
}

/// Joins a thing to another one, or to the ground.
pub(super) async fn join(
    room: &mut TextClient,
    typed: &str,
    other: Option<&str>,
    (kind, rate): (&str, Option<Fx>),
) -> Result<(), TextClientError> {
    let Some(thing) = meant(room, typed).await? else {
        return Ok(());
    };
    let to = match other {
        Some(other) => match meant(room, other).await? {
            Some(to) => Some(to),
            None => return Ok(()),
        },
        None => None,
    };
    let here = room.look_around().await?.as_ref().and_then(position).unwrap_or_default();
    let ends = (thing.end(), to.as_ref().map(super::builder::Thing::end));
    let Some(build) = joined(&ends.0, ends.1.as_ref(), (kind, rate), here) else {
        let kinds = JOINT_KINDS.join(", ");
        return room.tell(LineKind::Refused, &format!("There is no {kind}; there are {kinds}."));
    };
    room.it = Some(thing.id);
    let to = to.map_or_else(|| "the ground".to_owned(), |to| printable(&to.name));
    let done = format!("A {kind} joins {} to {to}.", printable(&thing.name));
    perform(room, build, &done).await
}

/// Returns a thing and all that joints hold to it.
fn joined_to(thing: ObjectId, joints: &[JointEntry]) -> BTreeSet<ObjectId> {
    let mut whole = BTreeSet::from([thing]);
    loop {
        let before = whole.len();
        // What is joined to the ground is at its end alone.
        for (a, b) in joints.iter().filter_map(|joint| Some((joint.a?, joint.b))) {
            if whole.contains(&a) || whole.contains(&b) {
                whole.extend([a, b]);
            }
        }
        if whole.len() == before {
            return whole;
        }
    }
}

/// Lets a thing leave over borders with all of the person's that joints hold to it, or has them stay.
pub(super) async fn let_travel(
    room: &mut TextClient,
    typed: &str,
    travels: bool,
) -> Result<(), TextClientError> {
    let Some(thing) = meant(room, typed).await? else {
        return Ok(());
    };
    room.it = Some(thing.id);
    let scene = room.look_around().await?;
    let near = scene.as_ref().and_then(position).unwrap_or_default();
    let whole = joined_to(thing.id, &joints(room, near).await?);
    let author = Some(room.driver.author());
    let others = scene.iter().flat_map(|scene| &scene.objects).filter(|other| {
        other.id != thing.id
            && other.owner == author
            && other.travels != travels
            && whole.contains(&other.id)
    });
    let others: Vec<(ObjectId, String)> =
        others.map(|other| (other.id, printable(&other.name))).collect();
    for (object, name) in [(thing.id, printable(&thing.name))].into_iter().chain(others) {
        let how = if travels { "may leave over a border" } else { "stays in this sim" };
        let done = format!("{name} {how} now.");
        perform(room, Build::LetTravel { object, travels }, &done).await?;
    }
    Ok(())
}

/// Takes joints off a thing.
pub(super) async fn unjoin(
    room: &mut TextClient,
    typed: &str,
    other: Option<&str>,
) -> Result<(), TextClientError> {
    let Some(thing) = meant(room, typed).await? else {
        return Ok(());
    };
    let (from, whom) = match other {
        Some(other) => match meant(room, other).await? {
            Some(from) => (Some(from.id), printable(&from.name)),
            None => return Ok(()),
        },
        None => (None, "all that held it".to_owned()),
    };
    room.it = Some(thing.id);
    let done = format!("{} is free from {whom}.", printable(&thing.name));
    perform(room, Build::Unjoin { object: thing.id, from }, &done).await
}
