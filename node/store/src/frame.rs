//! How records and segment headers lie in a file; all integers little-endian.
//!
//! A record: payload length `u32`, kind `u8`, has a tag `u8` (0 or 1), tag `u64`, position `u64`,
//! unsynced `u32`, chained hash (16 bytes), payload. `position` is the record's own place in the
//! log. `unsynced` says how many bytes before it were not yet known to be durable when it was
//! written: that is how a scan tells damage from a torn tail.

use metatopia_types::{Digest, SimId};

use crate::{
    Damage, Position,
    chain::{Chain, HASH_BYTES},
    limits,
    sealed::{Seal, SealError},
};

const KIND_AT: usize = 4;
const TAGGED_AT: usize = 5;
const TAG_AT: usize = 6;
const POSITION_AT: usize = 14;
const UNSYNCED_AT: usize = 22;
const HASH_AT: usize = 26;
/// Bytes of a record before its payload.
pub(crate) const RECORD_HEADER_BYTES: usize = HASH_AT + HASH_BYTES;

/// The fixed part of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordHeader {
    pub(crate) length: u32,
    pub(crate) kind: u8,
    pub(crate) tag: Option<u64>,
    pub(crate) position: Position,
    pub(crate) unsynced: u32,
    pub(crate) chain: Chain,
}

fn field<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes[at..at + N].try_into().expect("a range of N")
}

impl RecordHeader {
    /// Bytes of the record with its payload.
    pub(crate) fn frame_bytes(&self) -> usize {
        RECORD_HEADER_BYTES + self.length as usize
    }

    /// Every log position before this was durable when the record was written.
    pub(crate) fn durable_before(&self) -> Position {
        Position(self.position.0.saturating_sub(u64::from(self.unsynced)))
    }

    /// Reads a header that claims to be at `position`, and checks what can be checked without
    /// the payload; above all its length.
    pub(crate) fn parse(
        bytes: &[u8; RECORD_HEADER_BYTES],
        position: Position,
    ) -> Result<Self, Damage> {
        let header = Self {
            length: u32::from_le_bytes(field(bytes, 0)),
            kind: bytes[KIND_AT],
            tag: (bytes[TAGGED_AT] != 0).then(|| u64::from_le_bytes(field(bytes, TAG_AT))),
            position: Position(u64::from_le_bytes(field(bytes, POSITION_AT))),
            unsynced: u32::from_le_bytes(field(bytes, UNSYNCED_AT)),
            chain: stored_chain(bytes),
        };
        if header.position != position {
            return Err(Damage::RecordPosition(header.position.0));
        }
        if header.length as usize > limits::RECORD_BYTES_MAX {
            return Err(Damage::RecordLength(header.length));
        }
        Ok(header)
    }

    /// The record's bytes, header and payload, after the hash `before`; fills in `self.chain`.
    pub(crate) fn frame(&mut self, before: Chain, payload: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.frame_bytes());
        bytes.extend_from_slice(&self.length.to_le_bytes());
        bytes.extend_from_slice(&[self.kind, u8::from(self.tag.is_some())]);
        bytes.extend_from_slice(&self.tag.unwrap_or(0).to_le_bytes());
        bytes.extend_from_slice(&self.position.0.to_le_bytes());
        bytes.extend_from_slice(&self.unsynced.to_le_bytes());
        self.chain = before.after(&bytes, payload);
        bytes.extend_from_slice(&self.chain.0);
        bytes.extend_from_slice(payload);
        bytes
    }
}

/// The hash that a record's bytes state.
pub(crate) fn stored_chain(frame: &[u8]) -> Chain {
    Chain(field(frame, HASH_AT))
}

/// The hash that a record's bytes, header and payload, should state after `before`.
pub(crate) fn computed_chain(frame: &[u8], before: Chain) -> Chain {
    before.after(&frame[..HASH_AT], &frame[RECORD_HEADER_BYTES..])
}

/// The position that bytes at the place of a record header state.
pub(crate) fn stated_position(header: &[u8]) -> Position {
    Position(u64::from_le_bytes(field(header, POSITION_AT)))
}

/// The version of segments this program writes, and the only one it reads.
pub(crate) const SEGMENT_VERSION: u32 = 1;

pub(crate) const SEGMENT_SEAL: Seal = Seal {
    mark: b"mtop-log",
    version: SEGMENT_VERSION,
    context: "metatopia log segment v1",
    field_bytes: 32 + 8 + 8 + HASH_BYTES,
};

/// Bytes of a segment before its first record.
pub(crate) const SEGMENT_HEADER_BYTES: usize = SEGMENT_SEAL.bytes();

/// What a segment begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentHeader {
    pub(crate) sim: SimId,
    pub(crate) number: u64,
    pub(crate) start: Position,
    pub(crate) continues: Chain,
}

impl SegmentHeader {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        SEGMENT_SEAL.close(&[
            self.sim.bytes(),
            &self.number.to_le_bytes(),
            &self.start.0.to_le_bytes(),
            &self.continues.0,
        ])
    }

    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, SealError> {
        let fields = SEGMENT_SEAL.open(bytes)?;
        Ok(Self {
            sim: SimId(Digest(field(fields, 0))),
            number: u64::from_le_bytes(field(fields, 32)),
            start: Position(u64::from_le_bytes(field(fields, 40))),
            continues: Chain(field(fields, 48)),
        })
    }
}
