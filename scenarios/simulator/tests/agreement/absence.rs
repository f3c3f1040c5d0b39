//! A proposer that dies.

use std::time::Duration;

use metatopia_consensus::Patience;
use metatopia_simulator::ClusterOrder;
use metatopia_simulator::agreement::percentile;
use metatopia_simulator::agreement::stories::{pace, story};

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

#[test]
fn a_dead_proposer_costs_one_round_and_is_then_passed_over() {
    for notices in [true, false] {
        let mut scenario = pace(20, 0, 4, Patience::default());
        scenario.conditions.notices = notices;
        scenario.orders = vec![(SECOND, ClusterOrder::Kill(2))];

        let outcome = scenario.play(250, MINUTE);

        outcome.assert_sound();
        let after = outcome.intervals(0, SECOND);
        let usual = percentile(&after, 50);
        let slow: Vec<_> = after.iter().filter(|i| **i > usual * 3 / 2).collect();
        let first = slow.first().copied().copied().unwrap_or_default();
        let sum: Duration = after.iter().sum();
        let mean = sum / u32::try_from(after.len()).unwrap();
        println!(
            "a proposer dies, noticed {notices}: first dead turn {first:?}, {} slow of {}, \
             usual {usual:?}, mean {mean:?}",
            slow.len(),
            after.len()
        );
        assert_eq!(usual, Duration::from_millis(40));
        assert!(first <= Duration::from_millis(300), "{first:?}");
        assert!(slow.len() <= 8, "{} slow turns: {slow:?}", slow.len());
    }
}

#[test]
fn a_dead_server_stops_nothing_under_loss() {
    story("a dead server").check(20);
}
