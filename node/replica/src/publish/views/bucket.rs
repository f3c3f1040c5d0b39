//! A token bucket: so many bytes a second, counted in turns and not by the clock as a `SteadyRate` is,
//! because views are made once a turn and are told no time.

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
    /// Returns a full bucket.
    pub(super) fn new(bytes_per_second: u32, turns_per_second: u32) -> Self {
        let (bytes_per_second, turns_per_second) =
            (i64::from(bytes_per_second), i64::from(turns_per_second.max(1)));
        let filled = bytes_per_second * turns_per_second;
        Self { bytes_per_second, turns_per_second, filled }
    }

    /// Returns the same bucket with another rate: what is in it stays, as far as it has room.
    pub(super) fn at_rate(self, bytes_per_second: u32) -> Self {
        let bytes_per_second = i64::from(bytes_per_second);
        let filled = self.filled.min(bytes_per_second * self.turns_per_second);
        Self { bytes_per_second, filled, ..self }
    }

    /// Grants the bytes of one turn.
    pub(super) fn turn(&mut self) {
        let most = self.bytes_per_second * self.turns_per_second;
        self.filled = self.filled.saturating_add(self.bytes_per_second).min(most);
    }

    /// Returns whether anything is in the bucket.
    pub(super) const fn is_open(&self) -> bool {
        self.filled > 0
    }

    /// Returns the whole bytes in it; none while it is overdrawn.
    pub(super) fn bytes(&self) -> usize {
        usize::try_from(self.filled / self.turns_per_second).unwrap_or(0)
    }

    /// Takes bytes out.
    pub(super) fn spend(&mut self, bytes: usize) {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        self.filled = self.filled.saturating_sub(bytes.saturating_mul(self.turns_per_second));
    }
}

/// What of the bytes of a client at most goes to `near`, and to proofs: a quarter each.
const SHARE: u32 = 4;

/// The buckets of one client.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    /// The budget for all bytes.
    pub(super) all: Bucket,
    /// For the own avatar and what it touches, while their tiles wait.
    pub(super) near: Bucket,
    /// The budget for proofs.
    pub(super) proofs: Bucket,
}

impl Budget {
    /// Returns a budget with full buckets.
    pub(super) fn new(bytes_per_second: u32, turns_per_second: u32) -> Self {
        let share = Bucket::new(bytes_per_second / SHARE, turns_per_second);
        let all = Bucket::new(bytes_per_second, turns_per_second);
        Self { all, near: share, proofs: share }
    }

    /// Returns the same budget at another rate.
    pub(super) fn at_rate(self, bytes_per_second: u32) -> Self {
        let share = bytes_per_second / SHARE;
        let (near, proofs) = (self.near.at_rate(share), self.proofs.at_rate(share));
        Self { all: self.all.at_rate(bytes_per_second), near, proofs }
    }

    /// Grants the bytes of one turn.
    pub(super) fn turn(&mut self) {
        self.all.turn();
        self.near.turn();
        self.proofs.turn();
    }

    /// Takes the bytes of a proof out.
    pub(super) fn spend_on_proof(&mut self, bytes: usize) {
        self.proofs.spend(bytes);
        self.all.spend(bytes);
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

    #[test]
    fn another_rate_gives_nothing_at_once_and_forgives_nothing() {
        let mut bucket = Bucket::new(1_000, 20);
        assert_eq!(bucket.at_rate(9_000).bytes(), 1_000);
        assert_eq!(bucket.at_rate(100).bytes(), 100);
        bucket.spend(1_500);
        let mut faster = bucket.at_rate(9_000);
        assert!(!faster.is_open());
        (0..2).for_each(|_| faster.turn());
        assert_eq!(faster.bytes(), 400);
    }

    #[test]
    fn what_is_near_and_proofs_get_a_quarter_of_the_bytes_each_and_no_more() {
        for mut budget in [Budget::new(4_000, 20), Budget::new(9_000, 20).at_rate(4_000)] {
            let (mut near, mut proofs) = (0, 0);
            // A bucket begins with what a second brings, so this is the time of six seconds.
            for _ in 0..=5 * 20 {
                while budget.near.is_open() {
                    budget.near.spend(50);
                    near += 50;
                }
                while budget.proofs.is_open() {
                    budget.spend_on_proof(50);
                    proofs += 50;
                }
                budget.turn();
            }
            assert_eq!((near, proofs), (6 * 1_000, 6 * 1_000), "{SHARE} shares of 4,000 bytes");
            // Only proofs were taken off the whole: a view takes itself off, with what is near in it.
            assert_eq!(budget.all.bytes(), 4_000);
        }
    }
}
