//! Clubs: people with a channel of their own. Who is in which, who is invited, and who owns one that its owner
//! left.
//!
//! Keys cost nothing in an open sim, so newcomers fill half of the register and half of the invites to one
//! person, and no more.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_types::{ClubId, ClubName, PublicKey, Refusal};
use serde::{Deserialize, Serialize};

use super::names::{check_name, skeleton_of};
use crate::{
    limits::{
        CLUB_INVITES_MAX, CLUB_MEMBERS_MAX, CLUBS_MAX, CLUBS_OF_NEWCOMERS_MAX,
        CLUBS_PER_PERSON_MAX, ENDINGS_PER_TURN_MAX, INVITES_TO_PERSON_BY_NEWCOMERS_MAX,
        INVITES_TO_PERSON_MAX,
    },
    state::{State, World},
    tree::Tracked,
};

/// People with a channel of their own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Club {
    /// What it is called; no two clubs have names that look alike.
    pub name: String,
    /// The member who may remove others, and end the club.
    pub owner: PublicKey,
    /// Whether a newcomer founded it, who has not come as a regular since.
    pub newcomer: bool,
    /// The members, each with the governance time since which.
    pub members: BTreeMap<PublicKey, u64>,
    /// Who is invited and has not answered.
    pub invites: BTreeMap<PublicKey, ClubInvite>,
}

/// An invite to a club.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClubInvite {
    /// The member who invited.
    pub by: PublicKey,
    /// Whether that was a newcomer then.
    pub newcomer: bool,
    /// The governance time at which it ends.
    pub until: u64,
}

impl Club {
    /// Returns a club of one.
    pub(crate) fn founded(name: String, owner: PublicKey, newcomer: bool, time: u64) -> Self {
        let (members, invites) = ([(owner, time)].into(), BTreeMap::new());
        Self { name, owner, newcomer, members, invites }
    }

    /// Returns the club without a key, and without the invites that are by it or to it. If that was the owner,
    /// the member becomes it who is in for longest. Nothing if nobody is left.
    pub(crate) fn without(mut self, key: &PublicKey) -> Option<Self> {
        self.members.remove(key);
        self.drop_invites(key);
        if self.owner == *key {
            let longest = self.members.iter().min_by_key(|(member, since)| (**since, **member));
            self.owner = *longest?.0;
        }
        Some(self)
    }

    /// Drops the invites that are by a key or to it.
    fn drop_invites(&mut self, key: &PublicKey) {
        self.invites.retain(|invited, invite| invited != key && invite.by != *key);
    }

    /// Makes everything that one key is here be another's.
    fn change_key(&mut self, old: &PublicKey, new: PublicKey) {
        if self.owner == *old {
            self.owner = new;
        }
        let since = self.members.remove(old);
        self.members.extend(since.map(|since| (new, since)));
        let invite = self.invites.remove(old);
        self.invites.extend(invite.map(|invite| (new, invite)));
        for invite in self.invites.values_mut().filter(|invite| invite.by == *old) {
            invite.by = new;
        }
    }

    /// Returns an invite that has not ended at this time.
    pub(crate) fn invite(&self, key: &PublicKey, time: u64) -> Result<&ClubInvite, Refusal> {
        let invite = self.invites.get(key).filter(|invite| invite.until > time);
        invite.ok_or(Refusal::NoInvite)
    }

    /// Checks that a key is a member's.
    pub(crate) fn check_member(&self, key: &PublicKey) -> Result<(), Refusal> {
        if self.members.contains_key(key) { Ok(()) } else { Err(Refusal::NotMember) }
    }

    /// Checks that a key is the owner's.
    pub(crate) fn check_owner(&self, key: &PublicKey) -> Result<(), Refusal> {
        if self.owner == *key { Ok(()) } else { Err(Refusal::NotClubOwner) }
    }

    /// Checks that one more may become a member.
    pub(crate) fn check_room(&self) -> Result<(), Refusal> {
        if self.members.len() < CLUB_MEMBERS_MAX { Ok(()) } else { Err(Refusal::ClubFull) }
    }
}

/// The clubs of a sim.
#[derive(Debug, Clone, Default)]
pub(crate) struct Clubs {
    pub(crate) all: Tracked<ClubId, Club>,
    /// Index: the clubs of each member.
    by_member: BTreeSet<(PublicKey, ClubId)>,
    /// Index: the clubs to which each person is invited.
    by_invited: BTreeSet<(PublicKey, ClubId)>,
    /// Index: the invites by the time at which they end.
    endings: BTreeSet<(u64, ClubId, PublicKey)>,
    /// Index: the skeletons of names.
    names: BTreeMap<String, ClubId>,
    /// Index: the clubs of newcomers.
    of_newcomers: BTreeSet<ClubId>,
}

impl Clubs {
    /// Builds the indexes.
    pub(crate) fn index(&mut self) {
        let all = core::mem::take(&mut self.all);
        *self = Self::default();
        all.iter().for_each(|(id, club)| self.list(*id, club));
        self.all = all;
    }

    /// Lists a club in the indexes.
    fn list(&mut self, id: ClubId, club: &Club) {
        self.by_member.extend(club.members.keys().map(|member| (*member, id)));
        self.by_invited.extend(club.invites.keys().map(|invited| (*invited, id)));
        let ending = |(key, invite): (&PublicKey, &ClubInvite)| (invite.until, id, *key);
        self.endings.extend(club.invites.iter().map(ending));
        self.names.insert(skeleton_of(&club.name), id);
        self.of_newcomers.extend(club.newcomer.then_some(id));
    }

    /// Takes a club out of the indexes.
    fn unlist(&mut self, id: ClubId, club: &Club) {
        for member in club.members.keys() {
            self.by_member.remove(&(*member, id));
        }
        for (invited, invite) in &club.invites {
            self.by_invited.remove(&(*invited, id));
            self.endings.remove(&(invite.until, id, *invited));
        }
        self.names.remove(&skeleton_of(&club.name));
        self.of_newcomers.remove(&id);
    }

    /// Sets a club, or removes it.
    fn set(&mut self, id: ClubId, club: Option<Club>) {
        if let Some(before) = self.all.remove(&id) {
            self.unlist(id, &before);
        }
        if let Some(club) = club {
            self.list(id, &club);
            self.all.insert(id, club);
        }
    }

    /// Returns a club.
    pub(crate) fn club(&self, id: ClubId) -> Result<&Club, Refusal> {
        self.all.get(&id).ok_or(Refusal::NoClub)
    }

    /// Returns the numbers of the clubs in which somebody is, ascending.
    pub(crate) fn of<'a>(&'a self, member: &PublicKey) -> impl Iterator<Item = ClubId> + use<'a> {
        listed(&self.by_member, member)
    }

    /// Returns the numbers of the clubs to which somebody is invited, ascending.
    pub(crate) fn inviting<'a>(
        &'a self,
        invited: &PublicKey,
    ) -> impl Iterator<Item = ClubId> + use<'a> {
        listed(&self.by_invited, invited)
    }

    /// Says whether somebody is in the club of this name.
    pub(crate) fn is_in_named(&self, member: &PublicKey, name: &str) -> bool {
        let mut own = self.of(member).filter_map(|id| self.all.get(&id));
        own.any(|club| club.name == name)
    }

    /// Checks that a club may have this name. The club itself may have one that looks like its own.
    pub(crate) fn check_free_name(&self, own: Option<ClubId>, name: &str) -> Result<(), Refusal> {
        check_name(name)?;
        let holder = self.names.get(&skeleton_of(name)).copied();
        if holder.is_none() || holder == own { Ok(()) } else { Err(Refusal::ClubNameTaken) }
    }

    /// Checks that somebody may be in one more club.
    pub(crate) fn check_share(&self, member: &PublicKey) -> Result<(), Refusal> {
        let fits = self.of(member).count() < CLUBS_PER_PERSON_MAX;
        if fits { Ok(()) } else { Err(Refusal::TooManyClubs) }
    }

    /// Checks that the sim may have one more club.
    pub(crate) fn check_register(&self, is_newcomer: bool) -> Result<(), Refusal> {
        let is_full = self.all.len() >= CLUBS_MAX;
        let of_newcomers = self.of_newcomers.len() >= CLUBS_OF_NEWCOMERS_MAX;
        if is_full || is_newcomer && of_newcomers { Err(Refusal::ClubsFull) } else { Ok(()) }
    }

    /// Checks that one more invite to somebody may be open.
    pub(crate) fn check_invites(
        &self,
        club: &Club,
        key: &PublicKey,
        is_newcomer: bool,
    ) -> Result<(), Refusal> {
        let invites = self.inviting(key).filter_map(|id| self.all.get(&id)?.invites.get(key));
        let by_newcomers = invites.filter(|invite| invite.newcomer).count();
        let is_full = club.invites.len() >= CLUB_INVITES_MAX
            || self.inviting(key).count() >= INVITES_TO_PERSON_MAX
            || is_newcomer && by_newcomers >= INVITES_TO_PERSON_BY_NEWCOMERS_MAX;
        if is_full { Err(Refusal::TooManyInvites) } else { Ok(()) }
    }

    /// Has the clubs of an owner who came as a regular take no place of newcomers any more.
    pub(crate) fn grow_up(&mut self, owner: &PublicKey) {
        let own = self.of(owner).filter_map(|id| Some((id, self.all.get(&id)?)));
        let young = own.filter(|(_, club)| club.newcomer && club.owner == *owner);
        let young: Vec<ClubId> = young.map(|(id, _)| id).collect();
        for id in young {
            self.change(id, |club| Some(Club { newcomer: false, ..club }));
        }
    }

    /// Changes a club that is there, into nothing if that ends it. Says whether it ended.
    fn change(&mut self, id: ClubId, change: impl FnOnce(Club) -> Option<Club>) -> bool {
        let Some(club) = self.all.get(&id).cloned() else { return false };
        let after = change(club);
        let has_ended = after.is_none();
        self.set(id, after);
        has_ended
    }

    /// Makes one key be in the clubs, and be invited, where another one was.
    pub(crate) fn change_key(&mut self, old: &PublicKey, new: PublicKey) {
        let by_it = |(id, club): (&ClubId, &Club)| {
            let is_named = club.members.contains_key(old) || club.invites.contains_key(old);
            (is_named || club.invites.values().any(|invite| invite.by == *old)).then_some(*id)
        };
        let named: Vec<ClubId> = self.all.iter().filter_map(by_it).collect();
        for id in named {
            self.change(id, |mut club| {
                club.change_key(old, new);
                Some(club)
            });
        }
    }

    /// Ends the invites that nobody answered in time, some of them in each turn.
    pub(crate) fn pass(&mut self, time: u64) {
        for _ in 0..ENDINGS_PER_TURN_MAX {
            let Some((until, id, key)) = self.endings.first().copied() else { return };
            if until > time {
                return;
            }
            self.change(id, |mut club| {
                club.invites.remove(&key);
                Some(club)
            });
        }
    }
}

/// Returns the clubs that an index lists for somebody.
fn listed<'a>(
    index: &'a BTreeSet<(PublicKey, ClubId)>,
    key: &PublicKey,
) -> impl Iterator<Item = ClubId> + use<'a> {
    index.range((*key, ClubId(0))..=(*key, ClubId(u64::MAX))).map(|(_, id)| *id)
}

impl State {
    /// Sets a club, or removes it. A lot that was open to one that is gone is closed to it.
    pub(crate) fn set_club(&mut self, id: ClubId, club: Option<Club>) {
        self.clock.next_club = self.clock.next_club.max(id.plus(1));
        if club.is_none() {
            self.shut_lots_to(id);
        }
        self.people.clubs.set(id, club);
    }

    /// Takes a key out of all clubs, and out of the invites.
    pub(crate) fn leave_clubs(&mut self, key: &PublicKey) {
        self.drop_club_invites(key);
        let own: Vec<ClubId> = self.people.clubs.of(key).collect();
        for id in own {
            if self.people.clubs.change(id, |club| club.without(key)) {
                self.shut_lots_to(id);
            }
        }
    }

    /// Drops the invites to clubs that are by a key or to it.
    pub(crate) fn drop_club_invites(&mut self, key: &PublicKey) {
        let clubs = &mut self.people.clubs;
        // Only members invite.
        let named: BTreeSet<ClubId> = clubs.inviting(key).chain(clubs.of(key)).collect();
        for id in named {
            clubs.change(id, |mut club| {
                club.drop_invites(key);
                Some(club)
            });
        }
    }

    /// Takes a key that is shut out from the invites; one that is shut out for good is in no club any more.
    pub(crate) fn ban_from_clubs(&mut self, key: &PublicKey, is_for_good: bool) {
        if is_for_good { self.leave_clubs(key) } else { self.drop_club_invites(key) }
    }
}

impl World {
    /// Returns a club.
    #[must_use]
    pub fn club(&self, id: ClubId) -> Option<&Club> {
        self.state.people.clubs.all.get(&id)
    }

    /// Returns the clubs of greater numbers, ascending.
    pub fn clubs_after(&self, after: ClubId) -> impl Iterator<Item = (ClubId, &Club)> {
        self.state.people.clubs.all.after(after).map(|(id, club)| (*id, club))
    }

    /// Returns the clubs in which somebody is, and those to which she is invited, ascending.
    #[must_use]
    pub fn clubs_of(&self, key: &PublicKey) -> Vec<(ClubId, &Club)> {
        let clubs = &self.state.people.clubs;
        let named: BTreeSet<ClubId> = clubs.of(key).chain(clubs.inviting(key)).collect();
        named.into_iter().filter_map(|id| Some((id, clubs.all.get(&id)?))).collect()
    }

    /// Returns how a club is called by people, if there is one of this number.
    #[must_use]
    pub fn club_name(&self, club: ClubId) -> Option<ClubName> {
        self.club(club).map(|found| ClubName { club, name: found.name.clone() })
    }
}

#[cfg(test)]
mod tests;
