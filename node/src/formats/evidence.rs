//! Evidence in a file, with all that a stranger needs to check it: the genesis, and every change of
//! the validators since.

use std::sync::Arc;

use metatopia_client::{Distrust, LightClient};
use metatopia_protocol::ValidatorSetLink;
use metatopia_sim::{Genesis, GenesisError};
use metatopia_types::{
    Ed25519, Evidence, EvidenceError, Height, PublicKey, SimId, ValidatorSetError, wire,
    wire::DecodeError,
};
use serde::{Deserialize, Serialize};

/// Largest file in bytes: a genesis of 16 MiB, and as much of set changes and evidence.
pub const EVIDENCE_BYTES_MAX: usize = 32 * 1_024 * 1_024;

/// What these files begin with.
const MARK: &str = "metatopia evidence v1";

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceFile {
    /// The sim's genesis, encoded; its digest is the sim's id.
    pub genesis: Vec<u8>,
    /// The changes of the validators, ascending.
    pub links: Vec<ValidatorSetLink>,
    /// The lies that it proves.
    pub evidence: Vec<Evidence>,
}

/// Why bytes are no such file, or cannot be checked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvidenceFileError {
    /// Other bytes, or too many.
    #[error("no file of evidence: {0}")]
    Decode(#[from] DecodeError),
    /// Written by another version.
    #[error("a file of evidence of another version")]
    OtherVersion,
    /// It does not say which sim it is about.
    #[error("the genesis of the sim: {0}")]
    Genesis(#[from] GenesisError),
    /// It does not say who voted first.
    #[error("the validators of genesis: {0}")]
    Validators(#[from] ValidatorSetError),
    /// It does not say who voted later.
    #[error("the change of validators at {height}: {why}")]
    Change {
        /// Of the turn that brought the change.
        height: Height,
        /// What is wrong with it.
        why: Distrust,
    },
}

/// Why a piece of evidence does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unproven {
    /// The two messages show nothing.
    #[error(transparent)]
    Evidence(#[from] EvidenceError),
    /// The file does not say who voted at that height.
    #[error(transparent)]
    Voters(#[from] Distrust),
    /// Whoever signed them is nobody.
    #[error("{key} does not vote at height {height}")]
    NoVoter {
        /// Who signed both.
        key: PublicKey,
        /// Of both messages.
        height: Height,
    },
}

impl EvidenceFile {
    /// Returns the bytes of the file.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        wire::encode(&(MARK, self))
    }

    /// Reads what [`EvidenceFile::encode`] made. Nothing in it is checked yet.
    ///
    /// # Errors
    /// Bytes of another kind or version, or too many.
    pub fn decode(bytes: &[u8]) -> Result<Self, EvidenceFileError> {
        let (mark, file): (String, Self) = wire::decode(bytes, EVIDENCE_BYTES_MAX)?;
        if mark == MARK { Ok(file) } else { Err(EvidenceFileError::OtherVersion) }
    }

    /// Returns the sim that the evidence is about.
    ///
    /// # Errors
    /// When the genesis is none.
    pub fn sim(&self) -> Result<SimId, EvidenceFileError> {
        Ok(Genesis::decode(&self.genesis)?.id())
    }

    /// Checks each piece: did the accused vote at that height, and sign both?
    ///
    /// # Errors
    /// When it cannot be said who voted.
    pub fn check(&self) -> Result<Vec<Result<(), Unproven>>, EvidenceFileError> {
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
            if voted { Ok(()) } else { Err(Unproven::NoVoter { key, height }) }
        };
        Ok(self.evidence.iter().map(holds).collect())
    }
}
