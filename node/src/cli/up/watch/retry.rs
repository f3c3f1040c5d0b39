//! When `up --watch` tries again what it could not bring into the sim.

use std::time::Duration;

use tokio::time::Instant;

use crate::cli::{exit::Exit, failure::Failure};

/// The time until the first new try. Servers that start again, or elect anew, take about that long.
const FIRST_WAIT: Duration = Duration::from_secs(10);

/// The longest time until a new try. Each try has the admin's avatar come and go, and others see that.
const LONGEST_WAIT: Duration = Duration::from_mins(5);

/// The tries of one save. Each one waits twice as long as the one before.
#[derive(Debug, Default)]
pub(super) struct Retries {
    /// When the next try is, and how long it waits; nothing if there is none.
    next: Option<(Instant, Duration)>,
}

impl Retries {
    /// Says whether a try is due.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.next.is_some_and(|(at, _)| at <= now)
    }

    /// Notes a failure. Returns how long the next try waits; nothing if only another save helps.
    pub(super) fn note(&mut self, failure: &Failure, now: Instant) -> Option<Duration> {
        let longer = |(_, wait): (Instant, Duration)| (2 * wait).min(LONGEST_WAIT);
        let wait = self.next.map_or(FIRST_WAIT, longer);
        self.next = is_passing(failure).then_some((now + wait, wait));
        self.next.map(|(_, wait)| wait)
    }
}

/// Says whether what failed may be done later although nothing changes in the folder: a node is not reached, or a turn
/// is not decided. What a rule or a file is the reason for stays so.
pub(super) const fn is_passing(failure: &Failure) -> bool {
    !matches!(failure.exit, Exit::Usage | Exit::Refused | Exit::OtherEngine)
}

/// Returns what is told of a failure: when the next try is, or what leads to one.
pub(super) fn told(failure: &Failure, wait: Option<Duration>) -> String {
    match wait.map(|wait| wait.as_secs()) {
        None => format!("{failure}; this is tried again when you save"),
        Some(seconds) if seconds < 60 => format!("{failure}; the next try is in {seconds} s"),
        Some(seconds) if seconds < LONGEST_WAIT.as_secs() => {
            format!("{failure}; the next try is in {} min {} s", seconds / 60, seconds % 60)
        }
        Some(seconds) => {
            format!("{failure}; from now on there is a try every {} min", seconds / 60)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the sim refused was tried again every ten seconds for ever, and the admin's avatar came and went with it.
    #[test]
    fn what_is_refused_waits_for_a_save() {
        let (mut retries, now) = (Retries::default(), Instant::now());
        let refused = Failure::refused("the package was refused");
        assert_eq!(retries.note(&refused, now), None);
        assert!(!retries.is_due(now + 2 * LONGEST_WAIT));
        assert_eq!(
            told(&refused, None),
            "the package was refused; this is tried again when you save"
        );
    }

    #[test]
    fn what_passes_is_tried_again_after_waits_that_grow_up_to_five_minutes() {
        let (mut retries, now) = (Retries::default(), Instant::now());
        let silent = Failure::timed_out("no receipt within 20 s");
        let waits = [10, 20, 40, 80, 160, 300, 300].map(Duration::from_secs);
        for wait in waits {
            assert_eq!(retries.note(&silent, now), Some(wait));
            assert!(!retries.is_due(now + wait - Duration::from_millis(1)));
            assert!(retries.is_due(now + wait));
        }
        assert_eq!(
            told(&silent, Some(waits[1])),
            "no receipt within 20 s; the next try is in 20 s"
        );
        let words = "no receipt within 20 s; the next try is in 2 min 40 s";
        assert_eq!(told(&silent, Some(waits[4])), words);
        let words = "no receipt within 20 s; from now on there is a try every 5 min";
        assert_eq!(told(&silent, Some(waits[6])), words);
    }
}
