//! How fast turns follow each other.

use std::time::Duration;

use metatopia_consensus::Patience;
use metatopia_simulator::agreement::stories::pace;
use metatopia_simulator::agreement::{ScenarioOutcome, percentile};

const MINUTE: Duration = Duration::from_secs(60);

fn middle(outcome: &ScenarioOutcome) -> (Duration, Duration) {
    outcome.assert_sound();
    let intervals = outcome.intervals(0, Duration::from_millis(500));
    assert!(intervals.len() > 20, "{} intervals", intervals.len());
    (percentile(&intervals, 50), percentile(&intervals, 99))
}

#[test]
fn turns_take_two_hops_of_the_network_with_early_proposals() {
    for servers in [4, 7] {
        let (half, most) = middle(&pace(20, 0, servers, Patience::default()).play(60, MINUTE));

        println!("20 ms one way, {servers} servers: p50 {half:?}, p99 {most:?}");
        assert_eq!(half, Duration::from_millis(40));
        assert!(most <= Duration::from_millis(41), "p99 {most:?}");
    }
}

#[test]
fn turns_take_three_hops_without_early_proposals() {
    let mut scenario = pace(20, 0, 4, Patience::default());
    scenario.controls.no_promises = true;

    let (half, most) = middle(&scenario.play(60, MINUTE));

    println!("20 ms one way, no early proposals: p50 {half:?}, p99 {most:?}");
    assert_eq!(half, Duration::from_millis(60));
    assert!(most <= Duration::from_millis(61), "p99 {most:?}");
}

#[test]
fn each_sync_of_the_disk_adds_its_time_twice() {
    let (half, most) = middle(&pace(20, 3, 4, Patience::default()).play(60, MINUTE));

    println!("20 ms one way, 3 ms syncs: p50 {half:?}, p99 {most:?}");
    assert!((43..=47).contains(&half.as_millis()), "p50 {half:?}");
}

#[test]
fn turns_are_paced_by_the_turn_length() {
    let mut scenario = pace(5, 0, 4, Patience::default());
    scenario.turn_length = 50;

    let (half, most) = middle(&scenario.play(60, MINUTE));

    println!("5 ms one way, paced at 50 ms: p50 {half:?}, p99 {most:?}");
    assert!((49..=51).contains(&half.as_millis()), "p50 {half:?}");
}
