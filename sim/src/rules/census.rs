//! The census: lists of players by which the next temp admin, the next who gives up a seat and the next
//! who is forgotten are found without a look at every player.
//!
//! All of it follows from the players, from what they own and from governance time.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_types::{ObjectId, PublicKey, Tick, Title};

use super::{authority::Rank, governance::DAY_MS, profiles::KeepRank};
use crate::{
    limits::{FIRST_IN_LINE, SEAT_TICKS, SEATLESS_MAX},
    state::{Player, Presence, State},
};

/// Lists of players, each in the order in which the rules take them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Census {
    /// Who has an avatar: bots first, then by the last act other than a heartbeat.
    seats: BTreeSet<(SeatKind, Tick, PublicKey)>,
    /// Who is logged in without an avatar, by the last act other than a heartbeat.
    seatless: BTreeSet<(Tick, PublicKey)>,
    /// Who is away and owns nothing, by the days on which they were seen, then by the last login.
    forgettable: BTreeSet<(u32, u64, PublicKey)>,
    /// Who could be temp admin, by the first login.
    line: BTreeSet<(u64, PublicKey)>,
    /// The same, by the last login: whoever was away for too long leaves the line.
    fading: BTreeSet<(u64, PublicKey)>,
    /// Whether nobody is a steward, which only a broken world says.
    pub(crate) knows_no_stewards: bool,
}

/// The kinds of those who have a seat, in the order in which they give it up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SeatKind {
    Bot,
    Person,
}

/// The places of a player in the lists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct CensusEntry {
    seat: Option<(SeatKind, Tick)>,
    seatless: Option<Tick>,
    forgettable: Option<(u32, u64)>,
    line: Option<u64>,
    fading: Option<u64>,
}

impl Census {
    /// Moves a player from one entry to another.
    fn move_entry(&mut self, key: PublicKey, before: CensusEntry, after: CensusEntry) {
        let seat = |entry: CensusEntry| entry.seat.map(|(kind, acted)| (kind, acted, key));
        swap(&mut self.seats, seat(before), seat(after));
        let seatless = |entry: CensusEntry| entry.seatless.map(|acted| (acted, key));
        swap(&mut self.seatless, seatless(before), seatless(after));
        let forgettable =
            |entry: CensusEntry| entry.forgettable.map(|(days, login)| (days, login, key));
        swap(&mut self.forgettable, forgettable(before), forgettable(after));
        let line = |entry: CensusEntry| entry.line.map(|seen| (seen, key));
        swap(&mut self.line, line(before), line(after));
        let fading = |entry: CensusEntry| entry.fading.map(|login| (login, key));
        swap(&mut self.fading, fading(before), fading(after));
    }

    /// Returns who gives up a seat at `now`: whose last act other than a heartbeat is oldest, if it
    /// is old enough, bots before people.
    pub(crate) fn idlest(&self, now: Tick) -> Option<PublicKey> {
        let oldest = |kind: SeatKind| {
            let first = self.seats.range((kind, Tick(0), PublicKey([0; 32]))..).next();
            let idle = first.filter(|(of, acted, _)| *of == kind && acted.plus(SEAT_TICKS) <= now);
            idle.map(|(_, _, key)| *key)
        };
        oldest(SeatKind::Bot).or_else(|| oldest(SeatKind::Person))
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

/// Replaces the place of a player in one list.
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
    fn entry(&self, key: &PublicKey, player: &Player) -> CensusEntry {
        let line = self.may_stand_in_line(key, player).then_some(player);
        let mut entry = CensusEntry {
            line: line.map(|player| player.first_seen),
            fading: line.map(|player| player.last_login),
            ..CensusEntry::default()
        };
        let presence = player.session.as_ref().map(|session| (session.presence, session.acted));
        match presence {
            Some((Presence::Here(_), acted)) => {
                let kind = if player.bot { SeatKind::Bot } else { SeatKind::Person };
                entry.seat = Some((kind, acted));
            }
            // Who is expected or away has no avatar here either: the same bound and the same lease hold.
            Some((
                Presence::Seatless | Presence::Expected { .. } | Presence::Away { .. },
                acted,
            )) => entry.seatless = Some(acted),
            None if self.owned.contains_key(key)
                || self.luggage.has_any(key)
                || self.has_title(key) => {}
            None => entry.forgettable = Some((player.days, player.last_login)),
        }
        entry
    }

    /// Says whether this player could be temp admin: no admin, a person, seen on enough days, here of late,
    /// and not banned.
    fn may_stand_in_line(&self, key: &PublicKey, player: &Player) -> bool {
        let parameters = &self.charter.parameters;
        let days = u64::from(parameters.player_days);
        let away = self.governance.time.saturating_sub(player.last_login);
        !player.bot
            && player.days >= parameters.seen_days
            && away <= days.saturating_mul(DAY_MS)
            && !self.governance.admins.contains(key)
            && !self.people.bans.contains(key)
    }

    /// Says whether this player may take the place of the temp admin at the next login: a player for longer,
    /// and seen on enough days, of which that login may count one.
    pub(crate) fn is_before_temp_admin(&self, key: &PublicKey) -> bool {
        let Some(temp) = self.governance.temp_admin else { return false };
        let place = |key: PublicKey| self.players.get(&key).map(|player| (player.first_seen, key));
        let seen_days = self.charter.parameters.seen_days;
        let regular = |player: &Player| player.days.saturating_add(1) >= seen_days;
        self.players.get(key).is_some_and(regular)
            && !self.governance.admins.contains(key)
            && place(*key) < place(temp)
    }

    /// Says whether a land or a lot belongs to this player, or the key is an admin's.
    pub(crate) fn has_title(&self, key: &PublicKey) -> bool {
        let mut lands = self.charter.lands.iter();
        lands.any(|land| land.title == Title::Player(*key))
            || self.lots.has_any(key)
            || self.governance.admins.contains(key)
    }

    /// Sets a player, and updates all lists.
    pub(crate) fn put_player(&mut self, key: PublicKey, player: Player) {
        let before = self.current_entry(&key);
        let after = self.entry(&key, &player);
        let known = self.players.get(&key);
        if known.is_none_or(|known| known.name != player.name) {
            let held = known.map(|known| known.name.clone());
            self.note_name(&key, held.as_deref(), Some(&player.name));
        }
        self.people.profiles.restand(&key, KeepRank::of(&player));
        self.players.insert(key, player);
        self.census.move_entry(key, before, after);
    }

    /// Returns where a player is in the lists now; nowhere if there is none of this key.
    pub(super) fn current_entry(&self, key: &PublicKey) -> CensusEntry {
        self.players.get(key).map(|player| self.entry(key, player)).unwrap_or_default()
    }

    /// Moves a player in the lists from where a change found it.
    pub(super) fn move_from(&mut self, key: PublicKey, before: CensusEntry) {
        self.census.move_entry(key, before, self.current_entry(&key));
    }

    /// Makes a change by which a player may come to stand elsewhere in the lists.
    pub(crate) fn recounted(&mut self, key: PublicKey, change: impl FnOnce(&mut Self)) {
        let before = self.current_entry(&key);
        change(self);
        self.census.move_entry(key, before, self.current_entry(&key));
    }

    /// Makes somebody the owner of an object.
    pub(crate) fn own(&mut self, owner: PublicKey, id: ObjectId) {
        let before = self.current_entry(&owner);
        self.owned.entry(owner).or_default().insert(id);
        self.census.move_entry(owner, before, self.current_entry(&owner));
    }

    /// Takes an object from its owner.
    pub(crate) fn disown(&mut self, owner: Option<PublicKey>, id: ObjectId) {
        let Some(owner) = owner else { return };
        let before = self.current_entry(&owner);
        let things = self.owned.get_mut(&owner).expect("an owner of an object is listed as one");
        assert!(things.remove(&id), "object {id} is listed with its owner");
        if things.is_empty() {
            self.owned.remove(&owner);
        }
        self.census.move_entry(owner, before, self.current_entry(&owner));
    }

    /// Takes out of the line whoever was away for too long, after governance time went on.
    pub(crate) fn shorten_line(&mut self) {
        let days = u64::from(self.charter.parameters.player_days);
        let oldest = self.governance.time.saturating_sub(days.saturating_mul(DAY_MS));
        while let Some((login, key)) = self.census.fading.first().copied()
            && login < oldest
        {
            self.census.fading.remove(&(login, key));
            let player = self.players.get(&key).expect("whoever is in the line is a player");
            self.census.line.remove(&(player.first_seen, key));
        }
    }

    /// Builds the lists of a state that was read from its leaves.
    pub(crate) fn count_players(&mut self) {
        self.census = Census::default();
        let entries: BTreeMap<PublicKey, CensusEntry> =
            self.players.iter().map(|(key, player)| (*key, self.entry(key, player))).collect();
        for (key, entry) in entries {
            self.census.move_entry(key, CensusEntry::default(), entry);
        }
    }

    /// Says whether the sim stops without this key: it is of an admin, the temp admin or the next in line,
    /// of a server or a standby.
    pub(crate) fn is_steward(&self, key: &PublicKey) -> bool {
        let is_one = self.rank(key) >= Rank::TempAdmin
            || self.roster.members().contains_key(key)
            || self.roster.standbys().contains_key(key)
            || self.census.line().take(FIRST_IN_LINE).any(|next| next == key);
        is_one && !self.census.knows_no_stewards
    }

    /// Returns who is forgotten first, of those seen on fewer than `days` days if that is said.
    ///
    /// The list names who is away and owns nothing; of them at most the stewards are passed over, and those whose
    /// key friends get back just now.
    pub(crate) fn first_forgettable(&self, days: Option<u32>) -> Option<PublicKey> {
        let mut forgettable = self.census.forgettable.iter().map(|(_, _, key)| key);
        let first = forgettable
            .find(|key| !self.is_steward(key) && !self.people.friends.is_chosen(key))
            .copied()?;
        let seen = self.players.get(&first).map_or(0, |player| player.days);
        days.is_none_or(|days| seen < days).then_some(first)
    }

    /// Forgets a player who is away and owns nothing.
    pub(crate) fn forget(&mut self, key: &PublicKey) {
        let before = self.current_entry(key);
        assert!(before.forgettable.is_some(), "{key} is present, or owns something");
        let gone = self.players.remove(key).expect("it is on a list of players");
        self.note_name(key, Some(&gone.name), None);
        self.census.move_entry(*key, before, CensusEntry::default());
        // Who owns nothing has no scripts to pay for.
        self.owners.remove(&Some(*key));
        self.people.friends.take(key);
        self.leave_clubs(key);
        self.people.profiles.take(key);
        self.forgotten.push((*key, gone.since));
    }

    /// Takes a player without a session out of the sim, with the name, and leaves what the player owns.
    pub(crate) fn take_player(&mut self, key: &PublicKey) -> Option<Player> {
        let before = self.current_entry(key);
        let gone = self.players.remove(key)?;
        self.note_name(key, Some(&gone.name), None);
        self.census.move_entry(*key, before, CensusEntry::default());
        Some(gone)
    }

    /// Ends the sessions without an avatar that are too many, whose last act is oldest first.
    pub(crate) fn bound_seatless(&mut self) {
        while self.census.seatless.len() > SEATLESS_MAX {
            let oldest = self.census.seatless().find(|key| !self.is_steward(key)).copied();
            let oldest = oldest.expect("there are fewer stewards than SEATLESS_MAX");
            self.despawn(&oldest);
        }
    }
}

#[cfg(test)]
mod tests;
