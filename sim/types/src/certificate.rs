//! Certificates: precommits of more than two thirds of the voting power for one header.

use alloc::{collections::BTreeSet, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::{
    HeaderId, Height, PublicKey, Round, Signature, SimId, ValidatorSet, Verify, Vote, VoteKind,
    limits,
};

/// Proof that a turn was decided. Two servers may hold different ones for the same turn (other
/// signers, another round), so nothing that is agreed on may depend on them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Certificate {
    /// The height of the turn.
    pub height: Height,
    /// The round of these precommits.
    pub round: Round,
    /// The id of the turn.
    pub header: HeaderId,
    /// Who signed a precommit for it.
    pub signatures: Vec<(PublicKey, Signature)>,
}

/// Why a certificate proves nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CertificateError {
    /// More signatures than a set may have members.
    #[error("{0} signatures where at most {max} are possible", max = limits::VALIDATORS_MAX)]
    TooMany(usize),
    /// A signer that does not vote at this height.
    #[error("{0} does not vote at this height")]
    Stranger(PublicKey),
    /// One signer twice.
    #[error("{0} is there twice")]
    Repeated(PublicKey),
    /// A signature that is not the signer's.
    #[error("the signature of {0} is wrong")]
    Signature(PublicKey),
    /// Not more than two thirds of the voting power.
    #[error("voting power {power} where {quorum} is needed")]
    NoQuorum {
        /// What the signers have.
        power: u64,
        /// What is needed.
        quorum: u64,
    },
}

/// Checks that these signatures have more than two thirds of the voting power. All have to be of different
/// members, and each of what `signed` returns for its signer.
///
/// # Errors
/// The first thing that is wrong. Every signature is checked, also those past a quorum.
pub(crate) fn check_quorum<'a>(
    signatures: impl ExactSizeIterator<Item = (&'a PublicKey, &'a Signature)>,
    set: &ValidatorSet,
    scheme: &dyn Verify,
    signed: impl Fn(&PublicKey) -> [u8; 32],
) -> Result<(), CertificateError> {
    if signatures.len() > limits::VALIDATORS_MAX {
        return Err(CertificateError::TooMany(signatures.len()));
    }
    let mut seen = BTreeSet::new();
    let mut power = 0;
    for (key, signature) in signatures {
        let member = set.get(key).ok_or(CertificateError::Stranger(*key))?;
        if !seen.insert(*key) {
            return Err(CertificateError::Repeated(*key));
        }
        if !scheme.verify(key, &signed(key), signature) {
            return Err(CertificateError::Signature(*key));
        }
        power += u64::from(member.power);
    }
    if power < set.quorum() {
        return Err(CertificateError::NoQuorum { power, quorum: set.quorum() });
    }
    Ok(())
}

impl Certificate {
    /// Checks that more than two thirds of `set` signed for this header.
    ///
    /// # Errors
    /// The first thing that is wrong. Every signature is checked, also those past a quorum.
    pub fn verify(
        &self,
        sim: SimId,
        set: &ValidatorSet,
        scheme: &dyn Verify,
    ) -> Result<(), CertificateError> {
        let signed = |key: &PublicKey| self.vote(*key).sign_bytes(sim);
        let signatures = self.signatures.iter().map(|(key, signature)| (key, signature));
        check_quorum(signatures, set, scheme, signed)
    }

    /// The same certificate with no more signatures than prove it to those who know `set`: the first ones
    /// of members of the set that have more than two thirds of the voting power.
    #[must_use]
    pub fn thinned(&self, set: &ValidatorSet) -> Self {
        let mut power = 0_u64;
        let mut signatures = Vec::new();
        for (key, signature) in &self.signatures {
            let Some(member) = set.get(key).filter(|_| power < set.quorum()) else {
                continue;
            };
            power = power.saturating_add(u64::from(member.power));
            signatures.push((*key, *signature));
        }
        Self { signatures, ..self.clone() }
    }

    /// The precommit that `voter` signed for this certificate.
    #[must_use]
    pub const fn vote(&self, voter: PublicKey) -> Vote {
        Vote {
            kind: VoteKind::Precommit,
            height: self.height,
            round: self.round,
            header: Some(self.header),
            voter,
        }
    }
}
