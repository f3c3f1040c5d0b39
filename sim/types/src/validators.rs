//! Who votes at one height, with which power, and who may lead.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::{Digest, Height, PublicKey, Round, ValidatorsId, limits, wire};

/// A server that votes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Validator {
    /// Signs its votes.
    pub key: PublicKey,
    /// Its share of the vote, at least 1.
    pub power: u32,
}

/// The validators of ONE height, sorted by key, and which of them lead its first rounds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValidatorSet {
    members: Vec<Validator>,
    leaders: Vec<u16>,
}

/// Why members and leaders are no set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ValidatorSetError {
    /// No member, or more than `VALIDATORS_MAX`.
    #[error("{0} validators where 1 to {max} are allowed", max = limits::VALIDATORS_MAX)]
    Count(usize),
    /// Members are not strictly ascending by key.
    #[error("validator {0} is out of order or there twice")]
    Order(PublicKey),
    /// A member without a vote.
    #[error("validator {0} has no voting power")]
    Powerless(PublicKey),
    /// A leader that is no member, or leaders that are not strictly ascending, or none.
    #[error("the leaders are not an ascending choice of members")]
    Leaders,
}

impl ValidatorSet {
    /// A set of these members, led by those among them that `leads` says may lead; by all, if it
    /// says none may.
    ///
    /// # Errors
    /// See [`ValidatorSetError`].
    pub fn new(
        mut members: Vec<Validator>,
        leads: impl Fn(&PublicKey) -> bool,
    ) -> Result<Self, ValidatorSetError> {
        members.sort();
        let all = 0..u16::try_from(members.len()).unwrap_or(u16::MAX);
        let mut leaders: Vec<u16> =
            all.clone().filter(|i| leads(&members[usize::from(*i)].key)).collect();
        if leaders.is_empty() {
            leaders = all.collect();
        }
        let set = Self { members, leaders };
        set.check()?;
        Ok(set)
    }

    /// Checks what [`ValidatorSet::new`] guarantees, because a set from the wire has not been through it.
    ///
    /// # Errors
    /// See [`ValidatorSetError`].
    pub fn check(&self) -> Result<(), ValidatorSetError> {
        if self.members.is_empty() || self.members.len() > limits::VALIDATORS_MAX {
            return Err(ValidatorSetError::Count(self.members.len()));
        }
        if let Some(pair) = self.members.windows(2).find(|pair| pair[0].key >= pair[1].key) {
            return Err(ValidatorSetError::Order(pair[1].key));
        }
        if let Some(none) = self.members.iter().find(|member| member.power == 0) {
            return Err(ValidatorSetError::Powerless(none.key));
        }
        let ascending = self.leaders.windows(2).all(|pair| pair[0] < pair[1]);
        let known = self.leaders.iter().all(|i| usize::from(*i) < self.members.len());
        if !ascending || !known || self.leaders.is_empty() {
            return Err(ValidatorSetError::Leaders);
        }
        Ok(())
    }

    /// The members, ascending by key.
    #[must_use]
    pub fn members(&self) -> &[Validator] {
        &self.members
    }

    /// The keys of those that lead the first rounds, ascending.
    pub fn leaders(&self) -> impl Iterator<Item = PublicKey> + '_ {
        self.leaders.iter().map(|i| self.members[usize::from(*i)].key)
    }

    /// The member with this key.
    #[must_use]
    pub fn get(&self, key: &PublicKey) -> Option<&Validator> {
        self.members.binary_search_by(|member| member.key.cmp(key)).ok().map(|at| &self.members[at])
    }

    /// Returns the voting power of all members together.
    #[must_use]
    pub fn total_power(&self) -> u64 {
        self.members.iter().map(|member| u64::from(member.power)).sum()
    }

    /// The least power that is more than two thirds of all.
    #[must_use]
    pub fn quorum(&self) -> u64 {
        self.total_power() * 2 / 3 + 1
    }

    /// Returns who proposes.
    ///
    /// The first rounds rotate over the leaders; once each of them had its round, rounds rotate
    /// over ALL members, or bad leaders could block a height for ever.
    #[must_use]
    pub fn proposer(&self, height: Height, round: Round) -> PublicKey {
        let (leaders, members) = (self.leaders.len() as u64, self.members.len() as u64);
        let turn = height.0.wrapping_add(u64::from(round.0));
        let at = if u64::from(round.0) < leaders {
            usize::from(self.leaders[(turn % leaders) as usize])
        } else {
            (turn % members) as usize
        };
        self.members[at].key
    }

    /// Returns what headers state: the digest of the members. Leaders are left out, so that a light client
    /// need not follow who missed a turn; the state's root commits to them.
    #[must_use]
    pub fn id(&self) -> ValidatorsId {
        ValidatorsId(Digest::of("metatopia validators v1", &wire::encode(&self.members)))
    }
}
