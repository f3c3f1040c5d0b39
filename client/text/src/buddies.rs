//! Whom a person likes to find.

use std::time::Duration;

use metatopia_client::text::{BuddyCommand, printable};
use metatopia_protocol::{Answer, Question};
use metatopia_types::PublicKey;

use super::{builder::player, room::TextClient};
use crate::{LineKind, TextClientError};

/// Time for one question.
const ANSWER: Duration = Duration::from_secs(5);

/// Buddies whose names are told when somebody comes.
const NAMED_MAX: usize = 8;

pub(super) async fn obey(room: &mut TextClient, what: BuddyCommand) -> Result<(), TextClientError> {
    match what {
        BuddyCommand::Add(name) => add(room, &name).await,
        BuddyCommand::Remove(name) => remove(room, &name),
        BuddyCommand::List => list(room).await,
    }
}

/// Puts a person on the list who is in the sim, or who has the key that was typed.
async fn add(room: &mut TextClient, name: &str) -> Result<(), TextClientError> {
    let Some((key, called)) = player(room, name).await? else { return Ok(()) };
    if key == room.driver.author() {
        return room.tell(LineKind::Refused, "That is you.");
    }
    if let Err(why) = room.buddies.add(key, &called) {
        return room.tell(LineKind::Refused, &format!("That did not work: {why}."));
    }
    let line = format!("{called} is your buddy; `unbuddy {}` ends it.", short(&key));
    room.tell(LineKind::Done, &line)?;
    keep(room)
}

fn remove(room: &mut TextClient, name: &str) -> Result<(), TextClientError> {
    let (key, called) = match room.buddies.named(name)[..] {
        [(key, called)] => (key, printable(called)),
        [] => {
            let line = "You have no buddy of that name; `buddies` lists them.";
            return room.tell(LineKind::Refused, line);
        }
        [..] => {
            let line = "You have several buddies who are called so; `buddies` lists their keys.";
            return room.tell(LineKind::Refused, line);
        }
    };
    let was_there = room.buddies.remove(&key);
    assert!(was_there, "the list named {key}");
    room.tell(LineKind::Done, &format!("{called} is your buddy no more."))?;
    keep(room)
}

/// Lists the buddies, with those first who are here.
async fn list(room: &mut TextClient) -> Result<(), TextClientError> {
    let here = here(room).await?;
    let mut people: Vec<(bool, PublicKey, String)> = room
        .buddies
        .people()
        .map(|(key, name)| (!here.iter().any(|(there, _)| there == key), *key, printable(name)))
        .collect();
    people.sort();
    for (is_away, key, name) in &people {
        let key = short(key);
        let whereabouts = if *is_away { "is not here" } else { "is here" };
        let line = format!("{name} (key {key}..) {whereabouts}; `unbuddy {key}` ends it.");
        room.tell(LineKind::Answer, &line)?;
    }
    match people.is_empty() {
        false => Ok(()),
        true => room.tell(LineKind::Answer, "You have no buddies; `buddy NAME` makes one."),
    }
}

/// Returns the buddies who are in the sim, by the names that they have now.
async fn here(room: &mut TextClient) -> Result<Vec<(PublicKey, String)>, TextClientError> {
    if room.buddies.people().next().is_none() {
        return Ok(Vec::new());
    }
    let Answer::Players(players) = room.driver.ask(Question::Players, ANSWER).await? else {
        return Ok(Vec::new());
    };
    let own = players.into_iter().filter(|player| room.buddies.has(&player.key));
    Ok(own.map(|player| (player.key, printable(&player.name))).collect())
}

/// Tells which buddies are in a sim that the person came into.
pub(super) async fn greet(room: &mut TextClient) -> Result<(), TextClientError> {
    let here = here(room).await?;
    let names: Vec<&str> = here.iter().map(|(_, name)| name.as_str()).take(NAMED_MAX).collect();
    let more = if here.len() > names.len() { ", .." } else { "" };
    let line = match here.len() {
        0 => return Ok(()),
        1 => format!("1 of your buddies is here: {}.", names[0]),
        count => format!("{count} of your buddies are here: {}{more}.", names.join(", ")),
    };
    room.tell(LineKind::Seen, &line)
}

/// Keeps the list for the next time.
fn keep(room: &TextClient) -> Result<(), TextClientError> {
    match room.world.keep_buddies(&room.buddies) {
        Ok(()) => Ok(()),
        Err(why) => room
            .tell(LineKind::Refused, &format!("It holds until you leave, and no longer: {why}.")),
    }
}

fn short(key: &PublicKey) -> String {
    key.to_string()[..8].to_owned()
}
