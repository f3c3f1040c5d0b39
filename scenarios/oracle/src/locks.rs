//! Who prevoted and precommitted what: the rule that makes agreement safe.
//!
//! Who precommits a turn has seen a quorum prevote for it, and prevotes for another turn of that
//! height only if a quorum did so in a later round. Votes of liars are not followed: whatever a
//! quorum would need from them, they may have said.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_types::{HeaderId, Height, PublicKey, Round, Vote, VoteKind};

/// What honest servers voted at one height.
#[derive(Debug, Default)]
struct Votes {
    prevotes: BTreeMap<(HeaderId, Round), BTreeSet<PublicKey>>,
    precommits: BTreeMap<(PublicKey, Round), HeaderId>,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Locks {
    heights: BTreeMap<Height, Votes>,
}

impl Locks {
    /// An honest server voted.
    pub(crate) fn note(&mut self, vote: &Vote) {
        let Some(header) = vote.header else {
            return;
        };
        let votes = self.heights.entry(vote.height).or_default();
        match vote.kind {
            VoteKind::Prevote => {
                votes.prevotes.entry((header, vote.round)).or_default().insert(vote.voter);
            }
            VoteKind::Precommit => {
                votes.precommits.insert((vote.voter, vote.round), header);
            }
        }
    }

    /// The last turn that the voter precommitted before this round of its height, and in which.
    pub(crate) fn before(&self, vote: &Vote) -> Option<(Round, HeaderId)> {
        let rounds = (vote.voter, Round(0))..(vote.voter, vote.round);
        let last = self.heights.get(&vote.height)?.precommits.range(rounds).next_back();
        last.map(|((_, round), header)| (*round, *header))
    }

    /// Returns which honest servers prevoted for a turn in a round.
    pub(crate) fn prevoters(
        &self,
        height: Height,
        header: HeaderId,
        round: Round,
    ) -> BTreeSet<PublicKey> {
        let votes = self.heights.get(&height);
        votes.and_then(|votes| votes.prevotes.get(&(header, round))).cloned().unwrap_or_default()
    }
}
