//! One of two histories that are compared: what was decided there, what its owner came to, and which
//! of its states are still there to be looked at.

use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

use metatopia_audit::read_log;
use metatopia_consensus::{Decision, Record};
use metatopia_replica::{KeptTurns, decode_patch, decode_snapshot, keeper::AGREEMENT};
use metatopia_sim::{Capsule, ENGINE, Genesis, Tools, World};
use metatopia_store::{LogIndex, Patches, list_snapshots, load_patch, load_snapshot, scan};
use metatopia_types::{Ed25519, HeaderId, Height, Root, SimId};

use crate::{
    cli::{
        failure::Failure,
        genesis_file::read_genesis,
        sources::{SourceKind, only_directory},
        up::world::GENESIS,
    },
    disk::DataDirectory,
    engine::OtherEngine,
    first_state::first_state,
};

/// See the module.
pub(super) struct Side {
    /// What it is called on the command line.
    pub(super) name: String,
    pub(super) sim: SimId,
    /// The decided turns.
    pub(super) turns: BTreeMap<Height, HeaderId>,
    /// The roots that its owner came to.
    pub(super) roots: BTreeMap<Height, Root>,
    /// The heights whose states are kept.
    kept: BTreeMap<Height, StateLocation>,
    place: HistorySource,
}

/// Where a state is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StateLocation {
    /// It follows from the genesis.
    Genesis,
    /// In a snapshot file.
    Snapshot(Root),
    /// At the beginning of the capsule.
    Begin,
    /// At its end.
    End,
}

/// Where turns and states are.
enum HistorySource {
    Log { disk: DataDirectory, index: Box<LogIndex>, patches: Patches, beginning: Box<World> },
    Capsule(Box<Capsule>),
}

pub(in crate::cli) fn tools() -> Tools {
    Tools::new(Arc::new(Ed25519))
}

impl Side {
    /// Opens a data directory or a capsule, and reads what was decided and noted there.
    pub(super) fn open(path: &Path, genesis: Option<&Path>) -> Result<Self, Failure> {
        let name = path.display().to_string();
        match SourceKind::at(path)? {
            SourceKind::Directory => {
                let dir = only_directory(path)?;
                let disk = DataDirectory::open(&dir);
                let disk = disk.map_err(|error| Failure::failed(error.to_string()))?;
                read_log(&disk, || Self::directory(&name, disk.clone(), genesis), Result::is_ok)
            }
            SourceKind::Capsule => {
                let bytes = fs::read(path)
                    .map_err(|error| Failure::failed(format!("cannot read {name}: {error}")))?;
                let capsule = Capsule::decode(&bytes)
                    .map_err(|error| Failure::unverified(format!("{name}: {error}")))?;
                Self::capsule(name, capsule)
            }
        }
    }

    fn directory(name: &str, disk: DataDirectory, genesis: Option<&Path>) -> Result<Self, Failure> {
        let wrong = |what: String| Failure::unverified(format!("{name}: {what}"));
        let own = disk.path().join(GENESIS);
        let file = genesis.unwrap_or(&own);
        let genesis = read_genesis(file)?;
        let sim = genesis.id();
        let index = scan(&disk, sim).map_err(|error| wrong(error.to_string()))?.index;
        let beginning =
            first_state(&genesis, file, &tools()).map_err(|error| wrong(error.to_string()))?;
        let mut turns = BTreeMap::new();
        let mut roots = BTreeMap::from([(Height(0), beginning.root())]);
        for record in index.iter(&disk) {
            let record = record.map_err(|error| wrong(error.to_string()))?;
            if record.kind != AGREEMENT {
                continue;
            }
            match Record::decode(&record.payload).map_err(|error| wrong(error.to_string()))? {
                Record::Decided(certificate) => {
                    turns.insert(certificate.height, certificate.header);
                }
                Record::Applied { height, root, .. } => {
                    roots.insert(height, root);
                }
                _ => {}
            }
        }
        let patches = Patches::list(&disk).map_err(|error| wrong(error.to_string()))?;
        for range in patches.iter() {
            let bytes = load_patch(&disk, range).map_err(|error| wrong(error.to_string()))?;
            turns.extend(decode_patch(&bytes).iter().map(|turn| (turn.height(), turn.id())));
        }
        let mut kept = BTreeMap::from([(Height(0), StateLocation::Genesis)]);
        let snapshots = list_snapshots(&disk).map_err(|error| wrong(error.to_string()))?;
        kept.extend(
            snapshots.into_iter().map(|(height, root)| (height, StateLocation::Snapshot(root))),
        );
        let beginning = Box::new(beginning);
        let place = HistorySource::Log { disk, index: Box::new(index), patches, beginning };
        Ok(Self { name: name.to_owned(), sim, turns, roots, kept, place })
    }

    fn capsule(name: String, capsule: Capsule) -> Result<Self, Failure> {
        let wrong = |what: String| Failure::unverified(format!("{name}: {what}"));
        // It says itself that it is no state of another engine.
        let (genesis, world) = capsule.begin(&tools()).map_err(|error| wrong(error.to_string()))?;
        is_of_this_engine(&name, &genesis)?;
        let begin = world.height();
        let numbered = (begin.0..).map(Height);
        let roots = [capsule.root].into_iter().chain(capsule.roots.iter().copied());
        let roots: BTreeMap<Height, Root> = numbered.zip(roots).collect();
        let turns = capsule.turns.iter();
        let turns = turns.map(|(turn, _)| (turn.header.height, turn.id())).collect();
        let mut kept = BTreeMap::from([(begin, StateLocation::Begin)]);
        if capsule.end.is_some()
            && let Some(last) = roots.keys().next_back()
        {
            kept.insert(*last, StateLocation::End);
        }
        let place = HistorySource::Capsule(Box::new(capsule));
        Ok(Self { name, sim: genesis.id(), turns, roots, kept, place })
    }

    /// Does its history go on from the genesis, with nothing before its first turn gone?
    pub(super) fn begins_at_genesis(&self) -> bool {
        match self.turns.keys().next() {
            Some(first) => *first == Height(1),
            // It may be about to go on from a state that it fetched.
            None => self.kept().all(|kept| kept == Height(0)),
        }
    }

    /// The heights whose states are kept, ascending.
    pub(super) fn kept(&self) -> impl DoubleEndedIterator<Item = Height> {
        self.kept.keys().copied()
    }

    /// The state that is kept of a height, if it is whole.
    pub(super) fn state(&self, height: Height) -> Option<World> {
        match (self.kept.get(&height)?, &self.place) {
            (StateLocation::Genesis, HistorySource::Log { beginning, .. }) => {
                Some(World::clone(beginning))
            }
            (StateLocation::Snapshot(root), HistorySource::Log { disk, .. }) => {
                let snapshot = load_snapshot(disk, height, *root).ok()?;
                decode_snapshot(&snapshot.bytes, &tools()).ok().map(|(_, world)| world)
            }
            (StateLocation::Begin, HistorySource::Capsule(capsule)) => {
                capsule.begin(&tools()).ok().map(|(_, world)| world)
            }
            (StateLocation::End, HistorySource::Capsule(capsule)) => {
                capsule.end(&tools()).ok()?.filter(|world| world.height() == height)
            }
            _ => None,
        }
    }

    /// The decided turns from a height on, as far as there is no gap.
    pub(super) fn decided(&self, from: Height) -> Box<dyn Iterator<Item = Decision> + '_> {
        match &self.place {
            HistorySource::Log { disk, index, patches, .. } => {
                Box::new(KeptTurns { index, patches, disk }.from(from))
            }
            HistorySource::Capsule(capsule) => {
                let turns = capsule.turns.iter();
                let decision = |(turn, certificate): &(_, _)| Decision {
                    turn: Arc::new(metatopia_types::Turn::clone(turn)),
                    certificate: metatopia_types::Certificate::clone(certificate),
                };
                let from = move |decision: &Decision| decision.height() < from;
                Box::new(turns.map(decision).skip_while(from))
            }
        }
    }

    /// Does it hold all the turns after `from` up to `to`?
    pub(super) fn holds(&self, from: Height, to: Height) -> bool {
        (from.0..to.0).all(|height| self.turns.contains_key(&Height(height).plus(1)))
    }
}

fn is_of_this_engine(name: &str, genesis: &Genesis) -> Result<(), Failure> {
    if genesis.engine == ENGINE {
        return Ok(());
    }
    Err(OtherEngine::new(name.to_owned(), genesis.engine, None).into())
}
