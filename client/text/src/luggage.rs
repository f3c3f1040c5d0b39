//! The commands about luggage: what a person puts away, and what she fetches from it.

use metatopia_client::text::{compass, number_of, printable};
use metatopia_protocol::{StowedThing, ThingEntry};
use metatopia_types::{Build, ObjectId};

use super::{
    builder::{meant, perform, place_near, player},
    charter,
    own_things::{things, things_of},
    pointing::{is_last, numbered},
    room::TextClient,
};
use crate::{LineKind, TextClientError};

/// Puts a thing into the luggage of its owner.
pub(super) async fn stow(room: &mut TextClient, typed: &str) -> Result<(), TextClientError> {
    let Some(thing) = meant(room, typed).await? else { return Ok(()) };
    room.it = Some(thing.id);
    let name = printable(&thing.name);
    let id = thing.id;
    let done = format!("{name} is in luggage, object {id}; `fetch {name}` puts it down again.");
    perform(room, Build::Stow { object: thing.id }, &done).await
}

/// Puts a thing of the luggage down where there is room for it.
pub(super) async fn fetch(room: &mut TextClient, typed: &str) -> Result<(), TextClientError> {
    let own = things(room).await?;
    let Some((thing, stowed)) = meant_in_luggage(&own, typed, room.it) else {
        return not_in_luggage(room, typed);
    };
    room.it = Some(thing.object);
    let Some(charter) = charter::needed(room).await? else { return Ok(()) };
    let Some((here, position)) = place_near(room, &charter, stowed.half, stowed.movable).await?
    else {
        return Ok(());
    };
    let way = position.saturating_sub(here);
    let name = printable(&thing.name);
    let (length, towards, id) = (way.length(), compass(way), thing.object);
    let done = format!("You put {name} down, {length:.1} m {towards}, object {id}.");
    perform(room, Build::Fetch { object: thing.object, position }, &done).await
}

/// Deletes a thing of the luggage for good. What is in somebody else's is called by its number.
pub(super) async fn discard(room: &mut TextClient, typed: &str) -> Result<(), TextClientError> {
    let own = things(room).await?;
    let (object, name) = match (meant_in_luggage(&own, typed, room.it), numbered(typed)) {
        (Some((thing, _)), _) => (thing.object, printable(&thing.name)),
        (None, Some(object)) => (object, format!("object {object}")),
        (None, None) => return not_in_luggage(room, typed),
    };
    perform(room, Build::Discard { object }, &format!("You deleted {name} for good.")).await
}

/// Tells somebody that nothing in her luggage is what she typed.
fn not_in_luggage(room: &mut TextClient, typed: &str) -> Result<(), TextClientError> {
    let line = format!("There is no {} in your luggage; `luggage` lists it.", printable(typed));
    room.tell(LineKind::Refused, &line)
}

/// Tells whoever comes how much is in her luggage, which a moderator may have put there.
pub(super) async fn greet(room: &mut TextClient) -> Result<(), TextClientError> {
    let stowed = things(room).await?.iter().filter(|thing| thing.stowed.is_some()).count();
    if stowed > 0 {
        let things = number_of(stowed, "thing is", "things are");
        room.note(&format!("{things} in your luggage: `luggage` lists what you can `fetch`."));
    }
    Ok(())
}

/// Lists what is in the luggage of somebody; of the person, if nobody is named.
pub(super) async fn list(room: &mut TextClient, of: Option<&str>) -> Result<(), TextClientError> {
    let (owner, whose) = match of {
        None => (room.driver.author(), "your luggage".to_owned()),
        Some(named) => match player(room, named).await? {
            Some((key, name)) => (key, format!("the luggage of {name}")),
            None => return Ok(()),
        },
    };
    let all = things_of(room, owner).await?;
    let stowed: Vec<&ThingEntry> = all.iter().filter(|thing| thing.stowed.is_some()).collect();
    for thing in &stowed {
        let line = format!("{}, object {}.", printable(&thing.name), thing.object);
        room.tell(LineKind::Answer, &line)?;
    }
    let line = format!("{} in {whose}.", number_of(stowed.len(), "thing", "things"));
    room.tell(LineKind::Answer, &line)
}

/// Returns the thing in luggage that was typed: by `it`, its number or its name; of several of one name the first.
fn meant_in_luggage<'a>(
    own: &'a [ThingEntry],
    typed: &str,
    it: Option<ObjectId>,
) -> Option<(&'a ThingEntry, &'a StowedThing)> {
    let id = if is_last(typed) { it } else { numbered(typed) };
    let is_meant = |thing: &ThingEntry| match id {
        Some(id) => thing.object == id,
        None => thing.name.to_lowercase() == typed.to_lowercase(),
    };
    let mut stowed = own.iter().filter_map(|thing| Some((thing, thing.stowed.as_ref()?)));
    stowed.find(|(thing, _)| is_meant(thing))
}

#[cfg(test)]
mod tests {
    use metatopia_math::Vec2;

    use super::*;

    fn thing(object: u64, name: &str, is_stowed: bool) -> ThingEntry {
        let stowed = StowedThing { half: Vec2::ZERO, movable: true, packages: Vec::new() };
        ThingEntry {
            object: ObjectId(object),
            name: name.to_owned(),
            kind: "crate".to_owned(),
            position: Vec2::ZERO,
            text_bytes: 0,
            scripts: Vec::new(),
            guest: None,
            stowed: is_stowed.then_some(stowed),
        }
    }

    #[test]
    fn what_is_fetched_is_in_luggage_and_called_by_name_number_or_it() {
        let own = [thing(1, "Box", false), thing(2, "Box", true), thing(3, "lamp", true)];
        let meant = |typed, it| meant_in_luggage(&own, typed, it).map(|(thing, _)| thing.object.0);
        assert_eq!(meant("box", None), Some(2), "the other one is no luggage");
        assert_eq!(meant("object 3", None), Some(3));
        assert_eq!(meant("it", Some(ObjectId(3))), Some(3));
        assert_eq!(meant("object 1", None), None);
        assert_eq!(meant("it", None), None);
        assert_eq!(meant("hat", None), None);
    }
}
