//! Evidence: two signatures that one honest server never makes. Anybody can check it from a file.

use alloc::boxed::Box;

use serde::{Deserialize, Serialize};

use crate::{Height, Proposal, PublicKey, Signed, SimId, Verify, Vote};

/// Two conflicting messages of one server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Evidence {
    /// Two votes of one kind in one round for different turns.
    Votes(Box<Signed<Vote>>, Box<Signed<Vote>>),
    /// Two proposals in one round.
    Proposals(Box<Signed<Proposal>>, Box<Signed<Proposal>>),
}

/// Why evidence proves nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EvidenceError {
    /// The two messages are of different servers, heights, rounds or kinds, or say the same.
    #[error("the two messages do not conflict")]
    NoConflict,
    /// The first is not the smaller one: evidence has one canonical form.
    #[error("the two messages are not in order")]
    Order,
    /// A signature is wrong.
    #[error("a signature is wrong")]
    Signature,
}

impl Evidence {
    /// Two votes as evidence, in canonical order.
    #[must_use]
    pub fn votes(a: Signed<Vote>, b: Signed<Vote>) -> Self {
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        Self::Votes(Box::new(a), Box::new(b))
    }

    /// Two proposals as evidence, in canonical order.
    #[must_use]
    pub fn proposals(a: Signed<Proposal>, b: Signed<Proposal>) -> Self {
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        Self::Proposals(Box::new(a), Box::new(b))
    }

    /// Returns whom the evidence accuses, and at which height. The accusation may be false.
    #[must_use]
    pub const fn accused(&self) -> (PublicKey, Height) {
        match self {
            Self::Votes(a, _) => (a.message.voter, a.message.height),
            Self::Proposals(a, _) => (a.message.proposer, a.message.height),
        }
    }

    /// Checks that one server really signed both. Returns that server.
    ///
    /// # Errors
    /// See [`EvidenceError`].
    pub fn verify(&self, sim: SimId, scheme: &dyn Verify) -> Result<PublicKey, EvidenceError> {
        let (conflict, ordered) = match self {
            Self::Votes(a, b) => (
                same_slot(
                    (a.message.kind, a.message.height, a.message.round, a.message.voter),
                    (b.message.kind, b.message.height, b.message.round, b.message.voter),
                ) && a.message.header != b.message.header,
                a < b,
            ),
            Self::Proposals(a, b) => (
                same_slot(
                    (a.message.height, a.message.round, a.message.proposer),
                    (b.message.height, b.message.round, b.message.proposer),
                ) && a.message != b.message,
                a < b,
            ),
        };
        // Signatures last: to check one costs more than all else.
        let signed = || match self {
            Self::Votes(a, b) => a.verify(sim, scheme) && b.verify(sim, scheme),
            Self::Proposals(a, b) => a.verify(sim, scheme) && b.verify(sim, scheme),
        };
        match (conflict, ordered) {
            (false, _) => Err(EvidenceError::NoConflict),
            (_, false) => Err(EvidenceError::Order),
            (true, true) if !signed() => Err(EvidenceError::Signature),
            (true, true) => Ok(self.accused().0),
        }
    }
}

fn same_slot<T: PartialEq>(a: T, b: T) -> bool {
    a == b
}
