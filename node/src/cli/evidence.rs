//! `evidence` finds and checks evidence: two signatures that no honest server gives, and two headers of one
//! height that no honest neighbour certifies.

#[cfg(test)]
mod tests;
mod twins;

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use metatopia_audit::evidence::{
    self, EVIDENCE_BYTES_MAX, EvidenceFault, EvidenceFile, EvidenceFileError, EvidenceLine,
    TwinFile,
};
use metatopia_types::{Height, SimId, ValidatorsId};

use super::{
    console::Console,
    failure::Failure,
    genesis_file::read_genesis,
    sources::{only_directory, open_directory},
    up::world::GENESIS,
};

#[derive(Debug, Subcommand)]
pub(super) enum EvidenceCommand {
    /// Look through a server's log for servers that signed two things at once, and for neighbours that
    /// certified two headers of one height.
    #[command(after_help = "Examples:\n  \
        metatopia evidence list plaza/server-0\n  \
        metatopia evidence list plaza/server-0 --out liars.evidence\n  \
        metatopia evidence list plaza/server-0 --headers garden.evidence\n\n\
        The result is conflicting votes and proposals that this server got, and reports that were \
        decided on.\nTwo headers of one height close the border to a neighbour for good: they are \
        told with their digests and\nwith the servers that signed both, and --headers writes them \
        into a file of their own.\nNothing is changed, and the server may be running. Without \
        evidence no file is written, and the exit code\nis still 0. It is 5 where such a border has \
        its headers in this log no longer.")]
    List(ListArgs),
    /// Check a file of evidence by itself: it holds all that is needed.
    #[command(after_help = "Examples:\n  \
        metatopia evidence verify liars.evidence\n  \
        metatopia evidence verify liars.evidence --sim 9f86d081...\n  \
        metatopia evidence verify garden.evidence --validators 5c1d22e0...\n\n\
        From the genesis in the file, which gives the sim's id, every change of the validators \
        is followed.\nThen each accused server must have voted at that height, and must have \
        signed both messages. A file of two headers\nproves who votes from the genesis of the \
        neighbour, if the log still held the opening of the border. If not,\nit gives the set, and \
        --validators says that you believe in it: `metatopia sim show --node URL --at HEIGHT` \
        proves who voted there.\nExit code 5 when anything does not hold.")]
    Verify(EvidenceVerifyArgs),
}

#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// The data directory of the server.
    dir: PathBuf,
    /// The sim's genesis [default: the file `genesis` in the data directory].
    #[arg(long, value_name = "FILE")]
    genesis: Option<PathBuf>,
    /// Write the evidence into a new file, for others to verify.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write the two headers of one height that each neighbour certified into a new file.
    #[arg(long, value_name = "FILE")]
    headers: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct EvidenceVerifyArgs {
    /// A file that `evidence list` wrote by --out or --headers.
    file: PathBuf,
    /// The sim that the evidence must be about [default: any].
    #[arg(long)]
    sim: Option<SimId>,
    /// The set of validators that you believe in, for two headers whose file proves none;
    /// `metatopia sim show --node URL --at HEIGHT` prints that of a height.
    #[arg(long, value_name = "SET")]
    validators: Vec<ValidatorsId>,
}

impl From<EvidenceFileError> for Failure {
    fn from(error: EvidenceFileError) -> Self {
        Self::unverified(error.to_string())
    }
}

pub(super) fn run(command: EvidenceCommand, console: Console) -> Result<(), Failure> {
    match command {
        EvidenceCommand::List(args) => list(&args, console),
        EvidenceCommand::Verify(args) => verify(&args, console),
    }
}

/// Searches the log in a data directory.
fn search(dir: &Path, genesis: &Path, console: Console) -> Result<EvidenceFile, Failure> {
    let sim = read_genesis(genesis)?.id();
    let encoded = fs::read(genesis).map_err(|error| Failure::failed(error.to_string()))?;
    let disk = open_directory(dir)?;
    let mut skipped = |why: &str| console.warn(&format!("snapshot passed over: {why}"));
    evidence::search(&disk, sim, encoded, &mut skipped)
        .map_err(|error| Failure::unverified(format!("{}: {error}", dir.display())))
}

fn list(args: &ListArgs, console: Console) -> Result<(), Failure> {
    let dir = only_directory(&args.dir)?;
    let genesis = args.genesis.clone().unwrap_or_else(|| dir.join(GENESIS));
    console.note(&format!("reading {}", dir.display()));
    let found = search(&dir, &genesis, console)?;
    for (evidence, holds) in found.evidence.iter().zip(found.check()?) {
        console.show(&EvidenceLine::of(evidence, holds))?;
    }
    if found.evidence.is_empty() {
        console.note("no server signed two things at once");
    }
    if let Some(out) = &args.out {
        let bytes = (!found.evidence.is_empty()).then(|| found.encode());
        write_new(out, bytes, console)?;
    }
    twins::list(args, (&dir, found.sim()?), console)
}

/// Writes evidence into a new file, if there is any.
fn write_new(out: &Path, bytes: Option<Vec<u8>>, console: Console) -> Result<(), Failure> {
    let Some(bytes) = bytes else {
        console.warn(&format!("there is nothing to write: {} is not made", out.display()));
        return Ok(());
    };
    let mut file = fs::OpenOptions::new();
    let written = file.write(true).create_new(true).open(out).and_then(|mut file| {
        std::io::Write::write_all(&mut file, &bytes)?;
        file.sync_all()
    });
    written.map_err(|error| Failure::failed(format!("cannot write {}: {error}", out.display())))?;
    console.note(&format!("written to {}", out.display()));
    Ok(())
}

fn verify(args: &EvidenceVerifyArgs, console: Console) -> Result<(), Failure> {
    let name = args.file.display();
    let metadata = fs::metadata(&args.file);
    if metadata.is_ok_and(|metadata| metadata.len() > EVIDENCE_BYTES_MAX as u64) {
        return Err(Failure::unverified(format!("{name} is too long for a file of evidence")));
    }
    let bytes = fs::read(&args.file).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Failure::not_found(format!("there is no {name}")),
        _ => Failure::failed(format!("cannot read {name}: {error}")),
    })?;
    if TwinFile::is_at(&bytes) {
        return twins::verify(args, &bytes, console);
    }
    let file = EvidenceFile::decode(&bytes)
        .map_err(|error| Failure::unverified(format!("{name}: {error}")))?;
    let sim = file.sim()?;
    if let Some(wanted) = args.sim.filter(|wanted| *wanted != sim) {
        return Err(Failure::unverified(format!("{name} is about sim {sim}, not {wanted}")));
    }
    console.note(&format!("about sim {sim}"));
    let mut wrong: Option<(Height, EvidenceFault)> = None;
    for (evidence, holds) in file.evidence.iter().zip(file.check()?) {
        if let Err(error) = &holds {
            wrong.get_or_insert((evidence.accused().1, error.clone()));
        }
        console.show(&EvidenceLine::of(evidence, holds))?;
    }
    match wrong {
        Some((height, error)) => {
            Err(Failure::unverified(format!("{name}: height {height}: {error}")))
        }
        None if file.evidence.is_empty() => {
            Err(Failure::unverified(format!("{name} holds no evidence")))
        }
        None => Ok(()),
    }
}
