//! How fast one client's frames are taken.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// A frame counts once for each of these that it begins, so that long ones are not cheap.
const UNIT_BYTES: usize = 4 * 1024;

/// Takes frames at a steady rate, and those of one second at once after a quiet one (the generic
/// cell rate algorithm of ITU-T I.371). Who is faster is not read meanwhile: it waits, and nobody
/// else does.
#[derive(Debug)]
pub(super) struct Pace {
    /// What one unit takes at the steady rate.
    gap: Duration,
    /// When all that was taken would be done at the steady rate.
    due: Instant,
}

/// So far may a client be ahead of the steady rate.
const AHEAD: Duration = Duration::from_secs(1);

impl Pace {
    /// So many units a second, at least one.
    pub(super) fn new(per_second: u32) -> Self {
        Self { gap: Duration::from_secs(1) / per_second.max(1), due: Instant::now() }
    }

    /// A frame came: waits until the next one may.
    pub(super) async fn take(&mut self, bytes: usize) {
        let wait = self.count(bytes, Instant::now());
        if let Some(until) = wait {
            sleep_until(until).await;
        }
    }

    /// Until when to wait, if at all.
    fn count(&mut self, bytes: usize, now: Instant) -> Option<Instant> {
        let units = u32::try_from(bytes.div_ceil(UNIT_BYTES).max(1)).unwrap_or(u32::MAX);
        self.due = self.due.max(now) + self.gap.saturating_mul(units);
        self.due.checked_sub(AHEAD).filter(|until| *until > now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken_within(pace: &mut Pace, start: Instant, time: Duration, bytes: usize) -> u32 {
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
        let mut pace = Pace { gap: Duration::from_millis(10), due: start };
        assert_eq!(taken_within(&mut pace, start, Duration::from_millis(1), 1), 101);
        let later = start + Duration::from_millis(1);
        let taken = taken_within(&mut pace, later, Duration::from_secs(1), 1);
        assert!((99..=101).contains(&taken), "{taken}");
    }

    #[test]
    fn long_frames_count_by_their_bytes() {
        let start = Instant::now();
        let mut pace = Pace { gap: Duration::from_millis(10), due: start };
        let taken = taken_within(&mut pace, start, Duration::from_millis(1), 10 * UNIT_BYTES);
        assert_eq!(taken, 11);
    }
}
