//! Laws of the nouns: proofs, orders, limits, rotation.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_types::*;
use proptest::prelude::*;

fn key(n: u8) -> SigningKey {
    SigningKey::from_seed([n; 32])
}

fn sim() -> SimId {
    SimId(Digest::of("laws", b"sim"))
}

fn act(n: u8, act: Act) -> SignedEnvelope {
    let (author, seq) = (key(n).public(), Seq(u64::from(n)));
    Envelope { sim: sim(), author, lane: Lane(1), seq, last_valid: Height(9), act }.sign(&key(n))
}

fn roster(n: u8) -> Roster {
    let member = Member { power: 1, contact: NodeContact::default() };
    Roster::genesis((1..=n).map(|n| (key(n).public(), member.clone())).collect())
        .expect("a handful of members")
}

fn header(roster: &Roster, height: u64, round: u32) -> Header {
    let set = roster.set(Height(height)).expect("the next height");
    let ((acts, act_count), (blobs, blob_count)) =
        (TurnBody::default().acts_root(), TurnBody::default().blobs_root());
    Header {
        sim: sim(),
        engine: 1,
        height: Height(height),
        previous: HeaderId(Digest::ZERO),
        proposer: set.proposer(Height(height), Round(round)),
        round: Round(round),
        time: Millis(height),
        acts,
        act_count,
        blobs,
        blob_count,
        root: Root(Digest::ZERO),
        validators: set.id(),
        next_validators: set.id(),
        reserved: Digest::ZERO,
    }
}

proptest! {
    #[test]
    fn every_leaf_of_every_list_has_a_proof_and_no_other_place_has_it(
        count in 1_usize..70, at in any::<prop::sample::Index>(), flip in 0_usize..256,
    ) {
        let leaves: Vec<Digest> =
            (0..count).map(|n| merkle::leaf(&n.to_le_bytes())).collect();
        let (root, at) = (merkle::root(&leaves), at.index(count));
        let proof = merkle::Proof::of(&leaves, at).expect("in range");
        let tree = merkle::Tree::of(leaves.clone());
        prop_assert_eq!(tree.root(), root);
        prop_assert_eq!(tree.proof(proof.index), Some(proof.clone()));
        prop_assert_eq!(tree.proof(proof.count), None);
        prop_assert_eq!(proof.root(leaves[at]), Some(root));

        let mut wrong = leaves[at];
        wrong.0[flip / 8] ^= 1 << (flip % 8);
        prop_assert_ne!(proof.root(wrong), Some(root));
        let mut moved = proof.clone();
        moved.index = (moved.index + 1) % u32::try_from(count).expect("small");
        prop_assert!(count == 1 || moved.root(leaves[at]) != Some(root));
        let mut longer = proof;
        longer.path.push(Digest::ZERO);
        prop_assert_eq!(longer.root(leaves[at]), None);
    }

    #[test]
    fn a_tree_that_follows_another_is_the_one_made_anew(
        counts in prop::collection::vec(1_usize..40, 1..4),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u64>()), 0..6),
    ) {
        let mut tree = merkle::Tree::default();
        for count in counts {
            let mut leaves: Vec<Digest> =
                (0..count).map(|n| merkle::leaf(&n.to_le_bytes())).collect();
            for (at, value) in &changes {
                tree = tree.followed_by(leaves.clone());
                prop_assert_eq!(tree.root(), merkle::root(&leaves));
                if leaves.is_empty() {
                    break;
                }
                let at = at.index(leaves.len());
                leaves[at] = merkle::leaf(&value.to_le_bytes());
                if value % 3 == 0 {
                    leaves.remove(at);
                }
            }
            tree = tree.followed_by(leaves.clone());
            prop_assert_eq!(&tree, &merkle::Tree::of(leaves.clone()));
            prop_assert_eq!(tree.root(), merkle::root(&leaves));
        }
    }

    #[test]
    fn a_joint_proof_shows_its_leaves_at_their_places_and_nothing_else(
        count in 1_u32..70, chosen in prop::collection::btree_set(0_u32..70, 1..12),
        at in any::<prop::sample::Index>(), flip in 0_usize..256,
    ) {
        let leaves: Vec<Digest> = (0..count).map(|n| merkle::leaf(&n.to_le_bytes())).collect();
        let tree = merkle::Tree::of(leaves.clone());
        let places: Vec<u32> = chosen.iter().map(|at| at % count).collect();
        let places: Vec<u32> = BTreeSet::from_iter(places).into_iter().collect();
        let proof = tree.joint(&places).expect("places of the list");
        let shown: Vec<_> = places.iter().map(|at| (*at, leaves[*at as usize])).collect();
        prop_assert_eq!(proof.root(&shown), Some(tree.root()));
        let alone: usize =
            places.iter().filter_map(|at| tree.proof(*at)).map(|proof| proof.path.len()).sum();
        prop_assert!(proof.siblings.len() <= alone);

        let at = at.index(shown.len());
        let mut wrong = shown.clone();
        wrong[at].1.0[flip / 8] ^= 1 << (flip % 8);
        prop_assert_ne!(proof.root(&wrong), Some(tree.root()));
        let mut moved = shown.clone();
        moved[at].0 = (moved[at].0 + 1) % count;
        prop_assert!(count == 1 || proof.root(&moved) != Some(tree.root()));
        let mut longer = proof.clone();
        longer.siblings.push(Digest::ZERO);
        prop_assert_eq!(longer.root(&shown), None);
        prop_assert_eq!(proof.root(&[]), None);
        prop_assert_eq!(tree.joint(&[count]), None);
    }

    /// A prover that states another count can still not make neighbours of leaves that are none, nor
    /// a first or last leaf of one that is neither.
    #[test]
    fn what_follows_one_another_in_a_joint_proof_does_so_in_the_list(
        count in 2_u32..40, first in 0_u32..40, second in 0_u32..40, stated in 1_u32..50,
        left in 0_u32..50,
    ) {
        let leaves: Vec<Digest> = (0..count).map(|n| merkle::leaf(&n.to_le_bytes())).collect();
        let tree = merkle::Tree::of(leaves.clone());
        let (first, second) = (first % count, second % count);
        prop_assume!(first < second);
        let siblings = tree.joint(&[first, second]).expect("two places").siblings;
        let lie = merkle::JointProof { count: stated, siblings };
        let shown = [(left, leaves[first as usize]), (left + 1, leaves[second as usize])];
        let believed = lie.root(&shown) == Some(tree.root());
        prop_assert!(!believed || second == first + 1);
        prop_assert!(!believed || left > 0 || first == 0);
        prop_assert!(!believed || left + 2 != stated || second == count - 1);
    }

    #[test]
    fn decoding_never_panics_and_accepts_only_the_canonical_form(bytes: Vec<u8>) {
        if let Ok(envelope) = wire::decode::<SignedEnvelope>(&bytes, 4_096) {
            prop_assert_eq!(wire::encode(&envelope), bytes.clone());
        }
        if let Ok(turn) = wire::decode::<Turn>(&bytes, 4_096) {
            prop_assert_eq!(wire::encode(&turn), bytes.clone());
        }
        if let Ok(receipt) = wire::decode::<Receipt>(&bytes, 4_096) {
            prop_assert_eq!(wire::encode(&receipt), bytes);
        }
    }

    #[test]
    fn one_changed_byte_breaks_an_envelope(at in any::<prop::sample::Index>(), with in 1_u8..) {
        let mut bytes = wire::encode(&act(1, Act::Heartbeat));
        let at = at.index(bytes.len());
        bytes[at] ^= with;
        let believed = wire::decode::<SignedEnvelope>(&bytes, 4_096)
            .is_ok_and(|act| act.verify(&Ed25519));
        prop_assert!(!believed);
    }

    #[test]
    fn a_body_is_the_same_whatever_order_its_acts_came_in(
        order in Just((1..30_u8).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let acts = |order: &[u8]| order.iter().map(|n| act(*n, Act::Heartbeat)).collect::<Vec<_>>();
        let sorted = TurnBody::new(acts(&(1..30).collect::<Vec<_>>()), vec![]);
        prop_assert_eq!(TurnBody::new(acts(&order), vec![]), sorted);
    }
}

#[test]
fn long_integers_and_trailing_bytes_are_not_canonical() {
    assert_eq!(wire::decode::<Height>(&[5], 8), Ok(Height(5)));
    let not_canonical = Err(wire::DecodeError::NotCanonical);
    assert_eq!(wire::decode::<Height>(&[0x85, 0x00], 8), not_canonical);
    assert_eq!(wire::decode::<Height>(&[5, 0], 8), not_canonical);
    assert_eq!(wire::decode::<Height>(&[0x85], 8), Err(wire::DecodeError::Malformed));
    let (found, limit) = (9, 8);
    let oversize = Err(wire::DecodeError::Oversize { found, limit });
    assert_eq!(wire::decode::<Height>(&[0; 9], 8), oversize);
}

#[test]
fn ids_are_read_back_from_their_text_and_bad_text_is_named() {
    let id = act(1, Act::Leave).id();
    assert_eq!(id.to_string().parse(), Ok(id));
    assert_eq!(key(1).public().to_string().parse(), Ok(key(1).public()));
    let short = "12ab".parse::<SimId>();
    assert_eq!(short, Err(ParseIdError::Length { expected: 64, found: 4 }));
    let upper = "A".repeat(64).parse::<SimId>();
    assert_eq!(upper, Err(ParseIdError::Digit { at: 0 }));
}

#[test]
fn weak_keys_and_signatures_that_fit_every_message_are_refused() {
    // The identity point as key and as R, with S = 0, satisfies the lax verification equation.
    let mut identity = [0; 32];
    identity[0] = 1;
    let mut signature = [0; 64];
    signature[0] = 1;
    let (key, signature) = (PublicKey(identity), Signature::from_bytes(signature));
    assert!(!Ed25519.is_key(&key));
    assert!(!Ed25519.verify(&key, b"anything", &signature));
    assert!(Ed25519.is_key(&self::key(1).public()));
}

#[test]
fn a_body_holds_its_limits() {
    let many = (0..=limits::ACTS_PER_TURN_MAX)
        .map(|seq| {
            let mut one = act(1, Act::Heartbeat);
            one.envelope.seq = Seq(seq as u64);
            one
        })
        .collect::<Vec<_>>();
    assert_eq!(
        TurnBody::new(many, vec![]),
        Err(BodyError::TooManyActs(limits::ACTS_PER_TURN_MAX + 1))
    );

    let name = "x".repeat(limits::ENVELOPE_BYTES_MAX);
    let long = act(1, Act::login(name, Look::default()));
    assert!(matches!(TurnBody::new(vec![long], vec![]), Err(BodyError::LongAct { .. })));

    let blob = Blob(vec![7; limits::BLOB_BYTES_MAX + 1]);
    let say = act(1, Act::Say { channel: 0, body: blob.id() });
    let error = TurnBody::new(vec![say], vec![blob]);
    assert!(matches!(error, Err(BodyError::TooManyBlobs { count: 1, .. })));
}

#[test]
fn a_blob_that_no_act_names_is_dropped_by_builders_and_refused_from_others() {
    let named = Blob(b"hi".to_vec());
    let stray = Blob(b"free bytes".to_vec());
    let say = act(1, Act::Say { channel: 0, body: named.id() });
    let body = TurnBody::new(vec![say.clone()], vec![stray.clone(), named.clone()]).expect("small");
    assert_eq!(body.blobs(), std::slice::from_ref(&named));

    let mut blobs = vec![named, stray.clone()];
    blobs.sort_by_key(Blob::id);
    let foreign: TurnBody =
        wire::decode(&wire::encode(&(vec![say], blobs, Vec::<u16>::new())), 4_096).expect("a body");
    assert_eq!(foreign.check(), Err(BodyError::StrayBlob(stray.id())));
}

#[test]
fn evidence_names_the_liar_and_nobody_else() {
    let id = |n: u8| Some(HeaderId(Digest([n; 32])));
    let vote = |n: u8, round: u32, header| {
        let (kind, height, voter) = (VoteKind::Prevote, Height(5), key(n).public());
        Vote { kind, height, round: Round(round), header, voter }.sign(sim(), &key(n))
    };
    let verdict = |evidence: Evidence| evidence.verify(sim(), &Ed25519);

    let lie = Evidence::votes(vote(1, 0, id(1)), vote(1, 0, None));
    assert_eq!(verdict(lie.clone()), Ok(key(1).public()));
    let other_sim = lie.verify(SimId(Digest::ZERO), &Ed25519);
    assert_eq!(other_sim, Err(EvidenceError::Signature));
    let same = Evidence::votes(vote(1, 0, id(1)), vote(1, 0, id(1)));
    assert_eq!(verdict(same), Err(EvidenceError::NoConflict));
    let two_rounds = Evidence::votes(vote(1, 0, id(1)), vote(1, 1, id(2)));
    assert_eq!(verdict(two_rounds), Err(EvidenceError::NoConflict));
    let two_voters = Evidence::votes(vote(1, 0, id(1)), vote(2, 0, id(2)));
    assert_eq!(verdict(two_voters), Err(EvidenceError::NoConflict));
    let Evidence::Votes(a, b) = lie else { panic!("made of votes") };
    assert_eq!(verdict(Evidence::Votes(b.clone(), a.clone())), Err(EvidenceError::Order));
    let mut forged = a;
    forged.signature = b.signature;
    let forged = Evidence::votes(*forged, *b);
    assert_eq!(verdict(forged), Err(EvidenceError::Signature));
}

#[test]
fn early_rounds_rotate_over_leaders_and_later_ones_over_everybody() {
    let members: Vec<_> = (1..=5).map(|n| Validator { key: key(n).public(), power: 1 }).collect();
    let lame = key(3).public();
    let set = ValidatorSet::new(members, |key| *key != lame).expect("five members");
    for height in 0..50 {
        let first: Vec<_> = (0..4).map(|r| set.proposer(Height(height), Round(r))).collect();
        assert!(!first.contains(&lame));
        assert_eq!(first.iter().collect::<BTreeSet<_>>().len(), 4);
        let later: Vec<_> = (4..9).map(|r| set.proposer(Height(height), Round(r))).collect();
        assert!(later.contains(&lame));
    }
}

#[test]
fn a_quorum_is_the_least_power_above_two_thirds() {
    for n in 1..=31_u8 {
        let members = (1..=n).map(|n| Validator { key: key(n).public(), power: 1 }).collect();
        let quorum = ValidatorSet::new(members, |_| true).expect("up to 31").quorum();
        assert!(quorum * 3 > u64::from(n) * 2 && (quorum - 1) * 3 <= u64::from(n) * 2, "{n}");
    }
}

#[test]
fn sets_that_break_a_rule_are_refused_by_name() {
    let member = |n: u8, power| Validator { key: key(n).public(), power };
    let error = |members: Vec<Validator>| ValidatorSet::new(members, |_| true).err();
    assert_eq!(error(vec![]), Some(ValidatorSetError::Count(0)));
    let twice = error(vec![member(1, 1), member(1, 1)]);
    assert_eq!(twice, Some(ValidatorSetError::Order(key(1).public())));
    let none = error(vec![member(1, 0)]);
    assert_eq!(none, Some(ValidatorSetError::Powerless(key(1).public())));
}

#[test]
fn a_change_of_the_set_takes_effect_exactly_three_heights_later() {
    let mut roster = roster(4);
    let (new, contact) = (key(9).public(), NodeContact::default());
    roster.change(&SetChange::Add { key: new, contact }).expect("unknown so far");
    assert_eq!(roster.promote(&key(8).public()), Err(RosterError::NoStandby(key(8).public())));
    roster.close(&header(&roster, 1, 0));
    roster.promote(&new).expect("a standby");
    roster.close(&header(&roster, 2, 0));
    let votes = |height| roster.set(Height(height)).expect("known").get(&new).is_some();
    assert_eq!([3, 4, 5].map(votes), [false, false, true]);
    assert!(roster.set(Height(6)).is_none() && roster.set(Height(2)).is_none());
}

#[test]
fn a_standby_in_reserve_takes_the_place_of_an_absent_member_and_of_no_other() {
    let mut roster = roster(4);
    let (reserve, contact) = (key(9).public(), NodeContact::default());
    roster.change(&SetChange::Reserve { key: reserve, contact }).expect("unknown so far");
    let dead = roster.set(Height(1)).expect("genesis").proposer(Height(1), Round(0));
    let mut height = 0;
    while roster.absent().is_none() {
        assert!(!roster.calls(&reserve));
        assert_eq!(roster.promote(&reserve), Err(RosterError::NoneAbsent(reserve)));
        height += 1;
        let set = roster.set(Height(height)).expect("the next height").clone();
        let round = u32::from(set.proposer(Height(height), Round(0)) == dead);
        roster.close(&header(&roster, height, round));
    }
    assert!((448..600).contains(&height), "absent after {height} heights");
    assert_eq!(roster.absent(), Some(dead));

    assert!(roster.calls(&reserve));
    assert_eq!(roster.promote(&reserve), Ok(()));

    let members: Vec<PublicKey> = roster.members().keys().copied().collect();
    assert!(members.len() == 4 && members.contains(&reserve) && !members.contains(&dead));
    assert!(roster.members().values().all(|member| member.power == 1));
    // Back again, it waits in its turn.
    assert!(roster.standbys().contains_key(&dead) && !roster.calls(&dead));
    assert_eq!(roster.absent(), None);
    (1..=4).for_each(|n| roster.close(&header(&roster, height + n, 0)));
    let set = roster.set(Height(height + 5)).expect("the next height");
    assert!(set.get(&reserve).is_some() && set.get(&dead).is_none());
}

#[test]
fn a_proposer_that_missed_its_round_leads_no_more_for_a_while_then_again() {
    let mut roster = roster(4);
    let mut absences: BTreeMap<PublicKey, Vec<u64>> = BTreeMap::new();
    let dead = roster.set(Height(1)).expect("genesis").proposer(Height(1), Round(0));
    for height in 1..1_000 {
        let set = roster.set(Height(height)).expect("the next height").clone();
        let round = u32::from(set.proposer(Height(height), Round(0)) == dead);
        if round == 1 {
            absences.entry(dead).or_default().push(height);
        }
        roster.close(&header(&roster, height, round));
    }
    // Missed at 1, then probed after 64, 128, 256 and 512 heights (with the lag, and its turn).
    let missed = &absences[&dead];
    assert!((4..=12).contains(&missed.len()), "{missed:?}");
    assert!(missed.windows(2).any(|pair| pair[1] - pair[0] > 250), "{missed:?}");

    // Once it builds a turn, it is trusted again.
    let set = roster.set(Height(1_000)).expect("the next height").clone();
    let round = (0..8).find(|r| set.proposer(Height(1_000), Round(*r)) == dead).expect("later");
    roster.close(&header(&roster, 1_000, round));
    for height in 1_001..1_004 {
        roster.close(&header(&roster, height, 0));
    }
    assert!(roster.set(Height(1_005)).expect("known").leaders().any(|key| key == dead));
}

/// Found by the simulated world: faults of nearly everybody left a censor alone to lead, and acts
/// waited until the demotion of the others ended.
#[test]
fn no_censor_leads_alone_when_all_others_missed_a_turn() {
    let mut roster = roster(4);
    let proposer = |roster: &Roster, height, round| {
        roster.set(Height(height)).expect("the next height").proposer(Height(height), Round(round))
    };
    let censor = proposer(&roster, 1, 3);
    (1..=4).for_each(|height| roster.close(&header(&roster, u64::from(height), 4 - height)));
    let next = roster.newest_set().leaders().find(|key| *key != censor).expect("a second leader");

    // That one is still away: it is struck again, and makes room for another.
    let mut by_censor = 0;
    for height in 5..65 {
        let round = u32::from(proposer(&roster, height, 0) == next);
        assert!(round == 0 || height < 15, "who is away is asked at {height}");
        by_censor += u64::from(proposer(&roster, height, round) == censor);
        roster.close(&header(&roster, height, round));
    }
    assert!(by_censor < 40, "the censor led {by_censor} of 60 turns");
}

proptest! {
    #[test]
    fn one_more_than_may_lie_always_leads(
        members in 1_u8..16,
        rounds in proptest::collection::vec(0_u32..20, 1..200),
    ) {
        let mut roster = roster(members);
        let liars = (usize::from(members) - 1) / 3;
        for (height, round) in (1..).zip(rounds) {
            roster.close(&header(&roster, height, round));
            prop_assert!(roster.newest_set().leaders().count() > liars);
        }
    }
}

#[test]
fn a_recovery_holds_by_more_than_two_thirds_of_those_who_vote_and_for_itself_alone() {
    let set = roster(4).set(Height(1)).expect("the first height").clone();
    let recovery = Recovery {
        sim: sim(),
        engine: 2,
        number: 1,
        height: Height(7),
        header: HeaderId(Digest::ZERO),
        roots: [Root(Digest([1; 32])), Root(Digest([2; 32]))],
    };
    let signed = |signers: &[u8]| {
        let mut signed = SignedRecovery::new(recovery.clone());
        signers.iter().for_each(|n| signed.sign(&key(*n)));
        signed
    };
    assert_eq!(signed(&[1, 2, 4]).verify(&set, &Ed25519), Ok(()));
    let few = CertificateError::NoQuorum { power: 2, quorum: 3 };
    assert_eq!(signed(&[1, 2, 1]).verify(&set, &Ed25519), Err(few));
    let stranger = CertificateError::Stranger(key(9).public());
    assert_eq!(signed(&[1, 2, 3, 9]).verify(&set, &Ed25519), Err(stranger));
    // Whatever is changed, nobody signed it.
    let changes: [fn(&mut Recovery); 7] = [
        |r| r.sim = SimId(Digest::ZERO),
        |r| r.engine += 1,
        |r| r.number += 1,
        |r| r.height = Height(8),
        |r| r.header = HeaderId(Digest([1; 32])),
        |r| r.roots[0] = Root(Digest([9; 32])),
        |r| r.roots.swap(0, 1),
    ];
    for change in changes {
        let mut changed = signed(&[1, 2, 4]);
        change(&mut changed.recovery);
        let error = changed.verify(&set, &Ed25519);
        assert!(matches!(error, Err(CertificateError::Signature(_))), "{error:?}");
    }
    // It speaks of what the next two headers state, and of no other.
    let stated = [7, 8, 9, 10].map(|height| recovery.root_in(Height(height)));
    assert_eq!(stated, [None, Some(recovery.roots[0]), Some(recovery.roots[1]), None]);
}
