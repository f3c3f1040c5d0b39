//! Proofs that a leaf is in a state with a known root.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::{Digest, Root, limits, merkle};

/// Names a leaf of the state, such as `clock` or `tile/3,-2`. Leaves are sorted by it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LeafKey(pub String);

impl core::fmt::Display for LeafKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.0)
    }
}

/// The Merkle leaf of a key and the blake3 hash of its content. The content is hashed first, so
/// that a tree can be built, and a snapshot listed, without the content.
#[must_use]
pub fn leaf_hash(key: &LeafKey, content: &Digest) -> Digest {
    let mut bytes = Vec::with_capacity(32 + key.0.len());
    bytes.extend(content.0);
    bytes.extend(key.0.as_bytes());
    merkle::leaf(&bytes)
}

/// A leaf's content with its path to the root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateProof {
    /// The key of the leaf.
    pub key: LeafKey,
    /// Its canonical encoding.
    #[serde(with = "crate::wire::bytes")]
    pub content: Vec<u8>,
    /// Its place among all leaves, sorted by key.
    pub place: merkle::Proof,
}

/// Why a state proof proves nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StateProofError {
    /// The content is larger than a leaf may be.
    #[error("leaf {key} of {bytes} bytes is larger than a leaf may be")]
    Oversize {
        /// The key of the leaf.
        key: LeafKey,
        /// Its length in bytes.
        bytes: usize,
    },
    /// The path does not lead to the root.
    #[error("leaf {0} is not in that state")]
    NotInState(LeafKey),
}

impl StateProof {
    /// Checks that the state with this root holds this content in this leaf.
    ///
    /// # Errors
    /// See [`StateProofError`].
    pub fn verify(&self, root: Root) -> Result<(), StateProofError> {
        if self.content.len() > limits::LEAF_BYTES_MAX {
            let (key, bytes) = (self.key.clone(), self.content.len());
            return Err(StateProofError::Oversize { key, bytes });
        }
        let content = Digest(*blake3::hash(&self.content).as_bytes());
        if self.place.root(leaf_hash(&self.key, &content)) != Some(root.0) {
            return Err(StateProofError::NotInState(self.key.clone()));
        }
        Ok(())
    }
}
