//! Counts acts and their receipts.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use metatopia_types::{ActId, Height};

use super::BotsSummary;

/// The fates of the acts of one or more bots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActTally {
    sent: u64,
    refused: u64,
    receipts: BTreeMap<Height, BTreeSet<ActId>>,
    waits: Vec<Duration>,
}

impl ActTally {
    pub(super) fn sent(&mut self) {
        self.sent += 1;
    }

    pub(super) fn refused(&mut self) {
        self.refused += 1;
    }

    pub(super) fn receipted(&mut self, act: ActId, height: Height, after: Duration) {
        if self.receipts.entry(height).or_default().insert(act) {
            self.waits.push(after);
        }
    }

    /// Returns the number of acts that were not refused and have no receipt.
    pub(super) fn unanswered(&self) -> u64 {
        let answered = self.waits.len() as u64 + self.refused;
        self.sent.saturating_sub(answered)
    }

    pub(super) fn add(&mut self, other: Self) {
        self.sent += other.sent;
        self.refused += other.refused;
        self.waits.extend(other.waits);
        for (height, acts) in other.receipts {
            self.receipts.entry(height).or_default().extend(acts);
        }
    }

    /// Returns the acts with a receipt, by the turn that they are in.
    #[must_use]
    pub const fn receipts(&self) -> &BTreeMap<Height, BTreeSet<ActId>> {
        &self.receipts
    }

    /// Returns the counts, with this many acts that were found to be lost.
    #[must_use]
    pub fn summary(mut self, lost: u64) -> BotsSummary {
        self.waits.sort_unstable();
        BotsSummary {
            sent: self.sent,
            acknowledged: self.waits.len() as u64,
            refused: self.refused,
            lost,
            p50_ms: millis(percentile(&self.waits, 50)),
            p99_ms: millis(percentile(&self.waits, 99)),
            unanswered: self.unanswered(),
        }
    }
}

/// Returns the least of the sorted `waits` that `percent` of a hundred do not exceed; zero if there
/// is none.
fn percentile(waits: &[Duration], percent: usize) -> Duration {
    let rank = (waits.len() * percent).div_ceil(100);
    rank.checked_sub(1).map_or(Duration::ZERO, |at| waits[at])
}

/// Returns whole milliseconds, rounded up, so that a wait is never shown shorter than it was.
fn millis(wait: Duration) -> u64 {
    u64::try_from(wait.as_micros().div_ceil(1_000)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use metatopia_types::Digest;

    use super::*;

    fn act(n: u8) -> ActId {
        ActId(Digest([n; 32]))
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn percentiles_are_by_nearest_rank() {
        let hundred: Vec<Duration> = (1..=100).map(ms).collect();
        assert_eq!(percentile(&hundred, 50), ms(50));
        assert_eq!(percentile(&hundred, 99), ms(99));
        assert_eq!(percentile(&hundred, 100), ms(100));
        assert_eq!(percentile(&[ms(7)], 50), ms(7));
        assert_eq!(percentile(&[ms(7)], 99), ms(7));
        assert_eq!(percentile(&[ms(1), ms(9)], 50), ms(1));
        assert_eq!(percentile(&[ms(1), ms(9)], 99), ms(9));
        assert_eq!(percentile(&[], 50), Duration::ZERO);
    }

    #[test]
    fn waits_are_rounded_up() {
        assert_eq!(millis(Duration::from_micros(1)), 1);
        assert_eq!(millis(Duration::from_micros(1_000)), 1);
        assert_eq!(millis(Duration::from_micros(1_001)), 2);
        assert_eq!(millis(Duration::ZERO), 0);
    }

    #[test]
    fn every_act_is_sent_and_acknowledged_refused_or_unanswered() {
        let (mut a, mut b) = (ActTally::default(), ActTally::default());
        (0..4).for_each(|_| a.sent());
        a.receipted(act(1), Height(5), ms(10));
        a.receipted(act(2), Height(5), ms(30));
        a.refused();
        b.sent();
        b.receipted(act(3), Height(6), ms(20));
        a.add(b);

        assert_eq!(a.receipts().len(), 2);
        let summary = a.summary(1);
        let BotsSummary { sent, acknowledged, refused, unanswered, lost, .. } = summary;
        assert_eq!((sent, acknowledged, refused, unanswered, lost), (5, 3, 1, 1, 1));
        assert_eq!(sent, acknowledged + refused + unanswered);
        assert_eq!((summary.p50_ms, summary.p99_ms), (20, 30));
    }

    #[test]
    fn a_receipt_that_comes_twice_counts_once() {
        let mut tally = ActTally::default();
        tally.sent();
        tally.receipted(act(1), Height(5), ms(10));
        tally.receipted(act(1), Height(5), ms(90));
        assert_eq!(tally.summary(0).acknowledged, 1);
    }
}
