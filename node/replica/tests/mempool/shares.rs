//! What acts of one standing, or of one author, leave to those of others.

use metatopia_replica::mempool::{PLAYER_BYTES, POOL_BYTES_MAX, REGULAR_BYTES, STEWARD_BYTES};
use metatopia_sim::limits::{LANES_CROWDED, LANES_PER_AUTHOR_CROWDED_MAX};

use super::*;

/// The acts that fill a pool, of authors who each hand in as many as one may, by their numbers.
fn crowd() -> impl Iterator<Item = Submission> {
    let long = Act::login("x".repeat(800), Look::default());
    let authors = (0_u16..).map(|n| {
        let mut seed = [7; 32];
        seed[..2].copy_from_slice(&n.to_le_bytes());
        SigningKey::from_seed(seed)
    });
    authors.flat_map(move |key| {
        let act = long.clone();
        (1..=AUTHOR_PENDING_MAX as u64).map(move |seq| {
            let author = key.public();
            let envelope = Envelope { author, act: act.clone(), ..envelope(1, 1, seq) };
            Submission { act: envelope.sign(&key), blobs: Vec::new() }
        })
    })
}

/// Keys that cost nothing, or a login, filled all of it but the share of stewards.
#[test]
fn a_pool_takes_no_more_bytes_and_keeps_shares_of_them_for_those_of_better_standing() {
    use Standing::{Player, Regular, Steward, Stranger};
    let mut pool = Pool::new();
    let mut acts = crowd();
    let longest = limits::ENVELOPE_BYTES_MAX;
    let regulars = POOL_BYTES_MAX - STEWARD_BYTES;
    let players = regulars - REGULAR_BYTES;
    for (standing, most) in [
        (Stranger, players - PLAYER_BYTES),
        (Player, players),
        (Regular, regulars),
        (Steward, POOL_BYTES_MAX),
    ] {
        pool.all.standing = standing;
        let mut taken = 0;
        let refused = acts.find_map(|act| {
            let refused = pool.admit_from(act, ActSource::Server).err();
            taken += usize::from(refused.is_none());
            refused
        });

        assert_eq!(refused, Some(SubmitRefusal::Full));
        let bytes = pool.pool.bytes();
        assert!(bytes <= most && bytes + longest > most, "{bytes} of {most} bytes are full");
        assert!(taken > 2_000, "{taken} of {standing:?} found room beside the others");
    }
}

/// Each key handed in 64 acts in lanes of their own, of which a turn opens a few: the others waited a
/// minute in vain, and 120 keys filled the pools of all servers.
#[test]
fn acts_wait_in_no_more_lanes_of_an_author_than_turns_will_open() {
    for (open, most) in [(0, LANES_PER_AUTHOR_MAX), (LANES_CROWDED, LANES_PER_AUTHOR_CROWDED_MAX)] {
        let mut pool = Pool { windows: windows(open), ..Pool::new() };
        let taken = (1..=AUTHOR_PENDING_MAX as u64).take_while(|lane| {
            let admitted = pool.admit(act(1, *lane, 1));
            assert!(admitted.is_ok() || admitted == Err(SubmitRefusal::TooManyLanes));
            admitted.is_ok()
        });
        let taken = taken.count() as u64;

        assert_eq!(taken, most as u64);
        assert!(pool.admit(act(1, taken, 2)).is_ok(), "its lane waits already");
        assert!(pool.admit(act(1, 1, 1)).is_ok(), "it is repeated");
        assert!(pool.admit(act(2, 1, 1)).is_ok(), "another author's lanes are its own");
        let body = pool.body(None);
        pool.decide(body);
        assert!(pool.pool.is_empty(), "all that were taken find a place");
        assert_eq!(pool.admit(act(1, taken + 1, 1)), Err(SubmitRefusal::TooManyLanes));
    }
}
