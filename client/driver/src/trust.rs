//! What a client believes before anybody tells it anything: the genesis, which gives the sim's id.

use std::{sync::Arc, time::Duration};

use metatopia_client::LightClient;
use metatopia_protocol::{Answer, GENESIS_PART_BYTES, Question};
use metatopia_sim::{Genesis, GenesisError, limits::GENESIS_BYTES_MAX};
use metatopia_types::{Ed25519, Height, SimId, ValidatorSetError};
use tokio::time::timeout;

use super::{AskError, AskingSession, NodeEndpoint, NodeEndpointError, NodeUrl, passing_key};

/// Time for the whole exchange.
const LEARN: Duration = Duration::from_secs(10);

/// A sim that is known from its very beginning.
#[derive(Clone, Debug)]
pub struct GenesisTrust {
    /// The id of the sim.
    pub sim: SimId,
    /// How it began.
    pub genesis: Arc<Genesis>,
    light: LightClient,
}

/// Why a sim is not known.
#[derive(Debug, thiserror::Error)]
pub enum LearnError {
    /// There is nobody to ask.
    #[error("no node was given")]
    NoNode,
    /// There is no way into the node.
    #[error(transparent)]
    Endpoint(#[from] NodeEndpointError),
    /// The node was not asked, or did not answer.
    #[error(transparent)]
    Ask(AskError),
    /// The node is too busy, or has no genesis.
    #[error("the node does not hand out its genesis now")]
    NoGenesis,
    /// The genesis is malformed, or of another engine.
    #[error(transparent)]
    Genesis(#[from] GenesisError),
    /// The genesis is not that of the sim.
    #[error("the node gave the genesis of sim {found} for that of {expected}")]
    OtherGenesis {
        /// The sim that was expected.
        expected: SimId,
        /// The sim whose genesis it is.
        found: SimId,
    },
    /// The genesis names no set of validators.
    #[error("the genesis names no set of validators: {0}")]
    Validators(#[from] ValidatorSetError),
    /// It took too long.
    #[error("the node did not hand out its genesis within {} s", LEARN.as_secs())]
    TimedOut,
}

impl From<AskError> for LearnError {
    fn from(error: AskError) -> Self {
        match error {
            AskError::Endpoint(error) => Self::Endpoint(error),
            AskError::OtherSim { expected, found } => Self::OtherGenesis { expected, found },
            error => Self::Ask(error),
        }
    }
}

impl GenesisTrust {
    /// Returns the root of trust that a genesis is.
    ///
    /// # Errors
    /// When its validators are no set.
    pub fn of(genesis: Genesis) -> Result<Self, ValidatorSetError> {
        let set = genesis.first_validators()?;
        let sim = genesis.id();
        let light = LightClient::new(sim, Height(1), set, Arc::new(Ed25519));
        Ok(Self { sim, genesis: Arc::new(genesis), light })
    }

    /// Fetches the genesis from a node, and believes it if it gives the sim's id.
    ///
    /// A passing key asks, so that the player's own session opens only when it is known with what.
    ///
    /// # Errors
    /// See [`LearnError`].
    pub async fn learn(endpoint: &NodeEndpoint) -> Result<Self, LearnError> {
        let bytes = timeout(LEARN, fetch(endpoint)).await.map_err(|_| LearnError::TimedOut)??;
        let genesis = Genesis::decode(&bytes)?;
        let (expected, found) = (endpoint.sim, genesis.id());
        if expected != found {
            return Err(LearnError::OtherGenesis { expected, found });
        }
        Ok(Self::of(genesis)?)
    }

    /// Finds the first of these nodes that answers and serves `sim`, if one is given, and learns the sim's
    /// genesis from it.
    ///
    /// # Errors
    /// What was wrong with the first node, if none is left.
    pub async fn learn_from(nodes: &[NodeUrl], sim: Option<SimId>) -> Result<Self, LearnError> {
        let mut first = None;
        for url in nodes {
            let learned = async { Self::learn(&NodeEndpoint::ask(url, sim).await?).await };
            match learned.await {
                Ok(trust) => return Ok(trust),
                Err(error) => first = first.or(Some(error)),
            }
        }
        Err(first.unwrap_or(LearnError::NoNode))
    }

    /// Returns a light client that begins at genesis.
    #[must_use]
    pub fn light(&self) -> LightClient {
        self.light.clone()
    }
}

async fn fetch(endpoint: &NodeEndpoint) -> Result<Vec<u8>, LearnError> {
    // A passing key asks, so that the player's own session opens only when it is known with what.
    let mut session = AskingSession::open(endpoint, passing_key()).await?;
    let genesis = ask_genesis(&mut session).await;
    session.leave().await;
    genesis
}

/// Returns a part of a genesis, or why there is none.
fn part_of(answer: Answer) -> Result<Vec<u8>, LearnError> {
    match answer {
        Answer::Genesis(part) | Answer::GenesisPart(part) => Ok(part),
        _ => Err(LearnError::NoGenesis),
    }
}

async fn ask_genesis(session: &mut AskingSession) -> Result<Vec<u8>, LearnError> {
    let mut genesis = part_of(session.ask(Question::Genesis, LEARN).await?)?;
    // One that is too long is refused when it is decoded.
    while genesis.len().is_multiple_of(GENESIS_PART_BYTES) && genesis.len() <= GENESIS_BYTES_MAX {
        let part = u32::try_from(genesis.len() / GENESIS_PART_BYTES);
        let part = part.expect("a genesis has few parts");
        let more = part_of(session.ask(Question::GenesisPart { part }, LEARN).await?)?;
        if more.is_empty() {
            break;
        }
        genesis.extend(more);
    }
    Ok(genesis)
}
