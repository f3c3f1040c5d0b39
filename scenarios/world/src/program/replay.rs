//! `replay`: one seed, told.

use std::collections::BTreeMap;
use std::time::Duration;

use clap::Args;
use metatopia_world::Class;
use metatopia_world::agreement::{Played, Seed, Swarm};
use serde::Serialize;

use super::{Exit, span};

/// Rows of a retold run.
const ROWS: u32 = 24;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The seed
    #[arg(long)]
    seed: u64,
    /// How long the world lives, in its own time
    #[arg(long, value_parser = span::span, default_value = "60s")]
    r#virtual: Duration,
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
struct Summary {
    seed: u64,
    digest: String,
    events: u64,
    turns: u64,
    crashes: u64,
    broken: Vec<&'static str>,
}

pub(crate) fn run(arguments: &Arguments) -> Exit {
    let seed = Seed { number: arguments.seed, written: arguments.trace };
    let swarm = Swarm {
        without: arguments.without.iter().copied().collect(),
        from: arguments.from,
        until: arguments.until,
        ..Swarm::new(seed, arguments.r#virtual)
    };
    println!("{}", swarm.plan());
    let played = swarm.play();
    played.outcome.history.iter().for_each(|line| println!("{line}"));
    retell(&swarm, &played);
    let outcome = &played.outcome;
    if arguments.json {
        let summary = Summary {
            seed: arguments.seed,
            digest: outcome.digest.to_string(),
            events: outcome.events,
            turns: outcome.height(),
            crashes: outcome.crashes,
            broken: outcome.faults.iter().map(|fault| fault.law.name()).collect(),
        };
        println!("{}", serde_json::to_string(&summary).expect("numbers and names are JSON"));
    }
    if played.is_sound() { Exit::Sound } else { Exit::Broken }
}

/// How far the world came in each part of its time, and what happened in all.
fn retell(swarm: &Swarm, played: &Played) {
    let outcome = &played.outcome;
    println!("{:>10} {:>7} {:>7} {:>7}", "until", "height", "turns", "later");
    let row = (swarm.span / ROWS).max(Duration::from_millis(1));
    let (mut height, mut told) = (0, BTreeMap::new());
    for decided in &outcome.decided {
        told.entry(decided.height).or_insert((decided.at, decided.round));
    }
    for number in 1..=ROWS {
        let (from, to) = (row * (number - 1), row * number);
        let part = told.iter().filter(|(_, (at, _))| (from..to).contains(at));
        let (mut turns, mut later) = (0, 0);
        for (decided, (_, round)) in part {
            (height, turns) = (height.max(*decided), turns + 1);
            later += u32::from(*round > 0);
        }
        if from <= outcome.took {
            println!("{to:>10.1?} {height:>7} {turns:>7} {later:>7}");
        }
    }
    let happened = Class::ALL.iter().map(|class| (class, outcome.fired.times(*class)));
    for (class, times) in happened.filter(|(_, times)| *times > 0) {
        println!("{:<20} {times:>10}", class.name());
    }
    println!("crashes              {:>10}", outcome.crashes);
    if let Some(recovery) = played.recovery {
        println!(
            "after the faults: a turn in {:.3?} (at most {:.3?}), all caught up in {:.3?}, an act \
             in the next {} turns",
            recovery.turn, recovery.turn_bound, recovery.caught_up, recovery.act
        );
    }
    for (seat, why) in &outcome.halts {
        println!("server {seat} stopped: {why}");
    }
    for fault in &outcome.faults {
        println!("BROKEN {fault}");
    }
    println!("heights {:?}, {} events, digest {}", outcome.heights, outcome.events, outcome.digest);
}
