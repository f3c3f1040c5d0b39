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
pub(crate) enum Verdict {
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
) -> Result<Verdict, DiskError> {
    if end - offset > SEARCH_BYTES_MAX {
        return Ok(Verdict::Damaged);
    }
    let bytes = read_range(disk, file, offset, end)?;
    Ok(Search::new(&bytes, position, before).run())
}

struct Search<'a> {
    /// From the bad record on.
    bytes: &'a [u8],
    position: Position,
    /// What the bad record's hash may have been: as it states, or as its bytes give.
    bad: Vec<Chain>,
    /// Hashes stated by what looked like records, by where these end.
    stated: BTreeMap<usize, Chain>,
    budget: u64,
}

impl<'a> Search<'a> {
    fn new(bytes: &'a [u8], position: Position, before: Chain) -> Self {
        let mut bad = Vec::new();
        if let Some(header) = bytes.first_chunk::<RECORD_HEADER_BYTES>() {
            bad.push(stored_chain(header));
            let frame = RecordHeader::parse(header, position)
                .ok()
                .and_then(|header| bytes.get(..header.frame_bytes()));
            bad.extend(frame.map(|frame| computed_chain(frame, before)));
        }
        Self {
            bytes,
            position,
            bad,
            stated: BTreeMap::new(),
            budget: SEARCH_BYTES_MAX,
        }
    }

    fn run(mut self) -> Verdict {
        let (mut at, mut intact_after) = (1, 0_u32);
        while let Some(header) = self.header(at) {
            let Some(record) = header else {
                at += 1;
                continue;
            };
            let Some(whole) = self.is_whole(at, &record) else {
                return Verdict::Damaged;
            };
            if whole && record.durable_before() > self.position {
                return Verdict::Damaged;
            }
            self.stated.insert(at + record.frame_bytes(), record.chain);
            intact_after += u32::from(whole);
            at += if whole { record.frame_bytes() } else { 1 };
        }
        Verdict::Torn { intact_after }
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

    /// Does the record follow from anything before it? `None` when the budget is used up.
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
