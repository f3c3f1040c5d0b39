//! `scenario` plays stories of servers and faults by the simulator. The simulator is a program of
//! its own, so that this one holds nothing that could break a rule on purpose. Its words, output
//! and exit code are passed through. Where it is missing, it is built from the source that this
//! program was built from.

mod player;

use std::{
    ffi::OsString,
    path::PathBuf,
    process::{self, ExitStatus},
};

use clap::{Args, Subcommand};

use super::{console::Console, exit::Exit, failure::Failure};

#[derive(Debug, Subcommand)]
pub(super) enum ScenarioCommand {
    /// Play stories with whole servers in a simulated network, and say which expectations did not
    /// come true.
    #[command(after_help = "Examples:\n  \
        metatopia scenario run scenarios/stories/poison-act.toml\n  \
        metatopia scenario run my-story.toml --seed 7 --json\n\n\
        A story is a TOML file with servers, people, scripts, faults, and what should come of \
        them;\ndocs/stories.md describes it. The same story with the same seed is the same \
        history, on every machine.\nExit code 0 if all expectations came true, 1 if not, 2 if a \
        file is wrong. The program\nmetatopia-simulator plays the stories. It lies beside this one \
        or on PATH; if it is missing, it is built\nfirst, from the source that this program was \
        built from.")]
    Run(ScenarioRunArgs),
    /// Read stories without playing them. Mistakes are shown with line and column.
    Check(ScenarioCheckArgs),
}

#[derive(Debug, Args)]
pub(super) struct ScenarioRunArgs {
    /// The files of the stories.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// A seed to use instead of each story's own.
    #[arg(long)]
    seed: Option<u64>,
}

#[derive(Debug, Args)]
pub(super) struct ScenarioCheckArgs {
    /// The files of the stories.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

pub(super) fn run(command: ScenarioCommand, console: Console) -> Result<(), Failure> {
    let (verb, seed, files) = match command {
        ScenarioCommand::Run(ScenarioRunArgs { files, seed }) => ("run", seed, files),
        ScenarioCommand::Check(ScenarioCheckArgs { files }) => ("check", None, files),
    };
    let mut words: Vec<OsString> = vec!["scenario".into(), verb.into()];
    if let Some(seed) = seed {
        words.extend(["--seed".into(), seed.to_string().into()]);
    }
    if console.is_json() {
        words.push("--json".into());
    }
    words.push("--".into());
    words.extend(files.into_iter().map(OsString::from));
    let world = player::found_or_built(console)?;
    let status = process::Command::new(&world)
        .args(words)
        .status()
        .map_err(|error| Failure::failed(format!("cannot start {}: {error}", world.display())))?;
    pass_on(status)
}

fn pass_on(status: ExitStatus) -> Result<(), Failure> {
    let exit = Exit::ALL.into_iter().find(|exit| Some(i32::from(exit.code())) == status.code());
    match exit {
        Some(Exit::Ok) => Ok(()),
        // The simulator has said why.
        Some(exit) => Err(Failure::quiet(exit)),
        None => Err(Failure::failed(format!("{} did not end by itself: {status}", player::NAME))),
    }
}
