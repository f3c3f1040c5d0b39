//! Time, handed in by whoever has a clock.

use core::time::Duration;

use serde::{Deserialize, Serialize};

/// Milliseconds since the start of 1970, UTC.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Millis(pub u64);

impl Millis {
    /// `ms` later; stays at the end of time instead of wrapping.
    #[must_use]
    pub const fn plus(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Returns how long after `earlier` this is, or 0 if it is not later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// What a machine may know about time. The two values are not interchangeable: a wall clock can be
/// set back, and the monotonic one starts anywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// Never goes back; for deadlines.
    pub monotonic: Duration,
    /// What the owner's clock shows; for the time stated in turns, and nothing else.
    pub wall: Millis,
}
