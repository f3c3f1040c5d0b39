//! Evidence: nobody fills a member's memory with it, and checking it is rationed.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use metatopia_raynet::{
    LandGrant, Overlay, OverlayEvidence, OverlayInput, OverlayMessage, PlaneBlock, ProveLand,
    Shelf, ShelfError, TilePoint,
    limits::{CONVICTED_MAX, EVIDENCE_PER_CYCLE_MAX, OVERLAY_EVIDENCE_MAX},
};
use metatopia_types::{Height, Now, Square};

use crate::town::{CYCLE, DAWN, Drawn, Lone, beacon, config, grant, key, record, shelf, square};

/// Two records of a site for one epoch, with a shelf that has its grant of this epoch.
fn records(number: usize, at: Square, epoch: u64) -> OverlayEvidence {
    let mut granted = grant(number, at);
    granted.epoch = epoch;
    let block = PlaneBlock::around(TilePoint { x: at.x, y: at.y }, 6);
    let signed = |clients: u32| {
        let mut record = record(number, at);
        (record.epoch.grant, record.clients) = (epoch, clients);
        record.expires = DAWN.plus(20 * 3_600_000);
        Box::new(record.sign(&beacon(number)))
    };
    let shelf = shelf(block, 100 + epoch, vec![granted]).proof.clone();
    OverlayEvidence::Records { first: signed(1), second: signed(2), shelf }
}

/// A member that is connected to site 1, and has no map but that of its own square.
fn lone(land: Arc<dyn ProveLand>) -> Lone {
    let now = Now { monotonic: core::time::Duration::ZERO, wall: DAWN };
    let mut config = config(0);
    config.land = land;
    let mut lone = Lone { member: Overlay::new(config, now), now };
    lone.give(OverlayInput::Up(key(1)));
    lone
}

/// Gives evidence in a cycle of its own.
fn tell(lone: &mut Lone, evidence: OverlayEvidence) {
    lone.pass(CYCLE * 2);
    lone.give(OverlayInput::Up(key(1)));
    lone.hear(1, &OverlayMessage::Evidence(evidence));
}

/// A holder that contradicted itself under 64 grants filled the memory of all members, and nobody else was
/// ever convicted.
#[test]
fn one_holder_takes_one_place_however_many_grants_it_had() {
    let mut lone = lone(Arc::new(Drawn));
    for epoch in 1..=OVERLAY_EVIDENCE_MAX as u64 + 2 {
        tell(&mut lone, records(7, square(64, 0), epoch));
    }
    assert_eq!((lone.member.evidence().count(), lone.member.sizes()[3]), (1, 1));
    tell(&mut lone, records(8, square(128, 0), 1));
    assert_eq!((lone.member.evidence().count(), lone.member.sizes()[3]), (2, 2));
    let older = lone.member.digest();
    tell(&mut lone, records(7, square(64, 0), 3));
    assert_eq!(lone.member.evidence().count(), 2, "{older:?}");
}

#[test]
fn the_oldest_evidence_goes_and_convictions_outlast_it() {
    let mut lone = lone(Arc::new(Drawn));
    for number in 0..CONVICTED_MAX + 8 {
        let number = number + 10;
        tell(&mut lone, records(number, square(64 * number as i32, 0), 1));
        let all = number - 9;
        assert_eq!(lone.member.evidence().count(), all.min(OVERLAY_EVIDENCE_MAX));
        assert_eq!(lone.member.sizes()[3], all.min(CONVICTED_MAX));
    }
    // What went is not told again and again: it is no news.
    let before = lone.member.counts().refused;
    tell(&mut lone, records(400, square(64 * 400, 0), 1));
    let kept = lone
        .member
        .evidence()
        .filter(|evidence| **evidence == records(400, square(64 * 400, 0), 1));
    assert_eq!((kept.count(), lone.member.counts().refused), (0, before));
}

/// Any number of signatures under one map made as many pieces of evidence of it.
#[test]
fn two_maps_are_one_piece_of_evidence_however_they_are_signed() {
    let block = PlaneBlock::around(TilePoint { x: 0, y: 0 }, 6);
    let maps = [7, 8, 9].map(|number| shelf(block, 5, vec![grant(number, square(0, 0))]));
    let [first, second, third] = maps.map(|shelf| shelf.proof.clone());
    let mut lone = lone(Arc::new(Drawn));
    for (first, second) in [(&first, &second), (&second, &first), (&second, &third)] {
        let (first, second) = (first.clone(), second.clone());
        tell(&mut lone, OverlayEvidence::Shelves { first, second });
        assert_eq!(lone.member.evidence().count(), 1);
    }
}

/// Counts proofs that were opened, and reads heads for nothing.
#[derive(Debug, Default)]
struct ProofsCounted(AtomicUsize);

impl ProveLand for ProofsCounted {
    fn open(&self, proof: &[u8]) -> Result<Arc<Shelf>, ShelfError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Drawn.open(proof)
    }

    fn about(&self, proof: &[u8]) -> Option<(PlaneBlock, Height)> {
        Drawn.about(proof)
    }
}

/// Frames with two proofs each were opened as fast as they came, before anybody looked whether they could
/// contradict each other.
#[test]
fn evidence_costs_nothing_before_it_can_be_so_and_is_rationed() {
    let counting = Arc::new(ProofsCounted::default());
    let mut lone = lone(Arc::clone(&counting) as Arc<dyn ProveLand>);
    let block = PlaneBlock::around(TilePoint { x: 0, y: 0 }, 6);
    let map = |height, grants: Vec<LandGrant>| shelf(block, height, grants).proof.clone();
    let (first, second) = (map(5, Vec::new()), map(6, vec![grant(7, square(0, 0))]));
    let opened = || counting.0.load(Ordering::Relaxed);
    tell(&mut lone, OverlayEvidence::Shelves { first: first.clone(), second });
    tell(&mut lone, OverlayEvidence::Shelves { first: first.clone(), second: first });
    assert_eq!((opened(), lone.member.counts().refused), (0, 2));

    lone.pass(CYCLE * 2);
    lone.give(OverlayInput::Up(key(1)));
    let before = lone.member.counts().rationed;
    for number in 0..3 * EVIDENCE_PER_CYCLE_MAX {
        let number = 10 + number as usize;
        let evidence = records(number, square(64 * number as i32, 0), 1);
        lone.hear(1, &OverlayMessage::Evidence(evidence));
    }
    assert_eq!(opened(), EVIDENCE_PER_CYCLE_MAX as usize);
    let rationed = lone.member.counts().rationed - before;
    assert_eq!(rationed, u64::from(2 * EVIDENCE_PER_CYCLE_MAX));
}
