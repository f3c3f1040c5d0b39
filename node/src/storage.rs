//! The thread that owns the disk: appends, syncs, snapshots, and reading old turns back.
//!
//! A disk that is full is waited for: what is appended meanwhile is kept in memory, nothing is said
//! to be durable, and the log goes on where it was once there is room. After any other failure
//! nothing is written any more: whether a disk kept what it refused to confirm cannot be known.
//!
//! After each snapshot the log is marked, and what lies far below the older snapshot is removed,
//! unless the server is an archive.

use std::{collections::VecDeque, io, thread};

use metatopia_consensus::{Decision, Position, Record};
use metatopia_replica::{
    RECALL_HEIGHTS, RECORDS_BACK_HEIGHTS, Reader, RecordsError, decisions, find_decisions,
    payloads_after, recall_from, records_after,
};
use metatopia_store::{
    self as store, AppendError, Cause, Disk, DiskError, OpenError, ReadError, RecoverError,
    ScanError, Snapshot, SnapshotError, Store, SyncError, limits::SNAPSHOTS_KEPT, list_snapshots,
    put_only_snapshot, put_snapshot,
};
use metatopia_types::Height;
use tokio::sync::mpsc;

/// The kind byte of agreement's records in the log; the only kind there is.
pub const AGREEMENT: u8 = 1;

/// Orders that may wait: a second of a busy sim's records.
pub const ORDERS_MAX: usize = 4_096;

/// Turns that are kept below the older snapshot: an hour of 20 turns a second, some 200 MiB of a busy
/// sim. Servers that were away for so long catch up turn by turn.
pub const HISTORY_TURNS: u64 = 72_000;

const _: () = assert!(HISTORY_TURNS >= RECALL_HEIGHTS, "clients get the receipts of their acts");

/// Bytes of records that may wait for room: 20 minutes of a busy sim. Then no more turns are decided
/// here until there is room.
pub const BACKLOG_BYTES_MAX: usize = 64 << 20;

/// Room that must be left when the log goes on, so that it does not stop at once again.
const ROOM_BYTES: u64 = 256 << 10;

/// What the disk should do, in order.
#[derive(Debug)]
pub enum Order {
    /// Append a record.
    Append {
        /// Its tag.
        tag: Option<u64>,
        /// Its bytes.
        payload: Vec<u8>,
    },
    /// Make everything before durable, and report this place.
    Sync(Position),
    /// Read decided turns.
    Load {
        /// For whom.
        reader: Reader,
        /// The first height.
        from: Height,
        /// At most so many.
        count: u32,
    },
    /// Store a snapshot.
    Snapshot(Snapshot),
    /// Store a snapshot in the place of all others, append a record, and read back what the log
    /// holds after that state.
    Replace {
        /// The state.
        snapshot: Snapshot,
        /// The record.
        note: Option<Vec<u8>>,
    },
    /// See whether a full disk has room again.
    Retry,
}

/// What the disk did.
#[derive(Debug)]
pub enum Done {
    /// Durable up to here.
    Synced(Position),
    /// Decided turns.
    Loaded {
        /// For whom.
        reader: Reader,
        /// Ascending, without a gap.
        decisions: Vec<Decision>,
        /// The oldest turn that is still there.
        oldest: Height,
    },
    /// The log can be written, or not any more.
    Health(Health),
    /// Everything is there to open another replica, or not.
    Replaced(Result<Restart, String>),
}

/// What a replica is opened with, besides a state.
#[derive(Debug)]
pub struct Restart {
    /// Turns decided up to that state, ascending.
    pub past: Vec<Decision>,
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
    /// So many turns below the older snapshot, at least [`RECALL_HEIGHTS`].
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
    Open(#[from] OpenError),
    /// There is no room.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// Why a fetched state does not take the place of what was there.
#[derive(Debug, thiserror::Error)]
enum ReplaceError {
    #[error("the log cannot be written")]
    Unsound,
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    #[error(transparent)]
    Records(#[from] RecordsError),
}

impl StorageError {
    fn is_full(&self) -> bool {
        let full = |error: &DiskError| error.cause == Cause::Full;
        match self {
            Self::Append(AppendError::Disk(error))
            | Self::Sync(SyncError::Disk(error))
            | Self::Open(OpenError::Recover(
                RecoverError::Disk(error) | RecoverError::Scan(ScanError::Disk(error)),
            ))
            | Self::Disk(error) => full(error),
            _ => false,
        }
    }
}

/// Starts the thread. It ends when the orders end, after doing all of them.
///
/// # Errors
/// When no thread can be started.
pub fn start<D: Disk + Send + 'static>(
    store: Store<D>,
    history: History,
    mut orders: mpsc::Receiver<Order>,
    done: mpsc::Sender<Done>,
) -> io::Result<thread::JoinHandle<()>> {
    let mut keeper = Keeper::new(store, history);
    thread::Builder::new().name("storage".into()).spawn(move || {
        let mut waiting = Vec::new();
        while let Some(first) = orders.blocking_recv() {
            waiting.push(first);
            while let Ok(more) = orders.try_recv() {
                waiting.push(more);
            }
            keeper.work(waiting.drain(..), &mut |what| {
                let _receiver_gone = done.blocking_send(what);
            });
        }
        keeper.close();
    })
}

/// A record on its way to the disk.
#[derive(Debug)]
struct Unsynced {
    tag: Option<u64>,
    payload: Vec<u8>,
    /// Where it ends in the log, once writing it was tried.
    end: Option<store::Position>,
}

/// Does what it is ordered, as far as the disk does.
#[derive(Debug)]
struct Keeper<D> {
    store: Store<D>,
    history: History,
    health: Health,
    /// What is not durable yet: it is written again if the disk failed on it.
    unsynced: VecDeque<Unsynced>,
    unsynced_bytes: usize,
    /// The place to report with the next sync.
    wanted: Option<Position>,
    oldest: Height,
}

impl<D: Disk> Keeper<D> {
    fn new(store: Store<D>, history: History) -> Self {
        let mut keeper = Self {
            store,
            history,
            health: Health::Sound,
            unsynced: VecDeque::new(),
            unsynced_bytes: 0,
            wanted: None,
            oldest: Height(1),
        };
        keeper.look_for_oldest();
        keeper
    }

    /// Does all these orders. However many syncs are among them, the disk syncs once: each of them
    /// asks for no more than that everything before it is durable.
    fn work(&mut self, orders: impl Iterator<Item = Order>, tell: &mut dyn FnMut(Done)) {
        let before = self.health.clone();
        let mut later = Vec::new();
        for order in orders {
            match order {
                Order::Append { tag, payload } => self.append(tag, payload),
                Order::Sync(position) => self.wanted = Some(position),
                Order::Load { .. } | Order::Snapshot(_) | Order::Replace { .. } | Order::Retry => {
                    later.push(order)
                }
            }
        }
        if self.wanted.is_some() {
            self.sync();
        }
        self.report(tell);
        for order in later {
            match order {
                Order::Load { reader, from, count } => {
                    let (decisions, oldest) = (self.load(from, count), self.oldest);
                    tell(Done::Loaded { reader, decisions, oldest });
                }
                Order::Snapshot(snapshot) => self.snapshot(&snapshot),
                Order::Replace { snapshot, note } => {
                    let replaced = self.replace(&snapshot, note);
                    tell(Done::Replaced(replaced.map_err(|error| error.to_string())));
                }
                Order::Retry => self.retry(),
                Order::Append { .. } | Order::Sync(_) => {}
            }
        }
        self.report(tell);
        if self.health != before {
            tell(Done::Health(self.health.clone()));
        }
    }

    fn append(&mut self, tag: Option<u64>, payload: Vec<u8>) {
        if matches!(self.health, Health::Failed(_)) {
            return;
        }
        self.unsynced_bytes = self.unsynced_bytes.saturating_add(payload.len());
        let mut record = Unsynced { tag, payload, end: None };
        let written = match self.health {
            Health::Sound => write(&mut self.store, &mut record),
            _ => Ok(()),
        };
        self.unsynced.push_back(record);
        self.check(written);
        if self.health == Health::Full && self.unsynced_bytes > BACKLOG_BYTES_MAX {
            self.health = Health::Swamped;
        }
    }

    fn sync(&mut self) {
        if self.health == Health::Sound {
            let synced = self.store.sync().map_err(StorageError::from);
            if self.check(synced).is_some() {
                self.settle();
            }
        }
    }

    fn report(&mut self, tell: &mut dyn FnMut(Done)) {
        if self.health == Health::Sound
            && self.unsynced.is_empty()
            && let Some(position) = self.wanted.take()
        {
            tell(Done::Synced(position));
        }
    }

    /// All is durable.
    fn settle(&mut self) {
        self.unsynced.clear();
        self.unsynced_bytes = 0;
    }

    /// Takes note of a failure.
    fn check<T>(&mut self, done: Result<T, impl Into<StorageError>>) -> Option<T> {
        let error = match done {
            Ok(done) => return Some(done),
            Err(error) => error.into(),
        };
        if error.is_full() {
            if self.health == Health::Sound {
                tracing::error!(%error, "no room for the log: no votes until there is");
                self.health = Health::Full;
            }
        } else {
            tracing::error!(%error, "the log cannot be written: no votes until a restart");
            self.health = Health::Failed(error.to_string());
            self.settle();
            self.wanted = None;
        }
        None
    }

    /// Goes on with the log if there is room again.
    fn retry(&mut self) {
        if !matches!(self.health, Health::Full | Health::Swamped) {
            return;
        }
        if self.go_on().is_some() {
            self.settle();
            self.health = Health::Sound;
            tracing::info!("there is room for the log again");
        }
    }

    fn go_on(&mut self) -> Option<()> {
        // The last segment is written anew, and then what waits.
        let segment = self.store.begin_sync().map_or(0, |request| request.length);
        let waiting = self.unsynced_bytes.saturating_add(64 * self.unsynced.len()) as u64;
        let room = self.store.probe(segment.saturating_add(waiting).saturating_add(ROOM_BYTES));
        self.check(room)?;
        let reopened = self.store.reopen();
        self.check(reopened)?;
        let there = self.store.end();
        let mut unsynced = std::mem::take(&mut self.unsynced);
        let missing = unsynced.iter_mut().filter(|record| record.end.is_none_or(|end| end > there));
        let written = { missing }.try_for_each(|record| write(&mut self.store, record));
        self.unsynced = unsynced;
        self.check(written)?;
        let synced = self.store.sync();
        self.check(synced).map(drop)
    }

    fn load(&self, from: Height, count: u32) -> Vec<Decision> {
        let records = records_from(&self.store, from);
        let found = records.map(|records| find_decisions(records, from, count));
        found.unwrap_or_else(|error| {
            tracing::warn!(%from, %error, "old turns cannot be read");
            Vec::new()
        })
    }

    fn snapshot(&mut self, snapshot: &Snapshot) {
        if self.health != Health::Sound {
            return;
        }
        match put_snapshot(self.store.disk_mut(), snapshot) {
            Ok(()) => tracing::info!(height = %snapshot.height, "snapshot stored"),
            // The log is whole without it: go on, and try again at the next one.
            Err(error) => return tracing::warn!(%error, "snapshot not stored"),
        }
        let keep = self.keep_from().unwrap_or_else(|error| {
            tracing::warn!(%error, "the log is not pruned");
            store::Position::ZERO
        });
        self.mark(keep);
        self.look_for_oldest();
    }

    /// Goes on from a state that was fetched. What was to be reported to the replica before concerns
    /// nobody any more.
    fn replace(
        &mut self,
        snapshot: &Snapshot,
        note: Option<Vec<u8>>,
    ) -> Result<Restart, ReplaceError> {
        if self.health != Health::Sound {
            return Err(ReplaceError::Unsound);
        }
        self.wanted = None;
        put_only_snapshot(self.store.disk_mut(), snapshot)?;
        if let Some(note) = note {
            self.append(None, note);
        }
        self.sync();
        if self.health != Health::Sound {
            return Err(ReplaceError::Unsound);
        }
        Ok(read_back(&self.store, snapshot.height)?)
    }

    /// Where the part of the log begins that is kept.
    fn keep_from(&self) -> Result<store::Position, ReadError> {
        let History::Turns(turns) = self.history else {
            return Ok(store::Position::ZERO);
        };
        let snapshots = list_snapshots(self.store.disk())?;
        let older = snapshots.get(SNAPSHOTS_KEPT - 1).map(|(height, _)| *height);
        let back = turns.max(RECALL_HEIGHTS).saturating_add(RECORDS_BACK_HEIGHTS);
        let Some(from) = older.and_then(|height| height.minus(back)) else {
            return Ok(store::Position::ZERO);
        };
        let found = self.store.find(from.0)?;
        Ok(found.map_or(store::Position::ZERO, |record| record.position))
    }

    /// Notes how far the log goes, and gives up what lies before `keep`.
    fn mark(&mut self, keep: store::Position) {
        match self.store.mark(keep) {
            Ok(()) => self.settle(),
            Err(store::MarkError::Sync(error)) => {
                self.check(Err::<(), _>(error));
            }
            Err(store::MarkError::Disk(error)) => {
                tracing::warn!(%error, "the log is not marked");
            }
        }
    }

    fn look_for_oldest(&mut self) {
        let index = self.store.index();
        let first = match index.is_pruned() {
            true => index.tagged_from(self.store.disk(), 0).next(),
            false => return,
        };
        match first {
            Some(Ok(record)) => {
                let decided = Height(record.tag.unwrap_or_default());
                self.oldest = decided.plus(RECORDS_BACK_HEIGHTS + 1);
            }
            Some(Err(error)) => tracing::warn!(%error, "the log's beginning cannot be read"),
            None => {}
        }
    }

    /// The server stops: nothing may be lost that a later start could miss.
    fn close(&mut self) {
        if self.health == Health::Sound {
            self.mark(store::Position::ZERO);
        }
    }
}

fn write<D: Disk>(store: &mut Store<D>, record: &mut Unsynced) -> Result<(), StorageError> {
    let appended = store.append(AGREEMENT, record.tag, &record.payload);
    // Also if it failed: all of it may have reached the disk.
    record.end = Some(store.end());
    Ok(appended.map(drop)?)
}

/// The decided turns up to `base` that clients may still ask for.
///
/// # Errors
/// When the place of the first cannot be found.
pub fn decisions_up_to<D: Disk>(
    store: &Store<D>,
    base: Height,
) -> Result<impl Iterator<Item = Decision> + '_, ReadError> {
    let from = recall_from(base);
    let records = records_from(store, from)?;
    Ok(decisions(records, from).take_while(move |decision| decision.height() <= base))
}

/// What a replica is opened with that begins with the state after `base`.
///
/// # Errors
/// When the log cannot be read.
pub fn read_back<D: Disk>(store: &Store<D>, base: Height) -> Result<Restart, RecordsError> {
    let past = decisions_up_to(store, base)?.collect();
    Ok(Restart { past, records: records_after(store.index(), store.disk(), base)? })
}

/// The records from a little before the decision of `height` on, for reading turns back. Reading
/// stops at the first record that cannot be read.
fn records_from<D: Disk>(
    store: &Store<D>,
    height: Height,
) -> Result<impl Iterator<Item = Record> + '_, ReadError> {
    Ok(payloads_after(store.index(), store.disk(), height)?
        .map_while(|payload| payload.inspect_err(|error| tracing::error!(%error, "log")).ok())
        .filter_map(|payload| Record::decode(&payload).ok()))
}

#[cfg(test)]
mod tests;
