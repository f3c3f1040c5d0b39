//! The only place that reads clocks.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use metatopia_types::{Millis, Now};

/// Reads both clocks. The monotonic one counts from its own start.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    start: Instant,
}

impl Default for SystemClock {
    fn default() -> Self {
        Self { start: Instant::now() }
    }
}

impl SystemClock {
    /// Returns the time of both clocks now. A wall clock before 1970 counts as 1970.
    #[must_use]
    pub fn now(&self) -> Now {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let wall = Millis(u64::try_from(wall.as_millis()).unwrap_or(u64::MAX));
        Now { monotonic: self.start.elapsed(), wall }
    }

    /// Returns the instant of a deadline, for timers.
    #[must_use]
    pub fn instant(&self, monotonic: Duration) -> Instant {
        self.start + monotonic
    }
}
