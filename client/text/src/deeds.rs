//! The commands of the text client.

use std::{collections::BTreeSet, time::Duration};

use metatopia_client::{
    ProvenSight, Scene, SceneObject,
    text::{self, WearCommand, describe, find, look_words, position, printable, wardrobe_lines},
};
use metatopia_math::{Fx, Vec2};
use metatopia_protocol::{Answer, PlayerEntry, Question};
use metatopia_scripting::Package;
use metatopia_types::{Act, Blob, Emote, ObjectId, Outcome, PackageId, PublicKey, Refusal};
use tokio::time::{Instant, sleep};

use super::{
    author::fetch,
    crossing::{LastSeen, WayOver},
    forms, lots,
    pointing::{NO_LAST, is_last, pointed},
    profiles,
    room::{ActProgress, TextClient},
    rules,
    walk::{AvatarWalk, Goal, WalkStep},
    words::{self, SlideEnd},
};
use crate::{LineKind, TextClientError};

/// Time for one question.
const ANSWER: Duration = Duration::from_secs(5);

/// The longest time that a walk may take.
const WALK: Duration = Duration::from_secs(60);

/// What one types to go into the nearest portal.
const TO_PORTAL: &str = "portal";

/// The time for which somebody in a portal waits to be let in: a pass takes some turns of both sims.
const PORTAL_WAIT: Duration = Duration::from_secs(8);

/// What was pushed is watched for this long at most.
const SLIDE: Duration = Duration::from_secs(3);

/// Slower than this is at rest, in metres a second.
pub(super) const AT_REST: Fx = Fx::from_ratio(1, 10);

/// Between two pushes there must be a quarter of a second of the world's time.
const PUSH_AGAIN: Duration = Duration::from_millis(400);

pub(super) async fn look(room: &mut TextClient) -> Result<(), TextClientError> {
    let Some(scene) = room.look_around().await? else {
        return room.tell(LineKind::Refused, "The node shows nothing.");
    };
    if position(&scene).is_none() {
        return room.tell(LineKind::Answer, &printable(&room.not_here()));
    }
    for line in describe(&scene) {
        room.tell(LineKind::Answer, &printable(&line))?;
    }
    if let Some(here) = position(&scene) {
        lots::tell_ground(room, here).await?;
    }
    if let Some(line) = room.beyond() {
        room.tell(LineKind::Answer, &printable(&line))?;
    }
    if let Some(here) = position(&scene) {
        for (n, (middle, to)) in room.portals(here).await.into_iter().enumerate() {
            let line = words::portal(middle.saturating_sub(here), &to, n == 0);
            room.tell(LineKind::Answer, &line)?;
        }
    }
    let proof = room.proof_of(scene.height).await?;
    room.tell(LineKind::Answer, &text::proof(&proof))
}

pub(super) async fn proof(room: &mut TextClient) -> Result<(), TextClientError> {
    let Some(scene) = room.look_around().await? else {
        return room.tell(LineKind::Refused, "The node shows nothing.");
    };
    let proof = room.proof_of(scene.height).await?;
    room.tell(LineKind::Answer, &text::proof(&proof))?;
    let Ok(proven) = proof else {
        return Ok(());
    };
    let ProvenSight { tiles, objects, header, signers, .. } = &proven;
    let line = format!(
        "The header of turn {} states the root of that state: {} objects in {} tiles hash to it.",
        header.height,
        objects.len(),
        tiles.len()
    );
    room.tell(LineKind::Answer, &line)?;
    for key in signers {
        room.tell(LineKind::Answer, &format!("Signed by server {key}."))?;
    }
    Ok(())
}

pub(super) async fn go(room: &mut TextClient, towards: &str) -> Result<(), TextClientError> {
    let Some(scene) = room.look_around().await? else {
        return room.tell(LineKind::Refused, "The node shows nothing to walk to.");
    };
    let Some(here) = position(&scene) else {
        return room.tell(LineKind::Refused, &room.not_here());
    };
    let (direction, metres) = words::stretch(towards);
    if let Some(heading) = text::direction(direction) {
        let heading = heading.normalize().unwrap_or(heading);
        let goal = Goal::Place(here.saturating_add(heading.scale(metres)));
        let WalkEnd { place, shift, .. } = walk(room, goal).await?;
        let here = here.saturating_add(shift);
        let there = place.unwrap_or(here);
        room.tell(LineKind::Done, &words::walked(here, there))?;
        return tell_wall(room, heading, (goal, there, shift)).await;
    }
    if towards == TO_PORTAL && find(&scene, towards).is_none() {
        return go_to_portal(room, here).await;
    }
    let Some(thing) = seen(room, &scene, towards)? else {
        return Ok(());
    };
    if approach(room, &thing).await? {
        let name = printable(&thing.name);
        room.tell(LineKind::Done, &format!("You walk up to {name}."))?;
    }
    Ok(())
}

/// Walks into the nearest portal. Whoever is still here then is told why.
async fn go_to_portal(room: &mut TextClient, here: Vec2) -> Result<(), TextClientError> {
    let Some((middle, _)) = room.portals(here).await.into_iter().next() else {
        return room.tell(LineKind::Refused, "There is no portal in sight.");
    };
    let WalkEnd { place, has_crossed, .. } = walk(room, Goal::Place(middle)).await?;
    if has_crossed {
        return Ok(());
    }
    let rest = place.unwrap_or(here).distance(middle);
    if rest > Fx::ONE {
        let why = format!("You stop {rest:.1} m from the portal.");
        return room.tell(LineKind::Refused, &why);
    }
    if waits_in_portal(room).await? {
        return Ok(());
    }
    let why = room.portal_wall(middle).await;
    let why = why.unwrap_or_else(|| "its other side does not answer yet".to_owned());
    room.tell(LineKind::Refused, &format!("The portal is closed to you: {why}."))
}

/// Waits for the pass of the neighbour, until a line interrupts. Says whether the avatar is in the neighbour then.
async fn waits_in_portal(room: &mut TextClient) -> Result<bool, TextClientError> {
    let end = Instant::now() + PORTAL_WAIT;
    while Instant::now() < end {
        if room.attend_border().await?.is_some() {
            return Ok(true);
        }
        if room.next_scene().await?.is_none() {
            break;
        }
    }
    Ok(false)
}

pub(super) async fn stop(room: &mut TextClient) -> Result<(), TextClientError> {
    let fate = room.perform(Act::Walk { heading: Vec2::ZERO }, Vec::new()).await?;
    conclude(room, fate, "You stand still.")
}

pub(super) async fn home(room: &mut TextClient) -> Result<(), TextClientError> {
    let fate = room.perform(Act::GoHome, Vec::new()).await?;
    conclude(room, fate, "You are where people arrive.")
}

pub(super) async fn push(room: &mut TextClient, typed: &str) -> Result<(), TextClientError> {
    let Some(scene) = room.look_around().await? else {
        return room.tell(LineKind::Refused, "The node shows nothing to push.");
    };
    // Of things with this name one that moves is meant, if there is any.
    let movable = Scene {
        objects: scene
            .objects
            .iter()
            .filter(|o| o.movable && o.held.is_none() || Some(o.id) == scene.me)
            .cloned()
            .collect(),
        ..scene.clone()
    };
    let thing = match pointed(&movable, room.it, typed) {
        Some(thing) => thing.clone(),
        None => match seen(room, &scene, typed)? {
            Some(thing) => thing,
            None => return Ok(()),
        },
    };
    if !approach(room, &thing).await? {
        return Ok(());
    }
    let scene = room.scene.as_ref();
    let seen = scene.and_then(|s| s.objects.iter().find(|object| object.id == thing.id));
    let thing = seen.cloned().unwrap_or(thing);
    let own = scene.and_then(|s| place_of(s, s.me?)).unwrap_or(thing.position);
    let act = Act::Push { object: thing.id };
    let mut fate = room.perform(act.clone(), Vec::new()).await?;
    if fate == ActProgress::Done(Outcome::Refused(Refusal::TooOften)) {
        sleep(PUSH_AGAIN).await;
        fate = room.perform(act, Vec::new()).await?;
    }
    let name = printable(&thing.name);
    if fate != ActProgress::Done(Outcome::Ok) {
        return conclude(room, fate, "");
    }
    let after = slide(room, &thing, own).await?;
    room.tell(LineKind::Done, &words::pushed(&name, thing.position, &after))
}

/// Watches something until it rests that was pushed from a place. Returns where it is then, or where it went.
async fn slide(
    room: &mut TextClient,
    thing: &SceneObject,
    from: Vec2,
) -> Result<SlideEnd, TextClientError> {
    let end = Instant::now() + SLIDE;
    let mut seen = thing.clone();
    let mut last = room.look_around().await?;
    while Instant::now() < end {
        let object = last.as_ref().and_then(|s| s.objects.iter().find(|o| o.id == thing.id));
        match object {
            Some(object) if object.velocity.length() < AT_REST => {
                return Ok(SlideEnd::At(object.position));
            }
            Some(object) => seen.clone_from(object),
            None => {
                let last = LastSeen::from(&seen).pushed_from(from);
                return Ok(match room.gone_over(&last) {
                    Some(over) => SlideEnd::Over(over),
                    None => SlideEnd::OutOfSight,
                });
            }
        }
        last = room.next_scene().await?;
        if last.is_none() {
            break;
        }
    }
    let place = room.scene.as_ref().and_then(|scene| place_of(scene, thing.id));
    Ok(place.map_or(SlideEnd::OutOfSight, SlideEnd::At))
}

pub(super) async fn touch(room: &mut TextClient, typed: &str) -> Result<(), TextClientError> {
    let Some(scene) = room.look_around().await? else {
        return room.tell(LineKind::Refused, "The node shows nothing to touch.");
    };
    let Some(thing) = seen(room, &scene, typed)? else {
        return Ok(());
    };
    if !approach(room, &thing).await? {
        return Ok(());
    }
    let fate = room.perform(Act::Touch { object: thing.id }, Vec::new()).await?;
    conclude(room, fate, &format!("You touch {}.", printable(&thing.name)))
}

pub(super) async fn sit(room: &mut TextClient, typed: &str) -> Result<(), TextClientError> {
    let Some(scene) = room.look_around().await? else {
        return room.tell(LineKind::Refused, "The node shows nothing to sit on.");
    };
    let Some(thing) = seen(room, &scene, typed)? else {
        return Ok(());
    };
    if !approach(room, &thing).await? {
        return Ok(());
    }
    let fate = room.perform(Act::Sit { on: Some(thing.id) }, Vec::new()).await?;
    conclude(room, fate, &format!("You sit on {}.", printable(&thing.name)))
}

pub(super) async fn stand(room: &mut TextClient) -> Result<(), TextClientError> {
    let fate = room.perform(Act::Sit { on: None }, Vec::new()).await?;
    if fate == ActProgress::Done(Outcome::Refused(Refusal::AlreadySo)) {
        return room.tell(LineKind::Refused, "You do not sit.");
    }
    conclude(room, fate, "You stand up.")
}

/// Says words, and returns what became of that.
pub(super) async fn utter(
    room: &mut TextClient,
    (act, blobs): (Act, Vec<Blob>),
) -> Result<ActProgress, TextClientError> {
    let body = blobs.first().map(Blob::id).expect("words are a blob of their act");
    // They may come back before what became of them is known.
    room.heard.expect(body);
    let fate = room.perform(act, blobs).await?;
    if matches!(fate, ActProgress::Refused(_) | ActProgress::Done(Outcome::Refused(_))) {
        room.heard.came_back(body);
    }
    Ok(fate)
}

pub(super) async fn speak(
    room: &mut TextClient,
    everywhere: bool,
    said: &str,
) -> Result<(), TextClientError> {
    let fate = utter(room, text::say(u8::from(everywhere), said)).await?;
    let verb = if everywhere { "shout" } else { "say" };
    let is_muted = matches!(fate, ActProgress::Done(Outcome::Refused(Refusal::Muted)));
    conclude(room, fate, &format!("You {verb}: {}", printable(said)))?;
    if is_muted { rules::tell_mute(room).await } else { Ok(()) }
}

pub(super) async fn reply(room: &mut TextClient, typed: &str) -> Result<(), TextClientError> {
    let open = room.forms().await?;
    if open.is_empty() {
        return room.tell(LineKind::Refused, "Nothing has asked you anything.");
    }
    let (asked, act) = match forms::meant(open, typed) {
        Ok(found) => found,
        Err(why) => return room.tell(LineKind::Refused, &format!("That is no reply: {why}.")),
    };
    let fate = room.perform(act, Vec::new()).await?;
    if forms::is_settled(fate) {
        forms::note_reply(&mut room.asked, &asked);
    }
    conclude(room, fate, &format!("You reply to {}.", printable(&asked.name)))
}

pub(super) async fn forbid(room: &mut TextClient) -> Result<(), TextClientError> {
    let fate = room.perform(Act::Forbid, Vec::new()).await?;
    conclude(room, fate, "Nothing may move or dress you any more.")
}

/// Changes how the own avatar looks, or tells what there is to wear.
pub(super) async fn wear(room: &mut TextClient, wear: WearCommand) -> Result<(), TextClientError> {
    let scene = room.look_around().await?;
    let own =
        scene.as_ref().and_then(|scene| scene.objects.iter().find(|o| Some(o.id) == scene.me));
    let Some(look) = own.map(|own| own.look) else {
        return room.tell(LineKind::Refused, &room.not_here());
    };
    if wear == WearCommand::List {
        room.tell(LineKind::Answer, &format!("You are {}.", look_words(&look)))?;
        return wardrobe_lines().iter().try_for_each(|line| room.tell(LineKind::Answer, line));
    }
    let look = match wear.applied(look) {
        Ok(look) => look,
        Err(why) => return room.tell(LineKind::Refused, &why.to_string()),
    };
    let fate = room.perform(Act::SetLook(look), Vec::new()).await?;
    conclude(room, fate, &format!("You are {}.", look_words(&look)))
}

pub(super) async fn emote(room: &mut TextClient, emote: Emote) -> Result<(), TextClientError> {
    let fate = room.perform(Act::Emote(emote), Vec::new()).await?;
    conclude(room, fate, words::gesture(emote))
}

pub(super) async fn who(room: &mut TextClient) -> Result<(), TextClientError> {
    let Answer::Players(players) = room.driver.ask(Question::Players, ANSWER).await? else {
        return room.tell(LineKind::Refused, "The node does not say who is here.");
    };
    let keys: Vec<PublicKey> = players.iter().map(|player| player.key).collect();
    let kept = profiles::kept(room, &keys).await?;
    for PlayerEntry { name, key, .. } in players {
        let mut who = if key == room.driver.author() { ", that is you" } else { "" };
        if room.buddies.has(&key) {
            who = ", your buddy";
        }
        let signed = kept.get(&key).and_then(|kept| kept.signed.as_ref());
        let pronouns = match signed.map(|signed| signed.profile.pronouns.as_str()) {
            None | Some("") => String::new(),
            Some(pronouns) => format!(", {}", printable(pronouns)),
        };
        let begins = &key.to_string()[..8];
        let line = format!("{}{pronouns} (key {begins}..{who})", printable(&name));
        room.tell_person(&line, &key)?;
    }
    Ok(())
}

pub(super) async fn source(room: &mut TextClient, typed: &str) -> Result<(), TextClientError> {
    let Some(scene) = room.look_around().await? else {
        return room.tell(LineKind::Refused, "The node shows nothing.");
    };
    let Some(thing) = seen(room, &scene, typed)? else {
        return Ok(());
    };
    if thing.scripts.is_empty() {
        let line = format!("Nothing runs on {}.", printable(&thing.name));
        return room.tell(LineKind::Answer, &line);
    }
    for id in packages(room, &thing).await? {
        match fetch(room, id).await? {
            Some(package) => tell_package(room, id, &package)?,
            None => {
                room.tell(LineKind::Refused, &format!("The node does not have package {id}."))?
            }
        }
    }
    Ok(())
}

/// The packages of the scripts on something, as the node says; what they hold re-hashes to them.
async fn packages(
    room: &mut TextClient,
    thing: &SceneObject,
) -> Result<BTreeSet<PackageId>, TextClientError> {
    let Some(scripts) = room.driver.scripts(ANSWER).await? else {
        room.tell(LineKind::Refused, "The node does not say what runs here.")?;
        return Ok(BTreeSet::new());
    };
    let own = scripts.iter().filter(|entry| thing.scripts.contains(&entry.script));
    Ok(own.map(|entry| entry.package).collect())
}

fn tell_package(
    room: &TextClient,
    id: PackageId,
    package: &Package,
) -> Result<(), TextClientError> {
    let manifest = package.manifest();
    let authors: Vec<&str> = manifest.authors.iter().map(|author| author.name.as_str()).collect();
    let (name, licence) = (&manifest.name, &manifest.licence.expression);
    let authors = printable(&authors.join(", "));
    room.tell(LineKind::Answer, &format!("Package {name}, {licence}, by {authors}."))?;
    room.tell(LineKind::Answer, &format!("What follows re-hashes to {id}."))?;
    for (path, source) in package.files() {
        room.tell(LineKind::Answer, &format!("-- {path}"))?;
        for line in source.lines() {
            room.tell(LineKind::Answer, line)?;
        }
    }
    Ok(())
}

/// Returns the thing that was typed, or prints that there is no such thing in sight.
fn seen(
    room: &TextClient,
    scene: &Scene,
    typed: &str,
) -> Result<Option<SceneObject>, TextClientError> {
    let found = pointed(scene, room.it, typed).cloned();
    if found.is_none() && is_last(typed) && room.it.is_none() {
        room.tell(LineKind::Refused, NO_LAST)?;
    } else if found.is_none() {
        let line = format!("There is no {} in sight.", printable(typed));
        room.tell(LineKind::Refused, &line)?;
    }
    Ok(found)
}

fn place_of(scene: &Scene, id: ObjectId) -> Option<Vec2> {
    scene.objects.iter().find(|object| object.id == id).map(|object| object.position)
}

/// Walks into reach of something; false, with a word why, if that was not possible.
async fn approach(room: &mut TextClient, thing: &SceneObject) -> Result<bool, TextClientError> {
    let avatar = &room.driver.trust().genesis.parameters.avatar;
    // Half of the reach to spare: both may move until the act is decided.
    let close = avatar.radius.saturating_add(avatar.reach.saturating_mul(Fx::HALF));
    let WalkEnd { step, goal, .. } = walk(room, Goal::Object(thing.id, close)).await?;
    let name = printable(&thing.name);
    let why = match step {
        Some(WalkStep::Arrived) => return Ok(true),
        Some(WalkStep::Blocked(rest)) => {
            format!("Something is in the way, {rest:.1} m from {name}.")
        }
        Some(WalkStep::Lost) => room.lost_sight(&goal.unwrap_or_else(|| thing.into())),
        Some(WalkStep::Head(_)) | None => format!("You stop on your way to {name}."),
    };
    room.tell(LineKind::Refused, &why)?;
    Ok(false)
}

/// How a walk has ended.
struct WalkEnd {
    step: Option<WalkStep>,
    /// The place where it ended.
    place: Option<Vec2>,
    /// What is added to coordinates of the beginning, because the walk led into other sims.
    shift: Vec2,
    /// Whether it led into another sim.
    has_crossed: bool,
    /// The goal as it was seen last, if it is a thing or a person.
    goal: Option<LastSeen>,
}

/// Walks until the walk ends, a line interrupts it, or it takes too long; then stands still.
async fn walk(room: &mut TextClient, goal: Goal) -> Result<WalkEnd, TextClientError> {
    let speed = room.driver.trust().genesis.parameters.avatar.speed;
    let (mut walk, end) = (AvatarWalk::new(goal, speed), Instant::now() + WALK);
    let mut scene = room.look_around().await?;
    let (mut moving, mut step, mut shift) = (false, None, Vec2::ZERO);
    let mut has_crossed = false;
    let mut last = None;
    while let Some(mut seen) = scene.filter(|_| Instant::now() < end) {
        if let Some(WayOver { shift: by, through_portal }) = room.attend_border().await? {
            walk.shift(by);
            (shift, has_crossed) = (shift.saturating_add(by), true);
            seen = room.scene.clone().unwrap_or(seen);
            if through_portal {
                // What lies ahead here is nothing that the walk was to.
                step = Some(WalkStep::Arrived);
                break;
            }
        }
        if let Goal::Object(id, _) = goal {
            last = seen.objects.iter().find(|it| it.id == id).map(LastSeen::from).or(last);
        }
        if !room.is_under_way() {
            step = Some(walk.step(&seen));
            let Some(WalkStep::Head(heading)) = step else {
                break;
            };
            // Nobody gets around a line.
            if walk.begins_to_go_around()
                && let (Goal::Place(to), Some(here)) = (walk.goal(), position(&seen))
                && room.ends_at_wall(here, to).await
            {
                step = Some(WalkStep::Blocked(here.distance(to)));
                break;
            }
            if moving {
                room.send(Act::Walk { heading }).await?;
            } else {
                // The first step calls the avatar back if it left, or if another device has it.
                room.perform(Act::Walk { heading }, Vec::new()).await?;
            }
            moving = true;
        }
        scene = room.next_scene().await?;
    }
    if moving {
        // Another device may have the avatar by now, and go on with it.
        room.try_once(Act::Walk { heading: Vec2::ZERO }, Vec::new()).await?;
    }
    let place = room.look_around().await?.as_ref().and_then(position);
    Ok(WalkEnd { step, place, shift, has_crossed, goal: last })
}

/// Tells why the border is a wall, if a walk in this direction ended at one before its goal.
async fn tell_wall(
    room: &mut TextClient,
    heading: Vec2,
    (goal, there, shift): (Goal, Vec2, Vec2),
) -> Result<(), TextClientError> {
    let Goal::Place(goal) = goal else { return Ok(()) };
    let rest = goal.saturating_add(shift).saturating_sub(there);
    if rest.dot(heading) < Fx::ONE {
        return Ok(());
    }
    match room.wall(there).await {
        Some(why) => room.tell(LineKind::Refused, &format!("The border is a wall: {why}.")),
        None => Ok(()),
    }
}

/// The line that an act ends with.
pub(super) fn conclude(
    room: &TextClient,
    fate: ActProgress,
    done: &str,
) -> Result<(), TextClientError> {
    match fate {
        ActProgress::Done(Outcome::Ok | Outcome::Made(_)) => room.tell(LineKind::Done, done),
        ActProgress::Done(Outcome::Refused(why)) => {
            room.tell(LineKind::Refused, &format!("That did not work: {why}."))
        }
        ActProgress::Refused(why) => {
            room.tell(LineKind::Refused, &format!("The node did not take it: {why}."))
        }
        ActProgress::Waiting => {
            room.tell(LineKind::Refused, "It is not decided yet; it is sent again.")
        }
        ActProgress::Placed { height, .. } => {
            let line = format!("It is in turn {height}; what became of it is not known yet.");
            room.tell(LineKind::Refused, &line)
        }
    }
}
