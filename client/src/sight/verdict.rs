//! What a proof shows of the copies, and the check against it.

use alloc::{
    boxed::Box,
    collections::{BTreeMap, BTreeSet},
    format,
    string::String,
    vec::Vec,
};

use metatopia_protocol::{TileName, ViewProof};
use metatopia_sim::{KnownLeaves, Tile, tile_key};
use metatopia_types::{Digest, Height, ObjectId, Root, leaf_hash, limits};

use super::{Sight, kept::SightLeaves};

/// What a proof shows, as far as hashes go; whether its header was decided is another question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvenTiles {
    /// The state after the turn of this height.
    pub of: Height,
    /// The tiles whose copies are exactly the state's, those without entries too.
    pub tiles: Vec<TileName>,
    /// Tiles in sight that the proof says nothing of, because their copies were of an earlier turn,
    /// or not whole, or there are none: they had to wait for more important ones, or are hidden. All
    /// of them while the own avatar is in no proved one.
    pub lagging: Vec<TileName>,
    /// The objects in the proved tiles.
    pub objects: BTreeSet<ObjectId>,
}

/// Why a proof shows that the copies are wrong, or shows nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Disproof {
    /// The header states the root of another turn.
    #[error("header {header} states no root of turn {of}")]
    OtherHeight {
        /// What is to be proved.
        of: Height,
        /// The header's height.
        header: Height,
    },
    /// The leaves that the proof names are not all where it says.
    #[error("what the proof of turn {of} names is not in the state with root {root}")]
    OtherRoot {
        /// At this height.
        of: Height,
        /// The root that they lead to; none if the proof is malformed.
        leads: Option<Root>,
        /// The root that the header states.
        root: Root,
    },
    /// The copy's leaf is not in the certified state: something was shown that is not there, is
    /// elsewhere, or looks otherwise; or something that is there was not shown.
    #[error(
        "{} of turn {of} hashes to {found} in the copy, and to {stated} in the signed state",
        leaf_name(*tile, prefix)
    )]
    OtherLeaf {
        /// At this height.
        of: Height,
        /// The tile that differs.
        tile: TileName,
        /// The leaf's prefix.
        prefix: Vec<u8>,
        /// The hash of the copy's leaf.
        found: Digest,
        /// The hash of the state's.
        stated: Digest,
    },
    /// The proof names a leaf that the copy does not have: something was not shown.
    #[error("{} of turn {of} is in the state, but not in the copy", leaf_name(*tile, prefix))]
    NotShown {
        /// At this height.
        of: Height,
        /// The tile that differs.
        tile: TileName,
        /// The leaf's prefix.
        prefix: Vec<u8>,
    },
    /// The proof leaves out a leaf of a tile that it names others of.
    #[error("{} of turn {of} is left out", leaf_name(*tile, prefix))]
    LeftOut {
        /// At this height.
        of: Height,
        /// The tile that differs.
        tile: TileName,
        /// The leaf's prefix.
        prefix: Vec<u8>,
    },
}

/// The leaf's key in words.
fn leaf_name(tile: TileName, prefix: &[u8]) -> String {
    let mut name = format!("leaf tile/{},{}", tile.x, tile.y);
    for (n, digit) in prefix.iter().enumerate() {
        let slash = if n == 0 { "/" } else { "" };
        name.push_str(&format!("{slash}{digit:x}"));
    }
    name
}

/// The leaves of each tile that a proof names.
type Named<'a> = BTreeMap<TileName, BTreeSet<&'a [u8]>>;

impl Sight {
    /// Holds the copies, as they were after the turn that the proof is of, against the root in its
    /// header. Whether the header was decided is for [`LightClient`](crate::LightClient) to say.
    /// Nothing if it is not known any more what the copies were then.
    ///
    /// # Errors
    /// See [`Disproof`].
    pub fn check(&mut self, proof: &ViewProof) -> Result<Option<ProvenTiles>, Box<Disproof>> {
        let (of, header) = (proof.of, proof.header.height);
        if header != of.plus(limits::ROOT_LAG) {
            return Err(Box::new(Disproof::OtherHeight { of, header }));
        }
        let Some(copies) = self.leaves_at(of) else {
            return Ok(None);
        };
        at_their_places(proof)?;
        let named = name_copied(proof, &copies)?;
        let known = known_leaves(proof);
        let mut shown =
            ProvenTiles { of, tiles: Vec::new(), lagging: Vec::new(), objects: BTreeSet::new() };
        for (tile, leaves) in &copies.tiles {
            let place = Tile { x: tile.x.into(), y: tile.y.into() };
            let empty = leaves.hashes.is_empty() && !leaves.more && known.lack(place);
            match named.get(tile) {
                None if !empty => shown.lagging.push(*tile),
                None => shown.tiles.push(*tile),
                Some(named) => {
                    let missing = leaves.hashes.keys().find(|prefix| !named.contains(&prefix[..]));
                    if let Some(prefix) = missing.cloned() {
                        return Err(Box::new(Disproof::LeftOut { of, tile: *tile, prefix }));
                    }
                    shown.tiles.push(*tile);
                    shown.objects.extend(&leaves.objects);
                }
            }
        }
        // Of which tiles there are copies follows from where the own avatar is: unless that is proved,
        // what is proved may be anywhere but around it. Who has not come yet needs none.
        let is_found = copies.own.is_some_and(|own| shown.tiles.contains(&own));
        if (copies.avatar || self.present) && !is_found {
            shown.lagging.append(&mut shown.tiles);
            shown.lagging.sort_unstable();
            shown.objects.clear();
        }
        Ok(Some(shown))
    }
}

/// Checks that all leaves that the proof names are in the state, at their places.
fn at_their_places(proof: &ViewProof) -> Result<(), Box<Disproof>> {
    let own = proof.leaves.iter().map(|leaf| (leaf.place, leaf.hash));
    let beside = proof.beside.iter();
    let beside = beside.map(|leaf| (leaf.place, leaf_hash(&leaf.key, &leaf.content)));
    let mut all: Vec<(u32, Digest)> = own.chain(beside).collect();
    all.sort_unstable_by_key(|(place, _)| *place);
    let (leads, root) = (proof.places.root(&all).map(Root), proof.header.root);
    if all.is_empty() || leads == Some(root) {
        return Ok(());
    }
    Err(Box::new(Disproof::OtherRoot { of: proof.of, leads, root }))
}

/// The leaves of tiles that the proof names, each that of the copy.
fn name_copied<'a>(proof: &'a ViewProof, copies: &SightLeaves) -> Result<Named<'a>, Box<Disproof>> {
    let (of, mut named) = (proof.of, Named::new());
    for leaf in &proof.leaves {
        let (tile, prefix, stated) = (leaf.tile, &leaf.prefix, leaf.hash);
        let whole = copies.tiles.get(&tile).filter(|leaves| !leaves.more);
        let Some(found) = whole.and_then(|leaves| leaves.hashes.get(prefix)).copied() else {
            return Err(Box::new(Disproof::NotShown { of, tile, prefix: prefix.clone() }));
        };
        if found != stated {
            let prefix = prefix.clone();
            return Err(Box::new(Disproof::OtherLeaf { of, tile, prefix, found, stated }));
        }
        named.entry(tile).or_default().insert(prefix);
    }
    Ok(named)
}

/// Returns all leaves that the proof names. Their places must have been checked before.
fn known_leaves(proof: &ViewProof) -> KnownLeaves {
    let mut known = KnownLeaves::new(proof.places.count);
    for leaf in &proof.leaves {
        let tile = Tile { x: leaf.tile.x.into(), y: leaf.tile.y.into() };
        known.put(leaf.place, tile_key(tile, &leaf.prefix));
    }
    for leaf in &proof.beside {
        known.put(leaf.place, leaf.key.clone());
    }
    known
}
