//! One server of four wears the others out, and people come and go all the while.

use std::time::Duration;

use metatopia_simulator::replica::{Besieged, Siege};

/// The liar is one, and two turns are under way when an act comes.
const LATER: u64 = 3;

/// Plays a siege, and the same world without it. Nobody honest is refused, or waits for long.
fn besieged(siege: Siege, seconds: u64) -> Besieged {
    let (seed, time) = (1, Duration::from_secs(seconds));
    let (beside, alone) = (siege.play(seed, time, true), siege.play(seed, time, false));
    println!("{siege:?} {beside:?}\nalone {alone:?}");
    for world in [&beside, &alone] {
        assert_eq!((world.refused, &world.faults), (0, &Vec::new()), "{world:?}");
        assert!(world.turns >= 20 * seconds && world.visits >= 3 * seconds, "{world:?}");
    }
    assert!(beside.later_than(&alone) <= LATER, "{beside:?}");
    beside
}

#[test]
fn a_proposer_that_opens_all_lanes_it_may_keeps_no_stranger_out() {
    let beside = besieged(Siege::Lanes, 14);

    // A quarter of all that strangers may have; it began with a quarter of those that were open.
    assert!((1_600..2_500).contains(&beside.own_acts), "{beside:?}");
}

#[test]
fn a_server_that_redeems_invites_without_end_keeps_no_node_out() {
    let beside = besieged(Siege::Invites, 8);

    // Each of three servers remembers 256, some of which let honest nodes in.
    assert!((700..=768).contains(&beside.spent), "{beside:?}");
}

#[test]
fn a_server_that_fills_its_turns_and_asks_for_turns_without_end_delays_nobody() {
    let beside = besieged(Siege::Turns, 3);

    assert!(beside.own_acts > 8_000 && beside.spent > 8_000, "{beside:?}");
}
