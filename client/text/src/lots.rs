//! Lots in words: whose ground it is, and what its holder does with it.

use std::time::Duration;

use metatopia_client::{
    build::claim_around,
    text::{LotCommand, compass, number_of, position, printable},
};
use metatopia_math::{Fx, Vec2};
use metatopia_protocol::{Answer, LotEntry, LotPerson, Question, take_page};
use metatopia_sim::{Area, GroundAt, Lot};
use metatopia_types::{Act, LotId, LotOrder, PublicKey};

use super::{
    builder::{meant, player},
    charter, clubs,
    deeds::conclude,
    room::TextClient,
};
use crate::{LineKind, TextClientError};

/// Time for one question.
const ANSWER: Duration = Duration::from_secs(5);

/// Returns the lots of the sim, as the node says.
pub(super) async fn lots(room: &mut TextClient) -> Result<Vec<LotEntry>, TextClientError> {
    let (mut all, mut next) = (Vec::new(), Some(LotId(0)));
    while let Some(after) = next {
        let Answer::Lots(page) = room.driver.ask(Question::Lots { after }, ANSWER).await? else {
            return Ok(all);
        };
        next = take_page(&mut all, page);
    }
    Ok(all)
}

/// Returns the lot that a node tells of.
pub(super) fn lot_of(entry: &LotEntry) -> Lot {
    Lot {
        name: entry.name.clone(),
        area: Area { low: entry.low, high: entry.high },
        holder: entry.holder.key,
        friends: entry.friends.iter().map(|friend| friend.key).collect(),
        club: entry.club.as_ref().map(|club| club.club),
    }
}

/// Tells whose ground somebody stands on; nothing while the node proves no charter.
pub(super) async fn tell_ground(room: &mut TextClient, here: Vec2) -> Result<(), TextClientError> {
    let Some(charter) = charter::proved(room).await? else { return Ok(()) };
    let entries = lots(room).await?;
    let lots: Vec<Lot> = entries.iter().map(lot_of).collect();
    let own = room.driver.author();
    let line = match GroundAt::of(&charter.lands, &lots, here) {
        GroundAt::Lot(lot) => {
            let entry = entries.iter().find(|entry| entry.low == lot.area.low);
            let whose = entry.map_or_else(String::new, |entry| whose(entry, &own));
            format!("You stand on the lot {}: {whose}.", printable(&lot.name))
        }
        GroundAt::Land(land) => {
            let whose = metatopia_client::build::title(land.title, &own);
            format!("You stand on {}: {whose}.", printable(&land.name))
        }
        GroundAt::Rest => return Ok(()),
    };
    room.tell(LineKind::Answer, &line)
}

/// Returns the words for who builds on a lot.
fn whose(entry: &LotEntry, own: &PublicKey) -> String {
    let name = |person: &LotPerson| {
        let key = &person.key.to_string()[..8];
        match person.name.as_str() {
            _ if person.key == *own => "you".to_owned(),
            "" => format!("key {key}.."),
            name => format!("{} (key {key}..)", printable(name)),
        }
    };
    let holder = match entry.holder.key == *own {
        true => "it is yours".to_owned(),
        false => format!("it belongs to {}", name(&entry.holder)),
    };
    let mut friends: Vec<String> = entry.friends.iter().map(name).collect();
    friends.extend(entry.club.iter().map(|club| format!("the club {}", printable(&club.name))));
    match friends.is_empty() {
        true => holder,
        false => format!("{holder}, and open to {}", friends.join(", ")),
    }
}

/// Lists the lots.
pub(super) async fn list(room: &mut TextClient) -> Result<(), TextClientError> {
    let here = room.look_around().await?.as_ref().and_then(position).unwrap_or(Vec2::ZERO);
    let (entries, own) = (lots(room).await?, room.driver.author());
    for entry in &entries {
        let lot = lot_of(entry);
        let sides = entry.high.saturating_sub(entry.low);
        let middle = entry.low.saturating_add(sides.scale(Fx::HALF));
        let way = middle.saturating_sub(here);
        let line = format!(
            "{}, {:.0} x {:.0} m, {:.1} m {}: {}.",
            printable(&lot.name),
            sides.x,
            sides.y,
            way.length(),
            compass(way),
            whose(entry, &own)
        );
        room.tell(LineKind::Answer, &line)?;
    }
    let mine: Vec<Lot> =
        entries.iter().filter(|entry| entry.holder.key == own).map(lot_of).collect();
    let metres = mine.iter().map(Lot::square_metres).fold(0, u32::saturating_add);
    let Some(charter) = charter::needed(room).await? else { return Ok(()) };
    let share = charter.parameters.lots;
    let line = format!(
        "You hold {} of {}, with {metres} of {}.",
        mine.len(),
        number_of(share.per_player, "lot", "lots"),
        number_of(share.square_metres_per_player, "square metre", "square metres")
    );
    room.tell(LineKind::Answer, &line)
}

/// Does what was typed about a lot.
pub(super) async fn obey(room: &mut TextClient, what: LotCommand) -> Result<(), TextClientError> {
    let Some(here) = room.look_around().await?.as_ref().and_then(position) else {
        return room.tell(LineKind::Refused, &room.not_here());
    };
    if let LotCommand::Claim(width, depth) = what {
        let order = claim_around(here, width, depth);
        let done = format!(
            "{width} x {depth} m around you are yours; `lot name WORDS` gives the lot a name."
        );
        return perform(room, order, &done).await;
    }
    let entries = lots(room).await?;
    let is_here = |entry: &&LotEntry| lot_of(entry).area.contains(here);
    let Some(entry) = entries.iter().find(is_here) else {
        let line = "You stand on no lot; `lots` tells where they are, `lot claim 8x8` takes one.";
        return room.tell(LineKind::Refused, line);
    };
    let (lot, called) = (entry.lot, printable(&entry.name));
    let (order, done) = match what {
        LotCommand::Name(name) => {
            let done = format!("The lot is called {} now.", printable(&name));
            (LotOrder::Name { lot, name }, done)
        }
        LotCommand::Give(to) => match player(room, &to).await? {
            Some((to, name)) => (LotOrder::Give { lot, to }, format!("{called} is {name}'s now.")),
            None => return Ok(()),
        },
        LotCommand::Open(to) => match player(room, &to).await? {
            Some((to, name)) => (LotOrder::Open { lot, to }, format!("{name} may build here.")),
            None => return Ok(()),
        },
        LotCommand::Shut(to) => match friend(entry, &to) {
            Some(to) => (LotOrder::Shut { lot, to }, "That friend builds here no longer.".into()),
            None => return room.tell(LineKind::Refused, "No friend of the lot is called so."),
        },
        LotCommand::OpenToClub(club) => match clubs::meant(room, &club).await? {
            Some(found) => {
                let done = format!("The members of {} may build here.", printable(&found.name));
                (LotOrder::OpenToClub { lot, club: found.club }, done)
            }
            None => return Ok(()),
        },
        LotCommand::ShutToClub => {
            (LotOrder::ShutToClub { lot }, "The club builds here no longer.".into())
        }
        LotCommand::SendHome(thing) => match meant(room, &thing).await? {
            Some(thing) => {
                let done = format!("{} went home.", printable(&thing.name));
                (LotOrder::SendHome { lot, object: thing.id }, done)
            }
            None => return Ok(()),
        },
        LotCommand::Return => (LotOrder::Return { lot }, format!("{called} is open ground again.")),
        LotCommand::Claim(..) => unreachable!("claims are done above"),
    };
    perform(room, order, &done).await
}

/// Returns the friend of a lot whose name or key begins so; who is one need not be here.
fn friend(entry: &LotEntry, typed: &str) -> Option<PublicKey> {
    let typed = typed.to_lowercase();
    let is_meant = |friend: &&LotPerson| {
        friend.name.to_lowercase().starts_with(&typed) || friend.key.to_string().starts_with(&typed)
    };
    entry.friends.iter().find(is_meant).map(|friend| friend.key)
}

async fn perform(
    room: &mut TextClient,
    order: LotOrder,
    done: &str,
) -> Result<(), TextClientError> {
    let fate = room.perform(Act::Lot(order), Vec::new()).await?;
    conclude(room, fate, done)
}
