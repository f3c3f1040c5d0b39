//! The swarm of whole replicas: what a seed stands for, and that it is one history.

use std::collections::BTreeMap;
use std::time::Duration;

use metatopia_simulator::replica::{ReplicaPlan, play};
use metatopia_simulator::{Class, Level, SeedRun};

fn whole(seed: u64, seconds: u64) -> SeedRun {
    SeedRun::new(seed.into(), Duration::from_secs(seconds))
}

#[test]
fn each_class_that_can_happen_is_absent_in_about_a_third_of_all_worlds() {
    let mut drawn: BTreeMap<Class, u64> = BTreeMap::new();
    for seed in 0..600 {
        for class in ReplicaPlan::draw(&whole(seed, 60)).classes {
            *drawn.entry(class).or_default() += 1;
        }
    }
    for class in Level::Whole.without() {
        assert_eq!(drawn.get(class), None, "{class}");
    }
    for class in Level::Whole.classes() {
        let times = drawn.get(&class).copied().unwrap_or(0);
        // Only some of the liars that a seed drew can be there at once.
        let expected = if Class::LIARS.contains(&class) { 15..=120 } else { 350..=450 };
        assert!(expected.contains(&times), "{class}: in {times} of 600 worlds");
    }
}

#[test]
fn no_world_has_more_liars_than_it_bears_nor_a_bad_memory_besides() {
    for seed in 0..600 {
        let plan = ReplicaPlan::draw(&whole(seed, 60));
        let bears = (plan.founders - 1) / 3;
        let bad = [!plan.own.flips.is_empty(), plan.own.twin.is_some()];
        let bad = plan.own.liars.len() + bad.into_iter().filter(|bad| *bad).count();
        assert!(bad <= bears, "seed {seed}: {bad} of {bears}");
    }
}

#[test]
fn in_about_a_third_of_all_worlds_nobody_keeps_all_of_the_past() {
    let without = (0..600).filter(|seed| !ReplicaPlan::draw(&whole(*seed, 60)).own.archive).count();

    assert!((150..=250).contains(&without), "{without} of 600 worlds");
}

#[test]
fn one_seed_of_whole_replicas_is_one_history() {
    let (first, again) = (play(&whole(3, 4)), play(&whole(3, 4)));

    assert_eq!(first.digest, again.digest);
    assert_eq!(first.fired, again.fired);
    assert_ne!(first.digest, play(&whole(4, 4)).digest);
}

#[test]
fn servers_that_share_what_they_calculate_live_as_if_each_did_it_alone() {
    let shared = whole(4, 6);
    let alone = SeedRun { apart: true, ..shared.clone() };
    assert!(!ReplicaPlan::draw(&shared).own.apart && ReplicaPlan::draw(&alone).own.apart);

    let (shared, alone) = (play(&shared), play(&alone));

    assert_eq!(shared.digest, alone.digest);
    // Also around a server whose state is not the others'.
    assert!(shared.fired.times(Class::MemoryFlip) > 0 && shared.crashes > 0);
}

#[test]
fn a_small_swarm_of_whole_replicas_breaks_no_law() {
    for seed in 1_000..1_002 {
        let course = whole(seed, 8);
        let tale = play(&course);

        assert!(
            tale.is_sound(),
            "seed {seed}\n{}\n{:#?}",
            ReplicaPlan::draw(&course),
            tale.breaches
        );
        assert!(tale.recovery.is_some(), "seed {seed}");
    }
}

#[test]
fn servers_whose_disks_are_damaged_notice_it_and_break_no_law() {
    let mut happened: BTreeMap<Class, u64> = BTreeMap::new();
    for seed in [6, 12, 40] {
        let mut course = whole(seed, 24);
        course.without =
            Class::ALL.iter().copied().filter(|class| !Class::DAMAGES.contains(class)).collect();
        let tale = play(&course);

        assert!(
            tale.is_sound(),
            "seed {seed}\n{}\n{:#?}",
            ReplicaPlan::draw(&course),
            tale.breaches
        );
        for class in Class::DAMAGES.iter().copied() {
            *happened.entry(class).or_default() += tale.fired.times(class);
        }
    }
    println!("{happened:?}");
    assert!(happened.values().sum::<u64>() > 2, "{happened:?}");
    assert!(happened[&Class::BadSnapshot] > 0, "{happened:?}");
}

/// What a start finds that is cut off it may have mended already, and the next one does not find.
#[test]
fn starts_that_are_cut_off_forget_nothing_and_hide_no_damage() {
    let deaths = [Class::Crash, Class::PowerLoss, Class::CrashAtStart];
    let tails = [Class::LostTail, Class::TornTail];
    let kept: Vec<Class> = Class::DAMAGES.iter().copied().chain(deaths).chain(tails).collect();
    let mut happened: BTreeMap<Class, u64> = BTreeMap::new();
    for seed in [16, 19] {
        let mut course = whole(seed, 24);
        course.without = Class::ALL.iter().copied().filter(|class| !kept.contains(class)).collect();
        let tale = play(&course);

        assert!(
            tale.is_sound(),
            "seed {seed}\n{}\n{:#?}",
            ReplicaPlan::draw(&course),
            tale.breaches
        );
        for class in &kept {
            *happened.entry(*class).or_default() += tale.fired.times(*class);
        }
    }
    println!("{happened:?}");
    assert!(happened[&Class::CrashAtStart] > 8, "{happened:?}");
}
