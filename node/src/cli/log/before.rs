//! A disk as it was before a damaged place: what lies before it can still be verified.

use metatopia_store::{DiskError, FileKind, FileName, Folder, ReadDisk};

/// Shows of the log only what lies before a byte of one of its segments.
pub(super) struct Before<'a> {
    pub(super) disk: &'a dyn ReadDisk,
    /// The damaged segment.
    pub(super) file: FileName,
    /// Where in it the damage is.
    pub(super) offset: u64,
}

impl Before<'_> {
    /// The length that is shown of a file, if it is cut.
    fn cut(&self, file: FileName) -> Option<u64> {
        (file == self.file).then_some(self.offset)
    }

    fn is_behind(&self, file: FileName) -> bool {
        match (file.kind, self.file.kind) {
            (FileKind::Segment(n), FileKind::Segment(last)) => n > last,
            _ => false,
        }
    }
}

impl ReadDisk for Before<'_> {
    fn list(&self, folder: Folder) -> Result<Vec<FileName>, DiskError> {
        let mut files = self.disk.list(folder)?;
        files.retain(|file| !self.is_behind(*file));
        Ok(files)
    }

    fn length(&self, file: FileName) -> Result<u64, DiskError> {
        let length = self.disk.length(file)?;
        Ok(self.cut(file).map_or(length, |cut| length.min(cut)))
    }

    fn read(&self, file: FileName, offset: u64, length: u32) -> Result<Vec<u8>, DiskError> {
        let mut bytes = self.disk.read(file, offset, length)?;
        if let Some(cut) = self.cut(file) {
            let left = usize::try_from(cut.saturating_sub(offset)).unwrap_or(usize::MAX);
            bytes.truncate(left);
        }
        Ok(bytes)
    }
}
