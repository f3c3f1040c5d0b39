//! What the program finds out about the world that a sim lies in: its map, and who owns a point of it.

use std::{pin::Pin, time::Duration};

use metatopia_client::BlockList;
use metatopia_client_driver::NodeUrl;
use metatopia_types::{Digest, PublicKey, SimId, Square, TilePoint};

/// A sim on the map. Its id, square and holder are proved; the rest is what its servers say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownSim {
    /// The id that its genesis must have.
    pub sim: SimId,
    /// The ground that it lies on.
    pub square: Square,
    /// Who may give the square away.
    pub holder: PublicKey,
    /// What the sim is called.
    pub name: Option<String>,
    /// How many people are there.
    pub people: Option<u32>,
    /// The licence of what is built there.
    pub licence: Option<String>,
    /// Whether the node that was asked hears of its servers.
    pub is_met: bool,
    /// Where its servers let people in.
    pub servers: Vec<NodeUrl>,
}

/// The map of a world, as far as a node has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownMap {
    /// What is granted.
    pub sims: Vec<KnownSim>,
    /// How old the oldest proof of it is; none of an empty map.
    pub age: Option<Duration>,
    /// All members that the node knows are in one network, so one liar may be all that there is.
    pub one_door: bool,
}

/// What comes when a node was asked and its proofs were checked. Errors are sentences for the person.
pub type FromWorld<'a, T> = Pin<Box<dyn Future<Output = Result<T, String>> + 'a>>;

/// Whoever asks nodes about a world for a text client, proves what they say, and remembers which house
/// rules a person agreed to and whose words she does not want to read.
pub trait WorldDesk {
    /// Asks a node for the map of this world, and proves it.
    fn map(&self, node: NodeUrl, world: SimId) -> FromWorld<'_, KnownMap>;

    /// Asks a node who owns a point of this world, and proves it; nothing if nobody does.
    fn owner(
        &self,
        node: NodeUrl,
        world: SimId,
        point: TilePoint,
    ) -> FromWorld<'_, Option<KnownSim>>;

    /// Says whether the person agreed to house rules of this digest.
    fn has_agreed(&self, rules: Digest) -> bool;

    /// Remembers that the person agrees to them.
    fn agree(&self, rules: Digest);

    /// Returns those whose words the person does not want to read.
    fn blocked(&self) -> BlockList;

    /// Remembers them.
    ///
    /// # Errors
    /// When they cannot be kept; the error is a sentence for the person, without its full stop.
    fn keep_blocked(&self, blocked: &BlockList) -> Result<(), String>;
}
