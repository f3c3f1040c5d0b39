//! Data directories with some turns of the plaza, for tests of the commands that read them.

use std::{collections::BTreeSet, fs, path::PathBuf, sync::Arc};

use metatopia_consensus::{Base, Record};
use metatopia_replica::{encode_snapshot, keeper::AGREEMENT};
use metatopia_scenarios::plaza;
use metatopia_sim::{ENGINE, Genesis, Serial, Tools, World};
use metatopia_store::{FileName, Identity, Opening, Position, Snapshot, Store, put_snapshot};
use metatopia_types::{
    Act, Certificate, Ed25519, Envelope, Header, Height, Lane, Look, Millis, NodeContact, Root,
    Round, Seq, Sign as _, SigningKey, Turn, TurnBody,
};

use crate::{cli::up::world::GENESIS, disk::RealDisk};

/// A data directory, as a server would have written it. Gone when the test is.
pub(in crate::cli) struct FixtureDirectory {
    pub(in crate::cli) dir: PathBuf,
}

impl Drop for FixtureDirectory {
    fn drop(&mut self) {
        let _absent = fs::remove_dir_all(&self.dir);
    }
}

pub(in crate::cli) const TURNS: usize = 24;

impl FixtureDirectory {
    pub(in crate::cli) fn write(name: &str, records: &[Record]) -> Self {
        Self::of(&genesis(), name, records)
    }

    pub(in crate::cli) fn of(own: &Genesis, name: &str, records: &[Record]) -> Self {
        let dir =
            std::env::temp_dir().join(format!("metatopia-kept-{name}-{}", std::process::id()));
        let _absent = fs::remove_dir_all(&dir);
        fs::create_dir(&dir).unwrap();
        fs::write(dir.join(GENESIS), own.encode()).unwrap();
        let identity = Identity { sim: own.id(), server: server_key(0).public() };
        let disk = RealDisk::open(&dir).unwrap();
        let mut store = Store::open(disk, Opening::new(identity)).unwrap().store;
        for record in records {
            let tag = match record {
                Record::Decided(certificate) => Some(certificate.height.0),
                _ => None,
            };
            store.append(AGREEMENT, tag, &record.encode()).unwrap();
            // Before anything relies on it, as a server does.
            store.sync().unwrap();
        }
        Self { dir }
    }

    pub(in crate::cli) fn segment(&self) -> PathBuf {
        self.dir.join(FileName::segment(0).to_string())
    }
}

pub(in crate::cli) fn certificate(turn: &Turn, signers: std::ops::Range<u8>) -> Certificate {
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

pub(in crate::cli) fn server_key(index: u8) -> SigningKey {
    SigningKey::from_seed([200 + index; 32])
}

pub(in crate::cli) fn genesis() -> Genesis {
    let validators = (0..4).map(|n| (server_key(n).public(), NodeContact::default())).collect();
    plaza::genesis(validators, BTreeSet::new())
}

/// The next turn of a world, as an honest proposer builds it; somebody logs in at height 3.
pub(in crate::cli) fn next_turn(world: &World, before: Option<&Turn>, lagging: Root) -> Turn {
    let (sim, height) = (world.sim(), world.height().plus(1));
    let visitor = SigningKey::from_seed([1; 32]);
    let act = Act::login("Ada".into(), Look::default());
    let (author, lane, seq, last_valid) = (visitor.public(), Lane(1), Seq(1), Height(100));
    let login = Envelope { sim, author, lane, seq, last_valid, act };
    let acts = if height == Height(3) { vec![login.sign(&visitor)] } else { Vec::new() };
    let body = TurnBody::new(acts, Vec::new()).unwrap();
    let ((acts, act_count), (blobs, blob_count)) = (body.acts_root(), body.blobs_root());
    let set = |height| world.validators(height).unwrap();
    let header = Header {
        sim,
        engine: ENGINE,
        height,
        previous: before.map(Turn::id).unwrap_or_default(),
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
    };
    Turn { header, body }
}

/// A decided turn, and the world after it.
pub(in crate::cli) struct FixtureTurn {
    pub(in crate::cli) turn: Turn,
    pub(in crate::cli) certificate: Certificate,
    pub(in crate::cli) world: World,
}

pub(in crate::cli) fn tools() -> Tools {
    Tools::new(Arc::new(Ed25519))
}

/// Turns of the plaza, each decided by three of four.
pub(in crate::cli) fn steps() -> Vec<FixtureTurn> {
    steps_of(&genesis(), |_| ())
}

/// Turns of another place, or other ones, each decided by three of four.
pub(in crate::cli) fn steps_of(genesis: &Genesis, change: impl Fn(&mut Turn)) -> Vec<FixtureTurn> {
    steps_until(genesis, TURNS, change)
}

/// So many of them.
pub(in crate::cli) fn steps_until(
    genesis: &Genesis,
    turns: usize,
    change: impl Fn(&mut Turn),
) -> Vec<FixtureTurn> {
    let mut world = World::genesis(genesis, &tools()).unwrap();
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

/// What a server writes of them, but for its notes and votes.
pub(in crate::cli) fn decided_records() -> Vec<Record> {
    let steps = steps().into_iter();
    let records = steps
        .flat_map(|step| [Record::Turn(Arc::new(step.turn)), Record::Decided(step.certificate)]);
    records.collect()
}

/// What a server writes of a step, with its own note of the root.
pub(in crate::cli) fn noted(step: &FixtureTurn, root: Root) -> [Record; 3] {
    let height = step.turn.header.height;
    [
        Record::Turn(Arc::new(step.turn.clone())),
        Record::Decided(step.certificate.clone()),
        Record::Applied { height, root, validators: None },
    ]
}

/// A data directory with a snapshot of height 8, whose log begins a little before that.
pub(in crate::cli) fn pruned_directory(
    name: &str,
    change: impl FnOnce(&mut Base),
) -> FixtureDirectory {
    let (kept, mut store) = directory(name, &decided_records(), 8, change);
    let keep = store.find(5).unwrap().unwrap().position;
    store.mark(keep).unwrap();
    assert!(store.index().begin() > Position::ZERO);
    kept
}

/// A data directory with these records, and a snapshot of this height.
pub(in crate::cli) fn directory(
    name: &str,
    records: &[Record],
    height: usize,
    change: impl FnOnce(&mut Base),
) -> (FixtureDirectory, Store<RealDisk>) {
    let steps = steps();
    let kept = FixtureDirectory::write(name, &[]);
    let mut base = base(&steps, height);
    change(&mut base);
    let identity = Identity { sim: genesis().id(), server: server_key(0).public() };
    let opening = Opening { segment_bytes: 1_500, ..Opening::new(identity) };
    let mut store = Store::open(RealDisk::open(&kept.dir).unwrap(), opening).unwrap().store;
    for record in records {
        let tag = match record {
            Record::Decided(certificate) => Some(certificate.height.0),
            _ => None,
        };
        store.append(AGREEMENT, tag, &record.encode()).unwrap();
    }
    store.sync().unwrap();
    put_snapshot(store.disk_mut(), &snapshot(&steps, height, &base)).unwrap();
    (kept, store)
}

/// Where a server would go on after the step of this height.
pub(in crate::cli) fn base(steps: &[FixtureTurn], height: usize) -> Base {
    let (before, at) = (&steps[height - 2], &steps[height - 1]);
    let (world, header) = (&at.world, &at.turn.header);
    let height = Height(height as u64);
    let set = |ahead| world.validators(height.plus(ahead)).unwrap().clone();
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

/// What it keeps of the state there.
pub(in crate::cli) fn snapshot(steps: &[FixtureTurn], height: usize, base: &Base) -> Snapshot {
    let world = &steps[height - 1].world;
    let (root, bytes) = (world.root(), encode_snapshot(base, world));
    Snapshot { height: Height(height as u64), root, bytes }
}
