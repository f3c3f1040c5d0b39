//! A disk in memory that a server writes while somebody else reads it.

use std::{cell::RefCell, rc::Rc};

use metatopia_store::{Disk, DiskError, FileName, Folder, ReadDisk, memory::MemoryDisk};

/// A disk with two holders: one reads, and one may write.
#[derive(Clone, Default)]
pub(super) struct SharedDisk(Rc<RefCell<MemoryDisk>>);

impl ReadDisk for SharedDisk {
    fn list(&self, folder: Folder) -> Result<Vec<FileName>, DiskError> {
        self.0.borrow().list(folder)
    }

    fn length(&self, file: FileName) -> Result<u64, DiskError> {
        self.0.borrow().length(file)
    }

    fn read(&self, file: FileName, offset: u64, length: u32) -> Result<Vec<u8>, DiskError> {
        self.0.borrow().read(file, offset, length)
    }
}

impl Disk for SharedDisk {
    fn append(&mut self, file: FileName, bytes: &[u8]) -> Result<(), DiskError> {
        self.0.borrow_mut().append(file, bytes)
    }

    fn rename(&mut self, from: FileName, to: FileName) -> Result<(), DiskError> {
        self.0.borrow_mut().rename(from, to)
    }

    fn remove(&mut self, file: FileName) -> Result<(), DiskError> {
        self.0.borrow_mut().remove(file)
    }

    fn sync(&mut self, file: FileName, length: u64) -> Result<(), DiskError> {
        self.0.borrow_mut().sync(file, length)
    }

    fn sync_dir(&mut self, folder: Folder) -> Result<(), DiskError> {
        self.0.borrow_mut().sync_dir(folder)
    }
}
