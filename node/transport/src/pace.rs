//! Rates: of the frames of one client or peer, the bytes and logins of one source, and the control
//! frames of one page.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use tokio::time::{Instant, sleep_until};

/// A count of events against a steady rate (the generic cell rate algorithm of ITU-T I.371).
/// Everything is counted by the time that it takes at that rate. Each caller says how far it may be
/// ahead.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SteadyRate {
    /// The time when everything that came would have come at the steady rate.
    due: Option<Instant>,
}

impl SteadyRate {
    /// Returns when one more event is due at the steady rate; that is now, after a quiet time.
    pub(crate) fn due(self, now: Instant) -> Instant {
        self.due.map_or(now, |due| due.max(now))
    }

    /// Returns when everything that came would have come at the steady rate, if anything came.
    pub(crate) fn whole(self) -> Option<Instant> {
        self.due
    }

    /// Counts an event that takes this long at the steady rate. Returns when everything that came
    /// would have come.
    pub(crate) fn count(&mut self, takes: Duration, now: Instant) -> Instant {
        let due = self.due(now) + takes;
        self.due = Some(due);
        due
    }

    /// Returns until when to pause, if at all, for a sender that may be this far ahead.
    pub(crate) fn pause(self, ahead: Duration, now: Instant) -> Option<Instant> {
        self.due?.checked_sub(ahead).filter(|until| *until > now)
    }
}

/// The bytes of one unit. A frame counts once for each unit that it begins, so that long frames are
/// not cheap.
pub(crate) const UNIT_BYTES: u32 = 4 * 1024;

/// The frames that one frame counts for if it was beyond what its sender may do. Refusing such a
/// frame costs nearly as much as accepting it, so the sender must not be able to send as many.
const EXCESS_FRAMES: u32 = 8;

/// The longest time that a sender is left unread for such frames.
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Reads frames at a steady rate, and those of one second at once after a quiet one. A sender that
/// is faster is not read for a while: it waits, and nobody else does.
#[derive(Debug)]
pub(crate) struct FrameLimiter {
    /// The time that one unit takes at the steady rate.
    gap: Duration,
    rate: SteadyRate,
    /// The frames beyond what the client may send, counted by the code that refuses them.
    excess: Arc<AtomicU32>,
}

/// The time by which a client may be ahead of the steady rate.
const AHEAD: Duration = Duration::from_secs(1);

impl FrameLimiter {
    /// Returns a limiter to this many units a second, at least one.
    pub(crate) fn new(per_second: u32) -> Self {
        let gap = Duration::from_secs(1) / per_second.max(1);
        Self { gap, rate: SteadyRate::default(), excess: Arc::default() }
    }

    /// Returns the counter of frames beyond what the client may send.
    pub(crate) fn excess(&self) -> Arc<AtomicU32> {
        Arc::clone(&self.excess)
    }

    /// Waits, after a frame came, until the next one may be read.
    pub(crate) async fn take(&mut self, bytes: usize) {
        let wait = self.count(bytes, Instant::now());
        if let Some(until) = wait {
            sleep_until(until).await;
        }
    }

    /// Counts a frame, and returns until when to wait, if at all.
    fn count(&mut self, bytes: usize, now: Instant) -> Option<Instant> {
        let units = u32::try_from(bytes.div_ceil(UNIT_BYTES as usize).max(1)).unwrap_or(u32::MAX);
        let due = self.rate.count(self.gap.saturating_mul(units), now);
        let excess = self.excess.swap(0, Ordering::Relaxed).saturating_mul(EXCESS_FRAMES);
        let longest = (now + AHEAD + PAUSE_MAX).saturating_duration_since(due);
        self.rate.count(self.gap.saturating_mul(excess).min(longest), now);
        self.rate.pause(AHEAD, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace() -> FrameLimiter {
        FrameLimiter::new(100)
    }

    fn taken_within(pace: &mut FrameLimiter, start: Instant, time: Duration, bytes: usize) -> u32 {
        let (mut now, mut taken) = (start, 0);
        while now < start + time {
            taken += 1;
            now = pace.count(bytes, now).unwrap_or(now);
        }
        taken
    }

    #[test]
    fn who_is_ahead_of_a_steady_rate_pauses_until_it_is_not_and_quiet_time_is_not_saved_up() {
        let (start, second) = (Instant::now(), Duration::from_secs(1));
        let mut rate = SteadyRate::default();
        assert_eq!((rate.due(start), rate.whole(), rate.pause(second, start)), (start, None, None));

        assert_eq!(rate.count(second, start), start + second);
        assert_eq!(rate.pause(second, start), None);
        assert_eq!(rate.count(second, start), start + 2 * second);
        assert_eq!(rate.pause(second, start), Some(start + second));

        let later = start + 9 * second;
        assert_eq!((rate.due(later), rate.pause(second, later)), (later, None));
        assert_eq!(rate.count(second, later), later + second);
    }

    #[test]
    fn a_second_of_frames_is_taken_at_once_and_then_the_steady_rate() {
        let start = Instant::now();
        let mut pace = pace();
        assert_eq!(taken_within(&mut pace, start, Duration::from_millis(1), 1), 101);
        let later = start + Duration::from_millis(1);
        let taken = taken_within(&mut pace, later, Duration::from_secs(1), 1);
        assert!((99..=101).contains(&taken), "{taken}");
    }

    #[test]
    fn frames_beyond_what_one_may_have_count_several_times() {
        let start = Instant::now();
        let mut pace = pace();
        taken_within(&mut pace, start, Duration::from_millis(1), 1);
        let (mut now, mut taken) = (start, 0);
        while now < start + Duration::from_secs(9) {
            taken += 1;
            pace.excess.fetch_add(1, Ordering::Relaxed);
            now = pace.count(1, now).unwrap_or(now);
        }
        assert!((99..=101).contains(&taken), "{taken}: one in nine of 900");

        pace.excess.fetch_add(u32::MAX, Ordering::Relaxed);
        let until = pace.count(1, now).unwrap();
        assert_eq!(until, now + PAUSE_MAX, "and then it is read again");
    }

    #[test]
    fn long_frames_count_by_their_bytes() {
        let start = Instant::now();
        let mut pace = pace();
        let taken =
            taken_within(&mut pace, start, Duration::from_millis(1), 10 * UNIT_BYTES as usize);
        assert_eq!(taken, 11);
    }
}
