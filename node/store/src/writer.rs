//! Frames records; pure: what it returns is for the caller to do.

use metatopia_types::SimId;

use crate::{
    Disk, DiskError, FileName, LogIndex, Position,
    chain::Chain,
    frame::{RECORD_HEADER_BYTES, RecordHeader, SEGMENT_HEADER_BYTES, SegmentHeader},
    index::LogStart,
    limits::{RECORD_BYTES_MAX, SEGMENT_BYTES, TAG_MAX},
};

/// Why a record was not framed. The log is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The payload is too long.
    #[error("a record of {0} bytes where {max} are allowed", max = RECORD_BYTES_MAX)]
    TooLong(usize),
    /// The tag is not above the last one, or above [`TAG_MAX`].
    #[error("tag {tag} does not come after {last:?}")]
    TagOrder {
        /// The tag that was given.
        tag: u64,
        /// The last tag in the log.
        last: Option<u64>,
    },
}

/// A new segment, to be begun before the bytes are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSegment {
    /// The segment before it and its length, to be synced first: damage in a segment that is not
    /// the last is then never the work of a crash.
    pub seal: Option<SyncRequest>,
    /// What the new file begins with; to be written as a whole, durably.
    pub header: Vec<u8>,
}

/// Bytes to append to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The name of the file.
    pub file: FileName,
    /// How to begin the file, if it does not exist yet.
    pub begins: Option<NewSegment>,
    /// The record's bytes.
    pub bytes: Vec<u8>,
    /// Where the record begins.
    pub position: Position,
    /// Where the next record will begin.
    pub end: Position,
}

impl Write {
    /// Returns whether a new segment file begins with this record.
    #[must_use]
    pub fn new_segment(&self) -> bool {
        self.begins.is_some()
    }

    /// Does it. Writes must be done in the order in which they were framed.
    ///
    /// # Errors
    /// The first step that failed. The writer is then ahead of the disk: recover the log.
    pub fn perform(&self, disk: &mut dyn Disk) -> Result<(), DiskError> {
        if let Some(seal) = self.seal() {
            seal.perform(disk)?;
        }
        self.perform_sealed(disk)
    }

    /// Returns what must be durable before this is done.
    pub(crate) fn seal(&self) -> Option<&SyncRequest> {
        self.begins.as_ref()?.seal.as_ref()
    }

    /// Does what comes after the seal.
    pub(crate) fn perform_sealed(&self, disk: &mut dyn Disk) -> Result<(), DiskError> {
        if let Some(begins) = &self.begins {
            disk.write_new(self.file, &begins.header)?;
        }
        disk.append(self.file, &self.bytes)
    }
}

/// A sync that makes everything before `end` durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyncRequest {
    /// The file; earlier ones are durable since a segment began after them.
    pub file: FileName,
    /// How much of it.
    pub length: u64,
    /// What is durable afterwards.
    pub end: Position,
}

impl SyncRequest {
    /// Does it.
    ///
    /// # Errors
    /// See [`Disk::sync`]: the log must be recovered, to no more than was durable before.
    pub fn perform(&self, disk: &mut dyn Disk) -> Result<(), DiskError> {
        disk.sync(self.file, self.length)
    }
}

/// Frames records, chains them, and decides where segments begin.
///
/// It does nothing to the disk: [`Write`] says what to do. [`Store`](crate::Store) does it.
#[derive(Clone, Debug)]
pub struct LogWriter {
    sim: SimId,
    segment_bytes: u64,
    index: LogIndex,
    synced: Position,
}

impl LogWriter {
    /// Continues the log that `index` is of, all of it durable.
    pub(crate) fn new(sim: SimId, index: LogIndex) -> Self {
        let synced = index.end();
        Self { sim, segment_bytes: SEGMENT_BYTES, index, synced }
    }

    /// Begins new segments where the last would grow past `bytes`, instead of [`SEGMENT_BYTES`],
    /// which is also the largest choice. A segment holds at least one record, however small this is.
    #[must_use]
    pub fn with_segment_bytes(mut self, bytes: u64) -> Self {
        self.segment_bytes = bytes.min(SEGMENT_BYTES);
        self
    }

    /// Frames a record of at most [`RECORD_BYTES_MAX`] bytes. `kind` and `payload` are the caller's.
    /// By its `tag` it can be found again; tags must grow.
    ///
    /// # Errors
    /// See [`FrameError`]; nothing has changed then.
    pub fn append(
        &mut self,
        kind: u8,
        tag: Option<u64>,
        payload: &[u8],
    ) -> Result<Write, FrameError> {
        if payload.len() > RECORD_BYTES_MAX {
            return Err(FrameError::TooLong(payload.len()));
        }
        if let Some(tag) = tag.filter(|tag| *tag > TAG_MAX || !self.index.accepts(*tag)) {
            let last = self.index.last_tagged().map(|(last, _)| last);
            return Err(FrameError::TagOrder { tag, last });
        }
        let begins = self.begin_segment(RECORD_HEADER_BYTES + payload.len());
        let position = self.index.end();
        let unsynced = position.since(self.synced);
        let mut header = RecordHeader {
            length: payload.len() as u32,
            kind,
            tag,
            redacted: false,
            position,
            unsynced: u32::try_from(unsynced).expect("a segment begins after a sync"),
            chain: Chain([0; 16]),
        };
        let bytes = header.frame(self.index.tip(), payload);
        self.index.push(&header);
        Ok(Write { file: self.last_file(), begins, bytes, position, end: self.index.end() })
    }

    fn begin_segment(&mut self, frame_bytes: usize) -> Option<NewSegment> {
        if let Some(bytes) = self.index.last_segment_bytes() {
            let empty = bytes == SEGMENT_HEADER_BYTES as u64;
            if empty || bytes.saturating_add(frame_bytes as u64) <= self.segment_bytes {
                return None;
            }
        }
        let seal = self.sync_request();
        let header = SegmentHeader {
            sim: self.sim,
            number: self.index.next_segment(),
            start: self.index.end(),
            continues: self.index.tip(),
            redacted: false,
        };
        self.index.begin_segment();
        self.synced = self.index.end();
        Some(NewSegment { seal, header: header.bytes() })
    }

    fn last_file(&self) -> FileName {
        self.index.last_file().expect("a segment has begun")
    }

    /// Returns what to sync so that everything up to now is durable; `None` while there is no file.
    #[must_use]
    pub fn sync_request(&self) -> Option<SyncRequest> {
        Some(SyncRequest {
            length: self.index.last_segment_bytes()?,
            file: self.last_file(),
            end: self.index.end(),
        })
    }

    /// Says that everything before `end` is durable.
    pub fn mark_synced(&mut self, end: Position) {
        assert!(end <= self.index.end(), "synced more than was written");
        self.synced = self.synced.max(end);
    }

    /// Gives up the segments before `start`.
    pub(crate) fn forget_before(&mut self, start: LogStart) {
        self.index.forget_before(start);
    }

    /// Leaves out what begins at `position` or later when records are read.
    pub(crate) fn hide_from(&mut self, position: Position) {
        self.index.hide_from(position);
    }

    /// Returns where the next record will begin.
    #[must_use]
    pub fn end(&self) -> Position {
        self.index.end()
    }

    /// Returns the position before which everything is durable, once all writes so far are done.
    #[must_use]
    pub fn synced(&self) -> Position {
        self.synced
    }

    /// Returns the index of the records.
    #[must_use]
    pub fn index(&self) -> &LogIndex {
        &self.index
    }
}

#[cfg(test)]
mod tests {
    use metatopia_types::Digest;

    use super::*;

    fn writer() -> LogWriter {
        let sim = SimId(Digest::ZERO);
        LogWriter::new(sim, LogIndex::new(LogStart::origin(sim))).with_segment_bytes(300)
    }

    #[test]
    fn an_older_sync_that_is_reported_late_takes_nothing_back() {
        let mut writer = writer();
        let first = writer.append(1, None, b"first").expect("a record").end;
        let second = writer.append(1, None, b"second").expect("a record").end;
        writer.mark_synced(second);
        writer.mark_synced(first);
        assert_eq!(writer.synced(), second);
    }

    #[test]
    fn a_new_segment_says_what_to_sync_first() {
        let mut writer = writer();
        let first = writer.append(1, None, &[7; 100]).expect("a record");
        let NewSegment { seal, header } = first.begins.expect("the first segment");
        assert_eq!((seal, header.len()), (None, SEGMENT_HEADER_BYTES));

        let second = writer.append(1, None, &[7; 100]).expect("a record");

        let seal = second.begins.expect("a segment").seal.expect("one before it");
        assert_eq!((seal.file, seal.end), (first.file, first.end));
        assert_eq!(seal.length as usize, SEGMENT_HEADER_BYTES + first.bytes.len());
        assert_eq!(writer.synced(), second.position);
        assert_eq!(second.file, FileName::segment(1));
    }
}
