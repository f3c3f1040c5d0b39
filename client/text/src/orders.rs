//! Orders in words about things, rights and the message of the day, for who may give them.

use metatopia_client::text::{TypedOrder, printable};
use metatopia_protocol::span;
use metatopia_types::{Act, BorderOrder, GovernOrder, RoleRight};

use super::{
    builder::{Thing, meant, player},
    deeds::conclude,
    room::TextClient,
};
use crate::{LineKind, TextClientError};

/// Gives an order, and tells what came of it.
pub(super) async fn obey(room: &mut TextClient, what: TypedOrder) -> Result<(), TextClientError> {
    let (order, done) = match what {
        TypedOrder::Freeze(thing) => match meant(room, &thing).await? {
            Some(thing) => {
                let name = printable(&thing.name);
                let done = format!("{name} stands still; `thaw {name}` ends that.");
                (GovernOrder::Freeze { object: thing.id }, done)
            }
            None => return Ok(()),
        },
        TypedOrder::Thaw(thing) => match meant(room, &thing).await? {
            Some(thing) => {
                let done = format!("{} goes on.", printable(&thing.name));
                (GovernOrder::Thaw { object: thing.id }, done)
            }
            None => return Ok(()),
        },
        TypedOrder::Return(thing) => match meant(room, &thing).await? {
            Some(thing) => {
                let name = printable(&thing.name);
                let done = format!(
                    "{name} is with its owner: on her ground, or in her luggage; what luggage does not take is gone."
                );
                (GovernOrder::Return { object: thing.id }, done)
            }
            None => return Ok(()),
        },
        TypedOrder::SendHome(thing) => match meant(room, &thing).await? {
            Some(thing) => return send_home(room, &thing).await,
            None => return Ok(()),
        },
        TypedOrder::Announce(text) => {
            let done = match text.as_str() {
                "" => "There is no message of the day any more.".to_owned(),
                text => format!("Whoever comes reads: {}", printable(text)),
            };
            (GovernOrder::Announce { text }, done)
        }
        TypedOrder::Grant(named, rights, seconds) => match player(room, &named).await? {
            Some((key, called)) => {
                let lasts = seconds.map_or("for good".to_owned(), |seconds| {
                    format!("for {}", span(u64::from(seconds).saturating_mul(1_000)))
                });
                let done = format!("{called} has {} {lasts}.", words(rights.iter()));
                (GovernOrder::Grant { key, rights, seconds }, done)
            }
            None => return Ok(()),
        },
        TypedOrder::Revoke(named, rights) => match player(room, &named).await? {
            Some((key, called)) => {
                let done = format!("{called} has {} no more.", words(rights.iter()));
                (GovernOrder::Revoke { key, rights }, done)
            }
            None => return Ok(()),
        },
    };
    let fate = room.perform(Act::Govern(order), Vec::new()).await?;
    conclude(room, fate, &done)
}

/// Orders that a thing goes back over the border that it came over.
async fn send_home(room: &mut TextClient, thing: &Thing) -> Result<(), TextClientError> {
    let name = printable(&thing.name);
    let Some(neighbour) = thing.guest else {
        let told = format!("{name} counts against no border's share: `look at {name}` tells more.");
        return room.tell(LineKind::Refused, &told);
    };
    let blob = BorderOrder::SendHome { neighbour, object: thing.id }.blob();
    let fate = room.perform(Act::Border { order: blob.id() }, vec![blob]).await?;
    conclude(
        room,
        fate,
        &format!("{name} goes home. If that sim refuses it, it is back at the line."),
    )
}

/// Returns rights in words.
fn words<'a>(rights: impl Iterator<Item = &'a RoleRight>) -> String {
    rights.map(|right| right.word()).collect::<Vec<_>>().join(", ")
}
