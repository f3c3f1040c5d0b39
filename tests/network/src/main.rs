//! Plays stories of real servers on a bad network, and says what they came to.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{self, ExitCode},
    time::{Duration, Instant},
};

use clap::Parser;
use metatopia_network::{
    BorderTemplate, Lab, LabBorder, LabServers, Template,
    stories::{Length, NetworkStory, STORIES, StoryBound, StoryFigure, StoryPlay, StoryResult},
    take_rights,
};
use serde_json::json;

/// The machine does not permit it, as test drivers say that.
const SKIPPED: u8 = 77;

/// Four real servers, a bad network, and what must hold.
#[derive(Debug, Parser)]
#[command(after_help = "Examples:\n  \
    metatopia-network --short                 every story, a few seconds each\n  \
    metatopia-network --story split --json    one story, one JSON object per line\n\n\
    Needs Linux, /dev/net/tun, and root or user namespaces. Outside the namespaces that it makes, it\n\
    uses a folder for temporary files and, to make the world, ports of loopback. A figure past\n\
    twice its bound fails a story, but not with --short.\n\n\
    Exit codes:\n  0   all stories passed\n  1   a story failed\n  2   usage\n  \
    77  this machine does not permit namespaces")]
struct NetworkArgs {
    /// Only these stories [default: all].
    #[arg(long, value_name = "NAME", value_parser = story)]
    story: Vec<&'static NetworkStory>,
    /// A few seconds for each story, figures are not judged.
    #[arg(long)]
    short: bool,
    /// Decides the fate of the n-th packet of each link.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The program under test [default: `metatopia` beside this one].
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Print results as JSON, one object per line.
    #[arg(long)]
    json: bool,
    /// List the stories.
    #[arg(long)]
    list: bool,
    /// Keep the folders of servers, also of stories that passed.
    #[arg(long)]
    keep: bool,
}

fn story(name: &str) -> Result<&'static NetworkStory, String> {
    STORIES.iter().find(|story| story.name == name).ok_or_else(|| {
        let names: Vec<_> = STORIES.iter().map(|story| story.name).collect();
        format!("the stories are {}", names.join(", "))
    })
}

fn main() -> ExitCode {
    let arguments = NetworkArgs::parse();
    if arguments.list {
        STORIES.iter().for_each(|story| println!("{:<18} {}", story.name, story.about));
        return ExitCode::SUCCESS;
    }
    if let Err(refusal) = take_rights() {
        eprintln!("SKIPPED: {refusal}");
        return ExitCode::from(SKIPPED);
    }
    match play(&arguments) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Plays, and says how many stories failed.
fn play(arguments: &NetworkArgs) -> Result<usize, String> {
    let beside = || {
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        Ok::<_, String>(own.with_file_name("metatopia"))
    };
    let program = arguments.program.clone().map_or_else(beside, Ok)?;
    if !program.is_file() {
        return Err(format!(
            "{} is not there: build it, or name it by --program",
            program.display()
        ));
    }
    let program = fs::canonicalize(&program).map_err(|error| error.to_string())?;
    let folder = std::env::temp_dir().join(format!("metatopia-network-{}", process::id()));
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let all: Vec<&NetworkStory> = STORIES.iter().collect();
    let chosen = if arguments.story.is_empty() { &all } else { &arguments.story };
    let templates = StoryTemplates::make(chosen, &program, &folder)?;
    let lab = Lab::new(arguments.seed).map_err(|error| error.to_string())?;
    eprintln!("seed {}, folders in {}", arguments.seed, folder.display());
    let length = if arguments.short { Length::Short } else { Length::Full };
    let mut failed = 0;
    for story in chosen {
        let began = Instant::now();
        let dir = folder.join(story.name);
        let outcome = templates.play(story, (&lab, &dir), length);
        let outcome = outcome.and_then(|figures| judge(figures, length));
        failed += usize::from(outcome.is_err());
        tell(arguments.json, story, &outcome, began.elapsed());
    }
    let passed = chosen.len() - failed;
    if arguments.json {
        println!(
            "{}",
            json!({ "stories": chosen.len(), "passed": passed, "seed": arguments.seed })
        );
    } else {
        println!("{passed} of {} stories passed", chosen.len());
    }
    if failed == 0 && !arguments.keep {
        // What stays in a folder for temporary files is nobody's loss.
        drop(fs::remove_dir_all(&folder));
    }
    Ok(failed)
}

/// Worlds that nobody has been in, of each kind that a chosen story is played on.
struct StoryTemplates {
    sim: Option<Template>,
    border: Option<BorderTemplate>,
}

impl StoryTemplates {
    /// Lets the program make them. To be called outside of a lab, where the program has loopback.
    fn make(chosen: &[&NetworkStory], program: &Path, folder: &Path) -> Result<Self, String> {
        let some = |is: fn(&StoryPlay) -> bool| chosen.iter().any(|story| is(&story.play));
        let sim = some(|play| matches!(play, StoryPlay::Sim(_)));
        let border = some(|play| matches!(play, StoryPlay::Border(_)));
        Ok(Self {
            sim: sim.then(|| Template::make(program, folder)).transpose()?,
            border: border.then(|| BorderTemplate::make(program, folder)).transpose()?,
        })
    }

    fn play(&self, story: &NetworkStory, at: (&Lab, &Path), length: Length) -> StoryResult {
        let (lab, dir) = at;
        let no_world = || format!("no world was made for {}", story.name);
        match story.play {
            StoryPlay::Sim(play) => {
                let template = self.sim.as_ref().ok_or_else(no_world)?;
                play(&mut LabServers::start(lab, template, dir)?, length)
            }
            StoryPlay::Border(play) => {
                let template = self.border.as_ref().ok_or_else(no_world)?;
                play(&mut LabBorder::start(lab, template, dir)?, length)
            }
        }
    }
}

/// A figure that is far off fails its story; the others are told all the same.
fn judge(figures: Vec<StoryFigure>, length: Length) -> StoryResult {
    let off = figures.iter().find(|figure| length == Length::Full && figure.is_far_off());
    match off {
        Some(StoryFigure { what, value, unit, bound }) => {
            Err(format!("{what}: {value} {unit}, past twice its bound {bound:?}; all: {figures:?}"))
        }
        None => Ok(figures),
    }
}

fn tell(json: bool, story: &NetworkStory, outcome: &StoryResult, took: Duration) {
    let took = took.as_secs_f32();
    if json {
        let figures = outcome.iter().flatten();
        let figures: Vec<_> = figures
            .map(|f| json!({ "what": f.what, "value": f.value, "unit": f.unit, "kept": f.is_kept() }))
            .collect();
        let why = outcome.as_ref().err();
        let (name, passed) = (story.name, outcome.is_ok());
        println!("{}", json!({ "story": name, "passed": passed, "why": why, "figures": figures }));
        return;
    }
    let verdict = if outcome.is_ok() { "passed" } else { "FAILED" };
    println!("{:<18} {verdict} in {took:.0} s: {}", story.name, story.about);
    match outcome {
        Ok(figures) => figures.iter().for_each(|figure| println!("  {}", line(figure))),
        Err(why) => println!("  {why}"),
    }
}

fn line(figure: &StoryFigure) -> String {
    let StoryFigure { what, value, unit, bound } = figure;
    let bound = match bound {
        StoryBound::AtMost(bound) => format!("at most {bound}"),
        StoryBound::AtLeast(bound) => format!("at least {bound}"),
        StoryBound::None => return format!("{what:<30} {value:>8} {unit}"),
    };
    let verdict = if figure.is_kept() { "ok" } else { "past its bound" };
    format!("{what:<30} {value:>8} {unit:<18} {bound:<14} {verdict}")
}
