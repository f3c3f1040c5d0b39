//! Tells the stories about agreement for as many seeds as you like.
//!
//! ```text
//! cargo run -p metatopia-simulator --example vopr -- --seeds 100
//! cargo run -p metatopia-simulator --example vopr -- --story storm --from 7 --seeds 1 --trace
//! cargo run -p metatopia-simulator --example vopr -- --points
//! ```

use std::process::ExitCode;
use std::time::{Duration, Instant};

use metatopia_simulator::Seed;
use metatopia_simulator::agreement::stories::{
    ExpectedEnding, SeedStory, StoryTally, crash_settings, stories,
};

struct Options {
    seeds: u64,
    from: u64,
    stories: Vec<String>,
    trace: bool,
    points: bool,
}

const USAGE: &str = "usage: vopr [--seeds N] [--from SEED] [--story NAME].. [--trace] [--points]";

fn options() -> Result<Options, String> {
    let mut options = Options { seeds: 20, from: 0, stories: vec![], trace: false, points: false };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
        match word.as_str() {
            "--seeds" => options.seeds = number(&value()?)?,
            "--from" => options.from = number(&value()?)?,
            "--story" => options.stories.push(value()?),
            "--trace" => options.trace = true,
            "--points" => options.points = true,
            _ => return Err(format!("{word} is unknown\n{USAGE}")),
        }
    }
    Ok(options)
}

fn number(word: &str) -> Result<u64, String> {
    word.parse().map_err(|_| format!("{word} is no number"))
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::from(2);
        }
    };
    let mut as_told = true;
    println!(
        "{:<38} {:>6} {:>7} {:>7} {:>8} {:>6} {:>8} {:>9} {:>7} {:>7}",
        "story",
        "worlds",
        "turns",
        "later",
        "crashes",
        "again",
        "evidence",
        "world",
        "took",
        "faults"
    );
    let chosen = |story: &SeedStory| {
        options.stories.is_empty() || options.stories.iter().any(|name| name == story.name)
    };
    if options.points {
        as_told &= tell_points();
    } else {
        for story in stories().iter().filter(|story| chosen(story)) {
            as_told &= tell(story, &options);
        }
    }
    if as_told { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn tell(story: &SeedStory, options: &Options) -> bool {
    let began = Instant::now();
    let mut tally = StoryTally::default();
    for seed in options.from..options.from.saturating_add(options.seeds) {
        let outcome = (story.play)(Seed { number: seed, written: options.trace });
        outcome.history.iter().for_each(|line| println!("{line}"));
        tally.add(story.ending, seed, &outcome);
    }
    row(story.name, &tally, began.elapsed());
    match story.ending {
        ExpectedEnding::Sound => {
            if let Some(report) = &tally.report {
                println!("{report}");
            }
            tally.faulty == 0
        }
        // Fewer seeds than its budget, or other ones, prove nothing.
        ExpectedEnding::Found(_, budget) => {
            let enough = options.from == 0 && options.seeds >= budget;
            !enough || tally.is_as_told(story.ending)
        }
    }
}

fn tell_points() -> bool {
    let mut sound = true;
    for setting in crash_settings() {
        for seat in 0..setting.scenario.founders {
            let (began, mut tally) = (Instant::now(), StoryTally::default());
            for (number, point) in (0..).zip(setting.points(seat)) {
                tally.add(ExpectedEnding::Sound, number, &setting.play(point));
            }
            row(&format!("{} ({seat})", setting.scenario.name), &tally, began.elapsed());
            if let Some(report) = &tally.report {
                println!("{report}");
            }
            sound &= tally.faulty == 0;
        }
    }
    sound
}

fn row(name: &str, tally: &StoryTally, took: Duration) {
    let first = tally.first.map_or(String::new(), |first| format!(" (first {first})"));
    println!(
        "{name:<38} {:>6} {:>7} {:>7} {:>8} {:>6} {:>8} {:>7} s {:>5} s {:>7}{first}",
        tally.runs,
        tally.turns,
        tally.later_rounds,
        tally.crashes,
        tally.proposed_again,
        tally.evidence,
        tally.milliseconds / 1_000,
        took.as_secs(),
        tally.faulty,
    );
}
