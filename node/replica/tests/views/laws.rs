//! The laws that hold whatever happens.

use std::collections::BTreeMap;

use metatopia_protocol::{ServerMessage, TileName, decode_server};
use metatopia_replica::views::NEAR_MAX;
use metatopia_sim::TileEntry;
use metatopia_types::{Act, Emote, Height, Movement, Sign};
use proptest::prelude::*;

use crate::{
    person::Person,
    town::{Town, at, key},
};

/// What may happen in a turn.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "a test holds few of them")]
enum Event {
    Act(u8, Act),
    /// A client begins to read so many frames a turn.
    Pace(usize, usize),
    /// A client loses its session and goes to a server.
    Move(usize, usize),
    /// A server starts anew.
    Restart(usize),
}

fn event() -> impl Strategy<Value = Event> {
    let heading = (-1_i32..=1, -1_i32..=1).prop_map(|(x, y)| Act::Walk { heading: at(x, y) });
    let login = (1_u8..6).prop_map(|n| Act::login(format!("p{n}"), Default::default()));
    let act = prop_oneof![
        6 => heading,
        3 => login,
        1 => Just(Act::Leave),
        1 => Just(Act::Emote(Emote::Wave)),
    ];
    prop_oneof![
        8 => (1_u8..6, act).prop_map(|(n, act)| Event::Act(n, act)),
        2 => (0_usize..3, 0_usize..5).prop_map(|(who, frames)| Event::Pace(who, frames)),
        2 => (0_usize..3, 0_usize..2).prop_map(|(who, server)| Event::Move(who, server)),
        1 => (0_usize..2).prop_map(Event::Restart),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn copies_are_exact_at_the_heights_they_are_of_whatever_happens(
        events in prop::collection::vec(prop::collection::vec(event(), 0..3), 150),
        budgets in prop::array::uniform3(prop_oneof![Just(2_000_u32), 2_000_u32..400_000]),
        apart in 1_u16..6,
        lag in 0_usize..6,
    ) {
        let mut town = Town::new(150, &[0, lag]);
        let mut people: Vec<Person> =
            (1..).zip(budgets).map(|(n, budget)| Person::new(n, budget)).collect();
        people[2].watching.turns_apart = apart;
        let (mut paces, mut clients) = ([9_usize, 2, 9], 100_u64);
        (1..4).for_each(|n| town.login(n));
        people.iter_mut().for_each(|person| person.enter(&mut town, 0, person.n.into()));
        for turn in events {
            for event in turn {
                match event {
                    Event::Act(n, act) => town.act(n, act),
                    Event::Pace(who, frames) => paces[who] = frames,
                    Event::Move(who, server) => {
                        clients += 1;
                        people[who].enter(&mut town, server, clients);
                    }
                    Event::Restart(server) => {
                        town.servers[server].restart();
                        for person in people.iter_mut().filter(|person| person.server == server) {
                            clients += 1;
                            person.enter(&mut town, server, clients);
                        }
                    }
                }
            }
            let frames = town.play();
            for (person, pace) in people.iter_mut().zip(paces) {
                person.deliver(&frames);
                person.read(&mut town, pace);
            }
        }
        for person in &people {
            prop_assert_eq!(person.disproven, 0);
            let all: u64 = person.views.len() as u64;
            prop_assert!(all > 0 || paces[usize::from(person.n) - 1] == 0);
        }
    }
}

#[test]
fn whoever_reads_and_has_bytes_gets_all_that_is_in_sight_and_proof_of_it() {
    let mut town = Town::new(200, &[0]);
    let mut person = Person::new(1, 400_000);
    town.login(1);
    person.enter(&mut town, 0, 1);
    for _ in 0..100 {
        let frames = town.play();
        person.deliver(&frames);
        person.read(&mut town, 10);
    }
    assert!(person.is_current(&town));
    assert!(person.copies.len() >= 9, "{}", person.copies.len());
    assert!(person.proven > 100 && person.disproven == 0, "{} leaves", person.proven);
    assert!(person.emptied > 20, "{} empty tiles", person.emptied);
    assert_eq!(person.missing, 0, "every tile in sight is proved each time");
    let me = town.servers[0].avatar(1);
    assert!(me.is_some() && person.views.last().is_some_and(|view| view.me == me));
    let far = person.views.iter().flat_map(|view| &view.far).count();
    assert!(far >= 1, "the tower is far away and big");
    let heights = person.views.windows(2).filter(|two| two[1].height != two[0].height.plus(1));
    assert_eq!(heights.count(), 0, "a view every turn");
}

#[test]
fn whatever_differs_from_the_state_by_one_bit_is_found_out_by_the_next_proof() {
    let mut town = Town::new(200, &[0]);
    let mut person = Person::new(1, 400_000);
    person.watching.at = Some(at(0, 0));
    person.enter(&mut town, 0, 1);
    for turn in 0..60 {
        let frames = town.play();
        person.deliver(&frames);
        person.read(&mut town, 10);
        if turn == 40 {
            assert_eq!(person.disproven, 0);
            let resting = |entry: &&TileEntry| entry.object.scripts.is_empty();
            let mut copies = person.copies.values_mut().map(|copy| &mut copy.copy);
            let copy = copies.find(|copy| copy.len() > 3).expect("a tile with things");
            let entry = copy.entries().find(resting).expect("a thing without scripts").clone();
            let [x, y] = entry.body.movement().position.expect("all parts are given");
            let lie = Movement { position: Some([x ^ 1, y]), ..Movement::default() };
            copy.follow(entry.id, &lie).expect("it stays in its tile");
        }
    }
    assert!(person.disproven >= 3, "one leaf in every proof: {}", person.disproven);
}

#[test]
fn the_own_avatar_moves_each_turn_even_while_its_tile_waits_for_bytes() {
    let mut town = Town::new(300, &[0]);
    let mut person = Person::new(1, 3_000);
    (1..30).for_each(|n| town.login(n));
    person.enter(&mut town, 0, 1);
    for turn in 0..400_u64 {
        for n in (1..30).filter(|n| (turn + n) % 20 == 0) {
            let way = |by: u64| ((turn / 20 + n * by) % 3) as i32 - 1;
            town.act(n as u8, Act::Walk { heading: at(way(1), way(5)) });
        }
        let frames = town.play();
        person.deliver(&frames);
        person.read(&mut town, 10);
    }
    assert!(person.near > 50, "{}", person.near);
    let most = person.views.iter().map(|view| view.near.len()).max();
    assert!(most.is_some_and(|most| most > 1 && most <= NEAR_MAX + 1), "{most:?}");
}

#[test]
fn a_slow_reader_gets_fewer_views_and_the_newest_state_when_it_reads_again() {
    let mut town = Town::new(100, &[0]);
    let mut person = Person::new(1, 400_000);
    town.login(1);
    person.enter(&mut town, 0, 1);
    for turn in 0..200 {
        let frames = town.play();
        person.deliver(&frames);
        if turn % 50 == 49 {
            person.read(&mut town, 100);
            let frames = town.play();
            person.deliver(&frames);
            person.read(&mut town, 100);
            let last = person.views.last().expect("it has seen some");
            assert_eq!(last.height, town.height(), "what comes next is the newest");
            assert!(person.is_current(&town));
        }
    }
    assert!(person.views.len() < 50, "{}", person.views.len());
}

#[test]
fn a_client_that_resumes_is_told_what_it_missed_and_not_the_whole() {
    let mut town = Town::new(200, &[0, 0]);
    let mut person = Person::new(1, 400_000);
    person.watching.at = Some(at(0, 0));
    person.enter(&mut town, 0, 1);
    let follow = |person: &mut Person, town: &mut Town, turns: u32| {
        let before = person.bytes;
        for _ in 0..turns {
            let frames = town.play();
            person.deliver(&frames);
            person.read(town, 100);
        }
        assert!(person.is_current(town));
        person.bytes - before
    };
    let first = follow(&mut person, &mut town, 40);
    person.enter(&mut town, 1, 2);
    let again = follow(&mut person, &mut town, 40);
    let whole = person.views.iter().rev().take(40).flat_map(|view| &view.tiles);
    assert_eq!(whole.filter(|update| update.since.is_none()).count(), 0);
    assert!(again < first, "{again} bytes after {first}");
}

#[test]
fn a_server_that_started_since_tells_the_whole_tile_and_then_what_is_missed() {
    let mut town = Town::new(100, &[0]);
    let mut person = Person::new(1, 400_000);
    person.watching.at = Some(at(0, 0));
    for client in 1..4 {
        person.enter(&mut town, 0, client);
        for _ in 0..10 {
            let frames = town.play();
            person.deliver(&frames);
            person.read(&mut town, 100);
        }
        let now = town.height();
        assert!(person.is_current(&town) && person.copies.values().all(|copy| copy.height <= now));
        let whole = person.views.drain(..).flat_map(|view| view.tiles);
        let whole = whole.filter(|update| update.since.is_none()).count();
        // The second time it has copies from the turn before the server started, or earlier.
        assert_eq!(whole > 0, client != 3, "entry {client}: {whole} whole tiles");
        if client == 1 {
            town.play();
            town.servers[0].restart();
        }
    }
}

#[test]
fn no_client_gets_more_than_its_bytes_and_one_second_and_one_update_in_advance() {
    for budget in [2_000_u32, 8_000, 40_000] {
        let mut town = Town::new(300, &[0]);
        let mut person = Person::new(1, budget);
        (1..20).for_each(|n| town.login(n));
        person.enter(&mut town, 0, 1);
        for turn in 0..600_u64 {
            for n in 1..20 {
                if (turn + u64::from(n)) % 15 == 0 {
                    let heading =
                        at(i32::from(n) % 3 - 1, (turn / 15 + u64::from(n)) as i32 % 3 - 1);
                    town.act(n, Act::Walk { heading });
                }
            }
            let frames = town.play();
            person.deliver(&frames);
            person.read(&mut town, 100);
            let most = u64::from(budget) * (turn + 1) / 20 + u64::from(budget) + 12_000;
            assert!(person.bytes as u64 <= most, "{} bytes in {turn} turns", person.bytes);
        }
        // And it gets most of what it may.
        let wanted = u64::from(budget) * 30;
        assert!(budget > 8_000 || person.bytes as u64 * 10 > wanted * 7, "{}", person.bytes);
    }
}

#[test]
fn asking_to_watch_anew_gives_no_bytes() {
    let mut town = Town::new(600, &[0]);
    let mut person = Person::new(1, 10_000);
    person.watching.at = Some(at(0, 0));
    person.enter(&mut town, 0, 1);
    for turn in 0..40_u64 {
        let frames = town.play();
        person.deliver(&frames);
        person.read(&mut town, 100);
        assert!(person.bytes as u64 <= 10_000 + 500 * (turn + 1) + 12_000, "{}", person.bytes);
        person.copies.clear();
        person.watching.have.clear();
        let views = &mut town.servers[0].views;
        let key = key(1).public();
        if turn % 3 == 0 {
            views.watch(person.client, key, None).expect("nothing is wrong with that");
        }
        views.watch(person.client, key, Some(&person.watching)).expect("it has nothing");
    }
    assert!(person.bytes > 10_000);
}

#[test]
fn copies_of_heights_far_ahead_are_not_waited_for() {
    let mut town = Town::new(50, &[0]);
    let mut person = Person::new(1, 400_000);
    person.watching.at = Some(at(0, 0));
    person.watching.have = vec![
        (TileName { x: 0, y: -1 }, Height(60)),
        (TileName { x: -1, y: -1 }, Height(u64::MAX)),
        (TileName { x: 0, y: 1 }, Height(0)),
    ];
    let views = &mut town.servers[0].views;
    views.watch(person.client, key(1).public(), Some(&person.watching)).expect("few tiles");
    let mut told: BTreeMap<TileName, Vec<(Height, Option<Height>)>> = BTreeMap::new();
    for _ in 0..80 {
        for (client, frame) in town.play().remove(0) {
            if let Ok(ServerMessage::View(view)) = decode_server(&frame) {
                town.servers[0].views.seen(client, view.number).expect("it was sent");
                for update in &view.tiles {
                    told.entry(update.tile).or_default().push((view.height, update.since));
                }
            }
        }
    }
    let first = |x: i32, y: i32| *told[&TileName { x, y }].first().expect("it was told about");
    let (height, since) = first(0, -1);
    assert!(height > Height(60) && since == Some(Height(60)), "waited for: {height}");
    assert_eq!(first(-1, -1), (Height(1), None), "not waited for");
    assert_eq!(first(0, 1).1, Some(Height(0)), "known from the start");
}

#[test]
fn no_tile_in_sight_starves() {
    let mut town = Town::new(300, &[0]);
    let mut person = Person::new(1, 6_000);
    (1..25).for_each(|n| town.login(n));
    person.enter(&mut town, 0, 1);
    // Updates of other tiles since each tile was told.
    let (mut waited, mut most): (BTreeMap<TileName, usize>, usize) = (BTreeMap::new(), 0);
    for turn in 0..1_500_u64 {
        for n in 2..25 {
            if (turn + u64::from(n)) % 15 == 0 {
                let way = |by: u64| ((turn / 90 + u64::from(n) * by) % 3) as i32 - 1;
                town.act(n, Act::Walk { heading: at(way(1), way(7)) });
            }
        }
        let frames = town.play();
        person.deliver(&frames);
        let before = person.views.len();
        person.read(&mut town, 100);
        for update in person.views[before..].iter().flat_map(|view| &view.tiles) {
            for (tile, count) in &mut waited {
                *count = if *tile == update.tile { 0 } else { *count + 1 };
            }
            waited.entry(update.tile).or_default();
        }
        // A tile that went out of sight has nothing to be told, nor has one that did not change since.
        waited.retain(|name, _| person.copies.contains_key(name));
        let now = &town.history[&town.height()];
        for (name, count) in &mut waited {
            let copy = &person.copies[name];
            let then = &town.history[&copy.height];
            let tile = crate::person::tile(*name);
            if copy.whole && now.get(&tile) == then.get(&tile) {
                *count = 0;
            }
            most = most.max(*count);
        }
    }
    assert!(waited.len() >= 9, "{}", waited.len());
    assert!(most <= 32, "{most} updates of others before one's own");
}
