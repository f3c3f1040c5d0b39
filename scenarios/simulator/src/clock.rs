//! What one server's clocks show at a moment of the world.

use std::time::Duration;

use metatopia_types::{Millis, Now};

/// What a correct wall clock shows when a world begins: 2026-01-01, 00:00:00 UTC.
pub const DAWN: Millis = Millis(1_767_225_600_000);

const PPM: i128 = 1_000_000;

/// The two clocks of one server. The world's own time is a [`Duration`] since its beginning.
#[derive(Debug, Clone, Copy)]
pub struct VirtualClock {
    /// How far the wall clock is ahead (or, negative, behind), in milliseconds.
    offset_ms: i64,
    /// How much faster (or, negative, slower) both clocks run, in parts per million.
    rate_ppm: i32,
    /// When the process started: the monotonic clock of a process begins at 0.
    born: Duration,
    /// How many times as fast as the world's time calendars go: wall clocks show days, while processes wait
    /// for moments.
    haste: u32,
}

impl VirtualClock {
    /// A clock that is `offset_ms` ahead and runs `rate_ppm` faster than the world's time.
    ///
    /// # Panics
    /// When the rate would stop the clock or more than double its speed.
    #[must_use]
    pub fn new(offset_ms: i64, rate_ppm: i32) -> Self {
        assert!(i128::from(rate_ppm).abs() < PPM, "a rate of {rate_ppm} ppm stops time");
        Self { offset_ms, rate_ppm, born: Duration::ZERO, haste: 1 }
    }

    /// The same clock, whose wall clock goes so many times as fast.
    #[must_use]
    pub const fn hasty(self, haste: u32) -> Self {
        Self { haste, ..self }
    }

    /// Returns what the server sees when the world's time is `at`.
    #[must_use]
    pub fn read(&self, at: Duration) -> Now {
        let wall = i128::from(DAWN.0)
            + i128::from(self.offset_ms)
            + self.scaled(at.as_nanos()) * i128::from(self.haste) / 1_000_000;
        Now {
            monotonic: duration(self.scaled(at.saturating_sub(self.born).as_nanos())),
            wall: Millis(u64::try_from(wall.max(0)).unwrap_or(u64::MAX)),
        }
    }

    /// The first moment of the world at which the monotonic clock shows `monotonic` or more.
    #[must_use]
    pub fn moment(&self, monotonic: Duration) -> Duration {
        let rate = PPM + i128::from(self.rate_ppm);
        let nanos = i128::try_from(monotonic.as_nanos()).expect("a run is short") * PPM;
        // Round up: a timer never fires before it is due.
        self.born.saturating_add(duration((nanos + rate - 1) / rate))
    }

    /// Notes that the process starts (again) at `at`.
    pub fn restart(&mut self, at: Duration) {
        self.born = at;
    }

    /// Sets the wall clock forward by `ms` (or, negative, back), as a person may.
    pub fn jump(&mut self, ms: i64) {
        self.offset_ms = self.offset_ms.saturating_add(ms);
    }

    /// Sets the wall clock right, as a person may. It goes on at its own rate.
    pub fn set_right(&mut self, at: Duration) {
        let shown = self.read(at).wall.0;
        let since = at.saturating_mul(self.haste).as_millis();
        let right = DAWN.0.saturating_add(u64::try_from(since).unwrap_or(u64::MAX));
        let shown = i64::try_from(shown).unwrap_or(i64::MAX);
        self.jump(i64::try_from(right).unwrap_or(i64::MAX).saturating_sub(shown));
    }

    fn scaled(&self, nanos: u128) -> i128 {
        let nanos = i128::try_from(nanos).expect("a run is short");
        nanos * (PPM + i128::from(self.rate_ppm)) / PPM
    }
}

fn duration(nanos: i128) -> Duration {
    Duration::from_nanos(u64::try_from(nanos.max(0)).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::{DAWN, VirtualClock};
    use std::time::Duration;

    #[test]
    fn a_fast_clock_reaches_a_deadline_early_and_never_before_it_shows_it() {
        for rate in [-100_000, -1, 0, 1, 3, 100_000] {
            let mut clock = VirtualClock::new(0, rate);
            clock.restart(Duration::from_millis(17));
            for nanos in [0, 1, 7, 999_999, 50_000_001, 1_000_000_007] {
                let deadline = Duration::from_nanos(nanos);

                let at = clock.moment(deadline);

                assert!(clock.read(at).monotonic >= deadline, "rate {rate}, {nanos} ns");
            }
        }
        let fast = VirtualClock::new(0, 100_000);
        assert!(fast.moment(Duration::from_secs(11)) == Duration::from_secs(10));
    }

    #[test]
    fn a_jump_moves_the_wall_clock_and_leaves_deadlines_alone() {
        let mut clock = VirtualClock::new(250, 0);
        let at = Duration::from_secs(2);
        let before = clock.read(at);

        clock.jump(-3_600_000);

        let after = clock.read(at);
        assert_eq!(before.wall.0, DAWN.0 + 2_250);
        assert_eq!(after.wall.0, DAWN.0 + 2_250 - 3_600_000);
        assert_eq!(before.monotonic, after.monotonic);
        clock.set_right(at);
        assert_eq!(clock.read(at).wall.0, DAWN.0 + 2_000);
    }
}
