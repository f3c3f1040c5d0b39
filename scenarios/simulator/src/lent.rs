//! The disk of a seat while its server works at it by itself.

use std::panic::{self, AssertUnwindSafe};

use metatopia_store::memory::{self, MemoryDisk};
use metatopia_store::{
    Cause, Disk, DiskError, DiskTarget, FileKind, FileName, Folder, Operation, ReadDisk,
};

use metatopia_types::Now;

use crate::chance::Dice;
use crate::class::Class;
use crate::cluster::Cluster;
use crate::crash::{Point, StepCounts};
use crate::life::panicked;
use crate::machine::Machine as _;
use crate::world::{Simulator, SimulatorEvent};

/// What was done to a disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiskChange {
    /// Bytes at the end of a segment of the log; perhaps not all of them, if the disk failed.
    Append {
        /// The file that is written.
        file: FileName,
        /// How long it was before.
        from: usize,
        /// The bytes that are written.
        bytes: Vec<u8>,
    },
    /// A file is gone.
    Removed(FileName),
}

/// When the process dies that works at a disk.
#[derive(Debug, Clone)]
pub(crate) struct Peril {
    /// At this step for sure.
    pub(crate) point: Option<Point>,
    /// After each change with this probability, in parts per million.
    pub(crate) ppm: u32,
    pub(crate) dice: Dice,
}

/// Why a process died.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeathCause {
    /// Its point was there.
    Due,
    /// It fails by chance.
    Chance,
}

/// A disk that remembers what is done to it, and whose process may die after each step: what it does
/// then does not happen. An empty one stands where the disk is when nobody works at it.
#[derive(Debug, Default)]
pub struct LentDisk {
    pub(crate) disk: MemoryDisk,
    pub(crate) steps: StepCounts,
    pub(crate) peril: Option<Peril>,
    /// The process dies after so many steps more, of any kind.
    pub(crate) steps_left: Option<u64>,
    pub(crate) death: Option<DeathCause>,
    pub(crate) changes: Vec<DiskChange>,
    /// Did the disk refuse something?
    pub(crate) refused: bool,
}

impl LentDisk {
    /// The disk as it is.
    #[must_use]
    pub const fn disk(&self) -> &MemoryDisk {
        &self.disk
    }

    /// Returns what came of some work, if the process still lives.
    ///
    /// # Errors
    /// That it does not; or those of the work.
    pub fn outlived<T>(&self, done: Result<T, String>) -> Result<T, String> {
        match self.death {
            Some(_) => Err("the process is gone".to_owned()),
            None => done,
        }
    }

    fn alive(&self, operation: Operation, place: DiskTarget) -> Result<(), DiskError> {
        let gone = || Cause::Other("the process is gone".to_owned());
        match self.death {
            Some(_) => Err(DiskError { operation, place, cause: gone() }),
            None => Ok(()),
        }
    }

    fn step<T>(
        &mut self,
        point: fn(&mut StepCounts) -> Point,
        done: Result<T, DiskError>,
    ) -> Result<T, DiskError> {
        match &done {
            Ok(_) => {
                let point = point(&mut self.steps);
                self.die_perhaps(point);
            }
            Err(error) => self.refused |= error.cause != Cause::NotFound,
        }
        done
    }

    fn die_perhaps(&mut self, point: Point) {
        if let Some(left) = &mut self.steps_left {
            *left = left.saturating_sub(1);
            if *left == 0 {
                self.death = Some(DeathCause::Due);
            }
        }
        let Some(Peril { point: due, ppm, dice }) = &mut self.peril else {
            return;
        };
        if *due == Some(point) {
            self.death = Some(DeathCause::Due);
        } else if matches!(point, Point::Change(_)) && dice.happens(*ppm) {
            self.death = Some(DeathCause::Chance);
        }
    }
}

const fn change(steps: &mut StepCounts) -> Point {
    steps.changes += 1;
    Point::Change(steps.changes)
}

const fn sync(steps: &mut StepCounts) -> Point {
    steps.syncs += 1;
    Point::Sync(steps.syncs)
}

impl ReadDisk for LentDisk {
    fn list(&self, folder: Folder) -> Result<Vec<FileName>, DiskError> {
        self.alive(Operation::List, DiskTarget::Folder(folder))?;
        self.disk.list(folder)
    }

    fn length(&self, file: FileName) -> Result<u64, DiskError> {
        self.alive(Operation::Length, DiskTarget::File(file))?;
        self.disk.length(file)
    }

    fn read(&self, file: FileName, at: u64, length: u32) -> Result<Vec<u8>, DiskError> {
        self.alive(Operation::Read, DiskTarget::File(file))?;
        self.disk.read(file, at, length)
    }
}

impl Disk for LentDisk {
    fn append(&mut self, file: FileName, bytes: &[u8]) -> Result<(), DiskError> {
        self.alive(Operation::Append, DiskTarget::File(file))?;
        if matches!(file.kind, FileKind::Segment(_)) && !file.temporary {
            let from = self.disk.bytes(file).map_or(0, <[u8]>::len);
            self.changes.push(DiskChange::Append { file, from, bytes: bytes.to_vec() });
        }
        let done = self.disk.append(file, bytes);
        self.step(change, done)
    }

    fn rename(&mut self, from: FileName, to: FileName) -> Result<(), DiskError> {
        self.alive(Operation::Rename, DiskTarget::File(from))?;
        let done = self.disk.rename(from, to);
        self.step(change, done)
    }

    fn remove(&mut self, file: FileName) -> Result<(), DiskError> {
        self.alive(Operation::Remove, DiskTarget::File(file))?;
        let done = self.disk.remove(file);
        if done.is_ok() && !file.temporary {
            self.changes.push(DiskChange::Removed(file));
        }
        self.step(change, done)
    }

    fn sync(&mut self, file: FileName, length: u64) -> Result<(), DiskError> {
        self.alive(Operation::Sync, DiskTarget::File(file))?;
        let done = self.disk.sync(file, length);
        self.step(sync, done)
    }

    fn sync_dir(&mut self, folder: Folder) -> Result<(), DiskError> {
        self.alive(Operation::Sync, DiskTarget::Folder(folder))?;
        let done = self.disk.sync_dir(folder);
        self.step(sync, done)
    }
}

impl<C: Cluster> Simulator<C> {
    pub(crate) fn begin_work(&mut self, seat: usize) {
        self.seats[seat].at_work = true;
        self.lend(seat, |server, _, disk| server.begin_work(disk));
        let took = self.disk_dice.within(self.conditions.sync);
        let life = self.seats[seat].life;
        self.agenda.plan(self.now + took, SimulatorEvent::Work { seat, life });
    }

    pub(crate) fn end_work(&mut self, seat: usize) {
        if self.disk_dice.happens(self.conditions.sync_error_ppm) {
            let disk = &mut self.seats[seat].disk;
            disk.fail_operation(disk.operations(), memory::DiskFault::Fail);
        }
        self.lend(seat, |server, now, disk| server.end_work(now, disk));
        if self.seats[seat].server.is_none() {
            return;
        }
        self.seats[seat].at_work = false;
        if std::mem::take(&mut self.seats[seat].work_waits) {
            self.begin_work(seat);
        }
        self.drain(seat);
    }

    /// Lends a server its disk, and shows to whoever watches what it did there.
    fn lend(&mut self, seat: usize, work: impl FnOnce(&mut C::Server, Now, &mut LentDisk)) {
        let now = self.clocks[seat].read(self.now);
        let place = &mut self.seats[seat];
        let Some(server) = &mut place.server else {
            return;
        };
        let due = self.crash_point.filter(|crash| crash.seat == seat);
        let peril = Peril {
            point: due.map(|crash| crash.point),
            ppm: self.conditions.dies_after_write_ppm,
            dice: self.death_dice.clone(),
        };
        let disk = std::mem::take(&mut place.disk);
        let mut lent =
            LentDisk { disk, steps: place.steps, peril: Some(peril), ..LentDisk::default() };
        let done = panic::catch_unwind(AssertUnwindSafe(|| work(server, now, &mut lent)));
        let LentDisk { disk, steps, peril, death, changes, refused, .. } = lent;
        (place.disk, place.steps) = (disk, steps);
        self.death_dice = peril.expect("it was lent with it").dice;
        for change in changes {
            self.watch(seat, |cluster, scene| cluster.wrote(scene, &change));
        }
        if refused {
            self.note_disk_trouble(seat);
        }
        match (death, done) {
            (Some(DeathCause::Due), _) => {
                if let Some(crash) = self.crash_point.take() {
                    self.crash(seat, crash.tail, Some(crash.down));
                }
            }
            (Some(DeathCause::Chance), _) => self.die(seat, Class::CrashAtWrite),
            (None, Err(cause)) => self.halt(seat, &panicked(&*cause)),
            (None, Ok(())) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lent(point: Point) -> LentDisk {
        let peril = Peril { point: Some(point), ppm: 0, dice: Dice::new(1, "a test") };
        LentDisk { peril: Some(peril), ..LentDisk::default() }
    }

    #[test]
    fn a_process_that_dies_leaves_what_it_did_before_and_nothing_else() {
        let file = FileName::segment(0);
        let mut disk = lent(Point::Change(2));
        disk.append(file, b"first").expect("it lives");
        disk.append(file, b" second").expect("it dies right after it");
        assert_eq!(disk.death, Some(DeathCause::Due));

        assert!(disk.append(file, b" third").is_err() && disk.remove(file).is_err());
        assert!(disk.list(Folder::Log).is_err());

        assert_eq!(disk.disk.bytes(file), Some(&b"first second"[..]));
        assert_eq!((disk.changes.len(), disk.steps.changes, disk.refused), (2, 2, false));
    }

    #[test]
    fn a_snapshot_that_is_cut_off_anywhere_is_whole_or_not_there() {
        let file = FileName::segment(3);
        for syncs in 1.. {
            let mut disk = lent(Point::Sync(syncs));
            let done = disk.write_new(file, b"all of it");
            let left = disk.disk.bytes(file);
            assert!(left.is_none_or(|bytes| bytes == b"all of it"), "after {syncs}: {left:?}");
            if disk.death.is_none() {
                assert!(done.is_ok() && syncs > 2, "{syncs}");
                return;
            }
        }
    }
}
