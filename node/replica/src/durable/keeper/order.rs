//! What a keeper is ordered to do, and what it says about it.

use metatopia_consensus::{Decision, Record, RecordPosition};
use metatopia_store::{
    AppendError, Cause, DiskError, OpenStoreError, PatchError, ReadError, ReadSnapshotError,
    RecoverError, ScanError, Snapshot, SyncError,
};
use metatopia_types::Height;

use super::{ForgetError, Forgetting};
use crate::{Gaps, Reader, RecordsError, SNAPSHOT_BYTES_MAX};

/// What the disk should do, in order.
#[derive(Debug)]
pub enum Order {
    /// Append a record.
    Append {
        /// The tag of the record.
        tag: Option<u64>,
        /// The bytes of the record.
        payload: Vec<u8>,
    },
    /// Make everything before durable, and report this place.
    Sync(RecordPosition),
    /// Read decided turns.
    Load {
        /// The reader that wants the turns.
        reader: Reader,
        /// The first height.
        from: Height,
        /// At most so many.
        count: u32,
    },
    /// Store a snapshot.
    Snapshot(Snapshot),
    /// Store a snapshot in the place of all others, append a record, and read back what the log
    /// holds after that state. On a full disk that is done once there is room.
    Replace {
        /// The state to store.
        snapshot: Snapshot,
        /// The record to append with it.
        note: Option<Vec<u8>>,
    },
    /// Put turns back that are missing: the last of one of the [`Gaps`] that were told of last,
    /// ascending.
    PutBack(Vec<Decision>),
    /// Drop words that were forgotten, as far as nobody needs them; comes after a snapshot.
    Forget(Box<Forgetting>),
    /// See whether a full disk has room again.
    Retry,
}

/// What the disk did.
#[derive(Debug)]
pub enum Done {
    /// Durable up to here.
    Synced(RecordPosition),
    /// Decided turns that were read from the log.
    Loaded {
        /// The reader that wants the turns.
        reader: Reader,
        /// Ascending, without a gap.
        decisions: Vec<Decision>,
        /// The oldest turn that is still there.
        oldest: Height,
        /// Without decisions: where the log goes on behind turns that are missing, if it does.
        next: Option<Height>,
    },
    /// The log can be written, or not any more.
    Health(Health),
    /// Everything is there to open another replica, or not.
    Replaced(Result<Restart, String>),
    /// These turns are missing now; comes after every [`Order::PutBack`] too.
    Gaps(Gaps),
    /// Something that changes nothing for the replica, for people.
    News(News),
}

/// What people may want to know of a disk.
#[derive(Debug, thiserror::Error)]
pub enum News {
    /// A snapshot of this height is there.
    #[error("the snapshot of height {0} is stored")]
    Stored(Height),
    /// A snapshot is not. The log is whole without it, and the next one is tried.
    #[error("a snapshot is not stored: {0}")]
    NotStored(ReadSnapshotError),
    /// No start could read it. Stored, it would take the place of states that can be read, and of the
    /// log before them.
    #[error(
        "the state after turn {height} has {bytes} bytes, and at most {SNAPSHOT_BYTES_MAX} can be \
         read back: it is not stored, and the log is kept"
    )]
    TooLong {
        /// After this turn.
        height: Height,
        /// The length of the snapshot in bytes.
        bytes: usize,
    },
    /// Where the part of the log begins that is kept cannot be found.
    #[error("the log is not pruned: {0}")]
    NotPruned(ReadError),
    /// How far the log goes is not noted.
    #[error("the log is not marked: {0}")]
    NotMarked(DiskError),
    /// Decided turns cannot be read.
    #[error("turns from height {from} on cannot be read: {error}")]
    Unread {
        /// The first that was asked for.
        from: Height,
        /// The error behind it.
        error: ReadError,
    },
    /// Turns are back that were missing.
    #[error("turns {first} to {last} are put back")]
    PutBack {
        /// The first of the heights.
        first: Height,
        /// The last of the heights.
        last: Height,
    },
    /// Words have left the log.
    #[error("words that were to be forgotten have left {turns} turns of the log")]
    Forgotten {
        /// The number of turns that they left.
        turns: usize,
    },
    /// Words have not; they are looked for again.
    #[error("words that were to be forgotten are still in the log: {0}")]
    NotForgotten(ForgetError),
    /// Turns are not; they are asked for again.
    #[error("turns are not put back: {0}")]
    NotPutBack(PatchError),
    /// Which turn is the oldest is not known.
    #[error("the log's beginning cannot be read: {0}")]
    NoBeginning(ReadError),
}

/// What a replica is opened with, besides a state.
#[derive(Debug)]
pub struct Restart {
    /// Turns decided up to that state, ascending.
    pub past: Vec<Decision>,
    /// Why some of them are missing, if they cannot be read.
    pub unread: Option<ReadError>,
    /// The log's records after it.
    pub records: Vec<Record>,
}

/// How the log stands with its disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    /// What is appended becomes durable.
    Sound,
    /// There is no room: what is appended waits in memory.
    Full,
    /// And so much waits that no more may come.
    Swamped,
    /// It failed in another way. Nothing is written until the server starts again.
    Failed(String),
}

/// How much of the past is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History {
    /// All of it.
    Whole,
    /// Turns below the older snapshot that are kept, usually [`HISTORY_TURNS`](super::HISTORY_TURNS). A
    /// client that sends an act again for as long as it is valid shall get its receipt, so there are at least
    /// as many as acts are valid for.
    Turns(u64),
}

/// Why the log was not written.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// A record was not appended.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// A sync failed.
    #[error(transparent)]
    Sync(#[from] SyncError),
    /// The log could not be opened again.
    #[error(transparent)]
    Open(#[from] OpenStoreError),
    /// There is no room.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

impl StorageError {
    pub(super) fn is_full(&self) -> bool {
        let full = |error: &DiskError| error.cause == Cause::Full;
        match self {
            Self::Append(AppendError::Disk(error))
            | Self::Sync(SyncError::Disk(error))
            | Self::Open(OpenStoreError::Recover(
                RecoverError::Disk(error) | RecoverError::Scan(ScanError::Disk(error)),
            ))
            | Self::Disk(error) => full(error),
            _ => false,
        }
    }
}

/// Why a fetched state does not take the place of what was there.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReplaceError {
    #[error("the log cannot be written")]
    Unsound,
    #[error(transparent)]
    Snapshot(#[from] ReadSnapshotError),
    #[error(transparent)]
    Records(#[from] RecordsError),
}

impl ReplaceError {
    pub(super) fn is_full(&self) -> bool {
        matches!(self, Self::Snapshot(ReadSnapshotError::Disk(error)) if error.cause == Cause::Full)
    }
}
