//! The limit of remembered rotations, which would take long to play.

use std::collections::BTreeSet;

use metatopia_types::{Digest, PublicKey, Refusal, Rotation, SigningKey};

use crate::{
    acts::test_genesis,
    limits::{ROTATED_AGAIN_MS, ROTATED_MAX},
    state::{Genesis, State},
};

fn key(n: usize) -> PublicKey {
    PublicKey(Digest::of("a test's key", &n.to_le_bytes()).0)
}

#[test]
fn the_oldest_rotation_is_forgotten_and_what_was_moved_stays() {
    let genesis = Genesis { admins: BTreeSet::from([key(0)]), ..test_genesis() };
    let mut state = State::from_genesis(&genesis).expect("a small genesis");
    for n in 0..ROTATED_MAX {
        state.rotate(key(n), key(n + 1), 1);
        state.governance.time += 1;
    }
    assert_eq!(state.people.rotated.len(), ROTATED_MAX);
    assert_eq!(state.key_now(key(0)), key(ROTATED_MAX), "as often as it was rotated");

    state.rotate(key(ROTATED_MAX), key(ROTATED_MAX + 1), 1);

    assert_eq!(state.people.rotated.len(), ROTATED_MAX);
    assert!(!state.people.rotated.contains(&key(0)));
    assert_eq!(state.governance.admins, BTreeSet::from([key(ROTATED_MAX + 1)]));
}

#[test]
fn a_rotation_from_a_key_that_was_rotated_names_where_it_led() {
    let [old, new, other] = [1, 2, 3].map(|n| SigningKey::from_seed([n; 32]));
    let public = |key: &SigningKey| metatopia_types::Sign::public(key);
    let genesis = Genesis { admins: BTreeSet::from([public(&old)]), ..test_genesis() };
    let mut state = State::from_genesis(&genesis).expect("a small genesis");
    let first = Rotation::new(&old, &new, 1);
    assert_eq!(state.replaced_key(&first), Ok(Some(public(&old))));
    state.rotate(public(&old), public(&new), 1);

    assert_eq!(state.replaced_key(&first), Ok(None), "once more it changes nothing");
    let second = Rotation::new(&old, &other, 1);
    assert_eq!(state.replaced_key(&second), Err(Refusal::Rotated(public(&new))));
    // Whatever the number, there is no circle, and it is no matter how long ago the first one was.
    state.governance.time += ROTATED_AGAIN_MS;
    let back = Rotation::new(&new, &old, 2);
    assert_eq!(state.replaced_key(&back), Err(Refusal::KnownKey), "it was given up");
    let lesser = Rotation::new(&new, &other, 1);
    assert_eq!(state.replaced_key(&lesser), Ok(Some(public(&new))), "numbers need not grow");
}
