//! A token bucket: so many bytes a second, counted in turns, since the replica has no clock.

/// Holds at most what comes in one second, and may be overdrawn by what was begun while it was not
/// empty; that is paid back before anything else.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bucket {
    bytes_per_second: i64,
    turns_per_second: i64,
    /// In bytes, times turns per second.
    filled: i64,
}

impl Bucket {
    /// A full one.
    pub(super) fn new(bytes_per_second: u32, turns_per_second: u32) -> Self {
        let (bytes_per_second, turns_per_second) =
            (i64::from(bytes_per_second), i64::from(turns_per_second.max(1)));
        let filled = bytes_per_second * turns_per_second;
        Self { bytes_per_second, turns_per_second, filled }
    }

    /// A turn passed.
    pub(super) fn turn(&mut self) {
        let most = self.bytes_per_second * self.turns_per_second;
        self.filled = self.filled.saturating_add(self.bytes_per_second).min(most);
    }

    /// Is anything in it?
    pub(super) const fn is_open(&self) -> bool {
        self.filled > 0
    }

    /// Whole bytes in it; none while it is overdrawn.
    pub(super) fn bytes(&self) -> usize {
        usize::try_from(self.filled / self.turns_per_second).unwrap_or(0)
    }

    /// Takes bytes out.
    pub(super) fn spend(&mut self, bytes: usize) {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        self.filled = self.filled.saturating_sub(bytes.saturating_mul(self.turns_per_second));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_gives_its_rate_and_one_second_at_once_and_debts_are_paid_back() {
        let mut bucket = Bucket::new(1_000, 20);
        assert_eq!(bucket.bytes(), 1_000);
        bucket.spend(1_500);
        assert_eq!((bucket.bytes(), bucket.is_open()), (0, false));
        (0..10).for_each(|_| bucket.turn());
        assert!(!bucket.is_open());
        bucket.turn();
        assert_eq!((bucket.bytes(), bucket.is_open()), (50, true));
        (0..100).for_each(|_| bucket.turn());
        assert_eq!(bucket.bytes(), 1_000);
    }
}
