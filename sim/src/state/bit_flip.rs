//! Flips a bit of a state, as a bad memory does, for tests in which servers notice it.

use std::collections::BTreeMap;

use metatopia_types::{Digest, LeafKey};

use super::{tools::Tools, world::World};

/// Returns the world with one bit of one leaf flipped: the last bit whose flip still leaves a state.
/// Returns nothing if the world has no such leaf, or if every flip of a bit of it is refused.
#[must_use]
pub fn flipped(world: &World, leaf: &LeafKey, tools: &Tools) -> Option<World> {
    let content = world.leaf(leaf)?;
    let bits = content.len().saturating_mul(8);
    (0..bits).rev().find_map(|bit| with_flip(world, leaf, &content, bit, tools))
}

/// Returns the world with this bit of this leaf flipped, if that is still a state.
fn with_flip(
    world: &World,
    leaf: &LeafKey,
    content: &[u8],
    bit: usize,
    tools: &Tools,
) -> Option<World> {
    let mut content = content.to_vec();
    *content.get_mut(bit / 8)? ^= 1 << (bit % 8);
    let mut manifest = world.manifest();
    let mut contents = BTreeMap::new();
    for entry in &mut manifest.leaves {
        let kept = if entry.key == *leaf { content.clone() } else { world.leaf(&entry.key)? };
        entry.hash = Digest(*blake3::hash(&kept).as_bytes());
        contents.insert(entry.hash, kept);
    }
    let root = manifest.root();
    // What is no state, or not in its canonical form, is refused there.
    World::restore(&manifest, &contents, root, tools).ok()
}
