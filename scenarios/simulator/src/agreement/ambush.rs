//! A partition that falls at the worst moment: right after some servers, and only they, saw a quorum
//! of prevotes.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::time::Duration;

use metatopia_consensus::Message;
use metatopia_types::VoteKind;

/// At every height of a range and in its first rounds, of four servers:
///
/// * one is blind: it gets no proposal, and so prevotes nil;
/// * the prevote of the last witness reaches only witnesses, so that only they see a quorum for the
///   turn, while the others see a quorum that does not agree;
/// * as soon as a witness precommits, all witnesses are cut off for a while.
#[derive(Debug, Clone)]
pub struct Ambush {
    heights: RangeInclusive<u64>,
    rounds: u32,
    witnesses: Vec<usize>,
    blind: usize,
    cut_for: Duration,
    cut_since: Option<Duration>,
    sprung: BTreeSet<(u64, u32)>,
}

impl Ambush {
    /// An ambush in round 0 of these heights.
    #[must_use]
    pub fn new(
        heights: RangeInclusive<u64>,
        witnesses: Vec<usize>,
        blind: usize,
        cut_for: Duration,
    ) -> Self {
        let sprung = BTreeSet::new();
        Self { heights, rounds: 1, witnesses, blind, cut_for, cut_since: None, sprung }
    }

    /// The same in each of the first `rounds` rounds.
    #[must_use]
    pub fn in_rounds(mut self, rounds: u32) -> Self {
        self.rounds = rounds;
        self
    }

    /// Returns in how many rounds witnesses were cut off.
    #[must_use]
    pub fn sprung(&self) -> usize {
        self.sprung.len()
    }

    /// Ends the ambush: from now on nothing is held back.
    pub fn end(&mut self) {
        self.rounds = 0;
        self.cut_since = None;
    }

    fn covers(&self, height: u64, round: u32) -> bool {
        self.heights.contains(&height) && round < self.rounds
    }

    pub(crate) fn lets_pass(
        &mut self,
        at: Duration,
        from: usize,
        to: usize,
        message: &Message,
    ) -> bool {
        if self.cut_since.is_some_and(|since| at >= since + self.cut_for) {
            self.cut_since = None;
        }
        let (sees, speaks) = (self.witnesses.contains(&to), self.witnesses.contains(&from));
        match message {
            Message::Proposal(signed) if to == self.blind => {
                let (height, round) = (signed.message.height.0, signed.message.round.0);
                if self.covers(height, round) && !self.sprung.contains(&(height, round)) {
                    return false;
                }
            }
            Message::Part(part) if to == self.blind => {
                let height = part.height.0;
                let over = self.sprung.iter().any(|(sprung, _)| *sprung == height);
                if self.covers(height, 0) && !over {
                    return false;
                }
            }
            Message::Vote(signed) => {
                let vote = &signed.message;
                let (height, round) = (vote.height.0, vote.round.0);
                if !self.covers(height, round) {
                } else if vote.kind == VoteKind::Prevote {
                    if !sees && self.witnesses.last() == Some(&from) {
                        return false;
                    }
                } else if speaks && vote.header.is_some() && self.sprung.insert((height, round)) {
                    self.cut_since = Some(at);
                }
            }
            _ => {}
        }
        self.cut_since.is_none() || sees == speaks
    }
}
