//! Capsules: a state and the turns after it, for anybody to replay who wants to know who is right.

use std::sync::Arc;

use metatopia_sim::{Genesis, GenesisError, RestoreError, SNAPSHOT_BYTES_MAX, Tools, World};
use metatopia_types::{Certificate, Ed25519, Height, Root, Turn, wire};
use serde::{Deserialize, Serialize};

use crate::{Fault, replica::follower::Follower};

/// Largest encoded capsule: genesis, snapshot, and turns of half a minute.
pub const CAPSULE_BYTES_MAX: usize = 2 * SNAPSHOT_BYTES_MAX;

/// What capsules begin with.
const MARK: &str = "metatopia capsule v1";

/// A state and the turns after it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capsule {
    /// The sim's genesis, encoded.
    pub genesis: Vec<u8>,
    /// The root of the state.
    pub root: Root,
    /// The state, as [`World::snapshot`] gives it.
    pub snapshot: Vec<u8>,
    /// The turns after it, in order, each with a certificate.
    pub turns: Vec<(Turn, Certificate)>,
}

/// What a replay of a capsule found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The turns lead to the roots that their headers state, as far as those go.
    Same {
        /// The last height whose root was compared; nothing if there are too few turns.
        compared: Option<Height>,
    },
    /// They do not.
    Differs {
        /// The state after the turn of this height.
        of: Height,
        /// Its root here.
        own: Root,
        /// Its root by a certified header.
        stated: Root,
    },
}

/// Why a capsule cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CapsuleError {
    /// The bytes are no capsule.
    Decode(wire::DecodeError),
    /// The bytes are of another version.
    OtherVersion,
    /// Its genesis is none.
    Genesis(GenesisError),
    /// Its state is none, or one of another sim.
    State(RestoreError),
    /// The state is of another sim than the genesis.
    OtherSim,
    /// Its turns do not follow each other, or are not certified.
    Turns(Fault),
}

impl core::fmt::Display for CapsuleError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Decode(error) => write!(f, "capsule: {error}"),
            Self::OtherVersion => f.write_str("capsule: another version"),
            Self::Genesis(error) => write!(f, "capsule: {error}"),
            Self::State(error) => write!(f, "capsule: {error}"),
            Self::OtherSim => f.write_str("capsule: the state is of another sim than the genesis"),
            Self::Turns(fault) => write!(f, "capsule: {fault}"),
        }
    }
}

impl core::error::Error for CapsuleError {}

impl Capsule {
    /// As it is kept in a file.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        wire::encode(&(MARK, self))
    }

    /// Reads what [`Capsule::encode`] made.
    ///
    /// # Errors
    /// [`CapsuleError::Decode`] and [`CapsuleError::OtherVersion`].
    pub fn decode(bytes: &[u8]) -> Result<Self, CapsuleError> {
        let (mark, capsule): (String, Self) =
            wire::decode(bytes, CAPSULE_BYTES_MAX).map_err(CapsuleError::Decode)?;
        if mark == MARK { Ok(capsule) } else { Err(CapsuleError::OtherVersion) }
    }

    /// Applies the turns to the state, here.
    ///
    /// Certificates are checked against the validators in the state itself. Whether that state is
    /// the sim's is shown by the second header after it, which states its root; only for genesis it
    /// is known by itself.
    ///
    /// # Errors
    /// When there is nothing that can be replayed.
    pub fn replay(&self) -> Result<Verdict, CapsuleError> {
        let tools = Tools::new(Arc::new(Ed25519));
        let genesis = Genesis::decode(&self.genesis).map_err(CapsuleError::Genesis)?;
        let world =
            World::from_snapshot(&self.snapshot, self.root, &tools).map_err(CapsuleError::State)?;
        if world.sim() != genesis.id() {
            return Err(CapsuleError::OtherSim);
        }
        let mut follower = Follower::new(world);
        follower.follow(self.turns.clone()).map_err(CapsuleError::Turns)?;
        Ok(match follower.mismatch() {
            Some(found) => Verdict::Differs { of: found.of, own: found.own, stated: found.stated },
            None => Verdict::Same { compared: follower.checked().map(|compared| compared.of) },
        })
    }
}
