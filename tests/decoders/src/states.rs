//! States of a world, and what is kept of them.

use std::{collections::BTreeMap, sync::Arc};

use metatopia_replica::{decode_patch, decode_snapshot, encode_patch};
use metatopia_sim::{Capsule, Genesis, LeafEntry, Manifest, Tools, World};
use metatopia_types::{Digest, Ed25519, LeafKey, wire};

/// Longest state that is tried.
const STATE_BYTES_MAX: usize = 4 * 1024 * 1024;

pub(crate) fn tools() -> Tools {
    Tools::new(Arc::new(Ed25519))
}

/// A genesis that is taken has one encoding; whether a world comes of it is judged, not assumed.
pub(crate) fn genesis(bytes: &[u8]) -> bool {
    let Ok(genesis) = Genesis::decode(bytes) else {
        return false;
    };
    assert!(genesis.encode() == bytes, "two encodings of one genesis");
    World::genesis(&genesis, &tools()).is_ok()
}

/// Leaves under a root that is right: as if validators had signed them. A world that is restored
/// from them must have that root.
pub(crate) fn state(bytes: &[u8]) -> bool {
    let Ok(leaves) = wire::decode::<Vec<(LeafKey, Vec<u8>)>>(bytes, STATE_BYTES_MAX) else {
        return false;
    };
    let hash = |leaf: &[u8]| Digest(*blake3::hash(leaf).as_bytes());
    let entry = |(key, leaf): &(LeafKey, Vec<u8>)| LeafEntry {
        key: key.clone(),
        hash: hash(leaf),
        bytes: u32::try_from(leaf.len()).unwrap_or(u32::MAX),
    };
    let manifest = Manifest { leaves: leaves.iter().map(entry).collect() };
    let contents: BTreeMap<Digest, Vec<u8>> =
        leaves.into_iter().map(|(_, leaf)| (hash(&leaf), leaf)).collect();
    let root = manifest.root();
    match World::restore(&manifest, &contents, root, &tools()) {
        Ok(world) => {
            assert_eq!(world.root(), root, "restored to another state");
            true
        }
        Err(_) => false,
    }
}

pub(crate) fn snapshot(bytes: &[u8]) -> bool {
    decode_snapshot(bytes, &tools()).is_ok()
}

/// Turns that were put back into a log.
pub(crate) fn patch(bytes: &[u8]) -> bool {
    let Some(patch) = encode_patch(&decode_patch(bytes)) else {
        return false;
    };
    assert!(patch.bytes == bytes, "two encodings of the same turns");
    true
}

pub(crate) fn capsule(bytes: &[u8]) -> bool {
    let Ok(capsule) = Capsule::decode(bytes) else {
        return false;
    };
    assert!(capsule.encode() == bytes, "two encodings of one capsule");
    capsule.begin(&tools()).is_ok()
}
