//! The file of evidence: the evidence, and all that a stranger needs to check it. That is the genesis,
//! and every change of the validators since.

use std::sync::Arc;

use metatopia_client::{Distrust, LightClient};
use metatopia_protocol::ValidatorSetLink;
use metatopia_sim::{Genesis, GenesisError};
use metatopia_types::{
    Ed25519, Evidence, EvidenceError, Height, PublicKey, SimId, ValidatorSetError, wire,
    wire::DecodeError,
};
use serde::{Deserialize, Serialize};

/// Largest file of evidence in bytes: a genesis of 16 MiB, and as much of set changes and evidence.
pub const EVIDENCE_BYTES_MAX: usize = 32 * 1_024 * 1_024;

/// The text that these files begin with.
const MARK: &str = "metatopia evidence v1";

/// Evidence with the genesis and the set changes that prove it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceFile {
    /// The sim's genesis, encoded; the digest of its head is the sim's id.
    pub genesis: Vec<u8>,
    /// The changes of the validators, ascending.
    pub links: Vec<ValidatorSetLink>,
    /// The pieces of evidence.
    pub evidence: Vec<Evidence>,
}

/// The reason why bytes are no file of evidence, or why its evidence cannot be checked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvidenceFileError {
    /// The bytes are malformed, or too many.
    #[error("no file of evidence: {0}")]
    Decode(#[from] DecodeError),
    /// Another version wrote the file.
    #[error("a file of evidence of another version")]
    OtherVersion,
    /// The genesis in it is malformed.
    #[error("the genesis of the sim: {0}")]
    Genesis(#[from] GenesisError),
    /// The genesis in it names no set of validators.
    #[error("the validators of genesis: {0}")]
    Validators(#[from] ValidatorSetError),
    /// A change of the validators does not hold.
    #[error("the change of validators at {height}: {why}")]
    Change {
        /// The height of the turn that brought the change.
        height: Height,
        /// The reason why it does not hold.
        why: Distrust,
    },
}

/// The reason why a piece of evidence does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvidenceFault {
    /// The two messages show nothing.
    #[error(transparent)]
    Evidence(#[from] EvidenceError),
    /// The file does not prove the validators of that height.
    #[error(transparent)]
    Voters(#[from] Distrust),
    /// The signer is no validator of that height.
    #[error("{key} does not vote at height {height}")]
    NoVoter {
        /// The signer of both messages.
        key: PublicKey,
        /// The height of both messages.
        height: Height,
    },
}

impl EvidenceFile {
    /// Returns the bytes of the file.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        wire::encode(&(MARK, self))
    }

    /// Reads what [`EvidenceFile::encode`] made. It checks none of the evidence.
    ///
    /// # Errors
    /// When the bytes are of another kind or version, or too many.
    pub fn decode(bytes: &[u8]) -> Result<Self, EvidenceFileError> {
        let (mark, file): (String, Self) = wire::decode(bytes, EVIDENCE_BYTES_MAX)?;
        if mark == MARK { Ok(file) } else { Err(EvidenceFileError::OtherVersion) }
    }

    /// Returns the sim that the evidence is about.
    ///
    /// # Errors
    /// When the genesis is malformed.
    pub fn sim(&self) -> Result<SimId, EvidenceFileError> {
        Ok(Genesis::decode(&self.genesis)?.id())
    }

    /// Checks each piece: the accused must be a validator of that height, and have signed both
    /// messages.
    ///
    /// # Errors
    /// When the validators are not proven.
    pub fn check(&self) -> Result<Vec<Result<(), EvidenceFault>>, EvidenceFileError> {
        let genesis = Genesis::decode(&self.genesis)?;
        let sim = genesis.id();
        let first = genesis.first_validators()?;
        let mut light = LightClient::new(sim, Height(1), first, Arc::new(Ed25519));
        for link in &self.links {
            let height = link.header.height;
            light.follow(link).map_err(|why| EvidenceFileError::Change { height, why })?;
        }
        let holds = |evidence: &Evidence| {
            let key = evidence.verify(sim, &Ed25519)?;
            let (_, height) = evidence.accused();
            let voted = light.set(height)?.get(&key).is_some();
            if voted { Ok(()) } else { Err(EvidenceFault::NoVoter { key, height }) }
        };
        Ok(self.evidence.iter().map(holds).collect())
    }
}
