//! Quorums of prevotes that only some servers saw.

use metatopia_simulator::agreement::stories::story;

#[test]
fn a_lock_of_one_server_does_not_hold_the_others_back() {
    let tally = story("one witness").check(60);

    assert!(tally.later_rounds >= 100, "{} turns needed a second round", tally.later_rounds);
}

#[test]
fn a_turn_that_two_servers_are_locked_on_is_proposed_again() {
    let tally = story("two witnesses").check(60);

    assert!(tally.proposed_again >= 60, "{} turns were proposed again", tally.proposed_again);
}
