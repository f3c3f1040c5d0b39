//! Whoever follows decided turns from a state finds what is wrong with one of them, by name.

use metatopia_sim::{
    ActFault, CAPSULE_BYTES_MAX, COURSE_ROOTS_KEPT, Capsule, CapsuleError, Course, TurnFault,
    Unsound,
};
use metatopia_types::{
    Act, Blob, BodyError, Certificate, CertificateError, Digest, Header, HeaderId, Height, Look,
    Root, Round, SignedEnvelope, Turn, TurnBody, Vote, VoteKind, limits::ROOT_LAG, wire,
};

use crate::yard::{Builder, Yard, key, public};

/// Servers that sign: more than two thirds of the four of a yard.
pub(crate) const SIGNERS: [u8; 3] = [201, 202, 203];

/// Returns the header that fits what came before in this course, for the body of `turn`.
pub(crate) fn fitting(course: &Course, turn: &Turn) -> Turn {
    let world = course.world();
    let height = world.height().plus(1);
    let set = |height| world.validators(height).expect("a set to come").id();
    let of = height.minus(ROOT_LAG).unwrap_or_default();
    let header = Header {
        root: course.root(of).expect("a root that is kept"),
        validators: set(height),
        next_validators: set(height.plus(1)),
        ..turn.header.clone()
    };
    Turn { header, body: turn.body.clone() }
}

/// Certifies a turn by these servers.
pub(crate) fn certified(course: &Course, turn: &Turn, signers: &[u8]) -> Certificate {
    let (height, header) = (turn.header.height, turn.id());
    let signatures = signers.iter().map(|n| {
        let kind = VoteKind::Precommit;
        let voter = public(*n);
        let vote = Vote { kind, height, round: Round(0), header: Some(header), voter };
        (voter, vote.sign(course.world().sim(), &key(*n)).signature)
    });
    Certificate { height, round: Round(0), header, signatures: signatures.collect() }
}

/// Returns the next turn of the yard, with a header that fits.
fn next(course: &Course, yard: &mut Yard) -> Turn {
    fitting(course, &yard.turn())
}

/// Checks a turn that more than two thirds of the voting power certified.
fn check(course: &Course, turn: &Turn) -> Result<(), Unsound> {
    course.check(turn, &certified(course, turn, &SIGNERS))
}

/// Lets the yard and the course go through the same turn.
pub(crate) fn follow(course: &mut Course, yard: &mut Yard) -> Turn {
    let turn = next(course, yard);
    assert_eq!(check(course, &turn), Ok(()));
    course.follow(&turn, &metatopia_sim::Serial, &mut ());
    yard.world = course.world().clone();
    yard.log.push(turn.clone());
    turn
}

pub(crate) fn start() -> (Course, Yard) {
    let yard = Builder::new().build();
    (Course::new(yard.world.clone()), yard)
}

#[test]
fn a_turn_that_few_certified_or_whose_certificate_is_of_another_turn_is_unsound() {
    let (course, mut yard) = start();
    let turn = next(&course, &mut yard);
    assert_eq!(check(&course, &turn), Ok(()));

    let few = certified(&course, &turn, &SIGNERS[..2]);
    let no_quorum = CertificateError::NoQuorum { power: 2, quorum: 3 };
    assert_eq!(course.check(&turn, &few), Err(Unsound::Certificate(no_quorum)));
    let mut other = certified(&course, &turn, &SIGNERS);
    other.header = HeaderId(Digest::ZERO);
    assert_eq!(course.check(&turn, &other), Err(Unsound::OtherTurn));
}

#[test]
fn a_header_that_does_not_follow_the_turn_before_is_unsound() {
    let (mut course, mut yard) = start();
    follow(&mut course, &mut yard);
    let mut turn = next(&course, &mut yard);
    turn.header.previous = HeaderId::BEFORE_FIRST;

    assert_eq!(check(&course, &turn), Err(Unsound::Header("another turn before it")));
}

#[test]
fn a_certified_header_that_states_what_only_later_engines_know_is_unsound() {
    let (course, mut yard) = start();
    let mut turn = next(&course, &mut yard);
    turn.header.reserved = Digest([7; 32]);

    let fault = Unsound::Header("something that only later engines know");
    assert_eq!(check(&course, &turn), Err(fault));
}

#[test]
fn a_certified_turn_with_another_body_or_one_that_breaks_a_rule_is_unsound() {
    let (course, mut yard) = start();
    let act = yard.login(1);
    let turn = next(&course, &mut yard);
    let swapped = Turn { body: TurnBody::default(), ..turn.clone() };
    assert_eq!(check(&course, &swapped), Err(Unsound::OtherBody));

    let acts: [&SignedEnvelope; 2] = [&act, &act];
    let bytes = wire::encode(&(acts.to_vec(), Vec::<Blob>::new(), Vec::<u16>::new()));
    let body = wire::decode::<TurnBody>(&bytes, bytes.len()).expect("the shape of a body");
    let twice = Turn::of(turn.header, body);
    let broken = Unsound::Body(BodyError::ActOrder(act.id()));
    assert_eq!(check(&course, &twice), Err(broken));
}

#[test]
fn a_certified_turn_of_which_words_were_forgotten_is_not_followed() {
    let (course, mut yard) = start();
    yard.say(1, 0, "hello");
    let turn = next(&course, &mut yard);
    let holed = turn.without(|_| true).expect("words");
    assert_eq!(check(&course, &holed), Err(Unsound::Forgotten));
}

#[test]
fn a_certified_turn_with_an_act_that_no_honest_server_lets_in_is_unsound() {
    let (course, mut yard) = start();
    yard.unsigned(public(1), 1, Act::login("Ada".to_owned(), Look::default()));
    let turn = next(&course, &mut yard);

    let id = turn.body.acts()[0].id();
    let forged = TurnFault::Act { id, fault: ActFault::Signature };
    assert_eq!(check(&course, &turn), Err(Unsound::Void(forged)));
}

#[test]
fn a_certified_root_that_the_turns_do_not_lead_to_is_unsound() {
    let (mut course, mut yard) = start();
    for _ in 0..ROOT_LAG {
        follow(&mut course, &mut yard);
    }
    let mut turn = next(&course, &mut yard);
    let (found, stated) = (turn.header.root, Root(Digest::ZERO));
    turn.header.root = stated;

    assert_eq!(check(&course, &turn), Err(Unsound::Root { of: Height(1), stated, found }));
}

#[test]
fn roots_are_remembered_for_so_many_turns_and_no_longer() {
    let (mut course, mut yard) = start();
    let first = course.root(Height(0)).expect("the root of the beginning");
    for _ in 1..COURSE_ROOTS_KEPT {
        follow(&mut course, &mut yard);
    }
    assert_eq!(course.root(Height(0)), Some(first));

    follow(&mut course, &mut yard);

    assert_eq!(course.root(Height(0)), None);
    assert!(course.root(Height(1)).is_some());
}

#[test]
fn a_file_that_is_longer_than_a_capsule_may_be_is_refused_before_it_is_read() {
    let file = vec![0; CAPSULE_BYTES_MAX + 1];

    let (found, limit) = (file.len(), CAPSULE_BYTES_MAX);
    let oversize = wire::DecodeError::Oversize { found, limit };
    assert_eq!(Capsule::decode(&file), Err(CapsuleError::Decode(oversize)));
}
