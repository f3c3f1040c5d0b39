//! Proofs that wait for the header that states their root.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_protocol::{TileLeaf, ViewProof};
use metatopia_sim::{PlacedLeaf, Tile, World};
use metatopia_types::{Certificate, Header, Height};

use crate::ClientId;

use super::tile_name;

/// Heights whose places are kept while their headers are waited for. They come two heights later,
/// but a server whose log is slow may have applied some more by then.
pub const PROOFS_WAITING_MAX: usize = 8;

/// What will be proved of one height.
#[derive(Debug)]
pub(super) struct Waiting {
    /// The leaves of all tiles that any client has.
    leaves: BTreeMap<Tile, Vec<PlacedLeaf>>,
    /// What each client has exactly.
    pub(super) exact: BTreeMap<ClientId, Vec<Tile>>,
}

impl Waiting {
    /// Shows the leaves of some tiles in the root that a header states.
    pub(super) fn proof(
        &self,
        of: Height,
        header: &Header,
        certificate: &Certificate,
        tiles: &[Tile],
    ) -> ViewProof {
        let leaf = |leaf: &PlacedLeaf| TileLeaf {
            tile: tile_name(leaf.tile),
            prefix: leaf.prefix.clone(),
            place: leaf.place.clone(),
        };
        let own = tiles.iter().filter_map(|tile| self.leaves.get(tile)).flatten();
        let (header, certificate) = (header.clone(), certificate.clone());
        ViewProof { of, header, certificate, leaves: own.map(leaf).collect() }
    }
}

/// Heights to be proved.
#[derive(Debug, Default)]
pub(super) struct Proofs {
    waiting: BTreeMap<Height, Waiting>,
}

impl Proofs {
    /// Keeps the places of the tiles that clients have exactly as the world is now.
    pub(super) fn expect(&mut self, world: &World, exact: BTreeMap<ClientId, Vec<Tile>>) {
        if exact.is_empty() {
            return;
        }
        let tiles: BTreeSet<Tile> = exact.values().flatten().copied().collect();
        let mut leaves: BTreeMap<Tile, Vec<PlacedLeaf>> = BTreeMap::new();
        for leaf in world.tile_leaves(&tiles) {
            leaves.entry(leaf.tile).or_default().push(leaf);
        }
        self.waiting.insert(world.height(), Waiting { leaves, exact });
        if self.waiting.len() > PROOFS_WAITING_MAX {
            self.waiting.pop_first();
        }
    }

    /// What is to be proved of a height. Earlier heights are given up.
    pub(super) fn take(&mut self, of: Height) -> Option<Waiting> {
        self.waiting = self.waiting.split_off(&of);
        self.waiting.remove(&of)
    }
}
