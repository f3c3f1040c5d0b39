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

/// Fifty people who crossed all the time made the log of each sim grow by 107,000 bytes a second.
#[test]
fn large_dispatches_are_heard_at_the_pace_of_their_bytes_and_small_ones_in_each_turn() {
    for (bytes, turns) in [(5_000, 500), (50_000, 500), (64_000, 500), (2_000, 500)] {
        let mut courier = courier();
        let (mut heard, mut silent, mut most_silent) = (0, 0_u64, 0);
        for height in 1..=turns {
            courier.forget_heard(&BTreeMap::from([(sim(1), Height(0))]));
            courier.keep(sim(1), Height(height), dispatch(height, bytes));
            let hears = courier.hears(Height(height));
            heard += hears.iter().map(|(_, blob)| blob.0.len()).sum::<usize>();
            silent = if hears.is_empty() { silent + 1 } else { 0 };
            most_silent = most_silent.max(silent);
            courier.decided(&turn(hears));
        }
        let most = HEARD_BYTES_PER_TURN * turns as usize + HEARD_AHEAD_MAX + bytes + 1_000;
        assert!(heard <= most || bytes > 20 * HEARD_BYTES_PER_TURN, "{heard} of {most} bytes");
        assert!(most_silent <= u64::from(SILENT_TURNS_MAX), "{most_silent} silent turns");
        assert_eq!(bytes < HEARD_BYTES_PER_TURN, most_silent == 0, "{bytes} bytes");
    }
}

#[test]
fn a_border_that_is_gone_leaves_no_count_and_another_one_is_told_meanwhile() {
    let mut courier = courier();
    let both = BTreeMap::from([(sim(1), Height(0)), (sim(2), Height(0))]);
    courier.forget_heard(&both);
    for height in 20..24 {
        courier.keep(sim(1), Height(height), dispatch(height, 50_000));
        let hears = courier.hears(Height(9));
        assert_eq!(hears.len(), 1, "three of the largest parcels are heard at once, and one more");
        courier.decided(&turn(hears));
    }
    for n in [1, 2] {
        courier.keep(sim(n), Height(30), dispatch(30, 10));
    }
    assert_eq!(neighbours(&courier.hears(Height(10))), [sim(2)], "the first one waits");
    courier.forget_heard(&BTreeMap::new());
    assert!(courier.paces.is_empty());
}
