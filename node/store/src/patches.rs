//! Patches: records that a log lacks, put back in files of their own.
//!
//! A hash chain runs through a log, so nothing can be put between its records. What others kept of
//! them lies beside the segments, opaque here, in files that are named by the tags they hold and carry
//! their own hash. A patch never changes: it is written as a whole, and removed as a whole.

use std::collections::BTreeMap;

use crate::{
    Disk, DiskError, FileKind, FileName, Folder, ReadDisk, ReadError, UnknownFormat,
    content::{CONTENT_FIELD_BYTES, ContentFile},
    limits::PATCH_BYTES_MAX,
    sealed::{Seal, SealedFileError},
};

/// The version of patches this program writes, and the only one it loads.
pub const PATCH_VERSION: u32 = 1;

pub(crate) const FILE: ContentFile = ContentFile {
    seal: Seal {
        mark: b"mtoppach",
        version: PATCH_VERSION,
        context: "metatopia log patch header v1",
        field_bytes: 8 + 8 + CONTENT_FIELD_BYTES,
    },
    context: "metatopia log patch content v1",
    bytes_max: PATCH_BYTES_MAX,
};

/// Records that are put back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// The first tag.
    pub from: u64,
    /// The last; no tag between them is left out.
    pub to: u64,
    /// What is to be found under these tags, at most [`PATCH_BYTES_MAX`].
    pub bytes: Vec<u8>,
}

/// Why a patch was not put.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    /// The disk failed.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// It is longer than a patch may be.
    #[error("a patch of {0} bytes where {max} are allowed", max = PATCH_BYTES_MAX)]
    TooLong(u64),
}

const fn file(from: u64, to: u64) -> FileName {
    FileName::new(FileKind::Patch { from, to })
}

fn holds(from: u64, to: u64) -> Vec<u8> {
    [from.to_le_bytes(), to.to_le_bytes()].concat()
}

/// Which tags were put back, not verified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patches(BTreeMap<u64, u64>);

impl Patches {
    /// Lists the patches of a data directory.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn list(disk: &dyn ReadDisk) -> Result<Self, DiskError> {
        let range = |file: FileName| match file.kind {
            FileKind::Patch { from, to } if !file.temporary && from <= to => Some((from, to)),
            _ => None,
        };
        Ok(Self(disk.list(Folder::Log)?.into_iter().filter_map(range).collect()))
    }

    /// First and last tag of each, ascending.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> {
        self.0.iter().map(|(from, to)| (*from, *to))
    }

    /// The patch that holds this tag.
    #[must_use]
    pub fn holding(&self, tag: u64) -> Option<(u64, u64)> {
        self.before(tag).filter(|(_, to)| tag <= *to)
    }

    /// The last patch that begins with this tag or before it.
    #[must_use]
    pub fn before(&self, tag: u64) -> Option<(u64, u64)> {
        self.0.range(..=tag).next_back().map(|(from, to)| (*from, *to))
    }

    /// The first patch that begins after this tag.
    #[must_use]
    pub fn after(&self, tag: u64) -> Option<(u64, u64)> {
        self.0.range(tag.checked_add(1)?..).next().map(|(from, to)| (*from, *to))
    }

    pub(crate) fn put(&mut self, disk: &mut dyn Disk, patch: &Patch) -> Result<(), PatchError> {
        let Patch { from, to, bytes } = patch;
        if bytes.len() as u64 > PATCH_BYTES_MAX {
            return Err(PatchError::TooLong(bytes.len() as u64));
        }
        disk.write_new(file(*from, *to), &FILE.close(&holds(*from, *to), bytes))?;
        self.0.insert(*from, *to);
        Ok(())
    }

    pub(crate) fn remove(&mut self, disk: &mut dyn Disk, from: u64) -> Result<(), DiskError> {
        // Not synced: a removed one that comes back after a crash does no harm.
        self.0.remove(&from).map_or(Ok(()), |to| disk.remove(file(from, to)))
    }
}

/// Loads and verifies the patch of these tags, one of [`Patches`].
///
/// # Errors
/// See [`ReadError`]. A patch of another version is not damaged: another program reads it.
pub fn load_patch(disk: &dyn ReadDisk, (from, to): (u64, u64)) -> Result<Vec<u8>, ReadError> {
    let file = file(from, to);
    FILE.load(disk, file, &holds(from, to)).map_err(|error| match error {
        SealedFileError::Disk(error) => error.into(),
        SealedFileError::Damaged(damaged) => damaged.into(),
        SealedFileError::Version(found) => {
            UnknownFormat { file, found, known: PATCH_VERSION }.into()
        }
    })
}
