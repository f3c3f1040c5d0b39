//! `log verify` checks what servers have written against what was agreed on; it is offline and
//! read-only. `log golden` checks this machine.

use std::{
    collections::BTreeMap,
    fmt, fs,
    ops::{Bound, ControlFlow},
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use metatopia_audit::{
    TurnObserver,
    crossings::{
        BorderEnd, BorderEnds, BorderSide, CrossingFault, CrossingObserver, CrossingVerdict,
        compare, join_ends,
    },
    verify::{
        CheckedLog, LogVerdict, UnverifiedLog, VerifyError, first_fork, identify, verify_log,
    },
};
use metatopia_scenarios::golden;
use metatopia_sim::Serial;
use metatopia_store::{FileName, Identity};
use metatopia_types::{HeaderId, Height, SimId};
use serde::Serialize;

use super::{
    console::Console,
    exit::Exit,
    failure::Failure,
    genesis_file::read_start,
    sources::{open_directory, pool},
    up::world::GENESIS,
};
use crate::disk::DataDirectory;

#[derive(Debug, Subcommand)]
pub(super) enum LogCommand {
    /// Check logs from their beginning on: every record's hash, every signature, every root.
    #[command(after_help = "Examples:\n  \
        metatopia log verify ~/.local/state/metatopia/plaza            all servers of `up`\n  \
        metatopia log verify server-0 --genesis plaza.genesis --json   one server\n  \
        metatopia log verify server-0 --allow-gaps                     turns may be missing\n  \
        metatopia log verify west east                                 two sims, and their border\n\n\
        Nothing is changed, and the servers may be running. Every turn is checked against its \
        certificate and the\nturn before it, and applied again. Its root must be the one that more \
        than two thirds of the servers\nsigned. Of a pruned log the turns since its oldest \
        snapshot are applied, and the snapshot is proved from\ngenesis on. The same holds for the \
        turns behind missing ones. Missing turns are not proven, whatever the\nreason is: a server \
        that was away lacks them until it has fetched them, but somebody may also have taken\nthem \
        out. Exit code 5, and the height, when anything is wrong or not proven; 6 when two logs \
        are each in\norder and differ; 8 when the sim runs a port that this program lacks. Of two \
        sims that lie side by side,\nboth ends of all that went over their border are held \
        against each other: exit code 6 as well, when both\ncannot be true. \
        docs/verify.md says what is proved, and what is not.")]
    Verify(LogVerifyArgs),
    /// Replay the log that is part of this program, and compare its roots with those that every
    /// build on every machine must come to.
    #[command(after_help = "A machine on which this fails must not serve a sim: exit code 5.")]
    Golden,
}

#[derive(Debug, Args)]
pub(super) struct LogVerifyArgs {
    /// Data directories of servers, or directories that hold several.
    #[arg(required = true, value_name = "DIR")]
    dirs: Vec<PathBuf>,
    /// The sim's genesis [default: the file `genesis` in each data directory].
    #[arg(long, value_name = "FILE")]
    genesis: Option<PathBuf>,
    /// Turns may be missing, and others may have no proof: print that, and do not fail.
    #[arg(long)]
    allow_gaps: bool,
}

pub(super) fn run(command: LogCommand, console: Console) -> Result<(), Failure> {
    match command {
        LogCommand::Verify(args) => verify_all(&args, console),
        LogCommand::Golden => golden(console),
    }
}

/// The result of replaying the golden log.
#[derive(Debug, Serialize)]
struct Golden {
    ok: bool,
    turns: u64,
    root: String,
}

impl fmt::Display for Golden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { turns, root, .. } = self;
        write!(f, "golden log: {turns} turns, root {root}, as everywhere")
    }
}

fn golden(console: Console) -> Result<(), Failure> {
    let mut turns = 0;
    let root = golden::replay(&Serial, |world| turns = world.height().0).map_err(|error| {
        Failure::unverified(format!("the golden log: {error}"))
            .hint("this build or machine computes another world; it must not serve one")
    })?;
    console.show(&Golden { ok: true, turns, root: root.to_string() })
}

/// Where turns go on that need a port which this program lacks.
pub(super) const NEWER_PROGRAM: &str =
    "use a program that has the port; `metatopia script ports` lists those of this one";

/// What the logs of one sim show.
#[derive(Debug, Default)]
struct SimLogs {
    /// The turns of each server, by its data directory.
    servers: Vec<(String, BTreeMap<Height, HeaderId>)>,
    /// What went over its borders.
    ends: BorderEnds,
}

fn verify_all(args: &LogVerifyArgs, console: Console) -> Result<(), Failure> {
    let sims = verify_sims(args, console, |verdict| console.show(verdict))?;
    border_verdicts(&sims)?.iter().try_for_each(|verdict| console.show(verdict))
}

/// Verifies the logs in these directories, and returns what both ends of the borders between their sims say.
///
/// # Errors
/// Fails when a log is not in order, or when two of them cannot both be true.
pub(super) fn verified_borders(
    dirs: Vec<PathBuf>,
    console: Console,
) -> Result<Vec<CrossingVerdict>, Failure> {
    let args = LogVerifyArgs { dirs, genesis: None, allow_gaps: false };
    border_verdicts(&verify_sims(&args, console, |_| Ok(()))?)
}

/// Verifies logs, says of each what was found, and returns what they show, by their sims.
fn verify_sims(
    args: &LogVerifyArgs,
    console: Console,
    say: impl Fn(&LogVerdict) -> Result<(), Failure>,
) -> Result<BTreeMap<SimId, SimLogs>, Failure> {
    let (mut unverified, mut sims) = (None, BTreeMap::<SimId, SimLogs>::new());
    for dir in &data_directories_of(&args.dirs)? {
        console.note(&format!("verifying {}", dir.display()));
        let genesis = args.genesis.clone().unwrap_or_else(|| dir.join(GENESIS));
        let mut crossings = CrossingObserver::default();
        let checked = verify(dir, &genesis, &mut crossings)?;
        let verdict = LogVerdict::of(dir.display().to_string(), &checked, args.allow_gaps);
        say(&verdict)?;
        match (verdict.failure(), checked.sim) {
            (Some(failure), _) => unverified = Some(graver(unverified, failure)),
            (None, Some(sim)) => {
                let logs = sims.entry(sim).or_default();
                logs.servers.push((verdict.dir, checked.turns));
                join_ends(&mut logs.ends, crossings.into_ends());
            }
            (None, None) => unreachable!("a log without a fault names its sim"),
        }
    }
    if let Some(first) = unverified {
        return Err(first.into());
    }
    match sims.values().find_map(|logs| first_fork(&logs.servers)) {
        None => Ok(sims),
        Some(fork) => Err(Failure::new(Exit::Diverged, fork.to_string())),
    }
}

/// Returns what ends the command of two logs that are not verified: the first that is wrong or not proven, and a port
/// that this program lacks only where that is all.
fn graver(before: Option<UnverifiedLog>, next: UnverifiedLog) -> UnverifiedLog {
    match before {
        None | Some(UnverifiedLog::MissingPort { .. }) => next,
        Some(before) => before,
    }
}

/// Holds the ends of each border between two of the sims against each other.
fn border_verdicts(sims: &BTreeMap<SimId, SimLogs>) -> Result<Vec<CrossingVerdict>, Failure> {
    let turns = |logs: &SimLogs| logs.servers.iter().flat_map(|(_, turns)| turns.clone()).collect();
    let turns: BTreeMap<&SimId, BTreeMap<_, _>> =
        sims.iter().map(|(sim, logs)| (sim, turns(logs))).collect();
    let mut verdicts = Vec::new();
    for (one, logs) in sims {
        for (other, theirs) in sims.range((Bound::Excluded(*one), Bound::Unbounded)) {
            // A border that only one of the logs has is held against the other log as well.
            let (here, there) = (logs.ends.get(other), theirs.ends.get(one));
            if here.is_none() && there.is_none() {
                continue;
            }
            let nothing = BorderEnd::default();
            let side = |sim: &SimId, end| BorderSide { sim: *sim, end, turns: &turns[sim] };
            let here = side(one, here.unwrap_or(&nothing));
            let there = side(other, there.unwrap_or(&nothing));
            let diverged = |fault: CrossingFault| Failure::new(Exit::Diverged, fault.to_string());
            verdicts.push(compare(here, there).map_err(diverged)?);
        }
    }
    Ok(verdicts)
}

/// Verifies the log in a data directory, as far as the observer wants. A fault in the log is a
/// result, not a failure.
///
/// # Errors
/// Fails when the log cannot be read, or the genesis is missing.
pub(super) fn verify(
    dir: &Path,
    genesis: &Path,
    observer: &mut dyn TurnObserver,
) -> Result<CheckedLog, Failure> {
    let disk = open_directory(dir)?;
    let identity = match identify(&disk)? {
        ControlFlow::Continue(identity) => identity,
        ControlFlow::Break(checked) => return Ok(*checked),
    };
    let start = read_start(genesis)?;
    Ok(verify_log(&disk, identity, &start, &pool()?, observer)?)
}

/// Opens the data directory of a server whose log begins as it should.
///
/// # Errors
/// Fails when the log cannot be read, or is damaged in its first record.
pub(super) fn identified(dir: &Path) -> Result<(DataDirectory, Identity), Failure> {
    let disk = open_directory(dir)?;
    match identify(&disk)? {
        ControlFlow::Continue(identity) => Ok((disk, identity)),
        ControlFlow::Break(checked) => {
            let fault = checked.fault.map_or_else(String::new, |fault| fault.to_string());
            Err(Failure::unverified(format!("{}: {fault}", dir.display())))
        }
    }
}

impl From<VerifyError> for Failure {
    fn from(error: VerifyError) -> Self {
        Self::failed(error.to_string())
    }
}

impl From<UnverifiedLog> for Failure {
    fn from(unverified: UnverifiedLog) -> Self {
        let failure = Self::unverified(unverified.to_string());
        match unverified {
            UnverifiedLog::Fault { .. } => failure,
            UnverifiedLog::MissingPort { .. } => {
                Self { exit: Exit::OtherEngine, ..failure }.hint(NEWER_PROGRAM)
            }
            UnverifiedLog::Unproven { .. } => failure
                .hint("where its server was away, or gave up a part of its log, say --allow-gaps"),
        }
    }
}

/// Returns the data directories of servers in all of these directories, each once.
fn data_directories_of(dirs: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut found: Vec<PathBuf> = Vec::new();
    for dir in dirs {
        found.extend(data_directories(dir)?);
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// Returns `dir` itself, or the data directories in it, by name.
pub(super) fn data_directories(dir: &Path) -> Result<Vec<PathBuf>, Failure> {
    let identity = FileName::IDENTITY.name();
    if dir.join(&identity).exists() {
        return Ok(vec![dir.to_owned()]);
    }
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            Failure::not_found(format!("there is no directory {}", dir.display()))
        }
        _ => Failure::failed(format!("{}: {error}", dir.display())),
    };
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        // A log that has lost its identity is found too, and then reported.
        if path.join(&identity).exists() || path.join("log").is_dir() {
            found.push(path);
        }
    }
    found.sort();
    if found.is_empty() {
        let message = format!("no server has kept anything in {}", dir.display());
        return Err(Failure::not_found(message)
            .hint("name the data directory of a server, or the one given to `metatopia up`"));
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
