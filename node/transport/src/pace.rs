//! How fast the frames of one client, or of one peer, are taken.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use tokio::time::{Instant, sleep_until};

/// A frame counts once for each of these that it begins, so that long ones are not cheap.
pub(crate) const UNIT_BYTES: u32 = 4 * 1024;

/// So many frames does one count for that was beyond what its sender may have done for it: refusing
/// it costs nearly as much as doing it, and must not be to be had as often.
const EXCESS_FRAMES: u32 = 8;

/// For such frames nobody is left unread for longer than this.
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Takes frames at a steady rate, and those of one second at once after a quiet one (the generic
/// cell rate algorithm of ITU-T I.371). Who is faster is not read meanwhile: it waits, and nobody
/// else does.
#[derive(Debug)]
pub(crate) struct FrameLimiter {
    /// What one unit takes at the steady rate.
    gap: Duration,
    /// When all that was taken would be done at the steady rate.
    due: Instant,
    /// Frames beyond what the client may have, counted by those who refuse them.
    excess: Arc<AtomicU32>,
}

/// So far may a client be ahead of the steady rate.
const AHEAD: Duration = Duration::from_secs(1);

impl FrameLimiter {
    /// Returns a pace of so many units a second, at least one.
    pub(crate) fn new(per_second: u32) -> Self {
        let gap = Duration::from_secs(1) / per_second.max(1);
        Self { gap, due: Instant::now(), excess: Arc::default() }
    }

    /// Counts frames beyond what the client may have in this counter.
    pub(crate) fn excess(&self) -> Arc<AtomicU32> {
        Arc::clone(&self.excess)
    }

    /// Waits, after a frame came, until the next one may.
    pub(crate) async fn take(&mut self, bytes: usize) {
        let wait = self.count(bytes, Instant::now());
        if let Some(until) = wait {
            sleep_until(until).await;
        }
    }

    /// Returns until when to wait, if at all.
    fn count(&mut self, bytes: usize, now: Instant) -> Option<Instant> {
        let units = u32::try_from(bytes.div_ceil(UNIT_BYTES as usize).max(1)).unwrap_or(u32::MAX);
        self.due = self.due.max(now) + self.gap.saturating_mul(units);
        let excess = self.excess.swap(0, Ordering::Relaxed).saturating_mul(EXCESS_FRAMES);
        let slowed = self.due + self.gap.saturating_mul(excess);
        self.due = self.due.max(slowed.min(now + AHEAD + PAUSE_MAX));
        self.due.checked_sub(AHEAD).filter(|until| *until > now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(start: Instant) -> FrameLimiter {
        FrameLimiter { gap: Duration::from_millis(10), due: start, excess: Arc::default() }
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
    fn a_second_of_frames_is_taken_at_once_and_then_the_steady_rate() {
        let start = Instant::now();
        let mut pace = pace(start);
        assert_eq!(taken_within(&mut pace, start, Duration::from_millis(1), 1), 101);
        let later = start + Duration::from_millis(1);
        let taken = taken_within(&mut pace, later, Duration::from_secs(1), 1);
        assert!((99..=101).contains(&taken), "{taken}");
    }

    #[test]
    fn frames_beyond_what_one_may_have_count_several_times() {
        let start = Instant::now();
        let mut pace = pace(start);
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
        let mut pace = pace(start);
        let taken =
            taken_within(&mut pace, start, Duration::from_millis(1), 10 * UNIT_BYTES as usize);
        assert_eq!(taken, 11);
    }
}
