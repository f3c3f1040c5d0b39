//! Merkle trees over a list, with the shape of RFC 6962: the left half is the largest power of two
//! below the count, so that a list and its extension share subtrees. Leaves and nodes are hashed
//! with different first bytes, so that a node can never pass for a leaf.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::Digest;

const LEAF: u8 = 0;
const NODE: u8 = 1;
const EMPTY: u8 = 2;

/// The hash of one leaf's bytes.
#[must_use]
pub fn leaf(bytes: &[u8]) -> Digest {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&[LEAF]).update(bytes);
    Digest(*hasher.finalize().as_bytes())
}

fn node(left: &Digest, right: &Digest) -> Digest {
    let mut bytes = [NODE; 65];
    bytes[1..33].copy_from_slice(&left.0);
    bytes[33..].copy_from_slice(&right.0);
    Digest(*blake3::hash(&bytes).as_bytes())
}

fn split(count: usize) -> usize {
    debug_assert!(count > 1);
    count.next_power_of_two() / 2
}

/// The root over leaf hashes, in order. A list of none has a root of its own.
#[must_use]
pub fn root(leaves: &[Digest]) -> Digest {
    match leaves {
        [] => Digest(*blake3::hash(&[EMPTY]).as_bytes()),
        [one] => *one,
        _ => {
            let (left, right) = leaves.split_at(split(leaves.len()));
            node(&root(left), &root(right))
        }
    }
}

/// Shows that one leaf is at one place of a list with a known root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// The leaf's place, from 0.
    pub index: u32,
    /// How many leaves the list has.
    pub count: u32,
    /// The sibling hashes from the leaf up.
    pub path: Vec<Digest>,
}

impl Proof {
    /// The proof for `leaves[index]`, or `None` if there is no such leaf, or more of them than a `u32`
    /// counts.
    #[must_use]
    pub fn of(leaves: &[Digest], index: usize) -> Option<Self> {
        if index >= leaves.len() {
            return None;
        }
        let mut path = Vec::new();
        siblings(leaves, index, &mut path);
        Some(Self {
            index: u32::try_from(index).ok()?,
            count: u32::try_from(leaves.len()).ok()?,
            path,
        })
    }

    /// The root of the list that has `leaf` at this place; nothing if the path has the wrong length.
    #[must_use]
    pub fn root(&self, leaf: Digest) -> Option<Digest> {
        if self.index >= self.count {
            return None;
        }
        // From the top down: is the leaf in the right half of the list under this node?
        let (mut index, mut count) = (self.index as usize, self.count as usize);
        let mut on_the_right = Vec::new();
        while count > 1 {
            let left = split(count);
            on_the_right.push(index >= left);
            (index, count) =
                if index >= left { (index - left, count - left) } else { (index, left) };
        }
        if on_the_right.len() != self.path.len() {
            return None;
        }
        Some(self.path.iter().zip(on_the_right.iter().rev()).fold(
            leaf,
            |hash, (sibling, right)| {
                if *right { node(sibling, &hash) } else { node(&hash, sibling) }
            },
        ))
    }
}

/// Shows that some leaves are at their places of a list with a known root. What their paths have in
/// common is there once.
///
/// Two leaves at places that follow one another are neighbours in the list, whatever count a prover
/// states: their ways down from the root part once, and then go right all the way, and left. So it
/// is with the first leaf and the last one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JointProof {
    /// How many leaves the list has.
    pub count: u32,
    /// The sibling hashes that do not follow from the leaves: level by level from the leaves up, and
    /// from the left in each.
    pub siblings: Vec<Digest>,
}

impl JointProof {
    /// The root of the list that has these leaves at these places; nothing if there are none, their
    /// places do not ascend below the count, or the siblings are not as many as it takes.
    #[must_use]
    pub fn root(&self, leaves: &[(u32, Digest)]) -> Option<Digest> {
        let ascending = leaves.windows(2).all(|pair| pair[0].0 < pair[1].0);
        if !ascending || leaves.last()?.0 >= self.count {
            return None;
        }
        let mut siblings = self.siblings.iter();
        let (mut level, mut count) = (leaves.to_vec(), self.count);
        while count > 1 {
            let mut above = Vec::with_capacity(level.len());
            let mut nodes = level.into_iter().peekable();
            while let Some((at, hash)) = nodes.next() {
                let other = at ^ 1;
                let parent = if other >= count {
                    hash
                } else if other < at {
                    node(siblings.next()?, &hash)
                } else {
                    let known = nodes.next_if(|(next, _)| *next == other).map(|(_, hash)| hash);
                    node(&hash, &known.or_else(|| siblings.next().copied())?)
                };
                above.push((at / 2, parent));
            }
            (level, count) = (above, count.div_ceil(2));
        }
        let root = level.first().map(|(_, root)| *root);
        root.filter(|_| siblings.next().is_none())
    }
}

/// All nodes over a list, for whoever wants many proofs of it: each costs no hashing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// The leaves, then the nodes over them up to the root. The last of an odd number is its own
    /// parent: that gives the same shape as splitting from the top.
    levels: Vec<Vec<Digest>>,
}

impl Tree {
    /// The tree over leaf hashes, in order.
    #[must_use]
    pub fn of(leaves: Vec<Digest>) -> Self {
        Self::default().followed_by(leaves)
    }

    /// The tree over another list of leaf hashes. Nodes over what is the same, at the same place, are
    /// not hashed again.
    #[must_use]
    pub fn followed_by(&self, leaves: Vec<Digest>) -> Self {
        let mut levels: Vec<Vec<Digest>> = Vec::with_capacity(self.levels.len());
        let mut level = leaves;
        let mut known = self.levels.iter();
        let mut before = known.next();
        while level.len() > 1 {
            let over = known.next();
            let parent = |(place, pair): (usize, &[Digest])| {
                let [left, right] = pair else { return pair[0] };
                let same = before.and_then(|before| before.chunks(2).nth(place)) == Some(pair);
                let old = over.filter(|_| same).and_then(|over| over.get(place));
                old.copied().unwrap_or_else(|| node(left, right))
            };
            let above = level.chunks(2).enumerate().map(parent).collect();
            levels.push(core::mem::replace(&mut level, above));
            before = over;
        }
        levels.push(level);
        Self { levels }
    }

    /// Returns what [`root`] returns for the leaves.
    #[must_use]
    pub fn root(&self) -> Digest {
        let top = self.levels.last().and_then(|level| level.first());
        top.copied().unwrap_or_else(|| root(&[]))
    }

    /// Returns what [`Proof::of`] returns for the leaves.
    #[must_use]
    pub fn proof(&self, index: u32) -> Option<Proof> {
        let count = u32::try_from(self.levels.first()?.len()).ok()?;
        if index >= count {
            return None;
        }
        let mut at = index as usize;
        let mut path = Vec::new();
        for level in &self.levels {
            path.extend(level.get(at ^ 1));
            at /= 2;
        }
        Some(Proof { index, count, path })
    }

    /// The proof for the leaves at these places, which ascend, or `None` if one is not of the list.
    #[must_use]
    pub fn joint(&self, places: &[u32]) -> Option<JointProof> {
        let count = u32::try_from(self.levels.first()?.len()).ok()?;
        if places.last().is_some_and(|last| *last >= count) {
            return None;
        }
        let (mut known, mut siblings) = (places.to_vec(), Vec::new());
        for level in &self.levels {
            let missing =
                known.iter().map(|at| at ^ 1).filter(|at| known.binary_search(at).is_err());
            siblings.extend(missing.filter_map(|at| level.get(at as usize)));
            known.iter_mut().for_each(|at| *at /= 2);
            known.dedup();
        }
        Some(JointProof { count, siblings })
    }
}

fn siblings(leaves: &[Digest], index: usize, path: &mut Vec<Digest>) {
    if leaves.len() < 2 {
        return;
    }
    let at = split(leaves.len());
    let (left, right) = leaves.split_at(at);
    if index < at {
        siblings(left, index, path);
        path.push(root(right));
    } else {
        siblings(right, index - at, path);
        path.push(root(left));
    }
}
