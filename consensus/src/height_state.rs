//! What was said at the height under way, beside what the core keeps.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use metatopia_types::{HeaderId, Proposal, PublicKey, Round, Signed, ValidatorSet, Vote, VoteKind};

use crate::limits::ROUNDS_COUNTED_MAX;

/// Proposals of one turn that are remembered: what its header may claim depends on them.
const PROPOSALS_PER_TURN_MAX: usize = 4;

/// One height's proposals, votes and verdicts.
#[derive(Debug, Default)]
pub(crate) struct HeightState {
    candidates: BTreeMap<HeaderId, Candidate>,
    nil_precommits: BTreeMap<Round, BTreeSet<PublicKey>>,
    /// The round whose turn we are asked for.
    pub build: Option<Round>,
    /// The turn we precommitted last.
    pub precommitted: Option<HeaderId>,
    /// Whether there was a look at the other servers' heights since this one began.
    pub looked: bool,
}

/// A turn that was proposed or voted for.
#[derive(Debug)]
pub(crate) struct Candidate {
    /// Those that the core accepted: the first, and the last few.
    pub proposals: Vec<Signed<Proposal>>,
    /// How many it accepted.
    pub accepted: u32,
    /// The last round in which it was proposed or voted for.
    pub round: Round,
    /// When it was first proposed, in monotonic time; or first voted for.
    pub seen: Duration,
    /// What we said about it, and what we knew then.
    pub judged: Option<Judged>,
    /// Who voted for it, so has its bytes.
    pub voters: BTreeSet<PublicKey>,
    /// How often it was asked for.
    pub asked: u32,
}

/// What we think of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Judged {
    /// Whether it is valid.
    pub valid: bool,
    /// Nothing that comes later can make it valid.
    pub hopeless: bool,
    /// On what grounds.
    pub grounds: Grounds,
}

/// What a verdict about who built a turn, and when, rests on. With more, another verdict may come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Grounds {
    /// Proposals of it that were accepted and count by now.
    pub proposals: u32,
    /// The last round in which a quorum prevoted for it.
    pub polka: Option<Round>,
}

impl HeightState {
    pub(crate) fn candidates(&self) -> &BTreeMap<HeaderId, Candidate> {
        &self.candidates
    }

    pub(crate) fn get(&self, header: HeaderId) -> Option<&Candidate> {
        self.candidates.get(&header)
    }

    pub(crate) fn get_mut(&mut self, header: HeaderId) -> Option<&mut Candidate> {
        self.candidates.get_mut(&header)
    }

    fn candidate(&mut self, header: HeaderId, now: Duration) -> &mut Candidate {
        self.candidates.entry(header).or_insert_with(|| Candidate {
            proposals: Vec::new(),
            accepted: 0,
            round: Round(0),
            seen: now,
            judged: None,
            voters: BTreeSet::new(),
            asked: 0,
        })
    }

    /// Notes a proposal that the core accepted.
    pub(crate) fn propose(&mut self, proposal: &Signed<Proposal>, now: Duration) {
        let candidate = self.candidate(proposal.message.header, now);
        if candidate.proposals.len() >= PROPOSALS_PER_TURN_MAX {
            // The first one tells whether the turn was fresh; the last one what is said now.
            candidate.proposals.remove(1);
        }
        candidate.proposals.push(proposal.clone());
        candidate.accepted = candidate.accepted.saturating_add(1);
        candidate.round = candidate.round.max(proposal.message.round);
    }

    /// Notes a vote that the core accepted.
    pub(crate) fn vote(&mut self, vote: &Vote, now: Duration) {
        match (vote.header, vote.kind) {
            (Some(header), _) => {
                let candidate = self.candidate(header, now);
                candidate.voters.insert(vote.voter);
                candidate.round = candidate.round.max(vote.round);
            }
            (None, VoteKind::Precommit) => {
                let voters = self.nil_precommits.entry(vote.round).or_default();
                voters.insert(vote.voter);
                if self.nil_precommits.len() > ROUNDS_COUNTED_MAX {
                    self.nil_precommits.pop_first();
                }
            }
            (None, VoteKind::Prevote) => {}
        }
    }

    /// Notes what this server said about a turn, now or in an earlier life.
    pub(crate) fn judge(&mut self, header: HeaderId, judged: Judged, now: Duration) {
        self.candidate(header, now).judged = Some(judged);
    }

    /// Returns whether a quorum precommitted nil. Then nothing can be decided in that round any more.
    pub(crate) fn is_over(&self, round: Round, set: &ValidatorSet) -> bool {
        let voters = self.nil_precommits.get(&round);
        let members = voters.into_iter().flatten().filter_map(|key| set.get(key));
        members.map(|member| u64::from(member.power)).sum::<u64>() >= set.quorum()
    }
}

impl Candidate {
    /// Returns the proposal that counts now.
    pub(crate) fn proposal(&self) -> Option<&Signed<Proposal>> {
        self.proposals.last()
    }

    /// Returns the rounds up to this one in which it was proposed for the first time, the last one first. What
    /// is proposed for a later round counts when that round comes; and that it was proposed before is the word
    /// of one server, which counts once a quorum prevoted for it there.
    pub(crate) fn fresh(&self, now: Round) -> impl Iterator<Item = Round> {
        let proposals = self.proposals.iter().rev().map(|proposal| &proposal.message);
        let fresh = proposals.filter(|proposal| proposal.valid_round.is_none());
        fresh.map(|proposal| proposal.round).filter(move |round| *round <= now)
    }

    /// Returns how many of the accepted proposals count in this round.
    pub(crate) fn counted(&self, now: Round) -> u32 {
        let others = self.proposals.len() - self.fresh(now).count();
        self.accepted.saturating_sub(u32::try_from(others).expect("few proposals are kept"))
    }

    /// Returns who has the turn: its proposers, and those that voted for it.
    pub(crate) fn holders(&self) -> BTreeSet<PublicKey> {
        let proposers = self.proposals.iter().map(|p| p.message.proposer);
        proposers.chain(self.voters.iter().copied()).collect()
    }

    /// Returns whether there is a reason to judge the turn, for the first time or again.
    pub(crate) fn is_open(&self, grounds: Grounds) -> bool {
        match self.judged {
            None => true,
            Some(judged) => !judged.valid && !judged.hopeless && judged.grounds != grounds,
        }
    }
}
