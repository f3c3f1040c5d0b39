//! A server's data directory: real files under the store's [`Disk`].
//!
//! The names are the store's ([`FileName`]). This module adds only a file [`LOCK`], which is held
//! as long as the process lives, so that two processes never vote from one log.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use metatopia_store::{Cause, Disk, DiskError, FileName, Folder, Operation, ReadDisk};

use crate::atomic_file::{create_folder, owner_only, sync_folder};

/// The file that a process holds locked while it may change a data directory.
const LOCK: &str = "lock";

/// The error of a data directory that was not opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("data directory {}: {cause}", path.display())]
pub struct OpenDiskError {
    /// The path of the directory.
    pub path: PathBuf,
    /// The cause of the failure.
    pub cause: Cause,
}

fn cause(error: &io::Error) -> Cause {
    match error.kind() {
        io::ErrorKind::NotFound => Cause::NotFound,
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            Cause::Full
        }
        _ => Cause::Other(error.to_string()),
    }
}

/// A data directory that is only read, also while a server uses it. Nothing is locked or changed.
#[derive(Clone, Debug)]
pub struct DataDirectory {
    path: PathBuf,
}

impl DataDirectory {
    /// Opens the directory at `path`, which must exist.
    ///
    /// # Errors
    /// Fails when the path is no directory, or the directory cannot be read.
    pub fn open(path: &Path) -> Result<Self, OpenDiskError> {
        let path = path.to_owned();
        match fs::read_dir(&path) {
            Ok(_) => Ok(Self { path }),
            Err(error) => Err(OpenDiskError { cause: cause(&error), path }),
        }
    }

    /// Returns the path of the directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Checks that no process may change the directory at this moment. A process may begin to
    /// afterwards.
    ///
    /// # Errors
    /// Returns [`Cause::InUse`] when a process may change it.
    pub fn is_free(&self) -> Result<(), OpenDiskError> {
        // Without such a file no server ever ran here, or the disk was copied without the file.
        let lock = File::open(self.path.join(LOCK));
        match lock.map(|lock| lock.try_lock_shared()) {
            Ok(Err(TryLockError::WouldBlock)) => {
                Err(OpenDiskError { path: self.path.clone(), cause: Cause::InUse })
            }
            _ => Ok(()),
        }
    }

    fn folder_path(&self, folder: Folder) -> PathBuf {
        match folder {
            Folder::Top => self.path.clone(),
            _ => self.path.join(folder.name()),
        }
    }

    fn file_path(&self, file: FileName) -> PathBuf {
        self.folder_path(file.folder()).join(file.name())
    }

    fn try_list(&self, folder: Folder) -> io::Result<Vec<FileName>> {
        let entries = match fs::read_dir(self.folder_path(folder)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut files = Vec::new();
        for entry in entries {
            let name = entry?.file_name();
            files.extend(name.to_str().and_then(|name| FileName::parse(folder, name)));
        }
        files.sort_unstable();
        Ok(files)
    }

    fn try_read(&self, file: FileName, offset: u64, length: u32) -> io::Result<Vec<u8>> {
        let mut opened = File::open(self.file_path(file))?;
        opened.seek(SeekFrom::Start(offset))?;
        let mut bytes = Vec::new();
        // The buffer grows with what is read, so `length` alone allocates nothing.
        opened.take(u64::from(length)).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

impl ReadDisk for DataDirectory {
    fn list(&self, folder: Folder) -> Result<Vec<FileName>, DiskError> {
        let listed = self.try_list(folder);
        listed.map_err(|error| DiskError::folder(Operation::List, folder, cause(&error)))
    }

    fn length(&self, file: FileName) -> Result<u64, DiskError> {
        let found = fs::metadata(self.file_path(file));
        found
            .map(|metadata| metadata.len())
            .map_err(|error| DiskError::file(Operation::Length, file, cause(&error)))
    }

    fn read(&self, file: FileName, offset: u64, length: u32) -> Result<Vec<u8>, DiskError> {
        let bytes = self.try_read(file, offset, length);
        bytes.map_err(|error| DiskError::file(Operation::Read, file, cause(&error)))
    }
}

/// A data directory that this process alone may change.
#[derive(Debug)]
pub struct RealDisk {
    directory: DataDirectory,
    /// The file of each folder that was last appended to. A sync must use the handle that wrote:
    /// the kernel may report a failed write only to handles that were open when it failed.
    written: BTreeMap<Folder, (FileName, File)>,
    /// The lock, held until this is dropped or the process ends in any way.
    _lock: File,
}

impl RealDisk {
    /// Opens the data directory at `path` and locks it. Creates it, for this user only, if it is
    /// not there.
    ///
    /// # Errors
    /// Returns [`Cause::InUse`] when another process has the directory open, or what the operating
    /// system says.
    pub fn open(path: &Path) -> Result<Self, OpenDiskError> {
        Self::try_open(path).map_err(|cause| OpenDiskError { path: path.to_owned(), cause })
    }

    fn try_open(path: &Path) -> Result<Self, Cause> {
        let directory = DataDirectory { path: path.to_owned() };
        for folder in Folder::ALL {
            create_folder(&directory.folder_path(folder)).map_err(|error| cause(&error))?;
        }
        let mut options = owner_only();
        let lock = options.create(true).append(true).open(path.join(LOCK));
        let lock = lock.map_err(|error| cause(&error))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { directory, written: BTreeMap::new(), _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(Cause::InUse),
            Err(TryLockError::Error(error)) => Err(cause(&error)),
        }
    }

    /// Returns the path of the directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    fn try_append(&mut self, file: FileName, bytes: &[u8]) -> io::Result<()> {
        match self.written.get_mut(&file.folder()) {
            Some((name, written)) if *name == file => written.write_all(bytes),
            _ => {
                let path = self.directory.file_path(file);
                let mut opened = owner_only().create(true).append(true).open(path)?;
                let done = opened.write_all(bytes);
                self.written.insert(file.folder(), (file, opened));
                done
            }
        }
    }

    fn try_sync(&self, file: FileName) -> io::Result<()> {
        match self.written.get(&file.folder()) {
            Some((name, written)) if *name == file => written.sync_data(),
            _ => {
                let path = self.directory.file_path(file);
                OpenOptions::new().append(true).open(path)?.sync_data()
            }
        }
    }

    /// Forgets the open handle of this name, because the name may mean another file from now on.
    fn forget(&mut self, file: FileName) {
        if self.written.get(&file.folder()).is_some_and(|(name, _)| *name == file) {
            self.written.remove(&file.folder());
        }
    }
}

impl ReadDisk for RealDisk {
    fn list(&self, folder: Folder) -> Result<Vec<FileName>, DiskError> {
        self.directory.list(folder)
    }

    fn length(&self, file: FileName) -> Result<u64, DiskError> {
        self.directory.length(file)
    }

    fn read(&self, file: FileName, offset: u64, length: u32) -> Result<Vec<u8>, DiskError> {
        self.directory.read(file, offset, length)
    }
}

impl Disk for RealDisk {
    fn append(&mut self, file: FileName, bytes: &[u8]) -> Result<(), DiskError> {
        let done = self.try_append(file, bytes);
        done.map_err(|error| DiskError::file(Operation::Append, file, cause(&error)))
    }

    fn rename(&mut self, from: FileName, to: FileName) -> Result<(), DiskError> {
        self.forget(from);
        self.forget(to);
        let done = fs::rename(self.directory.file_path(from), self.directory.file_path(to));
        done.map_err(|error| DiskError::file(Operation::Rename, from, cause(&error)))
    }

    fn remove(&mut self, file: FileName) -> Result<(), DiskError> {
        self.forget(file);
        let done = fs::remove_file(self.directory.file_path(file));
        done.map_err(|error| DiskError::file(Operation::Remove, file, cause(&error)))
    }

    // A file is synced as a whole, because operating systems offer nothing finer.
    fn sync(&mut self, file: FileName, _length: u64) -> Result<(), DiskError> {
        let done = self.try_sync(file);
        done.map_err(|error| DiskError::file(Operation::Sync, file, cause(&error)))
    }

    fn sync_dir(&mut self, folder: Folder) -> Result<(), DiskError> {
        let done = sync_folder(&self.directory.folder_path(folder));
        done.map_err(|error| DiskError::folder(Operation::Sync, folder, cause(&error)))
    }
}

#[cfg(test)]
mod tests;
