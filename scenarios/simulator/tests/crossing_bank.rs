//! The bug bank of crossing: what the world of two sims would see, and by which law.

use std::collections::BTreeSet;
use std::time::Instant;

use metatopia_simulator::crossing::bugs::{BORDER_BUG_SEEDS, BORDER_BUGS};

/// So many worlds of a bug are played without it: that in which it was found, and those before it. The program plays
/// all of them.
const CLEAN_WORLDS: usize = 3;

#[test]
fn every_bug_of_crossing_is_found_by_its_law_and_no_law_breaks_without_it() {
    let names: BTreeSet<&str> = BORDER_BUGS.iter().map(|bug| bug.name).collect();
    assert_eq!(names.len(), BORDER_BUGS.len(), "each bug has a name of its own");
    for bug in BORDER_BUGS {
        let began = Instant::now();
        let found = (0..BORDER_BUG_SEEDS).find(|seed| bug.law.is_broken(&bug.play(*seed)));
        let took = began.elapsed().as_secs_f64();
        let seeds = BORDER_BUG_SEEDS;
        let found = found.unwrap_or_else(|| panic!("{} is found in none of {seeds}", bug.name));
        println!("{}: {} in seed {found}, after {took:.2} s", bug.name, bug.law.name());
        for seed in (0..=found).rev().take(CLEAN_WORLDS) {
            let began = Instant::now();
            let clean = bug.play_clean(seed);
            let took = began.elapsed().as_secs_f64();
            println!("  seed {seed} without it, {took:.2} s: {} taken", clean.counts.taken());
            assert!(clean.breaches.is_empty(), "{}, {seed}: {:#?}", bug.name, clean.breaches);
            assert!(clean.counts.taken() > 0, "{}, {seed}: nothing crossed", bug.name);
        }
    }
}
