//! Receipts: proof that an act is in a decided turn.

use serde::{Deserialize, Serialize};

use crate::{
    Certificate, CertificateError, Header, SignedEnvelope, SimId, ValidatorSet, Verify,
    merkle::{self, Proof},
    wire,
};

/// What a client keeps: who holds it needs to trust nobody.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The turn's header.
    pub header: Header,
    /// More than two thirds signed it.
    pub certificate: Certificate,
    /// The act's place among the turn's acts.
    pub place: Proof,
}

/// Why a receipt proves nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReceiptError {
    /// The header is of another sim.
    #[error("the receipt is of sim {0}")]
    OtherSim(SimId),
    /// The validators offered are not those that the header names.
    #[error("these validators are not those of height {0}")]
    OtherValidators(crate::Height),
    /// The certificate is for another header.
    #[error("the certificate is for another header")]
    OtherHeader,
    /// The certificate proves nothing.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// The act is not where the receipt says.
    #[error("the act is not in the turn")]
    NotInTurn,
}

impl Receipt {
    /// Checks that `act` is in a turn of `sim` that more than two thirds of `set` signed.
    ///
    /// # Errors
    /// See [`ReceiptError`].
    pub fn verify(
        &self,
        sim: SimId,
        act: &SignedEnvelope,
        set: &ValidatorSet,
        scheme: &dyn Verify,
    ) -> Result<(), ReceiptError> {
        if self.header.sim != sim {
            return Err(ReceiptError::OtherSim(self.header.sim));
        }
        if self.header.validators != set.id() {
            return Err(ReceiptError::OtherValidators(self.header.height));
        }
        let certified = (self.certificate.height, self.certificate.header);
        if certified != (self.header.height, self.header.id()) {
            return Err(ReceiptError::OtherHeader);
        }
        self.certificate.verify(sim, set, scheme)?;
        let root = self.place.root(merkle::leaf(&wire::encode(act)));
        if root != Some(self.header.acts) || self.place.count != self.header.act_count {
            return Err(ReceiptError::NotInTurn);
        }
        Ok(())
    }
}
