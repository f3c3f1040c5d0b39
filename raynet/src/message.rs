//! What members of the overlay say to each other.

use metatopia_types::wire::{self, DecodeError};
use serde::{Deserialize, Serialize};

use crate::{
    DialBackMessage, EvidencePull, OverlayEvidence, SignedSiteRecord, SiteName, SiteTip, TilePoint,
    limits::{self, OVERLAY_FRAME_BYTES_MAX},
};

/// One of the two layers that members gossip in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GossipLayer {
    /// Among Voronoi neighbours: tips near the one who is told.
    Neighbours,
    /// Among random members: tips drawn at random.
    Samples,
}

/// One half of an exchange: names and epochs only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TipExchange {
    /// In which layer.
    pub layer: GossipLayer,
    /// The sender's own site, if it has one.
    pub own: Option<SiteTip>,
    /// Sites that the sender has spoken with.
    pub tips: Vec<SiteTip>,
}

/// The answer to [`OverlayMessage::Seek`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NearerSites {
    /// From the question.
    pub nonce: u64,
    /// Sites nearer to the point than the one who answers, the nearest first; none if it knows none.
    pub nearer: Vec<SignedSiteRecord>,
    /// The newest record of who owns the point, as far as known.
    pub owner: Option<Box<SignedSiteRecord>>,
    /// The proof of a shelf about the point, if it was asked for or nobody is nearer.
    #[serde(with = "metatopia_types::wire::bytes")]
    pub shelf: Vec<u8>,
}

/// One frame. Every reaction to one is bounded, whoever sent it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OverlayMessage {
    /// The first half of an exchange; asks for the other half.
    Exchange(TipExchange),
    /// The other half.
    Answer(TipExchange),
    /// Asks for records of these sites.
    Want(Vec<SiteName>),
    /// Records that were asked for. The sender has checked each of them.
    Records(Vec<SignedSiteRecord>),
    /// Asks for the shelves of the map about these points.
    WantShelves(Vec<TilePoint>),
    /// The proof of a shelf that was asked for.
    Shelf(#[serde(with = "metatopia_types::wire::bytes")] Vec<u8>),
    /// Asks for sites nearer to a point.
    Seek {
        /// Comes back with the answer.
        nonce: u64,
        /// The point that is sought.
        point: TilePoint,
        /// How many sites are enough.
        most: u8,
        /// Whether the map about the point is wanted in any case.
        map: bool,
    },
    /// The answer to it.
    Nearer(NearerSites),
    /// Two things that contradict each other.
    Evidence(OverlayEvidence),
    /// Asks to be dialled back, or tells what came of it.
    DialBack(DialBackMessage),
    /// Asks for evidence, or says what there is.
    Pull(EvidencePull),
}

/// Why bytes are no frame of the overlay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OverlayFrameError {
    /// They are no message.
    #[error("no message of the overlay: {0}")]
    Decode(#[from] DecodeError),
    /// Too many tips.
    #[error("{0} tips in an exchange, where {max} are allowed", max = limits::TIPS_MAX)]
    Tips(usize),
    /// Too many records, or names of records.
    #[error("{0} records, where {max} are allowed", max = limits::RECORDS_PER_FRAME_MAX)]
    Records(usize),
    /// Too many points.
    #[error("{0} points, where {max} are allowed", max = limits::SHELVES_PER_WANT_MAX)]
    Points(usize),
    /// Too many pieces of evidence are named.
    #[error("{found} pieces of evidence are named, where {max} are allowed")]
    Pieces {
        /// The number of pieces that are named.
        found: usize,
        /// The number that is allowed.
        max: usize,
    },
    /// Too many sites in an answer.
    #[error("{0} nearer sites, where {max} are allowed", max = limits::NEARER_MAX)]
    Nearer(usize),
    /// The proof of a shelf is too long.
    #[error("a proof of {0} bytes, where {max} are allowed", max = limits::SHELF_PROOF_BYTES_MAX)]
    Proof(usize),
}

impl OverlayMessage {
    /// Encodes the message for the wire.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        wire::encode(self)
    }

    /// Decodes a message from the wire.
    ///
    /// # Errors
    /// Bytes that are too many, are no message, or one with lists that are too long.
    pub fn decode(bytes: &[u8]) -> Result<Self, OverlayFrameError> {
        let message: Self = wire::decode(bytes, OVERLAY_FRAME_BYTES_MAX)?;
        message.check()?;
        Ok(message)
    }

    fn check(&self) -> Result<(), OverlayFrameError> {
        let within = |count: usize, most: usize, error: fn(usize) -> OverlayFrameError| {
            if count <= most { Ok(()) } else { Err(error(count)) }
        };
        let pieces = |found: usize, max: usize| {
            if found <= max { Ok(()) } else { Err(OverlayFrameError::Pieces { found, max }) }
        };
        match self {
            Self::Exchange(half) | Self::Answer(half) => {
                within(half.tips.len(), limits::TIPS_MAX, OverlayFrameError::Tips)
            }
            Self::Want(names) => {
                within(names.len(), limits::RECORDS_PER_FRAME_MAX, OverlayFrameError::Records)
            }
            Self::Records(records) => {
                within(records.len(), limits::RECORDS_PER_FRAME_MAX, OverlayFrameError::Records)
            }
            Self::WantShelves(points) => {
                within(points.len(), limits::SHELVES_PER_WANT_MAX, OverlayFrameError::Points)
            }
            Self::Shelf(proof) => {
                within(proof.len(), limits::SHELF_PROOF_BYTES_MAX, OverlayFrameError::Proof)
            }
            Self::Nearer(answer) => {
                within(answer.nearer.len(), limits::NEARER_MAX, OverlayFrameError::Nearer)?;
                within(answer.shelf.len(), limits::SHELF_PROOF_BYTES_MAX, OverlayFrameError::Proof)
            }
            Self::Evidence(evidence) => {
                let most = limits::SHELF_PROOF_BYTES_MAX;
                evidence
                    .proofs()
                    .try_for_each(|proof| within(proof.len(), most, OverlayFrameError::Proof))
            }
            Self::Pull(EvidencePull::Kept(kept)) => {
                pieces(kept.len(), limits::OVERLAY_EVIDENCE_MAX)
            }
            Self::Pull(EvidencePull::Want(wanted)) => {
                pieces(wanted.len(), limits::EVIDENCE_PER_WANT_MAX)
            }
            Self::Seek { .. } | Self::DialBack(_) | Self::Pull(EvidencePull::Ask) => Ok(()),
        }
    }
}
