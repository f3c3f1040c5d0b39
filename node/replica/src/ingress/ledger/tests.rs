//! What agreement is told of an act that makes a turn void.

use metatopia_sim::{FirstLogin, Parameters};
use metatopia_types::{
    Act, Digest, Ed25519, Envelope, Header, Lane, Look, Seq, Sign, SigningKey,
    limits::EXPIRY_HEIGHTS_MAX,
};

use super::*;

const SIM: SimId = SimId(Digest([5; 32]));

const HEIGHT: Height = Height(2);

fn key(n: u8) -> SigningKey {
    SigningKey::from_seed([n; 32])
}

fn envelope() -> Envelope {
    Envelope {
        sim: SIM,
        author: key(1).public(),
        lane: Lane(1),
        seq: Seq(1),
        last_valid: Height(9),
        act: Act::login("Ada".to_owned(), Look::default()),
    }
}

/// Returns the turn of a height with these acts, in this order.
fn turn(height: Height, acts: Vec<SignedEnvelope>) -> Turn {
    let body = TurnBody::new(acts, Vec::new()).expect("a small turn");
    Turn::of(Header { sim: SIM, height, ..Header::unstated() }, body)
}

/// Returns the ledger of a sim in which the first turn is decided: one act in one lane.
fn ledger(first_login: FirstLogin) -> Ledger {
    let parameters = Parameters { first_login, ..Parameters::default() };
    let register = Register::genesis(SIM, &parameters, BTreeSet::new());
    let server = key(200).public();
    let courier = Courier::new(SIM, Arc::new(key(200)), Lane(1));
    let windows = LaneWindows::default();
    let mut ledger = Ledger::new(server, Arc::new(Ed25519), windows, register, courier);
    let other = Envelope { author: key(2).public(), ..envelope() };
    ledger.decided(&turn(Height(1), vec![other.sign(&key(2))]));
    ledger
}

fn judge(ledger: &Ledger, act: &SignedEnvelope) -> Result<(), ActCheckError> {
    let judged = ledger.judge(&turn(HEIGHT, vec![act.clone()]));
    judged.map_err(|void| {
        assert_eq!(void.act, act.id(), "the act at fault is named");
        void.fault
    })
}

#[test]
fn an_act_that_makes_a_turn_void_is_named_with_its_fault() {
    let ledger = ledger(FirstLogin::Open);
    let changed = |change: fn(&mut Envelope)| {
        let mut envelope = envelope();
        change(&mut envelope);
        judge(&ledger, &envelope.sign(&key(1)))
    };
    assert_eq!(changed(|_| {}), Ok(()));

    assert_eq!(changed(|act| act.sim = SimId(Digest::ZERO)), Err(ActCheckError::Sim));
    assert_eq!(changed(|act| act.last_valid = Height(1)), Err(ActCheckError::Expired(Height(1))));
    let ahead = HEIGHT.plus(EXPIRY_HEIGHTS_MAX + 1);
    let far = changed(|act| act.last_valid = HEIGHT.plus(EXPIRY_HEIGHTS_MAX + 1));
    assert_eq!(far, Err(ActCheckError::Ahead(ahead)));
    assert_eq!(judge(&ledger, &envelope().sign(&key(3))), Err(ActCheckError::Signature));
    let unknown = changed(|act| act.act = Act::Unknown { number: 300, bytes: vec![1] });
    assert_eq!(unknown, Err(ActCheckError::UnknownAct(300)));
    let decided = Envelope { author: key(2).public(), ..envelope() };
    assert_eq!(judge(&ledger, &decided.sign(&key(2))), Err(ActCheckError::Lane));
}

#[test]
fn a_new_key_that_a_sim_does_not_let_in_makes_a_turn_void() {
    let act = envelope().sign(&key(1));
    assert_eq!(judge(&ledger(FirstLogin::Open), &act), Ok(()));
    for rule in [FirstLogin::Work, FirstLogin::Invite, FirstLogin::Closed] {
        assert_eq!(judge(&ledger(rule), &act), Err(ActCheckError::Stranger), "{rule:?}");
    }
}
