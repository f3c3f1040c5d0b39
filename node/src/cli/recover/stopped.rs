//! The data directory of a stopped server, which this process holds.

use std::path::{Path, PathBuf};

use metatopia_audit::{
    SimStart,
    kept_state::{KeptStateError, ServerFiles},
    recover::{RecoveryNotes, RecoveryRefusal, check_sim},
    tools,
};
use metatopia_sim::ForkJoin;
use metatopia_store::{Cause, Identity, OpenedStore, Opening, Store, read_identity};
use metatopia_types::{PublicKey, Recovery};

use crate::{
    cli::{
        console::Console,
        failure::Failure,
        genesis_file::read_start,
        sources::{only_directory, open_directory, pool},
        up::world::GENESIS,
    },
    disk::RealDisk,
    executor::Pool,
    first_state::first_state,
};

/// The data directory of a stopped server, opened and locked.
pub(super) struct Stopped {
    pub(super) dir: PathBuf,
    start: SimStart,
    /// The file that the genesis was read from.
    genesis_file: PathBuf,
    pool: Pool,
    pub(super) server: PublicKey,
    pub(super) store: Store<RealDisk>,
}

impl Stopped {
    /// Opens and locks a directory. Cuts off what a crash tore at the end of the log, as a start
    /// does.
    ///
    /// # Errors
    /// Fails when there is no data directory, when a server runs on it, or when its log is damaged.
    pub(super) fn open(path: &Path, genesis: Option<&Path>) -> Result<Self, Failure> {
        let dir = only_directory(path)?;
        let name = dir.display();
        let wrong = |why: String| Failure::unverified(format!("{name}: {why}"));
        let genesis_file = genesis.map_or_else(|| dir.join(GENESIS), PathBuf::from);
        let start = read_start(&genesis_file)?;
        let looked = open_directory(&dir)?;
        let own = read_identity(&looked).map_err(|error| wrong(error.to_string()))?;
        let own = own.ok_or_else(|| wrong("it was never started".into()))?;
        let identity = Identity { sim: start.genesis.id(), server: own.server };
        let disk = RealDisk::open(&dir).map_err(|error| match error.cause {
            Cause::InUse => Failure::refused(error.to_string()).hint("stop the server first"),
            _ => Failure::failed(error.to_string()),
        })?;
        let OpenedStore { store, records_lost, .. } = Store::open(disk, Opening::new(identity))
            .map_err(|error| {
                wrong(error.to_string()).hint("a start of the server puts damage aside")
            })?;
        if records_lost {
            let message = format!("{name}: records are lost, so what it signed is not known");
            return Err(Failure::refused(message).hint("start it with the others: it follows"));
        }
        Ok(Self { dir, start, genesis_file, pool: pool()?, server: own.server, store })
    }

    /// Returns the files that the server keeps.
    pub(super) fn files(&self) -> ServerFiles<'_> {
        ServerFiles {
            start: &self.start,
            disk: self.store.disk(),
            index: self.store.index(),
            exec: &self.pool as &dyn ForkJoin,
        }
    }

    /// Reads the log from a little before the state that a start would begin with.
    ///
    /// # Errors
    /// Fails when the log cannot be read.
    pub(super) fn notes(&self, console: Console) -> Result<RecoveryNotes, Failure> {
        console.note(&format!("reading {}", self.dir.display()));
        let mut skipped = |why: &str| console.warn(&format!("snapshot passed over: {why}"));
        let (index, disk) = (self.store.index(), self.store.disk());
        RecoveryNotes::read(index, disk, self.server, &mut skipped)
            .map_err(|error| Failure::unverified(format!("{}: {error}", self.dir.display())))
    }

    /// Checks that a recovery is about the sim of this directory, and of its rules.
    ///
    /// # Errors
    /// Fails when the recovery is about another sim or other rules.
    pub(super) fn check_sim(&self, recovery: &Recovery) -> Result<(), Failure> {
        Ok(check_sim(recovery, self.start.genesis.id())?)
    }

    /// Says why the state of this server could not be computed.
    pub(super) fn unknown_state(&self, error: KeptStateError) -> Failure {
        if let KeptStateError::FirstState(_) = error
            && let Err(error) = first_state(&self.start.genesis, &self.genesis_file, &tools())
        {
            return error.into();
        }
        Failure::unverified(format!("{}: {error}", self.dir.display()))
    }
}

impl From<RecoveryRefusal> for Failure {
    fn from(refusal: RecoveryRefusal) -> Self {
        let message = refusal.to_string();
        match refusal {
            RecoveryRefusal::NothingDecided => Self::refused(message).hint(
                "start all of them again; if no turn is decided then either, `root` in `metatopia \
                 status` shows which server differs: look at its genesis, program and memory",
            ),
            RecoveryRefusal::NoSuchTurn { .. } => {
                Self::refused(message).hint("name a turn from 1 to that one by --to")
            }
            RecoveryRefusal::Certified { .. } => {
                Self::refused(message).hint("there is nothing to recover")
            }
            RecoveryRefusal::ShortLog { .. } => Self::refused(message)
                .hint("start it with the others: it fetches what it lacks, and heals by itself"),
            RecoveryRefusal::OtherTurn { .. } | RecoveryRefusal::OtherSim { .. } => {
                Self::unverified(message)
            }
            RecoveryRefusal::Older { .. } => Self::refused(message).hint("propose a new one"),
            RecoveryRefusal::SignedOtherwise { .. } => {
                Self::refused(message).hint("only a recovery to that root can be taken here")
            }
            RecoveryRefusal::OtherEngine(_) => {
                Self::usage(message).hint("use the program that the others use")
            }
        }
    }
}
