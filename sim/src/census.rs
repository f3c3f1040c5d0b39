//! The census: who stands in line, who gives up a seat and who is forgotten, found without a look at
//! every player.
//!
//! All of it follows from the players, from what they own and from governance time.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_types::{ObjectId, PublicKey, Tick};

use crate::{
    governance::DAY_MS,
    land::Title,
    limits::{FIRST_IN_LINE, SEAT_TICKS, SEATLESS_MAX},
    players::Player,
    state::State,
};

/// Lists of players, each in the order in which the rules take them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Census {
    /// Who has an avatar: bots first, then by the last act other than a heartbeat.
    seats: BTreeSet<(Kind, Tick, PublicKey)>,
    /// Who is logged in without an avatar, by the last act other than a heartbeat.
    seatless: BTreeSet<(Tick, PublicKey)>,
    /// Who is away and owns nothing, by the days on which they were seen, then by the last login.
    passers: BTreeSet<(u32, u64, PublicKey)>,
    /// Who could be temp admin, by the first login.
    line: BTreeSet<(u64, PublicKey)>,
    /// The same, by the last login: whoever was away for too long leaves the line.
    fading: BTreeSet<(u64, PublicKey)>,
}

/// Who sits in a seat, in the order in which they give it up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Bot,
    Person,
}

/// Where a player is in the lists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Entry {
    seat: Option<(Kind, Tick)>,
    seatless: Option<Tick>,
    passer: Option<(u32, u64)>,
    line: Option<u64>,
    fading: Option<u64>,
}

impl Census {
    /// Moves a player from one entry to another.
    fn refile(&mut self, key: PublicKey, before: Entry, after: Entry) {
        let seat = |entry: Entry| entry.seat.map(|(kind, acted)| (kind, acted, key));
        swap(&mut self.seats, seat(before), seat(after));
        let seatless = |entry: Entry| entry.seatless.map(|acted| (acted, key));
        swap(&mut self.seatless, seatless(before), seatless(after));
        let passer = |entry: Entry| entry.passer.map(|(days, login)| (days, login, key));
        swap(&mut self.passers, passer(before), passer(after));
        let line = |entry: Entry| entry.line.map(|seen| (seen, key));
        swap(&mut self.line, line(before), line(after));
        let fading = |entry: Entry| entry.fading.map(|login| (login, key));
        swap(&mut self.fading, fading(before), fading(after));
    }

    /// Returns who gives up a seat at `now`: whose last act other than a heartbeat is oldest, if it
    /// is old enough, bots before people.
    pub(crate) fn idlest(&self, now: Tick) -> Option<PublicKey> {
        let oldest = |kind: Kind| {
            let first = self.seats.range((kind, Tick(0), PublicKey([0; 32]))..).next();
            let idle = first.filter(|(of, acted, _)| *of == kind && acted.plus(SEAT_TICKS) <= now);
            idle.map(|(_, _, key)| *key)
        };
        oldest(Kind::Bot).or_else(|| oldest(Kind::Person))
    }

    /// Returns who is logged in without an avatar, whose last act is oldest first.
    pub(crate) fn seatless(&self) -> impl Iterator<Item = &PublicKey> {
        self.seatless.iter().map(|(_, key)| key)
    }

    /// Returns those who could be temp admin, in the order in which the rule takes them.
    pub(crate) fn line(&self) -> impl Iterator<Item = &PublicKey> {
        self.line.iter().map(|(_, key)| key)
    }
}

fn swap<T: Ord>(list: &mut BTreeSet<T>, before: Option<T>, after: Option<T>) {
    if before == after {
        return;
    }
    if let Some(before) = before {
        list.remove(&before);
    }
    list.extend(after);
}

impl State {
    /// Returns where a player who is as this one is in the lists.
    fn entry(&self, key: &PublicKey, player: &Player) -> Entry {
        let line = self.may_stand_in_line(key, player).then_some(player);
        let mut entry = Entry {
            line: line.map(|player| player.first_seen),
            fading: line.map(|player| player.last_login),
            ..Entry::default()
        };
        match &player.session {
            Some(session) if session.avatar.is_some() => {
                let kind = if player.bot { Kind::Bot } else { Kind::Person };
                entry.seat = Some((kind, session.acted));
            }
            Some(session) => entry.seatless = Some(session.acted),
            None if self.owned.contains_key(key) || self.has_title(key) => {}
            None => entry.passer = Some((player.days, player.last_login)),
        }
        entry
    }

    /// Could this player be temp admin: no admin, a person seen on enough days, and here of late?
    fn may_stand_in_line(&self, key: &PublicKey, player: &Player) -> bool {
        let parameters = &self.charter.parameters;
        let days = u64::from(parameters.player_days);
        let away = self.governance.time.saturating_sub(player.last_login);
        !player.bot
            && player.days >= parameters.seen_days
            && away <= days.saturating_mul(DAY_MS)
            && !self.governance.admins.contains(key)
    }

    /// Does a lot belong to this player, or is it an admin's key?
    fn has_title(&self, key: &PublicKey) -> bool {
        let mut lands = self.charter.lands.iter();
        lands.any(|land| land.title == Title::Player(*key)) || self.governance.admins.contains(key)
    }

    /// Sets a player, and follows in all lists.
    pub(crate) fn put_player(&mut self, key: PublicKey, player: Player) {
        let before = self.filed(&key);
        let after = self.entry(&key, &player);
        self.players.insert(key, player);
        self.census.refile(key, before, after);
    }

    /// Returns where a player is in the lists now; nowhere if there is none of this key.
    fn filed(&self, key: &PublicKey) -> Entry {
        self.players.get(key).map(|player| self.entry(key, player)).unwrap_or_default()
    }

    /// Makes somebody the owner of an object.
    pub(crate) fn own(&mut self, owner: PublicKey, id: ObjectId) {
        let before = self.filed(&owner);
        self.owned.entry(owner).or_default().insert(id);
        self.census.refile(owner, before, self.filed(&owner));
    }

    /// Takes an object from its owner.
    pub(crate) fn disown(&mut self, owner: Option<PublicKey>, id: ObjectId) {
        let Some(owner) = owner else { return };
        let before = self.filed(&owner);
        if let Some(things) = self.owned.get_mut(&owner) {
            things.remove(&id);
            if things.is_empty() {
                self.owned.remove(&owner);
            }
        }
        self.census.refile(owner, before, self.filed(&owner));
    }

    /// Takes out of the line whoever was away for too long, after governance time went on.
    pub(crate) fn shorten_line(&mut self) {
        let days = u64::from(self.charter.parameters.player_days);
        let oldest = self.governance.time.saturating_sub(days.saturating_mul(DAY_MS));
        while let Some((login, key)) = self.census.fading.first().copied()
            && login < oldest
        {
            self.census.fading.remove(&(login, key));
            if let Some(player) = self.players.get(&key) {
                self.census.line.remove(&(player.first_seen, key));
            }
        }
    }

    /// Makes the lists of a state that was put together from its leaves.
    pub(crate) fn count_players(&mut self) {
        self.census = Census::default();
        let entries: BTreeMap<PublicKey, Entry> =
            self.players.iter().map(|(key, player)| (*key, self.entry(key, player))).collect();
        for (key, entry) in entries {
            self.census.refile(key, Entry::default(), entry);
        }
    }

    /// Is this one of those without whom the sim stops: admins, the temp admin and the next in line,
    /// servers and standbys?
    pub(crate) fn is_steward(&self, key: &PublicKey) -> bool {
        self.governance.is_admin(key)
            || self.roster.members().contains_key(key)
            || self.roster.standbys().contains_key(key)
            || self.census.line().take(FIRST_IN_LINE).any(|next| next == key)
    }

    /// Returns who is forgotten first, of those seen on fewer than `days` days if that is said.
    ///
    /// The list names who is away and owns nothing; of them at most the stewards are passed over.
    pub(crate) fn passer(&self, days: Option<u32>) -> Option<PublicKey> {
        let mut passers = self.census.passers.iter().map(|(_, _, key)| key);
        let first = passers.find(|key| !self.is_steward(key)).copied()?;
        let seen = self.players.get(&first).map_or(0, |player| player.days);
        days.is_none_or(|days| seen < days).then_some(first)
    }

    /// Forgets a player who is away and owns nothing.
    pub(crate) fn forget(&mut self, key: &PublicKey) {
        let before = self.filed(key);
        assert!(before.passer.is_some(), "{key} is present, or owns something");
        let gone = self.players.remove(key).expect("it is on a list of players");
        self.census.refile(*key, before, Entry::default());
        // Who owns nothing has no scripts to pay for.
        self.owners.remove(&Some(*key));
        self.forgotten.push((*key, gone.since));
    }

    /// Ends the sessions without an avatar that are too many, whose last act is oldest first.
    pub(crate) fn bound_seatless(&mut self) {
        while self.census.seatless.len() > SEATLESS_MAX {
            let oldest = self.census.seatless().find(|key| !self.is_steward(key)).copied();
            let Some(oldest) = oldest else { return };
            self.despawn(&oldest);
        }
    }
}

#[cfg(test)]
mod tests;
