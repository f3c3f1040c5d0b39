//! `recover apply` takes a recovery into the log of a stopped server.

use std::{fmt, fs, path::PathBuf};

use clap::Args;
use metatopia_audit::{
    recover::{OwnStateError, RecoveredState, RecoveryNotes, contradicting_snapshots, own_state},
    tools,
};
use metatopia_types::{Recovery, SignedRecovery};
use serde::Serialize;

use super::{RecoveryLine, file, stopped::Stopped};
use crate::{
    cli::{console::Console, exit::Exit, failure::Failure},
    first_state::read_snapshot,
};

/// The folder for snapshots of other states.
const ASIDE: &str = "aside";

#[derive(Debug, Args)]
pub(in crate::cli) struct ApplyArgs {
    /// The recovery. Give several files of it if people signed them apart.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The data directory of a stopped server.
    #[arg(long, value_name = "DIR")]
    data_dir: PathBuf,
    /// The state, as a snapshot of another server that took the recovery. Only a server that comes
    /// to another state by itself needs it.
    #[arg(long, value_name = "SNAPSHOT")]
    state: Option<PathBuf>,
    /// The sim's genesis [default: the file `genesis` in the data directory].
    #[arg(long, value_name = "FILE")]
    genesis: Option<PathBuf>,
}

/// The result of applying a recovery.
#[derive(Debug, Serialize)]
struct ApplyReport {
    server: String,
    #[serde(flatten)]
    recovery: RecoveryLine,
    /// The file name of the snapshot that other servers may need.
    snapshot: String,
    /// Says whether the state came from another server.
    taken: bool,
    /// The snapshots of other states that were put aside.
    aside: Vec<String>,
}

impl fmt::Display for ApplyReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { server, recovery, snapshot, taken, aside } = self;
        writeln!(f, "{recovery}")?;
        let whose = if *taken { "taken from another server" } else { "its own" };
        writeln!(f, "server {server} goes on from that state, which is {whose}")?;
        aside.iter().try_for_each(|file| writeln!(f, "put aside   {file}"))?;
        write!(f, "the state is {snapshot}; start the server")
    }
}

pub(super) fn run(args: &ApplyArgs, console: Console) -> Result<(), Failure> {
    let signed = file::gather(args.files.iter().map(PathBuf::as_path))?;
    let mut stopped = Stopped::open(&args.data_dir, args.genesis.as_deref())?;
    stopped.check_sim(&signed.recovery)?;
    let notes = stopped.notes(console)?;
    if notes.taken.contains(&signed.recovery) {
        let Recovery { number, height, .. } = signed.recovery;
        console.warn(&format!("recovery {number} to turn {height} is in this log already"));
        return console.show(&RecoveryLine::of(&signed));
    }
    notes.check(&signed.recovery, stopped.files().tip())?;
    let (state, taken) = state(args, &stopped, &notes, &signed)?;
    let aside = put_aside(&stopped, &signed.recovery)?;
    let snapshot = state.put(&mut stopped.store, &signed);
    let snapshot = snapshot.map_err(|error| Failure::failed(error.to_string()))?;
    console.show(&ApplyReport {
        server: stopped.server.to_string(),
        recovery: RecoveryLine::of(&signed),
        snapshot: stopped.dir.join(snapshot.to_string()).display().to_string(),
        taken,
        aside,
    })
}

/// Returns the state of the recovery, and whether it came from another server. It is this server's
/// own state, or else the one in the given snapshot.
fn state(
    args: &ApplyArgs,
    stopped: &Stopped,
    notes: &RecoveryNotes,
    signed: &SignedRecovery,
) -> Result<(RecoveredState, bool), Failure> {
    let recovery = &signed.recovery;
    let (state, taken) = match (own_state(&stopped.files(), recovery), &args.state) {
        (Ok(kept), _) => (RecoveredState::own(kept, notes.voice), false),
        (Err(error), None) => {
            let message = match error {
                OwnStateError::OtherRoot { .. } => error.to_string(),
                OwnStateError::Unknown(error) => stopped.unknown_state(error).message,
            };
            return Err(Failure::new(Exit::Diverged, message)
                .hint("give it the snapshot of a server that took the recovery, by --state"));
        }
        (Err(_), Some(path)) => {
            let snapshot = read_snapshot(path, recovery.height, recovery.roots[1], &tools())?;
            let state = RecoveredState::of_another(snapshot, recovery, notes.voice);
            let state = state.ok_or_else(|| {
                let message = format!("{} is not the state of the recovery", path.display());
                Failure::unverified(message)
            })?;
            (state, true)
        }
    };
    state.check_signatures(signed).map_err(|why| {
        Failure::unverified(format!("the recovery is not signed as it must be: {why}"))
            .hint("more than two thirds of the voting power must sign; see `recover sign`")
    })?;
    Ok((state, taken))
}

/// Moves snapshots of other states to a folder that no start looks into.
fn put_aside(stopped: &Stopped, recovery: &Recovery) -> Result<Vec<String>, Failure> {
    let failed = |error: &dyn fmt::Display| Failure::failed(format!("{ASIDE}: {error}"));
    let snapshots = contradicting_snapshots(stopped.store.disk(), recovery);
    let mut moved = Vec::new();
    for file in snapshots.map_err(|error| failed(&error))? {
        let aside = stopped.dir.join(ASIDE);
        fs::create_dir_all(&aside).map_err(|error| failed(&error))?;
        fs::rename(stopped.dir.join(file.to_string()), aside.join(file.name()))
            .map_err(|error| failed(&error))?;
        moved.push(file.to_string());
    }
    Ok(moved)
}
