//! The bug bank: what the world would see, and by which law.

use std::collections::BTreeSet;
use std::time::Duration;

use metatopia_simulator::agreement::bugs::BUGS;
use metatopia_simulator::agreement::{Law, Swarm};

/// Enough for every bug today; the program looks further.
const BUDGET: u64 = 60;

#[test]
fn every_bug_is_found_by_its_law_and_by_none_without_it() {
    let names: BTreeSet<&str> = BUGS.iter().map(|bug| bug.name).collect();
    assert_eq!(names.len(), BUGS.len(), "each bug has a name of its own");
    for bug in BUGS {
        let first = bug.find(BUDGET);
        let Some(first) = first else { panic!("{} is not found in {BUDGET} seeds", bug.name) };

        println!("{}: {} in seed {first}", bug.name, bug.law);
        let halts = bug.play(first.into()).halts;
        assert!(!halts.iter().any(|(_, why)| why.starts_with("panicked")), "{}", bug.name);
        for seed in 0..=first {
            let clean = bug.play_clean(seed.into());
            assert!(clean.faults.is_empty(), "{} in seed {seed}: {:#?}", bug.name, clean.faults);
        }
    }
}

#[test]
fn a_world_that_broke_a_law_is_told_with_fewer_faults() {
    let broken = |seed: u64| {
        let mut swarm = Swarm::new(seed.into(), Duration::from_secs(15));
        swarm.controls.no_barrier = true;
        swarm
    };
    let found = (0..20).map(broken).find(|swarm| swarm.play().outcome.shows(Law::NotDurable));
    let found = found.expect("messages leave before they are durable");
    let mut tried = 0;

    let smallest = found.shrink(Law::NotDurable, |_| {
        tried += 1;
        true
    });

    assert!(smallest.play().outcome.shows(Law::NotDurable));
    assert!(
        smallest.plan().classes.is_empty(),
        "no fault is needed: {:?}",
        smallest.course.without
    );
    assert!(smallest.course.calm_from() < Duration::from_secs(1), "{:?}", smallest.course.until);
    let enough = found.shrink(Law::NotDurable, |_| false);
    assert_eq!(enough, found, "nothing is tried when time is up");
    assert!(tried > smallest.course.without.len());
}
