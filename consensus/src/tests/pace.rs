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

#[test]
fn one_clock_that_is_off_does_not_slow_the_others_down() {
    for skew in [-3_000, -200, 150, 400] {
        let mut cluster = Cluster::new(4, 1);
        cluster.delay_us = (300, 400);
        cluster.sync_us = 1_000;
        cluster.servers[2].skew = skew;

        let interval = interval_us(&mut cluster);

        assert!(
            (49_900..=52_000).contains(&interval),
            "skew {skew}: {interval}"
        );
    }
}
