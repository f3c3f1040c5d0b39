//! What peers say, before the core hears of it.
//!
//! The core is told of the open height only; what is said of the next ones waits, within the bounds
//! of each peer. A vote counts from its voter alone, so that nobody can make us check signatures in
//! another's name.

use metatopia_types::{Height, PublicKey, limits::ROOT_LAG, limits::VALIDATORS_MAX};

use super::{Agreement, StepContext};
use crate::Message;
use crate::core::CoreInput;

impl Agreement {
    pub(super) fn on_frame(&mut self, from: PublicKey, message: Message, cx: &mut StepContext<'_>) {
        if from == self.me {
            return;
        }
        let height = self.height();
        match message {
            Message::Vote(vote) if vote.message.voter != from => {}
            Message::Vote(vote) => {
                let at = vote.message.height;
                self.saw(from, at);
                if at < height {
                    self.help(from, at, cx);
                } else {
                    self.hear(from, at, Message::Vote(vote));
                }
            }
            Message::Proposal(proposal) => {
                let at = proposal.message.height;
                if proposal.message.proposer == from {
                    // A promise is of the height after the one its proposer is at.
                    self.saw(from, at.minus(1).unwrap_or_default());
                }
                self.hear(from, at, Message::Proposal(proposal));
            }
            Message::Polka(polka) => {
                if polka.signatures.len() <= VALIDATORS_MAX {
                    self.hear(from, polka.height, Message::Polka(polka));
                }
            }
            Message::RoundProof(proof) => {
                if proof.votes.len() <= VALIDATORS_MAX {
                    self.hear(from, proof.height, Message::RoundProof(proof));
                }
            }
            Message::Part(part) => {
                let near = height <= part.height && part.height <= height.plus(ROOT_LAG);
                if near && self.is_member(&from) {
                    self.turn_store.add(from, part);
                }
            }
            Message::Want(want) => self.on_want(from, want, cx),
            Message::Ask { from: first } => self.on_ask(from, first, cx),
            Message::Decision(decision) => self.on_decision(from, decision),
            Message::AskTip { nonce } if self.is_member(&from) => self.on_ask_tip(from, nonce),
            Message::AskTip { .. } => {}
            Message::Tip { nonce, height } => self.on_tip(from, nonce, height, cx),
        }
    }

    /// Hands on what was said about the open height, keeps what was said about the next ones, and
    /// forgets the rest.
    pub(super) fn hear(&mut self, from: PublicKey, at: Height, message: Message) {
        let height = self.height();
        if !self.is_member(&from) {
            return;
        }
        if at == height && self.begun {
            self.core_inputs.push_back(match message {
                Message::Vote(vote) => CoreInput::Vote(vote),
                Message::Proposal(proposal) => CoreInput::Proposal(proposal),
                Message::Polka(polka) => CoreInput::Polka(polka),
                Message::RoundProof(proof) => CoreInput::RoundProof(proof),
                _ => return,
            });
        } else if at >= height
            && at <= height.plus(ROOT_LAG)
            && let Some(peer) = self.peers.get(from)
        {
            peer.hold(at, message);
        }
    }

    fn saw(&mut self, from: PublicKey, height: Height) {
        if let Some(peer) = self.peers.get(from) {
            peer.height = peer.height.max(height);
        }
    }

    /// Returns whether this server votes at the open height, or at one of the next heights whose validators
    /// are known.
    #[must_use]
    pub fn is_member(&self, key: &PublicKey) -> bool {
        let heights = (0..=ROOT_LAG).map(|ahead| self.height().plus(ahead));
        let sets = heights.filter_map(|height| self.chain.set(height));
        sets.chain([self.chain.newest_set()]).any(|set| set.get(key).is_some())
    }
}
