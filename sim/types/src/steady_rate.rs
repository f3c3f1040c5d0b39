//! Steady rates: how much of something there may be in a second, by the clock.

use core::{
    ops::{Add, Sub},
    time::Duration,
};

/// A count of events against a steady rate (the generic cell rate algorithm of ITU-T I.371).
/// Everything is counted by the time that it takes at that rate. Each caller says how far it may be
/// ahead. `T` is the time of the caller's clock: an instant, or the time since a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SteadyRate<T> {
    /// The time when everything that came would have come at the steady rate.
    due: Option<T>,
}

impl<T> Default for SteadyRate<T> {
    fn default() -> Self {
        Self { due: None }
    }
}

impl<T: Copy + Ord + Add<Duration, Output = T> + Sub<Duration, Output = T>> SteadyRate<T> {
    /// Returns when one more event is due at the steady rate; that is now, after a quiet time.
    pub fn due(self, now: T) -> T {
        self.due.map_or(now, |due| due.max(now))
    }

    /// Returns when everything that came would have come at the steady rate, if anything came.
    #[must_use]
    pub fn whole(self) -> Option<T> {
        self.due
    }

    /// Counts an event that takes this long at the steady rate. Returns when everything that came
    /// would have come.
    pub fn count(&mut self, takes: Duration, now: T) -> T {
        let due = self.due(now) + takes;
        self.due = Some(due);
        due
    }

    /// Counts an event if it comes no farther ahead of the rate than this. Returns whether it does.
    pub fn take(&mut self, takes: Duration, ahead: Duration, now: T) -> bool {
        let may = self.due(now) + takes <= now + ahead;
        if may {
            self.count(takes, now);
        }
        may
    }

    /// Counts an event that nothing holds back. What is farther ahead of the rate than this is not
    /// counted, so that it shuts nothing else out.
    pub fn spend(&mut self, takes: Duration, ahead: Duration, now: T) {
        let due = self.due(now);
        self.due = Some((due + takes).min(now + ahead).max(due));
    }

    /// Returns until when to pause, if at all, for a sender that may be this far ahead.
    pub fn pause(self, ahead: Duration, now: T) -> Option<T> {
        self.due.filter(|due| *due > now + ahead).map(|due| due - ahead)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn who_is_ahead_of_a_steady_rate_pauses_until_it_is_not_and_quiet_time_is_not_saved_up() {
        let start = 7 * SECOND;
        let mut rate = SteadyRate::default();
        assert_eq!((rate.due(start), rate.whole(), rate.pause(SECOND, start)), (start, None, None));

        assert_eq!(rate.count(SECOND, start), start + SECOND);
        assert_eq!(rate.pause(SECOND, start), None);
        assert_eq!(rate.count(SECOND, start), start + 2 * SECOND);
        assert_eq!(rate.pause(SECOND, start), Some(start + SECOND));

        let later = start + 9 * SECOND;
        assert_eq!((rate.due(later), rate.pause(SECOND, later)), (later, None));
        assert_eq!(rate.count(SECOND, later), later + SECOND);
    }

    #[test]
    fn what_is_refused_is_not_counted_and_what_is_spent_counts_as_far_as_it_may_be_ahead() {
        let start = 7 * SECOND;
        let mut rate = SteadyRate::default();
        assert!(rate.take(SECOND, 2 * SECOND, start) && rate.take(SECOND, 2 * SECOND, start));
        assert!(!rate.take(SECOND, 2 * SECOND, start));
        assert_eq!(rate.whole(), Some(start + 2 * SECOND));

        rate.spend(9 * SECOND, SECOND, start);
        assert_eq!(rate.whole(), Some(start + 2 * SECOND), "it is farther ahead already");
        rate.spend(9 * SECOND, 3 * SECOND, start);
        assert_eq!(rate.whole(), Some(start + 3 * SECOND));
    }
}
