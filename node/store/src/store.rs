//! The log of one server on its disk.

use crate::{
    Disk, DiskError, FileName, Folder, FrameError, Identity, IdentityError, LogIndex, LogWriter,
    Patch, PatchError, Patches, Position, ReadError, RecoverError, Recovered, StoredRecord,
    SyncRequest, TailReport, Write, claim_identity,
    limits::{READ_BYTES, SEGMENT_BYTES},
    mark::Mark,
    recover,
    recover::recover_end,
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
    /// The opening of a store with segments of [`SEGMENT_BYTES`].
    #[must_use]
    pub const fn new(identity: Identity) -> Self {
        Self { identity, segment_bytes: SEGMENT_BYTES }
    }
}

/// An opened data directory.
#[derive(Clone, Debug)]
pub struct OpenedStore<D> {
    /// The store that holds the log.
    pub store: Store<D>,
    /// Whether the directory was empty before.
    pub first_start: bool,
    /// What was cut off the log.
    pub tail: Option<TailReport>,
    /// Records that had been durable were lost, so whoever wrote them cannot rely on knowing what it
    /// wrote. So it is told again at every opening, until [`Store::acknowledge_loss`].
    pub records_lost: bool,
}

/// Why a data directory was not opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenStoreError {
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

/// Why the log was not marked. It is as it was, but may be durable further.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MarkError {
    /// The log could not be made durable.
    #[error(transparent)]
    Sync(#[from] SyncError),
    /// The mark was not written, or what it gives up not removed; the log can be used.
    #[error(transparent)]
    Disk(#[from] DiskError),
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
    patches: Patches,
    synced: Position,
    failed: bool,
    records_lost: bool,
}

impl<D> Store<D> {
    /// The same log by another handle of its disk; meanwhile perhaps by none.
    #[must_use]
    pub fn on<E>(self, disk: E) -> Store<E> {
        let Self { opening, writer, patches, synced, failed, records_lost, .. } = self;
        Store { disk, opening, writer, patches, synced, failed, records_lost }
    }
}

impl<D: Disk> Store<D> {
    /// Opens a data directory: claims it at the first start, checks whose it is at later ones, and
    /// recovers the log.
    ///
    /// # Errors
    /// See [`OpenStoreError`]. A disk that shall outlive an error is passed as `&mut disk`.
    pub fn open(mut disk: D, opening: Opening) -> Result<OpenedStore<D>, OpenStoreError> {
        let first_start = claim_identity(&mut disk, &opening.identity)?;
        // The newest snapshot may have got its name just before the last process ended. What a caller
        // puts aside of the log, and what it says from now on, rests on that.
        disk.sync_dir(Folder::Snapshots).map_err(RecoverError::Disk)?;
        let recovered = recover(&mut disk, opening.identity.sim)?;
        remove_temporaries(&mut disk).map_err(RecoverError::Disk)?;
        let patches = Patches::list(&disk).map_err(RecoverError::Disk)?;
        let synced = recovered.writer.end();
        let store = Self {
            disk,
            opening,
            writer: recovered.writer.clone().with_segment_bytes(opening.segment_bytes),
            patches,
            synced,
            failed: false,
            records_lost: recovered.records_lost,
        };
        let Recovered { tail, records_lost, .. } = recovered;
        Ok(OpenedStore { store, first_start, tail, records_lost })
    }

    /// Recovers the end of the log again, above all after a failure; returns what was cut off. All
    /// that is left is durable then, also what was not before. Takes one read of the last segment.
    ///
    /// # Errors
    /// See [`OpenStoreError`]; a store that had failed stays so, and this may be tried again.
    pub fn reopen(&mut self) -> Result<Option<TailReport>, OpenStoreError> {
        let Opening { identity, segment_bytes } = self.opening;
        claim_identity(&mut self.disk, &identity)?;
        let known = self.writer.index().clone();
        let recovered = recover_end(&mut self.disk, identity.sim, known)?;
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

    /// Returns what a sync that begins now will make durable; `None` while the log has no file.
    #[must_use]
    pub fn begin_sync(&self) -> Option<SyncRequest> {
        self.writer.sync_request()
    }

    /// Performs a sync that was begun, perhaps a while ago. Returns up to where the log is durable.
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

    /// Makes the log durable and notes how far it goes: from now on a log that ends before this is damaged, not torn.
    ///
    /// # Errors
    /// See [`MarkError`].
    pub fn mark(&mut self) -> Result<(), MarkError> {
        self.prune_before(Position::ZERO)
    }

    /// Marks the log, see [`Self::mark`], and then removes the segments that lie wholly before `keep`, for good.
    ///
    /// # Errors
    /// See [`MarkError`].
    pub fn prune_before(&mut self, keep: Position) -> Result<(), MarkError> {
        self.sync()?;
        let index = self.writer.index();
        let (first, start) = (index.start_before(Position::ZERO), index.start_before(keep));
        let mark = Mark {
            sim: self.opening.identity.sim,
            start,
            end: index.end(),
            tip: index.tip(),
            records_lost: self.records_lost,
        };
        mark.write(&mut self.disk)?;
        self.writer.forget_before(start);
        for number in first.segment..start.segment {
            self.disk.remove(FileName::segment(number))?;
        }
        Ok(())
    }

    /// Notes that the log itself says now that records were lost, so that the loss need not be told of again.
    ///
    /// # Errors
    /// See [`MarkError`]: then it will be.
    pub fn acknowledge_loss(&mut self) -> Result<(), MarkError> {
        self.records_lost = false;
        let marked = self.mark();
        self.records_lost = marked.is_err();
        marked
    }

    /// Puts records back that the log lacks, durably. They belong to tags that no other patch holds.
    ///
    /// # Errors
    /// See [`PatchError`]; the patch is not there then, or will be after a crash.
    pub fn put_patch(&mut self, patch: &Patch) -> Result<(), PatchError> {
        self.patches.put(&mut self.disk, patch)
    }

    /// Removes the patch that begins with this tag: it is damaged, or nobody needs it any more.
    ///
    /// # Errors
    /// When the disk fails. It counts as removed, but may be back at the next start.
    pub fn drop_patch(&mut self, from: u64) -> Result<(), DiskError> {
        self.patches.remove(&mut self.disk, from)
    }

    /// Returns the records that were put back.
    #[must_use]
    pub const fn patches(&self) -> &Patches {
        &self.patches
    }

    /// Checks that there is room for so many bytes more: writes them to the disk and removes them again.
    ///
    /// # Errors
    /// What the disk says; [`Cause::Full`](crate::Cause::Full) when there is no room.
    pub fn probe(&mut self, bytes: u64) -> Result<(), DiskError> {
        let file = FileName::MARK.temporary();
        let piece = vec![0; READ_BYTES];
        let mut left = bytes;
        let mut written = Ok(());
        while left > 0 && written.is_ok() {
            let next = left.min(READ_BYTES as u64);
            written = self.disk.append(file, &piece[..next as usize]);
            left -= next;
        }
        let written = written.and_then(|()| self.disk.sync(file, bytes));
        // Whatever there is of it must go, also if it could not be written.
        let removed = self.disk.remove(file);
        written.and(removed)
    }

    pub(crate) fn fail(&mut self) {
        self.failed = true;
        // The index may be ahead of the disk now.
        self.writer.hide_from(self.synced);
    }

    /// Returns where the next record will begin.
    #[must_use]
    pub fn end(&self) -> Position {
        self.writer.end()
    }

    /// Returns the position before which everything is durable.
    #[must_use]
    pub fn synced(&self) -> Position {
        self.synced
    }

    /// Returns whether the disk failed, so that the store must be reopened.
    #[must_use]
    pub fn must_reopen(&self) -> bool {
        self.failed
    }

    /// Returns the index of the records, to read more than one with the [`disk`](Self::disk).
    #[must_use]
    pub fn index(&self) -> &LogIndex {
        self.writer.index()
    }

    /// The record that begins at `position`.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn read_at(&self, position: Position) -> Result<StoredRecord, ReadError> {
        self.index().read_at(&self.disk, position)
    }

    /// The record with this tag, when there is one.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn find(&self, tag: u64) -> Result<Option<StoredRecord>, ReadError> {
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
