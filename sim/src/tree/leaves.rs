//! The leaves of a state: its canonical encoding, cut into pieces that are hashed one by one.
//!
//! A leaf is hashed again only when what it holds was touched. That is an optimisation and no more:
//! the tests hash everything anew after every turn and compare.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use metatopia_physics::{Body, Contact, Joint};
use metatopia_types::{
    Digest, Height, LeafKey, ObjectId, Root, Roster, StateProof, TilePoint, merkle, shelf_key,
};

use super::{
    engine_leaf::EngineLeaf,
    leaf_keys::{
        CONTACTS, GRANTED, GRANTS, HISTORIES, JOINTS, LOTS, OWNERS, PACKAGES, PIECES, PLAYERS,
        PUBLICATIONS, TILE, WINDOWS, prefix_digits, tile_named,
    },
    leaf_table::{LeafDigest, LeafRange, LeafTable},
    people_leaves::PeopleTables,
};
use crate::{
    acts::ChatIndex,
    rules::{Governance, LandWeek, Readiness},
    space::{PlacedTiles, Tile},
    state::{ChangedObject, Charter, object_key},
};

/// A leaf that is one value, and is never cut.
#[derive(Debug, Clone)]
pub(super) struct Single {
    pub(super) content: Arc<[u8]>,
}

/// A part of the state as the last refresh found it: comparing a value costs less than encoding it.
#[derive(Debug, Clone)]
pub(super) struct LastValue<T>(Option<T>);

impl<T> Default for LastValue<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: Clone + PartialEq> LastValue<T> {
    /// Says whether this value is another one than the last. Keeps it as the last one.
    pub(super) fn changed_to(&mut self, now: &T) -> bool {
        let changed = self.0.as_ref() != Some(now);
        if changed {
            self.0 = Some(now.clone());
        }
        changed
    }
}

/// All leaves after the last turn, with their hashes.
#[derive(Debug, Clone, Default)]
pub(crate) struct StateLeaves {
    pub(super) singles: BTreeMap<LeafKey, Single>,
    pub(super) engine: LastValue<EngineLeaf>,
    pub(super) charter: LastValue<Charter>,
    pub(super) readiness: LastValue<Readiness>,
    pub(super) governance: LastValue<Governance>,
    pub(super) roster: LastValue<Roster>,
    pub(super) chat: LastValue<ChatIndex>,
    pub(super) land: LastValue<LandWeek>,
    pub(super) players: LeafTable<32>,
    pub(super) histories: LeafTable<32>,
    pub(super) windows: LeafTable<40>,
    pub(super) owners: LeafTable<33>,
    pub(super) packages: LeafTable<36>,
    pub(super) publications: LeafTable<32>,
    pub(super) pieces: LeafTable<64>,
    pub(super) contacts: LeafTable<16>,
    pub(super) joints: LeafTable<8>,
    pub(super) granted: LeafTable<32>,
    pub(super) people: PeopleTables,
    pub(super) lots: LeafTable<8>,
    /// Shared with who proves shelves of a state that has passed.
    pub(super) shelves: Shelves,
    pub(super) tiles: BTreeMap<Tile, LeafTable<8>>,
    /// Every leaf, with its content's hash and its hash in the tree.
    pub(super) tree: BTreeMap<LeafKey, (LeafDigest, Digest)>,
    /// The tile and the body of each object when its entry was written.
    pub(super) placed: BTreeMap<ObjectId, (Tile, Body)>,
    pub(super) touching: Vec<Contact>,
    /// The joints when their entries were written.
    pub(super) joined: Vec<Joint>,
    /// The nodes over the hashes of all leaves.
    pub(super) nodes: Arc<merkle::Tree>,
    /// The most bytes that a snapshot takes, see [`StateLeaves::bytes`].
    pub(super) bytes: u64,
    /// The bytes of the state of the tier.
    pub(super) tier_bytes: usize,
    /// Objects that changed between the last two calls of [`StateLeaves::refresh`].
    pub(super) changed: Vec<ChangedObject>,
    pub(super) hashed_bytes: u64,
}

/// The table of a land office's grants.
#[derive(Debug, Clone)]
pub(super) struct Shelves(pub(super) Arc<LeafTable<8>>);

impl Default for Shelves {
    fn default() -> Self {
        Self(Arc::new(LeafTable::shelves()))
    }
}

impl StateLeaves {
    /// Returns the root of the state as the last refresh found it.
    pub(crate) fn root(&self) -> Root {
        Root(self.nodes.root())
    }

    /// Returns the objects that the last refresh found changed, in the order of their ids.
    pub(crate) fn changed(&self) -> &[ChangedObject] {
        &self.changed
    }

    /// Returns the tile of an object, and its entry there.
    pub(crate) fn entry(&self, id: ObjectId) -> Option<(Tile, &[u8])> {
        let (tile, _) = self.placed.get(&id)?;
        Some((*tile, self.tiles.get(tile)?.get(&object_key(id))?))
    }

    /// Returns the entries of a tile, by id.
    pub(crate) fn entries(&self, tile: Tile) -> impl Iterator<Item = (ObjectId, &[u8])> {
        let entries = self.tiles.get(&tile).into_iter().flat_map(LeafTable::entries);
        entries.map(|(key, entry)| (ObjectId(u64::from_be_bytes(*key)), entry))
    }

    /// Finds the leaves of these tiles, and the leaves beside those tiles that have none.
    pub(crate) fn place(&self, tiles: &BTreeSet<Tile>) -> PlacedTiles {
        let leaves = self.tree.iter().map(|(key, (digest, hash))| (key, digest.hash, *hash));
        PlacedTiles::find(&self.nodes, leaves, tiles)
    }

    /// Returns the most bytes that a snapshot takes of the state as the last refresh found it.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns how many bytes the state of the tier has.
    pub(crate) const fn tier_bytes(&self) -> u64 {
        self.tier_bytes as u64
    }

    /// Returns how many bytes of content were hashed so far, for measurements.
    pub(crate) const fn hashed_bytes(&self) -> u64 {
        self.hashed_bytes
    }

    /// Returns every leaf with the hash and length of its content, in the order of their keys.
    pub(crate) fn list(&self) -> impl Iterator<Item = (&LeafKey, LeafDigest)> {
        self.tree.iter().map(|(key, (digest, _))| (key, *digest))
    }

    /// Returns the content of a leaf.
    pub(crate) fn content(&self, key: &LeafKey) -> Option<Vec<u8>> {
        self.part(key, LeafRange::Whole)
    }

    /// Returns the first bytes of a leaf of the list, at most so many.
    pub(crate) fn head(&self, key: &LeafKey, bytes: usize) -> Vec<u8> {
        let mut head = self.part(key, LeafRange::Head(bytes)).unwrap_or_default();
        head.truncate(bytes);
        head
    }

    /// Returns a range of the content of a leaf.
    fn part(&self, key: &LeafKey, range: LeafRange) -> Option<Vec<u8>> {
        if let Some(single) = self.singles.get(key) {
            let bytes = match range {
                LeafRange::Whole => single.content.len(),
                LeafRange::Head(bytes) => single.content.len().min(bytes),
            };
            return Some(single.content[..bytes].to_vec());
        }
        self.tree.get(key)?;
        // The key of a leaf that was cut off is its table's name, a slash and its prefix.
        self.table_part(&key.0, &[], range).or_else(|| {
            let (name, prefix) = key.0.rsplit_once('/')?;
            self.table_part(name, &prefix_digits(prefix)?, range)
        })
    }

    /// Returns a range of the content of a leaf of the table with this name.
    fn table_part(&self, name: &str, prefix: &[u8], range: LeafRange) -> Option<Vec<u8>> {
        Some(match name {
            PLAYERS => self.players.part(prefix, range),
            HISTORIES => self.histories.part(prefix, range),
            WINDOWS => self.windows.part(prefix, range),
            OWNERS => self.owners.part(prefix, range),
            PACKAGES => self.packages.part(prefix, range),
            PUBLICATIONS => self.publications.part(prefix, range),
            PIECES => self.pieces.part(prefix, range),
            CONTACTS => self.contacts.part(prefix, range),
            JOINTS => self.joints.part(prefix, range),
            GRANTED => self.granted.part(prefix, range),
            LOTS => self.lots.part(prefix, range),
            GRANTS => self.shelves.0.part(prefix, range),
            _ if PeopleTables::has(name) => return self.people.part(name, prefix, range),
            _ => {
                let tile = tile_named(name.strip_prefix(TILE)?.strip_prefix('/')?)?;
                self.tiles.get(&tile)?.part(prefix, range)
            }
        })
    }

    /// Returns the shelves of a land office, to prove them while the state goes on; nothing if there are
    /// none.
    pub(crate) fn map_shelves(&self, height: Height) -> Option<MapShelves> {
        if self.shelves.0.is_empty() {
            return None;
        }
        let first = LeafKey(GRANTS.to_owned());
        let first = u32::try_from(self.tree.range(..&first).count()).ok()?;
        let (shelves, nodes) = (Arc::clone(&self.shelves.0), Arc::clone(&self.nodes));
        Some(MapShelves { height, first, shelves, nodes })
    }

    /// Returns a leaf with its path to the root.
    pub(crate) fn proof(&self, key: &LeafKey) -> Option<StateProof> {
        let content = self.content(key)?;
        let index = u32::try_from(self.tree.range(..key).count()).ok()?;
        let place = self.nodes.proof(index)?;
        Some(StateProof { key: key.clone(), content, place })
    }
}

/// The shelves of a land office after one turn. Clones are cheap: they share what is in it.
#[derive(Debug, Clone)]
pub struct MapShelves {
    height: Height,
    /// The place of the first shelf among all leaves. The others follow it, in the order of their keys.
    first: u32,
    shelves: Arc<LeafTable<8>>,
    nodes: Arc<merkle::Tree>,
}

impl MapShelves {
    /// Returns the height of the turn.
    #[must_use]
    pub const fn height(&self) -> Height {
        self.height
    }

    /// Returns the root of the state after that turn.
    #[must_use]
    pub fn root(&self) -> Root {
        Root(self.nodes.root())
    }

    /// Returns the shelf about a point, with its path to the root.
    ///
    /// # Panics
    /// Never: every point has a shelf.
    #[must_use]
    pub fn proof(&self, point: TilePoint) -> StateProof {
        let shelf = self.shelves.shelf_of(&point.quadtree_code().to_be_bytes());
        let (digits, before) = shelf.expect("the shelves cover the plane");
        let place = u32::try_from(before).ok().and_then(|n| self.nodes.proof(self.first + n));
        let place = place.expect("each shelf is one of the leaves");
        StateProof { key: shelf_key(&digits), content: self.shelves.content(&digits), place }
    }
}

#[cfg(test)]
mod tests {
    use metatopia_types::{
        Digest, LandGrant, Millis, OfficeFounding, PublicKey, SimId, Square, Validator,
        limits::{GRANTS_MAX, SHELF_BYTES_MAX},
    };

    use super::*;
    use crate::{
        acts::test_genesis,
        space::Area,
        state::{Genesis, State},
    };

    #[test]
    fn in_a_world_with_all_its_grants_a_proof_is_short_and_made_without_hashing() {
        let square = Square { x: 0, y: 0, doublings: 0 };
        let (holder, beacons) = (PublicKey([7; 32]), vec![PublicKey([9; 32])]);
        let office = OfficeFounding { square, holder, beacons: beacons.clone() };
        let mut genesis = Genesis { office: Some(office), ..test_genesis() };
        genesis.parameters.ground = Area::of_square(square);
        let mut state = State::from_genesis(&genesis).expect("a land office");
        let register = state.land.as_mut().expect("a land office");
        for n in 1..GRANTS_MAX as i32 {
            let square = Square { x: 2 * (n % 256), y: 2 * (n / 256), doublings: 0 };
            let sim = SimId(Digest::of("a test's sim", &n.to_le_bytes()));
            let (epoch, until, shown) = (3, Millis(2_592_000_000), Height(70_000));
            let beacons = beacons.clone();
            let grant = LandGrant { square, sim, holder, beacons, epoch, until, shown };
            register.insert(grant, vec![Validator { key: holder, power: 1 }]);
        }

        let leaves = StateLeaves::of(&mut state);

        let map = leaves.map_shelves(Height(0)).expect("a land office");
        let shelves = map.shelves.leaves().count();
        println!("{GRANTS_MAX} grants: {shelves} shelves, a state of {} bytes", leaves.bytes());
        assert!(shelves < GRANTS_MAX / 3, "{shelves}");
        for (x, y) in [(0, 0), (511, 511), (-1, 0), (i32::MIN, i32::MAX), (300, 77)] {
            let proof = map.proof(TilePoint { x, y });
            assert_eq!(proof.verify(leaves.root()), Ok(()));
            assert!(proof.content.len() <= SHELF_BYTES_MAX && proof.place.path.len() <= 17);
        }
    }
}
