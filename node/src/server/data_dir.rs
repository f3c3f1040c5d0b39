//! The data directory of a server: it is opened, its damaged parts are put aside, and it is ready
//! for a start.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use metatopia_consensus::Base;
use metatopia_replica::{
    Config, RecordsError, Replica, base_of,
    keeper::{Log, StartError, StorageError, begin_log, newest_state, open_log, open_replica},
};
use metatopia_sim::{Genesis, Tools, World};
use metatopia_store::{Identity, Opening, Quarantine, Store, TailReport};
use metatopia_types::{Now, PublicKey, SimId};

use super::ServerError;
use crate::{
    ahead::AheadExecutor,
    atomic_file::{folder_of, sync_folder},
    config::Settings,
    disk::RealDisk,
    disk_thread, engine,
    first_state::first_state,
};

/// A data directory that a server can start with.
pub(super) struct DataDir {
    pub(super) store: Store<RealDisk>,
    state: (Base, World),
    /// The executor of the state, which looks up what was compiled ahead.
    pub(super) compiled: Arc<AheadExecutor>,
    /// The damage that was found, and where the damaged files were put.
    pub(super) damage: Option<String>,
}

impl DataDir {
    /// Opens the data directory, and reads its newest whole snapshot.
    pub(super) fn open(
        settings: &Settings,
        genesis: &Genesis,
        sim: SimId,
        server: PublicKey,
    ) -> Result<Self, ServerError> {
        let disk = RealDisk::open(&settings.data_dir)?;
        // This comes before any repair, because files of another program must stay as they are.
        engine::check_files(&settings.data_dir, &disk)?;
        let compiled = Arc::<AheadExecutor>::default();
        let (state, passed_over) = newest_state(&disk, &compiled.tools());
        engine::check_states(&settings.data_dir, &passed_over)?;
        let opened = open_log(disk, Opening::new(Identity { sim, server }));
        let Log { store, tail, aside, unmarked } =
            opened.map_err(|source| unopened(&settings.data_dir, source))?;
        if let Some(tail) = &tail {
            report_tail(tail);
        }
        if let Some(error) = unmarked {
            tracing::warn!(%error, "the log is not marked");
        }
        let mut damages: Vec<String> = aside.iter().map(report_damage).collect();
        for error in &passed_over {
            tracing::warn!(%error, "snapshot passed over");
        }
        damages.extend(passed_over.iter().map(ToString::to_string));
        let state = match state {
            Some(state) => state,
            None => {
                let world = first_world(genesis, settings, &compiled.tools())?;
                (base_of(&world), world)
            }
        };
        let damage = (!damages.is_empty()).then(|| damages.join("; "));
        Ok(Self { store, state, compiled, damage })
    }

    /// Lets a server with a new key sign. The log says so durably before the key is marked as used,
    /// so a first start may fail at any later step.
    pub(super) fn begin_log(&mut self, settings: &Settings) -> Result<(), ServerError> {
        if mark_path(&settings.vote_key).exists() {
            return Ok(());
        }
        begin_log(&mut self.store).map_err(|source| ServerError::Begin {
            path: settings.data_dir.clone(),
            source: Box::new(source),
        })
    }

    /// Opens a replica with the data. If there is no usable state and other servers are known, the
    /// replica begins without one.
    pub(super) fn replica(
        self,
        config: Config,
        genesis: &Genesis,
        settings: &Settings,
        now: Now,
    ) -> Result<(Replica, Store<RealDisk>), ServerError> {
        let Self { store, state, compiled, .. } = self;
        let path = settings.data_dir.clone();
        let why = match open_replica(&store, config.clone(), state, now) {
            Ok((replica, unread)) => {
                disk_thread::log_unread(unread.as_ref());
                return Ok((replica, store));
            }
            Err(StartError::NoStart(why)) => why,
            Err(StartError::Records(source)) => return Err(unreadable(path, source)),
        };
        let own = config.agreement.signer.public();
        let others = genesis.validators.keys().any(|key| *key != own);
        if !others && settings.peers.is_empty() {
            return Err(ServerError::NoStart { path, source: why });
        }
        tracing::error!(%why, "this server has no state to begin with: it asks the others for one");
        let least = why.least(store.index());
        let world = first_world(genesis, settings, &compiled.tools())?;
        Ok((Replica::stateless(config, world, least, now), store))
    }
}

fn unopened(path: &Path, source: StorageError) -> ServerError {
    let path = path.to_owned();
    match source {
        StorageError::Open(source) => ServerError::Store { path, source: Box::new(source) },
        source => ServerError::Begin { path, source: Box::new(source) },
    }
}

fn unreadable(path: PathBuf, source: RecordsError) -> ServerError {
    match source {
        RecordsError::Read(source) => ServerError::Log { path, source: Box::new(source) },
        RecordsError::Decode(source) => ServerError::Record { path, source },
    }
}

/// Returns the world before the first turn.
fn first_world(
    genesis: &Genesis,
    settings: &Settings,
    tools: &Tools,
) -> Result<World, ServerError> {
    first_state(genesis, &settings.genesis, tools).map_err(|source| ServerError::FirstState {
        path: settings.genesis.clone(),
        source: Box::new(source),
    })
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

fn report_tail(tail: &TailReport) {
    tracing::warn!(?tail, "the log ended in a torn record, which was cut off");
}

/// Returns the path of the mark beside a vote key, which says that the key has signed. A key
/// without its log must not vote where it may have voted before.
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
        file.sync_all()?;
        sync_folder(folder_of(&path))
    };
    match write() {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(source) => Err(ServerError::Mark { path, source }),
    }
}
