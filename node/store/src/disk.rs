//! What the store asks of a disk.

use std::fmt;

use crate::{FileName, Folder, limits::READ_BYTES};

/// Reading the files of a data directory. Verification takes only this, so it cannot change one.
pub trait ReadDisk {
    /// Returns all our files in `folder`, unfinished ones too, ascending. Foreign files are left out.
    ///
    /// # Errors
    /// When the folder cannot be read. A folder that does not exist yet is empty.
    fn list(&self, folder: Folder) -> Result<Vec<FileName>, DiskError>;

    /// The file's length in bytes.
    ///
    /// # Errors
    /// [`Cause::NotFound`], or that it cannot be told.
    fn length(&self, file: FileName) -> Result<u64, DiskError>;

    /// Reads at most `length` bytes from `offset` on. It returns no bytes only at the end of the file. The
    /// disk allocates no more than the file holds, whatever `length` says.
    ///
    /// # Errors
    /// [`Cause::NotFound`], or that the bytes cannot be read.
    fn read(&self, file: FileName, offset: u64, length: u32) -> Result<Vec<u8>, DiskError>;
}

/// Changing the files of a data directory. Nothing is durable before it is synced; what is not
/// synced may, after a crash, be there, be lost, or be torn at any byte, in any order.
pub trait Disk: ReadDisk {
    /// Adds bytes to the end of the file, which is created when it does not exist.
    ///
    /// # Errors
    /// Any part of `bytes` may be in the file then.
    fn append(&mut self, file: FileName, bytes: &[u8]) -> Result<(), DiskError>;

    /// Gives `from` the name `to`, replacing such a file: after a crash `to` is the old file or the
    /// new one, never a mixture. Both lie in one folder.
    ///
    /// # Errors
    /// [`Cause::NotFound`], or that nothing was renamed.
    fn rename(&mut self, from: FileName, to: FileName) -> Result<(), DiskError>;

    /// Removes a file.
    ///
    /// # Errors
    /// [`Cause::NotFound`], or that it is still there.
    fn remove(&mut self, file: FileName) -> Result<(), DiskError>;

    /// Makes the first `length` bytes of the file durable (or more: a disk may not be able to
    /// choose).
    ///
    /// # Errors
    /// Nothing is known about bytes that were not durable before, and a later success says nothing
    /// about them either.
    fn sync(&mut self, file: FileName, length: u64) -> Result<(), DiskError>;

    /// Makes the names in `folder` durable: files created, renamed and removed.
    ///
    /// # Errors
    /// Nothing is known about changes that were not durable before.
    fn sync_dir(&mut self, folder: Folder) -> Result<(), DiskError>;

    /// Creates or replaces a file as a whole, durably: after a crash at any moment the old file or
    /// the new one is there, complete.
    ///
    /// # Errors
    /// The first step that failed; the file is the old one or the new one.
    fn write_new(&mut self, file: FileName, bytes: &[u8]) -> Result<(), DiskError> {
        let temporary = file.temporary();
        match self.remove(temporary) {
            Err(error) if error.cause != Cause::NotFound => return Err(error),
            _ => {}
        }
        let done = self
            .append(temporary, bytes)
            .and_then(|()| self.sync(temporary, bytes.len() as u64))
            .and_then(|()| self.rename(temporary, file))
            .and_then(|()| self.sync_dir(file.folder()));
        if done.is_err() {
            // Gives the space back; the first error is the one to tell.
            drop(self.remove(temporary));
        }
        done
    }
}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<D: ReadDisk + ?Sized> ReadDisk for $pointer {
            fn list(&self, folder: Folder) -> Result<Vec<FileName>, DiskError> {
                (**self).list(folder)
            }

            fn length(&self, file: FileName) -> Result<u64, DiskError> {
                (**self).length(file)
            }

            fn read(&self, file: FileName, at: u64, length: u32) -> Result<Vec<u8>, DiskError> {
                (**self).read(file, at, length)
            }
        }

        impl<D: Disk + ?Sized> Disk for $pointer {
            fn append(&mut self, file: FileName, bytes: &[u8]) -> Result<(), DiskError> {
                (**self).append(file, bytes)
            }

            fn rename(&mut self, from: FileName, to: FileName) -> Result<(), DiskError> {
                (**self).rename(from, to)
            }

            fn remove(&mut self, file: FileName) -> Result<(), DiskError> {
                (**self).remove(file)
            }

            fn sync(&mut self, file: FileName, length: u64) -> Result<(), DiskError> {
                (**self).sync(file, length)
            }

            fn sync_dir(&mut self, folder: Folder) -> Result<(), DiskError> {
                (**self).sync_dir(folder)
            }

            fn write_new(&mut self, file: FileName, bytes: &[u8]) -> Result<(), DiskError> {
                (**self).write_new(file, bytes)
            }
        }
    )*};
}

// A store may borrow its disk, so that the disk outlives an opening that failed; or box it.
forward!(&mut D, Box<D>);

/// What a disk was asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A call of [`ReadDisk::list`].
    List,
    /// A call of [`ReadDisk::length`].
    Length,
    /// A call of [`ReadDisk::read`].
    Read,
    /// A call of [`Disk::append`].
    Append,
    /// A call of [`Disk::rename`].
    Rename,
    /// A call of [`Disk::remove`].
    Remove,
    /// [`Disk::sync`] and [`Disk::sync_dir`].
    Sync,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::List => "list",
            Self::Length => "measure",
            Self::Read => "read",
            Self::Append => "append to",
            Self::Rename => "rename",
            Self::Remove => "remove",
            Self::Sync => "sync",
        })
    }
}

/// What an operation was about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskTarget {
    /// A file of the directory.
    File(FileName),
    /// A folder of the directory.
    Folder(Folder),
}

impl fmt::Display for DiskTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(file) => file.fmt(f),
            Self::Folder(folder) => folder.fmt(f),
        }
    }
}

/// Why an operation failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// There is no such file.
    #[error("there is no such file")]
    NotFound,
    /// The disk is full, or a quota is.
    #[error("the disk is full")]
    Full,
    /// Another process holds the data directory.
    #[error("another process is using this data directory")]
    InUse,
    /// What the operating system says.
    #[error("{0}")]
    Other(String),
}

/// A disk did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot {operation} {place}: {cause}")]
pub struct DiskError {
    /// What was asked.
    pub operation: Operation,
    /// The file or folder that failed.
    pub place: DiskTarget,
    /// Why it failed.
    pub cause: Cause,
}

impl DiskError {
    /// An operation on a file that failed.
    #[must_use]
    pub const fn file(operation: Operation, file: FileName, cause: Cause) -> Self {
        Self { operation, place: DiskTarget::File(file), cause }
    }

    /// An operation on a folder that failed.
    #[must_use]
    pub const fn folder(operation: Operation, folder: Folder, cause: Cause) -> Self {
        Self { operation, place: DiskTarget::Folder(folder), cause }
    }
}

/// The first `length` bytes of a file, or all when it has fewer. It is for the caller to see that
/// `length` is no more than may be held in memory.
pub(crate) fn read_start(
    disk: &dyn ReadDisk,
    file: FileName,
    length: u64,
) -> Result<Vec<u8>, DiskError> {
    read_range(disk, file, 0, length)
}

/// The bytes of a file from `from` to `to`, or to its end when that is earlier.
pub(crate) fn read_range(
    disk: &dyn ReadDisk,
    file: FileName,
    from: u64,
    to: u64,
) -> Result<Vec<u8>, DiskError> {
    let mut bytes = Vec::new();
    loop {
        let next = from + bytes.len() as u64;
        let wanted = to.saturating_sub(next).min(READ_BYTES as u64) as u32;
        if wanted == 0 {
            return Ok(bytes);
        }
        let more = disk.read(file, next, wanted)?;
        if more.is_empty() {
            return Ok(bytes);
        }
        bytes.extend_from_slice(&more);
    }
}

/// The whole file, when it has at most `bytes_max` bytes.
pub(crate) fn read_whole(
    disk: &dyn ReadDisk,
    file: FileName,
    bytes_max: u64,
) -> Result<Vec<u8>, ReadWholeError> {
    let length = disk.length(file)?;
    if length > bytes_max {
        return Err(ReadWholeError::TooLong(length));
    }
    Ok(read_start(disk, file, length)?)
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadWholeError {
    #[error(transparent)]
    Disk(#[from] DiskError),
    #[error("{0} bytes")]
    TooLong(u64),
}
