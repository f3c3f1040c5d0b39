//! The limits of views, each met.

use metatopia_math::Fx;
use metatopia_protocol::{BYTES_PER_SECOND, FAR_TURNS_MAX, HAVE_MAX, TileName, Watching};
use metatopia_replica::{
    ClientId,
    views::{
        FAR_MAX, FAR_REACH, FAR_SIGHT, FAR_TURNS, GESTURES_MAX, PIECE_BYTES, VIEW_BYTES_MAX,
        ViewFault,
    },
};
use metatopia_sim::TileEntry;
use metatopia_types::{Act, Emote, Height, ObjectId, Sign};

use crate::{
    person::Person,
    town::{Town, at, key},
};

/// Plays so many turns, of which a person reads all that she is told.
fn watch(town: &mut Town, person: &mut Person, turns: u64) {
    for _ in 0..turns {
        let frames = town.play();
        person.deliver(&frames);
        person.read(town, 10);
    }
}

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
    let mut person = Person::new(1, 3_000);
    (person.watching.at, person.watching.proofs) = (Some(at(16, 16)), false);
    person.enter(&mut town, 0, 1);
    for _ in 0..2_000 {
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

#[test]
fn proofs_take_a_quarter_of_the_bytes_and_no_more() {
    let mut town = Town::new(100, &[0]);
    let mut person = Person::new(1, 8_000);
    person.watching.at = Some(at(0, 0));
    person.enter(&mut town, 0, 1);
    let seconds = 10;
    watch(&mut town, &mut person, seconds * 20);
    // At first there are the bytes of a second. The last proof may cost more than there are.
    let (share, last) = (2_000 * (seconds as usize + 1), 2_000);
    assert!(person.proof_bytes > share - last, "{} bytes", person.proof_bytes);
    assert!(person.proof_bytes <= share + last, "{} bytes", person.proof_bytes);
}

#[test]
fn a_view_ends_where_it_is_full_and_the_next_goes_on() {
    let mut town = Town::new(576, &[0]);
    let mut person = Person::new(1, 400_000);
    person.watching.at = Some(at(0, 0));
    person.enter(&mut town, 0, 1);
    for _ in 0..3 {
        let frames = town.play();
        person.deliver(&frames);
        let most = VIEW_BYTES_MAX + PIECE_BYTES.end() + 1_024;
        assert!(person.inbox.iter().all(|frame| frame.len() <= most));
        person.read(&mut town, 10);
    }
    assert!(person.bytes > VIEW_BYTES_MAX, "{}", person.bytes);
    assert!(person.is_current(&town));
}

#[test]
fn big_things_far_away_are_told_a_few_at_a_time_and_again_before_they_are_forgotten() {
    let towers = FAR_MAX as i32 * 2;
    let mut town = Town::with_towers(towers);
    let mut person = Person::new(1, 40_000);
    person.watching.at = Some(at(0, 0));
    person.enter(&mut town, 0, 1);
    let mut told: Vec<(Height, Vec<TileEntry>)> = Vec::new();
    watch(&mut town, &mut person, 3 * FAR_TURNS_MAX);
    for view in person.views.iter().filter(|view| !view.far.is_empty()) {
        assert!(view.far.len() <= FAR_MAX);
        let decoded = view.far.iter().map(|entry| TileEntry::decode(entry).expect("an entry"));
        told.push((view.height, decoded.collect()));
    }
    assert!(told.windows(2).all(|two| two[1].0 >= two[0].0.plus(FAR_TURNS)));
    let near = Fx::from_int(FAR_SIGHT + 20);
    let mut last = std::collections::BTreeMap::new();
    for (height, entries) in &told {
        for entry in entries {
            assert!(entry.body.position().distance(at(0, 0)) <= near);
            if let Some(before) = last.insert(entry.id, *height) {
                assert!(before.plus(FAR_TURNS_MAX) > *height, "the client would have forgotten it");
            }
        }
    }
    // The last tower is too far away.
    assert_eq!(last.len(), towers as usize - 1);
}

#[test]
fn a_crowd_that_waves_at_once_is_shown_in_part() {
    let mut town = Town::new(0, &[0]);
    let crowd = GESTURES_MAX as u8 + 10;
    let mut person = Person::new(1, 400_000);
    person.enter(&mut town, 0, 1);
    for turn in 0..8 {
        for n in 1..=crowd {
            match turn {
                0 if n < 60 => town.login(n),
                1 if (60..120).contains(&n) => town.login(n),
                2 if n >= 120 => town.login(n),
                4 => town.act(n, Act::Emote(Emote::Wave)),
                _ => {}
            }
        }
        let frames = town.play();
        person.deliver(&frames);
        person.read(&mut town, 10);
    }
    let gestures = person.views.last().map(|view| view.gestures.len());
    assert_eq!(gestures, Some(GESTURES_MAX));
}

#[test]
fn what_reaches_so_far_from_its_centre_counts_as_big_and_what_reaches_less_does_not() {
    let reach = Fx::from_int(FAR_REACH);
    let mut town = Town::with_discs(&[reach, reach.saturating_sub(Fx::from_ratio(1, 100))]);
    let mut person = Person::new(1, 40_000);
    person.watching.at = Some(at(0, 0));
    person.enter(&mut town, 0, 1);
    watch(&mut town, &mut person, FAR_TURNS_MAX);
    let far = person.views.iter().flat_map(|view| &view.far);
    let ids: Vec<ObjectId> =
        far.map(|entry| TileEntry::decode(entry).expect("an entry").id).collect();
    assert!(!ids.is_empty() && ids.iter().all(|id| *id == ObjectId(1)), "{ids:?}");
}

/// Returns the bytes of the first turns for a client that asks for so many a second.
fn bytes_at(rate: u32) -> usize {
    let mut town = Town::new(800, &[0]);
    let mut person = Person::new(1, rate);
    person.watching.at = Some(at(0, 0));
    person.enter(&mut town, 0, 1);
    watch(&mut town, &mut person, 20);
    person.bytes
}

#[test]
fn who_asks_for_less_or_more_than_the_rates_there_are_has_the_nearest_one() {
    let (least, most) = (*BYTES_PER_SECOND.start(), *BYTES_PER_SECOND.end());
    let [lowest, highest] = [least, most].map(bytes_at);
    assert_eq!([1, least - 1].map(bytes_at), [lowest; 2]);
    assert_eq!([most + 1, u32::MAX].map(bytes_at), [highest; 2]);
    assert!(lowest < bytes_at(10 * least) && bytes_at(most / 10) < highest, "it is a rate");
}
