//! When a turn may leave, and which time it states.
//!
//! All servers aim at the same slots, the multiples of the turn length on the wall clock, so that
//! the pace neither drifts with the network's delay nor depends on one server. A turn takes the
//! slot after the one before it, and leaves when the proposer's clock gets there:
//!
//! * but not sooner than half a turn after the turn before it was seen, so that a hiccup is not
//!   followed by a burst;
//! * and not later than a whole turn after it, so that a clock that is behind, or that of a proposer
//!   that ran ahead, costs nobody more than a network delay per turn.
//!
//! If the clock is past the slot already, the turn states the slot that the clock is in: time that
//! passed without turns is not made up for. A clock up to [`AHEAD_MAX`] ahead of the others sets the
//! pace for all of them; one further ahead only has its own turns refused.

use std::time::Duration;

use metatopia_types::{Millis, Now};

use crate::Void;

/// How far ahead of our own clock the time of a fresh proposal may be, in milliseconds.
pub(crate) const AHEAD_MAX: u64 = 500;

/// Returns the slot after a turn of this time: the first one that is a whole turn later. So a turn
/// that took only the smallest step is not followed by one in the same slot.
fn slot(previous: Millis, length: u64) -> Millis {
    floor(previous.plus(length).plus(length - 1), length)
}

fn floor(time: Millis, length: u64) -> Millis {
    Millis(time.0 - time.0 % length)
}

/// Returns, in monotonic time, when the turn may leave that follows one that states `previous` and
/// was seen at `seen`.
pub(crate) fn due(now: Now, previous: Millis, seen: Duration, length: u64) -> Duration {
    let whole = Duration::from_millis(length);
    let at_slot = now.monotonic + Duration::from_millis(slot(previous, length).since(now.wall));
    at_slot.max(seen + whole / 2).min(seen + whole)
}

/// Returns the time that a turn states if it leaves now.
pub(crate) fn stamp(wall: Millis, previous: Millis, length: u64) -> Millis {
    let next = slot(previous, length);
    if next <= wall.plus(AHEAD_MAX.saturating_sub(length)) {
        next.max(floor(wall, length))
    } else {
        // Our clock is far behind the turns, or they are ahead of everybody. The smallest step is
        // always allowed, and lets honest clocks catch up.
        previous.plus(1)
    }
}

/// Checks that a turn may state this time. With `wall`, the time must not be far ahead of that clock either.
///
/// There is little to choose: a slot, or one millisecond after the turn before.
pub(crate) fn check(
    time: Millis,
    previous: Millis,
    length: u64,
    wall: Option<Millis>,
) -> Result<(), Void> {
    let smallest = previous.plus(1);
    if time < smallest || (time != smallest && time != floor(time, length)) {
        return Err(Void::Time(time));
    }
    match wall {
        Some(ours) if time > smallest.max(ours.plus(AHEAD_MAX)) => {
            Err(Void::Early { stated: time, ours })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTH: u64 = 50;

    fn at(monotonic: u64, wall: u64) -> Now {
        Now { monotonic: Duration::from_millis(monotonic), wall: Millis(wall) }
    }

    fn due_ms(now: Now, previous: u64, seen: u64) -> u128 {
        due(now, Millis(previous), Duration::from_millis(seen), LENGTH).as_millis()
    }

    #[test]
    fn a_turn_leaves_when_the_clock_reaches_the_next_slot() {
        assert_eq!(due_ms(at(10_004, 1_004), 1_000, 10_002), 10_050);
        assert_eq!(stamp(Millis(1_050), Millis(1_000), LENGTH), Millis(1_050));
    }

    #[test]
    fn a_clock_behind_waits_one_turn_and_takes_the_next_slot_all_the_same() {
        assert_eq!(due_ms(at(10_004, 804), 1_000, 10_002), 10_052);
        assert_eq!(stamp(Millis(852), Millis(1_000), LENGTH), Millis(1_050));
    }

    #[test]
    fn after_a_hiccup_turns_are_half_a_turn_apart_at_least() {
        assert_eq!(due_ms(at(10_095, 1_095), 1_050, 10_094), 10_119);
    }

    #[test]
    fn time_without_turns_is_not_made_up_for() {
        assert_eq!(stamp(Millis(9_999), Millis(1_000), LENGTH), Millis(9_950));
    }

    #[test]
    fn turns_far_ahead_of_the_clock_go_on_in_the_smallest_steps() {
        assert_eq!(stamp(Millis(1_000), Millis(1_400), LENGTH), Millis(1_450));
        assert_eq!(stamp(Millis(1_000), Millis(1_450), LENGTH), Millis(1_451));
    }

    #[test]
    fn the_slot_after_a_smallest_step_is_the_one_after_the_step_s_own() {
        assert_eq!(slot(Millis(1_450), LENGTH), Millis(1_500));
        assert_eq!(slot(Millis(1_451), LENGTH), Millis(1_550));
    }

    #[test]
    fn a_turn_is_after_the_one_before_it_and_in_a_slot() {
        let check = |time, wall| check(Millis(time), Millis(1_000), LENGTH, wall);

        assert_eq!(check(1_000, None), Err(Void::Time(Millis(1_000))));
        assert_eq!(check(1_001, None), Ok(()));
        assert_eq!(check(1_002, None), Err(Void::Time(Millis(1_002))));
        assert_eq!(check(1_050, None), Ok(()));
    }

    #[test]
    fn a_fresh_turn_is_at_most_half_a_second_ahead_of_the_clock() {
        let ours = Millis(700);
        let check = |time| check(Millis(time), Millis(1_000), LENGTH, Some(ours));

        assert_eq!(check(1_200), Ok(()));
        let stated = Millis(1_250);
        assert_eq!(check(1_250), Err(Void::Early { stated, ours }));
        assert_eq!(check(1_001), Ok(()));
    }

    #[test]
    fn every_stamp_passes_the_check_of_the_same_clock() {
        for previous in (0..3_000).step_by(7) {
            for wall in (0..3_000).step_by(11) {
                let (previous, wall) = (Millis(previous), Millis(wall));
                let time = stamp(wall, previous, LENGTH);
                let checked = check(time, previous, LENGTH, Some(wall));
                assert_eq!(checked, Ok(()), "{previous:?} {wall:?} {time:?}");
            }
        }
    }
}
