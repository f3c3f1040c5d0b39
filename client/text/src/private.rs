//! Private words: what one person tells another, and what is told to her.

use std::time::Duration;

use metatopia_client::OPENED_KEPT;
use metatopia_client::text::{PrivateCommand, find, printable, told, unreadable};
use metatopia_protocol::{Answer, Question, ToldMessage};
use metatopia_types::{Act, Outcome, PublicKey, Refusal};

use super::{
    builder::{key_digits, player},
    deeds::conclude,
    room::{ActProgress, TextClient},
    rules,
};
use crate::{LineKind, TextClientError};

/// Time for one question.
const ANSWER: Duration = Duration::from_secs(5);

pub(super) async fn obey(
    room: &mut TextClient,
    what: PrivateCommand,
) -> Result<(), TextClientError> {
    match what {
        PrivateCommand::Tell(name, words) => tell(room, &name, &words).await,
        PrivateCommand::Mailbox => {
            if list(room, true).await? == 0 {
                return room.tell(LineKind::Answer, "Your mailbox is empty.");
            }
            Ok(())
        }
        PrivateCommand::Empty => {
            let up_to = room.correspondence.newest_place().unwrap_or(0);
            let fate = room.perform(Act::EmptyMailbox { up_to }, Vec::new()).await?;
            if fate == ActProgress::Done(Outcome::Refused(Refusal::AlreadySo)) {
                return room.tell(LineKind::Answer, "Your mailbox is empty.");
            }
            conclude(room, fate, "What you have read is taken out of your mailbox.")
        }
    }
}

/// Tells a person something, in sight or elsewhere in the sim, or who has the key that was typed.
async fn tell(room: &mut TextClient, name: &str, words: &str) -> Result<(), TextClientError> {
    let Some((key, called)) = reader(room, name).await? else { return Ok(()) };
    let (act, blobs) = match room.correspondence.seal(&key, words) {
        Ok(sealed) => sealed,
        Err(why) => return room.tell(LineKind::Refused, &format!("That did not work: {why}.")),
    };
    let fate = room.perform(act, blobs).await?;
    let is_muted = fate == ActProgress::Done(Outcome::Refused(Refusal::Muted));
    conclude(room, fate, &format!("You tell {called} privately: {}", printable(words)))?;
    if is_muted { rules::tell_mute(room).await } else { Ok(()) }
}

/// Returns the person of a name, in sight or elsewhere in the sim, with a word if there is none.
async fn reader(
    room: &mut TextClient,
    name: &str,
) -> Result<Option<(PublicKey, String)>, TextClientError> {
    let scene = room.scene.as_ref().filter(|_| key_digits(name).is_none());
    let seen = scene.and_then(|scene| find(scene, name));
    if let Some((person, name)) = seen.and_then(|seen| Some((seen.player.as_ref()?, &seen.name))) {
        return Ok(Some((person.key, printable(name))));
    }
    player(room, name).await
}

/// Reads what is in the mailbox. Returns how many words were shown.
pub(super) async fn read(room: &mut TextClient) -> Result<usize, TextClientError> {
    list(room, false).await
}

/// Tells what is in the mailbox; what was told before is left out, or told again by the number that it has.
/// Returns how many words were shown.
async fn list(room: &mut TextClient, again: bool) -> Result<usize, TextClientError> {
    let of = room.driver.author();
    let question = Question::Mailbox { of, after: 0 };
    let Answer::Mailbox(kept) = room.driver.ask(question, ANSWER).await? else { return Ok(0) };
    let mut shown = 0;
    for words in &kept {
        let known = room.told.get(&words.number).filter(|_| again);
        let mut known = known.cloned();
        if let Some(known) = &mut known {
            known.ago = words.ago;
        }
        if show(room, words, true)? {
            shown += 1;
        } else if let Some(known) = known.filter(|known| !room.blocks.has(&known.by)) {
            room.tell(LineKind::Heard, &told(&known, true))?;
            shown += 1;
        }
    }
    Ok(shown)
}

/// Tells what somebody told, unless it was told before, or is of somebody who is blocked. Returns whether it did.
pub(super) fn show(
    room: &mut TextClient,
    message: &ToldMessage,
    is_earlier: bool,
) -> Result<bool, TextClientError> {
    let is_blocked = room.blocks.has(&message.act.envelope.author);
    let line = match room.correspondence.take(message) {
        // They came all the same: who empties the mailbox takes them out.
        _ if is_blocked => return Ok(false),
        Ok(Some(words)) => {
            if room.told.len() >= OPENED_KEPT {
                room.told.pop_first();
            }
            room.told.insert(message.number, words.clone());
            told(words, is_earlier)
        }
        Ok(None) => return Ok(false),
        Err(why) => unreadable(message, why),
    };
    room.tell(LineKind::Heard, &line)?;
    Ok(true)
}
