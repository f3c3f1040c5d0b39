//! Every bound of this crate, reached.

use std::sync::Arc;
use std::time::Duration;

use metatopia_types::{
    Act, Blob, BlobId, Digest, Envelope, HeaderId, Height, Lane, Millis, Proposal, Root, Round,
    Seq, SignedEnvelope, Turn, TurnBody, Vote, VoteKind, limits::ACTS_PER_TURN_MAX,
    limits::BLOB_BYTES_MAX, limits::BLOBS_BYTES_MAX, limits::TURN_BYTES_MAX,
    limits::VALIDATORS_MAX, wire,
};

use super::cluster::Cluster;
use super::keys::{Key, StandIn, certify, header, key, set, sim};
use crate::chain_history::ChainHistory;
use crate::core::SignatureCache;
use crate::height_state::HeightState;
use crate::limits::*;
use crate::peers::Peers;
use crate::turn_store::{TurnStore, parts};
use crate::{
    AgreementEffect, AgreementInput, AppliedTurn, Base, Decision, Message, Part, RoundProof,
    RoundVote, Want,
};

/// A turn with as many bytes of blobs as there may be, and the acts that name them.
fn long_turn(height: u64) -> Turn {
    let blobs: Vec<Blob> = (0..(BLOBS_BYTES_MAX / BLOB_BYTES_MAX) as u8)
        .map(|n| Blob(vec![n; BLOB_BYTES_MAX]))
        .collect();
    let mut named: Vec<BlobId> = blobs.iter().map(Blob::id).collect();
    named.resize(ACTS_PER_TURN_MAX, named[0]);
    let acts = (0_u64..).zip(named).map(|(n, body)| say(n, body));
    with_body(height, TurnBody::new(acts.collect(), blobs).unwrap())
}

fn say(seq: u64, body: BlobId) -> SignedEnvelope {
    let envelope = Envelope {
        sim: sim(),
        author: key(9),
        lane: Lane(u64::MAX),
        seq: Seq(seq),
        last_valid: Height(1_000),
        act: Act::Say { channel: 1, body },
    };
    envelope.sign(&Key(key(9)))
}

fn with_body(height: u64, body: TurnBody) -> Turn {
    let ((acts, act_count), (blobs, blob_count)) = (body.acts_root(), body.blobs_root());
    let header = metatopia_types::Header { acts, act_count, blobs, blob_count, ..header(height) };
    Turn { header, body }
}

fn small_turn(height: u64, time: u64) -> Turn {
    let mut turn = with_body(height, TurnBody::default());
    turn.header.time = Millis(time);
    turn
}

#[test]
fn the_longest_turn_fits_its_parts_and_comes_out_whole() {
    let turn = long_turn(5);
    let length = wire::encode(&turn).len();
    assert!(length > BLOBS_BYTES_MAX && length <= TURN_BYTES_MAX);
    let mut depot = TurnStore::default();
    let cut = parts(&turn);
    assert!(cut.len() > 16 && cut.len() <= PARTS_MAX);

    // In any order, some of them twice.
    let mut whole = false;
    for part in cut.iter().rev().chain(&cut) {
        whole |= depot.add(key(1), part.clone());
    }

    assert!(whole);
    assert_eq!(**depot.turn(turn.id()).unwrap(), turn);
}

#[test]
fn parts_that_do_not_fit_a_turn_are_refused() {
    let cut = parts(&long_turn(5));
    let refused = |change: fn(&mut Part)| {
        let mut depot = TurnStore::default();
        let mut part = cut[0].clone();
        change(&mut part);
        depot.add(key(1), part.clone());
        depot.have(key(1), part.header) == 0
    };

    assert!(!refused(|_| {}));
    assert!(refused(|part| part.index = part.total));
    assert!(refused(|part| part.total = 0));
    assert!(refused(|part| part.total = PARTS_MAX as u8 + 1));
    assert!(refused(|part| part.bytes.push(0)));
    assert!(refused(|part| part.bytes.clear()));
}

#[test]
fn a_peer_that_sends_wrong_parts_spoils_its_own_only() {
    let turn = small_turn(5, 50);
    let good = parts(&turn);
    let mut depot = TurnStore::default();
    let mut bad = good[0].clone();
    bad.bytes[0] ^= 1;

    assert!(!depot.add(key(1), bad));
    let other = Part { total: 2, bytes: vec![0; PART_BYTES], ..good[0].clone() };
    assert!(!depot.add(key(2), other));

    assert!(depot.add(key(3), good[0].clone()));
}

#[test]
fn a_body_that_its_header_does_not_name_is_not_taken_for_the_turn() {
    let mut turn = small_turn(5, 50);
    let id = turn.id();
    turn.body = TurnBody::new(vec![say(1, BlobId(Digest::ZERO))], Vec::new()).unwrap();
    let mut depot = TurnStore::default();

    for part in parts(&turn) {
        depot.add(key(1), part);
    }

    assert!(depot.turn(id).is_none());
}

#[test]
fn a_peer_has_room_for_few_turns_and_the_lowest_heights_stay() {
    let mut depot = TurnStore::default();
    let turns: Vec<Turn> = (0..8).map(|n| small_turn(5 + n / 3, 50 + n)).collect();
    for turn in &turns {
        depot.add(key(1), parts(turn).remove(0));
    }

    let kept = turns.iter().filter(|turn| depot.turn(turn.id()).is_some());
    let kept: Vec<u64> = kept.map(|turn| turn.header.height.0).collect();
    assert_eq!(kept.len(), ASSEMBLIES_PER_PEER_MAX);
    assert!(kept.contains(&5) && kept[..3] == [5, 5, 5]);
    // Another peer's room is its own.
    assert!(depot.add(key(2), parts(&small_turn(7, 99)).remove(0)));
}

#[test]
fn what_we_vouch_for_stays_until_its_height_is_over() {
    let mut depot = TurnStore::default();
    let turns: Vec<Turn> = (0..20).map(|n| small_turn(5, 50 + n)).collect();
    for turn in &turns {
        depot.add(key(1), parts(turn).remove(0));
        assert!(depot.mark_logged(turn.id()));
    }
    assert!(turns.iter().all(|turn| depot.turn(turn.id()).is_some()));

    depot.retire(Height(5));

    assert!(turns.iter().all(|turn| depot.turn(turn.id()).is_none()));
}

#[test]
fn a_want_is_answered_with_what_is_missing() {
    let turn = long_turn(5);
    let mut depot = TurnStore::default();
    depot.keep(Arc::new(turn.clone()));
    let all = parts(&turn);

    let answer = depot.answer(&Want { height: Height(5), header: turn.id(), have: !0b1010 });

    assert_eq!(answer, [all[1].clone(), all[3].clone()]);
}

#[test]
fn frames_of_heights_to_come_are_kept_to_a_number_and_the_newest_stay() {
    let mut peers = Peers::default();
    let peer = peers.get(key(1)).unwrap();
    for from in 0..EARLY_FRAMES_PER_PEER_MAX as u64 + 5 {
        let from = Height(from);
        peer.hold(Height(7), Message::Ask { from });
    }

    let kept = peers.begin(Height(7));

    assert_eq!(kept.len(), EARLY_FRAMES_PER_PEER_MAX);
    assert_eq!(kept[0].1, Message::Ask { from: Height(5) });
}

#[test]
fn peers_beyond_a_number_are_not_remembered_unless_one_is_gone() {
    let mut peers = Peers::default();
    let name = |n: usize| {
        metatopia_types::PublicKey([n as u8, (n >> 8) as u8].repeat(16).try_into().unwrap())
    };
    for n in 0..PEERS_MAX {
        assert!(peers.get(name(n)).is_some());
    }

    assert!(peers.get(name(PEERS_MAX)).is_none());
    peers.down(name(3));
    assert!(peers.get(name(PEERS_MAX)).is_some());
}

#[test]
fn wants_are_answered_in_number_and_then_in_time() {
    let mut peers = Peers::default();
    let peer = peers.get(key(1)).unwrap();
    let pause = Duration::from_millis(30);
    let at = Duration::from_millis;

    let at_once = (0..100).filter(|_| peer.may_want(at(5), pause)).count();
    let in_a_second = (6..1_006).filter(|ms| peer.may_want(at(*ms), pause)).count();

    assert_eq!(at_once, WANT_ANSWERS_MAX as usize);
    assert_eq!(in_a_second, 33);
}

#[test]
fn of_many_proposals_of_one_turn_the_first_and_the_last_are_kept() {
    let mut ballot = HeightState::default();
    let turn = HeaderId(Digest::ZERO);
    for round in 0..9 {
        let proposal = Proposal {
            height: Height(5),
            round: Round(round),
            header: turn,
            valid_round: round.checked_sub(1).map(Round),
            proposer: key(1),
        };
        ballot.propose(&proposal.sign(sim(), &Key(key(1))), Duration::ZERO);
    }

    let candidate = ballot.get(turn).unwrap();
    let rounds = candidate.proposals.iter().map(|p| p.message.round.0);
    assert_eq!(rounds.collect::<Vec<_>>(), [0, 6, 7, 8]);
    assert_eq!(candidate.accepted, 9);
}

#[test]
fn nil_votes_of_the_last_rounds_only_are_counted() {
    let mut ballot = HeightState::default();
    let (set, now) = (set(0..4), Duration::ZERO);
    for round in 0..ROUNDS_COUNTED_MAX as u32 + 1 {
        for voter in 0..3 {
            let vote = Vote {
                kind: VoteKind::Precommit,
                height: Height(5),
                round: Round(round),
                header: None,
                voter: key(voter),
            };
            ballot.vote(&vote, now);
        }
    }

    assert!(!ballot.is_over(Round(0), &set));
    assert!(ballot.is_over(Round(1), &set));
    assert!(ballot.is_over(Round(ROUNDS_COUNTED_MAX as u32), &set));
}

#[test]
fn the_largest_proofs_and_messages_fit_their_limits() {
    let all = 0..VALIDATORS_MAX as u8;
    let turn = Arc::new(long_turn(u64::MAX));
    let mut certificate = certify(&turn.header, all);
    certificate.round = Round(u32::MAX);
    let votes = certificate.signatures.iter().map(|(voter, signature)| RoundVote {
        kind: VoteKind::Precommit,
        header: Some(turn.id()),
        voter: *voter,
        signature: *signature,
    });
    let proof = RoundProof {
        height: Height(u64::MAX),
        round: Round(u32::MAX),
        shows: crate::Shows::Ended,
        votes: votes.collect(),
    };
    assert!(wire::encode(&certificate).len() <= PROOF_BYTES_MAX);
    assert!(wire::encode(&proof).len() <= PROOF_BYTES_MAX);

    let decision = Decision { certificate, turn };
    for message in [Message::Decision(decision), Message::RoundProof(proof)] {
        assert_eq!(Message::decode(&message.encode()), Ok(message));
    }
}

/// Returns what server 0 does when this message comes from server 1.
fn answers(cluster: &mut Cluster, message: Message) -> Vec<AgreementEffect> {
    let now = cluster.now(0);
    let server = &mut cluster.servers[0];
    let (agreement, from) = (server.agreement.as_mut().unwrap(), key(1));
    agreement.handle(now, &mut server.machine, AgreementInput::Frame { from, message });
    std::iter::from_fn(|| agreement.poll()).collect()
}

fn decided_cluster() -> Cluster {
    let mut cluster = Cluster::new(4, 1);
    cluster.start_all();
    cluster.run_to(40, 10_000);
    cluster.run_for(40);
    cluster
}

#[test]
fn a_question_is_answered_with_a_number_of_decisions() {
    let mut cluster = decided_cluster();
    let question = Message::Ask { from: Height(3) };

    let sent = answers(&mut cluster, question.clone());

    let heights = sent.iter().filter_map(|effect| match effect {
        AgreementEffect::Send { message: Message::Decision(decision), .. } => {
            Some(decision.height().0)
        }
        _ => None,
    });
    let heights: Vec<u64> = heights.collect();
    assert_eq!(heights.len(), DECISIONS_PER_ANSWER_MAX as usize);
    assert_eq!((heights[0], heights[15]), (3, 18));
    assert!(answers(&mut cluster, question).is_empty(), "not again at once");
}

#[test]
fn an_answer_has_a_size_but_one_decision_is_always_in_it() {
    let mut cluster = decided_cluster();
    let turn = Arc::new(long_turn(3));
    let length = wire::encode(turn.as_ref()).len();
    let certificate = certify(&turn.header, [0]);
    let decisions = vec![Decision { certificate, turn }; 9];

    let now = cluster.now(0);
    let server = &mut cluster.servers[0];
    let agreement = server.agreement.as_mut().unwrap();
    let to = key(1);
    agreement.handle(now, &mut server.machine, AgreementInput::Loaded { to, decisions });

    let sent = std::iter::from_fn(|| agreement.poll());
    let sent = sent.filter(|effect| matches!(effect, AgreementEffect::Send { .. })).count();
    assert_eq!(sent, ANSWER_BYTES_MAX / length);
}

#[test]
fn decisions_far_ahead_or_from_strangers_are_not_held() {
    let mut cluster = decided_cluster();
    let digest = |cluster: &Cluster| cluster.servers[0].agreement().digest();
    let next = cluster.servers[0].agreement().height().0;
    let decision = |height| {
        let turn = Arc::new(small_turn(height, 50));
        let certificate = certify(&turn.header, [0, 1, 2]);
        Message::Decision(Decision { certificate, turn })
    };
    let held = |cluster: &mut Cluster, height| {
        let before = digest(cluster);
        answers(cluster, decision(height));
        digest(cluster) != before
    };

    assert!(!held(&mut cluster, next + 1), "it was not asked for anything");
    // A vote from far ahead makes server 0 ask server 1.
    cluster.cut.extend(0..4);
    let vote = Vote {
        kind: VoteKind::Prevote,
        height: Height(next + 100),
        round: Round(0),
        header: None,
        voter: key(1),
    };
    let vote = Message::Vote(vote.sign(sim(), &Key(key(1))));
    answers(&mut cluster, vote);
    cluster.run_for(200);

    let now = cluster.servers[0].agreement().height().0;
    assert!(held(&mut cluster, now + 1));
    assert!(held(&mut cluster, now + DECISIONS_AHEAD_MAX - 1));
    assert!(!held(&mut cluster, now + DECISIONS_AHEAD_MAX));
}

#[test]
fn what_is_held_of_a_peer_that_says_too_much_is_told_beside_its_limit() {
    let mut cluster = decided_cluster();
    let early = |cluster: &Cluster| {
        let held = cluster.servers[0].agreement().held();
        assert!(held.iter().all(|held| held.count <= held.most), "{held:?}");
        let count = |what: &str| held.iter().find(|held| held.what == what).unwrap().count;
        (count("early messages of a peer"), count("unfinished turns"))
    };
    let next = cluster.servers[0].agreement().height().plus(1);
    let most = (EARLY_FRAMES_PER_PEER_MAX, ASSEMBLIES_PER_PEER_MAX);
    let mut told = Vec::new();
    for round in 0..2 * EARLY_FRAMES_PER_PEER_MAX as u32 {
        let (kind, voter) = (VoteKind::Prevote, key(1));
        let vote = Vote { kind, height: next, round: Round(round), header: None, voter };
        answers(&mut cluster, Message::Vote(vote.sign(sim(), &Key(voter))));
        let mut part = parts(&long_turn(next.0)).swap_remove(0);
        part.header = HeaderId(Digest::of("a turn that nobody has", &round.to_le_bytes()));
        answers(&mut cluster, Message::Part(part));
        told.push(early(&cluster));
    }

    assert_eq!(told[0], (1, 1));
    assert_eq!(told.last(), Some(&most));
}

#[test]
fn good_signatures_are_remembered_up_to_a_number() {
    let mut signatures = SignatureCache::new(Arc::new(StandIn));
    let nonsense = certify(&header(1), [1]).signatures[0].1;
    let message = |n: usize| *Digest::of("signatures", &n.to_le_bytes()).0.first_chunk().unwrap();
    for n in 0..SIGNATURES_CACHED_MAX + 1 {
        signatures.trust(&key(1), &message(n), &nonsense);
    }

    assert!(!signatures.check(&key(1), &message(0), &nonsense), "the oldest is forgotten");
    assert!(signatures.check(&key(1), &message(1), &nonsense));
    assert!(!signatures.check(&key(2), &message(1), &nonsense));
}

/// A past of this many heights, all of them applied.
fn past(heights: u64, turn: impl Fn(u64) -> Turn) -> ChainHistory {
    let mut past = ChainHistory::new(Base::genesis(Millis(0), Root(Digest::ZERO), &set(0..4)));
    for height in 1..=heights {
        let turn = Arc::new(turn(height));
        let certificate = certify(&turn.header, [0]);
        past.decide(Arc::new(Decision { certificate, turn }));
        past.apply(&AppliedTurn {
            height: Height(height),
            root: Root(Digest::ZERO),
            validators: set(0..4),
        });
    }
    past
}

#[test]
fn decisions_are_kept_for_a_minute() {
    let past = past(DECISIONS_KEPT + 10, |height| small_turn(height, 50));

    assert!(past.decision(Height(10)).is_none());
    assert!(past.decision(Height(11)).is_some());
    assert!(past.decision(Height(DECISIONS_KEPT + 10)).is_some());
}

#[test]
fn long_decisions_are_kept_up_to_a_size_but_never_fewer_than_bases_need() {
    let long = long_turn(1);
    let fits = DECISION_BYTES_KEPT / wire::encode(&long).len();
    assert!(fits > BASES_KEPT as usize, "the size is what this test hits");
    let heights = fits as u64 + 10;

    let past = past(heights, |height| {
        let mut turn = long.clone();
        turn.header.height = Height(height);
        turn
    });

    let kept = (1..=heights).filter(|h| past.decision(Height(*h)).is_some()).count();
    assert!(kept.abs_diff(fits) <= 1, "{kept} of {fits}");
}

#[test]
fn bases_can_be_taken_of_the_last_applied_heights() {
    let heights = BASES_KEPT + 50;
    let past = past(heights, |height| small_turn(height, 50));

    for back in 0..BASES_KEPT {
        let height = Height(heights - back);
        let base = past.base(height, true).unwrap();
        assert_eq!((base.height, base.voice), (height, true));
        let enough = height.plus(2) <= past.tip().height;
        assert_eq!(past.join_pack(height).is_some(), enough);
    }
    assert!(past.base(Height(1), true).is_none());
}

#[test]
fn set_changes_are_kept_up_to_a_number() {
    // Every header changes the set; the headers' names are all that counts here.
    let heights = LINKS_MAX as u64 + 3;
    let past = past(heights, |height| {
        let mut turn = small_turn(height, 50);
        turn.header.validators = set(0..5).id();
        turn.header.next_validators = set(0..4).id();
        turn
    });

    assert_eq!(past.links().len(), LINKS_MAX);
    assert_eq!(past.links()[0].header.height, Height(4));
}
