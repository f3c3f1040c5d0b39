//! The limits of views, each met.

use metatopia_protocol::{HAVE_MAX, TileName, Watching};
use metatopia_replica::{
    ClientId,
    views::{PIECE_BYTES, ViewFault},
};
use metatopia_types::{Height, Sign};

use crate::{
    person::Person,
    town::{Town, at, key},
};

#[test]
fn a_client_that_saw_what_was_never_sent_or_has_too_much_is_at_fault() {
    let mut town = Town::new(10, &[0]);
    let mut person = Person::new(1, 40_000);
    assert_eq!(town.servers[0].views.seen(ClientId(1), 1), Err(ViewFault::NeverSent(1)));
    person.enter(&mut town, 0, 1);
    for _ in 0..5 {
        let frames = town.play();
        person.deliver(&frames);
    }
    let views = &mut town.servers[0].views;
    assert_eq!(views.seen(ClientId(1), 6), Err(ViewFault::NeverSent(6)));
    assert_eq!(views.seen(ClientId(1), 5), Ok(()));
    assert_eq!(views.seen(ClientId(1), 3), Ok(()), "an older one says nothing new");

    let have = |count: usize| {
        let tiles = (0..count).map(|x| (TileName { x: x as i32, y: 0 }, Height(1)));
        Watching { have: tiles.collect(), ..person.watching.clone() }
    };
    let (key, views) = (key(1).public(), &mut town.servers[0].views);
    assert_eq!(views.watch(ClientId(1), key, Some(&have(HAVE_MAX))), Ok(()));
    let fault = ViewFault::TooManyTiles(HAVE_MAX + 1);
    assert_eq!(views.watch(ClientId(1), key, Some(&have(HAVE_MAX + 1))), Err(fault));
    assert_eq!(views.len(), 1);
    views.forget(ClientId(1));
    assert!(views.is_empty());
}

#[test]
fn a_client_that_does_not_read_gets_no_more_than_is_allowed_under_way() {
    let mut town = Town::new(10, &[0]);
    let mut person = Person::new(1, 400_000);
    person.enter(&mut town, 0, 1);
    for _ in 0..100 {
        let frames = town.play();
        person.deliver(&frames);
    }
    let views = metatopia_protocol::UNSEEN_MAX as usize;
    // Proofs are of heights whose views went out.
    assert!(person.inbox.len() >= views && person.inbox.len() <= views + views / 4 + 1);
    assert!(person.views.is_empty());
}

#[test]
fn a_tile_that_costs_more_than_a_second_comes_in_pieces() {
    let mut town = Town::new(576, &[0]);
    let mut person = Person::new(1, 2_000);
    person.watching.at = Some(at(16, 16));
    person.enter(&mut town, 0, 1);
    for _ in 0..1_500 {
        let frames = town.play();
        person.deliver(&frames);
        person.read(&mut town, 10);
    }
    let updates: Vec<_> = person.views.iter().flat_map(|view| &view.tiles).collect();
    let bytes = |update: &&metatopia_protocol::TileUpdate| -> usize {
        update.entries.iter().map(Vec::len).sum()
    };
    assert!(updates.iter().any(|update| update.more));
    let largest = updates.iter().map(bytes).max();
    assert!(largest.is_some_and(|bytes| bytes < 4 * PIECE_BYTES.start()), "{largest:?}");
    assert!(person.copies.values().filter(|copy| copy.whole).count() >= 9);
}
