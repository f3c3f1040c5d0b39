//! Where all belief begins: a genesis that gives the sim's id.

use std::sync::Arc;

use metatopia_client::LightClient;
use metatopia_sim::Genesis;
use metatopia_types::{Ed25519, Height, SimId};

use crate::CallError;

/// A sim that is known from its very beginning.
#[derive(Clone, Debug)]
pub struct TrustedGenesis {
    /// How it began.
    pub genesis: Arc<Genesis>,
    /// Follows its validators from there.
    pub light: LightClient,
}

impl TrustedGenesis {
    /// Believes a genesis that has the sim's id.
    ///
    /// # Errors
    /// When it is malformed, of another engine or of another sim, or names no set of validators.
    pub fn new(sim: SimId, genesis: &[u8]) -> Result<Self, CallError> {
        let genesis = Genesis::decode(genesis).map_err(|error| CallError::new("genesis", error))?;
        if genesis.id() != sim {
            let text = format_args!("the genesis is that of sim {}", genesis.id());
            return Err(CallError::new("other_genesis", text));
        }
        let set = genesis.first_validators().map_err(|error| CallError::new("genesis", error))?;
        let light = LightClient::new(sim, Height(1), set, Arc::new(Ed25519));
        Ok(Self { genesis: Arc::new(genesis), light })
    }

    /// Reads an input that begins with the id in hexadecimal, `name` bytes of it.
    pub(crate) fn read(input: &[u8], name: usize) -> Result<(Self, Vec<u8>), CallError> {
        let no_name = || CallError::input("no id of that length");
        let (sim, genesis) = input.split_at_checked(name).ok_or_else(no_name)?;
        let sim = str::from_utf8(sim).map_err(CallError::input)?;
        let sim: SimId = sim.parse().map_err(CallError::input)?;
        Ok((Self::new(sim, genesis)?, genesis.to_vec()))
    }
}
