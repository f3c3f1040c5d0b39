//! Makes a past without waiting for it: it writes the data directories of four servers as if they
//! had run for hours with no player. The turns are applied and signed like any others.

use std::{fs, path::Path, sync::Arc};

use metatopia_consensus::{Base, Record, RecordPosition};
use metatopia_replica::{
    SNAPSHOT_TURNS, encode_snapshot,
    keeper::{Done, HISTORY_TURNS, History, Order},
};
use metatopia_sim::{ENGINE, Genesis, Serial, Tools, World};
use metatopia_store::{Identity, Opening, Snapshot, Store};
use metatopia_types::{
    Certificate, Ed25519, Header, HeaderId, Height, Millis, Root, Round, Sign, SigningKey, Turn,
    TurnBody, ValidatorSet, Vote, VoteKind,
    limits::{ROOT_LAG, SET_LAG},
};
use tokio::sync::mpsc;

use crate::{
    cli::{
        Failure,
        console::Console,
        up::world::{self, GENESIS},
    },
    clock::SystemClock,
    disk::RealDisk,
    disk_thread::{self, ORDERS_MAX},
    keys,
};

/// The time between two of these turns, in milliseconds.
const TURN_MS: u64 = 50;

/// The number of turns between two notes of progress.
const TOLD: u64 = 20_000;

/// A server's disk, written by the same kind of thread as a running server's.
struct DiskThread {
    orders: mpsc::Sender<Order>,
    thread: std::thread::JoinHandle<()>,
    done: std::thread::JoinHandle<()>,
}

/// The chain of turns that is written so far.
struct ChainBuilder {
    world: World,
    set: ValidatorSet,
    signers: Vec<SigningKey>,
    previous: HeaderId,
    time: Millis,
    /// The roots after the last turns, the newest last.
    roots: Vec<Root>,
}

/// Writes a past of this many turns for all servers of a sim that never ran.
pub(super) fn write(
    world: &world::LocalWorld,
    turns: u64,
    console: Console,
) -> Result<(), Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::failed(format!("a past: {error}"));
    let folder = &world.servers()[0].path;
    let bytes = fs::read(folder.join(GENESIS)).map_err(|error| failed(&error))?;
    let genesis = Genesis::decode(&bytes).map_err(|error| failed(&error))?;
    let mut signers = Vec::new();
    for seat in world.servers() {
        signers.push(keys::load(&seat.path.join("vote.key"))?);
    }
    let mut chain =
        ChainBuilder::begin(&genesis, signers, turns).map_err(|error| failed(&error))?;
    let mut disks = Vec::new();
    for seat in world.servers() {
        let identity = Identity { sim: genesis.id(), server: seat.key };
        disks.push(DiskThread::open(&seat.path, identity).map_err(|error| failed(&error))?);
    }
    for n in 1..=turns {
        let (height, records) = chain.next();
        let snapshot = n.is_multiple_of(SNAPSHOT_TURNS).then(|| chain.snapshot());
        for disk in &disks {
            disk.write(height, &records, snapshot.as_ref()).map_err(|error| failed(&error))?;
        }
        if n.is_multiple_of(TOLD) {
            console.note(&format!("{n} of {turns} turns are written"));
        }
    }
    disks.into_iter().try_for_each(DiskThread::close).map_err(|error| failed(&error))
}

impl ChainBuilder {
    fn begin(
        genesis: &Genesis,
        signers: Vec<SigningKey>,
        turns: u64,
    ) -> Result<Self, metatopia_sim::GenesisError> {
        let world = World::genesis(genesis, &Tools::new(Arc::new(Ed25519)))?;
        let set = world.validators(Height(1));
        let set = set.expect("a world at genesis knows its first validators").clone();
        let now = SystemClock::default().now().wall;
        // The past ends a minute ago.
        let time = Millis(now.0.saturating_sub(turns * TURN_MS + 60_000));
        let roots = vec![world.root()];
        Ok(Self { world, set, signers, previous: HeaderId::BEFORE_FIRST, time, roots })
    }

    /// Returns the next height and the records that the log holds of its turn.
    fn next(&mut self) -> (Height, [Record; 3]) {
        let height = self.world.height().plus(1);
        self.time = self.time.plus(TURN_MS);
        let lagging = self.roots.len().saturating_sub(ROOT_LAG as usize);
        let header = Header {
            sim: self.world.sim(),
            engine: ENGINE,
            height,
            previous: self.previous,
            proposer: self.set.proposer(height, Round(0)),
            round: Round(0),
            time: self.time,
            root: self.roots[lagging],
            validators: self.set.id(),
            next_validators: self.set.id(),
            ..Header::unstated()
        };
        let turn = Turn::of(header, TurnBody::default());
        let root = self.world.apply(&turn, &Serial).root;
        self.roots.push(root);
        if self.roots.len() > ROOT_LAG as usize {
            self.roots.remove(0);
        }
        self.previous = turn.id();
        let certificate = self.certify(&turn);
        let applied = Record::Applied { height, root, validators: None };
        (height, [Record::Turn(Arc::new(turn)), Record::Decided(certificate), applied])
    }

    fn certify(&self, turn: &Turn) -> Certificate {
        let (height, round, header) = (turn.header.height, Round(0), turn.id());
        let quorum = self.signers.len() * 2 / 3 + 1;
        let signatures = self.signers.iter().take(quorum).map(|key| {
            let (kind, voter) = (VoteKind::Precommit, key.public());
            let vote = Vote { kind, height, round, header: Some(header), voter };
            (voter, vote.sign(turn.header.sim, key).signature)
        });
        let mut signatures: Vec<_> = signatures.collect();
        signatures.sort_by_key(|(voter, _)| *voter);
        Certificate { height, round, header, signatures }
    }

    fn snapshot(&self) -> Snapshot {
        let newest = self.roots.len() - 1;
        let base = Base {
            height: self.world.height(),
            header: self.previous,
            time: self.time,
            roots: [self.roots[newest - 1], self.roots[newest]],
            sets: [(); SET_LAG as usize].map(|()| self.set.clone()),
            links: Vec::new(),
            voice: true,
        };
        let bytes = encode_snapshot(&base, &self.world);
        Snapshot { height: base.height, root: self.roots[newest], bytes }
    }
}

impl DiskThread {
    fn open(path: &Path, identity: Identity) -> Result<Self, Box<dyn std::error::Error>> {
        let opened = Store::open(RealDisk::open(path)?, Opening::new(identity))?;
        let (orders, inbox) = mpsc::channel(ORDERS_MAX);
        let (outbox, mut done) = mpsc::channel(ORDERS_MAX);
        let thread =
            disk_thread::start(opened.store, History::Turns(HISTORY_TURNS), inbox, outbox)?;
        let done = std::thread::spawn(move || {
            while let Some(what) = done.blocking_recv() {
                if let Done::Health(health) = what {
                    tracing::warn!(?health, "a disk of a past");
                }
            }
        });
        let voice = Order::Append { tag: None, payload: Record::Voice.encode() };
        orders.blocking_send(voice)?;
        Ok(Self { orders, thread, done })
    }

    fn write(
        &self,
        height: Height,
        records: &[Record],
        snapshot: Option<&Snapshot>,
    ) -> Result<(), mpsc::error::SendError<Order>> {
        for record in records {
            let tag = matches!(record, Record::Decided(_)).then_some(height.0);
            self.orders.blocking_send(Order::Append { tag, payload: record.encode() })?;
        }
        if let Some(snapshot) = snapshot {
            self.orders.blocking_send(Order::Sync(RecordPosition(height.0)))?;
            self.orders.blocking_send(Order::Snapshot(snapshot.clone()))?;
        }
        Ok(())
    }

    /// Closes the disk. Everything is written when this returns.
    fn close(self) -> Result<(), &'static str> {
        drop(self.orders);
        let ended = self.thread.join().and(self.done.join());
        ended.map_err(|_| "the thread of a disk panicked")
    }
}
