//! `recover propose` and `recover sign`.

use std::{fs, io::Write as _, path::Path, path::PathBuf};

use clap::Args;
use metatopia_sim::ENGINE;
use metatopia_types::{Height, Recovery, Sign as _, SignedRecovery, SigningKey};

use super::{
    RecoveryLine, file,
    stopped::{LogNotes, Stopped, not_certified, nothing_decided},
};
use crate::{
    cli::{arguments, console::Console, exit::Exit, failure::Failure, kept_state::KeptState},
    formats::recovery,
    keys,
};

/// The key that a server votes with, in its directory.
const VOTE_KEY: &str = "vote.key";

/// A stopped server, and the key that it signs with.
#[derive(Debug, Args)]
pub(super) struct ServerArgs {
    /// The data directory of a stopped server.
    #[arg(long, value_name = "DIR")]
    pub(super) data_dir: PathBuf,
    /// The key it votes with [default: vote.key in its directory].
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// The sim's genesis [default: the file `genesis` in its directory].
    #[arg(long, value_name = "FILE")]
    genesis: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ProposeArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// After the turn of this height [default: the last one that is decided].
    #[arg(long, value_name = "HEIGHT", value_parser = arguments::height)]
    to: Option<Height>,
    /// The file to write; it must be new.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct SignArgs {
    /// A file of `recover propose`.
    file: PathBuf,
    #[command(flatten)]
    server: ServerArgs,
    /// Sign although this server comes to another state: it is the one that is wrong.
    #[arg(long)]
    give_way: bool,
}

impl ServerArgs {
    fn open(&self, console: Console) -> Result<(Stopped, LogNotes, SigningKey), Failure> {
        let stopped = Stopped::open(&self.data_dir, self.genesis.as_deref())?;
        let path = self.key.clone().unwrap_or_else(|| stopped.dir.join(VOTE_KEY));
        let key = keys::load(&path)?;
        if key.public() != stopped.server {
            let message = format!("{} is not the key of server {}", path.display(), stopped.server);
            return Err(Failure::usage(message));
        }
        let notes = stopped.notes(console)?;
        Ok((stopped, notes, key))
    }
}

pub(super) fn propose(args: &ProposeArgs, console: Console) -> Result<(), Failure> {
    let (stopped, notes, key) = args.server.open(console)?;
    let archive = stopped.archive();
    let tip = archive.tip();
    let height = args.to.unwrap_or(tip);
    if tip == Height(0) {
        return Err(nothing_decided());
    }
    if height == Height(0) || height > tip {
        let message = format!("the last decided turn is {tip}: there is no state to go on from");
        return Err(Failure::refused(message).hint("name a turn from 1 to that one by --to"));
    }
    // A pruned log does not have what the state after an old turn is computed from.
    not_certified(height, tip)?;
    let KeptState { roots, turns, .. } = archive.after(height).map_err(|failure| {
        failure.hint("if this server is the one that is wrong, let another one propose")
    })?;
    let header = turns.first().map(|turn| turn.id()).unwrap_or_default();
    let (sim, number) = (stopped.genesis.id(), notes.next_number(height));
    let recovery = Recovery { sim, engine: ENGINE, number, height, header, roots };
    notes.check(&recovery, tip)?;
    if !notes.shows_a_stall(tip) {
        console.warn(&format!(
            "this log shows no stall: it ends soon after turn {tip}, as that of any server that was \
             stopped; others may go on without it: see `metatopia status` of each before they sign"
        ));
    }
    let mut signed = SignedRecovery::new(recovery);
    signed.sign(&key);
    write_new(&args.out, &recovery::encode(&signed))?;
    console.show(&RecoveryLine::of(&signed))
}

pub(super) fn sign(args: &SignArgs, console: Console) -> Result<(), Failure> {
    let mut signed = file::read(&args.file)?;
    let (stopped, notes, key) = args.server.open(console)?;
    of_this_sim(&signed.recovery, &stopped)?;
    let archive = stopped.archive();
    notes.check(&signed.recovery, archive.tip())?;
    let Recovery { height, roots, .. } = signed.recovery;
    let own = archive.after(height).map(|kept_state| kept_state.roots);
    if own.as_ref().ok() != Some(&roots) && !args.give_way {
        let own = match own {
            Ok([_, own]) => format!("root {own}"),
            Err(failure) => failure.message,
        };
        let message = format!(
            "this server comes to another state after turn {height}: {own}, where the recovery \
             says {}",
            roots[1]
        );
        return Err(Failure::new(Exit::Diverged, message)
            .hint("if this server is the one that is wrong, sign with --give-way"));
    }
    signed.sign(&key);
    // Beside it first: the file is whole at every moment.
    let draft = args.file.with_extension("signing");
    let _left_by_a_crash = fs::remove_file(&draft);
    write_new(&draft, &recovery::encode(&signed))?;
    fs::rename(&draft, &args.file).map_err(|error| failed(&args.file, &error))?;
    console.show(&RecoveryLine::of(&signed))
}

/// Is a recovery about the sim of this directory, and of its rules?
pub(super) fn of_this_sim(recovery: &Recovery, stopped: &Stopped) -> Result<(), Failure> {
    let sim = stopped.genesis.id();
    if recovery.sim != sim {
        let message = format!("the recovery is for sim {}, the server is of {sim}", recovery.sim);
        return Err(Failure::unverified(message));
    }
    if recovery.engine != ENGINE {
        let message = format!("the recovery is of engine {}, not {ENGINE}", recovery.engine);
        return Err(Failure::usage(message).hint("use the program that the others use"));
    }
    Ok(())
}

fn write_new(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let file = fs::OpenOptions::new().write(true).create_new(true).open(path);
    let written = file.and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.map_err(|error| failed(path, &error))
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::failed(format!("cannot write {}: {error}", path.display()))
}
