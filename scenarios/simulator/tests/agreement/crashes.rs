//! Processes that die, and disks that forget.

use metatopia_simulator::agreement::stories::{crash_settings, story};

/// The server that dies.
const SEAT: usize = 1;

#[test]
fn a_crash_at_any_point_of_a_server_does_no_harm() {
    let mut points = 0;
    for setting in crash_settings() {
        let all = setting.points(SEAT);
        for point in &all {
            let outcome = setting.play(*point);
            assert!(outcome.faults.is_empty(), "{}", outcome.report());
            // The crash changes the history, so the last points may not come any more.
            assert!(outcome.crashes <= 1);
            points += outcome.crashes;
        }
        println!("{}: {} points", setting.scenario.name, all.len());
    }
    println!("crash points: {points} crashes");
    assert!(points >= 2_000, "{points} crashes");
}

#[test]
fn storms_and_power_losses_lose_nothing() {
    let tally = story("storm").check(60);

    assert!(tally.crashes >= 60 * 20, "{} crashes", tally.crashes);
}

#[test]
fn storms_over_servers_that_write_their_state_down_lose_nothing() {
    story("storm with snapshots").check(30);
}

#[test]
fn the_power_may_fail_everywhere_again_and_again() {
    let tally = story("power").check(40);

    assert!(tally.crashes >= 40 * 20, "{} crashes", tally.crashes);
}

#[test]
fn a_vote_that_only_one_server_heard_is_not_contradicted_after_a_crash() {
    let tally = story("crashes after votes").check(40);

    assert!(tally.crashes >= 200, "{} crashes", tally.crashes);
}

#[test]
fn a_failed_sync_stops_a_server_before_it_says_what_it_could_not_write() {
    story("failing syncs").check(30);
}
