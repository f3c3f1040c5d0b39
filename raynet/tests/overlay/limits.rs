//! Everything that can grow stops at its limit.

use std::time::Duration;

use metatopia_raynet::{
    LookupOutcome, NearerSites, Overlay, OverlayEffect, OverlayInput, OverlayMessage, PlaneBlock,
    SiteEndpoint, TilePoint,
    limits::{
        EMPTY_TIPS_MAX, EXCHANGES_PER_CYCLE_MAX, FIRST_CONTACTS_MAX, FRAMES_PER_CYCLE_MAX,
        FRONTIER_MAX, HOPS_MAX, LINKS_PER_OCTAVE, LOOKUP_ENDPOINTS_MAX, LOOKUPS_MAX,
        OVERLAY_CONNECTIONS_MAX, OVERLAY_EVIDENCE_MAX, SAMPLES, SHELVES_KEPT_MAX, SITES_KNOWN_MAX,
        STRANGERS_PER_CYCLE_MAX, TOMBSTONES_MAX, VIEW_HARD, WAYS_MAX,
    },
};
use metatopia_types::{Now, Square};

use crate::town::{
    CYCLE, DAWN, Lone, beacon, config, endpoint, exchange, grant, key, record, said, shelf, signed,
    square,
};

/// Sites in a row, each with its grant.
fn row(count: usize, apart: i32) -> (Vec<Square>, Lone) {
    let squares: Vec<Square> = (0..count).map(|number| square(apart * number as i32, 0)).collect();
    let grants: Vec<_> =
        squares.iter().enumerate().map(|(number, at)| grant(number, *at)).collect();
    (squares, Lone::new(&grants))
}

#[test]
fn sites_and_links_and_samples_and_connections_stay_within_their_limits() {
    let (squares, mut lone) = row(SITES_KNOWN_MAX + 60, 2);
    let mut most = 0;
    // From afar: each is nearer than those before, so each is of use when it comes.
    for (number, at) in squares.iter().enumerate().skip(1).rev() {
        // The connection that was used least lately is closed, so each needs a time of its own.
        lone.now.monotonic += Duration::from_millis(1);
        lone.meet(number, *at);
        let [sites, _, connections, _] = lone.member.sizes();
        assert!(sites <= SITES_KNOWN_MAX && connections <= OVERLAY_CONNECTIONS_MAX);
        most = most.max(sites);
    }
    assert_eq!(most, SITES_KNOWN_MAX);
    assert!(lone.member.neighbours().count() <= VIEW_HARD);
    assert!(lone.member.samples().count() <= SAMPLES);
    let at = lone.member.at();
    let mut octaves = [0; 33];
    for record in lone.member.long_links() {
        octaves[record.middle().expect("a square").octave(at) as usize] += 1;
    }
    assert_eq!(octaves.iter().max(), Some(&LINKS_PER_OCTAVE));
}

#[test]
fn the_largest_view_has_no_more_than_its_limit() {
    let mut squares = vec![Square { x: 0, y: 0, doublings: 4 }];
    for step in 0..16 {
        let at = 2 * step;
        squares.extend([square(at, -2), square(at, 32), square(-2, at), square(32, at)]);
    }
    let grants: Vec<_> =
        squares.iter().enumerate().map(|(number, at)| grant(number, *at)).collect();
    let mut lone = Lone::new(&grants);
    for (number, at) in squares.iter().enumerate().skip(1) {
        lone.meet(number, *at);
    }
    assert_eq!(lone.member.neighbours().count(), VIEW_HARD);
}

#[test]
fn tombstones_stay_within_their_limit() {
    let (squares, mut lone) = row(TOMBSTONES_MAX + 20, 2);
    for (number, at) in squares.iter().enumerate().skip(1) {
        lone.meet(number, *at);
        lone.give(OverlayInput::Closed(key(number)));
        lone.give(OverlayInput::DialFailed(key(number)));
    }
    assert_eq!(lone.member.sizes()[1], TOMBSTONES_MAX);
}

#[test]
fn shelves_stay_within_their_limit() {
    let mut lone = Lone::new(&[grant(0, square(0, 0))]);
    for index in 0..=SHELVES_KEPT_MAX as i32 {
        let block = PlaneBlock::around(TilePoint { x: 64 * index, y: -64 }, 6);
        lone.give(OverlayInput::Shelf(shelf(block, 101, Vec::new()).proof.clone()));
    }
    assert!(lone.member.land().len() > SHELVES_KEPT_MAX);
    lone.pass(CYCLE * 2);
    assert!(lone.member.land().len() <= SHELVES_KEPT_MAX, "{}", lone.member.land().len());
}

#[test]
fn evidence_stays_within_its_limit() {
    let (squares, mut lone) = row(OVERLAY_EVIDENCE_MAX + 6, 2);
    for (number, at) in squares.iter().enumerate().skip(1).rev() {
        lone.meet(number, *at);
        let mut other = record(number, *at);
        other.clients = 3;
        lone.show(number, &other.sign(&beacon(number)));
    }
    assert_eq!(lone.member.evidence().count(), OVERLAY_EVIDENCE_MAX);
    assert_eq!(lone.member.sizes()[3], squares.len() - 1, "each is convicted");
}

/// What a lookup was about lately was dropped for shelves that are nearer, which nobody asked for.
#[test]
fn a_shelf_that_was_looked_up_lately_stays() {
    let mut lone = Lone::new(&[grant(0, square(0, 0))]);
    let far = TilePoint { x: -1_000_000, y: 5_000 };
    let block = PlaneBlock::around(far, 6);
    lone.give(OverlayInput::Shelf(shelf(block, 200, Vec::new()).proof.clone()));
    lone.give(OverlayInput::Lookup { id: 1, point: far });
    for index in 0..=SHELVES_KEPT_MAX as i32 {
        let block = PlaneBlock::around(TilePoint { x: 64 * index, y: -64 }, 6);
        lone.give(OverlayInput::Shelf(shelf(block, 200, Vec::new()).proof.clone()));
    }
    lone.pass(CYCLE * 2);
    assert!(lone.member.land().len() <= SHELVES_KEPT_MAX, "{}", lone.member.land().len());
    let kept = lone.member.land().covering(far).map(|shelf| shelf.block);
    assert_eq!(kept, Some(block));
}

/// Whoever answers on a way names addresses, and a member dialled all of them.
#[test]
fn so_many_strangers_are_dialled_on_ways_in_a_cycle() {
    let mut lone = half_mapped();
    let goal = TilePoint { x: -1_000_000, y: -1_000_000 };
    let mut effects: Vec<OverlayEffect> = (0..LOOKUPS_MAX as u64)
        .flat_map(|id| lone.give(OverlayInput::Lookup { id, point: goal }))
        .collect();
    let (mut strangers, mut named) = (0, 0);
    while !effects.is_empty() {
        let mut next = Vec::new();
        for effect in core::mem::take(&mut effects) {
            if let OverlayEffect::Dial { peer, .. } = effect {
                strangers += 1;
                next.extend(lone.give(OverlayInput::DialFailed(peer)));
            } else if let Some((to, OverlayMessage::Seek { nonce, .. })) = said(effect) {
                let nearer = (0..3).map(|index| {
                    let number = 5_000 + named + index;
                    signed(number, square(-2_000 - 2 * number as i32, -2_000))
                });
                let nearer = nearer.collect();
                named += 3;
                let answer = NearerSites { nonce, nearer, owner: None, shelf: Vec::new() };
                let bytes = OverlayMessage::Nearer(answer).encode();
                next.extend(lone.give(OverlayInput::Frame { from: to, bytes }));
            }
        }
        effects = next;
    }
    assert_eq!(strangers, STRANGERS_PER_CYCLE_MAX, "of {named}");
    assert!(lone.member.counts().rationed > 0);
}

/// A member that met site 1 and has the map of a quarter of the plane only.
fn half_mapped() -> Lone {
    let now = Now { monotonic: Duration::ZERO, wall: DAWN };
    let mut lone = Lone { member: Overlay::new(config(0), now), now };
    let block = PlaneBlock::around(TilePoint { x: 0, y: 0 }, PlaneBlock::DOUBLINGS_MAX - 1);
    let grants = vec![grant(0, square(0, 0)), grant(1, square(20, 0))];
    lone.give(OverlayInput::Shelf(shelf(block, 100, grants).proof.clone()));
    lone.give(OverlayInput::Own(Box::new(signed(0, square(0, 0)))));
    lone.meet(1, square(20, 0));
    lone
}

#[test]
fn first_contacts_stay_within_their_limit() {
    let mut lone = Lone::new(&[grant(0, square(0, 0))]);
    let many = (1..FIRST_CONTACTS_MAX + 20).map(endpoint).collect();
    let mut effects = lone.give(OverlayInput::Contacts(many));
    effects.extend(lone.pass(CYCLE * 2));
    let dialled =
        effects.iter().filter(|effect| matches!(effect, OverlayEffect::Dial { .. })).count();
    assert_eq!(dialled, FIRST_CONTACTS_MAX);
}

#[test]
fn contacts_that_are_told_again_stay_while_strangers_are_named() {
    let mut lone = Lone::new(&[grant(0, square(0, 0))]);
    let first = 1..=FIRST_CONTACTS_MAX / 2;
    let strangers = 100..100 + FIRST_CONTACTS_MAX;
    let mut told = first.clone().map(endpoint).collect();
    lone.give(OverlayInput::Contacts(told));
    // They come a few at a time, and each time those of the beginning are told last.
    for few in strangers.clone().collect::<Vec<_>>().chunks(5) {
        told = few.iter().copied().chain(first.clone()).map(endpoint).collect();
        lone.give(OverlayInput::Contacts(told));
    }
    // None of them answers, so each that is remembered is dialled again.
    for number in first.clone().chain(strangers) {
        lone.give(OverlayInput::DialFailed(key(number)));
    }
    let dialled: Vec<_> = lone
        .pass(CYCLE * 2)
        .into_iter()
        .filter_map(|effect| match effect {
            OverlayEffect::Dial { peer, address } => Some(SiteEndpoint { peer, address }),
            _ => None,
        })
        .collect();
    for contact in first.map(endpoint) {
        assert!(dialled.contains(&contact), "{contact:?} was pushed out");
    }
}

#[test]
fn a_peer_is_heard_so_often_in_a_cycle() {
    let (squares, mut lone) = row(3, 20);
    lone.meet(1, squares[1]);
    let mut answers = 0;
    for _ in 0..2 * EXCHANGES_PER_CYCLE_MAX {
        let said = lone.hear(1, &exchange(1, squares[1], Vec::new()));
        answers +=
            said.iter().filter(|(_, message)| matches!(message, OverlayMessage::Answer(_))).count()
                as u32;
    }
    assert_eq!(answers + 2, EXCHANGES_PER_CYCLE_MAX, "two exchanges were those of the meeting");
    let before = lone.member.counts().rationed;
    for _ in 0..FRAMES_PER_CYCLE_MAX {
        lone.hear(1, &OverlayMessage::Want(Vec::new()));
    }
    assert!(lone.member.counts().rationed > before);
}

#[test]
fn tips_of_who_has_no_records_for_them_are_passed_over() {
    let (squares, mut lone) = row(2, 20);
    lone.meet(1, squares[1]);
    let mut asked = 0;
    for round in 0..10 {
        let tips = (0..10).map(|index| {
            let number = 1_000 + 10 * round + index;
            signed(number, square(2 + 2 * (number as i32 % 7), 40 + 2 * index as i32)).tip()
        });
        let said = lone.hear(1, &exchange(1, squares[1], tips.collect()));
        for (_, message) in said {
            if let OverlayMessage::Want(names) = message {
                asked += names.len() as u32;
            }
        }
    }
    assert!(asked > 0 && asked <= EMPTY_TIPS_MAX + 10, "{asked}");
}

#[test]
fn lookups_are_refused_beyond_their_limit() {
    let (squares, mut lone) = row(2, 20);
    lone.meet(1, squares[1]);
    let point = TilePoint { x: 500, y: 500 };
    for id in 0..LOOKUPS_MAX as u64 {
        lone.give(OverlayInput::Lookup { id, point });
    }
    let effects = lone.give(OverlayInput::Lookup { id: 999, point });
    let is_busy = |effect: &OverlayEffect| match effect {
        OverlayEffect::Found(answer) => answer.outcome == LookupOutcome::Busy,
        _ => false,
    };
    let busy = effects.iter().any(is_busy);
    assert!(busy, "{effects:?}");
}

/// Somebody names nearer sites again and again; none of them exists.
#[test]
fn a_lookup_ends_after_so_many_hops_and_ways() {
    let mut lone = half_mapped();
    let goal = TilePoint { x: -1_000_000, y: -1_000_000 };
    let mut effects = lone.give(OverlayInput::Lookup { id: 1, point: goal });
    let (mut asked, mut step) = (0, 0);
    let answer = loop {
        let mut next = Vec::new();
        for effect in core::mem::take(&mut effects) {
            if let OverlayEffect::Dial { peer, .. } = effect {
                next.extend(lone.give(OverlayInput::Up(peer)));
            } else if let OverlayEffect::Found(answer) = effect {
                next.push(OverlayEffect::Found(answer));
            } else if let Some((to, OverlayMessage::Seek { nonce, .. })) = said(effect) {
                asked += 1;
                let names = (0..3).map(|index| {
                    let number = 5_000 + step * 3 + index;
                    signed(number, square(-2_000 - 200 * step as i32 - 2 * index as i32, -2_000))
                });
                let nearer = names.collect();
                step += 1;
                let answer = NearerSites { nonce, nearer, owner: None, shelf: Vec::new() };
                let bytes = OverlayMessage::Nearer(answer).encode();
                next.extend(lone.give(OverlayInput::Frame { from: to, bytes }));
            }
        }
        if let Some(OverlayEffect::Found(answer)) =
            next.iter().find(|effect| matches!(effect, OverlayEffect::Found(_)))
        {
            break answer.clone();
        }
        effects = next;
        effects.extend(lone.pass(CYCLE / 4));
        assert!(step < 1_000, "the lookup does not end");
    };
    assert!(answer.ways <= WAYS_MAX as u32);
    assert!(
        asked <= HOPS_MAX * WAYS_MAX as u32,
        "{asked} questions of ways with {FRONTIER_MAX} sites ahead"
    );
    assert!(!answer.is_answered, "nobody showed a map: {answer:?}");
    assert_eq!(LOOKUP_ENDPOINTS_MAX, 2 * metatopia_raynet::limits::SITE_ENDPOINTS_MAX);
}
