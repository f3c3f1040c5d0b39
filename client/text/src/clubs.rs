//! Clubs in words: people with a channel of their own.

use std::{collections::BTreeSet, time::Duration};

use metatopia_client::text::{
    ClubCommand, club_line, club_meant, club_person, printable, say_in_club,
};
use metatopia_protocol::{Answer, ClubEntry, ClubPerson, Question, take_page};
use metatopia_sim::Lot;
use metatopia_types::{Act, ClubId, ClubOrder, Outcome, PublicKey, Refusal};

use super::{
    builder::player,
    deeds::{conclude, utter},
    room::{ActProgress, TextClient},
    rules,
};
use crate::{LineKind, TextClientError};

/// Time for one question.
const ANSWER: Duration = Duration::from_secs(5);

/// Returns the clubs in which somebody is, or to which she is invited, as the node says.
async fn own(room: &mut TextClient) -> Result<Vec<ClubEntry>, TextClientError> {
    let of = Some(room.driver.author());
    let (mut all, mut next) = (Vec::new(), Some(ClubId(0)));
    while let Some(after) = next {
        let question = Question::Clubs { of, after };
        let Answer::Clubs(page) = room.driver.ask(question, ANSWER).await? else { break };
        next = take_page(&mut all, page);
    }
    // Nobody wants to read of clubs to which somebody invites whose words she does not read.
    all.retain(|club: &ClubEntry| {
        let invite = club.invite(&room.driver.author());
        invite.is_none_or(|invite| !room.blocks.has(&invite.by))
    });
    Ok(all)
}

/// Returns the numbers of the clubs in which somebody is. Nobody is asked where no lot is open to a club.
pub(super) async fn own_numbers(
    room: &mut TextClient,
    lots: &[Lot],
) -> Result<BTreeSet<ClubId>, TextClientError> {
    if lots.iter().all(|lot| lot.club.is_none()) {
        return Ok(BTreeSet::new());
    }
    let author = room.driver.author();
    let clubs = own(room).await?;
    let is_in = |club: &&ClubEntry| club.member(&author).is_some();
    Ok(clubs.iter().filter(is_in).map(|club| club.club).collect())
}

/// Returns the club that is meant, of those in which the person is before those to which she is invited, with a word
/// if there is none: words of one club are not for another.
pub(super) async fn meant(
    room: &mut TextClient,
    typed: &str,
) -> Result<Option<ClubEntry>, TextClientError> {
    let clubs = own(room).await?;
    let author = room.driver.author();
    let is_in = |club: &ClubEntry| club.member(&author).is_some();
    let (own, invited): (Vec<_>, Vec<_>) = clubs.into_iter().partition(is_in);
    let found = club_meant(&own, typed).or_else(|| club_meant(&invited, typed)).cloned();
    if found.is_none() {
        let line = format!(
            "You are in no club called {}, or in several that begin so; `clubs` lists yours.",
            printable(typed)
        );
        room.tell(LineKind::Refused, &line)?;
    }
    Ok(found)
}

pub(super) async fn obey(room: &mut TextClient, what: ClubCommand) -> Result<(), TextClientError> {
    let typed = match &what {
        ClubCommand::List => return list(room).await,
        ClubCommand::Found(name) => {
            let done = format!(
                "The club {0} is yours; `club invite PERSON to {0}` invites somebody.",
                printable(name)
            );
            let order = ClubOrder::Found { name: name.clone() };
            return perform(room, order, &done).await;
        }
        ClubCommand::Invite(_, club)
        | ClubCommand::Join(club)
        | ClubCommand::Decline(club)
        | ClubCommand::Leave(club)
        | ClubCommand::Remove(_, club)
        | ClubCommand::Give(club, _)
        | ClubCommand::Rename(club, _)
        | ClubCommand::End(club)
        | ClubCommand::Say(club, _) => club.clone(),
    };
    let Some(found) = meant(room, &typed).await? else { return Ok(()) };
    let (club, called) = (found.club, printable(&found.name));
    let (order, done) = match what {
        ClubCommand::Say(_, words) => return say(room, &found, &words).await,
        ClubCommand::Invite(person, _) => match player(room, &person).await? {
            Some((key, name)) => {
                (ClubOrder::Invite { club, key }, format!("You invite {name} to {called}."))
            }
            None => return Ok(()),
        },
        ClubCommand::Remove(person, _) => match named(&found, &person) {
            Some(key) => (ClubOrder::Remove { club, key }, format!("{called} goes on without.")),
            None => return nobody(room, &person),
        },
        ClubCommand::Give(_, person) => match named(&found, &person) {
            Some(to) => (ClubOrder::HandOver { club, to }, format!("{called} has a new owner.")),
            None => return nobody(room, &person),
        },
        ClubCommand::Join(_) => {
            let done = format!("You are in {called}; `club {called}: WORDS` says something there.");
            (ClubOrder::Accept { club }, done)
        }
        ClubCommand::Decline(_) => (ClubOrder::Decline { club }, format!("You decline {called}.")),
        ClubCommand::Leave(_) => (ClubOrder::Leave { club }, format!("You leave {called}.")),
        ClubCommand::Rename(_, name) => {
            let done = format!("{called} is called {} now.", printable(&name));
            (ClubOrder::Rename { club, name }, done)
        }
        ClubCommand::End(_) => (ClubOrder::Dissolve { club }, format!("{called} has ended.")),
        ClubCommand::List | ClubCommand::Found(_) => unreachable!("these are done above"),
    };
    perform(room, order, &done).await
}

/// Lists the clubs in which somebody is, and to which she is invited.
async fn list(room: &mut TextClient) -> Result<(), TextClientError> {
    let (clubs, author) = (own(room).await?, room.driver.author());
    if clubs.is_empty() {
        return room.tell(LineKind::Answer, "You are in no club; `club new NAME` founds one.");
    }
    clubs.iter().try_for_each(|club| room.tell(LineKind::Answer, &club_line(club, &author)))?;
    let words = "What is said in a club is closed, not secret: servers can read it.";
    room.tell(LineKind::Answer, words)
}

/// Says something in a club.
async fn say(room: &mut TextClient, club: &ClubEntry, words: &str) -> Result<(), TextClientError> {
    let fate = utter(room, say_in_club(club.club, words)).await?;
    let is_muted = fate == ActProgress::Done(Outcome::Refused(Refusal::Muted));
    let done = format!("You say in {}: {}", printable(&club.name), printable(words));
    conclude(room, fate, &done)?;
    if is_muted { rules::tell_mute(room).await } else { Ok(()) }
}

/// Returns the member, or who is invited, whose name or key begins so; nobody of them need be here.
fn named(club: &ClubEntry, typed: &str) -> Option<PublicKey> {
    let typed = typed.to_lowercase();
    let invited = club.invites.iter().map(|invite| &invite.invited);
    let people = || club.members.iter().chain(invited.clone());
    let is = |person: &&ClubPerson| club_person(person).to_lowercase() == typed;
    let begins = |person: &&ClubPerson| {
        person.name.to_lowercase().starts_with(&typed) || person.key.to_string().starts_with(&typed)
    };
    people().find(is).or_else(|| people().find(begins)).map(|person| person.key)
}

/// Says that nobody in a club is called so.
fn nobody(room: &TextClient, typed: &str) -> Result<(), TextClientError> {
    let line = format!("Nobody in the club is called {}.", printable(typed));
    room.tell(LineKind::Refused, &line)
}

/// Gives an order, and says what came of it.
async fn perform(
    room: &mut TextClient,
    order: ClubOrder,
    done: &str,
) -> Result<(), TextClientError> {
    let fate = room.perform(Act::Club(order), Vec::new()).await?;
    conclude(room, fate, done)
}
