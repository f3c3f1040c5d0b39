//! Wall clocks that are wrong.

use std::time::Duration;

use metatopia_simulator::agreement::percentile;
use metatopia_simulator::agreement::stories::story;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn clocks_that_differ_by_less_than_the_tolerance_cost_nothing() {
    story("odd clocks").check(40);
}

#[test]
fn a_clock_that_is_set_back_an_hour_delays_only_its_own_servers_votes() {
    story("an hour back").check(30);
    for seed in 0..5 {
        let outcome = (story("an hour back").play)(seed.into());
        let while_back = outcome.intervals(0, SECOND);
        assert!(percentile(&while_back, 50) <= Duration::from_millis(60), "seed {seed}");
    }
}

#[test]
fn a_clock_that_is_set_ahead_an_hour_does_not_move_the_worlds_time() {
    let tally = story("an hour ahead").check(30);

    // Its own proposals are void while it is wrong: at most every fourth turn needs a round more.
    assert!(tally.later_rounds * 3 <= tally.turns, "{} of {}", tally.later_rounds, tally.turns);
}
