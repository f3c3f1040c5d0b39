//! Broken worlds. Each must be seen to be broken within the seeds that its story names.

use std::collections::BTreeSet;

use metatopia_simulator::agreement::Law;
use metatopia_simulator::agreement::stories::{ExpectedEnding, divergence, stories, story};

/// Laws that no story breaks: they are tested on their own, by the bug bank, or are laws of sims.
const UNSEEN: &[Law] = &[
    Law::Lane,
    Law::Receipt,
    Law::Outcome,
    Law::Order,
    Law::Replay,
    Law::Proof,
    Law::Bounds,
    Law::Time,
    Law::Chain,
    Law::Slander,
    Law::Lock,
    Law::Lost,
    Law::Twice,
    Law::Restored,
    Law::Damage,
    Law::Gap,
    Law::Impunity,
    Law::Invite,
    Law::LateTurn,
    Law::LateAct,
    Law::Reserved,
    Law::Behind,
    Law::Silent,
];

#[test]
fn every_broken_world_is_seen_to_be_broken() {
    let mut seen = BTreeSet::new();
    let mut found = 0;
    for story in stories() {
        let ExpectedEnding::Found(_, budget) = story.ending else { continue };
        let tally = story.check(budget);
        seen.extend(tally.broken);
        found += 1;
    }
    assert!(found >= 15, "{found} kinds of broken worlds");
    let blind: Vec<_> =
        Law::ALL.iter().filter(|law| !seen.contains(law) && !UNSEEN.contains(law)).collect();
    assert!(blind.is_empty(), "no world shows {blind:?}");
}

#[test]
fn a_server_that_diverged_stops_within_the_root_lag_and_the_others_go_on() {
    for seed in 0..20 {
        let (seat, outcome) = divergence(seed.into());

        let [(halted, why)] = outcome.halts.as_slice() else {
            panic!("seed {seed}: {:?}", outcome.halts)
        };
        assert_eq!(*halted, seat, "seed {seed}");
        // Turn 10 gave another root; header 12 states what the others have.
        assert!(why.starts_with("height 12: "), "seed {seed}: {why}");
        let went_on = outcome.heights.iter().flatten().filter(|height| **height >= 40).count();
        assert_eq!(went_on, 3, "seed {seed}");
        let others = outcome.faults.iter().filter(|fault| fault.law != Law::Root);
        assert_eq!(others.count(), 0, "{}", outcome.report());
    }
}

#[test]
fn the_index_of_what_was_said_is_a_fuse_and_not_the_mechanism() {
    story("without a fuse").check(40);
}
