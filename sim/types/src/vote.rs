//! Votes and proposals: what servers sign for each other. The sim's id is inside what is signed,
//! so that a server may use one key in several sims.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::{HeaderId, Height, PublicKey, Round, Sign, Signature, SimId, Verify, wire};

/// Which of the two votes of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum VoteKind {
    /// "I hold this turn and it is valid."
    Prevote,
    /// "I saw a quorum of prevotes for it."
    Precommit,
}

/// A server's vote.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Vote {
    /// Prevote or precommit.
    pub kind: VoteKind,
    /// At which height.
    pub height: Height,
    /// In which round.
    pub round: Round,
    /// For which turn; none is "nil": none in this round.
    pub header: Option<HeaderId>,
    /// The server that votes.
    pub voter: PublicKey,
}

/// The proposer's word for a turn in a round.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Proposal {
    /// At which height.
    pub height: Height,
    /// In which round.
    pub round: Round,
    /// The id of the turn.
    pub header: HeaderId,
    /// The earlier round in which a quorum prevoted for it, for a turn that is proposed again.
    pub valid_round: Option<Round>,
    /// The server that proposes.
    pub proposer: PublicKey,
}

fn sign_bytes(context: &str, sim: SimId, message: &impl Serialize) -> [u8; 32] {
    let mut bytes: Vec<u8> = sim.bytes().to_vec();
    bytes.extend(wire::encode(message));
    blake3::derive_key(context, &bytes)
}

impl Vote {
    /// Returns the bytes that are signed.
    #[must_use]
    pub fn sign_bytes(&self, sim: SimId) -> [u8; 32] {
        sign_bytes("metatopia vote v1", sim, self)
    }

    /// Signs the vote.
    #[must_use]
    pub fn sign(self, sim: SimId, key: &dyn Sign) -> Signed<Self> {
        let signature = key.sign(&self.sign_bytes(sim));
        Signed { message: self, signature }
    }
}

impl Proposal {
    /// Returns the bytes that are signed.
    #[must_use]
    pub fn sign_bytes(&self, sim: SimId) -> [u8; 32] {
        sign_bytes("metatopia proposal v1", sim, self)
    }

    /// Signs the proposal.
    #[must_use]
    pub fn sign(self, sim: SimId, key: &dyn Sign) -> Signed<Self> {
        let signature = key.sign(&self.sign_bytes(sim));
        Signed { message: self, signature }
    }
}

/// A vote or proposal with its author's signature.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Signed<T> {
    /// What is signed.
    pub message: T,
    /// The signature by its voter or proposer.
    pub signature: Signature,
}

impl Signed<Vote> {
    /// Returns whether the signature is the voter's.
    #[must_use]
    pub fn verify(&self, sim: SimId, scheme: &dyn Verify) -> bool {
        scheme.verify(&self.message.voter, &self.message.sign_bytes(sim), &self.signature)
    }
}

impl Signed<Proposal> {
    /// Returns whether the signature is the proposer's.
    #[must_use]
    pub fn verify(&self, sim: SimId, scheme: &dyn Verify) -> bool {
        scheme.verify(&self.message.proposer, &self.message.sign_bytes(sim), &self.signature)
    }
}
