//! A map that remembers which of its entries may have changed, so that only their leaves are hashed
//! again.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
    sync::Arc,
};

/// A map with the keys touched since [`Tracked::take_touched`]. Clones share the values that neither
/// of them touched.
#[derive(Debug, Clone)]
pub(crate) struct Tracked<K, V> {
    entries: BTreeMap<K, Arc<V>>,
    touched: BTreeSet<K>,
}

impl<K, V> Default for Tracked<K, V> {
    fn default() -> Self {
        Self { entries: BTreeMap::new(), touched: BTreeSet::new() }
    }
}

impl<K: Ord + Copy, V: Clone> Tracked<K, V> {
    /// Returns the value of a key.
    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        self.entries.get(key).map(Arc::as_ref)
    }

    /// Returns the value of a key to change it. Marks the key as changed, whether or not a change follows.
    pub(crate) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let entry = self.entries.get_mut(key)?;
        self.touched.insert(*key);
        Some(Arc::make_mut(entry))
    }

    /// Sets the value of a key.
    pub(crate) fn insert(&mut self, key: K, value: V) {
        self.touched.insert(key);
        self.entries.insert(key, Arc::new(value));
    }

    /// Removes a key, and returns its value.
    pub(crate) fn remove(&mut self, key: &K) -> Option<V> {
        let gone = self.entries.remove(key)?;
        self.touched.insert(*key);
        Some(Arc::unwrap_or_clone(gone))
    }

    /// Says whether there is a value of this key.
    pub(crate) fn contains(&self, key: &K) -> bool {
        self.entries.contains_key(key)
    }

    /// Returns the greatest key.
    pub(crate) fn last_key(&self) -> Option<K> {
        self.entries.last_key_value().map(|(key, _)| *key)
    }

    /// Returns the number of entries.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the entries, in the order of the keys.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.entries.iter().map(|(key, value)| (key, &**value))
    }

    /// Returns the entries of greater keys, in the order of the keys.
    pub(crate) fn after(&self, key: K) -> impl Iterator<Item = (&K, &V)> {
        let later = (Bound::Excluded(key), Bound::Unbounded);
        self.entries.range(later).map(|(key, value)| (key, &**value))
    }

    /// Says whether a value may have changed since the last [`Tracked::take_touched`].
    pub(super) fn is_touched(&self) -> bool {
        !self.touched.is_empty()
    }

    /// Marks all entries as changed.
    pub(crate) fn touch_all(&mut self) {
        self.touched = self.entries.keys().copied().collect();
    }

    /// Returns the keys whose values may have changed since the last call, in the order of the keys.
    pub(super) fn take_touched(&mut self) -> BTreeSet<K> {
        core::mem::take(&mut self.touched)
    }
}
