//! `recover propose` and `recover sign` write and sign files of recoveries.

use std::{fs, io::Write as _, path::Path, path::PathBuf};

use clap::Args;
use metatopia_audit::recover::{
    OwnStateError, ProposeError, RecoveryNotes, file::encode, own_state,
    propose as propose_recovery,
};
use metatopia_types::{Height, Recovery, Sign as _, SignedRecovery, SigningKey};

use super::{RecoveryLine, file, stopped::Stopped};
use crate::{
    atomic_file::replace,
    cli::{arguments, console::Console, exit::Exit, failure::Failure},
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
    /// The key that the server votes with [default: vote.key in its directory].
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
    /// The height of the turn after which the sim goes on [default: the last decided one].
    #[arg(long, value_name = "HEIGHT", value_parser = arguments::height)]
    to: Option<Height>,
    /// The file to write, which must be new.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct SignArgs {
    /// A file that `recover propose` wrote.
    file: PathBuf,
    #[command(flatten)]
    server: ServerArgs,
    /// Sign although this server comes to another state: this server is the one that is wrong.
    #[arg(long)]
    give_way: bool,
}

impl ServerArgs {
    fn open(&self, console: Console) -> Result<(Stopped, RecoveryNotes, SigningKey), Failure> {
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
    let files = stopped.files();
    let recovery = propose_recovery(&files, &notes, args.to).map_err(|error| match error {
        ProposeError::Refused(refusal) => refusal.into(),
        ProposeError::State(error) => stopped
            .unknown_state(error)
            .hint("if this server is the one that is wrong, let another one propose"),
    })?;
    let tip = files.tip();
    if !notes.shows_a_stall(tip) {
        console.warn(&format!(
            "this log shows no stall: it ends soon after turn {tip}, as the log of any stopped \
             server does; the others may go on without it: see `metatopia status` of each before they sign"
        ));
    }
    let mut signed = SignedRecovery::new(recovery);
    signed.sign(&key);
    write_new(&args.out, &encode(&signed))?;
    console.show(&RecoveryLine::of(&signed))
}

pub(super) fn sign(args: &SignArgs, console: Console) -> Result<(), Failure> {
    let mut signed = file::read(&args.file)?;
    let (stopped, notes, key) = args.server.open(console)?;
    stopped.check_sim(&signed.recovery)?;
    let files = stopped.files();
    notes.check(&signed.recovery, files.tip())?;
    let Recovery { height, roots, .. } = signed.recovery;
    if let Err(error) = own_state(&files, &signed.recovery)
        && !args.give_way
    {
        let own = match error {
            OwnStateError::OtherRoot { root, .. } => format!("root {root}"),
            OwnStateError::Unknown(error) => stopped.unknown_state(error).message,
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
    // The file is whole at every moment, with all signatures that were in it.
    replace(&args.file, &encode(&signed)).map_err(|error| failed(&args.file, &error))?;
    console.show(&RecoveryLine::of(&signed))
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
