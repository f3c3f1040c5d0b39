//! The roster: who is a member after all turns so far, who waits, and who missed its turn to
//! propose. A pure function of decided turns, so every server names the same set for a height.

use alloc::{collections::BTreeMap, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::{
    Header, Height, NodeContact, PublicKey, Round, SetChange, Validator, ValidatorSet,
    ValidatorSetError, limits,
};

/// A validator, or one in waiting, with where it is reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Its share of the vote; none of a standby that is in reserve.
    pub power: u32,
    /// Where its node is.
    pub contact: NodeContact,
}

/// A proposer that missed its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Demotion {
    until: Height,
    strikes: u8,
}

/// Members, standbys, demotions, and the sets of the next [`limits::SET_LAG`] heights.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Roster {
    height: Height,
    members: BTreeMap<PublicKey, Member>,
    standbys: BTreeMap<PublicKey, Member>,
    demotions: BTreeMap<PublicKey, Demotion>,
    upcoming: [ValidatorSet; limits::SET_LAG as usize],
}

/// Why a change of the set is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RosterError {
    /// It is a member or a standby already.
    #[error("{0} is a validator or a standby already")]
    Known(PublicKey),
    /// It is neither.
    #[error("{0} is no validator and no standby")]
    Unknown(PublicKey),
    /// It does not wait for promotion.
    #[error("{0} is no standby")]
    NoStandby(PublicKey),
    /// A set never shrinks below [`limits::VALIDATORS_MIN`].
    #[error("a set of {0} validators cannot lose one")]
    TooFew(usize),
    /// It is in reserve, and everybody is there.
    #[error("{0} is in reserve, and no validator is absent")]
    NoneAbsent(PublicKey),
    /// There is no room.
    #[error("there are {0} already")]
    TooMany(usize),
    /// A peer id or address that is too long.
    #[error("a contact of {0} bytes is too long")]
    LongContact(usize),
    /// Another one is reached under that peer id. Who takes it would take its sessions.
    #[error("{0} has that peer id")]
    PeerIdTaken(PublicKey),
}

impl Roster {
    /// The roster at genesis: these members form the sets of the first heights.
    ///
    /// # Errors
    /// When they are no set.
    pub fn genesis(members: BTreeMap<PublicKey, Member>) -> Result<Self, ValidatorSetError> {
        let set = set_of(&members, |_| true)?;
        Ok(Self {
            height: Height(0),
            members,
            standbys: BTreeMap::new(),
            demotions: BTreeMap::new(),
            upcoming: [set.clone(), set.clone(), set],
        })
    }

    /// The set of a height from 1 to `SET_LAG` after the last decided one.
    #[must_use]
    pub fn set(&self, height: Height) -> Option<&ValidatorSet> {
        let ahead = height.0.checked_sub(self.height.0.checked_add(1)?)?;
        self.upcoming.get(usize::try_from(ahead).ok()?)
    }

    /// The set that the last decided turn fixed: that of `SET_LAG` heights later.
    #[must_use]
    pub fn newest_set(&self) -> &ValidatorSet {
        &self.upcoming[self.upcoming.len() - 1]
    }

    /// Members after all turns so far: in force `SET_LAG` heights later.
    #[must_use]
    pub const fn members(&self) -> &BTreeMap<PublicKey, Member> {
        &self.members
    }

    /// Returns the standbys, which wait for their own `Ready`.
    #[must_use]
    pub const fn standbys(&self) -> &BTreeMap<PublicKey, Member> {
        &self.standbys
    }

    /// Carries out an admin's change.
    ///
    /// # Errors
    /// See [`RosterError`]; nothing changed then.
    pub fn change(&mut self, change: &SetChange) -> Result<(), RosterError> {
        match change {
            SetChange::Add { key, contact } => self.add(*key, 1, contact),
            SetChange::Reserve { key, contact } => self.add(*key, 0, contact),
            SetChange::Remove { key } if self.standbys.remove(key).is_some() => Ok(()),
            SetChange::Remove { key } => self.remove(key),
        }
    }

    fn add(
        &mut self,
        key: PublicKey,
        power: u32,
        contact: &NodeContact,
    ) -> Result<(), RosterError> {
        if self.members.contains_key(&key) || self.standbys.contains_key(&key) {
            return Err(RosterError::Known(key));
        }
        if self.standbys.len() >= limits::STANDBYS_MAX {
            return Err(RosterError::TooMany(self.standbys.len()));
        }
        let longest = contact.peer_id.len().max(contact.address.len());
        if longest > limits::CONTACT_BYTES_MAX {
            return Err(RosterError::LongContact(longest));
        }
        // Servers without one are reached by nobody.
        let has = |(_, member): &(&PublicKey, &Member)| {
            !contact.peer_id.is_empty() && member.contact.peer_id == contact.peer_id
        };
        if let Some((holder, _)) = self.members.iter().chain(&self.standbys).find(has) {
            return Err(RosterError::PeerIdTaken(*holder));
        }
        self.standbys.insert(key, Member { power, contact: contact.clone() });
        Ok(())
    }

    fn remove(&mut self, key: &PublicKey) -> Result<(), RosterError> {
        if !self.members.contains_key(key) {
            return Err(RosterError::Unknown(*key));
        }
        if self.members.len() <= limits::VALIDATORS_MIN {
            return Err(RosterError::TooFew(self.members.len()));
        }
        self.members.remove(key);
        self.demotions.remove(key);
        Ok(())
    }

    /// Returns who has been absent for longest; of several, the first by key.
    #[must_use]
    pub fn absent(&self) -> Option<PublicKey> {
        let absent =
            self.demotions.iter().filter(|(_, d)| d.strikes >= limits::ABSENT_STRIKES).rev();
        absent.max_by_key(|(_, demotion)| demotion.strikes).map(|(key, _)| *key)
    }

    /// Returns whether this standby would become a member now by saying that it follows.
    #[must_use]
    pub fn calls(&self, key: &PublicKey) -> bool {
        let standby = self.standbys.get(key);
        standby.is_some_and(|standby| standby.power > 0 || self.absent().is_some())
    }

    /// Makes a standby a member, because it said that it follows. One in reserve takes the place of an absent
    /// member, which is in reserve then.
    ///
    /// # Errors
    /// See [`RosterError`]; nothing changed then.
    pub fn promote(&mut self, key: &PublicKey) -> Result<(), RosterError> {
        let standby = self.standbys.get(key).ok_or(RosterError::NoStandby(*key))?;
        if standby.power == 0 {
            let absent = self.absent().ok_or(RosterError::NoneAbsent(*key))?;
            self.replace(&absent, key);
            return Ok(());
        }
        if self.members.len() >= limits::VALIDATORS_MAX {
            return Err(RosterError::TooMany(self.members.len()));
        }
        if let Some(member) = self.standbys.remove(key) {
            self.members.insert(*key, member);
        }
        Ok(())
    }

    fn replace(&mut self, absent: &PublicKey, standby: &PublicKey) {
        if let (Some(old), Some(new)) = (self.members.remove(absent), self.standbys.remove(standby))
        {
            self.demotions.remove(absent);
            self.standbys.insert(*absent, Member { power: 0, ..old });
            self.members.insert(*standby, Member { power: 1, ..new });
        }
    }

    /// Closes the turn with this header, after its changes: notes who missed its round, and fixes
    /// the set of `SET_LAG` heights later.
    ///
    /// # Panics
    /// When headers do not come one after the other: then this is not the state they belong to.
    pub fn close(&mut self, header: &Header) {
        assert_eq!(header.height, self.height.plus(1), "turns are closed in order");
        self.height = header.height;
        for round in 0..header.round.0.min(limits::VALIDATORS_MAX as u32) {
            // Every proposer before the builder's round missed its turn.
            let key = self.upcoming[0].proposer(header.height, Round(round));
            if self.members.contains_key(&key) && key != header.proposer {
                self.strike(key);
            }
        }
        self.demotions.remove(&header.proposer);
        let latest = self.latest_to_lead(header.height.plus(limits::SET_LAG));
        let set = set_of(&self.members, |key| self.passed_over_until(key) <= latest)
            .expect("changes keep the members a set");
        self.upcoming.rotate_left(1);
        self.upcoming[limits::SET_LAG as usize - 1] = set;
    }

    /// Leaders of this height are those that are passed over until then at most.
    ///
    /// It is the height itself, unless that leaves less than f + 1 of them, as after faults of
    /// nearly everybody: up to f may be censors, and acts would wait until a demotion ends. Those
    /// whose demotion ends first lead too then; whoever of them is still away is struck again,
    /// ends later than the others, and so makes room for the next.
    fn latest_to_lead(&self, height: Height) -> Height {
        let mut ends: Vec<Height> =
            self.members.keys().map(|key| self.passed_over_until(key)).collect();
        ends.sort_unstable();
        height.max(ends[(ends.len() - 1) / 3])
    }

    fn passed_over_until(&self, key: &PublicKey) -> Height {
        self.demotions.get(key).map_or(Height(0), |demotion| demotion.until)
    }

    fn strike(&mut self, key: PublicKey) {
        let strikes = self.demotions.get(&key).map_or(0, |d| d.strikes);
        let heights =
            limits::DEMOTION_HEIGHTS_FIRST << strikes.min(limits::DEMOTION_STRIKES_MAX - 1);
        let strikes = strikes.saturating_add(1).min(limits::DEMOTION_STRIKES_MAX);
        self.demotions.insert(key, Demotion { until: self.height.plus(heights), strikes });
    }
}

fn set_of(
    members: &BTreeMap<PublicKey, Member>,
    leads: impl Fn(&PublicKey) -> bool,
) -> Result<ValidatorSet, ValidatorSetError> {
    let members: Vec<Validator> =
        members.iter().map(|(key, member)| Validator { key: *key, power: member.power }).collect();
    ValidatorSet::new(members, leads)
}
