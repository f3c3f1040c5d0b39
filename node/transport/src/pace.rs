//! Rates: of the frames of one client or peer, the bytes and logins of one source, and the control
//! frames of one page.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use metatopia_types::SteadyRate;
use tokio::time::{Instant, sleep_until};

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
    rate: SteadyRate<Instant>,
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
        self.rate.count(self.gap.saturating_mul(units), now);
        let excess = self.excess.swap(0, Ordering::Relaxed).saturating_mul(EXCESS_FRAMES);
        self.rate.spend(self.gap.saturating_mul(excess), AHEAD + PAUSE_MAX, now);
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
