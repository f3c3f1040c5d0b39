//! Members that meet, die, come back and contradict themselves.

use std::time::Duration;

use metatopia_raynet::{
    OverlayEffect, OverlayEvidence, OverlayInput, OverlayMessage, PlaneBlock, SignedSiteRecord,
    SiteRecordError, TilePoint, limits::HINT_SENDERS_MAX,
};
use metatopia_types::{Millis, Sign};

use crate::town::{
    CYCLE, DAWN, Lone, Town, beacon, exchange, grant, grid, key, record, said, shelf, signed,
    square,
};

#[test]
fn sites_on_a_line_of_contacts_find_all_their_neighbours_and_repair_after_deaths() {
    let mut town = Town::begun(grid(6, 10));
    town.run(12);
    for number in 0..36_usize {
        let (x, y) = (number / 6, number % 6);
        let sides = [
            (x > 0, number.wrapping_sub(6)),
            (x < 5, number + 6),
            (y > 0, number.wrapping_sub(1)),
            (y < 5, number + 1),
        ];
        for (_, other) in sides.into_iter().filter(|(is_there, _)| *is_there) {
            assert!(town.view(number).contains(&other), "{number} lacks {other}");
        }
    }
    // A whole column dies: both sides of the hole become neighbours.
    for number in 12..18 {
        town.kill(number);
    }
    town.run(12);
    for row in 0..6 {
        let (west, east) = (6 + row, 18 + row);
        assert!(town.view(west).contains(&east) && town.view(east).contains(&west), "row {row}");
    }
}

#[test]
fn the_same_inputs_give_the_same_digest_and_another_history_another_one() {
    let play = |killed: usize| {
        let mut town = Town::begun(grid(4, 8));
        town.run(6);
        town.kill(killed);
        town.run(6);
        town.members.values().map(metatopia_raynet::Overlay::digest).collect::<Vec<_>>()
    };
    assert_eq!(play(5), play(5));
    assert_ne!(play(5), play(6));
}

#[test]
fn two_records_of_one_epoch_are_evidence_that_reaches_everybody() {
    let mut town = Town::begun(grid(4, 10));
    town.run(10);
    let mut other = record(3, town.squares[3]);
    other.clients = 5;
    let other = other.sign(&beacon(3));
    let teller = town.view(0)[0];
    let proof = town.shelf_of(3).proof.clone();
    let evidence = OverlayEvidence::Records {
        first: Box::new(signed(3, town.squares[3])),
        second: Box::new(other),
        shelf: proof,
    };
    let bytes = OverlayMessage::Evidence(evidence.clone()).encode();
    town.input(0, OverlayInput::Frame { from: key(teller), bytes });
    town.run(2);
    assert_eq!(town.evidence.len(), 16, "each member says it once");
    assert!(town.evidence.iter().all(|(_, told)| *told == evidence));
}

#[test]
fn a_site_that_signs_two_records_convicts_itself() {
    let grants = [grant(0, square(0, 0)), grant(1, square(20, 0))];
    let mut lone = Lone::new(&grants);
    lone.meet(1, square(20, 0));
    let mut second = record(1, square(20, 0));
    second.about.licence = "MIT".to_owned();
    let effects = lone.show(1, &second.sign(&beacon(1)));
    let found = effects.iter().any(|effect| matches!(effect, OverlayEffect::Evidence(_)));
    assert!(found, "{effects:?}");
    assert_eq!(lone.member.evidence().count(), 1);
}

#[test]
fn a_convicted_site_leaves_all_views_until_its_grant_names_other_beacons() {
    let grants = [grant(0, square(0, 0)), grant(1, square(20, 0))];
    let mut lone = Lone::new(&grants);
    lone.meet(1, square(20, 0));
    assert_eq!(lone.member.neighbours().count(), 1);
    let mut second = record(1, square(20, 0));
    second.clients = 3;
    lone.show(1, &second.sign(&beacon(1)));
    let held = |lone: &Lone| {
        let member = &lone.member;
        member.neighbours().chain(member.long_links()).chain(member.samples()).count()
    };
    assert_eq!(held(&lone), 0);
    let mut later = record(1, square(20, 0));
    later.epoch.record += 1;
    lone.show(1, &later.sign(&beacon(1)));
    lone.meet(1, square(20, 0));
    assert_eq!(held(&lone), 0, "the beacons are the same");
}

#[test]
fn two_maps_of_one_height_are_evidence() {
    let grants = [grant(0, square(0, 0)), grant(1, square(20, 0))];
    let mut lone = Lone::new(&grants);
    let block = PlaneBlock::around(TilePoint { x: 0, y: 0 }, PlaneBlock::DOUBLINGS_MAX - 1);
    let effects = lone.give(OverlayInput::Shelf(shelf(block, 100, Vec::new()).proof.clone()));
    assert!(matches!(&effects[..], [OverlayEffect::Evidence(_)]), "{effects:?}");
}

/// A sim that claimed its square a moment ago was refused by whoever had an older map, and nobody asked for
/// a newer one.
#[test]
fn a_record_of_land_that_the_map_does_not_grant_yet_makes_a_member_ask_for_a_newer_map() {
    let (own, new) = (grant(0, square(0, 0)), grant(1, square(20, 0)));
    let mut lone = Lone::new(core::slice::from_ref(&own));
    let middle = TilePoint::middle(new.square).expect("a square");
    let block = lone.member.land().covering(middle).expect("an older map").block;
    lone.give(OverlayInput::Up(key(1)));
    let effects = lone.show(1, &signed(1, new.square));
    assert!(effects.contains(&OverlayEffect::ShelfWanted(middle)), "the host: {effects:?}");
    let asked: Vec<_> = effects.into_iter().filter_map(said).collect();
    let is_asked = asked.iter().any(|(to, message)| {
        *to == key(1) && *message == OverlayMessage::WantShelves(vec![middle])
    });
    assert!(is_asked, "the sender: {asked:?}");
    assert_eq!(lone.member.neighbours().count(), 0, "nothing is believed yet");

    let newer = shelf(block, 101, vec![own, new.clone()]);
    lone.hear(1, &OverlayMessage::Shelf(newer.proof.clone()));
    lone.meet(1, new.square);
    assert_eq!(lone.member.neighbours().count(), 1);
}

#[test]
fn a_record_that_the_newest_map_contradicts_for_good_makes_nobody_ask_again() {
    let mut lone = Lone::new(&[grant(0, square(0, 0)), grant(1, square(20, 0))]);
    lone.give(OverlayInput::Up(key(1)));
    // The grant is there, and another key signs.
    let forged = record(1, square(20, 0)).sign(&beacon(2));
    let effects = lone.show(1, &forged);
    let is_wanted = |effect: &OverlayEffect| matches!(effect, OverlayEffect::ShelfWanted(_));
    assert!(!effects.iter().any(is_wanted), "{effects:?}");
}

#[test]
fn a_hint_is_passed_to_nobody_and_its_sender_is_asked_for_the_shelf_once() {
    let grants = [grant(0, square(0, 0))];
    let mut lone = Lone::new(&grants);
    // The map of the far quarter is known to nobody here.
    let far = square(-40, -40);
    let mut known = Lone {
        member: metatopia_raynet::Overlay::new(crate::town::config(0), lone.now),
        now: lone.now,
    };
    known.give(OverlayInput::Own(Box::new(signed(0, square(0, 0)))));
    core::mem::swap(&mut lone, &mut known);
    lone.give(OverlayInput::Up(key(2)));
    let asked = lone.show(2, &signed(1, far)).into_iter().filter_map(said).collect::<Vec<_>>();
    assert!(
        matches!(
            &asked[..],
            [(_, OverlayMessage::WantShelves(points)), (_, OverlayMessage::Seek { point, .. })]
                if points.len() == 1 && *point == lone.member.at()
        ),
        "the shelf is asked for, and the newcomer's own place: {asked:?}"
    );
    let again = lone.hear(2, &OverlayMessage::Records(vec![signed(1, far)]));
    assert_eq!(again, [], "once");
    let given = lone.hear(2, &OverlayMessage::Want(vec![Town::name(1)]));
    assert_eq!(given, [], "a hint is not passed on");

    let asks = |lone: &mut Lone, from: usize| {
        lone.give(OverlayInput::Up(key(from)));
        let said: Vec<_> = lone.show(from, &signed(1, far)).into_iter().filter_map(said).collect();
        said.iter().any(|(_, message)| matches!(message, OverlayMessage::WantShelves(_)))
    };
    let asked = (3..12).filter(|from| asks(&mut lone, *from)).count();
    assert_eq!(asked + 1, HINT_SENDERS_MAX);

    let block = PlaneBlock::around(TilePoint { x: -1, y: -1 }, PlaneBlock::DOUBLINGS_MAX - 1);
    let proof = shelf(block, 100, vec![grant(1, far)]).proof.clone();
    lone.hear(2, &OverlayMessage::Shelf(proof));
    let given = lone.hear(2, &OverlayMessage::Want(vec![Town::name(1)]));
    assert!(
        matches!(&given[..], [(_, OverlayMessage::Records(records))] if records.len() == 1),
        "{given:?}"
    );
}

/// Two sites on both sides of a hole never heard of each other: all who knew both told each of those nearest to it,
/// and the corners of their cells are told to whole tiles, which hide an edge that is shorter.
#[test]
fn a_partner_is_told_of_its_neighbour_across_a_hole() {
    let (own, near, across) = (square(0, 0), square(100, 100), square(-140, 100));
    let crowd: Vec<_> = (0..24).map(|n| square(104 + 4 * (n % 6), 60 + 4 * (n / 6))).collect();
    let squares: Vec<_> = [own, near, across].into_iter().chain(crowd).collect();
    let grants: Vec<_> = squares.iter().enumerate().map(|(n, at)| grant(n, *at)).collect();
    let mut lone = Lone::new(&grants);
    for (number, at) in squares.iter().enumerate().skip(1) {
        lone.meet(number, *at);
    }
    let said = lone.hear(1, &exchange(1, near, Vec::new()));
    let told = said.iter().find_map(|(_, message)| match message {
        OverlayMessage::Answer(half) => Some(half.tips.clone()),
        _ => None,
    });
    let told = told.expect("an exchange is answered");
    assert!(told.len() < squares.len() - 2, "not all fit");
    assert!(told.iter().any(|tip| tip.name == Town::name(2)), "{told:?}");
}

/// A shelf of the whole plane from before the plane was cut took the place of newer quarters, and all who were
/// granted land since were forgotten.
#[test]
fn an_older_map_of_more_ground_evicts_nobody() {
    let near = square(20, 0);
    let mut lone = Lone::new(&[grant(0, square(0, 0)), grant(1, near)]);
    lone.meet(1, near);
    let young = shelf(PlaneBlock::PLANE, 50, Vec::new());
    lone.give(OverlayInput::Shelf(young.proof.clone()));
    assert_eq!(lone.member.neighbours().count(), 1);
    // A newer one of the whole plane speaks for it.
    let newer = shelf(PlaneBlock::PLANE, 150, vec![grant(0, square(0, 0))]);
    lone.give(OverlayInput::Shelf(newer.proof.clone()));
    assert_eq!(lone.member.neighbours().count(), 0);
}

/// A member that met site 1, and has the map of the north-east alone.
fn with_half_a_map() -> Lone {
    let now = metatopia_types::Now { monotonic: Duration::ZERO, wall: DAWN };
    let mut lone =
        Lone { member: metatopia_raynet::Overlay::new(crate::town::config(0), now), now };
    let (own, near) = (square(0, 0), square(20, 0));
    let block = PlaneBlock::around(TilePoint { x: 0, y: 0 }, PlaneBlock::DOUBLINGS_MAX - 1);
    let east = shelf(block, 100, vec![grant(0, own), grant(1, near)]);
    lone.give(OverlayInput::Shelf(east.proof.clone()));
    lone.give(OverlayInput::Own(Box::new(signed(0, own))));
    lone.meet(1, near);
    lone
}

/// Says whether the member asks the one who shows a record for the shelf about it.
fn is_asked_for_shelf(lone: &mut Lone, from: usize, record: &SignedSiteRecord) -> bool {
    lone.give(OverlayInput::Up(key(from)));
    let said = lone.show(from, record).into_iter().filter_map(said);
    let mut shelves = said.filter(|(_, m)| matches!(m, OverlayMessage::WantShelves(_)));
    shelves.any(|(to, _)| to == key(from))
}

/// Anybody who named a site at ground of which no map was known here took its record out of the view: with another
/// square and a greater epoch, signed by nobody.
#[test]
fn a_record_that_cannot_be_checked_takes_the_place_of_none_that_was() {
    let (near, far) = (square(20, 0), square(-40, -40));
    let mut lone = with_half_a_map();
    let mut forged = record(1, far);
    forged.epoch.record = 9;
    assert!(is_asked_for_shelf(&mut lone, 2, &forged.sign(&beacon(66))));
    let known: Vec<_> = lone.member.neighbours().cloned().collect();
    assert_eq!(known, [signed(1, near)]);
    let given = lone.hear(2, &OverlayMessage::Want(vec![Town::name(1)]));
    assert!(
        matches!(&given[..], [(_, OverlayMessage::Records(told))] if told[..] == [signed(1, near)]),
        "{given:?}"
    );
}

/// Six who named a known site at ground of which no map is here were all that were ever asked for such a map, and
/// nobody could show a newer one any more.
#[test]
fn who_names_a_known_site_elsewhere_uses_up_the_questions_of_one_cycle_alone() {
    let mut lone = with_half_a_map();
    let mut elsewhere = record(1, square(-40, -40));
    elsewhere.epoch.record = 9;
    let elsewhere = elsewhere.sign(&beacon(66));
    for cycle in 0..3 {
        let from = 10 * (cycle + 1);
        let senders = from..from + HINT_SENDERS_MAX + 2;
        let asked = senders.filter(|from| is_asked_for_shelf(&mut lone, *from, &elsewhere));
        assert_eq!(asked.count(), HINT_SENDERS_MAX, "cycle {cycle}");
        lone.pass(CYCLE * 2);
        lone.give(OverlayInput::Up(key(1)));
        lone.meet(1, square(20, 0));
    }
}

#[test]
fn a_dial_that_fails_beside_a_connection_of_the_other_one_does_no_harm() {
    let near = square(20, 0);
    let mut lone = Lone::new(&[grant(0, square(0, 0)), grant(1, near)]);
    lone.meet(1, near);
    lone.give(OverlayInput::DialFailed(key(1)));
    assert_eq!(lone.member.neighbours().count(), 1);
    lone.give(OverlayInput::Down(key(1)));
    lone.give(OverlayInput::DialFailed(key(1)));
    assert_eq!(lone.member.neighbours().count(), 0);
}

#[test]
fn records_of_old_beacons_end_with_the_epoch_of_the_grant() {
    let (own, near) = (square(0, 0), square(20, 0));
    let mut lone = Lone::new(&[grant(0, own), grant(1, near)]);
    lone.meet(1, near);
    assert_eq!(lone.member.neighbours().count(), 1);
    let mut renewed = grant(1, near);
    (renewed.epoch, renewed.beacons) = (2, vec![beacon(77).public()]);
    let block = PlaneBlock::around(TilePoint { x: 0, y: 0 }, PlaneBlock::DOUBLINGS_MAX - 1);
    let shelf = shelf(block, 101, vec![grant(0, own), renewed.clone()]);
    lone.give(OverlayInput::Shelf(shelf.proof.clone()));
    assert_eq!(lone.member.neighbours().count(), 0, "its beacon is none any more");
    let refused = signed(1, near).check_grant(Some(&renewed), &*crate::town::config(0).scheme);
    assert_eq!(refused, Err(SiteRecordError::GrantEpoch { found: 1, granted: 2 }));
}

#[test]
fn a_site_goes_on_with_its_next_server_and_is_gone_after_the_last_one() {
    let near = square(20, 0);
    let mut lone = Lone::new(&[grant(0, square(0, 0)), grant(1, near)]);
    let mut two = record(1, near);
    two.endpoints.push(crate::town::endpoint(8));
    lone.give(OverlayInput::Up(key(1)));
    lone.show(1, &two.sign(&beacon(1)));
    lone.hear(1, &exchange(1, near, Vec::new()));
    assert_eq!(lone.member.neighbours().count(), 1);
    lone.give(OverlayInput::Closed(key(1)));
    let effects = lone.give(OverlayInput::DialFailed(key(1)));
    let dialled = effects
        .iter()
        .any(|effect| matches!(effect, OverlayEffect::Dial { peer, .. } if *peer == key(8)));
    assert!(dialled, "{effects:?}");
    lone.give(OverlayInput::DialFailed(key(8)));
    assert_eq!(lone.member.sizes()[1], 1, "a tombstone");
    // Others cannot raise it; it can do so itself.
    lone.give(OverlayInput::Up(key(2)));
    let tip = signed(1, near).tip();
    let said = lone.hear(2, &exchange(2, square(60, 0), vec![tip]));
    let wants = |message: &OverlayMessage| match message {
        OverlayMessage::Want(names) => names.contains(&Town::name(1)),
        _ => false,
    };
    assert!(!said.iter().any(|(_, message)| wants(message)), "{said:?}");
    lone.give(OverlayInput::Up(key(1)));
    let said = lone.hear(1, &exchange(1, near, Vec::new()));
    assert!(said.iter().any(|(_, message)| matches!(message, OverlayMessage::Want(_))), "{said:?}");
}

#[test]
fn a_record_is_over_when_its_time_is() {
    let near = square(20, 0);
    let mut lone = Lone::new(&[grant(0, square(0, 0)), grant(1, near)]);
    lone.meet(1, near);
    let hour = lone.pass(Duration::from_secs(3_601));
    assert_eq!(lone.member.neighbours().count(), 0);
    assert_eq!(lone.now.wall, Millis(1_800_003_601_000));
    let own = hour.into_iter().filter_map(said).any(
        |(_, message)| matches!(message, OverlayMessage::Exchange(half) if half.own.is_some()),
    );
    assert!(!own, "the own record has ended too");
}

/// Anybody who named a dead site as its own took the tombstone away, and the dead came back everywhere.
#[test]
fn only_who_spoke_for_a_site_takes_its_tombstone_away() {
    let (dead, other) = (square(20, 0), square(0, 20));
    let mut lone = Lone::new(&[grant(0, square(0, 0)), grant(1, dead), grant(2, other)]);
    lone.meet(1, dead);
    lone.meet(2, other);
    lone.give(OverlayInput::Closed(key(1)));
    lone.give(OverlayInput::DialFailed(key(1)));
    assert_eq!(lone.member.sizes()[1], 1);
    lone.hear(2, &exchange(1, dead, Vec::new()));
    assert_eq!(lone.member.sizes()[1], 1, "another one says that it is alive");
    lone.give(OverlayInput::Up(key(1)));
    lone.hear(1, &exchange(1, dead, Vec::new()));
    assert_eq!(lone.member.sizes()[1], 0);
}
