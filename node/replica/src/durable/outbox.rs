//! The outbox: it holds what must not leave before the log is durable up to some place.

use std::collections::BTreeMap;

use metatopia_consensus::RecordPosition;

/// Effects that wait for a sync. Those of one place leave in the order they came.
#[derive(Debug)]
pub struct Outbox<T> {
    synced: RecordPosition,
    held: BTreeMap<RecordPosition, Vec<T>>,
}

impl<T> Default for Outbox<T> {
    fn default() -> Self {
        Self { synced: RecordPosition::START, held: BTreeMap::new() }
    }
}

impl<T> Outbox<T> {
    /// Returns the effect if it may leave now, and keeps it otherwise.
    pub fn pass(&mut self, after: RecordPosition, effect: T) -> Option<T> {
        if after <= self.synced {
            return Some(effect);
        }
        self.held.entry(after).or_default().push(effect);
        None
    }

    /// Notes that the log is durable up to here, and returns what may leave now.
    pub fn synced(&mut self, position: RecordPosition) -> Vec<T> {
        self.synced = self.synced.max(position);
        let mut free = Vec::new();
        while let Some(entry) = self.held.first_entry()
            && *entry.key() <= self.synced
        {
            free.extend(entry.remove());
        }
        free
    }

    /// Returns all that waits, because nothing needs to wait any more.
    pub fn free(&mut self) -> Vec<T> {
        core::mem::take(&mut self.held).into_values().flatten().collect()
    }

    /// Returns how many effects wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.held.values().map(Vec::len).sum()
    }

    /// Returns whether none wait.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leaves_before_its_place_is_durable_and_order_is_kept() {
        let mut outbox = Outbox::default();
        assert_eq!(outbox.pass(RecordPosition(0), "free"), Some("free"));
        assert_eq!(outbox.pass(RecordPosition(2), "first"), None);
        assert_eq!(outbox.pass(RecordPosition(2), "second"), None);
        assert_eq!(outbox.pass(RecordPosition(5), "late"), None);

        assert!(outbox.synced(RecordPosition(1)).is_empty());
        assert_eq!(outbox.synced(RecordPosition(3)), ["first", "second"]);
        assert_eq!(outbox.pass(RecordPosition(3), "free again"), Some("free again"));
        assert_eq!(outbox.synced(RecordPosition(9)), ["late"]);
        assert!(outbox.is_empty());
    }

    #[test]
    fn what_is_set_free_leaves_in_order_and_later_effects_wait_again() {
        let mut outbox = Outbox::default();
        assert_eq!(outbox.pass(RecordPosition(4), "second"), None);
        assert_eq!(outbox.pass(RecordPosition(2), "first"), None);

        assert_eq!(outbox.free(), ["first", "second"]);

        assert_eq!(outbox.pass(RecordPosition(2), "later"), None);
        assert_eq!(outbox.synced(RecordPosition(2)), ["later"]);
    }
}
