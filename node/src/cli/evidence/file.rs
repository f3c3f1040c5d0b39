//! Evidence in a file, with all that a stranger needs to check it: the genesis, and every change of
//! the validators since.

use std::sync::Arc;

use metatopia_client::LightClient;
use metatopia_protocol::Link;
use metatopia_sim::Genesis;
use metatopia_types::{Ed25519, Evidence, Height, SimId, wire, wire::DecodeError};
use serde::{Deserialize, Serialize};

use crate::cli::failure::Failure;

/// Largest file: a genesis of 16 MiB, and as much of set changes and evidence.
pub(super) const EVIDENCE_BYTES_MAX: usize = 32 * 1_024 * 1_024;

/// What these files begin with.
const MARK: &str = "metatopia evidence v1";

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct EvidenceFile {
    /// The sim's genesis, encoded; its digest is the sim's id.
    pub(super) genesis: Vec<u8>,
    /// The changes of the validators, ascending.
    pub(super) links: Vec<Link>,
    /// The lies.
    pub(super) evidence: Vec<Evidence>,
}

/// Why bytes are no such file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum EvidenceFileError {
    #[error("no file of evidence: {0}")]
    Decode(#[from] DecodeError),
    #[error("a file of evidence of another version")]
    OtherVersion,
}

impl EvidenceFile {
    pub(super) fn encode(&self) -> Vec<u8> {
        wire::encode(&(MARK, self))
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self, EvidenceFileError> {
        let (mark, file): (String, Self) = wire::decode(bytes, EVIDENCE_BYTES_MAX)?;
        if mark == MARK { Ok(file) } else { Err(EvidenceFileError::OtherVersion) }
    }

    fn genesis(&self) -> Result<Genesis, Failure> {
        Genesis::decode(&self.genesis)
            .map_err(|error| Failure::unverified(format!("the genesis of the sim: {error}")))
    }

    /// The sim that it is about.
    pub(super) fn sim(&self) -> Result<SimId, Failure> {
        Ok(self.genesis()?.id())
    }

    /// Does each piece hold: did the accused vote at that height, and sign both?
    ///
    /// # Errors
    /// When it cannot be said who voted.
    pub(super) fn check(&self) -> Result<Vec<Result<(), String>>, Failure> {
        let genesis = self.genesis()?;
        let sim = genesis.id();
        let first = genesis
            .first_validators()
            .map_err(|error| Failure::unverified(format!("the validators of genesis: {error}")))?;
        let mut light = LightClient::new(sim, Height(1), first, Arc::new(Ed25519));
        for link in &self.links {
            light.follow(link).map_err(|error| {
                let height = link.header.height;
                Failure::unverified(format!("the change of validators at {height}: {error}"))
            })?;
        }
        let holds = |evidence: &Evidence| {
            let liar = evidence.verify(sim, &Ed25519).map_err(|error| error.to_string())?;
            let (_, height) = evidence.accused();
            let set = light.set(height).map_err(|error| error.to_string())?;
            let voted = set.get(&liar).is_some();
            voted.then_some(()).ok_or_else(|| format!("{liar} does not vote at height {height}"))
        };
        Ok(self.evidence.iter().map(holds).collect())
    }
}
