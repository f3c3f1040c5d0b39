//! Makes a log that a crash left fit to be continued.

use metatopia_types::SimId;

use crate::{
    Disk, DiskError, FileName, Folder, LogIndex, LogWriter, Scan, ScanError, SyncRequest,
    TailReport, UnknownFormat,
    controls::LogControls,
    disk::read_start,
    scan::{rescan, scan_with, segment_numbers},
};

/// A log that can be continued.
#[derive(Clone, Debug)]
pub struct Recovered {
    /// Appends to it; everything in it is durable. Its index reads the records back.
    pub writer: LogWriter,
    /// The torn tail that was cut off, when there was one.
    pub tail: Option<TailReport>,
    /// Copied from [`Scan::records_lost`].
    pub records_lost: bool,
}

/// Why a log was not recovered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecoverError {
    /// The log cannot be used; nothing of it has been changed.
    #[error(transparent)]
    Scan(#[from] ScanError),
    /// Another file of the directory is for another program, so nothing was put aside.
    #[error(transparent)]
    Format(#[from] UnknownFormat),
    /// The disk failed while the log was repaired; trying again is safe.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// Verifies the log of `sim`, cuts a torn tail off its last segment, and makes the rest durable. An
/// empty folder is a new log. Doing it twice changes nothing more.
///
/// The last segment is written anew, as a whole: records may be readable that are not on the disk,
/// because a process ended before its sync, or because a sync failed, after which no second sync of
/// the same file can be believed. That takes room for a second copy of at most
/// [`SEGMENT_BYTES`](crate::limits::SEGMENT_BYTES) and one record, on the disk and in memory.
///
/// # Errors
/// See [`RecoverError`]. Damage to anything that had been durable is an error, never a cut.
pub fn recover(disk: &mut dyn Disk, sim: SimId) -> Result<Recovered, RecoverError> {
    recover_with(disk, sim, LogControls::default())
}

/// Does what [`recover`] does, in a store that breaks these rules.
///
/// # Errors
/// See [`RecoverError`].
#[cfg(feature = "controls")]
pub fn recover_broken(
    disk: &mut dyn Disk,
    sim: SimId,
    controls: LogControls,
) -> Result<Recovered, RecoverError> {
    recover_with(disk, sim, controls)
}

fn recover_with(
    disk: &mut dyn Disk,
    sim: SimId,
    controls: LogControls,
) -> Result<Recovered, RecoverError> {
    let found = scan_with(disk, sim, controls)?;
    // A killed process may have changed names that a power loss still takes back, above all the mark's:
    // what is removed and cut below rests on them.
    disk.sync_dir(Folder::Log)?;
    // What lies before the first segment was given up; its removal may not have been finished.
    let first = found.index.next_segment() - found.index.segments();
    for number in segment_numbers(disk, 0)?.into_iter().take_while(|number| *number < first) {
        disk.remove(FileName::segment(number))?;
    }
    repair_end(disk, sim, found)
}

/// Does what [`recover`] does, for a log that was open until now: `index` knows it, and only its last segment
/// can differ from that.
pub(crate) fn recover_end(
    disk: &mut dyn Disk,
    sim: SimId,
    index: LogIndex,
) -> Result<Recovered, RecoverError> {
    let found = rescan(disk, sim, index)?;
    repair_end(disk, sim, found)
}

fn repair_end(disk: &mut dyn Disk, sim: SimId, found: Scan) -> Result<Recovered, RecoverError> {
    let Scan { index, tail, records_lost } = found;
    if let Some(tail) = tail.filter(|tail| tail.offset == 0) {
        // Not even its header is whole, so the segment before is the last again.
        disk.remove(tail.file)?;
    }
    let writer = LogWriter::new(sim, index);
    if let Some(SyncRequest { file, length, .. }) = writer.sync_request() {
        let bytes = read_start(disk, file, length)?;
        disk.write_new(file, &bytes)?;
    }
    Ok(Recovered { writer, tail, records_lost })
}
