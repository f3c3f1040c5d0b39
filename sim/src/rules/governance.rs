//! Governance: permanent admins, and a temp admin for a sim that they have left.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_types::{Height, PublicKey, SetChange};
use serde::{Deserialize, Serialize};

use super::people::Motd;
use crate::limits::{DELAY_MS, DELAYED_MAX, EXPOSED_MAX, GOVERNANCE_STEP_MS_MAX};

pub(crate) const DAY_MS: u64 = 86_400 * 1_000;

/// The state of governance.
///
/// Its time is the sum of the turns' lengths, each at most a minute: a world that was off does not
/// age, and nobody loses a role because of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Governance {
    /// The permanent admins.
    pub admins: BTreeSet<PublicKey>,
    /// Governance time, in milliseconds since genesis.
    pub time: u64,
    /// The governance time at which the sim began; that of its parent's last turn if it is a successor.
    pub founded: u64,
    /// When a permanent admin logged in for the last time; genesis counts as a login.
    pub admin_login: u64,
    /// The player who acts for the admins now.
    pub temp_admin: Option<PublicKey>,
    /// Servers that were removed for signing two things at once, with the height of the removal.
    pub exposed: BTreeMap<PublicKey, Height>,
    /// Changes of who votes that wait, those that are due first coming first.
    pub delayed: Vec<DelayedChange>,
    /// What everybody reads who comes.
    pub motd: Option<Motd>,
    /// How many orders were recorded so far: the number of the next one.
    pub orders: u64,
    /// How many reports were filed so far: the next one has the number behind.
    pub reports: u64,
    /// How many sealed words were told so far: the next ones have the number behind.
    pub told: u64,
}

/// A change of who votes that a temp admin asked for, and that waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DelayedChange {
    /// The change that waits.
    pub change: SetChange,
    /// The temp admin who asked for it: once somebody else decides, the change is dropped.
    pub by: PublicKey,
    /// The governance time at which it takes effect.
    pub due: u64,
}

impl Governance {
    /// Returns the governance of a sim with these admins, before its first turn.
    pub(crate) fn new(admins: BTreeSet<PublicKey>) -> Self {
        let (exposed, delayed) = (BTreeMap::new(), Vec::new());
        Self {
            admins,
            time: 0,
            founded: 0,
            admin_login: 0,
            temp_admin: None,
            exposed,
            delayed,
            motd: None,
            orders: 0,
            reports: 0,
            told: 0,
        }
    }

    /// Returns the milliseconds of governance time until there is a temp admin if no permanent admin logs in;
    /// 0 from then on.
    #[must_use]
    pub fn countdown(&self, admin_days: u32) -> u64 {
        let due = self.admin_login.saturating_add(u64::from(admin_days).saturating_mul(DAY_MS));
        due.saturating_sub(self.time)
    }

    /// Returns the milliseconds of governance time until the sim ends, below zero once it has ended; `None`
    /// if it never ends.
    #[must_use]
    pub fn time_left(&self, ttl_seconds: u64) -> Option<i64> {
        let end = self.founded.saturating_add(ttl_seconds.saturating_mul(1_000));
        let left = i128::from(end) - i128::from(self.time);
        // Governance time takes 292 million years to leave this range.
        (ttl_seconds > 0).then(|| i64::try_from(left).unwrap_or(i64::MAX))
    }

    /// Adds the time of a turn, at most [`GOVERNANCE_STEP_MS_MAX`].
    pub(crate) fn pass(&mut self, milliseconds: u64) {
        self.time = self.time.saturating_add(milliseconds.min(GOVERNANCE_STEP_MS_MAX));
    }

    /// Returns the governance time so many seconds ago.
    pub(crate) fn seconds_ago(&self, seconds: u32) -> u64 {
        self.time.saturating_sub(u64::from(seconds).saturating_mul(1_000))
    }

    /// Records a login. A temp admin's login never counts as an admin's.
    pub(crate) fn login(&mut self, key: &PublicKey) {
        if self.admins.contains(key) {
            self.admin_login = self.time;
        }
    }

    /// Records a server that was removed at this height for signing two things at once.
    pub(crate) fn expose(&mut self, key: PublicKey, height: Height) {
        self.exposed.insert(key, height);
        if self.exposed.len() > EXPOSED_MAX
            && let Some(oldest) = self.exposed.iter().min_by_key(|(_, height)| **height)
        {
            let oldest = *oldest.0;
            self.exposed.remove(&oldest);
        }
    }

    /// Appoints the temp admin, by a rule that is evaluated every turn: when no permanent admin has logged
    /// in for so many days, it is the `first` in line. What another temp admin asked for is dropped.
    pub(crate) fn appoint(&mut self, admin_days: u32, first: Option<PublicKey>) {
        self.temp_admin = first.filter(|_| self.countdown(admin_days) == 0);
        let decides = self.temp_admin;
        self.delayed.retain(|delayed| Some(delayed.by) == decides);
    }

    /// Says whether a temp admin may ask for one more change.
    pub(crate) fn has_room_for(&self, change: &SetChange) -> bool {
        self.delayed.len() < DELAYED_MAX
            && !self.delayed.iter().any(|delayed| delayed.change == *change)
    }

    /// Queues a change of who votes that a temp admin asked for.
    pub(crate) fn delay(&mut self, change: SetChange, by: PublicKey) {
        let due = self.time.saturating_add(DELAY_MS);
        self.delayed.push(DelayedChange { change, by, due });
    }

    /// Takes the first change that has waited long enough.
    pub(crate) fn take_due(&mut self) -> Option<SetChange> {
        let is_due = self.delayed.first().is_some_and(|delayed| delayed.due <= self.time);
        is_due.then(|| self.delayed.remove(0).change)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALICE: PublicKey = PublicKey([1; 32]);
    const BOB: PublicKey = PublicKey([2; 32]);
    const CHARLIE: PublicKey = PublicKey([3; 32]);

    fn abandoned() -> Governance {
        let mut governance = Governance::new(BTreeSet::from([ALICE]));
        (0..30 * 24 * 60).for_each(|_| governance.pass(60_000));
        governance
    }

    fn removal(n: u8) -> SetChange {
        SetChange::Remove { key: PublicKey([n; 32]) }
    }

    #[test]
    fn the_first_in_line_acts_for_admins_that_are_gone_until_one_logs_in() {
        let mut governance = abandoned();
        governance.time -= 1;
        governance.appoint(30, Some(BOB));
        assert_eq!((governance.temp_admin, governance.countdown(30)), (None, 1));

        governance.pass(1);
        governance.appoint(30, Some(BOB));
        assert_eq!(governance.temp_admin, Some(BOB));

        // Bob's login does not count as an admin's; Alice's does.
        governance.login(&BOB);
        assert_eq!(governance.countdown(30), 0);
        governance.login(&ALICE);
        governance.appoint(30, Some(BOB));
        assert_eq!(governance.temp_admin, None);
        assert_eq!(governance.countdown(30), 30 * DAY_MS);
    }

    #[test]
    fn a_change_by_a_temp_admin_waits_48_hours_and_falls_with_who_asked_for_it() {
        let mut governance = abandoned();
        governance.appoint(30, Some(BOB));
        governance.delay(removal(9), BOB);

        (0..48 * 60 - 1).for_each(|_| governance.pass(60_000));
        governance.pass(59_999);
        governance.appoint(30, Some(BOB));
        assert_eq!(governance.take_due(), None);
        let mut older = governance.clone();
        governance.pass(1);
        assert_eq!(governance.take_due(), Some(removal(9)));
        assert_eq!(governance.take_due(), None);

        // An older player who comes back in time takes over, and the change falls.
        older.appoint(30, Some(CHARLIE));
        older.pass(1);
        assert_eq!(older.take_due(), None);
    }

    #[test]
    fn only_so_many_changes_wait_and_none_twice() {
        let mut governance = abandoned();
        for n in 0..DELAYED_MAX as u8 {
            assert!(governance.has_room_for(&removal(n)));
            governance.delay(removal(n), BOB);
            assert!(!governance.has_room_for(&removal(n)), "it waits already");
        }

        assert!(!governance.has_room_for(&removal(99)));
    }

    #[test]
    fn a_world_that_was_off_does_not_age() {
        let mut governance = Governance::new(BTreeSet::new());

        governance.pass(365 * DAY_MS);

        assert_eq!(governance.time, GOVERNANCE_STEP_MS_MAX);
    }

    #[test]
    fn only_so_many_liars_are_remembered() {
        let mut governance = Governance::new(BTreeSet::new());

        for n in 0..=EXPOSED_MAX as u64 {
            let mut key = [0; 32];
            key[..8].copy_from_slice(&n.to_be_bytes());
            governance.expose(PublicKey(key), Height(n));
        }

        assert_eq!(governance.exposed.len(), EXPOSED_MAX);
        assert!(!governance.exposed.values().any(|height| *height == Height(0)));
    }
}
