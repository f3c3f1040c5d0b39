//! `recover apply`: takes a recovery into the log of a stopped server.
//!
//! The state becomes the server's newest snapshot, with what agreement starts from there; then the
//! log notes the recovery with its signatures, and the right roots behind it. Nothing in the log is
//! taken back: the next start reads what this server signed at the height under way, as ever. A
//! crash in between leaves a snapshot that the log does not speak of yet: then the command is given
//! again.

use std::{fmt, fs, path::PathBuf};

use clap::Args;
use metatopia_consensus::{Base, Record};
use metatopia_replica::{encode_snapshot, keeper::AGREEMENT};
use metatopia_sim::World;
use metatopia_store::{FileKind, FileName, Position, Snapshot, list_snapshots, put_snapshot};
use metatopia_types::{Ed25519, Height, Recovery, SignedRecovery};
use serde::Serialize;

use super::{
    RecoveryLine, file,
    sign::of_this_sim,
    stopped::{LogNotes, Stopped},
};
use crate::{
    cli::{bisect::tools, console::Console, exit::Exit, failure::Failure},
    first_state::read_snapshot,
};

/// Where snapshots of other states are put.
const ASIDE: &str = "aside";

#[derive(Debug, Args)]
pub(in crate::cli) struct ApplyArgs {
    /// The recovery; several files of it, if they were signed apart.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The data directory of a stopped server.
    #[arg(long, value_name = "DIR")]
    data_dir: PathBuf,
    /// The state, as a snapshot of another server that took the recovery; only for one that comes to
    /// another state by itself.
    #[arg(long, value_name = "SNAPSHOT")]
    state: Option<PathBuf>,
    /// The sim's genesis [default: the file `genesis` in the data directory].
    #[arg(long, value_name = "FILE")]
    genesis: Option<PathBuf>,
}

/// What was done.
#[derive(Debug, Serialize)]
struct ApplyReport {
    server: String,
    #[serde(flatten)]
    recovery: RecoveryLine,
    /// The snapshot that others may need.
    snapshot: String,
    /// Was the state taken from another server?
    taken: bool,
    /// Snapshots of other states, put aside.
    aside: Vec<String>,
}

impl fmt::Display for ApplyReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { server, recovery, snapshot, taken, aside } = self;
        writeln!(f, "{recovery}")?;
        let whose = if *taken { "taken from another server" } else { "its own" };
        writeln!(f, "server {server} goes on from there, with a state that is {whose}")?;
        aside.iter().try_for_each(|file| writeln!(f, "put aside   {file}"))?;
        write!(f, "the state is {snapshot}; start the server")
    }
}

pub(super) fn run(args: &ApplyArgs, console: Console) -> Result<(), Failure> {
    let signed = file::gather(args.files.iter().map(PathBuf::as_path))?;
    let mut stopped = Stopped::open(&args.data_dir, args.genesis.as_deref())?;
    of_this_sim(&signed.recovery, &stopped)?;
    let notes = stopped.notes(console)?;
    if notes.taken.contains(&signed.recovery) {
        let Recovery { number, height, .. } = signed.recovery;
        console.warn(&format!("recovery {number} to turn {height} is in this log already"));
        return console.show(&RecoveryLine::of(&signed));
    }
    notes.check(&signed.recovery, stopped.archive().tip())?;
    let RecoveredState { base, world, taken } = state(args, &stopped, &notes, &signed)?;
    let aside = put_aside(&stopped, &signed.recovery)?;
    let snapshot = keep(&mut stopped, &base, &world, &signed)?;
    let server = stopped.server.to_string();
    console.show(&ApplyReport {
        server,
        recovery: RecoveryLine::of(&signed),
        snapshot,
        taken,
        aside,
    })
}

/// What the server goes on from.
struct RecoveredState {
    base: Base,
    world: World,
    taken: bool,
}

/// The state of the recovery: the one that this server comes to, or another one's. Those who vote
/// after it must have signed; who they are is fixed by turns long before it, so that both agree.
fn state(
    args: &ApplyArgs,
    stopped: &Stopped,
    notes: &LogNotes,
    signed: &SignedRecovery,
) -> Result<RecoveredState, Failure> {
    let Recovery { height, header, roots, .. } = signed.recovery;
    let own = stopped.archive().after(height);
    let own = own.and_then(|kept_state| match kept_state.roots == roots {
        true => Ok(kept_state),
        false => Err(Failure::new(
            Exit::Diverged,
            format!("this server comes to root {} after turn {height}", kept_state.roots[1]),
        )),
    });
    let state = match (own, &args.state) {
        (Ok(kept_state), _) => RecoveredState {
            base: kept_state.base(notes.voice),
            world: kept_state.world,
            taken: false,
        },
        (Err(failure), None) => {
            return Err(Failure::new(Exit::Diverged, failure.message)
                .hint("give it the snapshot of a server that took the recovery, by --state"));
        }
        (Err(_), Some(path)) => {
            let (base, world) = read_snapshot(path, height, roots[1], &tools())?;
            if world.sim() != signed.recovery.sim || base.roots != roots || base.header != header {
                let message = format!("{} is not the state of the recovery", path.display());
                return Err(Failure::unverified(message));
            }
            let set = |ahead| world.validators(height.plus(ahead)).cloned();
            let sets =
                [set(1), set(2), set(3)].map(|set| set.expect("a world knows the next sets"));
            let (links, time) = (base.links, base.time);
            let base = Base { height, header, time, roots, sets, links, voice: notes.voice };
            RecoveredState { base, world, taken: true }
        }
    };
    let [voters, ..] = &state.base.sets;
    signed.verify(voters, &Ed25519).map_err(|why| {
        Failure::unverified(format!("the recovery is not signed as it must be: {why}"))
            .hint("more than two thirds of the voting power must sign; see `recover sign`")
    })?;
    Ok(state)
}

/// Puts snapshots of other states out of the way, where nobody looks for them.
fn put_aside(stopped: &Stopped, recovery: &Recovery) -> Result<Vec<String>, Failure> {
    let failed = |error: &dyn fmt::Display| Failure::failed(format!("{ASIDE}: {error}"));
    let [before, after] = recovery.roots;
    let fine = [(recovery.height.minus(1), before), (Some(recovery.height), after)];
    let mut moved = Vec::new();
    for (height, root) in list_snapshots(stopped.store.disk()).map_err(|error| failed(&error))? {
        if height.plus(1) < recovery.height || fine.contains(&(Some(height), root)) {
            continue;
        }
        let file = FileName::new(FileKind::Snapshot(height, root));
        let aside = stopped.dir.join(ASIDE);
        fs::create_dir_all(&aside).map_err(|error| failed(&error))?;
        fs::rename(stopped.dir.join(file.to_string()), aside.join(file.name()))
            .map_err(|error| failed(&error))?;
        moved.push(file.to_string());
    }
    Ok(moved)
}

/// Keeps the state, and notes the recovery; gives the snapshot's path.
fn keep(
    stopped: &mut Stopped,
    base: &Base,
    world: &World,
    signed: &SignedRecovery,
) -> Result<String, Failure> {
    let failed = |error: &dyn fmt::Display| Failure::failed(error.to_string());
    let (height, [before, root]) = (signed.recovery.height, signed.recovery.roots);
    let snapshot = Snapshot { height, root, bytes: encode_snapshot(base, world) };
    put_snapshot(stopped.store.disk_mut(), &snapshot).map_err(|error| failed(&error))?;
    let [_, next, last] = base.sets.clone();
    let note = |height, root, set| Record::Applied { height, root, validators: Some(set) };
    let earlier = height.minus(1).filter(|earlier| *earlier > Height(0));
    let records = [Record::Recovered(Box::new(signed.clone()))]
        .into_iter()
        .chain(earlier.map(|earlier| note(earlier, before, next)))
        .chain([note(height, root, last)]);
    for record in records {
        stopped.store.append(AGREEMENT, None, &record.encode()).map_err(|error| failed(&error))?;
    }
    stopped.store.mark(Position::ZERO).map_err(|error| failed(&error))?;
    let file = FileName::new(FileKind::Snapshot(height, root));
    Ok(stopped.dir.join(file.to_string()).display().to_string())
}
