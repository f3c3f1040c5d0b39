//! Opening a log: damaged parts are put aside, and a replica is started with the rest.

use metatopia_consensus::{Base, OpenAgreementError, Record};
use metatopia_sim::{ENGINE, StateRestoreError, Tools, World};
use metatopia_store::{
    Disk, FileKind, FileName, LogIndex, MarkError, OpenStoreError as StoreError, OpenedStore,
    Opening, Position, Quarantine, ReadDisk, ReadError, RecoverError, ScanError, Store, TailReport,
    list_snapshots, load_snapshot, newest_snapshot, quarantine,
};
use metatopia_types::{Height, Now, Root};

use super::{AGREEMENT, Restart, StorageError, read_back};
use crate::{Config, RECORDS_BACK_HEIGHTS, RecordsError, Replica, SnapshotError, decode_snapshot};

/// A log that was opened, whatever had befallen it.
#[derive(Debug)]
pub struct Log<D> {
    /// The log on its disk.
    pub store: Store<D>,
    /// What was cut off it.
    pub tail: Option<TailReport>,
    /// What was damaged of it, and put aside.
    pub aside: Option<Quarantine>,
    /// Why the loss of records is noted once more at the next start.
    pub unmarked: Option<MarkError>,
}

/// Opens a log. What is damaged of it is put aside, and if records are lost that way, so that the
/// server does not know what it signed, its log says so from now on.
///
/// # Errors
/// When it is not this server's log, or the disk fails.
pub fn open_log<D: Disk>(mut disk: D, opening: Opening) -> Result<Log<D>, StorageError> {
    let open = |disk: &mut D| {
        let OpenedStore { store, first_start, tail, records_lost } = Store::open(disk, opening)?;
        Ok(OpenedStore { store: store.on(()), first_start, tail, records_lost })
    };
    let damaged = |error: &StoreError| {
        let StoreError::Recover(RecoverError::Scan(fault)) = error else {
            return false;
        };
        matches!(fault, ScanError::Damaged(_) | ScanError::Missing(_))
    };
    let (opened, aside) = match open(&mut disk) {
        Err(error) if damaged(&error) => {
            let aside = quarantine(&mut disk, opening.identity.sim, &suffices);
            (open(&mut disk), aside.map_err(StoreError::Recover)?)
        }
        opened => (opened, None),
    };
    let OpenedStore { store, tail, records_lost, .. } = opened?;
    let mut log = Log { store: store.on(disk), tail, aside, unmarked: None };
    if records_lost {
        note(&mut log.store, &Record::Silence)?;
        // Noted twice is as good as once.
        log.unmarked = log.store.acknowledge_loss().err();
    }
    Ok(log)
}

/// Returns whether a server can start from its newest snapshot and this log.
fn suffices(index: &LogIndex, disk: &dyn ReadDisk) -> bool {
    let newest = newest_snapshot(disk).ok().and_then(|newest| newest.snapshot);
    let Some(before) = newest.and_then(|s| s.height.minus(RECORDS_BACK_HEIGHTS)) else {
        return !index.is_pruned();
    };
    matches!(index.find(disk, before.0), Ok(Some(_)))
}

/// Lets a server sign whose key is new: its log says so, durably, before the key counts as used. A
/// log that has begun stays as it is.
///
/// # Errors
/// When the log cannot be written.
pub fn begin_log<D: Disk>(store: &mut Store<D>) -> Result<(), StorageError> {
    match store.end() {
        Position::ZERO => note(store, &Record::Voice),
        _ => Ok(()),
    }
}

fn note<D: Disk>(store: &mut Store<D>, record: &Record) -> Result<(), StorageError> {
    store.append(AGREEMENT, None, &record.encode())?;
    store.sync()?;
    Ok(())
}

/// Why a snapshot is not started from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PassedOver {
    /// It is damaged, or holds no state.
    #[error("{0}")]
    Unusable(String),
    /// It is whole, and its state is of another engine: it is for another program.
    #[error("{file} holds a state of engine {found}; this program runs engine {ENGINE}")]
    OtherEngine {
        /// The name of the snapshot.
        file: FileName,
        /// The engine that the state names.
        found: u32,
    },
}

/// Loads the state of a snapshot.
fn load_state(
    disk: &dyn ReadDisk,
    (height, root): (Height, Root),
    tools: &Tools,
) -> Result<(Base, World), PassedOver> {
    let unusable = |error: String| PassedOver::Unusable(error);
    let snapshot =
        load_snapshot(disk, height, root).map_err(|error| unusable(error.to_string()))?;
    decode_snapshot(&snapshot.bytes, tools).map_err(|error| match error {
        SnapshotError::World(StateRestoreError::OtherEngine(found)) => {
            let file = FileName::new(FileKind::Snapshot(height, root));
            PassedOver::OtherEngine { file, found }
        }
        error => unusable(format!("{error}, in that of height {height}")),
    })
}

/// Returns the state of the newest snapshot that can be used, and why newer ones cannot.
#[must_use]
pub fn newest_state(
    disk: &dyn ReadDisk,
    tools: &Tools,
) -> (Option<(Base, World)>, Vec<PassedOver>) {
    let stored = match list_snapshots(disk) {
        Ok(stored) => stored,
        Err(error) => return (None, vec![PassedOver::Unusable(error.to_string())]),
    };
    let mut passed_over = Vec::new();
    for snapshot in stored {
        let state = load_state(disk, snapshot, tools);
        match state {
            Ok(state) => return (Some(state), passed_over),
            Err(why) => passed_over.push(why),
        }
    }
    (None, passed_over)
}

/// Why there is no state to go on from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoStart {
    /// The log begins after what there is to start from.
    #[error("no snapshot is whole, and the log begins at height {oldest}, after height {base}")]
    LateLog {
        /// The height that could be started from.
        base: Height,
        /// The first height in the log.
        oldest: Height,
    },
    /// Words of a turn were forgotten that would have to be applied again.
    #[error("no snapshot is whole, and words of turn {last} were forgotten, after height {base}")]
    Forgotten {
        /// The height that could be started from.
        base: Height,
        /// The last turn of which words were forgotten.
        last: Height,
    },
    /// What the log holds does not follow from what there is to start from.
    #[error("no snapshot is whole that the log goes on from: {0}")]
    OtherLog(OpenAgreementError),
}

impl NoStart {
    /// Returns the least height of a state from which this log can continue, see
    /// [`Replica::stateless`].
    #[must_use]
    pub fn least(&self, index: &LogIndex) -> Height {
        Height(match self {
            Self::LateLog { oldest, .. } => oldest.0.saturating_sub(1),
            Self::Forgotten { last, .. } => last.0,
            Self::OtherLog(_) => index.last_tagged().map_or(0, |(tag, _)| tag),
        })
    }
}

/// Why no replica is opened.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// There is no state to go on from; others may have one.
    #[error(transparent)]
    NoStart(#[from] NoStart),
    /// The log cannot be read.
    #[error(transparent)]
    Records(#[from] RecordsError),
}

impl From<ReadError> for StartError {
    fn from(error: ReadError) -> Self {
        Self::Records(error.into())
    }
}

/// Opens a replica with a state and what the log holds after it. Tells why turns of the past are
/// missing, if they cannot be read.
///
/// # Errors
/// See [`StartError`].
pub fn open_replica<D: Disk>(
    store: &Store<D>,
    config: Config,
    (base, world): (Base, World),
    now: Now,
) -> Result<(Replica, Option<ReadError>), StartError> {
    let next = base.height.plus(1);
    let first = store.index().tagged_from(store.disk(), next.0).next().transpose()?;
    if let Some(oldest) = first.and_then(|record| record.tag).map(Height)
        && oldest > next
    {
        return Err(NoStart::LateLog { base: base.height, oldest }.into());
    }
    let Restart { past, unread, records } = read_back(store, base.height)?;
    let holed = records.iter().rev().find_map(|record| match record {
        Record::Turn(turn) if !turn.body.is_whole() => Some(turn.header.height),
        _ => None,
    });
    if let Some(last) = holed {
        return Err(NoStart::Forgotten { base: base.height, last }.into());
    }
    let replica = Replica::open(config, base, world, past, records, now);
    Ok((replica.map_err(NoStart::OtherLog)?, unread))
}
