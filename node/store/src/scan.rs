//! Reads a whole log and verifies it, without changing anything.

use metatopia_types::SimId;

use crate::{
    Damage, Damaged, DiskError, FileKind, FileName, Folder, LogIndex, ReadDisk,
    frame::{SEGMENT_HEADER_BYTES, SEGMENT_VERSION, SegmentHeader},
    reader::{SegmentReader, Step},
    sealed::{MARK_BYTES, SealError},
    torn::{self, Verdict},
};

/// Why a log cannot be used as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScanError {
    /// The disk failed.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// Something that had been durable is not what was written.
    #[error(transparent)]
    Damaged(#[from] Damaged),
    /// A segment is not there, but a later one is.
    #[error("{0} is missing")]
    Missing(FileName),
    /// A segment was written for another sim.
    #[error("{file} belongs to sim {found}, not to {expected}")]
    ForeignSim {
        /// The segment.
        file: FileName,
        /// Whose it is.
        found: SimId,
        /// Whose it should be.
        expected: SimId,
    },
    /// A segment has a format that this program does not know.
    #[error("{file} has format version {found}; this program reads version {known}",
        known = SEGMENT_VERSION)]
    Version {
        /// The segment.
        file: FileName,
        /// Its version.
        found: u32,
    },
}

/// Bytes at the end of the last segment that are no record: what a crash leaves of writes that
/// were not synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TailReport {
    /// The last segment.
    pub file: FileName,
    /// Where the tail begins in it; 0 when not even the header is whole.
    pub offset: u64,
    /// How many bytes there are from there on.
    pub bytes: u64,
    /// What is wrong with the first record of the tail.
    pub damage: Damage,
    /// Whole records behind it. They were never known to be durable, and cannot be used.
    pub intact_after: u32,
}

impl std::fmt::Display for TailReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { file, offset, .. } = self;
        write!(f, "{file} ends in a torn tail of {} bytes ", self.bytes)?;
        write!(f, "from byte {offset} on: {}", self.damage)
    }
}

/// A log that was read and verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scan {
    /// Where its records are.
    pub index: LogIndex,
    /// What follows the last record.
    pub tail: Option<TailReport>,
}

/// Verifies every record of the log of `sim`. Takes one read of all bytes and the memory of the
/// index and one record; nothing is changed.
///
/// A bad record at the end of the last segment is reported as a torn tail, unless a whole record
/// after it shows that it had been durable.
///
/// # Errors
/// See [`ScanError`]; each names the file, damage the byte too.
pub fn scan(disk: &dyn ReadDisk, sim: SimId) -> Result<Scan, ScanError> {
    let files = segment_files(disk)?;
    let mut scanner = Scanner { disk, sim, index: LogIndex::new(sim), before: None };
    for (at, file) in files.iter().enumerate() {
        let last = at + 1 == files.len();
        let tail = scanner.segment(*file, last)?;
        if tail.is_some() {
            return Ok(Scan { index: scanner.index, tail });
        }
    }
    Ok(Scan { index: scanner.index, tail: None })
}

/// All segments, from 0 on without a gap.
fn segment_files(disk: &dyn ReadDisk) -> Result<Vec<FileName>, ScanError> {
    let mut files = disk.list(Folder::Log)?;
    files.retain(|file| matches!(file.kind, FileKind::Segment(_)) && !file.temporary);
    for (number, file) in (0..).zip(&files) {
        let due = FileName::segment(number);
        if *file != due {
            return Err(ScanError::Missing(due));
        }
    }
    Ok(files)
}

struct Scanner<'a> {
    disk: &'a dyn ReadDisk,
    sim: SimId,
    index: LogIndex,
    /// The segment before, and its length.
    before: Option<(FileName, u64)>,
}

impl Scanner<'_> {
    /// Verifies a segment; a torn tail ends the log.
    fn segment(&mut self, file: FileName, last: bool) -> Result<Option<TailReport>, ScanError> {
        let length = self.disk.length(file)?;
        let header_bytes = SEGMENT_HEADER_BYTES as u64;
        if last && length < header_bytes {
            return Ok(Some(TailReport {
                file,
                offset: 0,
                bytes: length,
                damage: Damage::Length { found: length, expected: header_bytes },
                intact_after: 0,
            }));
        }
        self.header(file)?;
        self.index.begin_segment();
        let mut reader = SegmentReader::new(self.disk, file, header_bytes, length);
        loop {
            let (offset, position) = (reader.at(), self.index.end());
            let damage = match reader.step(self.index.tip(), position)? {
                Step::End => break,
                Step::Damaged(damage) => damage,
                Step::Record(header, _) => match header.tag {
                    Some(tag) if !self.index.accepts(tag) => Damage::TagOrder(tag),
                    _ => {
                        self.index.push(&header);
                        continue;
                    }
                },
            };
            return self.bad_record(file, (offset, length), damage, last);
        }
        self.before = Some((file, length));
        Ok(None)
    }

    fn header(&self, file: FileName) -> Result<(), ScanError> {
        let damaged =
            |file, offset, damage| Err(ScanError::Damaged(Damaged { file, offset, damage }));
        let bytes = self.disk.read(file, 0, SEGMENT_HEADER_BYTES as u32)?;
        let header = match SegmentHeader::parse(&bytes) {
            Ok(header) => header,
            Err(SealError::Damaged { offset, damage }) => return damaged(file, offset, damage),
            Err(SealError::Version(found)) => return Err(ScanError::Version { file, found }),
        };
        if header.sim != self.sim {
            return Err(ScanError::ForeignSim { file, found: header.sim, expected: self.sim });
        }
        if FileName::segment(header.number) != file {
            return damaged(file, MARK_BYTES as u64, Damage::OtherSegment(header.number));
        }
        match self.before {
            Some((before, length)) if header.start > self.index.end() => {
                // The header is whole, so it is the segment before that lost records.
                let found = length;
                let missing = header.start.since(self.index.end());
                let expected = found.saturating_add(missing);
                damaged(before, found, Damage::Length { found, expected })
            }
            _ if header.start != self.index.end() || header.continues != self.index.tip() => {
                damaged(file, 0, Damage::Discontinued)
            }
            _ => Ok(()),
        }
    }

    fn bad_record(
        &self,
        file: FileName,
        (offset, end): (u64, u64),
        damage: Damage,
        last: bool,
    ) -> Result<Option<TailReport>, ScanError> {
        let position = self.index.end();
        let verdict = match damage {
            _ if !last => Verdict::Damaged,
            // The record is whole: somebody wrote it like this.
            Damage::TagOrder(_) => Verdict::Damaged,
            _ => torn::judge(self.disk, file, (offset, end), position, self.index.tip())?,
        };
        match verdict {
            Verdict::Damaged => Err(ScanError::Damaged(Damaged { file, offset, damage })),
            Verdict::Torn { intact_after } => {
                Ok(Some(TailReport { file, offset, bytes: end - offset, damage, intact_after }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Disk, Write, frame::RecordHeader, memory::MemoryDisk, recover};

    #[test]
    fn a_whole_record_with_a_tag_out_of_order_is_damage_not_a_tail() {
        let (mut disk, sim) = (MemoryDisk::new(), SimId::default());
        let mut writer = recover(&mut disk, sim).expect("a new log").writer;
        let Write { file, .. } = {
            let write = writer.append(1, Some(7), b"seven").expect("a record");
            write.perform(&mut disk).expect("a good disk");
            write
        };
        let index = writer.index();
        let mut strange = RecordHeader {
            length: 3,
            kind: 1,
            tag: Some(6),
            position: index.end(),
            unsynced: 0,
            chain: index.tip(),
        };
        let bytes = strange.frame(index.tip(), b"six");
        disk.append(file, &bytes).expect("a good disk");

        let found = scan(&disk, sim).expect_err("no program writes this");

        let (_, offset) = index.locate(index.end()).expect("it has a segment");
        let damage = Damage::TagOrder(6);
        let damaged = Damaged { file, offset, damage };
        assert_eq!(found, ScanError::Damaged(damaged));
    }
}
