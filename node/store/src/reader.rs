//! Reads the records of one segment in order, a bounded piece of the file at a time.

use crate::{
    Damage, DiskError, FileName, Position, ReadDisk,
    chain::Chain,
    frame::{RECORD_HEADER_BYTES, RecordHeader, computed_chain},
    limits::READ_BYTES,
};

/// What is next in a segment.
pub(crate) enum ReadStep<'r> {
    /// Nothing: the segment ends here.
    End,
    /// A record that follows from the one before, and its payload.
    Record(RecordHeader, &'r [u8]),
    /// Bytes that are no record. The reader has not moved.
    Damaged(Damage),
}

pub(crate) struct SegmentReader<'a> {
    disk: &'a dyn ReadDisk,
    file: FileName,
    at: u64,
    end: u64,
    buffer: Vec<u8>,
    buffer_at: u64,
    /// Whether records are taken whatever their hashes say.
    credulous: bool,
}

impl<'a> SegmentReader<'a> {
    /// Reads `file` from byte `at` to byte `end`.
    pub(crate) fn new(disk: &'a dyn ReadDisk, file: FileName, at: u64, end: u64) -> Self {
        Self { disk, file, at, end, buffer: Vec::new(), buffer_at: at, credulous: false }
    }

    /// The same, but records are taken whatever their hashes say, if it is `credulous`.
    pub(crate) fn believing(self, credulous: bool) -> Self {
        Self { credulous, ..self }
    }

    pub(crate) fn file(&self) -> FileName {
        self.file
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.at >= self.end
    }

    /// The next byte's place in the file.
    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    /// The next record, which must be at `position` and follow the hash `before`.
    pub(crate) fn step(
        &mut self,
        before: Chain,
        position: Position,
    ) -> Result<ReadStep<'_>, DiskError> {
        if self.is_at_end() {
            return Ok(ReadStep::End);
        }
        let Some(bytes) = self.window(RECORD_HEADER_BYTES)? else {
            return Ok(ReadStep::Damaged(Damage::CutOff));
        };
        let bytes = bytes.try_into().expect("as many as were asked for");
        let header = match RecordHeader::parse(bytes, position) {
            Ok(header) => header,
            Err(damage) => return Ok(ReadStep::Damaged(damage)),
        };
        let credulous = self.credulous;
        let Some(frame) = self.window(header.frame_bytes())? else {
            return Ok(ReadStep::Damaged(Damage::CutOff));
        };
        if !credulous && computed_chain(frame, before) != header.chain {
            return Ok(ReadStep::Damaged(Damage::RecordHash));
        }
        let payload_at = (self.at - self.buffer_at) as usize + RECORD_HEADER_BYTES;
        self.at += header.frame_bytes() as u64;
        let payload = &self.buffer[payload_at..payload_at + header.length as usize];
        Ok(match header.content(payload) {
            Some(content) => ReadStep::Record(header, content),
            None => ReadStep::Damaged(Damage::RecordHash),
        })
    }

    /// The next `count` bytes, without moving; `None` when there are not so many.
    pub(crate) fn window(&mut self, count: usize) -> Result<Option<&[u8]>, DiskError> {
        if self.end.saturating_sub(self.at) < count as u64 {
            return Ok(None);
        }
        let from = (self.at - self.buffer_at) as usize;
        if self.buffer.len() >= from + count {
            return Ok(Some(&self.buffer[from..from + count]));
        }
        self.buffer.drain(..from);
        self.buffer_at = self.at;
        while self.buffer.len() < count {
            let next = self.buffer_at + self.buffer.len() as u64;
            // At most a record: its length has been checked.
            let wanted = (count.max(READ_BYTES) - self.buffer.len()) as u64;
            let wanted = wanted.min(self.end - next) as u32;
            let more = self.disk.read(self.file, next, wanted)?;
            if more.is_empty() {
                return Ok(None);
            }
            self.buffer.extend_from_slice(&more);
        }
        Ok(Some(&self.buffer[..count]))
    }
}
