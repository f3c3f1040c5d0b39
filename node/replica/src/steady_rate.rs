//! Rates: how much of something there may be in a second, by the clock.

use std::time::Duration;

/// Counts what happens against a steady rate, by the generic cell rate algorithm (ITU-T I.371). By the
/// clock and not by turns: these take long when there is most to do, and who catches up applies
/// hundreds of them in a second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rate {
    /// The moment at which all that happened lately would have happened at the steady rate.
    due: Duration,
}

impl Rate {
    /// Returns whether it may happen once more now, at so many a second and so far ahead of that rate. Counts
    /// it if so.
    pub(crate) fn take(&mut self, now: Duration, per_second: u32, ahead: Duration) -> bool {
        let due = self.after(now, per_second, 1);
        let may = due <= now.saturating_add(ahead);
        if may {
            self.due = due;
        }
        may
    }

    /// Counts that it happened so many times, whatever the rate. What is farther ahead of the rate than
    /// this is not counted, so that it shuts nothing else out.
    pub(crate) fn spend(&mut self, now: Duration, per_second: u32, ahead: Duration, times: u32) {
        let due = self.after(now, per_second, times).min(now.saturating_add(ahead));
        self.due = self.due.max(due);
    }

    /// Returns whether more has happened than the rate allows until now.
    pub(crate) fn is_ahead(&self, now: Duration) -> bool {
        self.due > now
    }

    fn after(&self, now: Duration, per_second: u32, times: u32) -> Duration {
        let took = (Duration::from_secs(1) / per_second).saturating_mul(times);
        self.due.max(now).saturating_add(took)
    }
}
