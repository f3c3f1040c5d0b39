//! Who may decide: permanent admins, and a temp admin for a sim that they have left.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_types::{Height, PublicKey};
use serde::{Deserialize, Serialize};

use crate::{
    limits::{EXPOSED_MAX, GOVERNANCE_STEP_MS_MAX},
    players::Player,
};

pub(crate) const DAY_MS: u64 = 86_400 * 1_000;

/// The state of governance.
///
/// Its time is the sum of the turns' lengths, each at most a minute: a world that was off does not
/// age, and nobody loses a role because of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Governance {
    /// Permanent admins.
    pub admins: BTreeSet<PublicKey>,
    /// Governance time, in milliseconds since genesis.
    pub time: u64,
    /// When a permanent admin logged in for the last time; genesis counts as a login.
    pub admin_login: u64,
    /// Who acts for the admins now.
    pub temp_admin: Option<PublicKey>,
    /// Servers that were removed for signing two things at once, with the height of the removal.
    pub exposed: BTreeMap<PublicKey, Height>,
}

/// After which absence somebody else decides, and who may.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Absence {
    pub(crate) admin_days: u32,
    pub(crate) player_days: u32,
}

impl Governance {
    pub(crate) fn new(admins: BTreeSet<PublicKey>) -> Self {
        Self { admins, time: 0, admin_login: 0, temp_admin: None, exposed: BTreeMap::new() }
    }

    /// May this player decide for the sim now?
    #[must_use]
    pub fn is_admin(&self, key: &PublicKey) -> bool {
        self.admins.contains(key) || self.temp_admin == Some(*key)
    }

    /// Milliseconds of governance time until there is a temp admin if no permanent admin logs in;
    /// 0 from then on.
    #[must_use]
    pub fn countdown(&self, admin_days: u32) -> u64 {
        let due = self.admin_login.saturating_add(u64::from(admin_days).saturating_mul(DAY_MS));
        due.saturating_sub(self.time)
    }

    /// A turn took so long.
    pub(crate) fn pass(&mut self, milliseconds: u64) {
        self.time = self.time.saturating_add(milliseconds.min(GOVERNANCE_STEP_MS_MAX));
    }

    /// A player logged in. A temp admin's login never counts as an admin's.
    pub(crate) fn login(&mut self, key: &PublicKey) {
        if self.admins.contains(key) {
            self.admin_login = self.time;
        }
    }

    /// A liar was removed at this height.
    pub(crate) fn expose(&mut self, key: PublicKey, height: Height) {
        self.exposed.insert(key, height);
        if self.exposed.len() > EXPOSED_MAX
            && let Some(oldest) = self.exposed.iter().min_by_key(|(_, height)| **height)
        {
            let oldest = *oldest.0;
            self.exposed.remove(&oldest);
        }
    }

    /// The rule of the temp admin, evaluated every turn: when no permanent admin has logged in for
    /// so many days, it is the oldest player that has, earliest first, ties by key.
    pub(crate) fn appoint<'a>(
        &mut self,
        absence: Absence,
        players: impl Iterator<Item = (&'a PublicKey, &'a Player)>,
    ) {
        self.temp_admin = None;
        if self.countdown(absence.admin_days) > 0 {
            return;
        }
        let eligible = self.eligible(absence.player_days, players);
        let eldest = eligible.min_by_key(|(key, player)| (player.first_seen, **key));
        self.temp_admin = eldest.map(|(key, _)| *key);
    }

    /// Those of `players` who could be temp admin: no admin, and here of late.
    fn eligible<'a>(
        &self,
        player_days: u32,
        players: impl Iterator<Item = (&'a PublicKey, &'a Player)>,
    ) -> impl Iterator<Item = (&'a PublicKey, &'a Player)> {
        let milliseconds = u64::from(player_days).saturating_mul(DAY_MS);
        players
            .filter(|(key, _)| !self.admins.contains(*key))
            .filter(move |(_, player)| self.time.saturating_sub(player.last_login) <= milliseconds)
    }

    /// The first `max` of those who could be temp admin, in the order in which the rule takes them.
    pub(crate) fn candidates<'a>(
        &self,
        player_days: u32,
        players: impl Iterator<Item = (&'a PublicKey, &'a Player)>,
        max: usize,
    ) -> Vec<(PublicKey, &'a Player)> {
        let mut first = BTreeMap::new();
        for (key, player) in self.eligible(player_days, players) {
            first.insert((player.first_seen, *key), player);
            if first.len() > max {
                first.pop_last();
            }
        }
        first.into_iter().map(|((_, key), player)| (key, player)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::players::Since;

    const ABSENCE: Absence = Absence { admin_days: 30, player_days: 7 };
    const ALICE: PublicKey = PublicKey([1; 32]);
    const BOB: PublicKey = PublicKey([2; 32]);
    const CHARLIE: PublicKey = PublicKey([3; 32]);

    struct Story {
        governance: Governance,
        players: BTreeMap<PublicKey, Player>,
    }

    impl Story {
        fn new() -> Self {
            let governance = Governance::new(BTreeSet::from([ALICE]));
            Self { governance, players: BTreeMap::new() }
        }

        fn days(&mut self, days: u64) -> &mut Self {
            (0..days * 24 * 60).for_each(|_| self.governance.pass(60_000));
            self.governance.appoint(ABSENCE, self.players.iter());
            self
        }

        fn candidates(&self, max: usize) -> Vec<PublicKey> {
            let days = ABSENCE.player_days;
            let first = self.governance.candidates(days, self.players.iter(), max);
            first.into_iter().map(|(key, _)| key).collect()
        }

        fn login(&mut self, key: PublicKey) -> &mut Self {
            let time = self.governance.time;
            self.players.entry(key).and_modify(|player| player.last_login = time).or_insert_with(
                || Player {
                    name: "x".to_owned(),
                    look: metatopia_types::Look::default(),
                    first_seen: time,
                    last_login: time,
                    days: 1,
                    bot: false,
                    since: Since { player: Height(0), regular: None },
                    session: None,
                },
            );
            self.governance.login(&key);
            self.governance.appoint(ABSENCE, self.players.iter());
            self
        }
    }

    #[test]
    fn the_oldest_player_of_late_acts_for_admins_that_are_gone() {
        let mut story = Story::new();
        story.login(CHARLIE).days(1).login(BOB).days(23).login(BOB).days(5);
        assert_eq!(story.governance.temp_admin, None);
        assert_eq!(story.governance.countdown(30), DAY_MS);

        // Charlie is older, but has not logged in for 30 days.
        story.days(1);
        assert_eq!(story.governance.temp_admin, Some(BOB));
        assert!(story.governance.is_admin(&BOB));
        assert_eq!(story.candidates(9), [BOB]);

        // An older player who comes back takes over at once.
        story.login(CHARLIE);
        assert_eq!(story.governance.temp_admin, Some(CHARLIE));
        assert_eq!(story.candidates(9), [CHARLIE, BOB]);
        assert_eq!(story.candidates(1), [CHARLIE]);
        assert!(!story.governance.is_admin(&BOB));

        // Neither Bob's nor Charlie's login counts as an admin's; Alice's does.
        story.days(1).login(BOB).login(ALICE);
        assert_eq!(story.governance.temp_admin, None);
        assert_eq!(story.governance.countdown(30), 30 * DAY_MS);
    }

    #[test]
    fn a_temp_admin_who_stays_away_is_one_no_longer() {
        let mut story = Story::new();
        story.days(29).login(BOB).days(1);
        assert_eq!(story.governance.temp_admin, Some(BOB));

        story.days(6);
        assert_eq!(story.governance.temp_admin, Some(BOB));
        story.days(1);
        assert_eq!(story.governance.temp_admin, None);
    }

    #[test]
    fn a_world_that_was_off_does_not_age() {
        let mut story = Story::new();
        story.login(BOB);

        story.governance.pass(365 * DAY_MS);

        assert_eq!(story.governance.time, GOVERNANCE_STEP_MS_MAX);
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
