//! Blobs: bytes in files named by their hash.

use metatopia_types::{Blob, BlobId, limits::BLOB_BYTES_MAX};

use crate::{
    Cause, Damage, Damaged, Disk, DiskError, FileKind, FileName, Folder, ReadDisk,
    disk::{ReadWholeError, read_whole},
};

/// Why there is no such blob.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlobError {
    /// The disk failed.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The file is not what was written.
    #[error(transparent)]
    Damaged(#[from] Damaged),
    /// It is larger than a blob may be.
    #[error("a blob of {0} bytes where {max} are allowed", max = BLOB_BYTES_MAX)]
    TooLong(u64),
}

const fn file(id: BlobId) -> FileName {
    FileName::new(FileKind::Blob(id))
}

/// Writes a blob durably, unless it is there already; a damaged one is replaced.
///
/// # Errors
/// See [`BlobError`]; the blob is not there then, or as it was.
pub fn put_blob(disk: &mut dyn Disk, blob: &Blob) -> Result<BlobId, BlobError> {
    if blob.0.len() > BLOB_BYTES_MAX {
        return Err(BlobError::TooLong(blob.0.len() as u64));
    }
    let id = blob.id();
    match get_blob(disk, id) {
        // It may have got its name just before the process ended, and the name may not be durable.
        Ok(Some(_)) => disk.sync_dir(Folder::Blobs)?,
        Ok(None) | Err(BlobError::Damaged(_)) => disk.write_new(file(id), &blob.0)?,
        Err(error) => return Err(error),
    }
    Ok(id)
}

/// Reads and verifies a blob; `None` when it is not there.
///
/// # Errors
/// See [`BlobError`].
pub fn get_blob(disk: &dyn ReadDisk, id: BlobId) -> Result<Option<Blob>, BlobError> {
    let damaged = |damage| Err(BlobError::Damaged(Damaged { file: file(id), offset: 0, damage }));
    let blob = match read_whole(disk, file(id), BLOB_BYTES_MAX as u64) {
        Ok(bytes) => Blob(bytes),
        Err(ReadWholeError::Disk(error)) if error.cause == Cause::NotFound => return Ok(None),
        Err(ReadWholeError::Disk(error)) => return Err(error.into()),
        Err(ReadWholeError::TooLong(found)) => {
            let expected = BLOB_BYTES_MAX as u64;
            return damaged(Damage::Length { found, expected });
        }
    };
    match blob.id() == id {
        true => Ok(Some(blob)),
        false => damaged(Damage::Content),
    }
}

/// Removes a blob durably. Returns whether it was there.
///
/// # Errors
/// When the disk fails; the blob may or may not be there then.
pub fn forget_blob(disk: &mut dyn Disk, id: BlobId) -> Result<bool, DiskError> {
    match disk.remove(file(id)) {
        Ok(()) => disk.sync_dir(Folder::Blobs).map(|()| true),
        Err(error) if error.cause == Cause::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
