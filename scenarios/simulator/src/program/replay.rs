//! `replay`: one seed, told.

use std::time::{Duration, Instant};

use clap::Args;
use metatopia_simulator::{Class, Level, RunReport, Seed, SeedRun};
use serde::Serialize;

use super::{SimulatorExit, span};

/// Rows of a retold run.
const ROWS: u32 = 24;

#[derive(Debug, Args)]
pub(crate) struct SeedReplayArgs {
    /// The seed that is played again
    #[arg(long, value_parser = span::seed, allow_negative_numbers = true)]
    seed: u64,
    /// How long the world lives, in its own time
    #[arg(long, value_parser = span::life, default_value = "60s")]
    r#virtual: Duration,
    /// A world of whole servers, as `swarm --whole` plays them
    #[arg(long)]
    whole: bool,
    /// Every server calculates every turn for itself: slower, and all else is the same
    #[arg(long, requires = "whole")]
    apart: bool,
    /// A class of faults that does not happen; may be given again
    #[arg(long, value_name = "CLASS", value_parser = span::class)]
    without: Vec<Class>,
    /// When faults begin
    #[arg(long, value_parser = span::span, default_value = "0s")]
    from: Duration,
    /// When faults stop [default: after four fifths of its time]
    #[arg(long, value_parser = span::span)]
    until: Option<Duration>,
    /// Tells every event, the last 4,000 of them
    #[arg(long)]
    trace: bool,
    /// Ends with one JSON object
    #[arg(long)]
    json: bool,
}

/// The last line of `replay --json`.
#[derive(Debug, Serialize)]
struct SeedReplaySummary {
    seed: u64,
    digest: String,
    events: u64,
    turns: u64,
    crashes: u64,
    broken: Vec<&'static str>,
}

/// Returns what is wrong with the arguments together.
fn mistake(arguments: &SeedReplayArgs, level: Level) -> Option<String> {
    let SeedReplayArgs { from, until, without, .. } = arguments;
    if let Some(until) = until.filter(|until| until < from) {
        return Some(format!("faults would stop at {until:?}, before they begin at {from:?}"));
    }
    let foreign = without.iter().find(|class| !level.classes().any(|drawn| drawn == **class))?;
    let other = if level == Level::Agreement { ": see --whole" } else { ", without --whole" };
    Some(format!("{} happens in other worlds only{other}", foreign.name()))
}

pub(crate) fn run(arguments: &SeedReplayArgs) -> SimulatorExit {
    let level = if arguments.whole { Level::Whole } else { Level::Agreement };
    if let Some(why) = mistake(arguments, level) {
        eprintln!("error: {why}");
        return SimulatorExit::Usage;
    }
    let course = SeedRun {
        seed: Seed { number: arguments.seed, written: arguments.trace },
        span: arguments.r#virtual,
        without: arguments.without.iter().copied().collect(),
        from: arguments.from,
        until: arguments.until,
        apart: arguments.apart,
    };
    say!("{}", level.plan(&course).1);
    let began = Instant::now();
    let tale = level.play(&course);
    // What differs from one run to the next is no part of the tale.
    let (lived, took) = (tale.took.as_secs_f64(), began.elapsed().as_secs_f64());
    eprintln!("{lived:.1} s in {took:.1} s on one core: {:.1} times real time", lived / took);
    tale.history.iter().for_each(|line| say!("{line}"));
    retell(&course, &tale);
    if arguments.json {
        let summary = SeedReplaySummary {
            seed: arguments.seed,
            digest: tale.digest.to_string(),
            events: tale.events,
            turns: tale.height(),
            crashes: tale.crashes,
            broken: tale.breaches.iter().map(|breach| breach.law).collect(),
        };
        say!("{}", serde_json::to_string(&summary).expect("numbers and names are JSON"));
    }
    if tale.is_sound() { SimulatorExit::Sound } else { SimulatorExit::Broken }
}

/// Prints how far the world came in each part of its time, and what happened in all.
fn retell(course: &SeedRun, tale: &RunReport) {
    say!("{:>10} {:>7} {:>7} {:>7}", "until", "height", "turns", "later");
    let row = (course.span / ROWS).max(Duration::from_millis(1));
    let mut height = 0;
    for number in 1..=ROWS {
        let (from, to) = (row * (number - 1), row * number);
        let part = tale.decided.iter().filter(|(_, (at, _))| (from..to).contains(at));
        let (mut turns, mut later) = (0, 0);
        for (decided, (_, round)) in part {
            (height, turns) = (height.max(*decided), turns + 1);
            later += u32::from(*round > 0);
        }
        if from <= tale.took {
            say!("{to:>10.1?} {height:>7} {turns:>7} {later:>7}");
        }
    }
    let happened = Class::ALL.iter().map(|class| (class, tale.fired.times(*class)));
    for (class, times) in happened.filter(|(_, times)| *times > 0) {
        say!("{:<20} {times:>10}", class.name());
    }
    say!("crashes              {:>10}", tale.crashes);
    if let Some(recovery) = tale.recovery {
        say!(
            "after the faults: a turn in {:.3?} (at most {:.3?}), all caught up in {:.3?}, an act \
             in the next {} turns",
            recovery.turn,
            recovery.turn_bound,
            recovery.caught_up,
            recovery.act
        );
    }
    for (seat, why) in &tale.halts {
        say!("server {seat} stopped: {why}");
    }
    for breach in &tale.breaches {
        say!("BROKEN {}", breach.what);
    }
    say!("heights {:?}, {} events, digest {}", tale.heights, tale.events, tale.digest);
}
