//! What a data directory holds: opened, mended as far as that goes without others, and ready to go
//! on from.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use metatopia_consensus::{self as consensus, Base, Record};
use metatopia_replica::{Config, RECORDS_BACK_HEIGHTS, RecordsError, Replica, decode_snapshot};
use metatopia_sim::{Genesis, Tools, World};
use metatopia_store::{
    Identity, LogIndex, OpenError, Opening, Position, Quarantine, ReadDisk, RecoverError,
    ScanError, Store, TailReport, newest_snapshot, quarantine,
};
use metatopia_types::{Ed25519, Height, Millis, Now, PublicKey, SimId};

use super::ServerError;
use crate::{
    config::Settings,
    disk::RealDisk,
    founding::found,
    storage::{self, Restart, StorageError},
};

/// A data directory that a server can start with.
pub(super) struct Kept {
    pub(super) store: Store<RealDisk>,
    state: Result<(Base, World), NoStart>,
    /// What was found damaged, and where it was put.
    pub(super) damage: Option<String>,
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
    /// What the log holds does not follow from what there is to start from.
    #[error("no snapshot is whole that the log goes on from: {0}")]
    OtherLog(consensus::OpenError),
}

impl Kept {
    /// Opens the data directory, and goes back to the newest snapshot that is whole.
    pub(super) fn open(
        settings: &Settings,
        genesis: &Genesis,
        sim: SimId,
        server: PublicKey,
    ) -> Result<Self, ServerError> {
        let path = || settings.data_dir.clone();
        let Opened { mut store, records_lost, damage } =
            open_store(&settings.data_dir, Identity { sim, server })?;
        if records_lost {
            note_loss(&mut store)
                .map_err(|source| ServerError::Begin { path: path(), source: Box::new(source) })?;
        }
        let mut damages: Vec<String> = damage.into_iter().collect();
        let (base, world) = start_from(&store, genesis, settings, &mut damages)?;
        let failed =
            |source| ServerError::Log { path: settings.data_dir.clone(), source: Box::new(source) };
        let next = store.index().tagged_from(store.disk(), base.height.0.saturating_add(1)).next();
        let next = next.transpose().map_err(failed)?.and_then(|record| record.tag).map(Height);
        let state = match next {
            Some(oldest) if oldest > base.height.plus(1) => {
                Err(NoStart::LateLog { base: base.height, oldest })
            }
            _ => Ok((base, world)),
        };
        let damage = (!damages.is_empty()).then(|| damages.join("; "));
        Ok(Self { store, state, damage })
    }

    /// Lets a server sign whose key is new: its log says so, durably, before the key counts as used.
    /// A first start may fail at any later step and is no loss.
    pub(super) fn begin_log(&mut self, settings: &Settings) -> Result<(), ServerError> {
        if self.store.end() != Position::default() || mark_path(&settings.vote_key).exists() {
            return Ok(());
        }
        let appended = self.store.append(storage::AGREEMENT, None, &Record::Voice.encode());
        let begun = appended.map_err(StorageError::from).and_then(|_| Ok(self.store.sync()?));
        begun.map(drop).map_err(|source| ServerError::Begin {
            path: settings.data_dir.clone(),
            source: Box::new(source),
        })
    }

    /// Opens a replica with it; one without a state, if there is none to go on from, and others can
    /// be asked for one.
    pub(super) fn replica(
        self,
        config: Config,
        genesis: &Genesis,
        settings: &Settings,
        now: Now,
    ) -> Result<(Replica, Store<RealDisk>), ServerError> {
        let Self { store, state, .. } = self;
        let path = || settings.data_dir.clone();
        let opened = match state {
            Ok((base, world)) => {
                let Restart { past, records } = storage::read_back(&store, base.height)
                    .map_err(|source| unreadable(path(), source))?;
                let opened = Replica::open(config.clone(), base, world, past, records, now);
                opened.map_err(NoStart::OtherLog)
            }
            Err(why) => Err(why),
        };
        let why = match opened {
            Ok(replica) => return Ok((replica, store)),
            Err(why) => why,
        };
        let own = config.agreement.signer.public();
        let others = genesis.validators.keys().any(|key| *key != own);
        if !others && settings.peers.is_empty() {
            return Err(ServerError::NoStart { path: path(), source: why });
        }
        tracing::error!(%why, "this server has no state to begin with: it asks the others for one");
        let least = match why {
            NoStart::LateLog { oldest, .. } => oldest.0.saturating_sub(1),
            NoStart::OtherLog(_) => store.index().last_tagged().map_or(0, |(tag, _)| tag),
        };
        let world = beginning(genesis, settings)?;
        Ok((Replica::adrift(config, world, Height(least), now), store))
    }
}

fn unreadable(path: PathBuf, source: RecordsError) -> ServerError {
    match source {
        RecordsError::Read(source) => ServerError::Log { path, source: Box::new(source) },
        RecordsError::Decode(source) => ServerError::Record { path, source },
    }
}

/// The world before the first turn.
fn beginning(genesis: &Genesis, settings: &Settings) -> Result<World, ServerError> {
    let tools = Tools::new(Arc::new(Ed25519));
    found(genesis, &settings.genesis, &tools).map_err(|source| ServerError::Founding {
        path: settings.genesis.clone(),
        source: Box::new(source),
    })
}

fn start_from(
    store: &Store<RealDisk>,
    genesis: &Genesis,
    settings: &Settings,
    damages: &mut Vec<String>,
) -> Result<(Base, World), ServerError> {
    let tools = Tools::new(Arc::new(Ed25519));
    let mut pass_over = |error: String| {
        tracing::warn!(%error, "snapshot passed over");
        damages.push(error);
    };
    match newest_snapshot(store.disk()) {
        Ok(newest) => {
            newest.passed_over.iter().for_each(|error| pass_over(error.to_string()));
            if let Some(snapshot) = newest.snapshot {
                match decode_snapshot(&snapshot.bytes, &tools) {
                    Ok(start) => return Ok(start),
                    Err(error) => pass_over(error.to_string()),
                }
            }
        }
        Err(error) => pass_over(error.to_string()),
    }
    let world = beginning(genesis, settings)?;
    let set = world.validators(Height(1)).expect("a world at genesis knows its first validators");
    Ok((Base::genesis(Millis(0), world.root(), set), world))
}

/// A data directory that can be used.
struct Opened {
    store: Store<RealDisk>,
    records_lost: bool,
    damage: Option<String>,
}

/// Opens a data directory. What is damaged of its log is put aside.
fn open_store(path: &Path, identity: Identity) -> Result<Opened, ServerError> {
    let refused = |source| ServerError::Store { path: path.to_owned(), source: Box::new(source) };
    let open = || -> Result<_, ServerError> {
        Ok(Store::open(RealDisk::open(path)?, Opening::new(identity)))
    };
    let (opened, damage) = match open()? {
        Ok(opened) => (opened, None),
        Err(OpenError::Recover(RecoverError::Scan(
            fault @ (ScanError::Damaged(_) | ScanError::Missing(_)),
        ))) => {
            tracing::error!(%fault, "the log is damaged");
            let put_aside = quarantine(&mut RealDisk::open(path)?, identity.sim, &suffices)
                .map_err(|error| refused(error.into()))?;
            let damage = put_aside.map(|put_aside| report_damage(&put_aside));
            (open()?.map_err(refused)?, damage)
        }
        Err(error) => return Err(refused(error)),
    };
    if let Some(tail) = &opened.tail {
        report_tail(tail);
    }
    Ok(Opened { store: opened.store, records_lost: opened.records_lost, damage })
}

/// Can a server start from its newest snapshot and this log?
fn suffices(index: &LogIndex, disk: &dyn ReadDisk) -> bool {
    let newest = newest_snapshot(disk).ok().and_then(|newest| newest.snapshot);
    let Some(before) = newest.and_then(|s| s.height.minus(RECORDS_BACK_HEIGHTS)) else {
        return !index.is_pruned();
    };
    matches!(index.find(disk, before.0), Ok(Some(_)))
}

fn report_damage(done: &Quarantine) -> String {
    let files: Vec<String> = done.moved.iter().map(ToString::to_string).collect();
    let files = files.join(", ");
    let told = match (done.records_lost, done.moved.is_empty()) {
        (true, true) => format!("{}; its last records are lost", done.fault),
        (true, false) => format!("{}; the last records are lost, put aside: {files}", done.fault),
        (false, true) => done.fault.to_string(),
        (false, false) => format!("{}; history is lost, put aside: {files}", done.fault),
    };
    tracing::error!(fault = %done.fault, put_aside = %files, records_lost = done.records_lost,
        "the damaged part of the log was put aside");
    if done.records_lost {
        tracing::warn!("this server does not vote until it is past all it may have signed");
    }
    told
}

/// Records are lost, so this server does not know what it signed; its log says so from now on.
fn note_loss(store: &mut Store<RealDisk>) -> Result<(), StorageError> {
    store.append(storage::AGREEMENT, None, &Record::Silence.encode())?;
    store.sync()?;
    // Noted twice is as good as once.
    if let Err(error) = store.acknowledge_loss() {
        tracing::warn!(%error, "the log is not marked");
    }
    Ok(())
}

fn report_tail(tail: &TailReport) {
    tracing::warn!(?tail, "the log ended in a torn record, which was cut off");
}

/// Beside a vote key: says that it has signed. A key that comes without its log must not vote where
/// it may have voted before.
fn mark_path(vote_key: &Path) -> PathBuf {
    let mut name = vote_key.as_os_str().to_owned();
    name.push(".used");
    PathBuf::from(name)
}

/// Sets the mark beside a vote key, durably.
pub(super) fn mark_used(vote_key: &Path, sim: SimId) -> Result<(), ServerError> {
    let path = mark_path(vote_key);
    let write = || {
        let mut file = fs::OpenOptions::new().write(true).create_new(true).open(&path)?;
        file.write_all(format!("{sim}\n").as_bytes())?;
        file.sync_all()
    };
    match write() {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(source) => Err(ServerError::Mark { path, source }),
    }
}
