//! The thread that owns the disk: appends, syncs, snapshots, and reading old turns back.

use std::{collections::VecDeque, io, thread};

use metatopia_consensus::{Decision, Position, Record};
use metatopia_replica::{Reader, decisions, find_decisions, payloads_after, recall_from};
use metatopia_store::{AppendError, ReadError, Snapshot, Store, SyncError, put_snapshot};
use metatopia_types::Height;
use tokio::sync::mpsc;

use crate::disk::RealDisk;

/// The kind byte of agreement's records in the log; the only kind there is.
pub const AGREEMENT: u8 = 1;

/// Orders that may wait: a second of a busy sim's records.
pub const ORDERS_MAX: usize = 4_096;

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
    },
    /// The disk failed. Nothing more is written; the server must stop.
    Failed(StorageError),
}

/// Why the disk failed.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// A record was not appended.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// A sync failed.
    #[error(transparent)]
    Sync(#[from] SyncError),
}

/// Starts the thread. It ends when the orders end, after doing all of them, or at the first failure.
///
/// # Errors
/// When no thread can be started.
pub fn start(
    store: Store<RealDisk>,
    orders: mpsc::Receiver<Order>,
    done: mpsc::Sender<Done>,
) -> io::Result<thread::JoinHandle<()>> {
    thread::Builder::new().name("storage".into()).spawn(move || run(store, orders, &done))
}

fn run(mut store: Store<RealDisk>, mut orders: mpsc::Receiver<Order>, done: &mpsc::Sender<Done>) {
    let mut waiting = VecDeque::new();
    while let Some(first) = orders.blocking_recv() {
        waiting.push_back(first);
        while let Ok(more) = orders.try_recv() {
            waiting.push_back(more);
        }
        if let Err(error) = work(&mut store, &mut waiting, done) {
            let _receiver_gone = done.blocking_send(Done::Failed(error));
            return;
        }
    }
}

/// Does all orders that wait. However many syncs are among them, the disk syncs once: each of them
/// asks for no more than that everything before it is durable.
fn work(
    store: &mut Store<RealDisk>,
    waiting: &mut VecDeque<Order>,
    done: &mpsc::Sender<Done>,
) -> Result<(), StorageError> {
    let (mut sync, mut later) = (None, Vec::new());
    for order in waiting.drain(..) {
        match order {
            Order::Append { tag, payload } => {
                store.append(AGREEMENT, tag, &payload)?;
            }
            Order::Sync(position) => sync = Some(position),
            Order::Load { .. } | Order::Snapshot(_) => later.push(order),
        }
    }
    if let Some(position) = sync {
        store.sync()?;
        let _receiver_gone = done.blocking_send(Done::Synced(position));
    }
    for order in later {
        match order {
            Order::Load { reader, from, count } => {
                let decisions = load(store, from, count).unwrap_or_else(|error| {
                    tracing::warn!(%from, %error, "old turns cannot be read");
                    Vec::new()
                });
                let _receiver_gone = done.blocking_send(Done::Loaded { reader, decisions });
            }
            Order::Snapshot(snapshot) => match put_snapshot(store.disk_mut(), &snapshot) {
                Ok(()) => tracing::info!(height = %snapshot.height, "snapshot stored"),
                // The log is whole without it: go on, and try again at the next one.
                Err(error) => tracing::warn!(%error, "snapshot not stored"),
            },
            Order::Append { .. } | Order::Sync(_) => {}
        }
    }
    Ok(())
}

fn load(store: &Store<RealDisk>, from: Height, count: u32) -> Result<Vec<Decision>, ReadError> {
    Ok(find_decisions(records_after(store, from)?, from, count))
}

/// The decided turns up to `base` that clients may still ask for.
///
/// # Errors
/// When the place of the first cannot be found.
pub fn decisions_up_to(
    store: &Store<RealDisk>,
    base: Height,
) -> Result<impl Iterator<Item = Decision> + '_, ReadError> {
    let from = recall_from(base);
    let records = records_after(store, from)?;
    Ok(decisions(records, from).take_while(move |decision| decision.height() <= base))
}

/// The records from a little before the decision of `height` on, for reading turns back. Reading
/// stops at the first record that cannot be read.
fn records_after(
    store: &Store<RealDisk>,
    height: Height,
) -> Result<impl Iterator<Item = Record> + '_, ReadError> {
    Ok(payloads_after(store.index(), store.disk(), height)?
        .map_while(|payload| payload.inspect_err(|error| tracing::error!(%error, "log")).ok())
        .filter_map(|payload| Record::decode(&payload).ok()))
}
