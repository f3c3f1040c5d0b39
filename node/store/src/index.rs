//! Where records are, in little memory, and reading them back.

use metatopia_types::SimId;

use crate::{
    Damaged, DiskError, FileName, Position, ReadDisk, UnknownFormat,
    chain::Chain,
    controls::LogControls,
    frame::{RecordHeader, SEGMENT_HEADER_BYTES},
    limits::INDEX_STRIDE_BYTES,
    reader::{ReadStep, SegmentReader},
};

/// A record as it was appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRecord {
    /// Where it begins.
    pub position: Position,
    /// Where the next one begins: durable up to here means that this record is.
    pub end: Position,
    /// What the writer said it is; the store attaches no meaning to it.
    pub kind: u8,
    /// What it can be found by.
    pub tag: Option<u64>,
    /// The bytes of the record.
    pub payload: Vec<u8>,
}

/// Why a record was not read back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The disk failed.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The bytes are not what was written.
    #[error(transparent)]
    Damaged(#[from] Damaged),
    /// The file has another format, so it is for another program.
    #[error(transparent)]
    Format(#[from] UnknownFormat),
    /// No record begins there.
    #[error("no record begins at position {0}")]
    NoRecord(Position),
}

/// A place from which reading can start: the hash before it is known, so all that follows is
/// verified. 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct IndexCheckpoint {
    position: Position,
    before: Chain,
    /// No record from here on has a smaller tag.
    tag_min: u64,
}

/// Where a log begins: with its first record ever, or with a segment whose predecessors are gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogStart {
    /// The number of the first segment.
    pub(crate) segment: u64,
    /// Where its records begin.
    pub(crate) position: Position,
    /// The hash before its first record.
    pub(crate) before: Chain,
}

impl LogStart {
    /// The start of a log that keeps its first record.
    pub(crate) fn origin(sim: SimId) -> Self {
        Self { segment: 0, position: Position::ZERO, before: Chain::origin(sim) }
    }
}

/// What was before a segment. 56 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment {
    position: Position,
    before: Chain,
    /// Records of this index before it.
    records: u64,
    last_tagged: Option<(u64, Position)>,
}

/// Tags that were left out between two records. 24 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TagGap {
    first: u64,
    last: u64,
    /// Where the tagged record after them begins.
    position: Position,
}

/// Where records are: an entry of 32 bytes per [`INDEX_STRIDE_BYTES`] of log, 88 bytes per
/// segment, and 24 per gap between tags.
///
/// Reading starts at an entry and follows the hash chain, so every record that is read back has
/// been verified, however old it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogIndex {
    /// The number of the first segment that is kept.
    first: u64,
    segments: Vec<Segment>,
    checkpoints: Vec<IndexCheckpoint>,
    gaps: Vec<TagGap>,
    end: Position,
    /// Reading stops here: at the end, or before what a failed disk may not have.
    readable: Position,
    tip: Chain,
    /// Where the last record begins, or the last segment if it has none.
    last: Position,
    guarded: Position,
    records: u64,
    last_tagged: Option<(u64, Position)>,
    controls: LogControls,
}

impl LogIndex {
    /// The index of a log that has no records yet and begins at `start`.
    pub(crate) fn new(start: LogStart) -> Self {
        Self {
            first: start.segment,
            segments: Vec::new(),
            checkpoints: Vec::new(),
            gaps: Vec::new(),
            end: start.position,
            readable: start.position,
            tip: start.before,
            last: start.position,
            guarded: start.position,
            records: 0,
            last_tagged: None,
            controls: LogControls::default(),
        }
    }

    /// The same, of a store that breaks these rules.
    pub(crate) fn broken(self, controls: LogControls) -> Self {
        Self { controls, ..self }
    }

    /// The rules that are broken.
    pub(crate) const fn controls(&self) -> LogControls {
        self.controls
    }

    /// Returns where the next record will begin.
    #[must_use]
    pub fn end(&self) -> Position {
        self.end
    }

    /// Damage before this is never taken for a torn tail: the last record says that it had been
    /// durable, and the one before leads to it; or the next segment does.
    #[must_use]
    pub fn guarded(&self) -> Position {
        self.guarded
    }

    /// Returns where the first record that is kept begins.
    #[must_use]
    pub fn begin(&self) -> Position {
        self.segments.first().map_or(self.end, |segment| segment.position)
    }

    /// Returns whether segments before the first one were removed.
    #[must_use]
    pub fn is_pruned(&self) -> bool {
        self.first > 0
    }

    /// Returns the number of records.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Returns the number of segments.
    #[must_use]
    pub fn segments(&self) -> u64 {
        self.segments.len() as u64
    }

    /// The number of the segment that is begun next.
    pub(crate) fn next_segment(&self) -> u64 {
        self.first + self.segments()
    }

    /// The last segment's file.
    pub(crate) fn last_file(&self) -> Option<FileName> {
        let _some = self.segments.last()?;
        Some(FileName::segment(self.next_segment() - 1))
    }

    /// The last tag that was appended, and where its record begins.
    #[must_use]
    pub fn last_tagged(&self) -> Option<(u64, Position)> {
        self.last_tagged
    }

    /// The tags that were left out between those of two records, ascending: first and last.
    pub fn gaps(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> {
        self.gaps.iter().map(|gap| (gap.first, gap.last))
    }

    /// Bytes of memory that the entries take.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        size_of_val(self.segments.as_slice())
            + size_of_val(self.checkpoints.as_slice())
            + size_of_val(self.gaps.as_slice())
    }

    /// The segment that holds `position`, and the position's offset in that file. A position where
    /// one segment ends and the next begins is in the next.
    #[must_use]
    pub fn locate(&self, position: Position) -> Option<(FileName, u64)> {
        let number = self.segment_of(position)?;
        let start = self.segments[number].position;
        let offset = position.since(start) + SEGMENT_HEADER_BYTES as u64;
        Some((FileName::segment(self.first + number as u64), offset))
    }

    /// Returns where the records of each segment begin, ascending.
    pub fn segment_starts(&self) -> impl DoubleEndedIterator<Item = Position> {
        self.segments.iter().map(|segment| segment.position)
    }

    /// The hash before the first record of the segment that holds `position`, and where that begins.
    pub(crate) fn segment_start(&self, position: Position) -> Option<LogStart> {
        let at = self.segment_of(position)?;
        let Segment { position, before, .. } = self.segments[at];
        Some(LogStart { segment: self.first + at as u64, position, before })
    }

    fn segment_of(&self, position: Position) -> Option<usize> {
        let after = self.segments.partition_point(|segment| segment.position <= position);
        after.checked_sub(1)
    }

    pub(crate) fn tip(&self) -> Chain {
        self.tip
    }

    /// Bytes that the last segment's file has by now, header and records.
    pub(crate) fn last_segment_bytes(&self) -> Option<u64> {
        let start = self.segments.last()?.position;
        Some(self.end.since(start) + SEGMENT_HEADER_BYTES as u64)
    }

    pub(crate) fn begin_segment(&mut self) {
        (self.last, self.guarded) = (self.end, self.end);
        self.segments.push(Segment {
            position: self.end,
            before: self.tip,
            records: self.records,
            last_tagged: self.last_tagged,
        });
    }

    /// Goes back to before the last segment, to read it again.
    pub(crate) fn forget_last(&mut self) {
        if let Some(segment) = self.segments.pop() {
            self.checkpoints.retain(|checkpoint| checkpoint.position < segment.position);
            self.gaps.retain(|gap| gap.position < segment.position);
            (self.end, self.readable) = (segment.position, segment.position);
            (self.last, self.guarded) = (segment.position, segment.position);
            (self.tip, self.records) = (segment.before, segment.records);
            self.last_tagged = segment.last_tagged;
        }
    }

    /// Returns where the log would begin without the segments that lie wholly before `position`. The last
    /// segment always stays.
    pub(crate) fn start_before(&self, position: Position) -> LogStart {
        let at = self.segment_of(position).unwrap_or(0);
        let segment = self.segments.get(at);
        LogStart {
            segment: self.first + at as u64,
            position: segment.map_or(self.end, |segment| segment.position),
            before: segment.map_or(self.tip, |segment| segment.before),
        }
    }

    /// Forgets the segments before `start`, which is one of them.
    pub(crate) fn forget_before(&mut self, start: LogStart) {
        self.segments.retain(|segment| segment.position >= start.position);
        self.checkpoints.retain(|checkpoint| checkpoint.position >= start.position);
        // A log that begins with that segment knows of no tag before its first one.
        let begins = self.segments.first().and_then(|segment| segment.last_tagged);
        let begins = begins.map_or(0, |(tag, _)| tag.saturating_add(1));
        self.gaps.retain(|gap| gap.first > begins);
        self.first = start.segment;
        let gone = self.segments.first().map_or(0, |segment| segment.records);
        self.records -= gone;
        for segment in &mut self.segments {
            segment.records -= gone;
        }
    }

    /// Returns whether `tag` is above all tags so far.
    pub(crate) fn accepts(&self, tag: u64) -> bool {
        self.last_tagged.is_none_or(|(last, _)| last < tag)
    }

    /// Notes the record that begins at the end.
    pub(crate) fn push(&mut self, record: &RecordHeader) {
        // Each segment has one for its first record: what lies before it may go.
        let begins = self.segments.last().is_some_and(|segment| segment.position == self.end);
        let far = self
            .checkpoints
            .last()
            .is_none_or(|last| self.end.since(last.position) >= INDEX_STRIDE_BYTES);
        if begins || far {
            self.checkpoints.push(IndexCheckpoint {
                position: self.end,
                before: self.tip,
                tag_min: self.last_tagged.map_or(0, |(tag, _)| tag + 1),
            });
        }
        if let Some(tag) = record.tag {
            if let Some(first) = self.last_tagged.map(|(last, _)| last + 1)
                && first < tag
            {
                self.gaps.push(TagGap { first, last: tag - 1, position: self.end });
            }
            self.last_tagged = Some((tag, self.end));
        }
        self.guarded = self.guarded.max(record.durable_before().min(self.last));
        self.last = self.end;
        self.end = self.end.plus(record.frame_bytes() as u64);
        self.readable = self.end;
        self.tip = record.chain;
        self.records += 1;
    }

    /// Leaves out what begins at `position` or later when records are read.
    pub(crate) fn hide_from(&mut self, position: Position) {
        self.readable = self.readable.min(position);
    }

    /// Returns all records from the first.
    #[must_use]
    pub fn iter<'a>(&'a self, disk: &'a dyn ReadDisk) -> Records<'a> {
        Records::new(self, disk, self.checkpoints.first())
    }

    /// The records from `position` on, where one must begin, or the log end.
    ///
    /// # Errors
    /// See [`ReadError`]; reads at most [`INDEX_STRIDE_BYTES`] and a record to get there.
    pub fn iter_from<'a>(
        &'a self,
        disk: &'a dyn ReadDisk,
        position: Position,
    ) -> Result<Records<'a>, ReadError> {
        let after = self.checkpoints.partition_point(|checkpoint| checkpoint.position <= position);
        let start = after.checked_sub(1).map(|at| &self.checkpoints[at]);
        let mut records = Records::new(self, disk, start);
        while records.position < position {
            if records.advance()?.is_none() {
                break;
            }
        }
        if records.position == position { Ok(records) } else { Err(ReadError::NoRecord(position)) }
    }

    /// The record that begins at `position`.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn read_at(
        &self,
        disk: &dyn ReadDisk,
        position: Position,
    ) -> Result<StoredRecord, ReadError> {
        self.iter_from(disk, position)?.next().unwrap_or(Err(ReadError::NoRecord(position)))
    }

    /// The tagged records whose tag is at least `tag`, in order.
    pub fn tagged_from<'a>(
        &'a self,
        disk: &'a dyn ReadDisk,
        tag: u64,
    ) -> impl Iterator<Item = Result<StoredRecord, ReadError>> + 'a {
        let after = self.checkpoints.partition_point(|checkpoint| checkpoint.tag_min <= tag);
        // Smaller tags than the first entry's were pruned.
        let start = self.checkpoints.get(after.saturating_sub(1));
        Records::new(self, disk, start).filter(move |record| match record {
            Ok(record) => record.tag.is_some_and(|found| found >= tag),
            Err(_) => true,
        })
    }

    /// The record with this tag, when there is one.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn find(&self, disk: &dyn ReadDisk, tag: u64) -> Result<Option<StoredRecord>, ReadError> {
        if self.accepts(tag) {
            return Ok(None);
        }
        let first = self.tagged_from(disk, tag).next().transpose()?;
        Ok(first.filter(|record| record.tag == Some(tag)))
    }
}

/// Records in order, each verified; ends at the first error.
pub struct Records<'a> {
    index: &'a LogIndex,
    disk: &'a dyn ReadDisk,
    position: Position,
    before: Chain,
    reader: Option<SegmentReader<'a>>,
    failed: bool,
}

impl std::fmt::Debug for Records<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Records from {}", self.position)
    }
}

impl<'a> Records<'a> {
    fn new(index: &'a LogIndex, disk: &'a dyn ReadDisk, start: Option<&IndexCheckpoint>) -> Self {
        Self {
            index,
            disk,
            position: start.map_or(index.readable, |start| start.position),
            before: start.map_or(index.tip, |start| start.before),
            reader: None,
            failed: false,
        }
    }

    /// The rest of the segment that holds the next record.
    fn open(&self) -> SegmentReader<'a> {
        let number = self.index.segment_of(self.position);
        let number = number.expect("a log with records has a segment");
        let segments = &self.index.segments;
        let start = segments[number].position;
        let end = segments.get(number + 1).map_or(self.index.end, |segment| segment.position);
        let offset = |position: Position| position.since(start) + SEGMENT_HEADER_BYTES as u64;
        let file = FileName::segment(self.index.first + number as u64);
        SegmentReader::new(self.disk, file, offset(self.position), offset(end))
            .believing(self.index.controls.tail_unchecked)
    }

    fn advance(&mut self) -> Result<Option<StoredRecord>, ReadError> {
        if self.position >= self.index.readable {
            return Ok(None);
        }
        let mut reader = match self.reader.take() {
            Some(reader) if !reader.is_at_end() => reader,
            _ => self.open(),
        };
        let (file, offset) = (reader.file(), reader.at());
        let damage = match reader.step(self.before, self.position)? {
            ReadStep::Record(header, payload) => {
                let record = StoredRecord {
                    position: self.position,
                    end: self.position.plus(header.frame_bytes() as u64),
                    kind: header.kind,
                    tag: header.tag,
                    payload: payload.to_vec(),
                };
                (self.position, self.before) = (record.end, header.chain);
                self.reader = Some(reader);
                return Ok(Some(record));
            }
            ReadStep::Damaged(damage) => damage,
            ReadStep::End => unreachable!("a segment has records up to where the next begins"),
        };
        Err(ReadError::Damaged(Damaged { file, offset, damage }))
    }
}

impl Iterator for Records<'_> {
    type Item = Result<StoredRecord, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let next = self.advance();
        self.failed = next.is_err();
        next.transpose()
    }
}
