//! The swarm: what a seed stands for, and that it is one history.

use std::collections::BTreeMap;
use std::time::Duration;

use metatopia_simulator::agreement::Swarm;
use metatopia_simulator::{Class, ClusterOrder, Level, PlannedFault, SeedRun};

const SPAN: Duration = Duration::from_secs(60);

fn whole(seed: u64, seconds: u64) -> Swarm {
    Swarm::new(seed.into(), Duration::from_secs(seconds))
}

/// The same with faults between these moments only.
fn between(seed: u64, seconds: u64, from: Duration, until: Duration) -> Swarm {
    let course = SeedRun::new(seed.into(), Duration::from_secs(seconds));
    Swarm::of(SeedRun { from, until: Some(until), ..course })
}

#[test]
fn each_class_of_faults_is_absent_in_about_a_third_of_all_worlds() {
    let mut drawn: BTreeMap<Class, u64> = BTreeMap::new();
    for seed in 0..600 {
        for class in whole(seed, 60).plan().classes {
            *drawn.entry(class).or_default() += 1;
        }
    }
    for class in Level::Agreement.classes() {
        let times = drawn.get(&class).copied().unwrap_or(0);
        // Only some of the liars that a seed drew can be there at once.
        let expected = if Class::LIARS.contains(&class) { 20..=120 } else { 350..=450 };
        assert!(expected.contains(&times), "{class}: in {times} of 600 worlds");
    }
}

#[test]
fn no_world_has_more_liars_than_it_bears() {
    let mut most = 0;
    for seed in 0..600 {
        let scenario = whole(seed, 60).plan().own;
        let liars = scenario.liars.len() + scenario.copies.len();
        assert!(liars <= (scenario.founders - 1) / 3, "seed {seed}: {liars} liars");
        most = most.max(liars);
    }
    assert_eq!(most, 2);
}

#[test]
fn a_world_without_a_class_is_otherwise_the_same() {
    for seed in 0..50 {
        let all = whole(seed, 60).plan();
        for class in &all.classes {
            let mut swarm = whole(seed, 60);
            swarm.course.without.insert(*class);
            let fewer = swarm.plan();

            assert!(!fewer.classes.contains(class), "seed {seed}, {class}");
            assert_eq!(all.classes.len(), fewer.classes.len() + 1, "seed {seed}, {class}");
            let left = |order: &(Duration, _)| all.orders.contains(order);
            let mut orders = fewer.orders.iter();
            // What becomes of unsynced bytes is drawn from the kinds that are left.
            let tails = matches!(class, Class::LostTail | Class::TornTail);
            assert!(tails || orders.all(left), "seed {seed}, {class}");
        }
    }
}

#[test]
fn faults_that_begin_late_and_stop_early_are_among_all_faults() {
    for seed in 0..50 {
        let all = whole(seed, 60).plan();
        let (from, until) = (Duration::from_secs(10), Duration::from_secs(20));
        let part = between(seed, 60, from, until).plan();

        let within = |at: &Duration| (from..until).contains(at);
        let expected: Vec<(Duration, PlannedFault)> =
            all.moments.iter().filter(|(at, _)| within(at)).copied().collect();
        assert_eq!(part.moments, expected, "seed {seed}");
        let orders = all.orders.iter().filter(|(at, _)| within(at));
        assert_eq!(part.orders.len(), orders.count(), "seed {seed}");
        assert_eq!((part.calm_from, part.end), (until, SPAN));
    }
}

/// A server that slept on for seconds after the faults was blamed for being behind, and whoever made
/// a world smaller could end with that in place of what was found.
#[test]
fn nothing_that_lasts_outlives_faults_that_stop_early() {
    let ends = |(at, order): &(Duration, ClusterOrder)| match order {
        ClusterOrder::Pause(_, span) | ClusterOrder::Clog(_, _, span) => Some((*at, *at + *span)),
        _ => None,
    };
    let mut cut_short = 0;
    for seed in 0..200 {
        let all = whole(seed, 60).plan();
        for (at, end) in all.orders.iter().filter_map(ends) {
            let until = at + Duration::from_millis(100);
            let part = between(seed, 60, Duration::ZERO, until).plan();
            let mut left = part.orders.iter().filter_map(ends);
            assert!(left.all(|(_, end)| end <= until), "seed {seed}, until {until:?}");
            cut_short += u64::from(end > until);
        }
    }
    assert!(cut_short > 200, "{cut_short}");
    // With four servers and a liar among them the others could not do without the one that slept.
    let until = Duration::from_millis(7_606);
    let played = between(141, 20, Duration::ZERO, until).play();
    assert!(played.is_sound(), "{:#?}", played.outcome.faults);
}

#[test]
fn one_seed_of_the_swarm_is_one_history() {
    for seed in 1..5 {
        let (first, again) = (whole(seed, 15).play(), whole(seed, 15).play());

        assert_eq!(first.outcome.digest, again.outcome.digest, "seed {seed}");
        assert_eq!(first.outcome.fired, again.outcome.fired, "seed {seed}");
        assert_ne!(first.outcome.digest, whole(seed + 100, 15).play().outcome.digest);
    }
}

#[test]
fn a_small_swarm_breaks_no_law() {
    for seed in 1_000..1_012 {
        let swarm = whole(seed, 20);
        let played = swarm.play();

        assert!(played.is_sound(), "seed {seed}\n{}\n{:#?}", swarm.plan(), played.outcome.faults);
        assert!(played.recovery.is_some(), "seed {seed}");
    }
}

/// A server that was promoted long after everybody had caught up was to have voted before.
#[test]
fn who_is_promoted_in_the_calm_owes_no_vote_for_what_came_before() {
    let played = whole(99_000_364, 60).play();
    assert!(played.recovery.is_some(), "it came to the calm");
    assert!(played.outcome.faults.is_empty(), "{:#?}", played.outcome.faults);
}
