//! `recover` says from which state a stalled sim goes on. Operators of its servers sign that.

mod apply;
mod file;
mod sign;
mod stopped;
#[cfg(test)]
mod tests;

use std::{fmt, path::PathBuf};

use clap::{Args, Subcommand};
use metatopia_types::SignedRecovery;
use serde::Serialize;

use super::{console::Console, failure::Failure};

#[derive(Debug, Subcommand)]
pub(super) enum RecoverCommand {
    /// Write down the state that this server has after its last turn, signed, for others to sign
    /// too.
    #[command(after_help = "Examples:\n  \
        metatopia recover propose --data-dir plaza/server-0 --out plaza.recovery\n  \
        metatopia recover sign plaza.recovery --data-dir plaza/server-1\n  \
        metatopia recover sign plaza.recovery --data-dir plaza/server-2 --give-way\n  \
        metatopia recover apply plaza.recovery --data-dir plaza/server-0        on every server\n\n\
        This is for a sim whose servers disagree about a state, so that no root has a quorum: \
        `status` says\n`stalled`. All servers are stopped, `bisect` shows where they differ, and \
        people decide who is right. The\nstate is computed again from the server's own snapshot \
        and turns. No decided turn is undone, and no vote.\n\nOnly people who ask every server can \
        know that the sim is stalled, and not just this server stopped. This\ncommand reads one \
        log, and warns if that shows no stall. Exit code 4 when this server runs, when no turn\nis \
        decided, or when later turns certify the root after the turn of --to: then there is \
        nothing to\nrecover.")]
    Propose(sign::ProposeArgs),
    /// Sign a proposal, if this server comes to the same state.
    #[command(
        after_help = "The file gets one more signature. Copies that were signed apart can be given \
        to `recover apply` together.\nA server that comes to another state refuses with exit code \
        6. If that server is the one that is wrong,\nits operator gives --give-way."
    )]
    Sign(sign::SignArgs),
    /// Show the facts of a recovery, and who signed it.
    Show(RecoverShowArgs),
    /// Take a recovery into a stopped server's log, so that the server goes on from that state.
    #[command(after_help = "Examples:\n  \
        metatopia recover apply plaza.recovery --data-dir plaza/server-0\n  \
        metatopia recover apply ada.recovery bob.recovery --data-dir plaza/server-1\n  \
        metatopia recover apply plaza.recovery --data-dir plaza/server-2 \\\n      \
        --state snapshot-..            a server that comes to another state takes this one\n\n\
        More than two thirds of the voting power must have signed: exit code 5 if not. Snapshots \
        of other states\nare put into the folder `aside`. When the recovery is taken, `snapshots` \
        holds the state that others may\nneed.")]
    Apply(apply::ApplyArgs),
}

#[derive(Debug, Args)]
pub(super) struct RecoverShowArgs {
    /// A file that `recover propose` wrote.
    file: PathBuf,
}

/// A recovery, as commands print it.
#[derive(Debug, Serialize)]
struct RecoveryLine {
    sim: String,
    number: u32,
    height: u64,
    header: String,
    /// The root after the turn of that height.
    root: String,
    signed_by: Vec<String>,
}

impl RecoveryLine {
    fn of(signed: &SignedRecovery) -> Self {
        let recovery = &signed.recovery;
        Self {
            sim: recovery.sim.to_string(),
            number: recovery.number,
            height: recovery.height.0,
            header: recovery.header.to_string(),
            root: recovery.roots[1].to_string(),
            signed_by: signed.signatures.keys().map(ToString::to_string).collect(),
        }
    }
}

impl fmt::Display for RecoveryLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sim, number, height, header, root, signed_by } = self;
        writeln!(f, "recovery {number} of sim {sim}")?;
        writeln!(f, "after turn  {height}, {header}")?;
        write!(f, "root        {root}")?;
        signed_by.iter().try_for_each(|key| write!(f, "\nsigned by   {key}"))
    }
}

pub(super) fn run(command: RecoverCommand, console: Console) -> Result<(), Failure> {
    match command {
        RecoverCommand::Propose(args) => sign::propose(&args, console),
        RecoverCommand::Sign(args) => sign::sign(&args, console),
        RecoverCommand::Show(args) => console.show(&RecoveryLine::of(&file::read(&args.file)?)),
        RecoverCommand::Apply(args) => apply::run(&args, console),
    }
}
