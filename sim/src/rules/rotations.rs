//! Rotations: what a key had becomes that of another one, in one turn.
//!
//! Everything that is a person's moves, sanctions too, so a ban is not escaped and no quota doubles. The keys of
//! servers and beacons are no person's, and stay. What scripts remember of a key is theirs, and stays as well.

use metatopia_types::{PublicKey, Refusal, Rotation, Title};
use serde::{Deserialize, Serialize};

use crate::{
    limits::{ROTATED_AGAIN_MS, ROTATED_MAX},
    state::{Player, State, World},
};

/// A key that was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RotatedKey {
    /// The key that took its place.
    pub to: PublicKey,
    /// How many rotations led to that key, as its owner counts: no rule reads it, for who lost the file with
    /// the last number counts from one again.
    pub number: u32,
    /// The governance time at which it did.
    pub time: u64,
}

impl State {
    /// Returns the key that has what this one had, however often it was rotated since.
    pub(crate) fn key_now(&self, key: PublicKey) -> PublicKey {
        let mut now = key;
        // No rotation leads to a key that was given up, so there is no circle.
        while let Some(rotated) = self.people.rotated.get(&now) {
            now = rotated.to;
        }
        now
    }

    /// Returns the same for a key that is lent, and lends what it finds.
    pub(crate) fn newest_key<'a>(&'a self, key: &'a PublicKey) -> &'a PublicKey {
        let mut now = key;
        while let Some(rotated) = self.people.rotated.get(now) {
            now = &rotated.to;
        }
        now
    }

    /// Returns a key with all that led to it by rotations that are remembered.
    pub(crate) fn keys_of(&self, key: PublicKey) -> Vec<PublicKey> {
        let old = self.people.rotated.iter().map(|(old, _)| *old);
        old.filter(|old| self.key_now(*old) == key).chain([key]).collect()
    }

    /// Returns the key whose place a login of `rotation.new` takes; none if the login is as any other.
    ///
    /// # Errors
    /// The rule that refuses the rotation.
    pub(crate) fn replaced_key(&self, rotation: &Rotation) -> Result<Option<PublicKey>, Refusal> {
        let Rotation { old, new, .. } = rotation;
        match self.people.rotated.get(old) {
            Some(rotated) if rotated.to == *new => return Ok(None),
            Some(rotated) => return Err(Refusal::Rotated(rotated.to)),
            None => {}
        }
        if !self.players.contains(old) && !self.governance.admins.contains(old) {
            return Ok(None);
        }
        if self.is_known(new) {
            return Err(Refusal::KnownKey);
        }
        let mut rotated = self.people.rotated.iter().map(|(_, rotated)| rotated);
        let Some(before) = rotated.find(|rotated| rotated.to == *old) else {
            return Ok(Some(*old));
        };
        let again = before.time.saturating_add(ROTATED_AGAIN_MS);
        if self.governance.time < again { Err(Refusal::TooOften) } else { Ok(Some(*old)) }
    }

    /// Says whether the sim knows a key by anything that it has.
    pub(super) fn is_known(&self, key: &PublicKey) -> bool {
        let people = &self.people;
        self.players.contains(key)
            || self.owned.contains_key(key)
            || self.luggage.has_any(key)
            || self.has_title(key)
            || people.roles.contains(key)
            || people.mutes.contains(key)
            || people.rotated.contains(key)
            || self.roster.members().contains_key(key)
            || self.roster.standbys().contains_key(key)
            || self.land.as_ref().is_some_and(|register| register.held_by(key) > 0)
    }

    /// Moves all that one key has to another, which is new to the sim, and ends the session of the first.
    pub(crate) fn rotate(&mut self, old: PublicKey, new: PublicKey, number: u32) {
        self.begin_moving(&old);
        let gone = self.take_player(&old);
        self.move_things(old, new);
        if let Some(register) = &mut self.land {
            register.change_holder(&old, new);
        }
        self.move_powers(old, new);
        self.move_standing(old, new);
        self.give_place(old, new, number, gone);
    }

    /// Moves what one key has to another by the word of friends. That is less than by the word of the key: what
    /// the sim or its land office trusted the key with ends, or stays where nobody can use it. As one who may
    /// act for admins, the person begins anew.
    pub(crate) fn recover(&mut self, old: PublicKey, new: PublicKey) {
        self.begin_moving(&old);
        let gone = self.take_player(&old);
        self.move_things(old, new);
        self.end_powers(old);
        self.move_standing(old, new);
        // No login tells of the new key.
        self.arrived.push(new);
        let first_seen = self.governance.time;
        self.give_place(old, new, 0, gone.map(|player| Player { first_seen, ..player }));
    }

    /// Ends the session of a key that is given up.
    fn begin_moving(&mut self, old: &PublicKey) {
        let here = self.players.get(old).is_some_and(|player| player.session.is_some());
        if here {
            self.despawn(old);
        }
        self.histories.remove(old);
    }

    /// Remembers a key that was given up, and has the other one be the player that it was.
    fn give_place(&mut self, old: PublicKey, new: PublicKey, number: u32, gone: Option<Player>) {
        let rotated = RotatedKey { to: new, number, time: self.governance.time };
        self.remember_rotated(old, rotated);
        if let Some(player) = gone {
            let since = &player.since;
            self.forgotten.push((old, *since));
            let since = since.begun_at(self.clock.height);
            self.put_player(new, Player { since, session: None, ..player });
        }
        self.appoint();
    }

    /// Moves things, lands, lots, source and gas.
    fn move_things(&mut self, old: PublicKey, new: PublicKey) {
        if let Some(things) = self.owned.remove(&old) {
            for id in &things {
                if let Some(object) = self.objects.get_mut(id) {
                    object.owner = Some(new);
                }
            }
            self.owned.insert(new, things);
        }
        self.luggage.change_owner(&old, new);
        let builders: Vec<PublicKey> = self.histories.iter().map(|(key, _)| *key).collect();
        for builder in builders {
            if self.histories.get(&builder).is_some_and(|history| history.restores_to(&old))
                && let Some(history) = self.histories.get_mut(&builder)
            {
                history.change_owner(&old, new);
            }
        }
        for land in &mut self.charter.lands {
            if land.title == Title::Player(old) {
                land.title = Title::Player(new);
            }
        }
        self.move_lots(old, new);
        if let Some(pool) = self.owners.remove(&Some(old)) {
            self.owners.insert(Some(new), pool);
        }
        // Pieces stay with the old key, and leave in a minute.
        self.publications.change_publisher(&old, new);
    }

    /// Moves the standing as admin, tickets and roles.
    fn move_powers(&mut self, old: PublicKey, new: PublicKey) {
        let governance = &mut self.governance;
        if governance.admins.remove(&old) {
            governance.admins.insert(new);
        }
        for delayed in governance.delayed.iter_mut().filter(|delayed| delayed.by == old) {
            delayed.by = new;
        }
        if governance.temp_admin == Some(old) {
            governance.temp_admin = Some(new);
        }
        self.first_logins.change_issuer(&old, new);
        let people = &mut self.people;
        for (area, right, given) in people.revoke_all(old).all() {
            people.grant(new, area, &[right].into(), given);
        }
    }

    /// Ends what a key might do for the sim. Its tickets go on: an admin withdraws them.
    fn end_powers(&mut self, old: PublicKey) {
        self.governance.admins.remove(&old);
        self.governance.temp_admin.take_if(|temp| *temp == old);
        self.governance.delayed.retain(|delayed| delayed.by != old);
        self.people.revoke_all(old);
    }

    /// Moves what is said of a key, its friends, its clubs and its sanctions. Of a profile the new key signs
    /// another one.
    fn move_standing(&mut self, old: PublicKey, new: PublicKey) {
        let people = &mut self.people;
        people.friends.change_owner(&old, new);
        people.clubs.change_key(&old, new);
        people.profiles.give_up(&old, new);
        people.reports.change_key(&old, new);
        people.traces.change_key(&old, new);
        if let Some(ban) = people.bans.get(&old).cloned() {
            people.set_ban(old, None);
            people.set_ban(new, Some(ban));
        }
        if let Some(mute) = people.mutes.get(&old).cloned() {
            people.set_mute(old, None);
            people.set_mute(new, Some(mute));
        }
    }

    /// Remembers a key that was given up, and forgets the oldest one if there are too many.
    fn remember_rotated(&mut self, old: PublicKey, rotated: RotatedKey) {
        self.people.rotated.insert(old, rotated);
        if self.people.rotated.len() > ROTATED_MAX {
            let all = self.people.rotated.iter();
            let oldest = all.min_by_key(|(key, rotated)| (rotated.time, **key));
            let oldest = oldest.map(|(key, _)| *key).expect("it has more than one entry");
            self.people.rotated.remove(&oldest);
        }
    }
}

impl World {
    /// Returns by which key this one was replaced, if it was given up here.
    #[must_use]
    pub fn rotated(&self, key: &PublicKey) -> Option<&RotatedKey> {
        self.state.people.rotated.get(key)
    }
}

#[cfg(test)]
mod tests;
