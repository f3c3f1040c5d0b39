//! The agreed numbers about what people say.

use metatopia_types::Millis;
use serde::{Deserialize, Serialize};

use super::parameters::ParametersError;
use crate::{limits::HISTORY_DAYS_MAX, rules::DAY_MS};

/// Days that words are kept unless the place says otherwise.
const HISTORY_DAYS: u32 = 30;

/// The longest that people may have to wait between two lines: an hour.
const SLOW_SECONDS_MAX: u32 = 3_600;

/// Minutes of a day.
const DAY_MINUTES: u32 = 1_440;

/// When people are heard who are no moderators, and how long their words are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatParameters {
    /// Seconds of governance time from a line of somebody to the next one; 0 if they need not wait.
    pub slow_seconds: u32,
    /// The minute of the day, UTC, with which quiet hours begin.
    pub quiet_from: u32,
    /// The minute of the day with which they end; none are quiet if it is the one with which they begin.
    pub quiet_until: u32,
    /// Days after which servers drop the words that people said; 0 if they keep them.
    pub history_days: u32,
}

impl Default for ChatParameters {
    fn default() -> Self {
        Self { slow_seconds: 0, quiet_from: 0, quiet_until: 0, history_days: HISTORY_DAYS }
    }
}

impl ChatParameters {
    /// Checks that all of them are in their ranges.
    pub(super) fn check(&self) -> Result<(), ParametersError> {
        for (name, value, high) in [
            ("chat.slow_seconds", self.slow_seconds, SLOW_SECONDS_MAX),
            ("chat.quiet_from", self.quiet_from, DAY_MINUTES - 1),
            ("chat.quiet_until", self.quiet_until, DAY_MINUTES - 1),
            ("chat.history_days", self.history_days, HISTORY_DAYS_MAX),
        ] {
            let (value, low, high) = (u64::from(value), 0, u64::from(high));
            if value > high {
                return Err(ParametersError::Count { name, value, low, high });
            }
        }
        Ok(())
    }

    /// Returns the time before which words are dropped that were said; nothing if they are kept.
    #[must_use]
    pub fn kept_since(&self, now: Millis) -> Option<Millis> {
        let days = u64::from(self.history_days);
        let since = now.0.saturating_sub(days.saturating_mul(DAY_MS));
        (days > 0).then_some(Millis(since))
    }

    /// Returns for how many more minutes only moderators are heard at this time; nothing outside of quiet hours.
    #[must_use]
    pub fn quiet_for(&self, time: Millis) -> Option<u32> {
        let minute = u32::try_from(time.0 / 60_000 % u64::from(DAY_MINUTES)).ok()?;
        // Both are counted from the beginning of the quiet hours, which may lie before midnight.
        let since = |to: u32| (to + DAY_MINUTES - self.quiet_from) % DAY_MINUTES;
        let (length, passed) = (since(self.quiet_until), since(minute));
        length.checked_sub(passed).filter(|left| *left > 0)
    }

    /// Returns how many more seconds somebody waits who spoke at `spoke`, both in governance time; nothing if she
    /// need not wait.
    #[must_use]
    pub fn slow_for(&self, spoke: Option<u64>, now: u64) -> Option<u32> {
        let next = spoke?.saturating_add(u64::from(self.slow_seconds).saturating_mul(1_000));
        let left = next.saturating_sub(now).div_ceil(1_000);
        u32::try_from(left).ok().filter(|left| *left > 0)
    }
}
