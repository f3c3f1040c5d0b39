//! The disks of servers: what a start makes of them, what was damaged there, and what was given up.

use std::collections::BTreeSet;

use metatopia_oracle::Law;
use metatopia_store::memory::MemoryDisk;
use metatopia_store::{FileKind, FileName};

use super::super::node::ReplicaServer;
use super::ReplicaServers;
use crate::watched::WatchedDisk;

/// Damage to the disk of a server that has not come through a start since.
#[derive(Debug)]
pub(super) struct DiskDamage {
    file: FileName,
    what: String,
    /// Did a start notice it that was cut off?
    noticed: bool,
}

/// What there is of a log, as far as a start may change it.
pub(super) struct LogFileSet {
    segments: BTreeSet<u64>,
    aside: BTreeSet<FileName>,
    mark: Option<Vec<u8>>,
}

impl LogFileSet {
    pub(super) fn of(disk: &MemoryDisk) -> Self {
        let mark = disk.bytes(FileName::MARK).map(<[u8]>::to_vec);
        let mut shelf = Self { segments: BTreeSet::new(), aside: BTreeSet::new(), mark };
        for file in disk.files().into_iter().filter(|file| !file.temporary) {
            match file.kind {
                FileKind::Segment(number) => drop(shelf.segments.insert(number)),
                FileKind::Quarantined { .. } => drop(shelf.aside.insert(file)),
                _ => {}
            }
        }
        shelf
    }
}

impl ReplicaServers {
    /// Checks an honest server that started from a disk that had these files.
    pub(super) fn watch_start(
        &mut self,
        seat: usize,
        server: &ReplicaServer,
        before: &LogFileSet,
        disk: &MemoryDisk,
    ) {
        if let Some(spoiled) = server.passed_over().first()
            && !self.spoiled.contains(&seat)
        {
            self.oracle.blame(Some(seat), Law::Damage, format!("nobody did this: {spoiled}"));
        }
        if let Some(harm) = self.unaware.remove(&seat) {
            // What was to be removed anyhow nobody reads.
            if !harm.noticed && server.damage().is_none() && disk.bytes(harm.file).is_some() {
                let what = format!("{}, and it starts", harm.what);
                self.oracle.blame(Some(seat), Law::Damage, what);
            }
            return self.oracle.laws.saw_damage(seat, &WatchedDisk(disk));
        }
        if let Some(damage) = server.damage() {
            self.oracle.blame(Some(seat), Law::Damage, format!("nobody did this: {damage}"));
        }
        self.watch_given_up(seat, before, disk);
        self.oracle.laws.saw_start(seat, &WatchedDisk(disk));
    }

    /// Notes what an honest server left when it did not come through its start. What it noticed need not be
    /// there for the next start to notice.
    pub(super) fn watch_failed_start(
        &mut self,
        seat: usize,
        before: &LogFileSet,
        disk: &MemoryDisk,
    ) {
        let left = LogFileSet::of(disk);
        let put_aside = left.aside != before.aside;
        match self.unaware.get_mut(&seat) {
            // Where nothing is damaged but the mark, that is written anew.
            Some(harm) => harm.noticed |= put_aside || left.mark != before.mark,
            None if put_aside => {
                let what = "nobody did this: it puts something aside while it starts";
                self.oracle.blame(Some(seat), Law::Damage, what);
            }
            None => self.watch_given_up(seat, before, disk),
        }
    }

    /// Notes the removal of segments that an earlier life was to remove: it had died before it was done.
    fn watch_given_up(&mut self, seat: usize, before: &LogFileSet, disk: &MemoryDisk) {
        for segment in before.segments.difference(&LogFileSet::of(disk).segments) {
            self.gave_up(seat, *segment, disk);
        }
    }

    /// The disk of a server that does not run was damaged behind its back: this file, in this way.
    pub(crate) fn harm(&mut self, seat: usize, file: FileName, what: String) {
        self.harmed.insert(seat);
        self.unaware.insert(seat, DiskDamage { file, what, noticed: false });
    }

    /// Notes that the disk of a server was copied to the seat of its second machine, with all that lies
    /// there: the mark that its key is in use, and whom it let in.
    pub(crate) fn copied(&mut self, original: usize, copy: usize) {
        if self.used.contains(&original) {
            self.used.insert(copy);
        }
        if let Some(followers) = self.followers.get(&original).cloned() {
            self.followers.insert(copy, followers);
        }
    }

    /// Notes that a segment of a server's log is gone.
    pub(super) fn gave_up(&mut self, seat: usize, segment: u64, disk: &MemoryDisk) {
        self.given_up += 1;
        if self.is_honest(seat) {
            self.oracle.saw_given_up(&self.setting, seat, segment, disk);
        }
    }
}
