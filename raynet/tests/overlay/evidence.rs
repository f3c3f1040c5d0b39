//! Evidence: nobody fills a member's memory with it, and checking it is rationed.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use metatopia_raynet::{
    EvidencePull, EvidenceSubject, LandGrant, Overlay, OverlayEvidence, OverlayFrameError,
    OverlayInput, OverlayMessage, PlaneBlock, ProveLand, Shelf, ShelfError, TilePoint,
    limits::{
        CONVICTED_MAX, EVIDENCE_PER_CYCLE_MAX, EVIDENCE_PER_WANT_MAX, EVIDENCE_REMEMBERED_MAX,
        OVERLAY_EVIDENCE_MAX, PULLS_PER_CYCLE_MAX,
    },
    pace::REST_PULL_CYCLES,
};
use metatopia_types::{Height, Millis, Now, PublicKey, Square};

use crate::town::{
    CYCLE, DAWN, Drawn, Lone, Town, beacon, config, grant, grid, key, record, said, shelf, square,
};

/// Two records of a site for one epoch, with a shelf that has its grant of this epoch.
fn records(number: usize, at: Square, epoch: u64) -> OverlayEvidence {
    records_until(number, at, epoch, DAWN.plus(20 * 3_600_000))
}

fn records_until(number: usize, at: Square, epoch: u64, expires: Millis) -> OverlayEvidence {
    let mut granted = grant(number, at);
    granted.epoch = epoch;
    let block = PlaneBlock::around(TilePoint { x: at.x, y: at.y }, 6);
    let signed = |clients: u32| {
        let mut record = record(number, at);
        (record.epoch.grant, record.clients) = (epoch, clients);
        record.expires = expires;
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
    // Of so many the oldest conviction is forgotten, and so is its piece: it is news again.
    let first = records(10, square(640, 0), 1);
    tell(&mut lone, first.clone());
    assert!(lone.member.evidence().any(|evidence| *evidence == first));
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

/// Evidence was told when it was found, and whoever came later believed the convicted site.
#[test]
fn a_newcomer_pulls_the_evidence_that_was_told_before_it_came() {
    let mut town = Town::new(grid(4, 16));
    for number in 0..15 {
        town.begin(number, &[usize::from(number == 0)]);
    }
    town.run(12);
    let pieces: Vec<_> = (100..110).map(|number| records(number, square(640, 640), 1)).collect();
    for (piece, number) in pieces.iter().zip(0..) {
        let bytes = OverlayMessage::Evidence(piece.clone()).encode();
        town.input(number, OverlayInput::Frame { from: town.met_by(number), bytes });
        town.run(1);
    }
    town.evidence.clear();
    town.begin(15, &[3]);
    town.run(12);
    let told: Vec<_> = town.evidence.iter().filter(|(number, _)| *number == 15).collect();
    assert_eq!((told.len(), town.members[&15].evidence().count()), (10, 10));
    assert_eq!(town.members[&15].sizes()[3], 10, "all ten are convicted there");
}

/// A member beside site 1, whose first questions for evidence were answered: there was none.
fn pulling() -> Lone {
    let (own, near) = (square(0, 0), square(20, 0));
    let mut lone = Lone::new(&[grant(0, own), grant(1, near)]);
    lone.meet(1, near);
    let none = OverlayMessage::Pull(EvidencePull::Kept(Vec::new()));
    for _ in 0..4 {
        lone.pass(CYCLE);
        lone.meet(1, near);
        lone.hear(1, &none);
    }
    lone
}

/// Of two dozen pieces that came in one cycle all but eight were dropped, and nobody told them again. Besides,
/// evidence ended with the time of its records.
#[test]
fn what_was_dropped_in_a_cycle_is_pulled_later_even_when_its_records_are_over() {
    let mut lone = pulling();
    let soon = DAWN.plus(60_000);
    let piece = |n: usize| records_until(n, square(64 * n as i32, 0), 1, soon);
    let pieces: Vec<_> = (10..34).map(piece).collect();
    for piece in &pieces {
        lone.hear(1, &OverlayMessage::Evidence(piece.clone()));
    }
    assert_eq!(lone.member.evidence().count(), EVIDENCE_PER_CYCLE_MAX as usize);
    lone.now.wall = soon.plus(1);
    let kept: Vec<EvidenceSubject> = pieces.iter().filter_map(|p| p.about(&Drawn)).collect();
    let mut asks = 0;
    for _ in 0..100 {
        let asked = lone.pass(CYCLE).into_iter().filter_map(said);
        let is_ask = |(to, message): (PublicKey, OverlayMessage)| {
            to == key(1) && message == OverlayMessage::Pull(EvidencePull::Ask)
        };
        asks += usize::from(asked.into_iter().any(is_ask));
        let answer = OverlayMessage::Pull(EvidencePull::Kept(kept.clone()));
        for (_, message) in lone.hear(1, &answer) {
            let OverlayMessage::Pull(EvidencePull::Want(wanted)) = message else { continue };
            assert!(wanted.len() <= EVIDENCE_PER_WANT_MAX);
            let is_wanted = |piece: &&OverlayEvidence| {
                piece.about(&Drawn).is_some_and(|about| wanted.contains(&about.subject))
            };
            for piece in pieces.iter().filter(is_wanted) {
                let sent = lone.hear(1, &OverlayMessage::Evidence(piece.clone()));
                assert!(!sent.iter().any(|(_, m)| matches!(m, OverlayMessage::Evidence(_))));
            }
        }
        lone.give(OverlayInput::Up(key(1)));
    }
    assert_eq!(lone.member.evidence().count(), pieces.len());
    assert!((4..=8).contains(&asks), "{asks} questions, of which few at rest");
}

/// A neighbour said that it keeps a piece about a site, and never gave one. An honest member's piece about the
/// same site was then taken for what had been asked for, and told to nobody.
#[test]
fn who_only_says_that_it_has_evidence_keeps_none_from_being_told() {
    let mut lone = pulling();
    let piece = records(10, square(640, 0), 1);
    let about = piece.about(&Drawn).expect("they contradict each other");
    let mut asked = false;
    for _ in 0..100 {
        let sent = lone.pass(CYCLE).into_iter().filter_map(said);
        let ask = (key(1), OverlayMessage::Pull(EvidencePull::Ask));
        asked |= sent.into_iter().any(|sent| sent == ask);
        if asked {
            break;
        }
        lone.give(OverlayInput::Up(key(1)));
    }
    assert!(asked, "it asks sometimes, at rest too");
    let kept = OverlayMessage::Pull(EvidencePull::Kept(vec![about]));
    let want = OverlayMessage::Pull(EvidencePull::Want(vec![about.subject]));
    assert_eq!(lone.hear(1, &kept), [(key(1), want)]);
    lone.give(OverlayInput::Up(key(2)));
    let told = lone.hear(2, &OverlayMessage::Evidence(piece.clone()));
    assert_eq!(told, [(key(1), OverlayMessage::Evidence(piece))]);
}

/// Two maps of one height about a block of their own.
fn maps(number: usize) -> OverlayEvidence {
    let at = square(64 * number as i32, 0);
    let block = PlaneBlock::around(TilePoint { x: at.x, y: at.y }, 6);
    let map = |grants| shelf(block, 5, grants).proof.clone();
    OverlayEvidence::Shelves { first: map(Vec::new()), second: map(vec![grant(number, at)]) }
}

/// Lets cycles pass, in which site 1 answers each question for evidence: it keeps 64 of these pieces, each time
/// others. Returns in which cycles it was asked for pieces, and how many it gave in all.
fn pull(lone: &mut Lone, pieces: &[OverlayEvidence], cycles: usize) -> (Vec<usize>, usize) {
    let subjects: Vec<_> = pieces.iter().map(|p| p.about(&Drawn).expect("it is some")).collect();
    let (mut asked, mut given, mut turn) = (Vec::new(), 0, 0);
    for cycle in 0..cycles {
        lone.meet(1, square(20, 0));
        let said = lone.pass(CYCLE).into_iter().filter_map(said);
        let ask = (key(1), OverlayMessage::Pull(EvidencePull::Ask));
        if !said.into_iter().any(|said| said == ask) {
            continue;
        }
        let kept = subjects.iter().cycle().skip(turn * OVERLAY_EVIDENCE_MAX);
        let kept = kept.take(OVERLAY_EVIDENCE_MAX.min(pieces.len())).copied().collect();
        turn += 1;
        for (_, message) in lone.hear(1, &OverlayMessage::Pull(EvidencePull::Kept(kept))) {
            let OverlayMessage::Pull(EvidencePull::Want(wanted)) = message else { continue };
            asked.push(cycle);
            let wanted = subjects.iter().zip(pieces).filter(|(s, _)| wanted.contains(&s.subject));
            for (_, piece) in wanted {
                given += 1;
                lone.hear(1, &OverlayMessage::Evidence(piece.clone()));
            }
        }
    }
    (asked, given)
}

/// A land office that contradicted itself about more than 64 blocks: what was pushed out was news again, and its
/// pieces were pulled in turns for ever.
#[test]
fn more_lies_of_a_land_office_than_are_kept_are_pulled_once() {
    let mut lone = pulling();
    let pieces: Vec<_> = (10..10 + 3 * OVERLAY_EVIDENCE_MAX).map(maps).collect();
    let (asked, given) = pull(&mut lone, &pieces, 400);
    assert_eq!((given, lone.member.evidence().count()), (pieces.len(), OVERLAY_EVIDENCE_MAX));
    assert!(asked.iter().all(|cycle| *cycle < 250), "{asked:?}");
    assert_eq!(pull(&mut lone, &pieces, 400), (Vec::new(), 0));
}

#[test]
fn more_lies_than_are_remembered_are_pulled_seldom() {
    let mut lone = pulling();
    let pieces: Vec<_> = (10..10 + 3 * CONVICTED_MAX).map(maps).collect();
    let remembered = EVIDENCE_REMEMBERED_MAX + OVERLAY_EVIDENCE_MAX;
    for few in pieces[..remembered].chunks(EVIDENCE_PER_CYCLE_MAX as usize) {
        lone.meet(1, square(20, 0));
        few.iter().for_each(|piece| drop(lone.hear(1, &OverlayMessage::Evidence(piece.clone()))));
        lone.pass(CYCLE * 9 / 8);
    }
    let (asked, _) = pull(&mut lone, &pieces[remembered..], 10 * REST_PULL_CYCLES as usize);
    assert!((8..=11).contains(&asked.len()), "{asked:?}");
}

#[test]
fn questions_for_evidence_are_rationed_and_answers_nobody_asked_for_are_passed_over() {
    let mut lone = pulling();
    let piece = records(10, square(640, 0), 1);
    lone.hear(1, &OverlayMessage::Evidence(piece.clone()));
    let about = piece.about(&Drawn).expect("they contradict each other");
    lone.pass(CYCLE * 2);
    lone.give(OverlayInput::Up(key(2)));
    let ask = OverlayMessage::Pull(EvidencePull::Ask);
    let kept = OverlayMessage::Pull(EvidencePull::Kept(vec![about]));
    assert_eq!(lone.hear(2, &ask), [(key(2), kept)]);
    let want = OverlayMessage::Pull(EvidencePull::Want(vec![about.subject]));
    for _ in 1..PULLS_PER_CYCLE_MAX {
        let evidence = OverlayMessage::Evidence(piece.clone());
        assert_eq!(lone.hear(2, &want), [(key(2), evidence)]);
    }
    let before = lone.member.counts().rationed;
    assert_eq!((lone.hear(2, &want), lone.hear(2, &ask)), (vec![], vec![]));
    let news = EvidenceSubject { rank: 9, ..about };
    assert_eq!(lone.hear(2, &OverlayMessage::Pull(EvidencePull::Kept(vec![news]))), []);
    assert_eq!(lone.member.counts().rationed - before, 3);

    let many = EvidencePull::Want(vec![about.subject; EVIDENCE_PER_WANT_MAX + 1]);
    let all = EvidencePull::Kept(vec![about; OVERLAY_EVIDENCE_MAX + 1]);
    for (said, max) in [(many, EVIDENCE_PER_WANT_MAX), (all, OVERLAY_EVIDENCE_MAX)] {
        let refused = OverlayMessage::decode(&OverlayMessage::Pull(said).encode());
        assert_eq!(refused, Err(OverlayFrameError::Pieces { found: max + 1, max }));
    }
}
