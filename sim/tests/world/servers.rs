//! Who votes: admins' changes, standbys that are ready, and evidence against liars.

use metatopia_math::Stream;
use metatopia_sim::{
    SimClock, World,
    limits::{
        CHECKED_PER_AUTHOR_MAX, CHECKED_PER_TURN_MAX, DELAY_MS, DELAYED_MAX, PROOF_HEIGHTS,
        PROOF_LEAF_BYTES, PROOF_LEAVES, PROOFS_KEPT,
    },
};
use metatopia_types::{
    Act, Digest, Evidence, HeaderId, Height, LeafKey, Look, NodeContact, Outcome, Refusal, Round,
    SetChange, Sign, Signed, SigningKey, SimId, Vote, VoteKind,
    limits::{LEAF_BYTES_MAX, SET_CHANGES_PER_TURN_MAX},
    wire,
};

use crate::yard::{Builder, Yard, key, public};

const ADMIN: u8 = 100;

fn with_admin() -> Yard {
    let mut yard = Builder::new().build();
    yard.login(ADMIN);
    yard.login(1);
    yard.play();
    yard
}

fn add(n: u8) -> Act {
    let contact = NodeContact { peer_id: format!("peer{n}"), address: "/ip4/127.0.0.1".to_owned() };
    Act::SetChange(SetChange::Add { key: public(n), contact })
}

fn remove(n: u8) -> Act {
    Act::SetChange(SetChange::Remove { key: public(n) })
}

/// Returns the act by which standby `n` shows that it follows, at the next height at which the sim asks for
/// it.
fn ready(yard: &mut Yard, n: u8) -> Act {
    let (height, proof) = loop {
        match yard.world.readiness(&public(n)) {
            Some(proof) => break (yard.world.height(), proof),
            None => drop(yard.play()),
        }
    };
    Act::Ready { height, proof }
}

#[test]
fn a_standby_becomes_a_validator_by_its_own_word_three_heights_later() {
    let mut yard = with_admin();

    assert_eq!(yard.try_act(ADMIN, add(205)), Outcome::Ok);
    assert!(yard.world.roster().standbys().contains_key(&public(205)));
    let act = ready(&mut yard, 205);
    assert_eq!(yard.try_act(205, act), Outcome::Ok);

    let height = yard.world.height();
    assert!(yard.world.roster().members().contains_key(&public(205)));
    let votes = |at: Height| yard.world.validators(at).expect("known").get(&public(205)).is_some();
    assert!(!votes(height.plus(1)) && !votes(height.plus(2)) && votes(height.plus(3)));
}

#[test]
fn only_an_admin_who_is_logged_in_changes_the_set() {
    let mut yard = Builder::new().build();
    assert_eq!(yard.try_act(ADMIN, add(205)), Outcome::Refused(Refusal::NotLoggedIn));
    yard.login(1);
    yard.play();
    assert_eq!(yard.try_act(1, add(205)), Outcome::Refused(Refusal::NotAdmin));
}

#[test]
fn a_standby_that_does_not_show_the_state_does_not_follow() {
    let mut yard = with_admin();
    yard.act(ADMIN, add(205));
    yard.act(ADMIN, add(206));
    yard.play();
    let act = ready(&mut yard, 205);
    let Act::Ready { height, proof } = act.clone() else { unreachable!("it is one") };
    let others = yard.world.readiness(&public(206)).expect("asked for here");

    for (n, act) in [
        (205, Act::Ready { height, proof: Digest::ZERO }),
        // Neither of another height, nor what another standby shows.
        (205, Act::Ready { height: height.plus(PROOF_HEIGHTS), proof }),
        (205, Act::Ready { height, proof: others }),
        (206, act.clone()),
    ] {
        assert_eq!(yard.try_act(n, act), Outcome::Refused(Refusal::WrongProof));
    }
    assert_eq!(yard.try_act(207, act.clone()), Outcome::Refused(Refusal::BadSetChange));
    // The last ones count, up to the turn that makes them too old.
    let last = height.plus(PROOFS_KEPT as u64 * PROOF_HEIGHTS - 1);
    yard.idle(last.0 - yard.world.height().0);
    assert_eq!(yard.try_act(205, act), Outcome::Ok);
    yard.play();
    let late = Act::Ready { height, proof: others };
    assert_eq!(yard.try_act(206, late), Outcome::Refused(Refusal::WrongProof));
}

#[test]
fn what_a_standby_shows_differs_with_every_leaf_that_is_drawn_and_is_the_same_everywhere() {
    let mut yard = with_admin();
    yard.act(ADMIN, add(205));
    yard.idle(PROOF_HEIGHTS - yard.world.height().0);
    let (root, snapshot) = (yard.world.root(), yard.world.snapshot());
    let restored = World::from_snapshot(&snapshot, root, yard.world.tools()).expect("a state");
    let own = yard.world.readiness(&public(205));
    assert!(own.is_some());
    assert_eq!(own, restored.readiness(&public(205)));
    assert_ne!(own, yard.world.readiness(&public(206)));

    // The same turns but for one look.
    let mut other = with_admin();
    other.act(ADMIN, add(205));
    other.act(1, Act::SetLook(Look { color: 1, ..Look::default() }));
    other.idle(PROOF_HEIGHTS - other.world.height().0);
    assert_ne!(own, other.world.readiness(&public(205)));
}

/// Returns the part of a leaf that a standby's digest begins with: of a leaf of a table its entries
/// without their number, of any other leaf its content.
fn shown(world: &World, key: &LeafKey) -> Vec<u8> {
    let leaf = world.leaf(key).expect("a leaf of the manifest");
    let tables = [
        "players",
        "histories",
        "windows",
        "owners",
        "packages",
        "publications",
        "region/",
        "tile/",
    ];
    if tables.iter().all(|table| !key.0.starts_with(table)) {
        return leaf;
    }
    // The number is a varint: its last byte has no highest bit.
    let last = leaf.iter().position(|byte| byte & 0x80 == 0).expect("a number");
    leaf[last + 1..].to_vec()
}

/// Another program that follows a sim must come to the same digest, so this test does so by the text of
/// the rule: so many leaves are drawn, and the beginning of each counts.
#[test]
fn what_a_standby_shows_is_a_keyed_digest_of_the_beginnings_of_so_many_leaves() {
    let mut builder = Builder::new();
    // Leaves that are longer than what counts of them.
    let source = format!("fn on_start() {{}}\n// {}\n", "x".repeat(8 * PROOF_LEAF_BYTES));
    builder.package("long", &source);
    let mut yard = builder.build();
    yard.idle(PROOF_HEIGHTS);
    let leaves: Vec<Vec<u8>> =
        yard.world.manifest().leaves.iter().map(|leaf| shown(&yard.world, &leaf.key)).collect();
    assert!(leaves.iter().any(|leaf| leaf.len() > PROOF_LEAF_BYTES));
    let clock = yard.world.leaf(&LeafKey("clock".to_owned())).expect("the clock");
    let clock: SimClock = wire::decode(&clock, LEAF_BYTES_MAX).expect("a clock");

    let standby = public(205);
    let words: Vec<u64> =
        standby.0.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
    let mut dice = Stream::new(&clock.seed.0, "metatopia readiness v1", &words);
    let mut drawn = Vec::new();
    for _ in 0..PROOF_LEAVES {
        let leaf = &leaves[dice.below(leaves.len() as u64) as usize];
        drawn.extend_from_slice(&leaf[..leaf.len().min(PROOF_LEAF_BYTES)]);
    }

    let digest = Digest(*blake3::keyed_hash(&standby.0, &drawn).as_bytes());
    assert_eq!(yard.world.readiness(&standby), Some(digest));
}

#[test]
fn a_set_of_four_keeps_its_members_and_a_larger_one_lets_them_go() {
    let mut yard = with_admin();
    assert_eq!(yard.try_act(ADMIN, remove(201)), Outcome::Refused(Refusal::BadSetChange));
    yard.try_act(ADMIN, add(205));
    let act = ready(&mut yard, 205);
    yard.try_act(205, act);

    assert_eq!(yard.try_act(ADMIN, remove(201)), Outcome::Ok);
    assert!(!yard.world.roster().members().contains_key(&public(201)));
    assert_eq!(yard.try_act(ADMIN, remove(201)), Outcome::Refused(Refusal::BadSetChange));
}

#[test]
fn a_turn_changes_the_members_once() {
    let mut yard = with_admin();
    yard.act(ADMIN, add(205));
    yard.act(ADMIN, add(206));
    yard.play();
    let (first, second) = (ready(&mut yard, 205), ready(&mut yard, 206));

    let acts = [yard.act(205, first), yard.act(206, second)];
    yard.play();

    let mut outcomes: Vec<Outcome> = acts.iter().map(|act| yard.outcome(act)).collect();
    outcomes.sort_by_key(|outcome| *outcome != Outcome::Ok);
    let (done, refused) = outcomes.split_at(SET_CHANGES_PER_TURN_MAX);
    assert_eq!(done, [Outcome::Ok; SET_CHANGES_PER_TURN_MAX]);
    assert_eq!(refused, [Outcome::Refused(Refusal::TooOften)]);
}

#[test]
fn a_contact_or_key_that_is_none_is_refused() {
    let mut yard = with_admin();
    let contact = NodeContact { peer_id: "peer\n".to_owned(), address: String::new() };
    let bad_contact = Act::SetChange(SetChange::Add { key: public(205), contact });
    assert_eq!(yard.try_act(ADMIN, bad_contact), Outcome::Refused(Refusal::BadText));

    // A point of small order: anybody could sign for it.
    let mut weak = metatopia_types::PublicKey([0; 32]);
    weak.0[0] = 1;
    let bad_key = Act::SetChange(SetChange::Add { key: weak, contact: NodeContact::default() });
    assert_eq!(yard.try_act(ADMIN, bad_key), Outcome::Refused(Refusal::BadText));
}

fn vote(sim: SimId, key: &SigningKey, height: Height, header: u8) -> Signed<Vote> {
    let header = Some(HeaderId(Digest([header; 32])));
    let vote =
        Vote { kind: VoteKind::Precommit, height, round: Round(0), header, voter: key.public() };
    vote.sign(sim, key)
}

fn lie(yard: &Yard, n: u8, height: Height) -> Act {
    let sim = yard.world.sim();
    let votes = [1, 2].map(|header| vote(sim, &key(n), height, header));
    let [a, b] = votes;
    Act::Report(Evidence::votes(a, b))
}

#[test]
fn who_signs_two_things_at_once_is_removed_once_the_set_allows_it() {
    let mut yard = with_admin();
    let evidence = lie(&yard, 202, yard.world.height());
    // Four are too few to lose one; anybody may show the evidence again.
    assert_eq!(yard.try_act(1, evidence.clone()), Outcome::Refused(Refusal::BadSetChange));
    yard.try_act(ADMIN, add(205));
    let act = ready(&mut yard, 205);
    yard.try_act(205, act);

    assert_eq!(yard.try_act(1, evidence.clone()), Outcome::Ok);

    assert!(!yard.world.roster().members().contains_key(&public(202)));
    assert!(yard.world.governance().exposed.contains_key(&public(202)));
    assert_eq!(yard.try_act(1, evidence), Outcome::Refused(Refusal::BadEvidence));
}

#[test]
fn evidence_that_proves_nothing_is_refused() {
    let mut yard = with_admin();
    let (sim, height) = (yard.world.sim(), yard.world.height());
    let same = vote(sim, &key(202), height, 1);
    let elsewhere = SimId(Digest([9; 32]));
    let stranger = lie(&yard, 77, height);

    for act in [
        Act::Report(Evidence::votes(same.clone(), same)),
        Act::Report(Evidence::votes(
            vote(elsewhere, &key(202), height, 1),
            vote(elsewhere, &key(202), height, 2),
        )),
        stranger,
    ] {
        assert_eq!(yard.try_act(1, act), Outcome::Refused(Refusal::BadEvidence));
    }
}

/// A sim that its admin left for a day, in which player 1 was seen on enough days, and decides.
fn abandoned() -> Yard {
    let mut builder = Builder::new();
    builder.genesis.parameters.admin_days = 2;
    builder.genesis.parameters.player_days = 2;
    builder.genesis.parameters.seen_days = 2;
    let mut yard = builder.build();
    // A minute of governance time at most for a turn, however long it took.
    yard.turn_ms = 3_600_000;
    yard.login(1);
    yard.login(2);
    yard.idle(1_440);
    yard.login(1);
    yard.idle(1_440);
    assert_eq!(yard.world.governance().temp_admin, None);
    yard.login(1);
    yard.idle(2);
    assert_eq!(yard.world.governance().temp_admin, Some(public(1)));
    yard
}

const DELAY_TURNS: u64 = DELAY_MS / 60_000;

#[test]
fn an_abandoned_sim_is_handed_to_its_oldest_regular_and_back() {
    let mut yard = abandoned();
    assert_eq!(yard.try_act(1, add(205)), Outcome::Ok);
    assert_eq!(yard.world.root(), yard.world.rehash());

    yard.login(ADMIN);
    yard.play();
    assert_eq!(yard.world.governance().temp_admin, None);
    assert_eq!(yard.try_act(1, remove(205)), Outcome::Refused(Refusal::NotAdmin));
}

#[test]
fn what_a_temp_admin_changes_takes_effect_after_48_hours() {
    let mut yard = abandoned();
    assert_eq!(yard.try_act(1, add(205)), Outcome::Ok);
    assert_eq!(yard.try_act(1, add(205)), Outcome::Refused(Refusal::ChangesWait));
    let waits = yard.world.governance().delayed.clone();
    assert_eq!((waits.len(), waits[0].by), (1, public(1)));

    let stands_by = |yard: &Yard| yard.world.roster().standbys().contains_key(&public(205));
    for turn in 2..=DELAY_TURNS {
        assert!(!stands_by(&yard), "after {turn} turns");
        // It stays by coming now and then.
        if turn % 1_440 == 0 {
            yard.login(1);
        }
        yard.play();
    }
    assert!(stands_by(&yard));
    assert_eq!(yard.world.governance().delayed, []);
}

#[test]
fn what_a_temp_admin_changes_falls_when_a_permanent_admin_comes_in_time() {
    let mut yard = abandoned();
    assert_eq!(yard.try_act(1, add(205)), Outcome::Ok);
    yard.idle(DELAY_TURNS / 3);

    yard.login(ADMIN);
    yard.idle(DELAY_TURNS);

    assert!(yard.world.roster().standbys().is_empty());
    assert_eq!(yard.world.governance().delayed, []);
}

#[test]
fn as_many_changes_wait_as_may() {
    let mut yard = abandoned();
    for n in 0..DELAYED_MAX as u8 {
        assert_eq!(yard.try_act(1, add(210 + n)), Outcome::Ok);
    }
    assert_eq!(yard.try_act(1, add(250)), Outcome::Refused(Refusal::ChangesWait));

    // They take effect one a turn, in their order.
    yard.login(1);
    yard.idle(1_440);
    yard.login(1);
    yard.idle(1_440 + DELAYED_MAX as u64);
    assert_eq!(yard.world.roster().standbys().len(), DELAYED_MAX);
}

/// A turn could hold nine hundred forged pieces, and every server checked them all.
#[test]
fn a_turn_checks_so_many_forged_pieces_of_evidence_and_no_more() {
    let mut yard = with_admin();
    let (elsewhere, height) = (SimId(Digest([9; 32])), yard.world.height());
    let votes = [1, 2].map(|header| vote(elsewhere, &key(202), height, header));
    let [a, b] = votes;
    let forged = Act::Report(Evidence::votes(a, b));
    let count = |yard: &mut Yard, authors: core::ops::Range<u8>, each: u64| {
        for n in authors {
            (1..=each).for_each(|seq| yard.unsigned(public(n), 5_000 + seq, forged.clone()));
        }
        let height = yard.play().height;
        let outcomes = yard.world.outcomes(height).expect("the last turn's");
        let of = |why| {
            let refused = Outcome::Refused(why);
            outcomes.iter().filter(|(_, outcome)| *outcome == refused).count()
        };
        (of(Refusal::BadEvidence), of(Refusal::TooOften))
    };
    assert_eq!(count(&mut yard, 1..2, 20), (CHECKED_PER_AUTHOR_MAX, 20 - CHECKED_PER_AUTHOR_MAX));
    assert_eq!(count(&mut yard, 10..90, 1), (CHECKED_PER_TURN_MAX, 80 - CHECKED_PER_TURN_MAX));
    // The next turn checks again. Four servers are too few to lose one.
    let evidence = lie(&yard, 202, yard.world.height());
    assert_eq!(yard.try_act(3, evidence), Outcome::Refused(Refusal::BadSetChange));
}
