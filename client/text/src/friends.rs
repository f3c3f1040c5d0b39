//! Friends in words: whom somebody names for a lost key, and who vouches for a new one.

use std::{collections::BTreeSet, time::Duration};

use metatopia_client::text::{FriendCommand, friends_lines};
use metatopia_protocol::{Answer, Question};
use metatopia_types::{Act, PublicKey};

use super::{builder::player, deeds::conclude, room::TextClient};
use crate::{LineKind, TextClientError};

/// Time for one question.
const ANSWER: Duration = Duration::from_secs(5);

pub(super) async fn obey(
    room: &mut TextClient,
    what: FriendCommand,
) -> Result<(), TextClientError> {
    let (act, done) = match what {
        FriendCommand::List => return list(room).await,
        FriendCommand::Name(names, need) => {
            let mut friends = BTreeSet::new();
            for name in &names {
                let Some((key, _)) = player(room, name).await? else { return Ok(()) };
                friends.insert(key);
            }
            let friends: Vec<PublicKey> = friends.into_iter().collect();
            let done = "It counts in 72 hours of the sim's time; `friends` tells.";
            (Act::NameFriends { friends, need }, done)
        }
        FriendCommand::Vouch(old, new) => {
            let Some((old, _)) = player(room, &old).await? else { return Ok(()) };
            (
                Act::Vouch { old, new },
                "You vouch for the new key; the owner of the old one is told.",
            )
        }
        FriendCommand::Cancel => {
            (Act::CancelRecovery, "Your key stays yours; who vouched is quiet for a month.")
        }
    };
    let fate = room.perform(act, Vec::new()).await?;
    conclude(room, fate, done)
}

/// Lists one's own friends, with the recovery under way.
async fn list(room: &mut TextClient) -> Result<(), TextClientError> {
    let of = room.driver.author();
    let Answer::Friends(told) = room.driver.ask(Question::Friends { of }, ANSWER).await? else {
        return room.tell(LineKind::Refused, "The node does not say who your friends are.");
    };
    let lines = told.map_or_else(|why| vec![why.to_string()], |entry| friends_lines(&entry));
    lines.iter().try_for_each(|line| room.tell(LineKind::Answer, line))
}
