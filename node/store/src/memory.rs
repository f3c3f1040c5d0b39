//! A disk in memory that fails like a bad one: for tests and for the simulated world.
//!
//! It promises no more than [`Disk`] does. Bytes are durable only once they were synced, as far as
//! they were asked for; names only once their folder was. After a failed sync the bytes it was about
//! can be read, but they will not survive a crash, whatever later syncs say.

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use crate::{Cause, Disk, DiskError, FileName, Folder, Operation, ReadDisk};

/// What a crash makes of everything that was not durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrashEffect {
    /// All of it is gone.
    Lost,
    /// All of it is there, except what a failed sync was about.
    Kept,
    /// Some of it is there, chosen by this seed: names one by one; files cut at any byte, with
    /// holes of zeros, and with zeros behind.
    Torn(u64),
}

/// How an operation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskFault {
    /// It does nothing and says so. A sync that fails leaves its bytes in doubt for ever.
    Fail,
    /// The disk is full: an append writes the first half of its bytes.
    Full,
    /// The power goes: an append writes the first half, and all later operations fail too.
    PowerOff,
}

/// Bytes that a disk loses, or writes elsewhere, at once: its sector, made small so that short files
/// have several.
pub const SECTOR_BYTES: usize = 64;

#[derive(Clone, Debug, Default)]
struct Inode {
    /// What reading shows.
    bytes: Vec<u8>,
    /// What is on the disk.
    durable: Vec<u8>,
    /// How many bytes were synced. They are the same in both, but for those that are doomed.
    settled: usize,
    /// What failed syncs were about; on the disk these are zeros.
    doomed: Vec<Range<usize>>,
}

impl Inode {
    fn sync(&mut self, length: u64) {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let (from, to) = (self.settled, length.min(self.bytes.len()));
        if from < to {
            self.durable.extend_from_slice(&self.bytes[from..to]);
            for range in &self.doomed {
                self.durable[range.start.min(to)..range.end.min(to)].fill(0);
            }
            self.settled = to;
        }
    }

    fn fail_sync(&mut self) {
        self.doomed.push(self.settled..self.bytes.len());
    }

    /// Returns all bytes, as far as they can reach the disk.
    fn kept(&self) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        for range in &self.doomed {
            bytes[range.clone()].fill(0);
        }
        bytes
    }

    fn torn(&self, chance: &mut Chance) -> Vec<u8> {
        let mut bytes = self.kept();
        let unsynced = bytes.len() - self.settled;
        if unsynced == 0 {
            return bytes;
        }
        bytes.truncate(self.settled + chance.below(unsynced + 1));
        let holes = chance.below(2) == 0;
        for sector in bytes[self.settled..].chunks_mut(SECTOR_BYTES) {
            if holes && chance.below(4) == 0 {
                sector.fill(0);
            }
        }
        // The file's length may be on the disk before its bytes are.
        let zeros = chance.below(2) * chance.below(SECTOR_BYTES);
        bytes.resize(bytes.len() + zeros, 0);
        bytes
    }

    fn settle(&mut self, bytes: Vec<u8>) {
        *self = Self { settled: bytes.len(), durable: bytes.clone(), bytes, doomed: Vec::new() };
    }
}

/// Choices drawn from a seed.
struct Chance(blake3::OutputReader);

impl Chance {
    fn new(seed: u64) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("metatopia torn tail v1");
        Self(hasher.update(&seed.to_le_bytes()).finalize_xof())
    }

    /// Draws a number below `bound`, nearly evenly: the bias of 2^-32 does not matter here.
    fn below(&mut self, bound: usize) -> usize {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes);
        let bound = u64::try_from(bound).expect("a length");
        let drawn = u64::from_le_bytes(bytes) % bound.max(1);
        usize::try_from(drawn).expect("below a length")
    }
}

type InodeId = u64;

#[derive(Clone, Copy, Debug)]
enum NameChange {
    Link(FileName, InodeId),
    Unlink(FileName),
    Rename(FileName, FileName, InodeId),
}

impl NameChange {
    fn folder(&self) -> Folder {
        match self {
            Self::Link(file, _) | Self::Unlink(file) | Self::Rename(file, ..) => file.folder(),
        }
    }

    fn inode(&self) -> Option<InodeId> {
        match *self {
            Self::Link(_, inode) | Self::Rename(.., inode) => Some(inode),
            Self::Unlink(_) => None,
        }
    }

    fn apply(&self, names: &mut BTreeMap<FileName, InodeId>) {
        match *self {
            Self::Link(file, inode) => {
                names.insert(file, inode);
            }
            Self::Unlink(file) => {
                names.remove(&file);
            }
            Self::Rename(from, to, inode) => {
                if names.get(&from) == Some(&inode) {
                    names.remove(&from);
                }
                names.insert(to, inode);
            }
        }
    }
}

/// A disk in memory. Cloning it forks it.
#[derive(Clone, Debug, Default)]
pub struct MemoryDisk {
    inodes: BTreeMap<InodeId, Inode>,
    inodes_ever: InodeId,
    names: BTreeMap<FileName, InodeId>,
    durable_names: BTreeMap<FileName, InodeId>,
    name_changes: Vec<NameChange>,
    operations: u64,
    faults: BTreeMap<u64, DiskFault>,
    reads: Cell<u64>,
    read_faults: BTreeMap<u64, DiskFault>,
    powered_off: Cell<bool>,
    capacity: Option<u64>,
}

impl MemoryDisk {
    /// An empty disk without faults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns how many changing operations there have been: append, rename, remove, sync of a file, sync of
    /// a folder.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// Returns how many reading operations there have been: list, length, read.
    #[must_use]
    pub fn reads(&self) -> u64 {
        self.reads.get()
    }

    /// Makes the changing operation number `at`, counted from 0 by [`Self::operations`], fail.
    pub fn fail_operation(&mut self, at: u64, fault: DiskFault) {
        self.faults.insert(at, fault);
    }

    /// Makes the reading operation number `at`, counted from 0 by [`Self::reads`], fail.
    pub fn fail_read(&mut self, at: u64, fault: DiskFault) {
        self.read_faults.insert(at, fault);
    }

    /// Forgets the faults that are still to come.
    pub fn forget_faults(&mut self) {
        self.faults.clear();
        self.read_faults.clear();
        self.powered_off.set(false);
    }

    /// Lets all files together hold at most so many bytes; an append past that is short.
    pub fn limit_capacity(&mut self, bytes: Option<u64>) {
        self.capacity = bytes;
    }

    /// Takes the machine down and up again. Everything that is left is durable; faults that were still to
    /// come are forgotten, and the power is back.
    pub fn crash(&mut self, tail: CrashEffect) {
        let mut chance = Chance::new(match tail {
            CrashEffect::Torn(seed) => seed,
            CrashEffect::Lost | CrashEffect::Kept => 0,
        });
        for change in core::mem::take(&mut self.name_changes) {
            let kept = match tail {
                CrashEffect::Lost => false,
                CrashEffect::Kept => true,
                CrashEffect::Torn(_) => chance.below(2) == 0,
            };
            if kept {
                change.apply(&mut self.durable_names);
            }
        }
        self.names = self.durable_names.clone();
        self.free_unnamed();
        for inode in self.inodes.values_mut() {
            let left = match tail {
                CrashEffect::Lost => core::mem::take(&mut inode.durable),
                CrashEffect::Kept => inode.kept(),
                CrashEffect::Torn(_) => inode.torn(&mut chance),
            };
            inode.settle(left);
        }
        self.forget_faults();
    }

    /// Returns all files, finished or not, ascending.
    #[must_use]
    pub fn files(&self) -> Vec<FileName> {
        self.names.keys().copied().collect()
    }

    /// A file's bytes, as reading shows them.
    #[must_use]
    pub fn bytes(&self, file: FileName) -> Option<&[u8]> {
        Some(&self.inodes.get(self.names.get(&file)?)?.bytes)
    }

    /// The first bytes of a file that every crash leaves; none while a crash could take its name.
    #[must_use]
    pub fn durable(&self, file: FileName) -> &[u8] {
        let inode = self.durable_names.get(&file).filter(|at| self.names.get(&file) == Some(at));
        let inode = inode.and_then(|at| self.inodes.get(at));
        inode.map_or(&[], |inode| &inode.durable[..inode.settled.min(inode.durable.len())])
    }

    /// Puts these bytes into the file, durably, behind the store's back.
    pub fn replace(&mut self, file: FileName, bytes: Vec<u8>) {
        let inode = self.names.get(&file).copied();
        let inode = inode.unwrap_or_else(|| self.link(file));
        self.durable_names.insert(file, inode);
        self.inodes.entry(inode).or_default().settle(bytes);
    }

    /// The medium turns bit `bit` of the file, counted from the lowest bit of byte 0. Returns
    /// whether the file has such a bit.
    pub fn flip(&mut self, file: FileName, bit: u64) -> bool {
        let Some(inode) = self.names.get(&file).and_then(|at| self.inodes.get_mut(at)) else {
            return false;
        };
        let (Ok(at), mask) = (usize::try_from(bit / 8), 1 << (bit % 8)) else {
            return false;
        };
        if let Some(byte) = inode.durable.get_mut(at) {
            *byte ^= mask;
        }
        inode.bytes.get_mut(at).map(|byte| *byte ^= mask).is_some()
    }

    fn link(&mut self, file: FileName) -> InodeId {
        self.inodes_ever += 1;
        self.inodes.insert(self.inodes_ever, Inode::default());
        self.change_name(NameChange::Link(file, self.inodes_ever));
        self.inodes_ever
    }

    fn change_name(&mut self, change: NameChange) {
        change.apply(&mut self.names);
        self.name_changes.push(change);
    }

    fn inode(&self, operation: Operation, file: FileName) -> Result<InodeId, DiskError> {
        let found = self.names.get(&file).copied();
        found.ok_or_else(|| DiskError::file(operation, file, Cause::NotFound))
    }

    /// Counts a changing operation and says how it shall fail.
    fn next_fault(&mut self) -> Option<DiskFault> {
        let fault = self.faults.remove(&self.operations);
        self.operations += 1;
        self.fault(fault)
    }

    fn next_read_fault(&self) -> Option<DiskFault> {
        let fault = self.read_faults.get(&self.reads.get()).copied();
        self.reads.set(self.reads.get() + 1);
        self.fault(fault)
    }

    fn fault(&self, fault: Option<DiskFault>) -> Option<DiskFault> {
        if self.powered_off.get() {
            return Some(DiskFault::Fail);
        }
        if fault == Some(DiskFault::PowerOff) {
            self.powered_off.set(true);
        }
        fault
    }

    fn used_bytes(&self) -> u64 {
        let named = self.names.values();
        let lengths = named.map(|inode| self.inodes[inode].bytes.len() as u64);
        lengths.sum()
    }

    /// Frees what no name leads to, before or after a crash.
    fn free_unnamed(&mut self) {
        let mut named: BTreeSet<InodeId> = self.names.values().copied().collect();
        named.extend(self.durable_names.values());
        named.extend(self.name_changes.iter().filter_map(NameChange::inode));
        self.inodes.retain(|inode, _| named.contains(inode));
    }
}

fn cause(fault: DiskFault) -> Cause {
    match fault {
        DiskFault::Fail => Cause::Other("injected fault".to_owned()),
        DiskFault::Full => Cause::Full,
        DiskFault::PowerOff => Cause::Other("the power is off".to_owned()),
    }
}

impl ReadDisk for MemoryDisk {
    fn list(&self, folder: Folder) -> Result<Vec<FileName>, DiskError> {
        if let Some(fault) = self.next_read_fault() {
            return Err(DiskError::folder(Operation::List, folder, cause(fault)));
        }
        let files = self.names.keys().copied();
        Ok(files.filter(|file| file.folder() == folder).collect())
    }

    fn length(&self, file: FileName) -> Result<u64, DiskError> {
        if let Some(fault) = self.next_read_fault() {
            return Err(DiskError::file(Operation::Length, file, cause(fault)));
        }
        let inode = self.inode(Operation::Length, file)?;
        Ok(self.inodes[&inode].bytes.len() as u64)
    }

    fn read(&self, file: FileName, offset: u64, length: u32) -> Result<Vec<u8>, DiskError> {
        if let Some(fault) = self.next_read_fault() {
            return Err(DiskError::file(Operation::Read, file, cause(fault)));
        }
        let bytes = &self.inodes[&self.inode(Operation::Read, file)?].bytes;
        let from = usize::try_from(offset).map_or(bytes.len(), |offset| offset.min(bytes.len()));
        let length = (length as usize).min(bytes.len() - from);
        Ok(bytes[from..from + length].to_vec())
    }
}

impl Disk for MemoryDisk {
    fn append(&mut self, file: FileName, bytes: &[u8]) -> Result<(), DiskError> {
        let mut fault = self.next_fault();
        let mut written = match fault {
            None => bytes.len(),
            Some(DiskFault::Fail) => 0,
            Some(DiskFault::Full | DiskFault::PowerOff) => bytes.len() / 2,
        };
        if let Some(capacity) = self.capacity {
            let room = capacity.saturating_sub(self.used_bytes());
            let room = usize::try_from(room).unwrap_or(usize::MAX);
            if room < written {
                (written, fault) = (room, Some(DiskFault::Full));
            }
        }
        if fault != Some(DiskFault::Fail) {
            let inode = self.names.get(&file).copied();
            let inode = inode.unwrap_or_else(|| self.link(file));
            let inode = self.inodes.entry(inode).or_default();
            inode.bytes.extend_from_slice(&bytes[..written]);
        }
        match fault {
            None => Ok(()),
            Some(fault) => Err(DiskError::file(Operation::Append, file, cause(fault))),
        }
    }

    fn rename(&mut self, from: FileName, to: FileName) -> Result<(), DiskError> {
        if let Some(fault) = self.next_fault() {
            return Err(DiskError::file(Operation::Rename, from, cause(fault)));
        }
        let inode = self.inode(Operation::Rename, from)?;
        self.change_name(NameChange::Rename(from, to, inode));
        Ok(())
    }

    fn remove(&mut self, file: FileName) -> Result<(), DiskError> {
        if let Some(fault) = self.next_fault() {
            return Err(DiskError::file(Operation::Remove, file, cause(fault)));
        }
        self.inode(Operation::Remove, file)?;
        self.change_name(NameChange::Unlink(file));
        Ok(())
    }

    fn sync(&mut self, file: FileName, length: u64) -> Result<(), DiskError> {
        let fault = self.next_fault();
        let powered_off = self.powered_off.get();
        let inode = self.inode(Operation::Sync, file)?;
        let inode = self.inodes.entry(inode).or_default();
        match fault {
            None => {
                inode.sync(length);
                Ok(())
            }
            Some(fault) => {
                if !powered_off {
                    inode.fail_sync();
                }
                Err(DiskError::file(Operation::Sync, file, cause(fault)))
            }
        }
    }

    fn sync_dir(&mut self, folder: Folder) -> Result<(), DiskError> {
        if let Some(fault) = self.next_fault() {
            return Err(DiskError::folder(Operation::Sync, folder, cause(fault)));
        }
        let changes = core::mem::take(&mut self.name_changes);
        for change in changes {
            if change.folder() == folder {
                change.apply(&mut self.durable_names);
            } else {
                self.name_changes.push(change);
            }
        }
        self.free_unnamed();
        Ok(())
    }
}
