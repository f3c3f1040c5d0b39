//! Redaction: what a record holds goes, and the record stays in the chain.

use crate::{
    Damage, Damaged, Disk, DiskError, DiskTarget, FileName, Position, ReadError, Store,
    StoredRecord, SyncError,
    disk::read_start,
    frame::{
        RECORD_HEADER_BYTES, RecordHeader, SEGMENT_HEADER_BYTES, SegmentHeader, computed_chain,
        redact,
    },
    index::LogStart,
};

/// Why nothing of a segment was redacted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RedactError {
    /// The log could not be made durable before.
    #[error(transparent)]
    Sync(#[from] SyncError),
    /// The segment cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The segment was not written anew. It is the old one or the new one.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

impl<D: Disk> Store<D> {
    /// Puts other payloads in the place of those of one segment, the one that holds `position`, durably.
    /// `replaced` names them, each shorter by 20 bytes or more than the payload was when it was appended. Returns
    /// how many were replaced; one for which there is no room stays as it is. Everything else is as it was.
    ///
    /// Takes one read of the segment, and if anything is replaced one write of it.
    ///
    /// # Errors
    /// See [`RedactError`].
    pub fn redact(
        &mut self,
        position: Position,
        replaced: &mut dyn FnMut(&StoredRecord) -> Option<Vec<u8>>,
    ) -> Result<usize, RedactError> {
        // The last segment is written anew as a whole, so all of it must be known to be durable before.
        self.sync()?;
        let index = self.index();
        let found = index.segment_start(position).zip(index.locate(position));
        let Some((start, (file, _))) = found else { return Ok(0) };
        let is_last = index.last_file() == Some(file);
        let length = match is_last {
            true => index.last_segment_bytes().unwrap_or_default(),
            false => self.disk().length(file).map_err(ReadError::from)?,
        };
        let mut bytes = read_start(self.disk(), file, length).map_err(ReadError::from)?;
        let count = replace_payloads(&mut bytes, start, file, replaced)?;
        if count == 0 {
            return Ok(0);
        }
        let (header, _) = bytes.split_at_mut(SEGMENT_HEADER_BYTES);
        let parsed = SegmentHeader::parse(header);
        let parsed = parsed.map_err(|_| damaged(file, 0, Damage::Header))?;
        header.copy_from_slice(&SegmentHeader { redacted: true, ..parsed }.bytes());
        let written = self.disk_mut().write_new(file, &bytes);
        // Without its name a crash may bring the old file back, and what is appended from now on goes to the new one.
        if let Err(DiskError { place: DiskTarget::Folder(_), .. }) = &written
            && is_last
        {
            self.fail();
        }
        written?;
        Ok(count)
    }
}

/// Replaces payloads in the bytes of a segment. Returns how many.
fn replace_payloads(
    bytes: &mut [u8],
    start: LogStart,
    file: FileName,
    replaced: &mut dyn FnMut(&StoredRecord) -> Option<Vec<u8>>,
) -> Result<usize, RedactError> {
    let (mut at, mut place, mut before) = (SEGMENT_HEADER_BYTES, start.position, start.before);
    let mut count = 0;
    while at < bytes.len() {
        let rest = &mut bytes[at..];
        let head = rest.first_chunk::<RECORD_HEADER_BYTES>();
        let head = head.ok_or_else(|| damaged(file, at, Damage::CutOff))?;
        let header =
            RecordHeader::parse(head, place).map_err(|damage| damaged(file, at, damage))?;
        let frame = rest.get_mut(..header.frame_bytes());
        let frame = frame.ok_or_else(|| damaged(file, at, Damage::CutOff))?;
        let content = header.content(&frame[RECORD_HEADER_BYTES..]);
        let content = content.filter(|_| computed_chain(frame, before) == header.chain);
        let end = place.plus(header.frame_bytes() as u64);
        let record = StoredRecord {
            position: place,
            end,
            kind: header.kind,
            tag: header.tag,
            payload: content.ok_or_else(|| damaged(file, at, Damage::RecordHash))?.to_vec(),
        };
        if let Some(payload) = replaced(&record) {
            count += usize::from(redact(frame, before, &payload));
        }
        (at, place, before) = (at + header.frame_bytes(), end, header.chain);
    }
    Ok(count)
}

fn damaged(file: FileName, offset: usize, damage: Damage) -> RedactError {
    RedactError::Read(Damaged { file, offset: offset as u64, damage }.into())
}
