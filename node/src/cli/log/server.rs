//! One server's data directory, from its first byte to its last.

use std::{fs, ops::ControlFlow, path::Path, thread};

use metatopia_consensus::Record;
use metatopia_sim::{ForkJoin, Genesis, World};
use metatopia_store::{FileName, IdentityError, ReadDisk, Scan, ScanError, read_identity, scan};
use metatopia_types::{HeaderId, PublicKey, SimId};

use super::{
    before::Before,
    replay::{Onlooker, Replay},
};
use crate::{applier::Pool, cli::Failure, disk::DataDirectory, storage::AGREEMENT};

/// What a data directory holds.
#[derive(Debug, Default)]
pub(in crate::cli) struct Checked {
    pub(in crate::cli) server: Option<PublicKey>,
    pub(in crate::cli) sim: Option<SimId>,
    /// The turns that are in order, from height 1.
    pub(in crate::cli) turns: Vec<HeaderId>,
    /// The state after the last of them.
    pub(in crate::cli) world: Option<World>,
    pub(in crate::cli) acts: u64,
    pub(in crate::cli) records: u64,
    pub(in crate::cli) torn_bytes: u64,
    /// What is wrong first, if anything is.
    pub(in crate::cli) wrong: Option<String>,
}

impl Checked {
    fn wrong(mut self, what: impl ToString) -> Self {
        // The first fault in the log is the one to name.
        self.wrong.get_or_insert_with(|| what.to_string());
        self
    }
}

/// Verifies a data directory, as far as the onlooker wants. What is wrong in it is a result, not a
/// failure.
///
/// # Errors
/// When it cannot be read, or the genesis is missing.
pub(in crate::cli) fn verify(
    dir: &Path,
    genesis: &Path,
    onlooker: &mut dyn Onlooker,
) -> Result<Checked, Failure> {
    let disk = DataDirectory::open(dir).map_err(|error| Failure::failed(error.to_string()))?;
    let mut checked = Checked::default();
    let identity = match read_identity(&disk) {
        Ok(Some(identity)) => identity,
        Ok(None) => return Ok(checked.wrong("it was never started")),
        Err(IdentityError::Disk(error)) => return Err(Failure::failed(error.to_string())),
        Err(error) => return Ok(checked.wrong(error)),
    };
    (checked.server, checked.sim) = (Some(identity.server), Some(identity.sim));
    let genesis = read_genesis(genesis)?;
    if genesis.id() != identity.sim {
        let message = format!("the genesis is that of sim {}", genesis.id());
        return Ok(checked.wrong(message));
    }
    let mut replay = match Replay::new(&genesis) {
        Ok(replay) => replay,
        Err(error) => return Ok(checked.wrong(error)),
    };
    let pool = pool()?;
    let mut playing = Playing { replay: &mut replay, exec: &pool, onlooker };
    let played = match scan(&disk, identity.sim) {
        Ok(scanned) => playing.play(&scanned, &disk, &mut checked),
        Err(error) => {
            let Some((file, offset)) = place(&error) else {
                return Err(Failure::failed(error.to_string()));
            };
            // What lies before the damage is verified as well: so the height can be named.
            let before = Before { disk: &disk, file, offset };
            let played = scan(&before, identity.sim).map_err(|error| error.to_string());
            played
                .and_then(|scanned| playing.play(&scanned, &before, &mut checked))
                .and(Err(error.to_string()))
        }
    };
    (checked.world, checked.acts) = (Some(replay.world().clone()), replay.acts());
    checked.turns = replay.into_decided();
    Ok(match played {
        Ok(()) => checked,
        Err(wrong) => checked.wrong(wrong),
    })
}

/// Threads for scripts, as many as this machine has.
pub(in crate::cli) fn pool() -> Result<Pool, Failure> {
    let threads = thread::available_parallelism().map_or(1, Into::into);
    Pool::new(threads).map_err(|error| Failure::failed(error.to_string()))
}

/// A log being played, and who looks on.
struct Playing<'a> {
    replay: &'a mut Replay,
    exec: &'a dyn ForkJoin,
    onlooker: &'a mut dyn Onlooker,
}

impl Playing<'_> {
    fn play(
        &mut self,
        scanned: &Scan,
        disk: &dyn ReadDisk,
        checked: &mut Checked,
    ) -> Result<(), String> {
        checked.records = scanned.index.records();
        checked.torn_bytes = scanned.tail.map_or(0, |tail| tail.bytes);
        for record in scanned.index.iter(disk) {
            let record = record.map_err(|error| error.to_string())?;
            if record.kind != AGREEMENT {
                return Err(format!("a record of kind {}, which is not known", record.kind));
            }
            let decoded = Record::decode(&record.payload)
                .map_err(|error| format!("a record at {}: {error}", record.position))?;
            let taken = self.replay.take(decoded, self.exec, self.onlooker);
            match taken.map_err(|wrong| wrong.to_string())? {
                ControlFlow::Continue(()) => {}
                ControlFlow::Break(()) => return Ok(()),
            }
        }
        Ok(())
    }
}

/// Where the damage begins; nothing when the disk itself fails.
fn place(error: &ScanError) -> Option<(FileName, u64)> {
    match error {
        ScanError::Damaged(damaged) => Some((damaged.file, damaged.offset)),
        ScanError::Missing(file)
        | ScanError::ForeignSim { file, .. }
        | ScanError::Version { file, .. } => Some((*file, 0)),
        ScanError::Disk(_) => None,
    }
}

pub(in crate::cli) fn read_genesis(path: &Path) -> Result<Genesis, Failure> {
    let name = path.display();
    let bytes = fs::read(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Failure::not_found(format!("there is no genesis {name}"))
            .hint("name it by --genesis FILE"),
        _ => Failure::failed(format!("cannot read {name}: {error}")),
    })?;
    Genesis::decode(&bytes).map_err(|error| Failure::unverified(format!("{name}: {error}")))
}
