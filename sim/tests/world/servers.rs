//! Who votes: admins' changes, standbys that are ready, and evidence against liars.

use metatopia_types::{
    Act, Contact, Digest, Evidence, HeaderId, Height, Outcome, Refusal, Root, Round, SetChange,
    Sign, Signed, SigningKey, SimId, Vote, VoteKind,
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
    let contact = Contact { peer_id: format!("peer{n}"), address: "/ip4/127.0.0.1".to_owned() };
    Act::SetChange(SetChange::Add { key: public(n), contact })
}

fn remove(n: u8) -> Act {
    Act::SetChange(SetChange::Remove { key: public(n) })
}

fn ready(yard: &Yard) -> Act {
    Act::Ready { height: yard.world.height(), root: yard.world.root() }
}

#[test]
fn a_standby_becomes_a_validator_by_its_own_word_three_heights_later() {
    let mut yard = with_admin();

    assert_eq!(yard.try_act(ADMIN, add(205)), Outcome::Ok);
    assert!(yard.world.roster().standbys().contains_key(&public(205)));
    let act = ready(&yard);
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
fn a_standby_that_names_a_wrong_root_does_not_follow() {
    let mut yard = with_admin();
    yard.act(ADMIN, add(205));
    yard.idle(70);
    let (height, root) = (yard.world.height(), yard.world.root());

    for act in [
        Act::Ready { height, root: Root(Digest::ZERO) },
        Act::Ready { height: height.plus(1), root },
        // Too long ago to know.
        Act::Ready { height: Height(1), root },
    ] {
        assert_eq!(yard.try_act(205, act), Outcome::Refused(Refusal::WrongRoot));
    }
    let act = ready(&yard);
    assert_eq!(yard.try_act(206, act.clone()), Outcome::Refused(Refusal::BadSetChange));
    assert_eq!(yard.try_act(205, act), Outcome::Ok);
}

#[test]
fn a_set_of_four_keeps_its_members_and_a_larger_one_lets_them_go() {
    let mut yard = with_admin();
    assert_eq!(yard.try_act(ADMIN, remove(201)), Outcome::Refused(Refusal::BadSetChange));
    yard.try_act(ADMIN, add(205));
    let act = ready(&yard);
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
    let act = ready(&yard);

    let acts = [yard.act(205, act.clone()), yard.act(206, act)];
    yard.play();

    let mut outcomes: Vec<Outcome> = acts.iter().map(|act| yard.outcome(act)).collect();
    outcomes.sort_by_key(|outcome| *outcome != Outcome::Ok);
    assert_eq!(outcomes, [Outcome::Ok, Outcome::Refused(Refusal::TooOften)]);
}

#[test]
fn a_contact_or_key_that_is_none_is_refused() {
    let mut yard = with_admin();
    let contact = Contact { peer_id: "peer\n".to_owned(), address: String::new() };
    let bad_contact = Act::SetChange(SetChange::Add { key: public(205), contact });
    assert_eq!(yard.try_act(ADMIN, bad_contact), Outcome::Refused(Refusal::BadText));

    // A point of small order: anybody could sign for it.
    let mut weak = metatopia_types::PublicKey([0; 32]);
    weak.0[0] = 1;
    let bad_key = Act::SetChange(SetChange::Add { key: weak, contact: Contact::default() });
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
    let act = ready(&yard);
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

#[test]
fn an_abandoned_sim_is_handed_to_its_oldest_player_and_back() {
    let mut builder = Builder::new();
    builder.genesis.parameters.admin_days = 1;
    builder.genesis.parameters.player_days = 1;
    let mut yard = builder.build();
    yard.login(ADMIN);
    yard.play();
    yard.login(1);
    yard.play();

    // A minute of governance time at most for a turn, however long it took.
    yard.turn_ms = 3_600_000;
    yard.idle(1_439);
    assert_eq!(yard.world.governance().temp_admin, None);
    yard.login(1);
    yard.idle(2);
    assert_eq!(yard.world.governance().temp_admin, Some(public(1)));
    assert_eq!(yard.try_act(1, add(205)), Outcome::Ok);
    assert_eq!(yard.world.root(), yard.world.rehash());

    yard.login(ADMIN);
    yard.play();
    assert_eq!(yard.world.governance().temp_admin, None);
    assert_eq!(yard.try_act(1, remove(205)), Outcome::Refused(Refusal::NotAdmin));
}
