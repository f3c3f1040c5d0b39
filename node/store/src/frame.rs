//! How records and segment headers lie in a file; all integers little-endian.
//!
//! A record: payload length `u32`, kind `u8`, flags `u8` (1: has a tag, 2: redacted), tag `u64`, position
//! `u64`, unsynced `u32`, chained hash (16 bytes), payload. `position` is the record's own place in the
//! log. `unsynced` says how many bytes before it were not yet known to be durable when it was
//! written: that is how a scan tells damage from a torn tail.
//!
//! The payload of a redacted record was replaced by a shorter one, in its place: a seal (16 bytes), its length
//! `u32`, itself, and zeros. The chained hash is that of the payload before, which nobody can compute any more;
//! what follows still leads from it. The seal is a hash over all that there is now, so a record that is damaged
//! is told from one that was redacted. A segment with such records is of version 2.

use metatopia_types::{Digest, SimId};

use crate::{
    Damage, Position,
    chain::{Chain, HASH_BYTES},
    limits,
    sealed::{Seal, SealError},
};

const KIND_AT: usize = 4;
const FLAGS_AT: usize = 5;
const TAG_AT: usize = 6;
const POSITION_AT: usize = 14;
const UNSYNCED_AT: usize = 22;
const HASH_AT: usize = 26;
/// Bytes of a record before its payload.
pub(crate) const RECORD_HEADER_BYTES: usize = HASH_AT + HASH_BYTES;

const TAGGED: u8 = 1;
const REDACTED: u8 = 2;
/// Bytes of a redacted payload before what took its place: the seal and the length.
pub(crate) const REDACTION_BYTES: usize = HASH_BYTES + 4;

/// The fixed part of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordHeader {
    pub(crate) length: u32,
    pub(crate) kind: u8,
    pub(crate) tag: Option<u64>,
    pub(crate) redacted: bool,
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
            redacted: bytes[FLAGS_AT] & REDACTED != 0,
            tag: (bytes[FLAGS_AT] & TAGGED != 0).then(|| u64::from_le_bytes(field(bytes, TAG_AT))),
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
        let flags = if self.tag.is_some() { TAGGED } else { 0 };
        bytes.extend_from_slice(&[self.kind, flags]);
        bytes.extend_from_slice(&self.tag.unwrap_or(0).to_le_bytes());
        bytes.extend_from_slice(&self.position.0.to_le_bytes());
        bytes.extend_from_slice(&self.unsynced.to_le_bytes());
        self.chain = before.after(&bytes, payload);
        bytes.extend_from_slice(&self.chain.0);
        bytes.extend_from_slice(payload);
        bytes
    }

    /// The payload to be read from the payload's bytes; nothing if these are no payload that was redacted.
    pub(crate) fn content<'a>(&self, payload: &'a [u8]) -> Option<&'a [u8]> {
        if !self.redacted {
            return Some(payload);
        }
        let length = payload.get(HASH_BYTES..REDACTION_BYTES)?;
        let length = u32::from_le_bytes(length.try_into().expect("a range of 4"));
        payload.get(REDACTION_BYTES..)?.get(..length as usize)
    }
}

/// Puts a shorter payload in the place of a record's payload, which may have been replaced before; false if
/// there is no room for it.
pub(crate) fn redact(frame: &mut [u8], before: Chain, content: &[u8]) -> bool {
    let room = frame.len().saturating_sub(RECORD_HEADER_BYTES + REDACTION_BYTES);
    let Ok(length) = u32::try_from(content.len()) else { return false };
    if room < content.len() {
        return false;
    }
    frame[FLAGS_AT] |= REDACTED;
    let payload = &mut frame[RECORD_HEADER_BYTES..];
    payload.fill(0);
    payload[HASH_BYTES..REDACTION_BYTES].copy_from_slice(&length.to_le_bytes());
    payload[REDACTION_BYTES..REDACTION_BYTES + content.len()].copy_from_slice(content);
    let seal = redaction_seal(frame, before);
    frame[RECORD_HEADER_BYTES..RECORD_HEADER_BYTES + HASH_BYTES].copy_from_slice(&seal.0);
    true
}

/// The seal of a redacted record: over what came before it, its header, and what is behind the seal.
fn redaction_seal(frame: &[u8], before: Chain) -> Chain {
    let (header, payload) = frame.split_at(RECORD_HEADER_BYTES);
    before.redacted(header, payload.get(HASH_BYTES..).unwrap_or_default())
}

/// The hash that a record's bytes state.
pub(crate) fn stored_chain(frame: &[u8]) -> Chain {
    Chain(field(frame, HASH_AT))
}

/// The hash that a record's bytes, header and payload, should state after `before`.
pub(crate) fn computed_chain(frame: &[u8], before: Chain) -> Chain {
    if frame[FLAGS_AT] & REDACTED != 0 {
        let seal = frame.get(RECORD_HEADER_BYTES..RECORD_HEADER_BYTES + HASH_BYTES);
        if seal == Some(&redaction_seal(frame, before).0) {
            return stored_chain(frame);
        }
    }
    before.after(&frame[..HASH_AT], &frame[RECORD_HEADER_BYTES..])
}

/// The position that bytes at the place of a record header state.
pub(crate) fn stated_position(header: &[u8]) -> Position {
    Position(u64::from_le_bytes(field(header, POSITION_AT)))
}

/// The version of segments this program begins.
pub(crate) const SEGMENT_VERSION: u32 = 1;

/// The version of segments of which records were redacted. A program that does not know it would take such a
/// record for a damaged one.
pub(crate) const REDACTED_SEGMENT_VERSION: u32 = 2;

pub(crate) const SEGMENT_SEAL: Seal = Seal {
    mark: b"mtop-log",
    version: SEGMENT_VERSION,
    context: "metatopia log segment v1",
    field_bytes: 32 + 8 + 8 + HASH_BYTES,
};

const REDACTED_SEGMENT_SEAL: Seal = Seal { version: REDACTED_SEGMENT_VERSION, ..SEGMENT_SEAL };

/// Bytes of a segment before its first record.
pub(crate) const SEGMENT_HEADER_BYTES: usize = SEGMENT_SEAL.bytes();

/// What a segment begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentHeader {
    pub(crate) sim: SimId,
    pub(crate) number: u64,
    pub(crate) start: Position,
    pub(crate) continues: Chain,
    /// Whether records of it were redacted.
    pub(crate) redacted: bool,
}

impl SegmentHeader {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let seal = if self.redacted { REDACTED_SEGMENT_SEAL } else { SEGMENT_SEAL };
        seal.close(&[
            self.sim.bytes(),
            &self.number.to_le_bytes(),
            &self.start.0.to_le_bytes(),
            &self.continues.0,
        ])
    }

    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, SealError> {
        let (fields, redacted) = match SEGMENT_SEAL.open(bytes) {
            Ok(fields) => (fields, false),
            Err(SealError::Version(_)) => (REDACTED_SEGMENT_SEAL.open(bytes)?, true),
            Err(damaged) => return Err(damaged),
        };
        Ok(Self {
            redacted,
            sim: SimId(Digest(field(fields, 0))),
            number: u64::from_le_bytes(field(fields, 32)),
            start: Position(u64::from_le_bytes(field(fields, 40))),
            continues: Chain(field(fields, 48)),
        })
    }
}
