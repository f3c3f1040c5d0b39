//! What keys that are new to a sim may do, by the sim's rule of first logins.

use std::collections::BTreeSet;

use metatopia_sim::{
    ActFault, FirstLogin, Judging, LaneWindows, Parameters, Register, Standings, judge_turn,
    limits::{FIRST_LOGINS_PER_TURN_MAX, FRESH_LANES_PER_TURN_MAX},
};
use metatopia_types::{
    Act, Ed25519, Envelope, Height, Look, Pass, PublicKey, Puzzle, Rotation, Seq, Sign as _,
    SigningKey, TicketPass, Work, limits,
};

use super::{ADA, ADMIN, SIM, envelope, key, numbered, open, turn};

const TRIES: u64 = 500;

fn sim(first_login: FirstLogin) -> Register {
    let parameters = Parameters { first_login, first_login_tries: TRIES, ..Parameters::default() };
    Register::genesis(SIM, &parameters, BTreeSet::from([ADMIN]))
}

fn login(author: PublicKey, work: Option<Work>) -> Envelope {
    shows(author, work.map(Pass::Work))
}

fn shows(author: PublicKey, pass: Option<Pass>) -> Envelope {
    let act = Act::Login { name: "new".to_owned(), look: Look::default(), bot: false, pass };
    Envelope { act, ..envelope(author, 1, 1, 100) }
}

/// The work of a key for the anchor that the register knows.
fn work(register: &Register, author: &PublicKey) -> Work {
    let anchor = register.first_logins().newest_anchor(Height(1));
    let puzzle = Puzzle::new(SIM, author, &anchor.header, anchor.tries);
    let nonce = puzzle.solve(0, 1_000 * TRIES).expect("a thousand times what it takes");
    Work { height: anchor.height, nonce }
}

fn check(register: &Register, height: u64, act: &Envelope) -> Result<(), ActFault> {
    let judging = Judging { standings: register, proposer: None };
    LaneWindows::default().admission(Height(height), None, judging).check(act)
}

#[test]
fn a_new_key_shows_work_before_a_lane_opens() {
    let register = sim(FirstLogin::Work);
    let shown = work(&register, &ADA);

    assert_eq!(check(&register, 1, &login(ADA, Some(shown))), Ok(()));
    assert_eq!(check(&register, 1, &login(ADA, None)), Err(ActFault::NoWork));
    assert_eq!(check(&register, 1, &envelope(ADA, 1, 1, 100)), Err(ActFault::NoLogin));
    assert_eq!(check(&register, 1, &envelope(ADMIN, 1, 1, 100)), Ok(()));
}

/// Nobody could walk from one public sim into another one who had not logged in there before.
#[test]
fn a_new_key_shows_work_with_its_first_announcement_at_a_border_and_with_no_later_one() {
    let register = sim(FirstLogin::Work);
    let approach = |lane: u64, seq: u64, work: Option<Work>| {
        let act = Act::Approach { from: SIM, work };
        Envelope { act, ..envelope(ADA, lane, seq, 100) }
    };
    let shown = Some(work(&register, &ADA));
    assert_eq!(check(&register, 1, &approach(1, 1, None)), Err(ActFault::NoWork));
    assert_eq!(check(&register, 1, &approach(1, 1, shown)), Ok(()));
    let closed = check(&sim(FirstLogin::Closed), 1, &approach(1, 1, shown));
    assert_eq!(closed, Err(ActFault::Closed));
    assert_eq!(check(&sim(FirstLogin::Open), 1, &approach(1, 1, None)), Ok(()));

    let windows = LaneWindows::default();
    let judging = Judging { standings: &register, proposer: None };
    let mut admission = windows.admission(Height(1), None, judging);
    assert_eq!(admission.admit(&approach(1, 1, shown)), Ok(()));
    assert_eq!(admission.admit(&approach(1, 2, None)), Err(ActFault::NoWork), "in the same turn");
    assert_eq!(admission.admit(&envelope(ADA, 1, 3, 100)), Ok(()));
    assert_eq!(admission.admit(&approach(2, 1, None)), Err(ActFault::NoWork), "another lane");

    let mut windows = LaneWindows::default();
    windows.record(&turn(1, vec![approach(1, 1, shown).sign(&key(101))]));
    let admission = windows.admission(Height(2), None, judging);
    assert_eq!(admission.check(&approach(1, 2, None)), Ok(()), "the lane is open");
}

/// Work does not replace a ticket: whoever is new there logs in by one, and is announced from then on.
#[test]
fn whoever_is_announced_at_the_border_of_a_sim_that_asks_for_tickets_is_told_so() {
    let register = sim(FirstLogin::Invite);
    let approach = |author: PublicKey, work: Option<Work>| {
        let act = Act::Approach { from: SIM, work };
        Envelope { act, ..envelope(author, 1, 1, 100) }
    };
    for shown in [None, Some(work(&register, &ADA))] {
        assert_eq!(check(&register, 1, &approach(ADA, shown)), Err(ActFault::NoTicket));
    }
    assert_eq!(check(&register, 1, &approach(ADMIN, None)), Ok(()), "she is known");
}

/// A login and an announcement in one new lane were two first logins in one order, and one in another. So a turn with
/// four first logins was void for whoever judged it, and every proposer made the same one again.
#[test]
fn what_begins_a_session_is_counted_alike_in_any_order() {
    let register = sim(FirstLogin::Work);
    let judging = Judging { standings: &register, proposer: None };
    let shown = work(&register, &ADA);
    let act = Act::Approach { from: SIM, work: Some(shown) };
    let approach = Envelope { act, ..envelope(ADA, 1, 2, 100) };
    let both = [login(ADA, Some(shown)), approach];
    let others = (0..).map(|n| numbered(3, n)).map(|key| login(key, Some(work(&register, &key))));
    let others: Vec<Envelope> = others.take(FIRST_LOGINS_PER_TURN_MAX - 1).collect();
    for order in [[0, 1], [1, 0]] {
        let windows = LaneWindows::default();
        let mut admission = windows.admission(Height(1), None, judging);
        for act in &others {
            assert_eq!(admission.admit(act), Ok(()));
        }
        let full = Err(ActFault::FirstLoginsFull(FIRST_LOGINS_PER_TURN_MAX));
        let taken = order.map(|n: usize| admission.admit(&both[n]));
        assert_eq!(taken, [Ok(()), full], "{order:?}");
    }
}

#[test]
fn work_of_another_key_or_for_a_header_that_is_too_old_or_unknown_does_not_count() {
    let register = sim(FirstLogin::Work);
    let shown = work(&register, &ADA);
    let others = login(numbered(3, 1), Some(shown));
    assert_eq!(check(&register, 1, &others), Err(ActFault::NoWork));

    let old = Envelope { last_valid: Height(900), ..login(ADA, Some(shown)) };
    assert_eq!(check(&register, limits::WORK_HEIGHTS_MAX, &old), Ok(()));
    assert_eq!(check(&register, limits::WORK_HEIGHTS_MAX + 1, &old), Err(ActFault::NoWork));

    let unknown = Work { height: Height(limits::ANCHOR_HEIGHTS), ..shown };
    assert_eq!(check(&register, 30, &login(ADA, Some(unknown))), Err(ActFault::NoWork));
}

#[test]
fn a_turn_has_places_for_few_first_logins() {
    let register = sim(FirstLogin::Work);
    let windows = LaneWindows::default();
    let judging = Judging { standings: &register, proposer: None };
    let mut admission = windows.admission(Height(1), None, judging);
    let mut new = (0..).map(|n| numbered(3, n)).map(|key| login(key, Some(work(&register, &key))));

    for act in new.by_ref().take(FIRST_LOGINS_PER_TURN_MAX) {
        assert_eq!(admission.admit(&act), Ok(()));
    }

    let one_more = admission.admit(&new.next().expect("there is no end of keys"));
    assert_eq!(one_more, Err(ActFault::FirstLoginsFull(FIRST_LOGINS_PER_TURN_MAX)));
    assert_eq!(admission.admit(&login(ADMIN, None)), Ok(()));
}

/// A turn lists its acts by their ids: every other one that held a login and what its author sent
/// right behind it was void, and so were all that the same server proposed from then on.
#[test]
fn a_login_and_what_follows_it_may_be_in_one_turn_whatever_their_ids() {
    let register = sim(FirstLogin::Work);
    for n in 0..16 {
        let key = key(100 + n);
        let author = key.public();
        let first = login(author, Some(work(&register, &author))).sign(&key);
        let next = Envelope { seq: Seq(2), ..envelope(author, 1, 2, 100) }.sign(&key);

        let both = turn(1, vec![first, next]);

        let windows = LaneWindows::default();
        assert_eq!(judge_turn(SIM, &both, &windows, &register, &Ed25519), Ok(()), "key {n}");
    }
}

#[test]
fn a_closed_sim_lets_in_nobody_new() {
    let register = sim(FirstLogin::Closed);

    let shown = work(&register, &ADA);

    assert_eq!(check(&register, 1, &login(ADA, Some(shown))), Err(ActFault::Closed));
    assert_eq!(check(&register, 1, &login(ADMIN, None)), Ok(()));
}

#[test]
fn a_ticket_that_is_not_in_the_state_lets_nobody_in() {
    let ticket = key(9);
    let pass = |author: &PublicKey| Some(Pass::Ticket(TicketPass::new(&ticket, SIM, author)));
    for rule in [FirstLogin::Invite, FirstLogin::Work] {
        let register = sim(rule);
        let shown = shows(ADA, pass(&ADA));
        assert_eq!(check(&register, 1, &shown), Err(ActFault::NoTicket), "{rule:?}");
    }
    let register = sim(FirstLogin::Invite);
    assert_eq!(check(&register, 1, &login(ADA, None)), Err(ActFault::NoTicket));
    let worked = login(ADA, Some(work(&register, &ADA)));
    assert_eq!(check(&register, 1, &worked), Err(ActFault::NoTicket));
    assert_eq!(check(&register, 1, &login(ADMIN, None)), Ok(()));
    assert_eq!(check(&sim(FirstLogin::Closed), 1, &shows(ADA, pass(&ADA))), Err(ActFault::Closed));
}

/// Whoever sees a ticket in an act cannot come in by it.
#[test]
fn an_act_whose_ticket_signed_another_key_is_not_signed() {
    let (ticket, ada, eve) = (key(9), key(101), key(102));
    let pass = TicketPass::new(&ticket, SIM, &ada.public());
    let shown = |author: &SigningKey| {
        let act = shows(author.public(), Some(Pass::Ticket(pass)));
        act.sign(author).verify(&Ed25519)
    };
    assert!(shown(&ada));
    assert!(!shown(&eve));
}

#[test]
fn a_rotation_lets_in_a_key_in_place_of_one_that_the_sim_knows() {
    let [admin, eve, new] = [100, 102, 103].map(key);
    for rule in [FirstLogin::Work, FirstLogin::Invite, FirstLogin::Closed] {
        let register = Register::genesis(
            SIM,
            &Parameters { first_login: rule, ..Parameters::default() },
            BTreeSet::from([admin.public()]),
        );
        let by = |old: &SigningKey| {
            shows(new.public(), Some(Pass::Rotation(Rotation::new(old, &new, 1))))
        };
        assert_eq!(check(&register, 1, &by(&admin)), Ok(()), "{rule:?}");
        assert!(check(&register, 1, &by(&eve)).is_err(), "{rule:?}: nobody knows this key");
    }
}

/// Whoever sees a rotation in an act cannot use it, nor change it.
#[test]
fn an_act_whose_rotation_is_another_keys_or_forged_by_half_is_not_signed() {
    let [old, new, eve] = [100, 103, 102].map(key);
    let rotation = Rotation::new(&old, &new, 1);
    let signed = |author: &SigningKey, rotation| {
        shows(author.public(), Some(Pass::Rotation(rotation))).sign(author).verify(&Ed25519)
    };
    assert!(signed(&new, rotation));
    assert!(!signed(&eve, rotation), "it is for another key");
    let half = Rotation { by_old: Rotation::new(&eve, &new, 1).by_old, ..rotation };
    assert!(!signed(&new, half), "the old key signed nothing");
    let taken = Rotation { by_new: Rotation::new(&old, &eve, 1).by_new, ..rotation };
    assert!(!signed(&new, taken), "the new key signed nothing");
}

#[test]
fn one_turn_opens_a_bounded_number_of_lanes() {
    let windows = LaneWindows::default();
    let mut admission = windows.admission(Height(1), None, open());
    for n in 0..FRESH_LANES_PER_TURN_MAX {
        assert_eq!(admission.admit(&envelope(numbered(3, n), 1, 1, 100)), Ok(()));
    }

    let full = Err(ActFault::Full(FRESH_LANES_PER_TURN_MAX));
    assert_eq!(admission.admit(&envelope(ADA, 1, 1, 100)), full);
    assert_eq!(admission.admit(&envelope(ADMIN, 1, 1, 100)), Ok(()));
}
