//! Reads a whole log and verifies it, without changing anything.

use metatopia_types::SimId;

use crate::{
    Cause, Damage, Damaged, DiskError, FileKind, FileName, Folder, LogIndex, ReadDisk,
    controls::LogControls,
    frame::{SEGMENT_HEADER_BYTES, SEGMENT_VERSION, SegmentHeader},
    index::LogStart,
    mark::Mark,
    reader::{ReadStep, SegmentReader},
    sealed::{MARK_BYTES, SealError},
    torn::{self, TornVerdict},
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
        /// The name of the segment.
        file: FileName,
        /// The sim that wrote it.
        found: SimId,
        /// The sim that is read.
        expected: SimId,
    },
    /// A segment has a format that this program does not know.
    #[error("{file} has format version {found}; this program reads version {known}",
        known = SEGMENT_VERSION)]
    Version {
        /// The name of the segment.
        file: FileName,
        /// The version of the segment.
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
    /// Records that had been durable were lost, and nobody has taken note of it: see
    /// [`quarantine`](crate::quarantine()).
    pub records_lost: bool,
}

/// Verifies every record of the log of `sim`. Takes one read of all bytes and the memory of the
/// index and one record; nothing is changed.
///
/// A bad record at the end of the last segment is reported as a torn tail, unless a whole record
/// after it, or the log's mark, shows that it had been durable.
///
/// # Errors
/// See [`ScanError`]; each names the file, damage the byte too.
pub fn scan(disk: &dyn ReadDisk, sim: SimId) -> Result<Scan, ScanError> {
    scan_with(disk, sim, LogControls::default())
}

/// Does what [`scan()`] does, in a store that breaks these rules.
pub(crate) fn scan_with(
    disk: &dyn ReadDisk,
    sim: SimId,
    controls: LogControls,
) -> Result<Scan, ScanError> {
    match survey_both(disk, sim, controls)? {
        (scan, [None, None]) => Ok(scan),
        (_, [Some(fault), _] | [None, Some(fault)]) => Err(fault),
    }
}

/// A log that was read and verified as far as it is in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogSurvey {
    /// What is in order. If something is not, it ends there and has no tail.
    pub scan: Scan,
    /// What is wrong first.
    pub fault: Option<ScanError>,
}

/// Does what [`scan()`] does, but also returns what lies before a fault.
///
/// # Errors
/// When the disk fails.
pub fn survey(disk: &dyn ReadDisk, sim: SimId) -> Result<LogSurvey, DiskError> {
    let (scan, [mark, log]) = survey_both(disk, sim, LogControls::default())?;
    Ok(LogSurvey { scan, fault: mark.or(log) })
}

/// Does what [`survey()`] does, but returns two faults: that of the mark, and the first one of the segments.
pub(crate) fn survey_both(
    disk: &dyn ReadDisk,
    sim: SimId,
    controls: LogControls,
) -> Result<(Scan, [Option<ScanError>; 2]), DiskError> {
    let (mark, fault) = match Mark::read(disk, sim) {
        Ok(mark) => (mark, None),
        Err(ScanError::Disk(error)) => return Err(error),
        Err(fault) => (None, Some(fault)),
    };
    let start = match (mark, &fault) {
        (Some(mark), _) => mark.start,
        (None, None) => LogStart::origin(sim),
        // A bad mark does not say where the log begins; the first segment does too.
        (None, Some(_)) => first_start(disk, sim)?,
    };
    let mut scanner = Scanner::new(disk, sim, LogIndex::new(start).broken(controls), mark);
    let (tail, behind) = match scanner.run() {
        Ok(tail) => (tail, None),
        Err(ScanError::Disk(error)) => return Err(error),
        Err(found) => (None, Some(found)),
    };
    let records_lost = mark.is_some_and(|mark| mark.records_lost);
    Ok((Scan { index: scanner.index, tail, records_lost }, [fault, behind]))
}

/// Verifies the last segment again, of a log whose other segments `index` knows.
pub(crate) fn rescan(
    disk: &dyn ReadDisk,
    sim: SimId,
    mut index: LogIndex,
) -> Result<Scan, ScanError> {
    let mark = Mark::read(disk, sim)?;
    // A segment that was about to begin may not be there.
    while let Some(file) = index.last_file() {
        index.forget_last();
        match disk.length(file) {
            Err(error) if error.cause == Cause::NotFound => {}
            Err(error) => return Err(error.into()),
            Ok(_) => break,
        }
    }
    let mut scanner = Scanner::new(disk, sim, index, mark);
    let tail = scanner.run()?;
    let records_lost = mark.is_some_and(|mark| mark.records_lost);
    Ok(Scan { index: scanner.index, tail, records_lost })
}

/// The numbers of the segments from `first` on, ascending.
pub(crate) fn segment_numbers(disk: &dyn ReadDisk, first: u64) -> Result<Vec<u64>, DiskError> {
    let numbers = disk.list(Folder::Log)?.into_iter().filter_map(|file| match file.kind {
        FileKind::Segment(number) if !file.temporary && number >= first => Some(number),
        _ => None,
    });
    Ok(numbers.collect())
}

fn first_start(disk: &dyn ReadDisk, sim: SimId) -> Result<LogStart, DiskError> {
    match segment_numbers(disk, 0)?.first() {
        None | Some(0) => Ok(LogStart::origin(sim)),
        Some(number) => Ok(start_of(disk, sim, *number)?.unwrap_or(LogStart::origin(sim))),
    }
}

/// Reads from the header of segment `number` where the segment begins; `None` if the header is bad.
pub(crate) fn start_of(
    disk: &dyn ReadDisk,
    sim: SimId,
    number: u64,
) -> Result<Option<LogStart>, DiskError> {
    let bytes = disk.read(FileName::segment(number), 0, SEGMENT_HEADER_BYTES as u32)?;
    let header = SegmentHeader::parse(&bytes).ok();
    let header = header.filter(|header| header.sim == sim && header.number == number);
    Ok(header.map(|header| LogStart {
        segment: number,
        position: header.start,
        before: header.continues,
    }))
}

pub(crate) struct Scanner<'a> {
    disk: &'a dyn ReadDisk,
    sim: SimId,
    /// What is in order.
    pub(crate) index: LogIndex,
    /// The segment before, and its length.
    before: Option<(FileName, u64)>,
    mark: Option<Mark>,
    /// Whether the end that is marked was met.
    met: bool,
}

impl<'a> Scanner<'a> {
    /// Goes on after what `index` knows.
    pub(crate) fn new(
        disk: &'a dyn ReadDisk,
        sim: SimId,
        index: LogIndex,
        mark: Option<Mark>,
    ) -> Self {
        let before = index.last_file().zip(index.last_segment_bytes());
        // What is known already was verified when it was marked, or later.
        let met = mark.is_none_or(|mark| index.end() > mark.end);
        let mut scanner = Self { disk, sim, index, before, mark, met };
        scanner.look_for_mark();
        scanner
    }

    /// Verifies all segments that follow.
    pub(crate) fn run(&mut self) -> Result<Option<TailReport>, ScanError> {
        let numbers = segment_numbers(self.disk, self.index.next_segment())?;
        let mut tail = None;
        for number in &numbers {
            let (file, due) = (FileName::segment(*number), self.index.next_segment());
            if *number != due {
                return Err(ScanError::Missing(FileName::segment(due)));
            }
            tail = self.segment(file, numbers.last() == Some(number))?;
        }
        self.check_mark(tail)?;
        Ok(tail)
    }

    fn look_for_mark(&mut self) {
        let end = (self.index.end(), self.index.tip());
        self.met |= self.mark.is_some_and(|mark| (mark.end, mark.tip) == end);
    }

    /// Checks that the scan met the place up to which the mark says that the log is durable.
    fn check_mark(&self, tail: Option<TailReport>) -> Result<(), ScanError> {
        let Some(mark) = self.mark.filter(|_| !self.met) else {
            return Ok(());
        };
        let end = self.index.end();
        let damaged =
            |file, offset, damage| Err(ScanError::Damaged(Damaged { file, offset, damage }));
        if end >= mark.end {
            return damaged(FileName::MARK, 0, Damage::Unmarked);
        }
        let place = self.index.last_file().zip(self.index.last_segment_bytes());
        match (tail, place) {
            (Some(tail), _) => damaged(tail.file, tail.offset, tail.damage),
            (None, Some((file, length))) => {
                damaged(file, length, Damage::Ends(mark.end.since(end)))
            }
            (None, None) => Err(ScanError::Missing(FileName::segment(self.index.next_segment()))),
        }
    }

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
        let mut reader = SegmentReader::new(self.disk, file, header_bytes, length)
            .believing(last && self.index.controls().tail_unchecked);
        loop {
            let (offset, position) = (reader.at(), self.index.end());
            let damage = match reader.step(self.index.tip(), position)? {
                ReadStep::End => break,
                ReadStep::Damaged(damage) => damage,
                ReadStep::Record(header, _) => match header.tag {
                    Some(tag) if !self.index.accepts(tag) => Damage::TagOrder(tag),
                    _ => {
                        self.index.push(&header);
                        self.look_for_mark();
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
            _ if !last => TornVerdict::Damaged,
            // The record is whole: somebody wrote it like this.
            Damage::TagOrder(_) => TornVerdict::Damaged,
            _ => torn::judge(self.disk, file, (offset, end), position, self.index.tip())?,
        };
        match verdict {
            TornVerdict::Damaged => Err(ScanError::Damaged(Damaged { file, offset, damage })),
            TornVerdict::Torn { intact_after } => {
                Ok(Some(TailReport { file, offset, bytes: end - offset, damage, intact_after }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use metatopia_types::Digest;

    use super::*;
    use crate::{Disk, Write, frame::RecordHeader, memory::MemoryDisk, recover};

    #[test]
    fn a_whole_record_with_a_tag_out_of_order_is_damage_not_a_tail() {
        let (mut disk, sim) = (MemoryDisk::new(), SimId(Digest::ZERO));
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
            redacted: false,
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
