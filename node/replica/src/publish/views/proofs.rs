//! Proofs that wait for the header that states their root.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_protocol::{NeighbourLeaf, TileLeaf, ViewProof};
use metatopia_sim::{AdjacentLeaf, PlacedLeaf, PlacedTiles, ShownTiles, Tile, World};
use metatopia_types::{Certificate, Header, Height};

use crate::ClientId;

use super::tile_name;

/// Heights whose places are kept while their headers are waited for. They come two heights later,
/// but a server whose log is slow may have applied some more by then.
pub const PROOFS_WAITING_MAX: usize = 8;

/// What will be proved of one height.
#[derive(Debug)]
pub(super) struct PendingProof {
    /// All tiles that any client has.
    placed: PlacedTiles,
    /// What each client has exactly.
    pub(super) exact: BTreeMap<ClientId, Vec<Tile>>,
}

impl PendingProof {
    /// Shows some tiles in the root that a header states.
    pub(super) fn proof(
        &self,
        of: Height,
        header: &Header,
        certificate: &Certificate,
        tiles: &[Tile],
    ) -> ViewProof {
        let ShownTiles { leaves, beside, places } = self.placed.show(tiles);
        let leaf = |leaf: PlacedLeaf| {
            let PlacedLeaf { tile, prefix, place, hash } = leaf;
            TileLeaf { tile: tile_name(tile), prefix, place, hash }
        };
        let other = |leaf: AdjacentLeaf| {
            let AdjacentLeaf { key, content, place } = leaf;
            NeighbourLeaf { key, content, place }
        };
        ViewProof {
            of,
            header: header.clone(),
            certificate: certificate.clone(),
            leaves: leaves.into_iter().map(leaf).collect(),
            beside: beside.into_iter().map(other).collect(),
            places,
        }
    }
}

/// Heights to be proved.
#[derive(Debug, Default)]
pub(super) struct Proofs {
    waiting: BTreeMap<Height, PendingProof>,
}

impl Proofs {
    /// Keeps the places of the tiles that clients have exactly as the world is now.
    pub(super) fn expect(&mut self, world: &World, exact: BTreeMap<ClientId, Vec<Tile>>) {
        if exact.is_empty() {
            return;
        }
        let tiles: BTreeSet<Tile> = exact.values().flatten().copied().collect();
        let placed = world.place_tiles(&tiles);
        self.keep(world.height(), PendingProof { placed, exact });
    }

    fn keep(&mut self, of: Height, proof: PendingProof) {
        self.waiting.insert(of, proof);
        if self.waiting.len() > PROOFS_WAITING_MAX {
            self.waiting.pop_first();
        }
    }

    /// Returns what is to be proved of a height. Earlier heights are given up.
    pub(super) fn take(&mut self, of: Height) -> Option<PendingProof> {
        self.waiting = self.waiting.split_off(&of);
        self.waiting.remove(&of)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use metatopia_sim::{Genesis, Tools};
    use metatopia_types::{Ed25519, NodeContact, Sign as _, SigningKey};

    use super::*;

    #[test]
    fn so_many_heights_wait_for_their_headers_and_the_oldest_goes_first() {
        let server = SigningKey::from_seed([7; 32]).public();
        let genesis = Genesis {
            name: "town".to_owned(),
            validators: BTreeMap::from([(server, NodeContact::default())]),
            licence: "AGPL-3.0-or-later".to_owned(),
            asset_licence: "CC-BY-SA-4.0".to_owned(),
            ..Genesis::empty()
        };
        let world = World::genesis(&genesis, &Tools::new(Arc::new(Ed25519))).expect("a world");
        let proof =
            || PendingProof { placed: world.place_tiles(&BTreeSet::new()), exact: BTreeMap::new() };
        let mut proofs = Proofs::default();
        let most = PROOFS_WAITING_MAX as u64;
        (1..=most).for_each(|height| proofs.keep(Height(height), proof()));
        assert_eq!(proofs.waiting.first_key_value().map(|(of, _)| *of), Some(Height(1)));
        proofs.keep(Height(most + 1), proof());
        assert_eq!(proofs.waiting.len(), PROOFS_WAITING_MAX);
        assert_eq!(proofs.waiting.first_key_value().map(|(of, _)| *of), Some(Height(2)));
    }
}
