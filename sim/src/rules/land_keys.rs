//! The keys that hold land, or sign for it: a land office by invitation lets them in without a ticket, or
//! nobody could renew a grant there.

use std::collections::BTreeMap;

use metatopia_types::{Height, LandGrant, PublicKey, limits::ROOT_LAG};
use serde::{Deserialize, Serialize};

/// The keys that began or ended to hold land, or to sign for it, by the last heights: each with whether it
/// did before the turn. Turns are judged by an older state, and this leads back to it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LandKeyChanges(BTreeMap<Height, BTreeMap<PublicKey, bool>>);

impl LandKeyChanges {
    /// Forgets what no turn after this height is judged by.
    pub(super) fn pass(&mut self, height: Height) {
        self.0.retain(|changed, _| changed.0 + ROOT_LAG >= height.0);
    }

    /// Notes that a key does, or no longer does, after a turn.
    fn note(&mut self, height: Height, key: PublicKey, does: bool) {
        let changes = self.0.entry(height).or_default();
        if changes.get(&key) == Some(&does) {
            changes.remove(&key);
        } else {
            changes.insert(key, !does);
        }
        if changes.is_empty() {
            self.0.remove(&height);
        }
    }

    /// Returns all keys that changed.
    pub(crate) fn keys(&self) -> impl Iterator<Item = PublicKey> {
        self.0.values().flat_map(|changes| changes.keys().copied())
    }

    /// Returns how many keys changed, each for every turn in which it did.
    pub(super) fn len(&self) -> usize {
        self.0.values().map(BTreeMap::len).sum()
    }

    /// Says whether a key did after the turn of this height. None says that it did as it does now.
    pub(crate) fn did(&self, key: &PublicKey, height: Height) -> Option<bool> {
        let mut later = self.0.range(height.plus(1)..);
        later.find_map(|(_, changes)| changes.get(key).copied())
    }
}

/// How often each key is named by grants.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LandKeys(BTreeMap<PublicKey, u32>);

impl LandKeys {
    /// Says whether a grant names this key.
    pub(super) fn has(&self, key: &PublicKey) -> bool {
        self.0.contains_key(key)
    }

    /// Counts the keys of a grant.
    pub(super) fn add(&mut self, grant: &LandGrant, at: Height, changes: &mut LandKeyChanges) {
        for key in grant.beacons.iter().chain([&grant.holder]) {
            let count = self.0.entry(*key).or_default();
            if *count == 0 {
                changes.note(at, *key, true);
            }
            *count += 1;
        }
    }

    /// Counts them no more.
    pub(super) fn take(&mut self, grant: &LandGrant, at: Height, changes: &mut LandKeyChanges) {
        for key in grant.beacons.iter().chain([&grant.holder]) {
            let count = self.0.get_mut(key).expect("the grant was counted");
            *count -= 1;
            if *count == 0 {
                self.0.remove(key);
                changes.note(at, *key, false);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use metatopia_types::{Millis, SimId, Square};

    use super::*;

    fn grant(holder: u8) -> LandGrant {
        LandGrant {
            square: Square { x: 0, y: 0, doublings: 0 },
            sim: SimId(metatopia_types::Digest::ZERO),
            holder: PublicKey([holder; 32]),
            beacons: vec![PublicKey([2; 32])],
            epoch: 1,
            until: Millis(0),
            shown: Height(0),
        }
    }

    #[test]
    fn changes_lead_back_to_what_was_so_and_are_forgotten() {
        let (mut keys, mut changes) = (LandKeys::default(), LandKeyChanges::default());
        let (first, second) = (grant(1), grant(3));
        keys.add(&first, Height(5), &mut changes);
        keys.add(&second, Height(6), &mut changes);
        keys.take(&first, Height(6), &mut changes);
        let [holder, beacon] = [first.holder, first.beacons[0]];
        assert!(!keys.has(&holder) && keys.has(&beacon));
        assert_eq!(changes.did(&holder, Height(6)), None);
        assert_eq!(changes.did(&holder, Height(5)), Some(true));
        assert_eq!(changes.did(&holder, Height(4)), Some(false));
        assert_eq!(changes.did(&beacon, Height(4)), Some(false));
        assert_eq!(changes.did(&beacon, Height(5)), None, "it went on");
        changes.pass(Height(6 + ROOT_LAG));
        assert_eq!(changes.did(&beacon, Height(4)), None);
        changes.pass(Height(7 + ROOT_LAG));
        assert_eq!(changes, LandKeyChanges::default());
    }

    #[test]
    fn a_grant_that_is_replaced_with_the_same_keys_changes_none() {
        let (mut keys, mut changes) = (LandKeys::default(), LandKeyChanges::default());
        keys.add(&grant(1), Height(1), &mut changes);
        changes = LandKeyChanges::default();
        keys.take(&grant(1), Height(2), &mut changes);
        keys.add(&grant(1), Height(2), &mut changes);
        assert_eq!(changes, LandKeyChanges::default());
    }
}
