//! Evidence: two signed things that no honest signer makes both of.

use metatopia_types::{Digest, Millis, SimId, Verify, wire};
use serde::{Deserialize, Serialize};

use crate::{ProveLand, Shelf, ShelfError, SignedSiteRecord, SiteName, SiteRecordError};

/// Two things that contradict each other, with all it takes to check that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OverlayEvidence {
    /// Two records of one site and one epoch.
    Records {
        /// One of them.
        first: Box<SignedSiteRecord>,
        /// The other one.
        second: Box<SignedSiteRecord>,
        /// The proof of the shelf that names the beacons.
        #[serde(with = "metatopia_types::wire::bytes")]
        shelf: Vec<u8>,
    },
    /// Two shelves about one block at one height.
    Shelves {
        /// The proof of one of them.
        #[serde(with = "metatopia_types::wire::bytes")]
        first: Vec<u8>,
        /// The proof of the other one.
        #[serde(with = "metatopia_types::wire::bytes")]
        second: Vec<u8>,
    },
}

/// Why something is no evidence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OverlayEvidenceError {
    /// A record is not good.
    #[error("a record that says nothing: {0}")]
    Record(#[from] SiteRecordError),
    /// A shelf is not proved.
    #[error("a shelf that says nothing: {0}")]
    Shelf(#[from] ShelfError),
    /// Both things can be true.
    #[error("the two do not contradict each other")]
    Agrees,
}

impl OverlayEvidence {
    /// Returns the digest by which it is known.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of("metatopia overlay evidence v1", &wire::encode(self))
    }

    /// Returns which site it convicts, and the epoch of the grant whose beacons signed.
    pub(crate) fn convicted(&self) -> Option<(SiteName, u64)> {
        match self {
            Self::Records { first, .. } => Some((first.name(), first.record.epoch.grant)),
            Self::Shelves { .. } => None,
        }
    }

    /// Returns what it is about: a second piece of evidence of the same is not kept.
    #[must_use]
    pub fn subject(&self) -> Digest {
        match self {
            Self::Records { first, .. } => {
                let bytes = wire::encode(&(first.record.sim, first.record.epoch.grant));
                Digest::of("metatopia overlay evidence of records v1", &bytes)
            }
            Self::Shelves { .. } => self.digest(),
        }
    }

    /// Returns the proofs of shelves in it.
    pub(crate) fn proofs(&self) -> impl Iterator<Item = &[u8]> {
        let (first, second) = match self {
            Self::Records { shelf, .. } => (shelf, None),
            Self::Shelves { first, second } => (first, Some(second)),
        };
        core::iter::once(first).chain(second).map(Vec::as_slice)
    }

    /// Checks that the two things are genuine, and contradict each other.
    ///
    /// # Errors
    /// Why it is no evidence.
    pub fn check(
        &self,
        world: SimId,
        now: Millis,
        land: &dyn ProveLand,
        scheme: &dyn Verify,
    ) -> Result<(), OverlayEvidenceError> {
        match self {
            Self::Records { first, second, shelf } => {
                let is_of_one = first.record.sim == second.record.sim
                    && first.record.epoch == second.record.epoch
                    && first.record != second.record;
                if !is_of_one {
                    return Err(OverlayEvidenceError::Agrees);
                }
                let shelf = open(shelf, world, land)?;
                for record in [first, second] {
                    record.check_form(world, now)?;
                    let grant = record.middle().and_then(|middle| shelf.grant_at(middle));
                    record.check_grant(grant, scheme)?;
                }
                Ok(())
            }
            Self::Shelves { first, second } => {
                let (first, second) = (open(first, world, land)?, open(second, world, land)?);
                let is_of_one = first.block == second.block && first.height == second.height;
                if is_of_one && first.grants != second.grants {
                    Ok(())
                } else {
                    Err(OverlayEvidenceError::Agrees)
                }
            }
        }
    }
}

fn open(
    proof: &[u8],
    world: SimId,
    land: &dyn ProveLand,
) -> Result<std::sync::Arc<Shelf>, ShelfError> {
    let shelf = land.open(proof)?;
    shelf.check(world)?;
    Ok(shelf)
}
