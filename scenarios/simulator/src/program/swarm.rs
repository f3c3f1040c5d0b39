//! `swarm`: many seeds, and what happened in them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use metatopia_simulator::agreement::percentile;
use metatopia_simulator::{Breach, Class, Fired, Level, RunReport, SeedRun};
use serde::Serialize;

use super::campaign::{self, CampaignProgress};
use super::{SimulatorExit, report, span};

/// A campaign of so many worlds has seen every class of faults, or it is broken itself.
const ALL_CLASSES_FROM: u64 = 100;

#[derive(Debug, Args)]
pub(crate) struct SwarmArgs {
    /// How many worlds
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    /// The first seed; the others follow
    #[arg(long, value_parser = span::seed, allow_negative_numbers = true, default_value = "1")]
    first_seed: u64,
    /// How long each world lives, in its own time
    #[arg(long, value_parser = span::life, default_value = "60s")]
    r#virtual: Duration,
    /// Plays whole servers with scripts, physics and clients, instead of agreement only
    #[arg(long)]
    whole: bool,
    /// Worlds played at once [default: one per core]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Where a world that broke a law is written down
    #[arg(long, default_value_os_t = report::folder())]
    out: PathBuf,
    /// Ends with one JSON object
    #[arg(long)]
    json: bool,
}

/// The last line of `swarm --json`.
#[derive(Debug, Serialize)]
struct SwarmSummary {
    seeds: u64,
    virtual_hours: f64,
    speed_x: f64,
    violations: u64,
    turns: u64,
    crashes: u64,
    acts: u64,
    /// From the end of the faults to a new turn, in milliseconds.
    recovery_p50_ms: u64,
    recovery_p99_ms: u64,
    faults: BTreeMap<&'static str, u64>,
    never: Vec<&'static str>,
}

#[derive(Default)]
struct SwarmTally {
    seeds: u64,
    lived: Duration,
    violations: u64,
    turns: u64,
    crashes: u64,
    acts: u64,
    recoveries: Vec<Duration>,
    fired: Fired,
    first: Option<(u64, Breach)>,
}

impl SwarmTally {
    /// Returns whether all laws held.
    fn add(&mut self, seed: u64, tale: &RunReport) -> bool {
        self.seeds += 1;
        self.lived += tale.took;
        self.turns += tale.height();
        self.crashes += tale.crashes;
        self.acts += tale.acts;
        self.recoveries.extend(tale.recovery.map(|recovery| recovery.turn));
        self.fired.add(&tale.fired);
        let Some(fault) = tale.breaches.first() else {
            return true;
        };
        self.violations += 1;
        if self.first.as_ref().is_none_or(|(first, _)| seed < *first) {
            self.first = Some((seed, fault.clone()));
        }
        false
    }

    fn summary(&self, level: Level, took: Duration) -> SwarmSummary {
        let millis = |percent| percentile(&self.recoveries, percent).as_millis();
        let millis = |percent| u64::try_from(millis(percent)).unwrap_or(u64::MAX);
        let never = self.fired.never(level);
        let times = |class: Class| (class.name(), self.fired.times(class));
        SwarmSummary {
            seeds: self.seeds,
            virtual_hours: rounded(self.lived.as_secs_f64() / 3_600.0),
            speed_x: rounded(self.lived.as_secs_f64() / took.as_secs_f64()),
            violations: self.violations,
            turns: self.turns,
            crashes: self.crashes,
            acts: self.acts,
            recovery_p50_ms: millis(50),
            recovery_p99_ms: millis(99),
            faults: level.classes().map(times).collect(),
            never: never.into_iter().map(Class::name).collect(),
        }
    }
}

fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

pub(crate) fn run(arguments: &SwarmArgs) -> SimulatorExit {
    let (first, span) = (arguments.first_seed, arguments.r#virtual);
    let level = if arguments.whole { Level::Whole } else { Level::Agreement };
    let Some(end) = first.checked_add(arguments.seeds) else {
        eprintln!("error: seeds end before {}; begin with an earlier one than {first}", u64::MAX);
        return SimulatorExit::Usage;
    };
    let mut progress = CampaignProgress::new();
    let mut tally = SwarmTally::default();
    let jobs = arguments.jobs.map_or_else(campaign::cores, usize::from);
    let play = |seed: u64| level.play(&SeedRun::new(seed.into(), span));
    campaign::play(jobs, first..end, play, |seed, tale| {
        let sound = tally.add(seed, &tale);
        let speed = tally.lived.as_secs_f64() / progress.elapsed().as_secs_f64();
        progress.tell(|| {
            format!(
                "{} of {} worlds, {} turns, {} crashes, {speed:.0}x, {} broken",
                tally.seeds, arguments.seeds, tally.turns, tally.crashes, tally.violations
            )
        });
        sound
    });
    progress.end();
    let summary = tally.summary(level, progress.elapsed());
    if let Some((seed, breach)) = &tally.first {
        let found = SeedRun::new((*seed).into(), span);
        say!("{}", report::write(level, &found, breach, &arguments.out));
    }
    tell(&summary, arguments.json);
    // By chance a few worlds are spared some kind of trouble.
    let spared = summary.seeds < ALL_CLASSES_FROM || summary.never.is_empty();
    if summary.violations == 0 && spared { SimulatorExit::Sound } else { SimulatorExit::Broken }
}

fn tell(summary: &SwarmSummary, json: bool) {
    if json {
        say!("{}", serde_json::to_string(summary).expect("numbers and names are JSON"));
        return;
    }
    for (class, times) in &summary.faults {
        say!("{class:<20} {times:>12}");
    }
    let SwarmSummary { seeds, virtual_hours, speed_x, violations, turns, crashes, .. } = summary;
    say!(
        "{seeds} worlds, {virtual_hours} virtual hours, {speed_x}x real time, {turns} turns, \
         {crashes} crashes, back after {} ms (p99), {violations} worlds with a broken law",
        summary.recovery_p99_ms
    );
    if !summary.never.is_empty() {
        say!("never happened: {}", summary.never.join(", "));
    }
}
