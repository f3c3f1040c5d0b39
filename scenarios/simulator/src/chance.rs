//! The world's dice: one stream per concern, so that a draw more in one does not shift the others.

use std::time::Duration;

use metatopia_math::Stream;

/// Parts per million: every probability of the world is one of these.
pub const CERTAIN_PPM: u32 = 1_000_000;

/// A seeded stream of the world.
#[derive(Debug, Clone)]
pub struct Dice(Stream);

impl Dice {
    /// The stream of `seed` for one concern, such as "network".
    #[must_use]
    pub fn new(seed: u64, concern: &str) -> Self {
        let key = blake3::derive_key("metatopia simulated world 2026 v1", &seed.to_be_bytes());
        Self(Stream::new(&key, concern, &[]))
    }

    /// Draws evenly from `0..bound`; 0 when `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 { 0 } else { self.0.below(bound) }
    }

    /// Draws evenly from `0..bound`; 0 when `bound` is 0.
    pub fn index(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).expect("a usize has at most 64 bits");
        usize::try_from(self.below(bound)).expect("below a usize")
    }

    /// Draws evenly from `range`, both ends included.
    pub fn within(&mut self, range: Span) -> Duration {
        let width = range.most.saturating_sub(range.least);
        let nanos = u64::try_from(width.as_nanos()).expect("a run is short");
        // The exact value, without a draw, when there is nothing to choose.
        if nanos == 0 {
            range.least
        } else {
            range.least + Duration::from_nanos(self.below(nanos + 1))
        }
    }

    /// Returns true with the given probability. Draws nothing when the answer is known.
    pub fn happens(&mut self, ppm: u32) -> bool {
        ppm >= CERTAIN_PPM || (ppm > 0 && self.below(u64::from(CERTAIN_PPM)) < u64::from(ppm))
    }

    /// One of `choices`.
    ///
    /// # Panics
    /// When there is none.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.index(choices.len())]
    }
}

/// A range of durations, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The shortest time that is drawn.
    pub least: Duration,
    /// The longest time that is drawn.
    pub most: Duration,
}

impl Span {
    /// The span of exactly `ms` milliseconds.
    #[must_use]
    pub const fn exactly_ms(ms: u64) -> Self {
        Self::ms(ms, ms)
    }

    /// The span from `least` to `most` milliseconds.
    #[must_use]
    pub const fn ms(least: u64, most: u64) -> Self {
        Self { least: Duration::from_millis(least), most: Duration::from_millis(most) }
    }
}
