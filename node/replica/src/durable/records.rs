//! Starting a replica: what a snapshot holds, and how decided turns are found in the log.

use std::{collections::BTreeMap, sync::Arc};

use metatopia_consensus::{Base, Decision, Record};
use metatopia_sim::{Manifest, StateRestoreError, Tools, World};
use metatopia_store::{LogIndex, ReadDisk, ReadError};
use metatopia_types::{Digest, HeaderId, Height, Millis, Turn, wire};
use serde::{Deserialize, Serialize};

use crate::RECALL_HEIGHTS;

/// Largest encoded snapshot: that of a world, and a base with all set changes that it may name, 10,000
/// of less than 5 KiB.
pub const SNAPSHOT_BYTES_MAX: usize = metatopia_sim::SNAPSHOT_BYTES_MAX + 64 * 1_024 * 1_024;

const _: () = assert!(
    SNAPSHOT_BYTES_MAX as u64 <= metatopia_store::limits::SNAPSHOT_BYTES_MAX,
    "the store takes whatever a start can read"
);

#[derive(Serialize, Deserialize)]
struct Stored {
    base: Base,
    manifest: Manifest,
    /// The leaves' contents, in the order of the manifest.
    leaves: Vec<Vec<u8>>,
}

/// The reason why a snapshot cannot be used. The log before it still can.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// The bytes are no snapshot of this version.
    #[error("snapshot: {0}")]
    Decode(#[from] wire::DecodeError),
    /// The world in it is not what it should be.
    #[error("snapshot: {0}")]
    World(#[from] StateRestoreError),
    /// The world's root is not the one that agreement noted for its height.
    #[error("snapshot of height {0} holds another state than was agreed on")]
    OtherState(Height),
}

/// Returns a snapshot: all that a replica needs to start after the base's height.
#[must_use]
pub fn encode_snapshot(base: &Base, world: &World) -> Vec<u8> {
    stored(base, &world.snapshot())
}

/// Returns the same as [`encode_snapshot`], from the bytes of the world's own snapshot.
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

/// Returns the base from which agreement starts before the first turn.
///
/// # Panics
/// If the world is not one at genesis.
#[must_use]
pub fn base_of(genesis: &World) -> Base {
    assert_eq!(genesis.height(), Height(0), "a world at genesis");
    let set = genesis.validators(Height(1)).expect("genesis knows its first validators");
    Base::genesis(Millis(0), genesis.root(), set)
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

/// Returns the first height whose turn [`Replica::open`](crate::Replica::open) should get.
#[must_use]
pub const fn recall_from(base: Height) -> Height {
    let from = base.0.saturating_sub(RECALL_HEIGHTS).saturating_add(1);
    Height(from)
}

/// Bytes of turns that are read from the log at once, about; 8 MiB.
pub const LOADED_BYTES_MAX: usize = 8 * 1_024 * 1_024;

/// Returns at most `count` of [`decisions`], and only one more once their turns have
/// [`LOADED_BYTES_MAX`] bytes.
#[must_use]
pub fn find_decisions(
    records: impl IntoIterator<Item = Record>,
    from: Height,
    count: u32,
) -> Vec<Decision> {
    at_once(decisions(records, from), count, LOADED_BYTES_MAX)
}

/// Returns as many of these decisions as are read at once: at most `count`, and only one more once
/// their turns have `bytes_max` bytes.
pub(crate) fn at_once(
    decisions: impl Iterator<Item = Decision>,
    count: u32,
    bytes_max: usize,
) -> Vec<Decision> {
    let mut bytes = 0_usize;
    let fits = |decision: &Decision| {
        let before = bytes;
        bytes = bytes.saturating_add(wire::length(decision.turn.as_ref()));
        before <= bytes_max
    };
    decisions.take(count as usize).take_while(fits).collect()
}

/// How far before its decision a turn's bytes may be in the log: an early proposal of the height
/// after an undecided one.
pub const RECORDS_BACK_HEIGHTS: u64 = 2;

/// Returns the records for a replica that begins with the state of height `base`: those of later
/// heights, and those about no height or more than one.
///
/// # Errors
/// See [`RecordsError`].
pub fn records_after(
    index: &LogIndex,
    disk: &dyn ReadDisk,
    base: Height,
) -> Result<Vec<Record>, RecordsError> {
    let mut records = Vec::new();
    for payload in payloads_after(index, disk, base.plus(1))? {
        let record = Record::decode(&payload?)?;
        let lasts = matches!(record, Record::Healed { .. } | Record::Recovered(_));
        if lasts || record.height().is_none_or(|height| height > base) {
            records.push(record);
        }
    }
    Ok(records)
}

/// The reason why a replica cannot be opened with the records of its log.
#[derive(Debug, thiserror::Error)]
pub enum RecordsError {
    /// A record cannot be read back.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A record is none of this version's.
    #[error("a record is not of this version: {0}")]
    Decode(#[from] wire::DecodeError),
}

/// Returns the payloads of the log's records from a little before the decision of `height` on, or all
/// when that is one of the first heights, or when the log does not know the one before. If its last
/// decision before it is of an earlier height still, from there on: a server went on from a state that
/// it fetched.
///
/// # Errors
/// If the place cannot be found.
pub fn payloads_after<'a>(
    index: &'a LogIndex,
    disk: &'a dyn ReadDisk,
    height: Height,
) -> Result<impl Iterator<Item = Result<Vec<u8>, ReadError>> + 'a, ReadError> {
    let before = height.minus(RECORDS_BACK_HEIGHTS + 1).filter(|before| before.0 >= 1);
    // If the log leaves that one out, the last before it.
    let around = |before: Height| index.gaps().find(|gap| (gap.0..=gap.1).contains(&before.0));
    let before = before.map(|before| around(before).map_or(before, |gap| Height(gap.0 - 1)));
    let start = match (before, index.last_tagged()) {
        (Some(before), Some((last, position))) if last < before.0 => Some(position),
        (Some(before), _) => index.find(disk, before.0)?.map(|record| record.position),
        (None, _) => None,
    };
    let records = match start {
        Some(position) => index.iter_from(disk, position)?,
        None => index.iter(disk),
    };
    Ok(records.map(|record| record.map(|record| record.payload)))
}

#[cfg(test)]
mod tests {
    use metatopia_types::{
        Act, Blob, Certificate, Digest, Envelope, Header, Lane, Round, Seq, Sign as _, SigningKey,
        SimId, TurnBody,
    };

    use super::*;

    /// Returns a turn of this height and body.
    fn turn(height: u64, body: TurnBody) -> Turn {
        Turn { header: Header { height: Height(height), ..Header::unstated() }, body }
    }

    /// Returns a body whose turn has so many bytes.
    fn body(bytes: usize) -> TurnBody {
        let author = SigningKey::from_seed([1; 32]);
        let of = |last: usize| {
            let lengths = (0..).zip([65_400, 65_400, 65_400, last]);
            let blobs: Vec<Blob> = lengths.map(|(n, length)| Blob(vec![n; length])).collect();
            let say = |(seq, blob): (u64, &Blob)| {
                let act = Act::Say { channel: 1, body: blob.id() };
                let (sim, author_key) = (SimId(Digest::ZERO), author.public());
                let (lane, seq, last_valid) = (Lane(1), Seq(seq), Height(1_000));
                Envelope { sim, author: author_key, lane, seq, last_valid, act }.sign(&author)
            };
            let acts = (1..).zip(&blobs).map(say).collect();
            TurnBody::new(acts, blobs).expect("no more than a turn may have")
        };
        let body = of(30_000 + bytes - wire::length(&turn(1, of(30_000))));
        assert_eq!(wire::length(&turn(1, body.clone())), bytes);
        body
    }

    /// Returns the records of a turn that was decided.
    fn decided(height: u64, body: &TurnBody) -> [Record; 2] {
        let turn = turn(height, body.clone());
        let (height, round, header) = (turn.header.height, Round(0), turn.id());
        let certificate = Certificate { height, round, header, signatures: Vec::new() };
        [Record::Turn(Arc::new(turn)), Record::Decided(certificate)]
    }

    #[test]
    fn turns_are_read_until_they_have_so_many_bytes_and_then_one_more() {
        const COUNT: u32 = 32;
        let bytes = LOADED_BYTES_MAX / COUNT as usize;
        let (long, longer) = (body(bytes), body(bytes + 1));
        let read = |first: &TurnBody, most: u32| {
            let rest = (2..=u64::from(COUNT) + 2).flat_map(|height| decided(height, &long));
            find_decisions(decided(1, first).into_iter().chain(rest), Height(1), most).len()
        };
        assert_eq!(
            read(&long, u32::MAX),
            COUNT as usize + 1,
            "the bound is reached, and not passed"
        );
        assert_eq!(read(&longer, u32::MAX), COUNT as usize, "it was passed by a byte");
        assert_eq!(read(&long, COUNT), COUNT as usize, "no more are asked for");
    }
}
