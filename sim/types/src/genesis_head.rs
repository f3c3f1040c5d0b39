//! The head of a genesis: what others must know of a sim before they know the sim.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::{
    Digest, Height, PublicKey, Root, SimId, Site, Square, Validator, ValidatorSet,
    ValidatorSetError, limits, wire,
};

/// What a genesis says of its sim to other sims. Its digest is the sim's id, so whoever has the id and a
/// head believes the head, without the whole genesis.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GenesisHead {
    /// The exact rules that the sim runs by.
    pub engine: u32,
    /// What names these rules on every platform.
    pub rules: Digest,
    /// Where it lies in a world of many sims; none if it lies in none, or is the land office.
    pub site: Option<Site>,
    /// What its own ground is, if it is the land office of a world.
    pub office: Option<OfficeFounding>,
    /// The sim that it carries on, if it is a successor.
    pub parent: Option<HeadParent>,
    /// The first permanent admins, ascending.
    pub admins: Vec<PublicKey>,
    /// The first validators, ascending, each of power 1.
    pub validators: Vec<PublicKey>,
    /// The digest of the whole genesis.
    pub rest: Digest,
}

/// What makes a sim a land office, and grants it its own ground.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfficeFounding {
    /// The ground on which the land office lies.
    pub square: Square,
    /// Who holds it.
    pub holder: PublicKey,
    /// Keys that sign the addresses of the land office.
    pub beacons: Vec<PublicKey>,
}

/// The sim and the state with which a successor begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeadParent {
    /// The id of the parent.
    pub sim: SimId,
    /// The last of its turns that counts.
    pub height: Height,
    /// The root of its state after that turn.
    pub root: Root,
}

/// Why a head is of no sim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GenesisHeadError {
    /// Keys are not strictly ascending.
    #[error("key {0} is out of order or there twice")]
    Order(PublicKey),
    /// More admins than a sim may have.
    #[error("{0} admins where at most {max} are allowed", max = limits::ADMINS_MAX)]
    Admins(usize),
    /// The validators are no set.
    #[error(transparent)]
    Validators(#[from] ValidatorSetError),
}

/// Says whether a world is another one, or one that its land office carries on, as the heads of land offices
/// show: the first has the id of `own`, and each names the one after it as its parent.
#[must_use]
pub fn carries_on(own: SimId, world: SimId, offices: &[GenesisHead]) -> bool {
    let mut reached = own;
    for office in offices {
        match office.parent {
            Some(parent) if office.id() == reached => reached = parent.sim,
            _ => return false,
        }
    }
    reached == world
}

impl GenesisHead {
    /// Returns the id of the sim.
    #[must_use]
    pub fn id(&self) -> SimId {
        SimId(Digest::of("metatopia genesis head v1", &wire::encode(self)))
    }

    /// Returns the first validators of a head that may be of a sim.
    ///
    /// # Errors
    /// See [`GenesisHeadError`].
    pub fn check(&self) -> Result<ValidatorSet, GenesisHeadError> {
        if self.admins.len() > limits::ADMINS_MAX {
            return Err(GenesisHeadError::Admins(self.admins.len()));
        }
        for keys in [&self.admins, &self.validators] {
            if let Some(pair) = keys.windows(2).find(|pair| pair[0] >= pair[1]) {
                return Err(GenesisHeadError::Order(pair[1]));
            }
        }
        let member = |key: &PublicKey| Validator { key: *key, power: 1 };
        Ok(ValidatorSet::new(self.validators.iter().map(member).collect(), |_| true)?)
    }
}
