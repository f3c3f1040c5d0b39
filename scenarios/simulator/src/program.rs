//! The command line: what is played, and how it ended.

/// Writes a line to standard output, as `println!` does; see [`write_line`].
macro_rules! say {
    ($($words:tt)*) => { $crate::program::write_line(&format!($($words)*)) };
}

mod border_bank;
mod bugbank;
mod campaign;
mod crossing;
mod overlay;
mod replay;
mod report;
mod span;
mod story_files;
mod swarm;
mod twins;

use std::{
    io::{self, Write as _},
    process::{self, ExitCode},
};

use clap::{Parser, Subcommand};

/// Plays clusters of servers against faults in a simulated world, and holds them to their laws.
///
/// Everything follows from a seed: the same seed is the same history, on every machine. A whole
/// cluster lives in one thread, with virtual clocks, a virtual network and virtual disks, so an hour
/// of its time takes much less of yours.
#[derive(Debug, Parser)]
#[command(name = "metatopia-simulator", version, after_help = ENDS)]
struct SimulatorArgs {
    #[command(subcommand)]
    command: SimulatorCommand,
}

const ENDS: &str = "Ends with:
  0  all laws held, and all expectations of stories came true
  1  a law was broken, an expectation did not come true, a class of faults never happened in 100
     seeds or more, nothing crossed in a class of worlds, or a figure of the overlay or of the
     crossing is past its bound
  2  usage: the command line or a file is wrong
  3  a file that was named is not there";

#[derive(Debug, Subcommand)]
enum SimulatorCommand {
    /// Plays worlds with faults drawn from their seeds, class by class
    Swarm(swarm::SwarmArgs),
    /// Plays schedules of a server that runs twice, with every leader and partition
    Twins(twins::TwinsArgs),
    /// Breaks one rule after the other, and sees whether the world notices
    Bugbank(bugbank::BugbankArgs),
    /// Plays the overlay of a world of many sims, and prints its figures beside their bounds
    Overlay(overlay::OverlayArgs),
    /// Plays two sims side by side, with people and balls that cross the border between them
    Crossing(crossing::CrossingArgs),
    /// Tells the world of one seed, and what it stands for
    Replay(replay::SeedReplayArgs),
    /// Plays stories from files, with whole servers and people
    Scenario {
        #[command(subcommand)]
        command: story_files::StoryCommand,
    },
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SimulatorExit {
    /// All laws held.
    Sound,
    /// One did not, or the run proves nothing.
    Broken,
    /// The command line names something that there is not, or a file is wrong.
    Usage,
    /// There is no such file.
    NotFound,
}

/// Writes a line to standard output. If whoever reads it has closed it, all is told that anybody wants to know: the
/// program ends, and says nothing more.
pub(crate) fn write_line(line: &str) {
    let mut out = io::stdout().lock();
    let Err(error) = writeln!(out, "{line}").and_then(|()| out.flush()) else { return };
    if error.kind() != io::ErrorKind::BrokenPipe {
        eprintln!("error: cannot write to standard output: {error}");
    }
    process::exit(1);
}

pub(crate) fn main() -> ExitCode {
    let exit = match SimulatorArgs::parse().command {
        SimulatorCommand::Swarm(arguments) => swarm::run(&arguments),
        SimulatorCommand::Twins(arguments) => twins::run(&arguments),
        SimulatorCommand::Bugbank(arguments) => bugbank::run(&arguments),
        SimulatorCommand::Overlay(arguments) => overlay::run(&arguments),
        SimulatorCommand::Crossing(arguments) => crossing::run(&arguments),
        SimulatorCommand::Replay(arguments) => replay::run(&arguments),
        SimulatorCommand::Scenario { command } => story_files::run(&command),
    };
    match exit {
        SimulatorExit::Sound => ExitCode::SUCCESS,
        SimulatorExit::Broken => ExitCode::FAILURE,
        SimulatorExit::Usage => ExitCode::from(2),
        SimulatorExit::NotFound => ExitCode::from(3),
    }
}
