//! One server's data directory, from its first byte to its last.

use std::{fs, ops::ControlFlow, path::Path, sync::Arc, thread};

use metatopia_consensus::{Record, Trust};
use metatopia_replica::{Kept, decode_patch, decode_snapshot, keeper::AGREEMENT};
use metatopia_sim::{ForkJoin, Genesis, Tools, World};
use metatopia_store::{
    IdentityError, Patches, ReadDisk, Scan, Survey, list_snapshots, load_patch, load_snapshot,
    read_identity, survey,
};
use metatopia_types::{Ed25519, HeaderId, Height, PublicKey, SimId};

use super::replay::{Onlooker, Replay, Wrong};
use crate::{
    applier::Pool,
    cli::{Failure, sources::read_log},
    disk::DataDirectory,
    durable::folder_of,
    engine,
    founding::found,
};

/// What a data directory holds.
#[derive(Debug, Default)]
pub(in crate::cli) struct Checked {
    pub(in crate::cli) server: Option<PublicKey>,
    pub(in crate::cli) sim: Option<SimId>,
    /// The height after which the turns begin that were applied again; 0 is genesis.
    pub(in crate::cli) base: Height,
    /// The turns that are in order, from there on.
    pub(in crate::cli) turns: Vec<HeaderId>,
    /// The first turn that the log holds, if earlier ones were removed.
    pub(in crate::cli) oldest: Option<Height>,
    /// The state after the last of them.
    pub(in crate::cli) world: Option<World>,
    pub(in crate::cli) acts: u64,
    pub(in crate::cli) records: u64,
    pub(in crate::cli) torn_bytes: u64,
    /// How often the server found its own state wrong, and healed.
    pub(in crate::cli) heals: u64,
    /// The turns after which it went on from a state that operators signed for.
    pub(in crate::cli) recoveries: Vec<Height>,
    /// Turns that the log leaves out, first and last: the server went on with a state that it
    /// fetched.
    pub(in crate::cli) missing: Vec<(Height, Height)>,
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
    file: &Path,
    onlooker: &mut dyn Onlooker,
) -> Result<Checked, Failure> {
    let disk = DataDirectory::open(dir).map_err(|error| Failure::failed(error.to_string()))?;
    let read = || {
        let checked = check(&disk, file, onlooker);
        let well = checked.as_ref().is_ok_and(|checked| checked.wrong.is_none());
        (well || !onlooker.may_begin_again(), checked)
    };
    read_log(&disk, read, |(done, _)| *done).1
}

fn check(
    disk: &DataDirectory,
    file: &Path,
    onlooker: &mut dyn Onlooker,
) -> Result<Checked, Failure> {
    let mut checked = Checked::default();
    let identity = match read_identity(disk) {
        Ok(Some(identity)) => identity,
        Ok(None) => return Ok(checked.wrong("it was never started")),
        Err(IdentityError::Disk(error)) => return Err(Failure::failed(error.to_string())),
        Err(error) => return Ok(checked.wrong(error)),
    };
    (checked.server, checked.sim) = (Some(identity.server), Some(identity.sim));
    let genesis = read_genesis(file)?;
    if genesis.id() != identity.sim {
        let message = format!("the genesis is that of sim {}", genesis.id());
        return Ok(checked.wrong(message));
    }
    let Survey { scan, fault } =
        survey(disk, identity.sim).map_err(|error| Failure::failed(error.to_string()))?;
    let patches = Patches::list(disk).map_err(|error| Failure::failed(error.to_string()))?;
    let source = Source { genesis: &genesis, file, scan: &scan, patches: &patches, disk };
    let mut replay = match source.begin() {
        Ok(replay) => replay,
        Err(why) => return Ok(checked.wrong(fault.map_or(why, |fault| fault.to_string()))),
    };
    let pool = pool()?;
    // What lies before a fault is verified as well: so the height can be named.
    let played = if onlooker.begins(replay.base()).is_break() {
        Ok(())
    } else {
        let mut playing = Playing { replay: &mut replay, exec: &pool, onlooker, patched: 0 };
        playing.play(&source, &mut checked)
    };
    let played = played.and(fault.map_or(Ok(()), |fault| Err(fault.to_string())));
    checked.heals = replay.heals();
    checked.recoveries = replay.recoveries().iter().map(|taken| taken.height).collect();
    checked.missing = replay.missing().to_vec();
    (checked.world, checked.acts) = (Some(replay.world().clone()), replay.acts());
    checked.oldest = replay.first().filter(|first| scan.index.is_pruned() && first.0 > 1);
    (checked.base, checked.turns) = replay.into_decided();
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
    /// Patches that begin below this height were played.
    patched: u64,
}

impl Playing<'_> {
    fn play(&mut self, source: &Source<'_>, checked: &mut Checked) -> Result<(), String> {
        let Source { scan: scanned, disk, .. } = *source;
        checked.records = scanned.index.records();
        checked.torn_bytes = scanned.tail.map_or(0, |tail| tail.bytes);
        for record in scanned.index.iter(disk) {
            let record = record.map_err(|error| error.to_string())?;
            if record.kind != AGREEMENT {
                return Err(format!("a record of kind {}, which is not known", record.kind));
            }
            let decoded = Record::decode(&record.payload)
                .map_err(|error| format!("a record at {}: {error}", record.position))?;
            if let Record::Decided(certificate) = &decoded
                && self.play_patches(source, certificate.height.0)?.is_break()
            {
                return Ok(());
            }
            if self.take(source, decoded)?.is_break() {
                return Ok(());
            }
        }
        if self.play_patches(source, u64::MAX)?.is_break() {
            return Ok(());
        }
        self.replay.finish().map_err(|wrong| wrong.to_string())
    }

    fn take(&mut self, source: &Source<'_>, record: Record) -> Result<ControlFlow<()>, String> {
        if let Record::Decided(certificate) = &record {
            let passed = self.pass_gap(source, certificate.height);
            if passed.map_err(|wrong| wrong.to_string())?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        let taken = self.replay.take(record, self.exec, self.onlooker);
        taken.map_err(|wrong| wrong.to_string())
    }

    /// Plays what was put back of the heights up to this one and lies before it.
    fn play_patches(
        &mut self,
        source: &Source<'_>,
        height: u64,
    ) -> Result<ControlFlow<()>, String> {
        let due = |(from, _): &(u64, u64)| *from >= self.patched && *from <= height;
        let due: Vec<(u64, u64)> = source.patches.iter().filter(due).collect();
        for range in due {
            self.patched = range.0.saturating_add(1);
            let bytes = load_patch(source.disk, range).map_err(|error| error.to_string())?;
            for turn in decode_patch(&bytes) {
                if self.replay.has_seen(turn.height()) {
                    continue;
                }
                let records = [Record::Turn(turn.turn), Record::Decided(turn.certificate)];
                for record in records {
                    if self.take(source, record)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Goes on behind turns that the log leaves out, if a turn of this height comes after such.
    fn pass_gap(&mut self, source: &Source<'_>, height: Height) -> Result<ControlFlow<()>, Wrong> {
        let Some(gap) = self.replay.gap(height) else {
            return Ok(ControlFlow::Continue(()));
        };
        // The state that the replay begins with holds what became of them.
        if gap.1 <= self.replay.base() {
            self.replay.skip(gap);
            return Ok(ControlFlow::Continue(()));
        }
        let to = source.begin_from(gap.1).map_err(|why| Wrong::Gap { gap, why })?;
        self.replay.jump(gap, to);
        Ok(self.onlooker.begins(self.replay.base()))
    }
}

/// Where a log is, and what it began with.
struct Source<'a> {
    genesis: &'a Genesis,
    file: &'a Path,
    scan: &'a Scan,
    patches: &'a Patches,
    disk: &'a dyn ReadDisk,
}

impl Source<'_> {
    /// Where to play the log from: genesis, or its oldest snapshot if turns before that were removed
    /// and not put back.
    fn begin(&self) -> Result<Replay, String> {
        if !self.scan.index.is_pruned() || self.patches.holding(1).is_some() {
            let tools = Tools::new(Arc::new(Ed25519));
            let world =
                found(self.genesis, self.file, &tools).map_err(|error| error.to_string())?;
            return Ok(Replay::new(world));
        }
        self.begin_from(Height(0))
    }

    /// The oldest snapshot of this height or later, proved by the turns after it.
    fn begin_from(&self, least: Height) -> Result<Replay, String> {
        let disk = self.disk;
        let kept = Kept { index: &self.scan.index, patches: self.patches, disk };
        let tools = Tools::new(Arc::new(Ed25519));
        let validators = self.genesis.first_validators().map_err(|error| error.to_string())?;
        let trust = Trust { height: Height(0), validators };
        let snapshots = list_snapshots(disk).map_err(|error| error.to_string())?;
        let mut why = "there is no snapshot of after them".to_owned();
        for (height, root) in snapshots.into_iter().rev().filter(|(height, _)| *height >= least) {
            let found = load_snapshot(disk, height, root)
                .map_err(|error| error.to_string())
                .and_then(|s| decode_snapshot(&s.bytes, &tools).map_err(|error| error.to_string()));
            let (base, world) = match found {
                Ok(found) => found,
                Err(error) => {
                    why = error;
                    continue;
                }
            };
            let after = height.plus(1);
            let stated: Vec<_> = kept.from(after).take(2).collect();
            let [next, last] = stated.as_slice() else {
                why =
                    format!("the log does not have the turns that prove the snapshot of {height}");
                continue;
            };
            return Replay::after(&trust, &base, world, [next, last])
                .map_err(|wrong| wrong.to_string());
        }
        Err(why)
    }
}

/// Reads the genesis of a sim that this program runs.
pub(in crate::cli) fn read_genesis(path: &Path) -> Result<Genesis, Failure> {
    let bytes = read_file(path)?;
    engine::check(folder_of(path), &bytes)?;
    decode(path, &bytes)
}

/// Reads a genesis to show it, of whatever engine it is.
pub(in crate::cli) fn read_any_genesis(path: &Path) -> Result<Genesis, Failure> {
    let bytes = read_file(path)?;
    decode(path, &bytes).or_else(|undecoded| {
        engine::check(folder_of(path), &bytes)?;
        Err(undecoded)
    })
}

fn decode(path: &Path, bytes: &[u8]) -> Result<Genesis, Failure> {
    let wrong = |error| Failure::unverified(format!("{}: {error}", path.display()));
    Genesis::decode(bytes).map_err(wrong)
}

fn read_file(path: &Path) -> Result<Vec<u8>, Failure> {
    let name = path.display();
    fs::read(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Failure::not_found(format!("there is no genesis {name}"))
            .hint("name it by --genesis FILE"),
        _ => Failure::failed(format!("cannot read {name}: {error}")),
    })
}
