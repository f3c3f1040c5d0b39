//! `capsule` shows what a server or a browser tab kept when its state differed from the others'.

use std::{fs, path::PathBuf};

use clap::{Args, Subcommand};
use metatopia_audit::capsule::explain;
use metatopia_sim::{Capsule, CapsuleError, Unsound};

use super::{
    console::Console, exit::Exit, failure::Failure, log::NEWER_PROGRAM, numbers::number_of,
    sources::SourceKind,
};

#[derive(Debug, Subcommand)]
pub(super) enum CapsuleCommand {
    /// Print what differed: the turn, the leaf, the field and both values, and who signed what.
    #[command(after_help = "Examples:\n  \
        metatopia capsule show server-3/capsules/capsule-1203.capsule\n  \
        metatopia capsule show capsule-1203.capsule --json\n\n\
        The turns in the capsule are applied to the state in it, and the results are compared with \
        those of its\nwriter. A field is named if the writer's last state is in the capsule and \
        still differs. Exit code 5 when\nthe file is no capsule, or its turns are not certified.")]
    Show(CapsuleShowArgs),
}

#[derive(Debug, Args)]
pub(super) struct CapsuleShowArgs {
    /// A file from the folder `capsules` of a data directory, or one that a browser tab saved.
    file: PathBuf,
}

pub(super) fn run(command: CapsuleCommand, console: Console) -> Result<(), Failure> {
    let CapsuleCommand::Show(args) = command;
    let file = args.file.display().to_string();
    if SourceKind::at(&args.file)? == SourceKind::Directory {
        return Err(Failure::usage(format!("{file} is a directory"))
            .hint("name a file in its folder `capsules`"));
    }
    let bytes = fs::read(&args.file)
        .map_err(|error| Failure::failed(format!("cannot read {file}: {error}")))?;
    let capsule = Capsule::decode(&bytes).map_err(|error| broken(&file, &error))?;
    let turns = number_of(capsule.turns.len(), "turn", "turns");
    console.note(&format!("applying {turns} again"));
    let summary = explain(file.clone(), &capsule).map_err(|error| broken(&file, &error))?;
    console.show(&summary)
}

fn broken(file: &str, error: &CapsuleError) -> Failure {
    let failure = Failure::unverified(format!("{file}: {error}"));
    match error {
        CapsuleError::Turns { why: Unsound::MissingPort(_), .. } => {
            Failure { exit: Exit::OtherEngine, ..failure }.hint(NEWER_PROGRAM)
        }
        error if error.other_engine().is_some() => Failure { exit: Exit::OtherEngine, ..failure },
        _ => failure,
    }
}
