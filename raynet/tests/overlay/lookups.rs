//! Who owns a point, among liars and old maps.

use metatopia_raynet::{
    LookupAnswer, LookupOutcome, NearerSites, OverlayEffect, OverlayInput, OverlayMessage,
    PlaneBlock, SignedSiteRecord, TilePoint,
    limits::{HOPS_MAX, WAYS_MAX},
};
use metatopia_types::{PublicKey, Square};

use crate::town::{
    Lone, Town, beacon, endpoint, grant, grid, key, record, said, shelf, signed, square,
};

/// Says that it is the nearest itself, and shows no map.
fn says_itself(own: &SignedSiteRecord, message: &OverlayMessage) -> Option<OverlayMessage> {
    let OverlayMessage::Seek { nonce, .. } = message else { return None };
    let nearer = vec![own.clone()];
    Some(OverlayMessage::Nearer(NearerSites {
        nonce: *nonce,
        nearer,
        owner: None,
        shelf: Vec::new(),
    }))
}

#[test]
fn what_is_nobodys_is_proved_to_be() {
    let mut town = Town::begun(grid(4, 10));
    town.run(12);
    let answer = town.look_up(0, TilePoint { x: 25, y: 25 });
    assert_eq!(answer.outcome, LookupOutcome::Nobodys);
    assert!(answer.is_answered && answer.shelf.is_some(), "{answer:?}");
}

#[test]
fn peers_that_answer_everything_with_themselves_are_passed_by() {
    let mut town = Town::begun(grid(6, 10));
    town.run(12);
    for liar in [7, 14, 21, 28, 9] {
        town.liars.insert(liar, says_itself);
    }
    for goal in [35, 30, 5, 20] {
        let point = TilePoint::middle(town.squares[goal]).expect("a square");
        let answer = town.look_up(0, point);
        let LookupOutcome::Owned { grant, endpoints } = &answer.outcome else {
            panic!("{answer:?}")
        };
        assert_eq!((grant.square, endpoints.len()), (town.squares[goal], 1));
        assert!(answer.hops <= HOPS_MAX);
    }
}

#[test]
fn liars_all_around_give_no_owner_without_a_proof_and_no_loop() {
    let mut town = Town::begun(grid(4, 10));
    town.run(12);
    town.shelves.clear();
    for liar in 1..16 {
        town.liars.insert(liar, says_itself);
    }
    // Far away, where this member has no map of its own.
    let answer = town.look_up(0, TilePoint { x: -1_000_000, y: -1_000_000 });
    assert!(!answer.is_answered, "{answer:?}");
    assert!(answer.ways <= WAYS_MAX as u32);
    assert!(!matches!(answer.outcome, LookupOutcome::Owned { .. }), "{answer:?}");
}

/// Gives the answer of site 1 to the way that a lone member begins.
fn answer_with(lone: &mut Lone, shelf: Vec<u8>) -> LookupAnswer {
    let mut effects = lone.give(OverlayInput::Lookup { id: 1, point: TilePoint { x: 60, y: 0 } });
    for _ in 0..20 {
        let mut next = Vec::new();
        for effect in effects {
            if let OverlayEffect::Found(answer) = effect {
                return *answer;
            }
            let Some((_, OverlayMessage::Seek { nonce, .. })) = said(effect) else {
                continue;
            };
            let answer =
                NearerSites { nonce, nearer: Vec::new(), owner: None, shelf: shelf.clone() };
            let bytes = OverlayMessage::Nearer(answer).encode();
            next.extend(lone.give(OverlayInput::Frame { from: key(1), bytes }));
        }
        next.extend(lone.pass(crate::town::CYCLE / 4));
        effects = next;
    }
    panic!("a lookup ends")
}

#[test]
fn the_newest_certified_map_wins_and_who_contradicts_it_is_counted() {
    let near = square(20, 0);
    let grants = [grant(0, square(0, 0)), grant(1, near)];
    let block = PlaneBlock::around(TilePoint { x: 0, y: 0 }, PlaneBlock::DOUBLINGS_MAX - 1);
    let sold = grant(2, square(60, 0));
    let newer = shelf(block, 200, grants.iter().cloned().chain([sold.clone()]).collect());
    let mut lone = Lone::new(&grants);
    lone.meet(1, near);
    let answer = answer_with(&mut lone, newer.proof.clone());
    let LookupOutcome::Owned { grant: owner, .. } = &answer.outcome else { panic!("{answer:?}") };
    assert_eq!((owner.sim, answer.disagreements > 0), (sold.sim, true));

    let older = shelf(block, 50, vec![grant(3, square(60, 0))]);
    let mut lone = Lone::new(&grants);
    lone.meet(1, near);
    let answer = answer_with(&mut lone, older.proof.clone());
    assert_eq!(answer.outcome, LookupOutcome::Nobodys, "its own map is newer");
    assert!(answer.disagreements > 0);
}

#[test]
fn a_map_older_than_the_invites_does_not_count() {
    let far = square(-40, -40);
    let mut config = crate::town::config(0);
    config.map_from = metatopia_types::Height(150);
    let now =
        metatopia_types::Now { monotonic: core::time::Duration::ZERO, wall: crate::town::DAWN };
    let mut lone = Lone { member: metatopia_raynet::Overlay::new(config, now), now };
    let block = PlaneBlock::around(TilePoint { x: 0, y: 0 }, PlaneBlock::DOUBLINGS_MAX - 1);
    let grants = vec![grant(0, square(0, 0)), grant(1, square(20, 0))];
    lone.give(OverlayInput::Shelf(shelf(block, 100, grants).proof.clone()));
    lone.give(OverlayInput::Own(Box::new(signed(0, square(0, 0)))));
    lone.meet(1, square(20, 0));
    let old = shelf(
        block,
        149,
        vec![grant(0, square(0, 0)), grant(1, square(20, 0)), grant(2, square(60, 0))],
    );
    let answer = answer_with(&mut lone, old.proof.clone());
    assert_eq!(answer.outcome, LookupOutcome::Unproved, "{far:?}");
}

#[test]
fn contacts_behind_one_door_are_named() {
    let squares: Vec<Square> = (0..6).map(|number| square(10 * number, 0)).collect();
    let mut town = Town::begun(squares);
    town.run(6);
    // All addresses of these begin with 10.0.
    assert!(town.look_up(0, TilePoint { x: 30, y: 0 }).one_door);
}

/// Plays all others in a lookup: each question to a peer is answered by `says`. Returns the answer, and the
/// peers that were dialled.
fn played(
    lone: &mut Lone,
    point: TilePoint,
    says: impl Fn(PublicKey, u64) -> NearerSites,
) -> (LookupAnswer, Vec<PublicKey>) {
    let mut effects = lone.give(OverlayInput::Lookup { id: 1, point });
    let mut dialled = Vec::new();
    for _ in 0..20 {
        let mut next = Vec::new();
        for effect in effects {
            match effect {
                OverlayEffect::Found(answer) => return (*answer, dialled),
                OverlayEffect::Dial { peer, .. } => dialled.push(peer),
                effect => {
                    if let Some((to, OverlayMessage::Seek { nonce, .. })) = said(effect) {
                        let bytes = OverlayMessage::Nearer(says(to, nonce)).encode();
                        next.extend(lone.give(OverlayInput::Frame { from: to, bytes }));
                    }
                }
            }
        }
        next.extend(lone.pass(crate::town::CYCLE / 4));
        effects = next;
    }
    panic!("a lookup ends")
}

/// Only the endpoints of the newest record were told, so half of the servers were lost.
#[test]
fn the_endpoints_that_two_ways_tell_are_united() {
    let (near, other, far) = (square(20, 0), square(0, 20), square(60, 60));
    let grants = [grant(0, square(0, 0)), grant(1, near), grant(2, other), grant(3, far)];
    let mut lone = Lone::new(&grants);
    lone.meet(1, near);
    lone.meet(2, other);
    let told = |epoch: u64| {
        let mut record = record(3, far);
        record.epoch.record = epoch;
        record.endpoints = vec![endpoint(30 + epoch as usize)];
        record.sign(&beacon(3))
    };
    let block = PlaneBlock::around(TilePoint { x: 0, y: 0 }, PlaneBlock::DOUBLINGS_MAX - 1);
    let map = shelf(block, 200, grants.to_vec());
    let point = TilePoint::middle(far).expect("a square");
    let (answer, _) = played(&mut lone, point, |to, nonce| {
        let owner = Some(Box::new(told(if to == key(1) { 1 } else { 2 })));
        NearerSites { nonce, nearer: Vec::new(), owner, shelf: map.proof.clone() }
    });
    let LookupOutcome::Owned { endpoints, .. } = &answer.outcome else { panic!("{answer:?}") };
    assert_eq!(endpoints, &[endpoint(32), endpoint(31)], "the newest first");
}

/// A liar named any address on a way as that of a nearer site, and it was dialled.
#[test]
fn a_record_that_the_kept_map_denies_is_not_followed_on_a_way() {
    let near = square(20, 0);
    let grants = [grant(0, square(0, 0)), grant(1, near), grant(2, square(60, 0))];
    let mut lone = Lone::new(&grants);
    lone.meet(1, near);
    let forged = record(2, square(60, 0)).sign(&beacon(9));
    let unknown = signed(8, square(64, 0));
    let refused = lone.member.counts().refused;
    let point = TilePoint { x: 61, y: 1 };
    let (_, dialled) = played(&mut lone, point, |_, nonce| {
        let nearer = vec![forged.clone(), unknown.clone()];
        NearerSites { nonce, nearer, owner: None, shelf: Vec::new() }
    });
    assert_eq!(dialled, Vec::new());
    assert!(lone.member.counts().refused >= refused + 2);
}
