//! Bugs that drivers of this core had before, each as a world that would show it.

use std::time::Duration;

use metatopia_simulator::agreement::stories::{crowd_of, pace, story};
use metatopia_simulator::agreement::{Law, Scenario, Unlogged};
use metatopia_simulator::{ClusterOrder, CrashPoint, Point, Span, UnsyncedWrites};

const MINUTE: Duration = Duration::from_secs(60);

/// A log was read again, and a turn whose bytes were in it was judged before the log said so: the
/// first life had voted nil before the bytes came, the second voted for the turn.
#[test]
fn only_the_log_speaks_while_it_is_read_again() {
    story("storm").check(30);
    let spoken = story("speaking in replay").tell(0..200);
    assert!(spoken.first.is_some(), "the world would not see it");
}

/// Reading the log closed a height, and the proposal that was promised for the next one was
/// forgotten: another one was made, so two were signed.
#[test]
fn a_promised_proposal_is_kept_when_reading_the_log_closes_the_height() {
    let mut broken = 0;
    for unlogged in [None, Some(Unlogged::Promises)] {
        let mut calm = Scenario::new("a promise", 0.into());
        calm.conditions.sync = Span::exactly_ms(3);
        calm.unlogged = unlogged;
        let changes = calm.play(7, MINUTE).steps.iter().map(|s| s.changes).collect::<Vec<_>>();
        for (seat, changes) in changes.into_iter().enumerate() {
            for change in 1..=changes {
                let mut scenario = calm.clone();
                let (tail, down) = (UnsyncedWrites::Kept, Duration::ZERO);
                let point = Point::Change(change);
                scenario.crash_point = Some(CrashPoint { seat, point, tail, down });
                let outcome = scenario.play(7, MINUTE);
                match unlogged {
                    None => outcome.assert_sound(),
                    Some(_) => broken += u64::from(outcome.shows(Law::DoubleSign)),
                }
            }
        }
    }
    assert!(broken > 0, "a forgotten promise would not be seen");
}

/// A joiner did not keep the set changes it had checked, and could not prove anything to the next
/// one.
#[test]
fn a_joiner_serves_the_next_joiner() {
    let mut crowd = crowd_of("a chain of joiners", 1.into(), 8);
    for seat in 4..8 {
        crowd.add(seat);
        crowd.go_on(4);
        // Nobody else is left to ask: the next one must learn everything from this one.
        let (pack, _) = crowd.stage.world.server(seat).unwrap().serve_join().unwrap();
        assert!(!pack.links.is_empty());
    }
    crowd.finish().assert_sound();
}

/// A server that joined behind the tip voted nil at old heights, where its key may have voted
/// before it lost its disk.
#[test]
fn a_joiner_is_silent_where_its_key_may_have_voted() {
    for seed in 0..10 {
        let mut crowd = crowd_of("a silent joiner", seed.into(), 4);
        crowd.go_on(4);
        let world = &crowd.stage.world;
        let before = world.cluster.oracle.voted_since(2, Duration::ZERO).last().copied().unwrap();
        let lost_at = world.now();
        crowd.stage.lose_disk(2);

        let from = crowd.stage.join(2, false).unwrap();
        crowd.go_on(20);

        let after = crowd.stage.world.cluster.oracle.voted_since(2, lost_at);
        assert!(from < before.0, "seed {seed}: it starts at {from}, and had voted at {before}");
        assert!(after.first().is_some_and(|first| *first > before), "seed {seed}: {after:?}");
        crowd.finish().assert_sound();
    }
}

/// A world in which nobody may speak before the turn length is over loses the gain of early
/// proposals when the pace is kept by whoever decides last: turns must not come in bursts.
#[test]
fn paced_turns_do_not_come_in_bursts() {
    let mut scenario = pace(5, 1, 4, Default::default());
    scenario.turn_length = 50;
    scenario.conditions.links.delay = Span::ms(1, 12);
    scenario.orders = vec![
        (Duration::from_secs(1), ClusterOrder::Split(vec![0, 1])),
        (Duration::from_millis(1_700), ClusterOrder::Heal),
    ];

    let outcome = scenario.play(100, MINUTE);

    outcome.assert_sound();
    let intervals = outcome.intervals(0, Duration::from_secs(2));
    let shortest = intervals.iter().min().copied().unwrap_or_default();
    assert!(shortest >= Duration::from_millis(25), "a turn after {shortest:?}");
    assert!(!outcome.shows(Law::Time));
}
