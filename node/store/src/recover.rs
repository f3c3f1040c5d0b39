//! Makes a log that a crash left fit to be continued.

use metatopia_types::SimId;

use crate::{
    Disk, DiskError, Folder, LogWriter, Position, ScanError, TailReport, scan::scan_known,
};

/// A log that can be continued.
#[derive(Clone, Debug)]
pub struct Recovered {
    /// Appends to it; everything in it is durable. Its index reads the records back.
    pub writer: LogWriter,
    /// The torn tail that was cut off, when there was one.
    pub tail: Option<TailReport>,
}

/// Why a log was not recovered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecoverError {
    /// The log cannot be used; nothing of it has been changed.
    #[error(transparent)]
    Scan(#[from] ScanError),
    /// The disk failed while the log was repaired; trying again is safe.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// Verifies the log of `sim`, cuts a torn tail off its last segment, and makes the rest durable. An
/// empty folder is a new log. Doing it twice changes nothing more.
///
/// # Errors
/// See [`RecoverError`]. Damage to anything that had been durable is an error, never a cut.
pub fn recover(disk: &mut dyn Disk, sim: SimId) -> Result<Recovered, RecoverError> {
    recover_known(disk, sim, None)
}

/// Like [`recover`] after a sync failed, when it is known up to where the log is durable. What a
/// file seems to hold beyond may be nowhere but in memory: it is cut.
pub(crate) fn recover_known(
    disk: &mut dyn Disk,
    sim: SimId,
    known: Option<Position>,
) -> Result<Recovered, RecoverError> {
    let scan = scan_known(disk, sim, known)?;
    for file in disk.list(Folder::Log)? {
        if file.temporary {
            disk.remove(file)?;
        }
    }
    if let Some(tail) = scan.tail {
        if tail.offset == 0 {
            disk.remove(tail.file)?;
        } else {
            disk.truncate(tail.file, tail.offset)?;
        }
    }
    let writer = LogWriter::new(sim, scan.index);
    // Also where nothing was cut: after the end of a process, as opposed to the machine, records
    // can be read that are not on the disk yet.
    if let Some(request) = writer.sync_request() {
        request.perform(disk)?;
    }
    disk.sync_dir(Folder::Log)?;
    Ok(Recovered {
        writer,
        tail: scan.tail,
    })
}
