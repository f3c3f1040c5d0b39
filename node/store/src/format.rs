//! The format of each file in a data directory, told by its first bytes.
//!
//! A later program may have written some of the files. Such a file is not damaged, and nobody who does
//! not know its format may repair or remove it, or anything beside it that it may rest on.

use crate::{
    Cause, DiskError, FileKind, FileName, Folder, ReadDisk,
    disk::read_start,
    frame::{REDACTED_SEGMENT_VERSION, SEGMENT_SEAL, SegmentHeader},
    identity, mark, patches,
    sealed::{Seal, SealError},
    snapshots,
};

/// A file has a format that this program does not know, because another program wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file} has format version {found}; this program reads version {known}")]
pub struct UnknownFormat {
    /// The name of the file.
    pub file: FileName,
    /// The version that the file says.
    pub found: u32,
    /// The version that this program reads and writes.
    pub known: u32,
}

/// Returns the seal that files of a kind begin with; none if nobody reads their headers.
const fn seal(file: FileName) -> Option<&'static Seal> {
    match file.kind {
        _ if file.temporary => None,
        FileKind::Identity => Some(&identity::SEAL),
        FileKind::Mark => Some(&mark::SEAL),
        FileKind::Segment(_) => Some(&SEGMENT_SEAL),
        FileKind::Patch { .. } => Some(&patches::FILE.seal),
        FileKind::Snapshot(..) => Some(&snapshots::FILE.seal),
        FileKind::Quarantined { .. } | FileKind::Blob(_) => None,
    }
}

/// Returns the first file of a data directory, in the order of folders and names, whose format this
/// program does not know. Reads a header of each; damage is for those who read the rest.
///
/// # Errors
/// When the disk fails.
pub fn unknown_format(disk: &dyn ReadDisk) -> Result<Option<UnknownFormat>, DiskError> {
    for folder in Folder::ALL.into_iter().filter(|folder| *folder != Folder::Blobs) {
        for file in disk.list(folder)? {
            let Some(seal) = seal(file) else {
                continue;
            };
            let header = match read_start(disk, file, seal.bytes() as u64) {
                Ok(header) => header,
                // Whoever runs on the directory has removed it since.
                Err(error) if error.cause == Cause::NotFound => continue,
                Err(error) => return Err(error),
            };
            let opened = match file.kind {
                FileKind::Segment(_) => SegmentHeader::parse(&header).map(drop),
                _ => seal.open(&header).map(drop),
            };
            if let Err(SealError::Version(found)) = opened {
                let known = match file.kind {
                    FileKind::Segment(_) => REDACTED_SEGMENT_VERSION,
                    _ => seal.version,
                };
                return Ok(Some(UnknownFormat { file, found, known }));
            }
        }
    }
    Ok(None)
}
