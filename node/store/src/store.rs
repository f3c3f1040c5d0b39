//! The log of one server on its disk.

use crate::{
    Disk, DiskError, FrameError, Identity, IdentityError, LogIndex, LogWriter, Position, ReadError,
    Record, RecoverError, SyncRequest, TailReport, claim_identity, limits::SEGMENT_BYTES,
    recover::recover_known,
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
        Self {
            identity,
            segment_bytes: SEGMENT_BYTES,
        }
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
    /// The disk failed. What was not durable before is lost, and the store must be reopened.
    #[error("{0}; the log must be reopened")]
    Disk(DiskError),
    /// The disk failed before. The store must be reopened.
    #[error("the log must be reopened after a disk error")]
    MustReopen,
}

/// The log of one server on its disk: appends, syncs, reads back.
///
/// After any failed write or sync it refuses both until it is reopened: whether bytes that a sync
/// failed on are on the disk cannot be found out, and a second sync may claim it wrongly. Reading
/// goes on.
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
    /// See [`OpenError`].
    pub fn open(disk: D, opening: Opening) -> Result<Opened<D>, OpenError> {
        Self::open_known(disk, opening, None)
    }

    /// Opens it again, also after a failure. Records that were not known to be durable by then may
    /// be gone; after a failure they are.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn reopen(self) -> Result<Opened<D>, OpenError> {
        let known = self.failed.then_some(self.synced);
        Self::open_known(self.disk, self.opening, known)
    }

    fn open_known(
        mut disk: D,
        opening: Opening,
        known: Option<Position>,
    ) -> Result<Opened<D>, OpenError> {
        let first_start = claim_identity(&mut disk, &opening.identity)?;
        let recovered = recover_known(&mut disk, opening.identity.sim, known)?;
        let synced = recovered.writer.end();
        let store = Self {
            disk,
            opening,
            writer: recovered.writer.with_segment_bytes(opening.segment_bytes),
            synced,
            failed: false,
        };
        Ok(Opened {
            store,
            first_start,
            tail: recovered.tail,
        })
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
        match write.perform(&mut self.disk) {
            Ok(()) => {
                if write.new_segment() {
                    self.synced = write.position;
                }
                Ok(write.end)
            }
            Err(error) => {
                self.failed = true;
                Err(AppendError::Disk(error))
            }
        }
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
            self.failed = true;
            self.cut_unsynced();
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

    /// Takes what a failed sync left in doubt out of the file, so that also a next process does not
    /// believe it. [`Store::reopen`] does the same, and says when it cannot.
    fn cut_unsynced(&mut self) {
        if let Some((file, length)) = self.writer.index().locate(self.synced) {
            drop(self.disk.truncate(file, length));
        }
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
