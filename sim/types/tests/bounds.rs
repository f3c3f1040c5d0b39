//! The bounds that more than one crate agrees on: each is reached, and one more is refused by its name.

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_types::{
    Act, Blob, BodyError, CornerCountError, Digest, Envelope, Header, Height, Lane, Look, Member,
    NodeContact, Outline, OutlineCorners, OutlinePart, OutlineParts, PartCountError, PublicKey,
    Roster, RosterError, Round, Seq, SetChange, Sign, SignedEnvelope, SigningKey, SimId, TurnBody,
    Validator, ValidatorSet, ValidatorSetError,
    limits::{
        ABSENT_STRIKES, ACTS_BYTES_MAX, BLOB_BYTES_MAX, BLOBS_BYTES_MAX, BLOBS_PER_TURN_MAX,
        CONTACT_BYTES_MAX, DEMOTION_HEIGHTS_FIRST, DEMOTION_STRIKES_MAX, DISPATCHES_BYTES_MAX,
        MORE_PARTS_MAX, OUTLINE_CORNERS_MAX, STANDBYS_MAX, VALIDATORS_MAX, VALIDATORS_MIN,
    },
    wire,
};

fn key(n: usize) -> SigningKey {
    SigningKey::from_seed([u8::try_from(n).expect("a test has few keys"); 32])
}

fn act(seq: usize, act: Act) -> SignedEnvelope {
    let (sim, author, seq) = (SimId(Digest::ZERO), key(1).public(), Seq(seq as u64));
    Envelope { sim, author, lane: Lane(1), seq, last_valid: Height(9), act }.sign(&key(1))
}

fn says(seq: usize, blob: &Blob) -> SignedEnvelope {
    act(seq, Act::Say { channel: 0, body: blob.id() })
}

/// Returns a body as a peer sends it, which went through no constructor.
fn foreign(acts: &[SignedEnvelope], blobs: &[Blob]) -> TurnBody {
    holed(acts, blobs, &[])
}

/// Returns a body as a peer sends it which says that the words of the acts at these places were forgotten.
fn holed(acts: &[SignedEnvelope], blobs: &[Blob], holes: &[u16]) -> TurnBody {
    let bytes = wire::encode(&(acts, blobs, holes));
    wire::decode(&bytes, bytes.len()).expect("the shape of a body")
}

fn roster(members: usize) -> Roster {
    let member = Member { power: 1, contact: NodeContact::default() };
    let members = (1..=members).map(|n| (key(n).public(), member.clone()));
    Roster::genesis(members.collect()).expect("a set may have so many members")
}

fn add(n: usize, address: String) -> SetChange {
    let contact = NodeContact { peer_id: String::new(), address };
    SetChange::Add { key: key(n).public(), contact }
}

#[test]
fn the_acts_of_a_turn_fill_its_bytes_and_one_act_more_is_too_long() {
    let mut acts: Vec<SignedEnvelope> = Vec::new();
    let mut bytes = 0;
    let too_long = loop {
        let login = Act::login("x".repeat(700), Look::default());
        acts.push(act(acts.len(), login));
        bytes += wire::length(&acts[acts.len() - 1]);
        match TurnBody::new(acts.clone(), Vec::new()) {
            Ok(_) => assert!(bytes <= ACTS_BYTES_MAX, "{bytes} bytes of acts passed"),
            Err(error) => break error,
        }
    };
    assert!(bytes > ACTS_BYTES_MAX, "{bytes} bytes of acts fit");
    assert_eq!(too_long, BodyError::LongActs(bytes));
}

#[test]
fn the_blobs_of_a_turn_fill_its_bytes_and_one_byte_more_is_too_much() {
    let blob = |n: usize, bytes| Blob(vec![u8::try_from(n).expect("few blobs"); bytes]);
    let mut blobs: Vec<Blob> =
        (0..BLOBS_BYTES_MAX / BLOB_BYTES_MAX).map(|n| blob(n, BLOB_BYTES_MAX)).collect();
    let body = |blobs: &[Blob]| {
        let acts = blobs.iter().enumerate().map(|(n, blob)| says(n, blob)).collect();
        TurnBody::new(acts, blobs.to_vec())
    };
    assert!(body(&blobs).is_ok());

    blobs.push(blob(99, 1));

    let (count, bytes) = (blobs.len(), BLOBS_BYTES_MAX + 1);
    assert_eq!(body(&blobs), Err(BodyError::TooManyBlobs { count, bytes }));
}

#[test]
fn a_turn_carries_as_many_blobs_as_acts_and_no_more() {
    let mut blobs: Vec<Blob> =
        (0..BLOBS_PER_TURN_MAX).map(|n| Blob(n.to_string().into_bytes())).collect();
    let acts: Vec<_> = blobs.iter().enumerate().map(|(n, blob)| says(n, blob)).collect();
    assert!(TurnBody::new(acts, blobs.clone()).is_ok());

    blobs.push(Blob(b"one more".to_vec()));

    let error = foreign(&[], &blobs).check();
    let count = BLOBS_PER_TURN_MAX + 1;
    assert!(
        matches!(error, Err(BodyError::TooManyBlobs { count: found, .. }) if found == count),
        "{error:?}"
    );
}

#[test]
fn a_body_whose_acts_or_blobs_are_out_of_order_or_there_twice_is_refused() {
    let blobs = [Blob(b"one".to_vec()), Blob(b"two".to_vec())];
    let body = TurnBody::new(vec![says(1, &blobs[0]), says(2, &blobs[1])], blobs.to_vec());
    let body = body.expect("a small body");
    let ([first, second], [low, high]) = (body.acts(), body.blobs()) else {
        panic!("two acts with their words");
    };
    assert_eq!(foreign(body.acts(), body.blobs()).check(), Ok(()));

    let swapped = foreign(&[second.clone(), first.clone()], &[]);
    assert_eq!(swapped.check(), Err(BodyError::ActOrder(first.id())));
    let twice = foreign(&[first.clone(), first.clone()], &[]);
    assert_eq!(twice.check(), Err(BodyError::ActOrder(first.id())));
    let swapped = foreign(body.acts(), &[high.clone(), low.clone()]);
    assert_eq!(swapped.check(), Err(BodyError::BlobOrder(low.id())));
    let twice = foreign(body.acts(), &[low.clone(), low.clone()]);
    assert_eq!(twice.check(), Err(BodyError::BlobOrder(low.id())));
}

#[test]
fn nothing_is_forgotten_but_words_that_an_act_is_the_first_to_name_and_that_are_gone() {
    let (hello, source) = (Blob(b"hello".to_vec()), Blob(b"source".to_vec()));
    let acts = vec![
        says(1, &hello),
        says(2, &hello),
        act(3, Act::Publish { source: source.id() }),
        act(4, Act::Leave),
    ];
    let whole = TurnBody::new(acts, vec![hello, source.clone()]).expect("a small body");
    let (acts, blobs) = (whole.acts(), whole.blobs());
    let place = |is_it: &dyn Fn(&Act) -> bool| {
        let place = acts.iter().position(|act| is_it(&act.envelope.act)).expect("there is one");
        u16::try_from(place).expect("a small body")
    };
    let said = place(&|act| matches!(act, Act::Say { .. }));
    let published = place(&|act| matches!(act, Act::Publish { .. }));
    let left = place(&|act| matches!(act, Act::Leave));
    let later = acts.iter().rposition(|act| matches!(act.envelope.act, Act::Say { .. }));
    let later = u16::try_from(later.expect("two say it")).expect("a small body");

    let without = whole.without(|_| true).expect("words");
    assert_eq!(without, holed(acts, std::slice::from_ref(&source), &[said]));
    assert_eq!((without.check(), without.blobs_root()), (Ok(()), whole.blobs_root()));
    let none = [];
    let source = std::slice::from_ref(&source);
    for (blobs, holes, wrong) in [
        (blobs, &[said][..], said),
        (source, &[later][..], later),
        (source, &[said, said][..], said),
        (source, &[left][..], left),
        (&none[..], &[published][..], published),
        (source, &[900][..], 900),
    ] {
        let found = holed(acts, blobs, holes).check();
        assert_eq!(found, Err(BodyError::BadHole(wrong)), "{holes:?}");
    }
}

#[test]
fn a_set_has_as_many_validators_as_it_may_and_no_more() {
    let set = |count: usize| {
        let members = (1..=count).map(|n| Validator { key: key(n).public(), power: 1 }).collect();
        ValidatorSet::new(members, |_| true)
    };
    assert_eq!(set(VALIDATORS_MAX).map(|set| set.members().len()), Ok(VALIDATORS_MAX));
    let count = VALIDATORS_MAX + 1;
    assert_eq!(set(count), Err(ValidatorSetError::Count(count)));
}

#[test]
fn a_standby_of_a_full_set_waits_until_somebody_leaves() {
    let mut roster = roster(VALIDATORS_MAX);
    let new = key(100).public();
    roster.change(&add(100, String::new())).expect("there is room for a standby");
    assert_eq!(roster.promote(&new), Err(RosterError::TooMany(VALIDATORS_MAX)));

    roster.change(&SetChange::Remove { key: key(1).public() }).expect("a large set");

    assert_eq!(roster.promote(&new), Ok(()));
}

#[test]
fn a_set_shrinks_down_to_the_least_and_no_further() {
    let mut roster = roster(VALIDATORS_MIN + 1);
    let remove = |n: usize| SetChange::Remove { key: key(n).public() };
    assert_eq!(roster.change(&remove(1)), Ok(()));
    assert_eq!(roster.change(&remove(2)), Err(RosterError::TooFew(VALIDATORS_MIN)));
    assert_eq!(roster.change(&remove(1)), Err(RosterError::Unknown(key(1).public())));
}

#[test]
fn standbys_and_their_addresses_are_bounded() {
    let mut roster = roster(VALIDATORS_MIN);
    let long = CONTACT_BYTES_MAX + 1;
    assert_eq!(roster.change(&add(99, "x".repeat(long))), Err(RosterError::LongContact(long)));
    for n in 0..STANDBYS_MAX {
        assert_eq!(roster.change(&add(100 + n, "x".repeat(CONTACT_BYTES_MAX))), Ok(()));
    }
    let full = roster.change(&add(200, String::new()));
    assert_eq!(full, Err(RosterError::TooMany(STANDBYS_MAX)));
    let known = roster.change(&add(100, String::new()));
    assert_eq!(known, Err(RosterError::Known(key(100).public())));
}

/// A second server under the peer id of a first one took the sessions of that one.
#[test]
fn no_two_servers_are_reached_under_one_peer_id() {
    let mut roster = roster(VALIDATORS_MIN);
    let known = |n: usize, peer_id: &str| {
        let contact = NodeContact { peer_id: peer_id.to_owned(), address: String::new() };
        SetChange::Add { key: key(n).public(), contact }
    };
    assert_eq!(roster.change(&known(100, "12D3")), Ok(()));
    let taken = Err(RosterError::PeerIdTaken(key(100).public()));
    assert_eq!(roster.change(&known(101, "12D3")), taken);
    assert_eq!(roster.change(&known(101, "12D4")), Ok(()));
    roster.promote(&key(100).public()).expect("a small set");
    assert_eq!(roster.change(&known(102, "12D3")), taken, "a member has it by now");
    // Without a peer id nobody is reached, so nothing is taken.
    assert_eq!(roster.change(&add(103, String::new())), Ok(()));
    assert_eq!(roster.change(&add(104, String::new())), Ok(()));
}

#[test]
fn a_proposer_that_stays_away_is_asked_again_half_as_often_each_time_down_to_the_last_demotion() {
    const MEMBERS: usize = 7;
    let mut roster = roster(MEMBERS);
    let away: PublicKey = key(1).public();
    let mut missed = Vec::new();
    for height in (1..10_000).map(Height) {
        let set = roster.set(height).expect("the next height").clone();
        let round = Round(u32::from(set.proposer(height, Round(0)) == away));
        if round == Round(1) {
            missed.push(height.0);
        }
        let proposer = set.proposer(height, round);
        roster.close(&Header { height, proposer, round, ..Header::unstated() });
        let is_absent = missed.len() >= usize::from(ABSENT_STRIKES);
        assert_eq!(roster.absent(), is_absent.then_some(away), "after {height:?}");
    }

    assert!(missed.len() > usize::from(DEMOTION_STRIKES_MAX) + 1, "{missed:?}");
    for (strikes, pair) in missed.windows(2).enumerate() {
        let doublings = strikes.min(usize::from(DEMOTION_STRIKES_MAX) - 1);
        let demotion = DEMOTION_HEIGHTS_FIRST << doublings;
        let pause = pair[1] - pair[0];
        // When the demotion ends, its turn comes within one rotation.
        assert!((demotion..=demotion + MEMBERS as u64).contains(&pause), "{strikes}: {pause}");
    }
}

#[test]
fn what_was_heard_of_neighbours_takes_half_of_a_turns_blobs_at_most() {
    let body = |sizes: &[usize]| {
        let (mut acts, mut blobs) = (Vec::new(), Vec::new());
        for (n, bytes) in (1_u8..).zip(sizes) {
            let blob = Blob(vec![n; *bytes]);
            let heard = Act::Hear { neighbour: SimId(Digest([n; 32])), dispatch: blob.id() };
            acts.push(act(usize::from(n), heard));
            blobs.push(blob);
        }
        TurnBody::new(acts, blobs).map(|body| body.blobs().len())
    };
    let half = DISPATCHES_BYTES_MAX / 2;
    assert_eq!(body(&[half, half]), Ok(2));
    let long = BodyError::LongDispatches(DISPATCHES_BYTES_MAX + 1);
    assert_eq!(body(&[half, half, 1]), Err(long));
}

#[test]
fn a_thing_has_eight_parts_at_most_also_from_a_peer() {
    let part = OutlinePart {
        outline: Outline::Disc { radius: Fx::ONE },
        offset: Vec2::ZERO,
        angle: Angle::ZERO,
    };
    for count in [MORE_PARTS_MAX + 1, 1_000] {
        assert_eq!(OutlineParts::new(vec![part; count]), Err(PartCountError(count + 1)));
        let bytes = wire::encode(&vec![part; count]);
        wire::decode::<OutlineParts>(&bytes, bytes.len()).expect_err("no thing");
    }
    let parts = OutlineParts::new(vec![part; MORE_PARTS_MAX]).expect("a thing");
    assert_eq!(parts.as_slice().len(), MORE_PARTS_MAX);
    let bytes = wire::encode(&parts);
    assert_eq!(wire::decode(&bytes, bytes.len()), Ok(parts));
}

#[test]
fn an_outline_has_three_to_eight_corners_also_from_a_peer() {
    let corners = |count: usize| vec![Vec2::ZERO; count];
    for count in [0, 2, OUTLINE_CORNERS_MAX + 1, 1_000] {
        let refused = OutlineCorners::new(&corners(count));
        assert_eq!(refused, Err(CornerCountError(count)));
        let bytes = wire::encode(&corners(count));
        wire::decode::<OutlineCorners>(&bytes, bytes.len()).expect_err("no outline");
    }
    for count in [3, OUTLINE_CORNERS_MAX] {
        let outline = OutlineCorners::new(&corners(count)).expect("an outline");
        assert_eq!(outline.points().len(), count);
        let bytes = wire::encode(&outline);
        assert_eq!(wire::decode(&bytes, bytes.len()), Ok(outline));
    }
}
