//! Which acts and turns may be decided: lane windows against a plain oracle, and every rule hit.

mod strangers;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use metatopia_sim::{
    ActFault, Judging, LaneWindows, Parameters, Register, TurnFault, Window, judge_act, judge_turn,
    limits::{
        LANES_CROWDED, LANES_MAX, LANES_PER_AUTHOR_CROWDED_MAX, LANES_PER_AUTHOR_MAX,
        STRANGER_LANES_MAX,
    },
};
use metatopia_types::{
    Act, Blob, BodyError, Digest, Ed25519, Envelope, Header, HeaderId, Height, Lane, Look, Millis,
    PublicKey, Root, Round, Seq, Sign, Signature, SignedEnvelope, SigningKey, SimId, Turn,
    TurnBody, ValidatorsId,
    limits::{ACTS_PER_TURN_MAX, ENVELOPE_BYTES_MAX, EXPIRY_HEIGHTS_MAX},
    wire,
};
use proptest::prelude::*;

const SIM: SimId = SimId(Digest([5; 32]));

fn key(n: u8) -> SigningKey {
    SigningKey::from_seed([n; 32])
}

fn envelope(author: PublicKey, lane: u64, seq: u64, last_valid: u64) -> Envelope {
    let (lane, seq, last_valid) = (Lane(lane), Seq(seq), Height(last_valid));
    Envelope { sim: SIM, author, lane, seq, last_valid, act: Act::Heartbeat }
}

/// Returns an envelope without a good signature, because windows do not look at signatures.
fn unsigned(envelope: Envelope) -> SignedEnvelope {
    SignedEnvelope { envelope, signature: Signature::from_bytes([0; 64]) }
}

fn turn(height: u64, acts: Vec<SignedEnvelope>) -> Turn {
    let body = TurnBody::new(acts, Vec::new()).expect("within the limits of a turn");
    let header = Header {
        sim: SIM,
        engine: metatopia_sim::ENGINE,
        height: Height(height),
        previous: HeaderId::BEFORE_FIRST,
        proposer: PublicKey([0; 32]),
        round: Round(0),
        time: Millis(height),
        acts: body.acts_root().0,
        act_count: body.acts_root().1,
        blobs: Digest::ZERO,
        blob_count: 0,
        root: Root(Digest::ZERO),
        validators: ValidatorsId(Digest::ZERO),
        next_validators: ValidatorsId(Digest::ZERO),
        reserved: Digest::ZERO,
    };
    Turn { header, body }
}

const ADA: PublicKey = PublicKey([1; 32]);

/// The one steward of [`OPEN`].
const ADMIN: PublicKey = PublicKey([99; 32]);

/// A sim that is open, in which nobody has logged in.
static OPEN: LazyLock<Register> =
    LazyLock::new(|| Register::genesis(SIM, &Parameters::default(), BTreeSet::from([ADMIN])));

fn open() -> Judging<'static> {
    Judging { standings: &*OPEN, proposer: None }
}

fn admit(windows: &LaneWindows, height: u64, act: &Envelope) -> Result<(), ActFault> {
    windows.admission(Height(height), None, open()).check(act)
}

#[test]
fn an_act_is_decided_once() {
    let mut windows = LaneWindows::default();
    let act = envelope(ADA, 1, 5, 100);
    assert_eq!(admit(&windows, 1, &act), Ok(()));

    windows.record(&turn(1, vec![unsigned(act.clone())]));

    assert_eq!(admit(&windows, 2, &act), Err(ActFault::Replayed(Seq(5))));
    assert_eq!(admit(&windows, 2, &envelope(ADA, 1, 4, 100)), Err(ActFault::Replayed(Seq(5))));
    assert_eq!(admit(&windows, 2, &envelope(ADA, 1, 6, 100)), Ok(()));
    assert_eq!(admit(&windows, 2, &envelope(ADA, 2, 5, 100)), Ok(()));
}

#[test]
fn acts_of_one_turn_may_come_in_any_order_but_not_twice() {
    let windows = LaneWindows::default();
    let mut admission = windows.admission(Height(1), None, open());

    assert_eq!(admission.admit(&envelope(ADA, 1, 9, 100)), Ok(()));
    assert_eq!(admission.admit(&envelope(ADA, 1, 3, 100)), Ok(()));
    assert_eq!(admission.admit(&envelope(ADA, 1, 9, 101)), Err(ActFault::Replayed(Seq(9))));
}

#[test]
fn acts_of_an_undecided_turn_count_as_decided() {
    let windows = LaneWindows::default();
    let before = turn(1, vec![unsigned(envelope(ADA, 1, 9, 100))]);
    let mut admission = windows.admission(Height(2), Some(&before), open());

    let again = admission.admit(&envelope(ADA, 1, 9, 100));
    assert_eq!(again, Err(ActFault::Replayed(Seq(9))));
    assert_eq!(admission.admit(&envelope(ADA, 1, 10, 100)), Ok(()));
}

#[test]
fn expiry_is_a_window_of_heights() {
    let windows = LaneWindows::default();
    let (last_valid, height) = (Height(9), Height(10));
    let expired = Err(ActFault::Expired { last_valid, height });
    assert_eq!(admit(&windows, 10, &envelope(ADA, 1, 1, 9)), expired);
    assert_eq!(admit(&windows, 10, &envelope(ADA, 1, 1, 10)), Ok(()));
    let last = 10 + EXPIRY_HEIGHTS_MAX;
    assert_eq!(admit(&windows, 10, &envelope(ADA, 1, 1, last)), Ok(()));
    let ahead = ActFault::TooFarAhead { last_valid: Height(last + 1), height };
    assert_eq!(admit(&windows, 10, &envelope(ADA, 1, 1, last + 1)), Err(ahead));
}

#[test]
fn a_lane_is_forgotten_when_nothing_of_it_can_be_replayed() {
    let mut windows = LaneWindows::default();
    windows.record(&turn(1, vec![unsigned(envelope(ADA, 1, 5, 3))]));
    windows.record(&turn(2, vec![unsigned(envelope(ADA, 1, 6, 2))]));
    assert_eq!(windows.len(), 1);

    windows.record(&turn(3, Vec::new()));

    assert!(windows.is_empty());
    assert!(matches!(admit(&windows, 4, &envelope(ADA, 1, 5, 3)), Err(ActFault::Expired { .. })));
}

#[test]
fn an_author_has_a_bounded_number_of_lanes() {
    let mut windows = LaneWindows::default();
    let half = LANES_PER_AUTHOR_MAX as u64 / 2;
    let lanes = |range: std::ops::Range<u64>| {
        range.map(|lane| unsigned(envelope(ADA, lane, 1, 100))).collect::<Vec<_>>()
    };
    windows.record(&turn(1, lanes(0..half)));
    let undecided = turn(2, lanes(half..LANES_PER_AUTHOR_MAX as u64 - 1));
    let mut admission = windows.admission(Height(3), Some(&undecided), open());

    assert_eq!(admission.admit(&envelope(ADA, 97, 1, 100)), Ok(()));
    let full = Err(ActFault::TooManyLanes(LANES_PER_AUTHOR_MAX));
    assert_eq!(admission.admit(&envelope(ADA, 98, 1, 100)), full);
    assert_eq!(admission.admit(&envelope(PublicKey([2; 32]), 98, 1, 100)), Ok(()));
    // A lane that is known is no new one.
    assert_eq!(admission.admit(&envelope(ADA, 97, 2, 100)), Ok(()));
    assert_eq!(admission.admit(&envelope(ADA, 0, 2, 100)), Ok(()));
}

/// Windows of so many lanes of as many authors, which turns of as many proposers opened.
fn crowd(lanes: usize, proposers: usize) -> LaneWindows {
    let window = |n: usize| Window {
        seq: Seq(1),
        last_valid: Height(500),
        opener: numbered(200, n % proposers),
    };
    let lane = |n: usize| ((numbered(9, n), Lane(1)), window(n));
    LaneWindows::new(Height(9), (0..lanes).map(lane).collect())
}

fn numbered(kind: u8, n: usize) -> PublicKey {
    let mut key = [kind; 32];
    key[..8].copy_from_slice(&(n as u64).to_le_bytes());
    PublicKey(key)
}

#[test]
fn strangers_leave_half_of_the_lanes_and_stewards_find_the_last_one() {
    let windows = crowd(STRANGER_LANES_MAX, 4);
    let full = Err(ActFault::Full(STRANGER_LANES_MAX));
    assert_eq!(admit(&windows, 10, &envelope(ADA, 1, 1, 100)), full);
    assert_eq!(admit(&windows, 10, &envelope(ADMIN, 1, 1, 100)), Ok(()));
    // A lane that is open stays so.
    assert_eq!(admit(&windows, 10, &envelope(numbered(9, 7), 1, 2, 100)), Ok(()));

    let windows = crowd(LANES_MAX - 1, 4);
    assert_eq!(admit(&windows, 10, &envelope(ADMIN, 1, 1, 100)), Ok(()));
    let windows = crowd(LANES_MAX, 4);
    assert_eq!(admit(&windows, 10, &envelope(ADMIN, 1, 1, 100)), Err(ActFault::Full(LANES_MAX)));
}

#[test]
fn one_proposer_opens_no_more_than_a_quarter_of_the_lanes() {
    let quarter = STRANGER_LANES_MAX / 4;
    let windows = crowd(quarter, 1);
    let by = |proposer| {
        windows.admission(Height(10), None, Judging { standings: &*OPEN, proposer: Some(proposer) })
    };
    let act = envelope(ADA, 1, 1, 100);

    assert_eq!(by(numbered(200, 0)).check(&act), Err(ActFault::Full(quarter)));
    assert_eq!(by(numbered(200, 1)).check(&act), Ok(()));
    assert_eq!(by(numbered(200, 0)).check(&envelope(ADMIN, 1, 1, 100)), Ok(()));
}

#[test]
fn where_many_lanes_are_open_an_author_has_fewer() {
    let quiet = crowd(LANES_CROWDED - LANES_PER_AUTHOR_MAX, 4);
    let mut admission = quiet.admission(Height(10), None, open());
    for lane in 0..LANES_PER_AUTHOR_MAX as u64 {
        assert_eq!(admission.admit(&envelope(ADA, lane, 1, 100)), Ok(()));
    }

    let crowded = crowd(LANES_CROWDED, 4);
    let mut admission = crowded.admission(Height(10), None, open());
    for lane in 0..LANES_PER_AUTHOR_CROWDED_MAX as u64 {
        assert_eq!(admission.admit(&envelope(ADA, lane, 1, 100)), Ok(()));
    }
    let full = Err(ActFault::TooManyLanes(LANES_PER_AUTHOR_CROWDED_MAX));
    assert_eq!(admission.admit(&envelope(ADA, 98, 1, 100)), full);
}

#[test]
fn an_act_of_another_sim_or_with_a_bad_signature_is_refused() {
    let windows = LaneWindows::default();
    let admission = windows.admission(Height(1), None, open());
    let judge = |act: &SignedEnvelope| judge_act(SIM, act, &admission, &Ed25519);
    let good = envelope(key(1).public(), 1, 1, 100);

    assert_eq!(judge(&good.clone().sign(&key(1))), Ok(()));
    assert_eq!(judge(&good.clone().sign(&key(2))), Err(ActFault::Signature));
    assert_eq!(judge(&unsigned(good.clone())), Err(ActFault::Signature));
    let elsewhere = SimId(Digest([6; 32]));
    let foreign = Envelope { sim: elsewhere, ..good.clone() }.sign(&key(1));
    assert_eq!(judge(&foreign), Err(ActFault::OtherSim(elsewhere)));
    let login = Act::login("x".repeat(ENVELOPE_BYTES_MAX), Look::default());
    let long = Envelope { act: login, ..good }.sign(&key(1));
    assert_eq!(judge(&long), Err(ActFault::TooLong(wire::length(&long))));
}

#[test]
fn an_act_of_a_later_program_is_refused_and_a_turn_that_carries_it_is_void() {
    let windows = LaneWindows::default();
    let act = Act::Unknown { number: 300, bytes: vec![1, 2, 3] };
    let later = Envelope { act, ..envelope(key(1).public(), 1, 1, 100) }.sign(&key(1));
    // Its signature and its id are checked like those of any act.
    assert!(later.verify(&Ed25519));

    let admission = windows.admission(Height(1), None, open());
    assert_eq!(judge_act(SIM, &later, &admission, &Ed25519), Err(ActFault::UnknownAct(300)));

    let fault = TurnFault::Act { id: later.id(), fault: ActFault::UnknownAct(300) };
    let void = judge_turn(SIM, &turn(1, vec![later]), &windows, &*OPEN, &Ed25519);
    assert_eq!(void, Err(fault));
}

#[test]
fn a_turn_is_void_for_each_of_its_faults() {
    let windows = LaneWindows::default();
    let judge = |turn: &Turn| judge_turn(SIM, turn, &windows, &*OPEN, &Ed25519);
    let good = envelope(key(1).public(), 1, 1, 100).sign(&key(1));
    assert_eq!(judge(&turn(1, vec![good.clone()])), Ok(()));

    let mut foreign = turn(1, Vec::new());
    foreign.header.sim = SimId(Digest([6; 32]));
    assert_eq!(judge(&foreign), Err(TurnFault::OtherSim(foreign.header.sim)));

    let (expected, found) = (Height(1), Height(2));
    assert_eq!(judge(&turn(2, Vec::new())), Err(TurnFault::OutOfOrder { expected, found }));

    let bad = unsigned(envelope(ADA, 1, 1, 100));
    let fault = TurnFault::Act { id: bad.id(), fault: ActFault::Signature };
    assert_eq!(judge(&turn(1, vec![good, bad])), Err(fault));

    let twice = [100, 101].map(|valid| envelope(key(1).public(), 1, 1, valid).sign(&key(1)));
    let void = judge(&turn(1, twice.to_vec()));
    assert!(matches!(void, Err(TurnFault::Act { fault: ActFault::Replayed(Seq(1)), .. })));
}

#[test]
fn a_turn_from_the_wire_with_a_broken_body_is_void() {
    // What came over the wire was never through `Body::new`.
    let acts: Vec<SignedEnvelope> =
        (0..=ACTS_PER_TURN_MAX as u64).map(|seq| unsigned(envelope(ADA, 1, seq, 100))).collect();
    let bytes = wire::encode(&(acts, Vec::<Blob>::new(), Vec::<u16>::new()));
    let body: TurnBody = wire::decode(&bytes, bytes.len()).expect("it decodes");
    let crowded = Turn { body, ..turn(1, Vec::new()) };

    let void = judge_turn(SIM, &crowded, &LaneWindows::default(), &*OPEN, &Ed25519);

    assert_eq!(void, Err(TurnFault::Body(BodyError::TooManyActs(ACTS_PER_TURN_MAX + 1))));
}

proptest! {
    /// Against an oracle that remembers every act for ever: nothing is decided twice, lanes only go
    /// up, and what the windows forget can no longer be replayed.
    #[test]
    fn windows_are_as_strict_as_remembering_everything(
        turns in prop::collection::vec(
            prop::collection::vec((0_u8..3, 0_u64..3, 0_u64..12, 0_u64..6), 0..6),
            1..40,
        )
    ) {
        let mut windows = LaneWindows::default();
        let mut decided: BTreeMap<(PublicKey, u64), Vec<(u64, u64)>> = BTreeMap::new();
        for (height, acts) in (1_u64..).zip(turns) {
            let mut admission = windows.admission(Height(height), None, open());
            let mut taken = Vec::new();
            for (author, lane, seq, ahead) in acts {
                let author = PublicKey([author; 32]);
                let act = envelope(author, lane, seq + height / 4, height + ahead);
                if admission.admit(&act).is_ok() {
                    let earlier = decided.get(&(author, lane)).into_iter().flatten();
                    // Forgotten lanes may begin anew, but never with an act that was decided.
                    for (old, valid) in earlier {
                        let same = (*old, *valid) == (act.seq.0, act.last_valid.0);
                        prop_assert!(!same, "decided twice");
                        prop_assert!(*valid < height || *old < act.seq.0, "went down in its lane");
                    }
                    taken.push(act);
                }
            }
            windows.record(&turn(height, taken.iter().cloned().map(unsigned).collect()));
            for act in taken {
                let lane = (act.author, act.lane.0);
                decided.entry(lane).or_default().push((act.seq.0, act.last_valid.0));
            }
            let rebuilt = windows.lanes().map(|lane| (lane, windows.get(&lane).expect("listed")));
            prop_assert_eq!(&LaneWindows::new(Height(height), rebuilt.collect()), &windows);
        }
    }
}

/// Returns a turn of this proposer with what it, or somebody else, heard of neighbours.
fn heard_turn(author: u8, proposer: u8, heard: &[(u8, usize)]) -> Turn {
    let (mut acts, mut blobs) = (Vec::new(), Vec::new());
    for (seq, (neighbour, bytes)) in (1..).zip(heard) {
        let blob = Blob(vec![seq as u8; *bytes]);
        let (neighbour, dispatch) = (SimId(Digest([*neighbour; 32])), blob.id());
        let act = Act::Hear { neighbour, dispatch };
        let envelope = Envelope { act, ..envelope(key(author).public(), 1, seq, 1) };
        acts.push(envelope.sign(&key(author)));
        blobs.push(blob);
    }
    let body = TurnBody::new(acts, blobs).expect("within the limits of a turn");
    let mut turn = turn(1, Vec::new());
    turn.header.proposer = key(proposer).public();
    Turn::of(turn.header, body)
}

#[test]
fn only_the_proposer_says_what_it_heard_once_of_each_neighbour() {
    let register = Register::genesis(
        SIM,
        &Parameters::default(),
        BTreeSet::from([key(1).public(), key(2).public()]),
    );
    let judge = |turn: &Turn| {
        let judged = judge_turn(SIM, turn, &LaneWindows::default(), &register, &Ed25519);
        judged.map_err(|fault| match fault {
            TurnFault::Act { fault, .. } => fault,
            other => panic!("{other}"),
        })
    };
    assert_eq!(judge(&heard_turn(1, 1, &[(7, 90), (8, 90)])), Ok(()));
    assert_eq!(judge(&heard_turn(1, 2, &[(7, 90)])), Err(ActFault::NotProposer));
    let twice = ActFault::HeardTwice(SimId(Digest([7; 32])));
    assert_eq!(judge(&heard_turn(1, 1, &[(7, 90), (7, 91)])), Err(twice));
}
