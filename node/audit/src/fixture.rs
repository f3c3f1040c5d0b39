//! A short history of the plaza with four servers, on any disk: for tests of what reads logs.

mod border;

use std::{collections::BTreeSet, ops::Range, sync::Arc};

use metatopia_consensus::{Base, Record};
use metatopia_replica::{encode_snapshot, keeper::AGREEMENT};
use metatopia_scenarios::plaza;
use metatopia_sim::{Capsule, ENGINE, Genesis, Serial, World};
use metatopia_store::{Disk, Identity, Opening, Snapshot, Store, memory::MemoryDisk, put_snapshot};
use metatopia_types::{
    Act, Certificate, Digest, Envelope, Header, HeaderId, Height, Lane, Look, Millis, NodeContact,
    Root, Round, Seq, Sign as _, SigningKey, Turn, TurnBody,
};

pub use self::border::ForkedBorder;
use crate::{SimStart, tools};

/// The number of turns of the history.
pub const TURNS: usize = 24;

/// A small size of a segment, so that short logs can be pruned.
const SEGMENT_BYTES: u64 = 1_500;

/// Returns the key that a server votes with.
#[must_use]
pub fn server_key(index: u8) -> SigningKey {
    SigningKey::from_seed([200 + index; 32])
}

/// Returns the genesis of the plaza with four servers.
#[must_use]
pub fn genesis() -> Genesis {
    let validators = (0..4).map(|n| (server_key(n).public(), NodeContact::default())).collect();
    plaza::genesis(validators, BTreeSet::new())
}

/// Returns a genesis with its first state.
#[must_use]
pub fn start_of(genesis: Genesis) -> SimStart {
    let first_state = World::genesis(&genesis, &tools()).map_err(|error| error.to_string());
    SimStart { genesis, first_state }
}

/// Returns the identity of the server that keeps the log of a sim.
#[must_use]
pub fn identity(genesis: &Genesis) -> Identity {
    Identity { sim: genesis.id(), server: server_key(0).public() }
}

/// Returns a certificate of a turn by these servers.
#[must_use]
pub fn certificate(turn: &Turn, signers: Range<u8>) -> Certificate {
    let mut certificate = Certificate {
        height: turn.header.height,
        round: Round(0),
        header: turn.id(),
        signatures: Vec::new(),
    };
    for key in signers.map(server_key) {
        let vote = certificate.vote(key.public()).sign_bytes(turn.header.sim);
        certificate.signatures.push((key.public(), key.sign(&vote)));
    }
    certificate
}

/// Returns the next turn of a world, as an honest proposer builds it. Somebody logs in at height 3.
///
/// # Panics
/// When the sim refuses an empty body.
#[must_use]
pub fn next_turn(world: &World, before: Option<&Turn>, lagging: Root) -> Turn {
    let (sim, height) = (world.sim(), world.height().plus(1));
    let visitor = SigningKey::from_seed([1; 32]);
    let act = Act::login("Ada".into(), Look::default());
    let (author, lane, seq, last_valid) = (visitor.public(), Lane(1), Seq(1), Height(100));
    let login = Envelope { sim, author, lane, seq, last_valid, act };
    let acts = if height == Height(3) { vec![login.sign(&visitor)] } else { Vec::new() };
    let body = TurnBody::new(acts, Vec::new()).expect("a body within its limits");
    let ((acts, act_count), (blobs, blob_count)) = (body.acts_root(), body.blobs_root());
    let set = |height| world.validators(height).expect("a world knows the sets to come");
    let header = Header {
        sim,
        engine: ENGINE,
        height,
        previous: before.map_or(HeaderId::BEFORE_FIRST, Turn::id),
        proposer: set(height).proposer(height, Round(0)),
        round: Round(0),
        time: Millis(1_000 + 50 * height.0),
        acts,
        act_count,
        blobs,
        blob_count,
        root: lagging,
        validators: set(height).id(),
        next_validators: set(height.plus(1)).id(),
        reserved: Digest::ZERO,
    };
    Turn { header, body }
}

/// A decided turn, and the world after it.
#[derive(Debug)]
pub struct FixtureTurn {
    /// The turn that was written.
    pub turn: Turn,
    /// Its certificate, by three of four servers.
    pub certificate: Certificate,
    /// The world after the turn.
    pub world: World,
}

/// Returns the history of the plaza.
#[must_use]
pub fn steps() -> Vec<FixtureTurn> {
    steps_of(&genesis(), |_| ())
}

/// Returns the history of another place, or one whose turns were changed before they were decided.
#[must_use]
pub fn steps_of(genesis: &Genesis, change: impl Fn(&mut Turn)) -> Vec<FixtureTurn> {
    steps_until(genesis, TURNS, change)
}

/// Returns a history of so many turns.
///
/// # Panics
/// When the sim refuses the genesis.
#[must_use]
pub fn steps_until(
    genesis: &Genesis,
    turns: usize,
    change: impl Fn(&mut Turn),
) -> Vec<FixtureTurn> {
    let mut world = World::genesis(genesis, &tools()).expect("a genesis of this engine");
    // The root after the turn before, and the one before that: headers state the older one.
    let mut roots = [world.root(); 2];
    let mut steps: Vec<FixtureTurn> = Vec::new();
    for _ in 0..turns {
        let mut turn = next_turn(&world, steps.last().map(|step| &step.turn), roots[0]);
        change(&mut turn);
        world.apply(&turn, &Serial);
        roots = [roots[1], world.root()];
        let certificate = certificate(&turn, 0..3);
        steps.push(FixtureTurn { turn, certificate, world: world.clone() });
    }
    steps
}

/// Returns the records of the history's decisions, without notes and votes.
#[must_use]
pub fn decided_records() -> Vec<Record> {
    let steps = steps().into_iter();
    let records = steps
        .flat_map(|step| [Record::Turn(Arc::new(step.turn)), Record::Decided(step.certificate)]);
    records.collect()
}

/// Returns the records of a step: its decision, and the server's note of this root.
#[must_use]
pub fn noted(step: &FixtureTurn, root: Root) -> [Record; 3] {
    let height = step.turn.header.height;
    [
        Record::Turn(Arc::new(step.turn.clone())),
        Record::Decided(step.certificate.clone()),
        Record::Applied { height, root, validators: None },
    ]
}

/// Returns the records of an honest server that took these steps.
#[must_use]
pub fn honest_records(steps: &[FixtureTurn]) -> Vec<Record> {
    steps.iter().flat_map(|step| noted(step, step.world.root())).collect()
}

/// Returns the tag that a server gives to a record.
#[must_use]
pub const fn tag(record: &Record) -> Option<u64> {
    match record {
        Record::Decided(certificate) => Some(certificate.height.0),
        _ => None,
    }
}

/// Writes the log of a server of this sim to a disk.
///
/// # Panics
/// When the disk fails.
pub fn write_log<D: Disk>(disk: D, genesis: &Genesis, records: &[Record]) -> Store<D> {
    let mut store = Store::open(disk, Opening::new(identity(genesis))).expect("a disk").store;
    for record in records {
        store.append(AGREEMENT, tag(record), &record.encode()).expect("room for a record");
        // Before anything relies on it, as a server does.
        store.sync().expect("a disk that keeps its bytes");
    }
    store
}

/// Writes a log of the plaza in small segments, with the snapshot of a height. `change` may falsify
/// the base of the snapshot.
///
/// # Panics
/// When the disk fails.
pub fn write_log_and_snapshot<D: Disk>(
    disk: D,
    records: &[Record],
    height: usize,
    change: impl FnOnce(&mut Base),
) -> Store<D> {
    let steps = steps();
    let mut base = base(&steps, height);
    change(&mut base);
    let opening = Opening { segment_bytes: SEGMENT_BYTES, ..Opening::new(identity(&genesis())) };
    let mut store = Store::open(disk, opening).expect("a disk").store;
    for record in records {
        store.append(AGREEMENT, tag(record), &record.encode()).expect("room for a record");
    }
    store.sync().expect("a disk that keeps its bytes");
    put_snapshot(store.disk_mut(), &snapshot(&steps, height, &base)).expect("room for a snapshot");
    store
}

/// Removes the segments before the decision of turn 5.
///
/// # Panics
/// When the log has no such decision.
pub fn prune<D: Disk>(store: &mut Store<D>) {
    let found = store.find(5).expect("a log that can be read").expect("turn 5 is decided");
    store.prune_before(found.position).expect("a disk that keeps its bytes");
}

/// Returns a disk in memory with a log of the plaza.
#[must_use]
pub fn memory_log(records: &[Record]) -> MemoryDisk {
    write_log(MemoryDisk::new(), &genesis(), records).into_disk()
}

/// Returns a disk in memory with a snapshot of height 8, whose log begins a little before that.
#[must_use]
pub fn pruned_memory_log(change: impl FnOnce(&mut Base)) -> MemoryDisk {
    let mut store = write_log_and_snapshot(MemoryDisk::new(), &decided_records(), 8, change);
    prune(&mut store);
    store.into_disk()
}

/// Returns the base of agreement after the step of this height.
///
/// # Panics
/// For the first step: there is none before it.
#[must_use]
pub fn base(steps: &[FixtureTurn], height: usize) -> Base {
    let (before, at) = (&steps[height - 2], &steps[height - 1]);
    let (world, header) = (&at.world, &at.turn.header);
    let height = Height(height as u64);
    let set = |ahead| world.validators(height.plus(ahead)).expect("a known set").clone();
    Base {
        height,
        header: header.id(),
        time: header.time,
        roots: [before.world.root(), world.root()],
        sets: [set(1), set(2), set(3)],
        links: Vec::new(),
        voice: true,
    }
}

/// Returns the snapshot of the state after the step of this height.
#[must_use]
pub fn snapshot(steps: &[FixtureTurn], height: usize, base: &Base) -> Snapshot {
    let world = &steps[height - 1].world;
    let (root, bytes) = (world.root(), encode_snapshot(base, world));
    Snapshot { height: Height(height as u64), root, bytes }
}

/// Returns the capsule of a writer that had these roots, from height 2 to height 9.
#[must_use]
pub fn capsule(steps: &[FixtureTurn], roots: Vec<Root>) -> Capsule {
    let base = &steps[1].world;
    let turns = steps[2..9].iter();
    Capsule {
        genesis: genesis().encode(),
        root: base.root(),
        snapshot: base.snapshot(),
        turns: turns.map(|step| (step.turn.clone(), step.certificate.clone())).collect(),
        roots,
        end: None,
    }
}
