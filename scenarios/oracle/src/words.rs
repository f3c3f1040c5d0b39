//! What every honest server ever signed: one thing in each place.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use metatopia_consensus::Message;
use metatopia_types::{HeaderId, Height, Proposal, PublicKey, Round, Signature, Vote, VoteKind};

/// A place where a server may sign one thing: votes of two kinds, and proposals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Slot {
    pub(crate) name: PublicKey,
    pub(crate) height: Height,
    round: Round,
    /// None for a proposal.
    kind: Option<VoteKind>,
}

impl Slot {
    /// Returns the slot of a vote or a proposal, and the turn that it is for; `None` for other messages.
    pub(crate) fn of(message: &Message) -> Option<(Self, Option<HeaderId>)> {
        match message {
            Message::Vote(vote) => Some((Self::vote(&vote.message), vote.message.header)),
            Message::Proposal(proposal) => {
                Some((Self::proposal(&proposal.message), Some(proposal.message.header)))
            }
            _ => None,
        }
    }

    pub(crate) fn vote(vote: &Vote) -> Self {
        let kind = Some(vote.kind);
        Self { name: vote.voter, height: vote.height, round: vote.round, kind }
    }

    pub(crate) fn proposal(proposal: &Proposal) -> Self {
        let name = proposal.proposer;
        Self { name, height: proposal.height, round: proposal.round, kind: None }
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Words {
    said: BTreeMap<Slot, String>,
    known: BTreeSet<Signature>,
    /// When each signed something new at a height, for the last time.
    voters: BTreeMap<(PublicKey, Height), Duration>,
}

impl Words {
    /// Returns whether this signature was seen and checked before.
    pub(crate) fn knows(&self, signature: &Signature) -> bool {
        self.known.contains(signature)
    }

    pub(crate) fn learn(&mut self, signature: Signature) {
        self.known.insert(signature);
    }

    /// Notes what is said in this place. Returns what was said there before, if that was something else.
    pub(crate) fn contradicts(&mut self, slot: Slot, what: &str) -> Option<String> {
        let before = self.said.entry(slot).or_insert_with(|| what.to_owned());
        (before != what).then(|| before.clone())
    }

    /// Notes that somebody voted or proposed at this height.
    pub(crate) fn note_voter(&mut self, at: Duration, name: PublicKey, height: Height) {
        self.voters.insert((name, height), at);
    }

    /// Returns who voted or proposed, and at which heights.
    pub(crate) fn voters(&self) -> Vec<(PublicKey, Height)> {
        self.voters.keys().copied().collect()
    }

    /// The heights at which somebody signed something new since a moment, ascending.
    pub(crate) fn heights_of(&self, name: PublicKey, since: Duration) -> Vec<Height> {
        let all = (name, Height(0))..=(name, Height(u64::MAX));
        let signed = self.voters.range(all).filter(|(_, at)| **at >= since);
        signed.map(|((_, height), _)| *height).collect()
    }
}
