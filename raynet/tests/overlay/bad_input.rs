//! What strangers may send: each gets a named refusal, and nothing else happens.

use std::{sync::Arc, time::Duration};

use metatopia_raynet::{
    LandGrant, LandMap, Overlay, OverlayEvidence, OverlayEvidenceError, OverlayFrameError,
    OverlayInput, OverlayMessage, PlaneBlock, ProveLand, Shelf, ShelfError, ShelfPlaced,
    SignedSiteRecord, SiteEndpoint, SiteRecord, SiteRecordError, TilePoint, TipExchange,
    limits::{
        GRANTS_PER_SHELF_MAX, NEARER_MAX, OVERLAY_FRAME_BYTES_MAX, RECORD_LIFE_MS_MAX,
        RECORDS_PER_FRAME_MAX, SHELF_PROOF_BYTES_MAX, SHELVES_PER_WANT_MAX, SITE_ADDRESS_BYTES_MAX,
        SITE_ENDPOINTS_MAX, SITE_LABEL_BYTES_MAX, SITE_LICENCE_BYTES_MAX, TIPS_MAX,
    },
    pace::CLOCK_SKEW_MS,
};
use metatopia_types::{Millis, Now, Sign, Square, SquareError, wire::DecodeError};
use proptest::prelude::*;

use crate::town::{
    DAWN, Drawn, Hashed, Lone, beacon, config, endpoint, exchange, grant, key, record, said, shelf,
    signed, sim, square, world,
};

fn refused(change: impl FnOnce(&mut SiteRecord)) -> SiteRecordError {
    let mut changed = record(1, square(20, 0));
    change(&mut changed);
    let signed = changed.sign(&beacon(1));
    let mut lone = Lone::new(&[grant(0, square(0, 0)), grant(1, square(20, 0))]);
    lone.give(OverlayInput::Up(key(1)));
    let frame = OverlayMessage::Records(vec![signed.clone()]).encode();
    if frame.len() <= OVERLAY_FRAME_BYTES_MAX {
        lone.hear(1, &exchange(1, square(20, 0), Vec::new()));
        lone.give(OverlayInput::Frame { from: key(1), bytes: frame });
        lone.hear(1, &exchange(1, square(20, 0), Vec::new()));
        assert_eq!((lone.member.neighbours().count(), lone.member.counts().refused), (0, 1));
    }
    let grant = grant(1, square(20, 0));
    let formed = signed.check_form(world(), DAWN);
    formed.and_then(|()| signed.check_grant(Some(&grant), &Hashed(key(0)))).expect_err("it is bad")
}

#[test]
fn bad_records_are_refused_by_name() {
    assert_eq!(refused(|record| record.world = sim(9)), SiteRecordError::World(sim(9)));
    assert_eq!(refused(|record| record.expires = Millis(DAWN.0 - 5)), SiteRecordError::Expired(5));
    let far = RECORD_LIFE_MS_MAX + CLOCK_SKEW_MS + 1;
    assert_eq!(refused(|record| record.expires = DAWN.plus(far)), SiteRecordError::Future(far));
    assert_eq!(
        refused(|record| record.expires = Millis(u64::MAX)),
        SiteRecordError::Future(u64::MAX - DAWN.0)
    );
    assert_eq!(refused(|record| record.endpoints.clear()), SiteRecordError::Endpoints(0));
    let many =
        |count: usize| move |record: &mut SiteRecord| record.endpoints = vec![endpoint(1); count];
    assert_eq!(refused(many(SITE_ENDPOINTS_MAX + 1)), SiteRecordError::Endpoints(5));
    assert_eq!(refused(many(1_000)), SiteRecordError::Endpoints(1_000));
    let long = SITE_ADDRESS_BYTES_MAX + 1;
    let address = |record: &mut SiteRecord| record.endpoints[0].address = "a".repeat(long);
    assert_eq!(refused(address), SiteRecordError::Address(long));
    let long = SITE_LICENCE_BYTES_MAX + 1;
    let licence = |record: &mut SiteRecord| record.about.licence = "a".repeat(long);
    assert_eq!(refused(licence), SiteRecordError::Licence(long));
    let long = SITE_LABEL_BYTES_MAX + 1;
    let label = |record: &mut SiteRecord| record.about.label = "a".repeat(long);
    assert_eq!(refused(label), SiteRecordError::Label(long));
    let unaligned = SquareError::Corner { x: i32::MAX, y: 0, side: 2 };
    assert_eq!(refused(|record| record.square.x = i32::MAX), SiteRecordError::Square(unaligned));
    assert_eq!(
        refused(|record| record.square.doublings = 31),
        SiteRecordError::Square(SquareError::Side(31))
    );
    assert_eq!(refused(|record| record.square = square(2, 0)), SiteRecordError::Land(sim(1)));
    assert_eq!(refused(|record| record.sim = sim(2)), SiteRecordError::Land(sim(2)));
    let other = SiteRecordError::GrantEpoch { found: 9, granted: 1 };
    assert_eq!(refused(|record| record.epoch.grant = 9), other);
}

#[test]
fn a_record_of_a_foreign_key_or_with_a_changed_word_is_refused() {
    let grant = grant(1, square(20, 0));
    let scheme = Hashed(key(0));
    let foreign = record(1, square(20, 0)).sign(&beacon(2));
    assert_eq!(
        foreign.check_grant(Some(&grant), &scheme),
        Err(SiteRecordError::Beacon(beacon(2).public()))
    );
    let mut changed = signed(1, square(20, 0));
    changed.record.clients = 1_000;
    assert_eq!(
        changed.check_grant(Some(&grant), &scheme),
        Err(SiteRecordError::Signature(beacon(1).public()))
    );
}

#[test]
fn a_member_does_not_speak_for_a_record_that_others_would_refuse() {
    let mut lone = Lone::new(&[grant(0, square(0, 0)), grant(1, square(20, 0))]);
    let mut own = record(0, square(20, 0));
    own.endpoints = vec![endpoint(0); 1_000];
    lone.give(OverlayInput::Own(Box::new(own.sign(&beacon(0)))));
    assert_eq!(lone.member.at(), TilePoint { x: 1, y: 1 });
    assert_eq!(lone.member.counts().refused, 1);
}

#[test]
fn a_record_of_64_kib_is_not_even_decoded() {
    let mut large = record(1, square(20, 0));
    large.endpoints = vec![SiteEndpoint { peer: key(1), address: "a".repeat(64 * 1_024) }];
    let bytes = OverlayMessage::Records(vec![large.sign(&beacon(1))]).encode();
    let limit = OVERLAY_FRAME_BYTES_MAX;
    let error = OverlayFrameError::Decode(DecodeError::Oversize { found: bytes.len(), limit });
    assert_eq!(OverlayMessage::decode(&bytes), Err(error));
    let mut lone = Lone::new(&[grant(0, square(0, 0))]);
    lone.give(OverlayInput::Up(key(1)));
    lone.give(OverlayInput::Frame { from: key(1), bytes });
    assert_eq!(lone.member.counts().malformed, 1);
}

#[test]
fn lists_that_are_too_long_are_refused_by_name() {
    let tip = signed(1, square(20, 0)).tip();
    let layer = metatopia_raynet::GossipLayer::Samples;
    let tips =
        OverlayMessage::Exchange(TipExchange { layer, own: None, tips: vec![tip; TIPS_MAX + 1] });
    let names = OverlayMessage::Want(vec![tip.name; RECORDS_PER_FRAME_MAX + 1]);
    let points = OverlayMessage::WantShelves(vec![TilePoint::default(); SHELVES_PER_WANT_MAX + 1]);
    let proof = OverlayMessage::Shelf(vec![0; SHELF_PROOF_BYTES_MAX + 1]);
    let nearer = vec![signed(1, square(20, 0)); NEARER_MAX + 1];
    let answer = metatopia_raynet::NearerSites { nonce: 0, nearer, owner: None, shelf: Vec::new() };
    let cases = [
        (tips, OverlayFrameError::Tips(11)),
        (names, OverlayFrameError::Records(17)),
        (points, OverlayFrameError::Points(17)),
        (proof, OverlayFrameError::Proof(4_001)),
        (OverlayMessage::Nearer(answer), OverlayFrameError::Nearer(4)),
    ];
    for (message, error) in cases {
        assert_eq!(OverlayMessage::decode(&message.encode()), Err(error));
    }
}

#[test]
fn bad_shelves_are_refused_by_name() {
    let block = PlaneBlock::around(TilePoint { x: 0, y: 0 }, 5);
    let bad = |grants: Vec<LandGrant>| shelf(block, 1, grants).check(world());
    let with = |change: fn(&mut LandGrant)| {
        let mut grant = grant(1, square(0, 0));
        change(&mut grant);
        vec![grant]
    };
    assert_eq!(bad(with(|_| {})), Ok(()));
    let crossed = vec![grant(1, Square { x: 0, y: 0, doublings: 1 }), grant(2, square(2, 2))];
    assert!(matches!(bad(crossed), Err(ShelfError::Overlap(..))));
    let doubled = vec![grant(1, square(0, 0)), grant(1, square(0, 0))];
    assert!(matches!(bad(doubled), Err(ShelfError::Overlap(..))));
    assert!(matches!(bad(with(|grant| grant.square.x = 1)), Err(ShelfError::Square(_))));
    assert!(matches!(bad(with(|grant| grant.square.doublings = 9)), Err(ShelfError::Square(_))));
    assert!(matches!(bad(with(|grant| grant.square.x = 64)), Err(ShelfError::Outside(_))));
    assert_eq!(bad(with(|grant| grant.beacons.clear())), Err(ShelfError::Beacons(0)));
    let many = with(|grant| grant.beacons = vec![key(1); metatopia_types::limits::BEACONS_MAX + 1]);
    assert_eq!(bad(many), Err(ShelfError::Beacons(5)));
    let full = vec![grant(1, square(0, 0)); GRANTS_PER_SHELF_MAX + 1];
    assert_eq!(bad(full), Err(ShelfError::Grants(65)));
    let mut other = shelf(block, 1, Vec::new()).as_ref().clone();
    other.world = sim(3);
    assert_eq!(other.check(world()), Err(ShelfError::World(sim(3))));
    other.world = world();
    other.block.corner.x = 1;
    assert!(matches!(other.check(world()), Err(ShelfError::Block(_))));
    other.block.doublings = 200;
    assert!(matches!(other.check(world()), Err(ShelfError::Block(_))));
}

#[test]
fn the_shelf_of_a_young_world_is_about_the_whole_plane_until_it_is_cut() {
    let (last, first) = (square(i32::MAX - 1, i32::MIN), square(0, 0));
    let whole = shelf(PlaneBlock::PLANE, 1, vec![grant(1, last), grant(2, first)]);
    assert_eq!(whole.check(world()), Ok(()));
    let mut map = LandMap::default();
    assert_eq!(map.place(&whole), ShelfPlaced::Taken);
    for (x, y) in [(i32::MIN, i32::MAX), (i32::MAX, i32::MIN), (-1, 7)] {
        assert_eq!(map.covering(TilePoint { x, y }), Some(&whole));
    }
    assert_eq!(map.grant_at(TilePoint { x: i32::MAX, y: i32::MIN + 1 }), Some(&grant(1, last)));

    let quarter = PlaneBlock::around(TilePoint { x: 0, y: 0 }, PlaneBlock::DOUBLINGS_MAX - 1);
    let cut = shelf(quarter, 2, vec![grant(3, first)]);
    assert_eq!(map.place(&cut), ShelfPlaced::Taken);
    assert_eq!(map.grant_at(TilePoint { x: 1, y: 1 }), Some(&grant(3, first)));
    assert_eq!(map.covering(TilePoint { x: -1, y: 1 }), Some(&whole));

    // The first shelf stayed for ever, and made the map as old as it. It is renewed quarter by quarter.
    let mut corners = Vec::new();
    while let Some(point) = map.own_point(&whole).filter(|_| corners.len() < 3) {
        corners.push((point.x >= 0, point.y >= 0));
        let TilePoint { x, y } = point;
        let block = PlaneBlock::around(TilePoint { x, y }, PlaneBlock::DOUBLINGS_MAX - 1);
        assert_eq!(map.place(&shelf(block, 3, Vec::new())), ShelfPlaced::Taken);
    }
    assert_eq!(corners, [(false, false), (true, false), (false, true)]);
    assert_eq!((map.len(), map.shelves().map(|shelf| shelf.height.0).min()), (4, Some(2)));
    assert_eq!(map.place(&whole), ShelfPlaced::Known, "each quarter is newer");
}

/// Two shelves at one height were held against each other only if they were about one block.
#[test]
fn two_maps_of_one_height_about_more_and_less_ground_contradict_each_other() {
    let (first, other) = (grant(1, square(0, 0)), grant(2, square(0, 0)));
    let quarter = PlaneBlock::around(TilePoint { x: 0, y: 0 }, PlaneBlock::DOUBLINGS_MAX - 1);
    let west = grant(3, square(-40, 0));
    let whole = shelf(PlaneBlock::PLANE, 7, vec![west, first.clone()]);
    let (same, liar) = (shelf(quarter, 7, vec![first]), shelf(quarter, 7, vec![other]));
    let mut map = LandMap::default();
    assert_eq!(map.place(&whole), ShelfPlaced::Taken);
    assert_eq!(map.place(&liar), ShelfPlaced::Differs(Arc::clone(&whole)));
    assert_eq!(map.place(&same), ShelfPlaced::Known);
    let mut map = LandMap::default();
    assert_eq!(map.place(&liar), ShelfPlaced::Taken);
    assert_eq!(map.place(&whole), ShelfPlaced::Differs(Arc::clone(&liar)));

    let evidence = |one: &Shelf, other: &Shelf| {
        let (first, second) = (one.proof.clone(), other.proof.clone());
        OverlayEvidence::Shelves { first, second }
    };
    for (one, other) in [(&whole, &liar), (&liar, &whole)] {
        let evidence = evidence(one, other);
        assert_eq!(evidence.check(world(), &Drawn, &Hashed(key(0))), Ok(()));
        let about = evidence.about(&Drawn).expect("two shelves of one ground");
        let equal = evidence_about(&liar, &shelf(quarter, 7, Vec::new()));
        assert_eq!((about.rank, about.subject), (7, equal.subject));
    }
    let agrees = evidence(&whole, &same).check(world(), &Drawn, &Hashed(key(0)));
    assert_eq!(agrees, Err(OverlayEvidenceError::Agrees));
}

fn evidence_about(one: &Shelf, other: &Shelf) -> metatopia_raynet::EvidenceSubject {
    let (first, second) = (one.proof.clone(), other.proof.clone());
    OverlayEvidence::Shelves { first, second }.about(&Drawn).expect("two shelves of one block")
}

#[test]
fn what_contradicts_nothing_is_no_evidence() {
    let near = square(20, 0);
    let block = PlaneBlock::around(TilePoint { x: 0, y: 0 }, 6);
    let shelf = shelf(block, 1, vec![grant(1, near)]);
    let scheme = Hashed(key(0));
    let evidence = |first: SignedSiteRecord, second: SignedSiteRecord, proof: Vec<u8>| {
        let (first, second) = (Box::new(first), Box::new(second));
        OverlayEvidence::Records { first, second, shelf: proof }.check(world(), &Drawn, &scheme)
    };
    let proof = shelf.proof.clone();
    assert_eq!(
        evidence(signed(1, near), signed(1, near), proof.clone()),
        Err(OverlayEvidenceError::Agrees)
    );
    let mut newer = record(1, near);
    newer.epoch.record = 2;
    let newer = newer.sign(&beacon(1));
    assert_eq!(evidence(signed(1, near), newer, proof.clone()), Err(OverlayEvidenceError::Agrees));
    let mut forged = signed(1, near);
    forged.record.clients = 9;
    let error = evidence(signed(1, near), forged.clone(), proof);
    assert!(
        matches!(error, Err(OverlayEvidenceError::Record(SiteRecordError::Signature(_)))),
        "{error:?}"
    );
    assert_eq!(
        evidence(signed(1, near), forged, vec![0; 40]),
        Err(OverlayEvidenceError::Shelf(ShelfError::Proof))
    );
    let (first, second) = (shelf.proof.clone(), shelf.proof.clone());
    let same = OverlayEvidence::Shelves { first, second };
    assert_eq!(same.check(world(), &Drawn, &scheme), Err(OverlayEvidenceError::Agrees));
}

/// A member that knows nothing, not even the map, and is connected to a peer.
fn knowing_nothing() -> Lone {
    let now = Now { monotonic: Duration::ZERO, wall: DAWN };
    let mut lone = Lone { member: Overlay::new(config(0), now), now };
    lone.give(OverlayInput::Up(key(5)));
    lone
}

#[test]
fn of_records_that_share_a_square_a_member_that_knew_nothing_keeps_the_granted_one_alone() {
    let (granted, near) = (3, square(20, 0));
    let mut lone = knowing_nothing();
    let mut lists = Vec::new();
    for number in 1..=6 {
        let said = lone.show(5, &signed(number, near)).into_iter().filter_map(said);
        lists.extend(said.filter_map(|(_, message)| match message {
            OverlayMessage::WantShelves(points) => Some(points),
            _ => None,
        }));
    }
    // One who overlaps it by half, and one who was granted it and says that it is larger.
    for (number, doublings) in [(7, 1), (granted, 2)] {
        let mut larger = record(number, Square { x: 16, y: 0, doublings });
        larger.epoch.record = 2;
        lone.show(5, &larger.sign(&beacon(number)));
    }
    assert_eq!(lone.member.neighbours().count(), 0, "no map speaks for any of them");
    let middle = TilePoint::middle(near).expect("a square");
    assert_eq!(lists.first(), Some(&vec![middle]), "the sender is asked for the map");

    let map = shelf(PlaneBlock::PLANE, 100, vec![grant(granted, near)]);
    lone.hear(5, &OverlayMessage::Shelf(map.proof.clone()));
    for number in 1..=7 {
        lone.meet(number, near);
    }
    let kept: Vec<_> = lone.member.neighbours().cloned().collect();
    assert_eq!(kept, [signed(granted, near)]);
    assert_eq!(lone.member.sizes()[0], 1, "the others are forgotten");
    assert_eq!(lone.member.evidence().count(), 0, "who makes records up harms nobody else");
}

/// `until` counts the time of the land office. While it is away that time stands still, and the clocks of members say
/// nothing about it: a grant ends by a newer map alone.
#[test]
fn a_grant_whose_time_is_long_past_by_clocks_still_proves_as_governance_time_stands_still() {
    let near = square(20, 0);
    let mut past = grant(1, near);
    past.until = Millis(1);
    let block = PlaneBlock::around(TilePoint { x: 0, y: 0 }, PlaneBlock::DOUBLINGS_MAX - 1);
    let map = shelf(block, 100, vec![grant(0, square(0, 0)), past.clone()]);
    assert!(past.until < DAWN && map.check(world()) == Ok(()));
    assert_eq!(signed(1, near).check_grant(Some(&past), &Hashed(key(0))), Ok(()));

    let mut lone = knowing_nothing();
    lone.give(OverlayInput::Shelf(map.proof.clone()));
    lone.give(OverlayInput::Own(Box::new(signed(0, square(0, 0)))));
    lone.meet(1, near);
    let known: Vec<_> = lone.member.neighbours().cloned().collect();
    assert_eq!(known, [signed(1, near)]);
    let point = TilePoint::middle(near).expect("a square");
    let seek = OverlayMessage::Seek { nonce: 9, point, most: 2, map: true };
    let answers = lone.hear(5, &seek).into_iter().filter_map(|(_, message)| match message {
        OverlayMessage::Nearer(answer) => Some(answer),
        _ => None,
    });
    let [answer] = &answers.collect::<Vec<_>>()[..] else { panic!("one answer") };
    assert_eq!(answer.owner.as_deref(), Some(&signed(1, near)));
    let proved = Drawn.open(&answer.shelf).expect("a proof");
    assert_eq!(proved.grant_at(point), Some(&past));
}

proptest! {
    #[test]
    fn arbitrary_bytes_do_no_harm(
        frames in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 1..20),
    ) {
        let mut lone = Lone::new(&[grant(0, square(0, 0)), grant(1, square(20, 0))]);
        lone.meet(1, square(20, 0));
        for bytes in frames {
            lone.give(OverlayInput::Frame { from: key(1), bytes });
        }
        prop_assert_eq!(lone.member.neighbours().count(), 1);
    }

    #[test]
    fn tips_of_any_place_do_no_harm(
        places in prop::collection::vec(any::<(i32, i32, u8, [u8; 8])>(), 1..10),
    ) {
        let mut lone = Lone::new(&[grant(0, square(0, 0)), grant(1, square(20, 0))]);
        lone.meet(1, square(20, 0));
        let tips = places.into_iter().map(|(x, y, doublings, name)| metatopia_raynet::SiteTip {
            name: metatopia_raynet::SiteName(name),
            epoch: metatopia_raynet::SiteEpoch { grant: 1, record: u64::MAX },
            mark: [0; 4],
            square: Square { x, y, doublings },
        });
        lone.hear(1, &exchange(1, square(20, 0), tips.collect()));
        prop_assert_eq!(lone.member.neighbours().count(), 1);
    }
}
