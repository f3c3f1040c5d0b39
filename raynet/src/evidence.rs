//! Evidence: two signed things that no honest signer makes both of.

use std::collections::BTreeMap;

use metatopia_types::{Digest, SimId, Verify, wire};
use serde::{Deserialize, Serialize};

use crate::{ProveLand, Shelf, ShelfError, SignedSiteRecord, SiteName, SiteRecordError, limits};

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
    /// Two shelves at one height, of which one is about ground of the other.
    Shelves {
        /// The proof of one of them.
        #[serde(with = "metatopia_types::wire::bytes")]
        first: Vec<u8>,
        /// The proof of the other one.
        #[serde(with = "metatopia_types::wire::bytes")]
        second: Vec<u8>,
    },
}

/// What a piece of evidence is about: of two about one subject, the one of the higher rank is kept. Whoever
/// signed cannot make another one about the same by signing again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceSubject {
    /// A digest of the sim, or of the block of the plane.
    pub subject: Digest,
    /// The epoch of the grant, or the height of the map.
    pub rank: u64,
}

/// What members say to each other so that evidence reaches those who were not there when it was told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EvidencePull {
    /// Asks which evidence the other one keeps.
    Ask,
    /// What all that it keeps is about.
    Kept(Vec<EvidenceSubject>),
    /// Asks for the pieces about these subjects, each of which comes in a frame of its own.
    Want(Vec<Digest>),
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
    /// Returns which site it convicts, and the epoch of the grant whose beacons signed.
    pub(crate) fn convicted(&self) -> Option<(SiteName, u64)> {
        match self {
            Self::Records { first, .. } => Some((first.name(), first.record.epoch.grant)),
            Self::Shelves { .. } => None,
        }
    }

    /// Returns what it says it is about, without a signature or a proof being checked. Nothing if the two
    /// cannot contradict each other.
    #[must_use]
    pub fn about(&self, land: &dyn ProveLand) -> Option<EvidenceSubject> {
        match self {
            Self::Records { first, second, .. } => {
                let (one, other) = (&first.record, &second.record);
                let is_of_one = one.sim == other.sim && one.epoch == other.epoch && one != other;
                is_of_one.then(|| EvidenceSubject {
                    subject: Digest::of("metatopia overlay evidence of records v2", &one.sim.0.0),
                    rank: one.epoch.grant,
                })
            }
            Self::Shelves { first, second } => {
                let about = (first != second).then(|| land.about(first)).flatten();
                let ((one, height), (other, second_height)) = (about?, land.about(second)?);
                let small = if one.encloses(other) { other } else { one };
                let is_of_one = one.encloses(small) && other.encloses(small);
                let domain = "metatopia overlay evidence of shelves v1";
                let subject = Digest::of(domain, &wire::encode(&small));
                (is_of_one && height == second_height)
                    .then_some(EvidenceSubject { subject, rank: height.0 })
            }
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

    /// Checks that the two things are genuine, and contradict each other. Records are evidence also when
    /// their time is over.
    ///
    /// # Errors
    /// Why it is no evidence.
    pub fn check(
        &self,
        world: SimId,
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
                // What costs no signature comes first: anybody can send two records of nonsense.
                first.check_shape(world)?;
                second.check_shape(world)?;
                let shelf = open(shelf, world, land)?;
                for record in [first, second] {
                    let grant = record.middle().and_then(|middle| shelf.grant_at(middle));
                    record.check_grant(grant, scheme)?;
                }
                Ok(())
            }
            Self::Shelves { first, second } => {
                let (first, second) = (open(first, world, land)?, open(second, world, land)?);
                if first.contradicts(&second) { Ok(()) } else { Err(OverlayEvidenceError::Agrees) }
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

/// Evidence that is kept: one piece for each subject. When there is too much, the oldest goes, and what it was
/// about is remembered: it is no news, or members whose pieces push each other out would pull them for ever.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeptEvidence {
    pieces: BTreeMap<Digest, KeptPiece>,
    /// What pieces that went were about: the rank, and how many pieces came before.
    gone: BTreeMap<Digest, (u64, u64)>,
    /// Pieces that were ever kept.
    count: u64,
}

/// A piece of evidence, and how many came before it.
#[derive(Clone, Debug)]
struct KeptPiece {
    rank: u64,
    number: u64,
    evidence: OverlayEvidence,
}

impl KeptEvidence {
    /// Says whether a piece about this would be kept.
    pub(crate) fn is_news(&self, about: EvidenceSubject) -> bool {
        let kept = self.pieces.get(&about.subject).map(|piece| piece.rank);
        let gone = self.gone.get(&about.subject).map(|(rank, _)| *rank);
        kept.max(gone).is_none_or(|rank| rank < about.rank)
    }

    /// Keeps a piece.
    pub(crate) fn insert(&mut self, about: EvidenceSubject, evidence: OverlayEvidence) {
        let number = self.count;
        self.count += 1;
        self.gone.remove(&about.subject);
        self.pieces.insert(about.subject, KeptPiece { rank: about.rank, number, evidence });
        if self.pieces.len() > limits::OVERLAY_EVIDENCE_MAX {
            let oldest = self.pieces.iter().min_by_key(|(_, piece)| piece.number);
            let oldest = oldest.map(|(subject, piece)| (*subject, (piece.rank, piece.number)));
            self.gone.extend(oldest);
            oldest.map(|(subject, _)| self.pieces.remove(&subject));
        }
        if self.gone.len() > limits::EVIDENCE_REMEMBERED_MAX {
            let oldest = self.gone.iter().min_by_key(|(_, (_, number))| *number);
            let oldest = oldest.map(|(subject, _)| *subject);
            oldest.map(|oldest| self.gone.remove(&oldest));
        }
    }

    /// Says whether as much is remembered as may be. What comes then pushes out what will be news again.
    pub(crate) fn is_full(&self) -> bool {
        self.gone.len() >= limits::EVIDENCE_REMEMBERED_MAX
    }

    /// Returns the piece about a subject.
    pub(crate) fn get(&self, subject: &Digest) -> Option<&OverlayEvidence> {
        self.pieces.get(subject).map(|piece| &piece.evidence)
    }

    /// Returns what the pieces are about.
    pub(crate) fn kept(&self) -> impl Iterator<Item = EvidenceSubject> {
        let about = |(subject, piece): (&Digest, &KeptPiece)| EvidenceSubject {
            subject: *subject,
            rank: piece.rank,
        };
        self.pieces.iter().map(about)
    }

    /// Returns how many pieces were ever kept.
    pub(crate) const fn ever(&self) -> u64 {
        self.count
    }

    pub(crate) fn subjects(&self) -> impl Iterator<Item = &Digest> {
        self.pieces.keys()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &OverlayEvidence> {
        self.pieces.values().map(|piece| &piece.evidence)
    }
}
