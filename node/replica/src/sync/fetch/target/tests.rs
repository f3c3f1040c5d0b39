//! The beginning of a snapshot, which has many parts.

use metatopia_sim::LeafEntry;
use metatopia_types::{Certificate, LeafKey, Round, limits::ROOT_LAG, wire};

use super::*;

const HEIGHT: Height = Height(100);

fn provider(n: u8) -> PublicKey {
    PublicKey([n; 32])
}

/// A state with so many leaves, and its snapshot, of which the contents are nothing yet.
fn snapshot(leaves: u32) -> (Target, Vec<u8>) {
    let leaf = |n: u32| LeafEntry {
        key: LeafKey(format!("leaf/{n:07}")),
        hash: Digest(*blake3::hash(&n.to_le_bytes()).as_bytes()),
        bytes: 100,
    };
    let manifest = Manifest { leaves: (0..leaves).map(leaf).collect() };
    let height = HEIGHT.plus(ROOT_LAG);
    let header = Header { height, root: manifest.root(), ..Header::unstated() };
    let certificate =
        Certificate { height, round: Round(0), header: header.id(), signatures: Vec::new() };
    let mut bytes = wire::encode(&manifest);
    bytes.resize(bytes.len() + leaves as usize * 100, 0);
    let offer = SnapshotOffer { height: HEIGHT, bytes: bytes.len() as u64, header, certificate };
    (Target::new(offer, Duration::ZERO), bytes)
}

/// Takes all parts from one provider, until the manifest is there, and returns how many there were, and
/// how many of them were decoded.
fn give(
    target: &mut Target,
    from: PublicKey,
    offered: u64,
    bytes: &[u8],
) -> Result<(usize, usize), ProviderFault> {
    let (mut parts, mut decoded) = (0, 0);
    while let Some(part) = target.wanted_part(from) {
        let bytes = bytes.chunks(SNAPSHOT_PART_BYTES).nth(part as usize).unwrap_or_default();
        let before = target.decoded;
        target.part((from, offered), part, bytes, &BTreeMap::new())?;
        parts += 1;
        decoded += usize::from(target.decoded != before);
    }
    Ok((parts, decoded))
}

/// It was decoded anew for each part: one of 64 parts took as long as two thousand parts.
#[test]
fn a_long_beginning_is_decoded_when_it_has_grown_by_an_eighth() {
    let (mut target, bytes) = snapshot(400_000);
    let manifest = bytes.len() - 400_000 * 100;
    let least = manifest.div_ceil(SNAPSHOT_PART_BYTES);

    let given = give(&mut target, provider(1), bytes.len() as u64, &bytes);
    let (parts, decoded) = given.expect("an honest one");

    assert!(least > 60 && parts >= least && parts <= least + least / 8 + 1, "{parts} of {least}");
    assert!(decoded <= 30, "{decoded} of {parts}");
    assert_eq!(target.missing.len(), 400_000);
}

#[test]
fn a_beginning_that_ends_before_its_manifest_is_the_fault_of_its_giver_alone() {
    let (mut target, bytes) = snapshot(20_000);
    let short = &bytes[..SNAPSHOT_PART_BYTES + 1_000];
    let none = Err(ProviderFault::NoManifest(DecodeError::Malformed));

    assert_eq!(give(&mut target, provider(1), u64::MAX, short), none, "its last part is short");
    target.begin_again(provider(1));
    assert_eq!(give(&mut target, provider(2), 1, &bytes), none, "by its own word it is short");
    target.begin_again(provider(2));
    let empty = give(&mut target, provider(3), u64::MAX, &[]);
    assert_eq!(empty, Err(ProviderFault::Unasked));
    target.begin_again(provider(3));

    assert!(give(&mut target, provider(4), bytes.len() as u64, &bytes).is_ok());
    assert_eq!(target.missing.len(), 20_000);
}
