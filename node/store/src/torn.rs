//! Is a bad record the torn tail that a crash leaves, or damage to what was durable?
//!
//! What was written after the last sync may come back from a crash in any state: cut, with holes of
//! zeros, or whole behind a hole. Records that were durable may not. Each record states how much
//! before it was durable when it was written; so a whole record after the bad one can prove that
//! the bad one had been durable, and then nothing may be cut.

use std::collections::BTreeMap;

use crate::{
    DiskError, FileName, Position, ReadDisk,
    chain::Chain,
    disk::read_range,
    frame::{RECORD_HEADER_BYTES, RecordHeader, computed_chain, stated_position, stored_chain},
    limits::SEARCH_BYTES_MAX,
};

/// What the search found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TornVerdict {
    /// Nothing says that the bad record was ever durable; so many whole records follow it.
    Torn { intact_after: u32 },
    /// A later record proves that the bad one had been durable, or the search became too long.
    Damaged,
}

/// Judges the bytes of `file` from `offset` to `end`, where the record at `position` is bad;
/// `before` is the hash of the record before it.
pub(crate) fn judge(
    disk: &dyn ReadDisk,
    file: FileName,
    (offset, end): (u64, u64),
    position: Position,
    before: Chain,
) -> Result<TornVerdict, DiskError> {
    if end - offset > SEARCH_BYTES_MAX {
        return Ok(TornVerdict::Damaged);
    }
    let bytes = read_range(disk, file, offset, end)?;
    Ok(TornSearch::new(&bytes, position, before).run())
}

struct TornSearch<'a> {
    /// The bytes from the bad record on.
    bytes: &'a [u8],
    position: Position,
    /// What the bad record's hash may have been: as it states, or as its bytes give.
    bad: Vec<Chain>,
    /// Hashes stated by what looked like records, by where these end.
    stated: BTreeMap<usize, Chain>,
    budget: u64,
}

impl<'a> TornSearch<'a> {
    fn new(bytes: &'a [u8], position: Position, before: Chain) -> Self {
        let mut bad = Vec::new();
        if let Some(header) = bytes.first_chunk::<RECORD_HEADER_BYTES>() {
            bad.push(stored_chain(header));
            let frame = RecordHeader::parse(header, position)
                .ok()
                .and_then(|header| bytes.get(..header.frame_bytes()));
            bad.extend(frame.map(|frame| computed_chain(frame, before)));
        }
        Self { bytes, position, bad, stated: BTreeMap::new(), budget: SEARCH_BYTES_MAX }
    }

    fn run(mut self) -> TornVerdict {
        let (mut at, mut intact_after) = (1, 0_u32);
        while let Some(header) = self.header(at) {
            let Some(record) = header else {
                at += 1;
                continue;
            };
            let Some(whole) = self.is_whole(at, &record) else {
                return TornVerdict::Damaged;
            };
            if whole && record.durable_before() > self.position {
                return TornVerdict::Damaged;
            }
            self.stated.insert(at + record.frame_bytes(), record.chain);
            intact_after += u32::from(whole);
            at += if whole { record.frame_bytes() } else { 1 };
        }
        TornVerdict::Torn { intact_after }
    }

    /// The header at `at` if there may be a record; outer `None` where there are too few bytes.
    fn header(&self, at: usize) -> Option<Option<RecordHeader>> {
        let header = self.bytes.get(at..)?.first_chunk::<RECORD_HEADER_BYTES>()?;
        let position = self.position.plus(at as u64);
        // Most bytes fail here already; a record elsewhere would state another position.
        if stated_position(header) != position {
            return Some(None);
        }
        let record = RecordHeader::parse(header, position).ok();
        Some(record.filter(|record| at + record.frame_bytes() <= self.bytes.len()))
    }

    /// Returns whether the record follows from a hash that may stand before it; `None` when the budget is
    /// used up.
    fn is_whole(&mut self, at: usize, record: &RecordHeader) -> Option<bool> {
        let frame = &self.bytes[at..at + record.frame_bytes()];
        for before in self.bad.iter().chain(self.stated.get(&at)) {
            self.budget = self.budget.checked_sub(frame.len() as u64)?;
            if computed_chain(frame, *before) == record.chain {
                return Some(true);
            }
        }
        Some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(position: u64, unsynced: u32, before: Chain, payload: &[u8]) -> Vec<u8> {
        let mut header = RecordHeader {
            length: payload.len() as u32,
            kind: 1,
            tag: None,
            redacted: false,
            position: Position(position),
            unsynced,
            chain: before,
        };
        header.frame(before, payload)
    }

    /// A bad record at position 0, and two more behind it.
    fn tail(unsynced: [u32; 2]) -> Vec<u8> {
        let before = Chain([1; 16]);
        let mut bytes = record(0, 0, before, b"bad");
        for unsynced in unsynced {
            let last = bytes.len() - RECORD_HEADER_BYTES - 3;
            let before = stored_chain(&bytes[last..]);
            let position = bytes.len() as u64;
            bytes.extend(record(position, unsynced, before, b"yes"));
        }
        bytes[RECORD_HEADER_BYTES] ^= 1;
        bytes
    }

    fn verdict(bytes: &[u8]) -> TornVerdict {
        TornSearch::new(bytes, Position(0), Chain([1; 16])).run()
    }

    #[test]
    fn whole_records_that_promise_nothing_are_part_of_the_torn_tail() {
        let intact_after = 2;
        assert_eq!(verdict(&tail([45, 90])), TornVerdict::Torn { intact_after });
        assert_eq!(verdict(&tail([45, u32::MAX])), TornVerdict::Torn { intact_after });
    }

    #[test]
    fn a_record_that_was_written_after_a_sync_of_the_bad_one_proves_damage() {
        assert_eq!(verdict(&tail([0, 45])), TornVerdict::Damaged);
        assert_eq!(verdict(&tail([45, 0])), TornVerdict::Damaged);
        assert_eq!(verdict(&tail([45, 45])), TornVerdict::Damaged);
    }

    #[test]
    fn a_record_behind_two_bad_ones_still_proves_damage() {
        let mut bytes = tail([45, 0]);
        bytes[45 + RECORD_HEADER_BYTES] ^= 1;
        assert_eq!(verdict(&bytes), TornVerdict::Damaged);
    }

    #[test]
    fn a_record_inside_a_payload_proves_nothing() {
        // What a client sends may look like a record, but it cannot know the hash before it.
        let forged = record(50, 0, Chain([7; 16]), b"yes");
        let mut bytes = tail([45, 90])[..50].to_vec();
        bytes.extend(forged);
        assert_eq!(verdict(&bytes), TornVerdict::Torn { intact_after: 0 });
    }

    #[test]
    fn a_search_that_hashes_more_than_its_budget_counts_as_damage() {
        // Headers side by side that all claim the same MiB behind them.
        let claim = |bytes: &mut Vec<u8>| {
            let position = bytes.len() as u64;
            let header = record(position, 0, Chain([7; 16]), &[]);
            bytes.extend_from_slice(&(1_u32 << 20).to_le_bytes());
            bytes.extend_from_slice(&header[4..]);
        };
        let claims = |count: usize| {
            let mut bytes = vec![0; RECORD_HEADER_BYTES];
            for _ in 0..count {
                claim(&mut bytes);
            }
            bytes.resize(bytes.len() + (1 << 20), 0);
            bytes
        };
        // The bad record states one hash and gives another, so each claim costs two MiB.
        assert_eq!(verdict(&claims(20)), TornVerdict::Torn { intact_after: 0 });
        assert_eq!(verdict(&claims(70)), TornVerdict::Damaged);
    }
}
