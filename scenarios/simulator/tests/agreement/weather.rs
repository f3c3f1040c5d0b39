//! Networks that lose, double, reorder and cut.

use std::time::Duration;

use metatopia_simulator::Class;
use metatopia_simulator::agreement::percentile;
use metatopia_simulator::agreement::stories::story;

#[test]
fn a_calm_world_agrees() {
    let tally = story("calm").check(20);

    assert_eq!(tally.later_rounds, 0, "nobody is late in a calm world");
    assert_eq!(tally.acts, 20 * 60, "every act of a player is decided, once");
}

#[test]
fn loss_doubles_and_reordering_do_no_harm() {
    story("lossy").check(40);
}

#[test]
fn turns_whose_parts_are_lost_come_together_from_what_is_asked_for_again() {
    let story = story("long turns");
    for seed in 0..10 {
        let outcome = (story.play)(seed.into());

        outcome.assert_sound();
        assert!(outcome.fired.times(Class::LostPart) > 0, "seed {seed}: {:?}", outcome.fired);
    }
}

#[test]
fn any_weather_with_crashes_ends_well() {
    let tally = story("weather").check(60);

    assert!(tally.crashes >= 100, "{} crashes", tally.crashes);
}

#[test]
fn partitions_in_any_direction_never_fork_a_world() {
    let tally = story("partitions").check(40);

    let (half, most) = (percentile(&tally.recoveries, 50), percentile(&tally.recoveries, 99));
    println!("from the end of a partition to the next decision: p50 {half:?}, p99 {most:?}");
    assert!(most <= Duration::from_secs(2), "{most:?}");
}

#[test]
fn everything_at_once_ends_well() {
    let tally = story("everything").check(150);

    assert!(tally.crashes >= 1_000, "{} crashes", tally.crashes);
}

#[test]
fn a_slow_application_slows_turns_and_breaks_nothing() {
    story("slow application").check(20);
}

#[test]
fn one_seed_is_one_history() {
    for name in ["weather", "storm", "two turns", "one witness"] {
        for seed in 0..3 {
            let (first, again) = ((story(name).play)(seed.into()), (story(name).play)(seed.into()));

            assert_eq!(first.digest, again.digest, "{name}, seed {seed}");
            assert_eq!(first.events, again.events, "{name}, seed {seed}");
            let other = (story(name).play)((seed + 1_000).into());
            assert_ne!(first.digest, other.digest, "{name}, seed {seed}");
        }
    }
}
