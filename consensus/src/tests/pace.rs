//! How fast turns come.

use metatopia_types::Height;

use super::cluster::Cluster;

/// Mean time between turns, in microseconds, over 100 turns.
fn interval_us(cluster: &mut Cluster) -> u64 {
    cluster.start_all();
    cluster.run_to(120, 60_000);
    (cluster.left[&Height(120)] - cluster.left[&Height(20)]) / 100
}

#[test]
fn nearby_servers_keep_the_turn_length_exactly() {
    let mut cluster = Cluster::new(4, 1);
    cluster.delay_us = (300, 400);
    cluster.sync_us = 2_000;

    let interval = interval_us(&mut cluster);

    assert!((49_900..=50_100).contains(&interval), "{interval}");
}

#[test]
fn twenty_ms_of_travel_still_make_twenty_turns_a_second() {
    let mut cluster = Cluster::new(4, 1);
    cluster.delay_us = (20_000, 0);
    cluster.sync_us = 1_000;

    let interval = interval_us(&mut cluster);

    assert!((49_900..=50_100).contains(&interval), "{interval}");
}

/// The longest time from when a turn leaves until each server may tell of it, in microseconds.
fn decision_us(cluster: &Cluster) -> u64 {
    let heights = (20..=120).map(Height);
    let times = heights.flat_map(|height| {
        let servers = cluster.servers.iter();
        servers.map(move |server| server.told_us[&height] - cluster.left[&height])
    });
    times.max().unwrap()
}

/// An act enters at any server at any time: it travels to the proposer, waits for half a turn in the
/// middle, and for the decision.
#[test]
fn half_of_all_acts_are_decided_within_110_ms_at_20_ms_of_travel() {
    for (delay_us, sync_us, most) in [(500, 2_000, 36_000), (20_000, 1_000, 110_000)] {
        let mut cluster = Cluster::new(4, 1);
        cluster.delay_us = (delay_us, 0);
        cluster.sync_us = sync_us;

        let interval = interval_us(&mut cluster);

        let middle = delay_us + interval / 2 + decision_us(&cluster);
        assert!(middle <= most, "{middle} at {delay_us}");
    }
}

/// With 40 ms of travel a turn takes 120 ms to be decided, but the next one leaves 80 ms after it.
#[test]
fn proposals_leave_before_the_height_before_is_decided() {
    let mut cluster = Cluster::new(4, 1);
    cluster.delay_us = (40_000, 0);

    let interval = interval_us(&mut cluster);

    assert!((79_000..=81_000).contains(&interval), "{interval}");
    let after = cluster.servers.iter().flat_map(|server| &server.machine.bodies);
    assert!(after.filter(|(_, undecided)| *undecided).count() > 100);
}

#[test]
fn one_clock_that_is_off_does_not_slow_the_others_down() {
    for skew in [-3_000, -200, 150, 400] {
        let mut cluster = Cluster::new(4, 1);
        cluster.delay_us = (300, 400);
        cluster.sync_us = 1_000;
        cluster.servers[2].skew = skew;

        let interval = interval_us(&mut cluster);

        assert!((49_900..=52_000).contains(&interval), "skew {skew}: {interval}");
    }
}
