//! Starting again: what a snapshot holds, and how decided turns are found in the log.

use std::{collections::BTreeMap, sync::Arc};

use metatopia_consensus::{Base, Decision, Record};
use metatopia_sim::{Manifest, RestoreError, Tools, World};
use metatopia_store::{LogIndex, ReadDisk, ReadError};
use metatopia_types::{Digest, HeaderId, Height, Turn, wire};
use serde::{Deserialize, Serialize};

use crate::RECALL_HEIGHTS;

/// Largest encoded snapshot: 64 MiB is 2,000 leaves of half their largest size.
pub const SNAPSHOT_BYTES_MAX: usize = 64 * 1_024 * 1_024;

#[derive(Serialize, Deserialize)]
struct Stored {
    base: Base,
    manifest: Manifest,
    /// The leaves' contents, in the order of the manifest.
    leaves: Vec<Vec<u8>>,
}

/// Why a snapshot cannot be used. The log before it still can.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The bytes are no snapshot of this version.
    #[error("snapshot: {0}")]
    Decode(#[from] wire::DecodeError),
    /// The world in it is not what it should be.
    #[error("snapshot: {0}")]
    World(#[from] RestoreError),
    /// The world's root is not the one that agreement noted for its height.
    #[error("snapshot of height {0} holds another state than was agreed on")]
    OtherState(Height),
}

/// Everything needed to go on after the base's height without what led to it.
#[must_use]
pub fn encode_snapshot(base: &Base, world: &World) -> Vec<u8> {
    stored(base, &world.snapshot())
}

/// As [`encode_snapshot`], from the world's own snapshot: that is how the rest of it is encoded.
pub(crate) fn stored(base: &Base, world: &[u8]) -> Vec<u8> {
    let mut bytes = wire::encode(base);
    bytes.extend_from_slice(world);
    bytes
}

/// Reads what [`encode_snapshot`] made, and checks the world against the root it must have.
///
/// # Errors
/// See [`SnapshotError`].
pub fn decode_snapshot(bytes: &[u8], tools: &Tools) -> Result<(Base, World), SnapshotError> {
    let stored: Stored = wire::decode(bytes, SNAPSHOT_BYTES_MAX)?;
    let root = stored.base.roots[1];
    let by_hash = |leaf: Vec<u8>| (Digest(*blake3::hash(&leaf).as_bytes()), leaf);
    let contents: BTreeMap<Digest, Vec<u8>> = stored.leaves.into_iter().map(by_hash).collect();
    let world = World::restore(&stored.manifest, &contents, root, tools)?;
    if world.height() != stored.base.height {
        return Err(SnapshotError::OtherState(stored.base.height));
    }
    Ok((stored.base, world))
}

/// Puts decided turns together from records of the log: a decision names a turn whose bytes came in
/// an earlier record, at most [`RECORDS_BACK_HEIGHTS`] heights before.
///
/// Yields the decisions of `from` and later, in order, as long as there is no gap.
pub fn decisions(
    records: impl IntoIterator<Item = Record>,
    from: Height,
) -> impl Iterator<Item = Decision> {
    let mut records = records.into_iter();
    let (mut turns, mut next) = (BTreeMap::<HeaderId, Arc<Turn>>::new(), from);
    core::iter::from_fn(move || {
        loop {
            match records.next()? {
                Record::Turn(turn) if turn.header.height >= next => {
                    turns.insert(turn.id(), turn);
                }
                Record::Decided(certificate) if certificate.height >= next => {
                    let turn = turns.remove(&certificate.header)?;
                    if certificate.height != next {
                        return None;
                    }
                    turns.retain(|_, turn| turn.header.height > next);
                    next = next.plus(1);
                    return Some(Decision { certificate, turn });
                }
                _ => {}
            }
        }
    })
}

/// The first of the heights that [`Replica::open`](crate::Replica::open) should be told of.
#[must_use]
pub const fn recall_from(base: Height) -> Height {
    let from = base.0.saturating_sub(RECALL_HEIGHTS).saturating_add(1);
    Height(from)
}

/// Bytes of turns that are read from the log at once, about; 8 MiB.
pub const LOADED_BYTES_MAX: usize = 8 * 1_024 * 1_024;

/// At most `count` of [`decisions`], and only one more once their turns have [`LOADED_BYTES_MAX`]
/// bytes.
#[must_use]
pub fn find_decisions(
    records: impl IntoIterator<Item = Record>,
    from: Height,
    count: u32,
) -> Vec<Decision> {
    let mut bytes = 0_usize;
    let fits = |decision: &Decision| {
        let before = bytes;
        bytes = bytes.saturating_add(wire::encode(decision.turn.as_ref()).len());
        before <= LOADED_BYTES_MAX
    };
    decisions(records, from).take(count as usize).take_while(fits).collect()
}

/// How far before its decision a turn's bytes may be in the log: an early proposal of the height
/// after an undecided one.
pub const RECORDS_BACK_HEIGHTS: u64 = 2;

/// The payloads of the log's records from a little before the decision of `height` on; all of them
/// when that is one of the first heights, or when the log does not know the ones before.
///
/// # Errors
/// When the place cannot be found.
pub fn payloads_after<'a>(
    index: &'a LogIndex,
    disk: &'a dyn ReadDisk,
    height: Height,
) -> Result<impl Iterator<Item = Result<Vec<u8>, ReadError>> + 'a, ReadError> {
    let before = height.minus(RECORDS_BACK_HEIGHTS + 1).filter(|before| before.0 >= 1);
    let start = match before {
        Some(before) => index.find(disk, before.0)?.map(|record| record.position),
        None => None,
    };
    let records = match start {
        Some(position) => index.iter_from(disk, position)?,
        None => index.iter(disk),
    };
    Ok(records.map(|record| record.map(|record| record.payload)))
}
