//! The speed of a replay: it keeps to the speed that was asked for, and is told every second.

use std::{
    thread,
    time::{Duration, Instant},
};

use metatopia_types::limits::TICKS_PER_SECOND;

/// The highest speed that can be asked for. No machine comes near it.
const SPEED_MAX: u32 = 100_000;

/// The time between two notes of progress.
const WORD: Duration = Duration::from_secs(1);

/// A speed, as a multiple of real time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Speed(u32);

/// Reads a speed such as `50x` or `50`.
///
/// # Errors
/// Returns a sentence that says how speeds are written.
pub(super) fn speed(text: &str) -> Result<Speed, String> {
    let number = text.strip_suffix('x').unwrap_or(text).parse().ok();
    number
        .filter(|number| (1..=SPEED_MAX).contains(number))
        .map(Speed)
        .ok_or_else(|| format!("a speed looks like 50x, from 1x to {SPEED_MAX}x"))
}

/// Measures simulated time against real time.
#[derive(Debug)]
pub(super) struct ReplayPace {
    speed: Option<Speed>,
    began: Instant,
    told: Instant,
    ticks: u64,
}

impl ReplayPace {
    pub(super) fn new(speed: Option<Speed>) -> Self {
        let now = Instant::now();
        Self { speed, began: now, told: now, ticks: 0 }
    }

    /// Notes that a turn of so many ticks is over, and waits if that was too fast. Returns the
    /// speed once a second.
    pub(super) fn turn(&mut self, ticks: u32) -> Option<f64> {
        self.ticks += u64::from(ticks);
        if let Some(Speed(speed)) = self.speed {
            let due = self.began + self.simulated() / speed;
            thread::sleep(due.saturating_duration_since(Instant::now()));
        }
        if self.told.elapsed() < WORD {
            return None;
        }
        self.told = Instant::now();
        Some(self.speed_x())
    }

    /// Returns the speed so far, as a multiple of real time.
    pub(super) fn speed_x(&self) -> f64 {
        self.simulated().as_secs_f64() / self.began.elapsed().as_secs_f64().max(1e-6)
    }

    fn simulated(&self) -> Duration {
        Duration::from_millis(self.ticks.saturating_mul(1_000) / TICKS_PER_SECOND)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_are_written_with_or_without_an_x() {
        assert_eq!(speed("50x"), Ok(Speed(50)));
        assert_eq!(speed("1"), Ok(Speed(1)));
        for text in ["", "x", "0x", "-1x", "1.5x", "fast", "100001x"] {
            assert!(speed(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_replay_is_held_back_to_the_speed_that_was_asked_for() {
        // Ten turns of three ticks are half a second; at ten times real time they take 50 ms.
        let mut pace = ReplayPace::new(Some(Speed(10)));
        let began = Instant::now();
        for _ in 0..10 {
            pace.turn(3);
        }
        assert!(began.elapsed() >= Duration::from_millis(50));
        assert!(pace.speed_x() <= 10.0, "{}", pace.speed_x());
    }
}
