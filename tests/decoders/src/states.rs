//! States of a world, and what is kept of them.

use std::{collections::BTreeMap, sync::Arc};

use metatopia_consensus::JoinPack;
use metatopia_replica::{decode_patch, decode_snapshot, encode_patch};
use metatopia_scenarios::golden;
use metatopia_sim::{Capsule, Genesis, LeafEntry, Manifest, Tools, World};
use metatopia_types::{Digest, Ed25519, Height, LeafKey, Trust, wire};

use crate::binary::only;

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

/// The beginning of a snapshot, as a peer sends it: leaves come after the manifest.
pub(crate) fn manifest(bytes: &[u8]) -> bool {
    let Ok(Some(manifest)) = Manifest::decode_beginning(bytes) else {
        return false;
    };
    let again = wire::encode(&manifest);
    assert!(bytes.starts_with(&again), "two encodings of one manifest");
    let cut = again.split_last().map(|(_, cut)| Manifest::decode_beginning(cut));
    assert!(matches!(cut, Some(Ok(None))), "a manifest within another: {cut:?}");
    manifest.check(manifest.root()).is_ok()
}

/// Decodes what proves a state to a stranger, and checks it against the servers of the golden plaza.
pub(crate) fn join_pack(bytes: &[u8]) -> bool {
    let pack = JoinPack::decode(bytes).ok();
    let validators = golden::genesis().first_validators().expect("the golden genesis names four");
    let trust = Trust { height: Height(0), validators };
    let sim = golden::genesis().id();
    let proves = pack.as_ref().is_some_and(|pack| pack.verify(sim, &trust, &Ed25519).is_ok());
    only(bytes, pack.map(|pack| pack.encode())) && proves
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
