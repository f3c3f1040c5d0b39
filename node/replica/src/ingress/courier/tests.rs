//! What waits, what goes into a turn, and what is forgotten.

use metatopia_types::{
    Certificate, Digest, DispatchedState, Header, LeafKey, Round, SigningKey, StateProof, TurnBody,
    merkle,
};

use super::*;

const SIM: SimId = SimId(Digest([5; 32]));

fn sim(n: u8) -> SimId {
    SimId(Digest([n; 32]))
}

fn courier() -> Courier {
    Courier::new(SIM, Arc::new(SigningKey::from_seed([1; 32])), Lane(7))
}

/// Returns a dispatch whose header has this height, and whose leaf is so long.
fn dispatch(height: u64, bytes: usize) -> Vec<u8> {
    let height = Height(height);
    let header = Header { height, ..Header::unstated() };
    let (id, round) = (header.id(), Round(0));
    let certificate = Certificate { height, round, header: id, signatures: Vec::new() };
    let (key, content) = (LeafKey("a leaf".to_owned()), vec![0; bytes]);
    let place = merkle::Proof::of(&[Digest::ZERO], 0).expect("a place");
    let said = StateProof { key, content, place };
    let state = DispatchedState { header, certificate, said, parcels: Vec::new() };
    Dispatch { links: Vec::new(), state: Some(state) }.blob().0
}

/// Returns the turn with these acts and blobs.
fn turn(hears: Vec<(SignedEnvelope, Blob)>) -> Turn {
    let (acts, blobs) = hears.into_iter().unzip();
    let body = TurnBody::new(acts, blobs).expect("a small turn");
    Turn::of(Header { sim: SIM, height: Height(9), ..Header::unstated() }, body)
}

fn neighbours(hears: &[(SignedEnvelope, Blob)]) -> Vec<SimId> {
    let neighbour = |act: &Act| match act {
        Act::Hear { neighbour, .. } => *neighbour,
        other => panic!("{other:?} is nothing that was heard"),
    };
    hears.iter().map(|(act, _)| neighbour(&act.envelope.act)).collect()
}

#[test]
fn of_each_neighbour_only_the_newest_waits_and_it_waits_until_a_turn_tells_it() {
    let mut courier = courier();
    courier.keep(sim(1), Height(20), dispatch(20, 10));
    courier.keep(sim(1), Height(30), dispatch(30, 10));
    courier.keep(sim(1), Height(25), dispatch(25, 10));
    assert_eq!(courier.len(), 1);

    // The first proposal came to nothing, so the next one tells it too, under another number.
    let first = courier.hears(Height(9));
    let second = courier.hears(Height(9));
    assert_eq!((first.len(), first[0].1.clone()), (1, Blob(dispatch(30, 10))));
    assert!(second[0].0.envelope.seq > first[0].0.envelope.seq);
    let (envelope, scheme) = (&second[0].0.envelope, metatopia_types::Ed25519);
    assert!(second[0].0.verify(&scheme) && envelope.sim == SIM && envelope.lane == Lane(7));

    courier.decided(&turn(second));
    assert_eq!(courier.len(), 0);
}

#[test]
fn what_another_server_told_is_told_again_only_if_it_was_older() {
    let mut courier = courier();
    let told = |height| {
        let mut other = Courier::new(SIM, Arc::new(SigningKey::from_seed([2; 32])), Lane(1));
        other.keep(sim(1), Height(height), dispatch(height, 10));
        turn(other.hears(Height(9)))
    };
    courier.keep(sim(1), Height(30), dispatch(30, 10));
    courier.decided(&told(29));
    assert_eq!(courier.len(), 1);
    courier.decided(&told(30));
    assert_eq!(courier.len(), 0);
}

#[test]
fn a_blob_that_is_no_dispatch_lets_what_waits_wait() {
    let mut courier = courier();
    courier.keep(sim(1), Height(30), dispatch(30, 10));
    let mut other = Courier::new(SIM, Arc::new(SigningKey::from_seed([2; 32])), Lane(1));
    other.keep(sim(1), Height(99), vec![0xff; 100]);
    courier.decided(&turn(other.hears(Height(9))));
    assert_eq!(courier.len(), 1);
}

#[test]
fn what_the_sim_has_heard_and_what_is_of_no_border_is_forgotten() {
    let mut courier = courier();
    for n in 1..=3 {
        courier.keep(sim(n), Height(30), dispatch(30, 10));
    }
    courier.forget_heard(&BTreeMap::from([(sim(1), Height(29)), (sim(2), Height(30))]));
    assert_eq!(neighbours(&courier.hears(Height(9))), [sim(1)]);
}

#[test]
fn dispatches_take_half_of_a_turns_blobs_at_most_and_each_border_has_its_turn() {
    let mut courier = courier();
    let long = dispatch(30, 60_000);
    for n in 1..=5 {
        courier.keep(sim(n), Height(30), long.clone());
    }
    let fits = limits::DISPATCHES_BYTES_MAX / long.len();
    assert_eq!(fits, 2);
    let mut told = Vec::new();
    for _ in 0..5 {
        let hears = courier.hears(Height(9));
        assert_eq!(hears.len(), fits);
        let bytes: usize = hears.iter().map(|(_, blob)| blob.0.len()).sum();
        assert!(bytes <= limits::DISPATCHES_BYTES_MAX);
        told.extend(neighbours(&hears));
    }
    let twice = |n: u8| told.iter().filter(|other| **other == sim(n)).count();
    assert_eq!([1, 2, 3, 4, 5].map(twice), [2; 5], "{told:?}");
}
