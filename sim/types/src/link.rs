//! Links: changes of who votes, and how a stranger follows them from one validator set to a later one.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::{
    Certificate, CertificateError, Header, Height, SimId, Validator, ValidatorSet, Verify,
};

/// A decided header that changed who votes, with what a stranger needs to believe it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The header; it names the set of its own height and that of the next one.
    pub header: Header,
    /// Signed by the set of its own height.
    pub certificate: Certificate,
    /// The members at the next height, ascending by key: what `header.next_validators` stands for.
    pub next: Vec<Validator>,
}

/// Whom a stranger believes to begin with: the genesis set, or that of a checkpoint that it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trust {
    /// Links up to this height are taken as done.
    pub height: Height,
    /// Who votes at the next height.
    pub validators: ValidatorSet,
}

/// Why links, or a header, are not believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// A header of another sim.
    #[error("the header of height {0} is of another sim")]
    OtherSim(Height),
    /// Links are not ascending, or one is not below the height that they lead to.
    #[error("the set change of height {0} is out of order")]
    Order(Height),
    /// A certificate is for something else than the header it comes with.
    #[error("the certificate of height {0} is for another header")]
    OtherHeader(Height),
    /// A header names other voters than the ones believed in: a set change is missing.
    #[error("height {0} names other validators: a set change is missing")]
    Missing(Height),
    /// The members that a link brings are not those its header names.
    #[error("the set change of height {0} brings other members than its header names")]
    OtherMembers(Height),
    /// A certificate proves nothing.
    #[error("height {height}: {why}")]
    Certificate {
        /// The height of the header.
        height: Height,
        /// What is wrong with the certificate.
        why: CertificateError,
    },
}

/// Returns who votes at the height of a header to come, by following these set changes from `members`,
/// who vote after the turn of height `from`. Older links are passed over.
///
/// # Errors
/// See [`LinkError`]: each change must be certified by those who voted before it.
pub fn follow<'a>(
    links: impl IntoIterator<Item = &'a Link>,
    sim: SimId,
    (from, members): (Height, &ValidatorSet),
    to: Height,
    scheme: &dyn Verify,
) -> Result<ValidatorSet, LinkError> {
    let mut members = members.clone();
    let mut before = from;
    for link in links.into_iter().filter(|link| link.header.height > from) {
        let at = link.header.height;
        // A change at that height or later is of no use to it.
        if at <= before || at >= to {
            return Err(LinkError::Order(at));
        }
        certified(sim, &link.header, &link.certificate, &members, scheme)?;
        members = ValidatorSet::new(link.next.clone(), |_| true)
            .map_err(|_| LinkError::OtherMembers(at))?;
        if members.id() != link.header.next_validators {
            return Err(LinkError::OtherMembers(at));
        }
        before = at;
    }
    Ok(members)
}

/// Checks that more than two thirds of `members` signed for the header. The header must name
/// `members` as its validators.
///
/// # Errors
/// See [`LinkError`].
pub fn certified(
    sim: SimId,
    header: &Header,
    certificate: &Certificate,
    members: &ValidatorSet,
    scheme: &dyn Verify,
) -> Result<(), LinkError> {
    let height = header.height;
    if header.sim != sim {
        return Err(LinkError::OtherSim(height));
    }
    if certificate.header != header.id() || certificate.height != height {
        return Err(LinkError::OtherHeader(height));
    }
    if header.validators != members.id() {
        return Err(LinkError::Missing(height));
    }
    certificate.verify(sim, members, scheme).map_err(|why| LinkError::Certificate { height, why })
}
