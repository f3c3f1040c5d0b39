//! Proofs of land: one shelf of a land office's map, in a certified state.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::{
    Certificate, Header, Height, LandGrant, LeafKey, LinkError, Millis, PlaneBlock, SimId, Square,
    StateProof, StateProofError, TilePoint, ValidatorSet, ValidatorsId, Verify, certified,
    limits::{LAND_PROOF_BYTES_MAX, ROOT_LAG},
    overlap,
    wire::{self, DecodeError},
};

/// What the keys of the leaves with grants begin with. The leaf of the whole plane has no more to its key;
/// behind it stand a slash and the digits of a block's quadtree address.
pub const GRANTS_LEAF: &str = "grants";

/// Proves one shelf of the map: all grants of a block of the plane, so also that a point is nobody's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LandProof {
    /// A header of the land office. It states the root of the state two turns before it.
    pub header: Header,
    /// Signed by the office's validators of that height.
    pub certificate: Certificate,
    /// A leaf of that state.
    pub shelf: StateProof,
}

/// What a proof of land shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvedLand {
    /// What the shelf is about.
    pub block: PlaneBlock,
    /// The height of the state.
    pub height: Height,
    /// The time of the header that states its root.
    pub time: Millis,
    /// The grants, in the order of the plane's quadtree. A point of the block that none of them holds is
    /// nobody's.
    pub grants: Vec<LandGrant>,
}

/// Why a proof of land proves nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LandProofError {
    /// The bytes are too many, or no proof.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// Nobody here knows the validators that signed.
    #[error("validators {0} of the land office are not known")]
    UnknownValidators(ValidatorsId),
    /// The header is not certified by them.
    #[error(transparent)]
    Header(#[from] LinkError),
    /// The leaf is not in the state.
    #[error(transparent)]
    Leaf(#[from] StateProofError),
    /// It is a leaf of another kind.
    #[error("leaf {0} is no shelf of the map")]
    OtherLeaf(LeafKey),
    /// The leaf holds no grants.
    #[error("leaf {key} holds no grants: {error}")]
    Content {
        /// The key of the leaf.
        key: LeafKey,
        /// What is wrong.
        error: DecodeError,
    },
    /// A grant is of a square outside of the block, or of none.
    #[error("{0:?} is no square of the shelf's block")]
    Outside(Square),
    /// Two grants share ground: whoever were named for it would be one of two.
    #[error("{0:?} and {1:?} share ground")]
    Overlap(Square, Square),
}

impl ProvedLand {
    /// Returns the grant that holds a point. None says that it is nobody's, if the block holds it.
    #[must_use]
    pub fn grant_at(&self, point: TilePoint) -> Option<&LandGrant> {
        self.grants.iter().find(|grant| crate::holds(grant.square, point))
    }
}

impl LandProof {
    /// Encodes it, as it travels.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        wire::encode(self)
    }

    /// Decodes what [`LandProof::encode`] made, of at most [`LAND_PROOF_BYTES_MAX`] bytes.
    ///
    /// # Errors
    /// When the bytes are too many, or no proof.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        wire::decode(bytes, LAND_PROOF_BYTES_MAX)
    }

    /// Returns which block and height it says it is about, without a check.
    #[must_use]
    pub fn about(&self) -> Option<(PlaneBlock, Height)> {
        let height = self.header.height.minus(ROOT_LAG).unwrap_or_default();
        Some((shelf_block(&self.shelf.key)?, height))
    }

    /// Decodes a proof and returns what it proves: see [`LandProof::open`].
    ///
    /// # Errors
    /// See [`LandProofError`].
    pub fn read<'a>(
        bytes: &[u8],
        world: SimId,
        validators: impl Fn(ValidatorsId) -> Option<&'a ValidatorSet>,
        scheme: &dyn Verify,
    ) -> Result<ProvedLand, LandProofError> {
        Self::decode(bytes)?.open(world, validators, scheme)
    }

    /// Returns what it proves about the land of `world`, whose validator sets `validators` knows.
    ///
    /// # Errors
    /// See [`LandProofError`].
    pub fn open<'a>(
        &self,
        world: SimId,
        validators: impl Fn(ValidatorsId) -> Option<&'a ValidatorSet>,
        scheme: &dyn Verify,
    ) -> Result<ProvedLand, LandProofError> {
        let header = &self.header;
        let set = validators(header.validators)
            .ok_or(LandProofError::UnknownValidators(header.validators))?;
        certified(world, header, &self.certificate, set, scheme)?;
        self.shelf.verify(header.root)?;
        let key = &self.shelf.key;
        let block = shelf_block(key).ok_or_else(|| LandProofError::OtherLeaf(key.clone()))?;
        let content = &self.shelf.content;
        let grants: Vec<LandGrant> = wire::decode(content, content.len())
            .map_err(|error| LandProofError::Content { key: key.clone(), error })?;
        let is_outside = |square: &Square| {
            square.check().is_err() || !block.contains(TilePoint::corner(*square))
        };
        if let Some(square) = grants.iter().map(|grant| grant.square).find(is_outside) {
            return Err(LandProofError::Outside(square));
        }
        if let Some((first, second)) = overlapping(&grants) {
            return Err(LandProofError::Overlap(first, second));
        }
        let height = header.height.minus(ROOT_LAG).unwrap_or_default();
        Ok(ProvedLand { block, height, time: header.time, grants })
    }
}

/// Returns two of the squares of grants that share ground.
fn overlapping(grants: &[LandGrant]) -> Option<(Square, Square)> {
    let pairs = grants.iter().enumerate().flat_map(|(index, grant)| {
        grants[index + 1..].iter().map(move |other| (grant.square, other.square))
    });
    pairs.into_iter().find(|(first, second)| overlap(*first, *second))
}

/// Returns the block that a leaf of grants is about, by its key.
#[must_use]
pub fn shelf_block(key: &LeafKey) -> Option<PlaneBlock> {
    let digits = match key.0.strip_prefix(GRANTS_LEAF)? {
        "" => return Some(PlaneBlock::PLANE),
        rest => rest.strip_prefix('/').filter(|digits| !digits.is_empty())?,
    };
    let digit = |byte: u8| (b'0'..=b'3').contains(&byte).then(|| byte - b'0');
    PlaneBlock::of_digits(&digits.bytes().map(digit).collect::<Option<Vec<u8>>>()?)
}

/// Returns the key of the leaf of grants with this quadtree address.
#[must_use]
pub fn shelf_key(digits: &[u8]) -> LeafKey {
    if digits.is_empty() {
        return LeafKey(String::from(GRANTS_LEAF));
    }
    let digits: String = digits.iter().map(|digit| char::from(b'0' + digit)).collect();
    LeafKey(alloc::format!("{GRANTS_LEAF}/{digits}"))
}
