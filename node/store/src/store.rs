//! The log of one server on its disk.

use crate::{
    Disk, DiskError, Folder, FrameError, Identity, IdentityError, LogIndex, LogWriter, Position,
    ReadError, Record, RecoverError, SyncRequest, TailReport, Write, claim_identity,
    limits::SEGMENT_BYTES, recover,
};

/// How to open a data directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// Who opens it.
    pub identity: Identity,
    /// Where segments roll, see [`LogWriter::with_segment_bytes`].
    pub segment_bytes: u64,
}

impl Opening {
    /// With segments of [`SEGMENT_BYTES`].
    #[must_use]
    pub const fn new(identity: Identity) -> Self {
        Self { identity, segment_bytes: SEGMENT_BYTES }
    }
}

/// An opened data directory.
#[derive(Clone, Debug)]
pub struct Opened<D> {
    /// Its log.
    pub store: Store<D>,
    /// Was the directory empty before?
    pub first_start: bool,
    /// What was cut off the log.
    pub tail: Option<TailReport>,
}

/// Why a data directory was not opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// It is not this server's.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// Its log cannot be continued.
    #[error(transparent)]
    Recover(#[from] RecoverError),
}

/// Why a record was not appended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// The record is not one; the log is as it was.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The disk failed. The store must be reopened.
    #[error("{0}; the log must be reopened")]
    Disk(DiskError),
    /// The disk failed before. The store must be reopened.
    #[error("the log must be reopened after a disk error")]
    MustReopen,
}

/// Why nothing more is known to be durable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SyncError {
    /// The disk failed. What was not durable before may be lost; the store must be reopened.
    #[error("{0}; the log must be reopened")]
    Disk(DiskError),
    /// The disk failed before. The store must be reopened.
    #[error("the log must be reopened after a disk error")]
    MustReopen,
}

/// The log of one server on its disk: appends, syncs, reads back.
///
/// After any failed write or sync it refuses both until it is reopened: whether bytes that a sync
/// failed on are on the disk cannot be found out, and a second sync of that file may claim it
/// wrongly. What was durable can still be read.
#[derive(Clone, Debug)]
pub struct Store<D> {
    disk: D,
    opening: Opening,
    writer: LogWriter,
    synced: Position,
    failed: bool,
}

impl<D: Disk> Store<D> {
    /// Opens a data directory: claims it at the first start, checks whose it is at later ones, and
    /// recovers the log.
    ///
    /// # Errors
    /// See [`OpenError`]. A disk that shall outlive an error is passed as `&mut disk`.
    pub fn open(mut disk: D, opening: Opening) -> Result<Opened<D>, OpenError> {
        let first_start = claim_identity(&mut disk, &opening.identity)?;
        let recovered = recover(&mut disk, opening.identity.sim)?;
        remove_temporaries(&mut disk).map_err(RecoverError::Disk)?;
        let synced = recovered.writer.end();
        let store = Self {
            disk,
            opening,
            writer: recovered.writer.with_segment_bytes(opening.segment_bytes),
            synced,
            failed: false,
        };
        Ok(Opened { store, first_start, tail: recovered.tail })
    }

    /// Recovers the log again, above all after a failure; returns what was cut off. All that is left
    /// is durable then, also what was not before.
    ///
    /// # Errors
    /// See [`OpenError`]; a store that had failed stays so, and this may be tried again.
    pub fn reopen(&mut self) -> Result<Option<TailReport>, OpenError> {
        let Opening { identity, segment_bytes } = self.opening;
        claim_identity(&mut self.disk, &identity)?;
        let recovered = recover(&mut self.disk, identity.sim)?;
        self.writer = recovered.writer.with_segment_bytes(segment_bytes);
        self.synced = self.writer.end();
        self.failed = false;
        Ok(recovered.tail)
    }

    /// Appends a record, see [`LogWriter::append`], and says where it ends: once
    /// [`Store::synced`] has got there it is durable.
    ///
    /// # Errors
    /// See [`AppendError`].
    pub fn append(
        &mut self,
        kind: u8,
        tag: Option<u64>,
        payload: &[u8],
    ) -> Result<Position, AppendError> {
        if self.failed {
            return Err(AppendError::MustReopen);
        }
        let write = self.writer.append(kind, tag, payload)?;
        match self.perform(&write) {
            Ok(()) => Ok(write.end),
            Err(error) => {
                self.fail();
                Err(AppendError::Disk(error))
            }
        }
    }

    fn perform(&mut self, write: &Write) -> Result<(), DiskError> {
        if let Some(seal) = write.seal() {
            seal.perform(&mut self.disk)?;
            self.synced = seal.end;
        }
        write.perform_sealed(&mut self.disk)
    }

    /// What a sync that begins now will make durable. `None` while the log has no file.
    #[must_use]
    pub fn begin_sync(&self) -> Option<SyncRequest> {
        self.writer.sync_request()
    }

    /// Does a sync that was begun, perhaps a while ago, and returns up to where the log is durable.
    ///
    /// # Errors
    /// See [`SyncError`].
    pub fn finish_sync(&mut self, request: &SyncRequest) -> Result<Position, SyncError> {
        if self.failed {
            return Err(SyncError::MustReopen);
        }
        if let Err(error) = request.perform(&mut self.disk) {
            self.fail();
            return Err(SyncError::Disk(error));
        }
        self.writer.mark_synced(request.end);
        self.synced = self.synced.max(request.end);
        Ok(self.synced)
    }

    /// Makes everything appended so far durable, and returns up to where that is.
    ///
    /// # Errors
    /// See [`SyncError`].
    pub fn sync(&mut self) -> Result<Position, SyncError> {
        match self.begin_sync() {
            Some(request) => self.finish_sync(&request),
            None => Ok(self.synced),
        }
    }

    fn fail(&mut self) {
        self.failed = true;
        // The index may be ahead of the disk now.
        self.writer.hide_from(self.synced);
    }

    /// Where the next record will begin.
    #[must_use]
    pub fn end(&self) -> Position {
        self.writer.end()
    }

    /// Everything before this is durable.
    #[must_use]
    pub fn synced(&self) -> Position {
        self.synced
    }

    /// Did the disk fail, so that the store must be reopened?
    #[must_use]
    pub fn must_reopen(&self) -> bool {
        self.failed
    }

    /// Where the records are, to read more than one with the [`disk`](Self::disk).
    #[must_use]
    pub fn index(&self) -> &LogIndex {
        self.writer.index()
    }

    /// The record that begins at `position`.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn read_at(&self, position: Position) -> Result<Record, ReadError> {
        self.index().read_at(&self.disk, position)
    }

    /// The record with this tag, when there is one.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn find(&self, tag: u64) -> Result<Option<Record>, ReadError> {
        self.index().find(&self.disk, tag)
    }

    /// The disk, to read snapshots and blobs.
    #[must_use]
    pub fn disk(&self) -> &D {
        &self.disk
    }

    /// The disk, to write snapshots and blobs; the log's own files are the store's.
    #[must_use]
    pub fn disk_mut(&mut self) -> &mut D {
        &mut self.disk
    }

    /// Gives the disk back; what is not synced stays so.
    #[must_use]
    pub fn into_disk(self) -> D {
        self.disk
    }
}

/// Removes what was being written when a process ended.
fn remove_temporaries(disk: &mut dyn Disk) -> Result<(), DiskError> {
    for folder in Folder::ALL {
        for file in disk.list(folder)? {
            if file.temporary {
                disk.remove(file)?;
            }
        }
    }
    Ok(())
}
