//! One server's data directory, from its first byte to its last.

use std::{collections::BTreeMap, fs, ops::ControlFlow, path::Path, sync::Arc, thread};

use metatopia_consensus::Record;
use metatopia_replica::{KeptTurns, decode_patch, decode_snapshot, keeper::AGREEMENT};
use metatopia_sim::{ForkJoin, Genesis, Tools, World};
use metatopia_store::{
    IdentityError, LogSurvey, Patches, ReadDisk, Scan, StoredRecord as Stored, list_snapshots,
    load_patch, load_snapshot, read_identity, survey,
};
use metatopia_types::{Ed25519, HeaderId, Height, PublicKey, SimId};

use super::{
    replay::{Onlooker, Replay, ReplayState},
    voters::VoterHistory,
    wrong::{LogFault, Wrong},
};
use crate::{
    atomic_file::folder_of,
    cli::{Failure, sources::read_log},
    disk::DataDirectory,
    engine,
    executor::Pool,
    first_state::first_state,
};

/// What a data directory holds.
#[derive(Debug, Default)]
pub(in crate::cli) struct CheckedLog {
    pub(in crate::cli) server: Option<PublicKey>,
    pub(in crate::cli) sim: Option<SimId>,
    /// The height after which the turns begin that were applied last; 0 is genesis.
    pub(in crate::cli) base: Height,
    /// The turns that are there, each held against its certificate and the turn before it.
    pub(in crate::cli) turns: BTreeMap<Height, HeaderId>,
    /// The first turn that is there, if earlier ones were removed.
    pub(in crate::cli) oldest: Option<Height>,
    /// Turns that were applied, so that their roots are known.
    pub(in crate::cli) applied: Vec<(Height, Height)>,
    /// The state after the last of them.
    pub(in crate::cli) world: Option<World>,
    pub(in crate::cli) acts: u64,
    pub(in crate::cli) records: u64,
    pub(in crate::cli) torn_bytes: u64,
    /// How often the server found its own state wrong, and healed.
    pub(in crate::cli) heals: u64,
    /// The turns after which it went on from a state that operators signed for.
    pub(in crate::cli) recoveries: Vec<Height>,
    /// Turns that are not there between others, first and last.
    pub(in crate::cli) missing: Vec<(Height, Height)>,
    /// Turns that are there, and that nothing proves: it is not known who voted then.
    pub(in crate::cli) unheld: Vec<(Height, Height)>,
    /// What is wrong first, if anything is.
    pub(in crate::cli) wrong: Option<LogFault>,
}

impl CheckedLog {
    fn wrong(mut self, what: impl ToString) -> Self {
        self.wrong = Some(Wrong::Unreadable(what.to_string()).at(Height(1)));
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
) -> Result<CheckedLog, Failure> {
    let disk = DataDirectory::open(dir).map_err(|error| Failure::failed(error.to_string()))?;
    let read = || {
        let checked = check(&disk, file, onlooker);
        let well = checked.as_ref().is_ok_and(|checked| checked.wrong.is_none());
        (well || !onlooker.may_begin_again(), checked)
    };
    read_log(&disk, read, |(done, _)| *done).1
}

fn check(
    disk: &dyn ReadDisk,
    file: &Path,
    onlooker: &mut dyn Onlooker,
) -> Result<CheckedLog, Failure> {
    let mut checked = CheckedLog::default();
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
    let tools = Tools::new(Arc::new(Ed25519));
    let beginning = first_state(&genesis, file, &tools).map_err(|error| error.to_string());
    let pool = pool()?;
    check_log(disk, (&genesis, &beginning), identity.server, &pool, onlooker)
}

/// Verifies the log and what was put back into it, of a sim that begins with this state.
pub(super) fn check_log(
    disk: &dyn ReadDisk,
    (genesis, beginning): (&Genesis, &Result<World, String>),
    server: PublicKey,
    exec: &dyn ForkJoin,
    onlooker: &mut dyn Onlooker,
) -> Result<CheckedLog, Failure> {
    let failed = |error: &dyn ToString| Failure::failed(error.to_string());
    let sim = genesis.id();
    let mut checked = CheckedLog { server: Some(server), sim: Some(sim), ..CheckedLog::default() };
    let validators = match genesis.first_validators() {
        Ok(validators) => validators,
        Err(error) => return Ok(checked.wrong(error)),
    };
    let LogSurvey { scan, fault } = survey(disk, sim).map_err(|error| failed(&error))?;
    let patches = Patches::list(disk).map_err(|error| failed(&error))?;
    let source = LogSource { beginning, scan: &scan, patches: &patches, disk };
    let mut voters = VoterHistory::new(validators);
    let (state, lacks) = match source.begin(&mut voters) {
        Ok(state) => (Some(state), None),
        Err(why) => (None, Some(why)),
    };
    let begin = (source.first_height(), scan.index.is_pruned());
    let mut replay = Replay::new(sim, server, voters, state, begin);
    // What lies before a fault is verified as well, the more so as its height is to be named.
    let broken = match replay.base().map(|base| onlooker.begins(base)) {
        Some(ControlFlow::Break(())) => None,
        _ => {
            let mut playing =
                Playing { replay: &mut replay, exec, onlooker, patched: 0, lacks: None };
            let played = playing.play(&source, fault.is_some()).err();
            let stateless = playing.lacks;
            let unread = fault.map(|fault| Wrong::Unreadable(fault.to_string()).at(replay.at()));
            let first = replay.missing().first().map_or(begin.0, |(first, _)| *first);
            let lacks = lacks.map(|why| Wrong::Unreadable(why).at(first));
            played.or(unread).or(lacks).or(stateless)
        }
    };
    checked.records = scan.index.records();
    checked.torn_bytes = scan.tail.map_or(0, |tail| tail.bytes);
    checked.wrong = replay.finish(broken);
    checked.heals = replay.heals();
    checked.recoveries = replay.recoveries().iter().map(|taken| taken.height).collect();
    checked.missing = replay.missing().to_vec();
    checked.unheld = replay.unheld().to_vec();
    checked.applied = replay.applied().to_vec();
    (checked.world, checked.acts) = (replay.world().cloned(), replay.acts());
    checked.base = replay.base().unwrap_or_default();
    checked.turns = replay.into_held();
    let first = checked.turns.keys().next().copied();
    checked.oldest = first.filter(|first| scan.index.is_pruned() && first.0 > 1);
    Ok(checked)
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
    /// Turns are missing, and there is no state behind them.
    lacks: Option<LogFault>,
}

impl Playing<'_> {
    /// Plays what can be read. Of a log that goes on unreadably nothing is said of its end.
    fn play(&mut self, source: &LogSource<'_>, goes_on: bool) -> Result<(), LogFault> {
        for record in source.scan.index.iter(source.disk) {
            let at = self.replay.at();
            let record = record.map_err(|error| Wrong::Unreadable(error.to_string()).at(at))?;
            let decoded = decode(&record).map_err(|why| Wrong::Unreadable(why).at(at))?;
            let flow = match decoded.height() {
                Some(height) => self.come_to(source, &decoded, height)?,
                None => ControlFlow::Continue(()),
            };
            if flow.is_break() || self.replay.take(decoded, self.exec, self.onlooker)?.is_break() {
                return Ok(());
            }
        }
        if !goes_on {
            let _end = self.play_patches(source, u64::MAX)?;
        }
        Ok(())
    }

    /// Plays what was put back before a record that is about a later height than the log has come to,
    /// and goes on behind what is missing.
    fn come_to(
        &mut self,
        source: &LogSource<'_>,
        record: &Record,
        height: Height,
    ) -> Result<ControlFlow<()>, LogFault> {
        let at = self.replay.at();
        let due = match record {
            Record::Decided(_) => Some(height),
            // Bytes may be those of the height after the one under way, promises are.
            Record::Turn(_) | Record::Early(_) => {
                let before = height.minus(1).unwrap_or_default();
                let behind = |next: Height| if next < height { before } else { height };
                source.goes_on_at(at, before).map(behind).filter(|_| before > at)
            }
            Record::Vote(_)
            | Record::Proposal(_)
            | Record::Polka(_)
            | Record::Verdict(_)
            | Record::Timeout(_)
                if height > at =>
            {
                source.goes_on_at(at, height).map(|_| height)
            }
            _ => None,
        };
        let Some(due) = due else {
            return Ok(ControlFlow::Continue(()));
        };
        let decides = matches!(record, Record::Decided(_));
        // What was put back may hold the very turn, too.
        let until = if decides { due.0 } else { due.0.saturating_sub(1) };
        if self.play_patches(source, until)?.is_break() || self.pass_gap(source, due)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        self.replay.come_to(due);
        Ok(ControlFlow::Continue(()))
    }

    /// Plays what was put back of the heights up to this one and lies before it.
    fn play_patches(
        &mut self,
        source: &LogSource<'_>,
        height: u64,
    ) -> Result<ControlFlow<()>, LogFault> {
        let due = |(from, _): &(u64, u64)| *from >= self.patched && *from <= height;
        let due: Vec<(u64, u64)> = source.patches.iter().filter(due).collect();
        for (from, to) in due {
            self.patched = from.saturating_add(1);
            let unreadable = |why: String| Wrong::Unreadable(why).at(Height(from));
            let bytes = load_patch(source.disk, (from, to));
            let turns = decode_patch(&bytes.map_err(|error| unreadable(error.to_string()))?);
            if turns.len() as u64 != to.saturating_sub(from).saturating_add(1) {
                return Err(Wrong::Patch { from, to }.at(Height(from)));
            }
            for (turn, height) in turns.into_iter().zip((from..).map(Height)) {
                if turn.height() != height {
                    return Err(Wrong::Patch { from, to }.at(height));
                }
                if self.pass_gap(source, height)?.is_break()
                    || self.replay.put_back(turn, self.exec, self.onlooker)?.is_break()
                {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Goes on behind turns that are left out, if a turn of this height comes after such.
    fn pass_gap(
        &mut self,
        source: &LogSource<'_>,
        height: Height,
    ) -> Result<ControlFlow<()>, LogFault> {
        let Some(gap) = self.replay.gap(height) else {
            return Ok(ControlFlow::Continue(()));
        };
        // The state that the replay begins with holds what became of them.
        if self.replay.base().is_some_and(|base| gap.1 <= base) {
            self.replay.pass(gap, None);
            return Ok(ControlFlow::Continue(()));
        }
        match source.begin_from(gap.1, self.replay.voters()) {
            Ok(state) => {
                let begins = self.onlooker.begins(state.base());
                self.replay.pass(gap, Some(state));
                Ok(begins)
            }
            // The turns behind it may show what is wrong by themselves.
            Err(why) => {
                self.lacks.get_or_insert(Wrong::Gap { gap, why }.at(gap.0));
                self.replay.lose_state();
                self.replay.pass(gap, None);
                Ok(ControlFlow::Continue(()))
            }
        }
    }
}

/// What a record of the log says. Its tag must be the height that it decides.
fn decode(record: &Stored) -> Result<Record, String> {
    if record.kind != AGREEMENT {
        return Err(format!("a record of kind {}, which is not known", record.kind));
    }
    let decoded = Record::decode(&record.payload)
        .map_err(|error| format!("a record at {}: {error}", record.position))?;
    let decides = match &decoded {
        Record::Decided(certificate) => Some(certificate.height.0),
        _ => None,
    };
    if record.tag == decides {
        return Ok(decoded);
    }
    Err(format!("a record at {} is to be found by what it does not decide", record.position))
}

/// Where a log is, and what its sim begins with.
struct LogSource<'a> {
    beginning: &'a Result<World, String>,
    scan: &'a Scan,
    patches: &'a Patches,
    disk: &'a dyn ReadDisk,
}

impl LogSource<'_> {
    /// The height that the log's own records begin with.
    fn first_height(&self) -> Height {
        if !self.scan.index.is_pruned() {
            return Height(1);
        }
        let mut decided = self.scan.index.tagged_from(self.disk, 0).filter_map(Result::ok);
        let Some(first) = decided.next() else {
            return Height(1);
        };
        let next = decided.next().and_then(|next| next.tag);
        match (first.tag, Record::decode(&first.payload)) {
            // If both do not say the same, the decision after it says who is right.
            (Some(tag), _) if next == tag.checked_add(1) => Height(tag),
            (_, Ok(Record::Decided(certificate))) => certificate.height,
            (tag, _) => Height(tag.unwrap_or(1)),
        }
    }

    /// Where the log goes on that has come to height `at`, if that may be at `to` or later. Turns must
    /// be missing there: the next one that it decides is of such a height, or the server has just
    /// fetched a state.
    fn goes_on_at(&self, at: Height, to: Height) -> Option<Height> {
        let next = self.scan.index.tagged_from(self.disk, at.0).next();
        let next = match next.and_then(Result::ok).and_then(|record| record.tag) {
            Some(next) => Some(Height(next)),
            None => list_snapshots(self.disk).ok()?.first().map(|(newest, _)| newest.plus(1)),
        };
        next.filter(|next| to <= *next)
    }

    /// Where to play the log from: genesis, or its oldest snapshot if turns before that were removed
    /// and not put back.
    fn begin(&self, voters: &mut VoterHistory) -> Result<ReplayState, String> {
        if !self.scan.index.is_pruned() || self.patches.holding(1).is_some() {
            return self.beginning.clone().map(ReplayState::genesis);
        }
        self.begin_from(Height(0), voters)
    }

    /// The oldest snapshot of this height or later, proved by the turns after it.
    fn begin_from(&self, least: Height, voters: &mut VoterHistory) -> Result<ReplayState, String> {
        let disk = self.disk;
        let kept = KeptTurns { index: &self.scan.index, patches: self.patches, disk };
        let tools = Tools::new(Arc::new(Ed25519));
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
            // Whatever becomes of the state, it is known who voted up to it.
            if let Err(error) = voters.walk(&base, world.sim()) {
                why = Wrong::Snapshot { height, why: error }.to_string();
                continue;
            }
            let after = height.plus(1);
            let stated: Vec<_> = kept.from(after).take(2).collect();
            let [next, last] = stated.as_slice() else {
                why =
                    format!("the log does not have the turns that prove the snapshot of {height}");
                continue;
            };
            return ReplayState::prove(voters, &base, world, [next, last])
                .map_err(|wrong| wrong.to_string());
        }
        Err(why)
    }
}

/// Reads the genesis of a sim that this program runs.
pub(in crate::cli) fn read_genesis(path: &Path) -> Result<Genesis, Failure> {
    let bytes = read_file(path)?;
    engine::check(folder_of(path), &bytes)?;
    decode_genesis(path, &bytes)
}

/// Reads a genesis to show it, of whatever engine it is.
pub(in crate::cli) fn read_any_genesis(path: &Path) -> Result<Genesis, Failure> {
    let bytes = read_file(path)?;
    decode_genesis(path, &bytes).or_else(|undecoded| {
        engine::check(folder_of(path), &bytes)?;
        Err(undecoded)
    })
}

fn decode_genesis(path: &Path, bytes: &[u8]) -> Result<Genesis, Failure> {
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
