//! `bisect` shows where two histories of one sim differ first, down to the field.

#[cfg(test)]
mod tests;

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::Args;
use metatopia_audit::{
    SimStart,
    bisect::{BisectError, BisectSide, BisectSideError, DifferenceKind, bisect},
};
use metatopia_sim::Capsule;

use super::{
    console::Console,
    exit::Exit,
    failure::Failure,
    genesis_file::read_start,
    log::NEWER_PROGRAM,
    sources::{SourceKind, only_directory, open_directory, pool},
    up::world::GENESIS,
};
use crate::{disk::DataDirectory, engine::OtherEngine};

/// The arguments of `bisect`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    metatopia bisect plaza/server-0 plaza/server-3\n  \
    metatopia bisect plaza/server-0 plaza/server-3/data/capsules/capsule-1203.capsule --json\n\n\
    A and B are data directories of servers, or capsules that servers or tabs wrote. The servers \
    may be\nrunning. The result is the first turn that differs, or after which the states differ. \
    If both states can\nbe had, from a capsule, from a snapshot, or by playing the turns again, \
    then the leaf, the body or\nscript, the field and both values follow. Exit code 0 when the \
    histories are equal as far as both go, 6\nwhen they differ, and 8 when they differ and the turns need a \
    port that this program lacks.\n\nWhen another turn was decided, \
    both turns are played tick by tick from the state before them. The result\nnames the first \
    tick after which a body or a script is not the same. What the headers and acts themselves\nput \
    into the state differs at once. When the turn is the same but the state is not, one machine \
    went\nwrong in between. Playing the turn again does not show when, and servers keep the \
    results of turns, not\nof ticks. Then the result names the range of ticks since both had one \
    root, and\n`metatopia replay --stages` on both machines tells the rest.")]
pub(super) struct BisectArgs {
    /// A data directory, or a capsule.
    a: PathBuf,
    /// The data directory or capsule to compare with the first one.
    b: PathBuf,
    /// The sim's genesis [default: the file `genesis` in each data directory].
    #[arg(long, value_name = "FILE")]
    genesis: Option<PathBuf>,
}

/// A history of the command line, opened.
struct OpenedHistory {
    /// The path as the command line gave it.
    name: String,
    content: HistoryContent,
}

/// The file or directory that a history is read from.
enum HistoryContent {
    Log(DataDirectory, Box<SimStart>),
    Capsule(Box<Capsule>),
}

impl OpenedHistory {
    /// Opens a data directory or a capsule.
    fn open(path: &Path, genesis: Option<&Path>) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let content = match SourceKind::at(path)? {
            SourceKind::Directory => {
                let dir = only_directory(path)?;
                let disk = open_directory(&dir)?;
                let start = match genesis {
                    Some(file) => read_start(file)?,
                    None => read_start(&dir.join(GENESIS))?,
                };
                HistoryContent::Log(disk, Box::new(start))
            }
            SourceKind::Capsule => {
                let bytes = fs::read(path)
                    .map_err(|error| Failure::failed(format!("cannot read {name}: {error}")))?;
                let capsule = Capsule::decode(&bytes)
                    .map_err(|error| Failure::unverified(format!("{name}: {error}")))?;
                HistoryContent::Capsule(Box::new(capsule))
            }
        };
        Ok(Self { name, content })
    }

    /// Reads the decided turns and the noted roots of this history.
    fn side(&self) -> Result<BisectSide<'_>, Failure> {
        let side = match &self.content {
            HistoryContent::Log(disk, start) => BisectSide::log(&self.name, disk, start),
            HistoryContent::Capsule(capsule) => {
                BisectSide::capsule(&self.name, Capsule::clone(capsule))
            }
        };
        side.map_err(|error| match error {
            BisectSideError::OtherEngine(engine) => {
                OtherEngine::new(self.name.clone(), engine, None).into()
            }
            error => Failure::unverified(format!("{}: {error}", self.name)),
        })
    }
}

impl From<BisectError> for Failure {
    fn from(error: BisectError) -> Self {
        let advice = match error {
            BisectError::OtherSim { .. } => "only histories of one sim can be compared",
            BisectError::NoCommonHeight { .. } => {
                "compare each with the directory of an archive, which keeps all turns"
            }
        };
        Self::usage(error.to_string()).hint(advice)
    }
}

pub(super) fn run(args: &BisectArgs, console: Console) -> Result<(), Failure> {
    let genesis = args.genesis.as_deref();
    console.note(&format!("reading {}", args.a.display()));
    let a = OpenedHistory::open(&args.a, genesis)?;
    let a = a.side()?;
    console.note(&format!("reading {}", args.b.display()));
    let b = OpenedHistory::open(&args.b, genesis)?;
    let b = b.side()?;
    let found = bisect(&a, &b, &pool()?, &|height, target| {
        console.note(&format!("played to turn {height} of {target}"));
    })?;
    console.show(&found)?;
    let Some(difference) = found.difference else {
        return Ok(());
    };
    let message = format!("{} and {} part at turn {}", a.name, b.name, difference.height);
    if let (Some(missing), None) = (&difference.missing_port, &difference.leaf) {
        let message = format!("{message}, and which field differs is not known: {missing}");
        return Err(Failure::new(Exit::OtherEngine, message).hint(NEWER_PROGRAM));
    }
    let failure = Failure::new(Exit::Diverged, message);
    Err(match (difference.what, difference.leaf) {
        (Some(DifferenceKind::State), None) => {
            failure.hint("a capsule of the one that is wrong would name the field")
        }
        _ => failure,
    })
}
