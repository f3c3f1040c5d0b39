//! One of two histories that are compared: its decided turns, the roots that its owner came to, and the
//! states that are kept.

use std::{collections::BTreeMap, sync::Arc};

use metatopia_consensus::{Decision, Record};
use metatopia_replica::{KeptTurns, decode_patch, decode_snapshot, keeper::AGREEMENT};
use metatopia_sim::{Capsule, CapsuleError, ENGINE, World};
use metatopia_store::{
    DiskError, LogIndex, Patches, ReadDisk, ReadError, ScanError, list_snapshots, load_patch,
    load_snapshot, scan,
};
use metatopia_types::{Certificate, HeaderId, Height, Root, SimId, Turn, wire::DecodeError};

use crate::{SimStart, read_log::read_log, tools};

/// The reason why a history cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BisectSideError {
    /// The log is damaged.
    #[error(transparent)]
    Scan(#[from] ScanError),
    /// The first state of the sim is missing.
    #[error("{0}")]
    FirstState(String),
    /// A record or a patch cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A record is malformed.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The snapshots or patches cannot be listed.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The capsule holds no state.
    #[error(transparent)]
    Capsule(#[from] CapsuleError),
    /// The capsule is of another engine than this program.
    #[error("it is of engine {0}, not {ENGINE}")]
    OtherEngine(u32),
}

/// One of two histories that are compared.
pub struct BisectSide<'a> {
    /// The name by which reports call it.
    pub name: String,
    /// The sim of this side.
    pub sim: SimId,
    /// The decided turns.
    pub(super) turns: BTreeMap<Height, HeaderId>,
    /// The roots that its owner came to.
    pub(super) roots: BTreeMap<Height, Root>,
    /// The places of the kept states.
    kept: BTreeMap<Height, StateLocation>,
    source: HistorySource<'a>,
}

impl std::fmt::Debug for BisectSide<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "History {} with {} turns", self.name, self.turns.len())
    }
}

/// The place of a kept state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StateLocation {
    /// The state follows from the genesis.
    Genesis,
    /// A snapshot file holds it.
    Snapshot(Root),
    /// The capsule begins with it.
    Begin,
    /// The capsule ends with it.
    End,
}

/// The place of turns and states.
enum HistorySource<'a> {
    Log { disk: &'a dyn ReadDisk, index: Box<LogIndex>, patches: Patches, first_state: &'a World },
    Capsule(Box<Capsule>),
}

impl<'a> BisectSide<'a> {
    /// Reads the history in a server's log. The server may run meanwhile.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn log(
        name: &str,
        disk: &'a dyn ReadDisk,
        start: &'a SimStart,
    ) -> Result<Self, BisectSideError> {
        read_log(disk, || Self::log_once(name, disk, start), Result::is_ok)
    }

    fn log_once(
        name: &str,
        disk: &'a dyn ReadDisk,
        start: &'a SimStart,
    ) -> Result<Self, BisectSideError> {
        let sim = start.genesis.id();
        let index = scan(disk, sim)?.index;
        let first_state = start.first_state.as_ref();
        let first_state = first_state.map_err(|why| BisectSideError::FirstState(why.clone()))?;
        let mut turns = BTreeMap::new();
        let mut roots = BTreeMap::from([(Height(0), first_state.root())]);
        for record in index.iter(disk) {
            let record = record?;
            if record.kind != AGREEMENT {
                continue;
            }
            match Record::decode(&record.payload)? {
                Record::Decided(certificate) => {
                    turns.insert(certificate.height, certificate.header);
                }
                Record::Applied { height, root, .. } => {
                    roots.insert(height, root);
                }
                _ => {}
            }
        }
        let patches = Patches::list(disk)?;
        for range in patches.iter() {
            let bytes = load_patch(disk, range)?;
            turns.extend(decode_patch(&bytes).iter().map(|turn| (turn.height(), turn.id())));
        }
        let mut kept = BTreeMap::from([(Height(0), StateLocation::Genesis)]);
        let snapshots = list_snapshots(disk)?.into_iter();
        kept.extend(snapshots.map(|(height, root)| (height, StateLocation::Snapshot(root))));
        let source = HistorySource::Log { disk, index: Box::new(index), patches, first_state };
        Ok(Self { name: name.to_owned(), sim, turns, roots, kept, source })
    }

    /// Reads the history in a capsule.
    ///
    /// # Errors
    /// When the capsule holds no state of this engine.
    pub fn capsule(name: &str, capsule: Capsule) -> Result<Self, BisectSideError> {
        let begun = capsule.begin(&tools());
        let (genesis, world) = begun.map_err(|error| match error.other_engine() {
            Some(engine) => BisectSideError::OtherEngine(engine),
            None => error.into(),
        })?;
        if genesis.engine != ENGINE {
            return Err(BisectSideError::OtherEngine(genesis.engine));
        }
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
        let source = HistorySource::Capsule(Box::new(capsule));
        Ok(Self { name: name.to_owned(), sim: genesis.id(), turns, roots, kept, source })
    }

    /// Says whether the history goes on from the genesis, and nothing before its first turn is gone.
    pub(super) fn begins_at_genesis(&self) -> bool {
        match self.turns.keys().next() {
            Some(first) => *first == Height(1),
            // Without a turn it may be about to go on from a fetched state.
            None => self.kept().all(|kept| kept == Height(0)),
        }
    }

    /// Returns the heights whose states are kept, ascending.
    pub(super) fn kept(&self) -> impl DoubleEndedIterator<Item = Height> {
        self.kept.keys().copied()
    }

    /// Returns the kept state of a height, if it can be read.
    pub(super) fn state(&self, height: Height) -> Option<World> {
        match (self.kept.get(&height)?, &self.source) {
            (StateLocation::Genesis, HistorySource::Log { first_state, .. }) => {
                Some(World::clone(first_state))
            }
            (StateLocation::Snapshot(root), HistorySource::Log { disk, .. }) => {
                let snapshot = load_snapshot(*disk, height, *root).ok()?;
                decode_snapshot(&snapshot.bytes, &tools()).ok().map(|(_, world)| world)
            }
            (StateLocation::Begin, HistorySource::Capsule(capsule)) => {
                capsule.begin(&tools()).ok().map(|(_, world)| world)
            }
            (StateLocation::End, HistorySource::Capsule(capsule)) => {
                capsule.end(&tools()).ok()?.filter(|world| world.height() == height)
            }
            (location, _) => unreachable!("{location:?} is a place in the other kind of history"),
        }
    }

    /// Returns the decided turns from a height on, up to the first gap.
    pub(super) fn decided(&self, from: Height) -> Box<dyn Iterator<Item = Decision> + '_> {
        match &self.source {
            HistorySource::Log { disk, index, patches, .. } => {
                Box::new(KeptTurns { index, patches, disk: *disk }.from(from))
            }
            HistorySource::Capsule(capsule) => {
                let turns = capsule.turns.iter();
                let decision = |(turn, certificate): &(Turn, Certificate)| Decision {
                    turn: Arc::new(turn.clone()),
                    certificate: certificate.clone(),
                };
                let from = move |decision: &Decision| decision.height() < from;
                Box::new(turns.map(decision).skip_while(from))
            }
        }
    }

    /// Says whether it holds all the turns after `from` up to `to`.
    pub(super) fn holds(&self, from: Height, to: Height) -> bool {
        (from.0..to.0).all(|height| self.turns.contains_key(&Height(height).plus(1)))
    }
}
