//! Whose words are not shown.

use metatopia_client::text::{BlockCommand, printable};
use metatopia_types::PublicKey;

use super::{builder::player, room::TextClient};
use crate::{LineKind, TextClientError};

pub(super) async fn obey(room: &mut TextClient, what: BlockCommand) -> Result<(), TextClientError> {
    match what {
        BlockCommand::Block(name) => block(room, &name).await,
        BlockCommand::Unblock(name) => unblock(room, &name),
        BlockCommand::List => list(room),
    }
}

/// Shows no words of a person any more who is in the sim, or who has the key that was typed.
async fn block(room: &mut TextClient, name: &str) -> Result<(), TextClientError> {
    let Some((key, called)) = player(room, name).await? else { return Ok(()) };
    if key == room.driver.author() {
        return room.tell(LineKind::Refused, "That is you.");
    }
    if let Err(why) = room.blocks.block(key, &called) {
        return room.tell(LineKind::Refused, &format!("That did not work: {why}."));
    }
    let line =
        format!("You read no words of {called} any more; `unblock {}` ends it.", short(&key));
    room.tell(LineKind::Done, &line)?;
    keep(room)
}

fn unblock(room: &mut TextClient, name: &str) -> Result<(), TextClientError> {
    let (key, called) = match room.blocks.named(name)[..] {
        [(key, called)] => (key, printable(called)),
        [] => {
            let line = "You blocked nobody of that name; `blocks` lists whom you blocked.";
            return room.tell(LineKind::Refused, line);
        }
        [..] => {
            let line = "You blocked several who are called so; `blocks` lists their keys.";
            return room.tell(LineKind::Refused, line);
        }
    };
    let was_blocked = room.blocks.unblock(&key);
    assert!(was_blocked, "the list named {key}");
    room.tell(LineKind::Done, &format!("You read words of {called} again."))?;
    keep(room)
}

fn list(room: &TextClient) -> Result<(), TextClientError> {
    for (key, name) in room.blocks.people() {
        let key = short(key);
        let line = format!("{} (key {key}..): `unblock {key}` ends it.", printable(name));
        room.tell(LineKind::Answer, &line)?;
    }
    match room.blocks.people().next() {
        Some(_) => Ok(()),
        None => room.tell(LineKind::Answer, "You blocked nobody; `block NAME` does."),
    }
}

/// Keeps the list for the next time.
fn keep(room: &TextClient) -> Result<(), TextClientError> {
    match room.world.keep_blocked(&room.blocks) {
        Ok(()) => Ok(()),
        Err(why) => room
            .tell(LineKind::Refused, &format!("It holds until you leave, and no longer: {why}.")),
    }
}

fn short(key: &PublicKey) -> String {
    key.to_string()[..8].to_owned()
}
