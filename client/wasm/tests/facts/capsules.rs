//! Capsules, with which anybody can see who is right.

use std::sync::Arc;

use metatopia_sim::Tools;
use metatopia_types::{Ed25519, Height, limits::ROOT_LAG};
use metatopia_wasm::{Capsule, CapsuleError, ReplayVerdict, StartPoint};

use crate::golden::{Node, decided, other_roots_from, replica};

fn tools() -> Tools {
    Tools::new(Arc::new(Ed25519))
}

#[test]
fn a_mismatch_is_found_again_by_whoever_replays_the_capsule() {
    let mut replica = replica(StartPoint::Genesis);
    let status = Node::new(other_roots_from(31, 60)).lead(&mut replica).status;

    let capsule = Capsule::decode(&replica.capsule().encode()).unwrap();

    let ReplayVerdict::Differs { of, own, stated } = capsule.replay(&tools()).unwrap() else {
        panic!("the roots differ")
    };
    assert_eq!(of, Height(31 - ROOT_LAG));
    assert_eq!(Some(own.to_string()), status.own_root);
    assert_eq!(Some(stated.to_string()), status.stated_root);
}

#[test]
fn a_capsule_of_an_honest_sim_replays_to_the_same_roots() {
    let mut replica = replica(StartPoint::Genesis);
    Node::new(decided(50)).lead(&mut replica);
    let verdict = replica.capsule().replay(&tools()).unwrap();
    assert_eq!(verdict, ReplayVerdict::Same { compared: Some(Height(50 - ROOT_LAG)) });
}

#[test]
fn what_is_no_capsule_is_refused() {
    let mut replica = replica(StartPoint::Genesis);
    Node::new(decided(5)).lead(&mut replica);
    let good = replica.capsule();

    assert!(matches!(Capsule::decode(b"x"), Err(CapsuleError::Decode(_))));
    let mut other = good.clone();
    other.root.0.0[0] ^= 1;
    assert!(matches!(other.replay(&tools()), Err(CapsuleError::State(_))));
    let mut other = good.clone();
    other.genesis.clear();
    assert!(matches!(other.replay(&tools()), Err(CapsuleError::Genesis(_))));
    let mut other = good;
    other.turns.remove(0);
    assert!(matches!(other.replay(&tools()), Err(CapsuleError::Turns { .. })));
}
