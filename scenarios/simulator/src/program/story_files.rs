//! `scenario`: stories from files.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand};
use metatopia_scenarios::text_of_file;
use metatopia_simulator::agreement::Violation;
use metatopia_simulator::story::limits::FILE_BYTES_MAX;
use metatopia_simulator::story::{Story, StoryEnding, StoryFileSource, Unmet};
use serde::Serialize;

use super::SimulatorExit;
use super::campaign::{CampaignProgress, quietly};

/// Files of one folder of scripts.
const FILES_MAX: usize = 64;

#[derive(Debug, Subcommand)]
pub(crate) enum StoryCommand {
    /// Plays stories, and says which of their expectations did not come true
    Run(RunArguments),
    /// Reads stories and plays nothing: mistakes are told with their lines
    Check(CheckArguments),
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// Stories, as docs/stories.md describes them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Another seed than each story's own
    #[arg(long)]
    seed: Option<u64>,
    /// One JSON object per story
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// The files of the stories
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// One JSON object per story
    #[arg(long)]
    json: bool,
}

/// A line of `scenario run --json`.
#[derive(Debug, Serialize)]
struct StoryRunLine {
    scenario: String,
    passed: bool,
    seed: u64,
    turns: usize,
    acts: usize,
    crashes: u64,
    length_ms: u64,
    longest_pause_ms: u64,
    refused: BTreeMap<&'static str, u64>,
    servers: BTreeMap<&'static str, Vec<usize>>,
    /// Laws that were broken.
    faults: Vec<ViolationLine>,
    /// Expectations that did not come true; broken laws are one of them.
    failed: Vec<Unmet>,
    digest: String,
}

/// A law that was broken.
#[derive(Debug, Serialize)]
struct ViolationLine {
    law: &'static str,
    server: Option<usize>,
    at_ms: u64,
    what: String,
}

/// A line of `scenario check --json`.
#[derive(Debug, Serialize)]
struct StoryCheckLine {
    scenario: String,
    title: String,
    seed: u64,
    length_ms: u64,
    servers: usize,
    people: usize,
    steps: usize,
    expectations: Vec<String>,
}

pub(crate) fn run(command: &StoryCommand) -> SimulatorExit {
    match command {
        StoryCommand::Run(arguments) => {
            for_each(&arguments.files, |path, story| play(path, story, arguments))
        }
        StoryCommand::Check(arguments) => {
            for_each(&arguments.files, |path, story| check(path, story, arguments.json))
        }
    }
}

/// Does something with every story; ends as the first one that did not end well.
fn for_each(files: &[PathBuf], each: impl Fn(&Path, &Story) -> SimulatorExit) -> SimulatorExit {
    let ends = files.iter().map(|path| match open(path) {
        Ok(story) => each(path, &story),
        Err((exit, why)) => {
            eprintln!("{why}");
            exit
        }
    });
    ends.fold(
        SimulatorExit::Sound,
        |first, next| if first == SimulatorExit::Sound { next } else { first },
    )
}

/// Reads a story, or says what is wrong with it.
fn open(path: &Path) -> Result<Story, (SimulatorExit, String)> {
    let text = read(path)?;
    let folder = StoryFolder(path.parent().map_or_else(PathBuf::new, Path::to_path_buf));
    Story::parse(&path.display().to_string(), &text, &folder)
        .map_err(|mistake| (SimulatorExit::Usage, mistake.to_string()))
}

fn read(path: &Path) -> Result<String, (SimulatorExit, String)> {
    let name = path.display();
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => (SimulatorExit::NotFound, format!("there is no file {name}")),
        io::ErrorKind::IsADirectory => (
            SimulatorExit::Usage,
            format!("{name} is a directory: name the files in it, as {name}/*.toml"),
        ),
        _ => (SimulatorExit::Usage, format!("cannot read {name}: {error}")),
    };
    let mut bytes = Vec::new();
    // A byte more than there may be, so that a file that is too long is seen as one.
    let limit = FILE_BYTES_MAX as u64 + 1;
    let file = fs::File::open(path).map_err(failed)?;
    file.take(limit).read_to_end(&mut bytes).map_err(failed)?;
    text_of_file(&name.to_string(), bytes)
        .map_err(|mistake| (SimulatorExit::Usage, mistake.to_string()))
}

/// The folder of a story: files that it names are looked for there.
struct StoryFolder(PathBuf);

impl StoryFileSource for StoryFolder {
    fn text(&self, path: &str) -> Result<String, String> {
        read(&self.0.join(path)).map_err(|(_, why)| why)
    }

    fn folder(&self, path: &str) -> Result<BTreeMap<String, String>, String> {
        let folder = self.0.join(path);
        let failed = |error: io::Error| format!("cannot read {}: {error}", folder.display());
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if entry.file_type().map_err(failed)?.is_file() {
                let text = read(&entry.path()).map_err(|(_, why)| why)?;
                files.insert(entry.file_name().to_string_lossy().into_owned(), text);
            }
            if files.len() > FILES_MAX {
                return Err(format!("{} has more than {FILES_MAX} files", folder.display()));
            }
        }
        Ok(files)
    }
}

/// Returns the name of a story in results: its file, without the folder.
fn name(path: &Path) -> String {
    path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn play(path: &Path, story: &Story, arguments: &RunArguments) -> SimulatorExit {
    let seed = arguments.seed.unwrap_or(story.seed);
    let mut progress = CampaignProgress::new();
    let length = story.length;
    let played = quietly(|| {
        story.play(seed, |at| {
            progress.tell(|| format!("{}: {at:.0?} of {length:.0?}", name(path)));
        })
    });
    progress.end();
    let ending = match played {
        Ok(ending) => ending,
        Err(cause) => {
            eprintln!("{}: the simulated world failed: {cause}", name(path));
            return SimulatorExit::Broken;
        }
    };
    let failed = story.judge(&ending);
    let passed = failed.is_empty();
    if arguments.json {
        tell_json(&verdict(path, &ending, failed));
    } else {
        tell(path, story, &ending, &failed);
    }
    if passed { SimulatorExit::Sound } else { SimulatorExit::Broken }
}

fn verdict(path: &Path, ending: &StoryEnding, failed: Vec<Unmet>) -> StoryRunLine {
    let servers = ending.groups.iter();
    StoryRunLine {
        scenario: name(path),
        passed: failed.is_empty(),
        seed: ending.seed,
        turns: ending.turns,
        acts: ending.acts,
        crashes: ending.crashes,
        length_ms: millis(ending.length),
        longest_pause_ms: millis(ending.longest_pause()),
        refused: ending.refused.clone(),
        servers: servers
            .map(|(group, seats)| (group.name(), seats.iter().copied().collect()))
            .collect(),
        faults: ending.broken.iter().map(broken).collect(),
        failed,
        digest: ending.digest.to_string(),
    }
}

fn broken(fault: &Violation) -> ViolationLine {
    let (law, what) = (fault.law.name(), fault.what.clone());
    ViolationLine { law, server: fault.seat, at_ms: millis(fault.at), what }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn tell_json(value: &impl Serialize) {
    say!("{}", serde_json::to_string(value).expect("numbers and names are JSON"));
}

fn tell(path: &Path, story: &Story, ending: &StoryEnding, failed: &[Unmet]) {
    let StoryEnding { seed, turns, acts, crashes, digest, .. } = ending;
    say!("{}: {}", name(path), story.title);
    say!(
        "  seed {seed}: {turns} turns, {acts} acts, {crashes} crashes, longest pause {:.3?}, \
         digest {digest}",
        ending.longest_pause()
    );
    for Unmet { expectation, expected, seen } in failed {
        say!("  FAILED {expectation}: expected {expected}; seen: {seen}");
    }
    let (met, all) = (story.expectations.len() - failed.len(), story.expectations.len());
    let word = if failed.is_empty() { "passed" } else { "FAILED" };
    say!("  {word}: {met} of {all} expectations came true");
}

fn check(path: &Path, story: &Story, json: bool) -> SimulatorExit {
    let checked = StoryCheckLine {
        scenario: name(path),
        title: story.title.clone(),
        seed: story.seed,
        length_ms: millis(story.length),
        servers: story.servers(),
        people: story.people(),
        steps: story.steps(),
        expectations: story.expectations.iter().map(|expected| expected.name()).collect(),
    };
    if json {
        tell_json(&checked);
    } else {
        let StoryCheckLine { scenario, title, servers, people, steps, expectations, .. } = checked;
        say!("{scenario}: {title}");
        say!(
            "  {:?}, {servers} servers, {people} people, {steps} things happen, seed {}",
            story.length,
            story.seed
        );
        say!("  expects {}", expectations.join(", "));
    }
    SimulatorExit::Sound
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The system's words for it were all that was told, with its number.
    #[test]
    fn a_directory_in_place_of_a_story_is_told_with_what_to_name() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
        let (exit, why) = open(Path::new(folder)).expect_err("a directory");
        assert_eq!(exit, SimulatorExit::Usage);
        let told = format!("{folder} is a directory: name the files in it, as {folder}/*.toml");
        assert_eq!(why, told);
    }
}
