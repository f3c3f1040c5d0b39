//! `log verify`: is what servers have written what was agreed on? Offline, and read-only.

pub(super) mod replay;
pub(super) mod server;

use std::{
    collections::BTreeMap,
    fmt, fs,
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use metatopia_scenarios::golden;
use metatopia_sim::Serial;
use metatopia_store::FileName;
use metatopia_types::HeaderId;
use serde::Serialize;

use self::server::{Checked, verify};
use super::{console::Console, exit::Exit, failure::Failure, up::world::GENESIS};

#[derive(Debug, Subcommand)]
pub(super) enum LogCommand {
    /// Check logs from their beginning on: every record's hash, every signature, every root.
    #[command(after_help = "Examples:\n  \
        metatopia log verify ~/.local/state/metatopia/plaza            all servers of `up`\n  \
        metatopia log verify server-0 --genesis plaza.genesis --json   one server\n\n\
        Nothing is changed, and the servers may be running. Every turn is applied again; its root \
        must be the one\nthat more than two thirds of the servers signed. Of a pruned log those since its oldest \
        snapshot are\napplied, and the snapshot is proved from genesis on; the same behind turns \
        that a server missed while it was\naway. Exit code 5, and the height, when anything is \
        wrong; 6 when two logs are each in order and differ.")]
    Verify(VerifyArgs),
    /// Replay the log that is part of this program, and compare its roots with those that every
    /// build on every machine must come to.
    #[command(after_help = "A machine on which this fails must not serve a sim: exit code 5.")]
    Golden,
}

#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    /// The data directory of a server, or one that holds several.
    dir: PathBuf,
    /// The sim's genesis [default: the file `genesis` in each data directory].
    #[arg(long, value_name = "FILE")]
    genesis: Option<PathBuf>,
}

/// What was found in one data directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Verdict {
    dir: String,
    server: Option<String>,
    sim: Option<String>,
    ok: bool,
    /// The first height that was applied again: 1, or the one after the snapshot of a pruned log.
    applied_from: u64,
    /// The first height that the log holds, if earlier ones were removed.
    oldest: Option<u64>,
    /// Turns that the log leaves out, first and last: the server went on with a state that it fetched
    /// from others.
    missing: Vec<[u64; 2]>,
    /// The last height that is in order; of something wrong, the first that is not.
    height: u64,
    root: Option<String>,
    acts: u64,
    records: u64,
    /// Bytes of a record that a crash has torn, at the very end: no harm.
    torn_bytes: u64,
    /// How often the server found its own state wrong, and healed: no harm to the log.
    heals: u64,
    /// The turns after which it went on from a state that more than two thirds of the voting power
    /// signed for in a recovery.
    recoveries: Vec<u64>,
    error: Option<String>,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { dir, height, acts, records, .. } = self;
        if let Some(error) = &self.error {
            return write!(f, "{dir}: WRONG at height {height}: {error}");
        }
        write!(f, "{dir}: in order up to height {height}, {acts} acts, {records} records")?;
        if let Some(root) = &self.root {
            write!(f, ", root {root}")?;
        }
        if let Some(oldest) = self.oldest {
            write!(f, "; pruned below height {oldest}, ask an archive for what was before")?;
        }
        for [first, last] in &self.missing {
            write!(
                f,
                "; it was away for turns {first} to {last}, and fetched the state after them"
            )?;
        }
        if self.heals > 0 {
            write!(f, "; it healed {} times from a wrong state", self.heals)?;
        }
        for height in &self.recoveries {
            write!(f, "; after turn {height} it was recovered, as operators signed")?;
        }
        if self.torn_bytes > 0 {
            write!(f, ", and {} bytes that a crash tore", self.torn_bytes)?;
        }
        Ok(())
    }
}

pub(super) fn run(command: LogCommand, console: Console) -> Result<(), Failure> {
    match command {
        LogCommand::Verify(args) => verify_all(&args, console),
        LogCommand::Golden => golden(console),
    }
}

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

fn verify_all(args: &VerifyArgs, console: Console) -> Result<(), Failure> {
    let servers = data_directories(&args.dir)?;
    let (mut wrong, mut chains) = (Vec::new(), Vec::new());
    for dir in &servers {
        console.note(&format!("verifying {}", dir.display()));
        let genesis = args.genesis.clone().unwrap_or_else(|| dir.join(GENESIS));
        let checked = verify(dir, &genesis, &mut ())?;
        let verdict = verdict(dir, &checked);
        console.show(&verdict)?;
        match &verdict.error {
            Some(error) => {
                wrong.push(format!("{} at height {}: {error}", verdict.dir, verdict.height))
            }
            None => chains.push((verdict.dir, checked.base.0, checked.turns)),
        }
    }
    if let Some(first) = wrong.first() {
        return Err(Failure::unverified(first.clone()));
    }
    match split(&chains) {
        None => Ok(()),
        Some((a, b, height)) => {
            let message = format!("{a} and {b} hold different turns from height {height} on");
            Err(Failure::new(Exit::Diverged, message))
        }
    }
}

fn verdict(dir: &Path, checked: &Checked) -> Verdict {
    let sound = checked.base.0 + checked.turns.len() as u64;
    Verdict {
        dir: dir.display().to_string(),
        server: checked.server.map(|server| server.to_string()),
        sim: checked.sim.map(|sim| sim.to_string()),
        ok: checked.wrong.is_none(),
        applied_from: checked.base.0 + 1,
        oldest: checked.oldest.map(|oldest| oldest.0),
        missing: checked.missing.iter().map(|(first, last)| [first.0, last.0]).collect(),
        height: if checked.wrong.is_some() { sound + 1 } else { sound },
        root: checked.world.as_ref().map(|world| world.root().to_string()),
        acts: checked.acts,
        records: checked.records,
        torn_bytes: checked.torn_bytes,
        heals: checked.heals,
        recoveries: checked.recoveries.iter().map(|height| height.0).collect(),
        error: checked.wrong.clone(),
    }
}

/// `dir` itself, or the data directories in it, by name.
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
        // A log whose identity is gone is found too, and then reported.
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

/// The first two logs that differ where both have turns, and from which height on. The turns of each
/// begin after the height that it comes with.
fn split(chains: &[(String, u64, Vec<HeaderId>)]) -> Option<(&str, &str, u64)> {
    // No log need have all heights: each is held against whoever had the turn first.
    let mut known: BTreeMap<u64, (&str, &HeaderId)> = BTreeMap::new();
    for (name, after, turns) in chains {
        for (height, turn) in (after + 1..).zip(turns) {
            let (holder, own) = known.entry(height).or_insert((name, turn));
            if *own != turn {
                return Some((holder, name, height));
            }
        }
    }
    None
}

#[cfg(test)]
pub(super) mod fixture;
#[cfg(test)]
mod tests;
