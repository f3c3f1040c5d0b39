//! What the leaves of the copies were at heights that are proved later, and the check against such
//! a proof.

use alloc::{
    boxed::Box,
    collections::{BTreeMap, BTreeSet, VecDeque},
    format,
    string::String,
    sync::Arc,
    vec::Vec,
};

use metatopia_protocol::{PROOF_TURNS, TileName, ViewProof};
use metatopia_types::{Digest, Height, ObjectId, Root, limits};

use super::{Held, Sight};

/// Proof heights whose leaves are remembered: 16 of them are 64 turns, about three seconds.
pub const KEPT_MAX: usize = 16;

/// The leaves of one tile, by prefix, and whose entries are in them.
#[derive(Clone, Debug, Default)]
struct TileLeaves {
    hashes: BTreeMap<Vec<u8>, Digest>,
    objects: Vec<ObjectId>,
    /// Entries of it are still under way, so that it cannot be proved.
    more: bool,
}

type Leaves = BTreeMap<TileName, TileLeaves>;

#[derive(Clone, Debug)]
pub(super) struct Kept(VecDeque<(Height, Arc<Leaves>)>);

impl Kept {
    pub(super) const fn new() -> Self {
        Self(VecDeque::new())
    }
}

/// What a proof shows, as far as hashes go; whether its header was decided is another question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The state after the turn of this height.
    pub of: Height,
    /// The tiles whose copies are exactly the state's.
    pub tiles: Vec<TileName>,
    /// Tiles that the proof leaves out, because their copies were of an earlier turn, or not whole:
    /// they had to wait for more important ones. A copy without entries has no leaf, so it is never
    /// here.
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
    /// The copy's leaf is not in the certified state: something was shown that is not there, is
    /// elsewhere, or looks otherwise; or something that is there was not shown.
    #[error(
        "{} of turn {of} is not in the state with root {root}: the copy hashes to {found}",
        leaf_name(*tile, prefix)
    )]
    OtherLeaf {
        /// At this height.
        of: Height,
        /// The tile.
        tile: TileName,
        /// The leaf's prefix.
        prefix: Vec<u8>,
        /// The hash of the copy's leaf.
        found: Digest,
        /// The root that it leads to at the place that the proof names; none if the path is malformed.
        leads: Option<Root>,
        /// The root that the header states.
        root: Root,
    },
    /// The proof names a leaf that the copy does not have: something was not shown.
    #[error("{} of turn {of} is in the state, but not in the copy", leaf_name(*tile, prefix))]
    NotShown {
        /// At this height.
        of: Height,
        /// The tile.
        tile: TileName,
        /// The leaf's prefix.
        prefix: Vec<u8>,
    },
    /// The proof leaves out a leaf of a tile that it names others of.
    #[error("{} of turn {of} is left out", leaf_name(*tile, prefix))]
    LeftOut {
        /// At this height.
        of: Height,
        /// The tile.
        tile: TileName,
        /// The leaf's prefix.
        prefix: Vec<u8>,
    },
    /// The proof names a leaf twice.
    #[error("{} of turn {of} is there twice", leaf_name(*tile, prefix))]
    Twice {
        /// At this height.
        of: Height,
        /// The tile.
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

impl Sight {
    /// Remembers the leaves at the proof heights up to, and without, that of the next view.
    pub(super) fn keep(&mut self, next: Height) {
        let last = next.0.saturating_sub(1) / PROOF_TURNS * PROOF_TURNS;
        let heights = (0_u64..).map(|n| last.saturating_sub(n.saturating_mul(PROOF_TURNS)));
        let first = self.height.0.max(1);
        let mut heights: Vec<u64> =
            heights.take(KEPT_MAX).take_while(|height| *height >= first).collect();
        if heights.is_empty() {
            return;
        }
        heights.reverse();
        let leaves = Arc::new(self.leaves());
        let kept = &mut self.kept.0;
        kept.extend(heights.into_iter().map(|height| (Height(height), Arc::clone(&leaves))));
        kept.drain(..kept.len().saturating_sub(KEPT_MAX));
    }

    fn leaves(&mut self) -> Leaves {
        let tile = |(tile, held): (&TileName, &mut Held)| {
            let leaves = held.copy.leaves().into_iter();
            let hashes = leaves.map(|leaf| (leaf.prefix, leaf.hash)).collect();
            let objects = held.copy.entries().map(|entry| entry.id).collect();
            (*tile, TileLeaves { hashes, objects, more: held.more })
        };
        self.tiles.iter_mut().map(tile).collect()
    }

    /// The leaves as they were after the turn of this height; nothing if that is forgotten.
    fn leaves_at(&mut self, of: Height) -> Option<Arc<Leaves>> {
        if self.from.is_none_or(|from| of < from) {
            return None;
        }
        if of >= self.height {
            return Some(Arc::new(self.leaves()));
        }
        let kept = self.kept.0.iter().find(|(height, _)| *height == of)?;
        Some(Arc::clone(&kept.1))
    }

    /// Holds the copies, as they were after the turn that the proof is of, against the root in its
    /// header. Whether the header was decided is for [`LightClient`](crate::LightClient) to say.
    /// Nothing if it is not known any more what the copies were then.
    ///
    /// # Errors
    /// See [`Disproof`].
    pub fn check(&mut self, proof: &ViewProof) -> Result<Option<Shown>, Box<Disproof>> {
        let (of, header) = (proof.of, proof.header.height);
        if header != of.plus(limits::ROOT_LAG) {
            return Err(Box::new(Disproof::OtherHeight { of, header }));
        }
        let Some(copies) = self.leaves_at(of) else {
            return Ok(None);
        };
        let mut checked: BTreeMap<TileName, BTreeSet<&[u8]>> = BTreeMap::new();
        for leaf in &proof.leaves {
            let (tile, prefix) = (leaf.tile, &leaf.prefix);
            let whole = copies.get(&tile).filter(|leaves| !leaves.more);
            let Some(hash) = whole.and_then(|leaves| leaves.hashes.get(prefix)) else {
                return Err(Box::new(Disproof::NotShown { of, tile, prefix: prefix.clone() }));
            };
            if !checked.entry(tile).or_default().insert(prefix) {
                return Err(Box::new(Disproof::Twice { of, tile, prefix: prefix.clone() }));
            }
            let (leads, root) = (leaf.place.root(*hash).map(Root), proof.header.root);
            if leads != Some(root) {
                let (prefix, found) = (prefix.clone(), *hash);
                return Err(Box::new(Disproof::OtherLeaf { of, tile, prefix, found, leads, root }));
            }
        }
        let mut shown =
            Shown { of, tiles: Vec::new(), lagging: Vec::new(), objects: BTreeSet::new() };
        for (tile, leaves) in copies.iter().filter(|(_, leaves)| !leaves.hashes.is_empty()) {
            let Some(checked) = checked.get(tile) else {
                shown.lagging.push(*tile);
                continue;
            };
            let missing = leaves.hashes.keys().find(|prefix| !checked.contains(prefix.as_slice()));
            if let Some(prefix) = missing.cloned() {
                return Err(Box::new(Disproof::LeftOut { of, tile: *tile, prefix }));
            }
            shown.tiles.push(*tile);
            shown.objects.extend(&leaves.objects);
        }
        Ok(Some(shown))
    }
}
