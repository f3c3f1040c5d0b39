//! Places in the log.

use std::fmt;

/// A place in the log: how many bytes of records were appended before it since the log began.
/// Segment headers do not count. Grows across segments; a cut tail gives its positions back.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position(pub u64);

impl Position {
    /// The place of the first record.
    pub const ZERO: Self = Self(0);

    pub(crate) fn plus(self, bytes: u64) -> Self {
        Self(self.0.checked_add(bytes).expect("no log has 2^64 bytes"))
    }

    /// Bytes from `earlier` to here.
    pub(crate) fn since(self, earlier: Self) -> u64 {
        self.0.checked_sub(earlier.0).expect("the other place is earlier")
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Position:{}", self.0)
    }
}
