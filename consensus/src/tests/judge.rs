//! What a header must state, field by field.

use std::sync::Arc;

use metatopia_types::{
    Act, Blob, BodyError, Digest, Envelope, Header, HeaderId, Height, Lane, Millis, Root, Round,
    Seq, SimId, Turn, TurnBody, ValidatorsId, wire,
};

use super::keys::{Key, header, key, set, sim};
use crate::Void;
use crate::judge::{TurnArrival, TurnContext};

const WALL: Millis = Millis(1_700_000_000_040);

fn place() -> TurnContext {
    TurnContext {
        sim: sim(),
        engine: 1,
        turn_length: 50,
        height: Height(5),
        previous: HeaderId(Digest([1; 32])),
        previous_time: Millis(1_700_000_000_000),
        root_height: Height(3),
        root: Root(Digest([2; 32])),
        set: Arc::new(set(0..4)),
        next: Arc::new(set(0..5)),
    }
}

/// A turn that fits, with a change.
fn turn(change: impl Fn(&mut Header)) -> Turn {
    let mut header = Header { proposer: set(0..4).proposer(Height(5), Round(2)), ..header(5) };
    change(&mut header);
    let body = TurnBody::default();
    Turn { header, body }
}

fn check(change: impl Fn(&mut Header)) -> Result<(), Void> {
    place().check(&turn(change))
}

#[test]
fn a_turn_that_fits_is_not_void() {
    assert_eq!(check(|_| {}), Ok(()));
    assert_eq!(place().check_claim(&turn(|_| {}), TurnArrival::Fresh(Round(2), WALL)), Ok(()));
}

#[test]
fn every_field_of_a_header_is_checked() {
    assert_eq!(check(|h| h.sim = SimId(Digest::ZERO)), Err(Void::Elsewhere));
    assert_eq!(check(|h| h.engine = 2), Err(Void::Elsewhere));
    assert_eq!(check(|h| h.height = Height(6)), Err(Void::Elsewhere));
    let (stated, ours) = (HeaderId(Digest::ZERO), HeaderId(Digest([1; 32])));
    assert_eq!(
        check(|h| h.previous = HeaderId::BEFORE_FIRST),
        Err(Void::Previous { stated, ours })
    );
    let (height, stated, ours) = (Height(3), Root(Digest::ZERO), Root(Digest([2; 32])));
    assert_eq!(check(|h| h.root = Root(Digest::ZERO)), Err(Void::Root { height, stated, ours }));
    assert_eq!(check(|h| h.validators = ValidatorsId(Digest::ZERO)), Err(Void::Validators));
    assert_eq!(check(|h| h.next_validators = h.validators), Err(Void::Validators));
    let later = Digest([7; 32]);
    assert_eq!(check(|h| h.reserved = Digest([7; 32])), Err(Void::Reserved(later)));
    let late = Millis(1_700_000_000_051);
    assert_eq!(check(|h| h.time = Millis(1_700_000_000_051)), Err(Void::Time(late)));
    assert_eq!(check(|h| h.acts = Digest::ZERO), Err(Void::OtherBody));
    assert_eq!(check(|h| h.act_count = 1), Err(Void::OtherBody));
    assert_eq!(check(|h| h.blobs = Digest::ZERO), Err(Void::OtherBody));
    assert_eq!(check(|h| h.blob_count = 1), Err(Void::OtherBody));
}

#[test]
fn a_turn_with_the_same_act_twice_is_void() {
    let envelope = Envelope {
        sim: sim(),
        author: key(9),
        lane: Lane(1),
        seq: Seq(1),
        last_valid: Height(9),
        act: Act::Heartbeat,
    };
    let act = envelope.sign(&Key(key(9)));
    // A builder of bodies sorts acts and drops repeated ones; a peer may send what it likes.
    let bytes = wire::encode(&(vec![&act, &act], Vec::<Blob>::new(), Vec::<u16>::new()));
    let body = wire::decode::<TurnBody>(&bytes, bytes.len()).expect("the shape of a body");
    let turn = Turn { body, ..turn(|_| {}) };

    assert_eq!(place().check(&turn), Err(Void::Body(BodyError::ActOrder(act.id()))));
}

#[test]
fn only_the_proposer_of_the_stated_round_may_have_built_it() {
    let impostor = turn(|h| h.proposer = key(0));
    let place = place();
    assert_ne!(place.set.proposer(Height(5), Round(2)), key(0));

    for came in [TurnArrival::Fresh(Round(2), WALL), TurnArrival::Backed(Round(9))] {
        let (proposer, round) = (key(0), Round(2));
        let why = Void::Builder { proposer, round };
        assert_eq!(place.check_claim(&impostor, came), Err(why));
    }
}

#[test]
fn a_fresh_turn_is_of_the_round_it_is_proposed_in() {
    let (turn, place) = (turn(|_| {}), place());

    // Of an earlier round: whoever proposes it puts the blame for the rounds before on others.
    assert!(place.check_claim(&turn, TurnArrival::Fresh(Round(3), WALL)).is_err());
    assert!(place.check_claim(&turn, TurnArrival::Fresh(Round(1), WALL)).is_err());
    assert!(place.check_claim(&turn, TurnArrival::Backed(Round(1))).is_err());
    assert!(place.check_claim(&turn, TurnArrival::Backed(Round(2))).is_ok());
    assert!(place.check_claim(&turn, TurnArrival::Backed(Round(3))).is_ok());
}

#[test]
fn our_clock_matters_for_fresh_turns_only() {
    let behind = Millis(1_699_999_999_000);
    let (turn, place) = (turn(|_| {}), place());
    let (stated, ours) = (turn.header.time, behind);

    let fresh = place.check_claim(&turn, TurnArrival::Fresh(Round(2), behind));

    assert_eq!(fresh, Err(Void::Early { stated, ours }));
    assert_eq!(place.check_claim(&turn, TurnArrival::Backed(Round(2))), Ok(()));
}
