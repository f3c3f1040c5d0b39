//! `twins`: a server that runs twice, under every schedule.

use clap::Args;
use metatopia_simulator::agreement::Schedule;
use metatopia_simulator::agreement::stories::story;
use metatopia_simulator::survive;
use serde::Serialize;

use super::SimulatorExit;
use super::campaign::{self, CampaignProgress};

#[derive(Debug, Args)]
pub(crate) struct TwinsArgs {
    /// How many schedules; there are 245,760
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(1..=Schedule::COUNT))]
    schedules: u64,
    /// Worlds played at once [default: one per core]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Ends with one JSON object
    #[arg(long)]
    json: bool,
}

/// The last line of `twins --json`.
#[derive(Debug, Default, Serialize)]
struct TwinsSummary {
    schedules: u64,
    violations: u64,
    turns: u64,
    evidence: u64,
}

pub(crate) fn run(arguments: &TwinsArgs) -> SimulatorExit {
    let jobs = arguments.jobs.map_or_else(campaign::cores, usize::from);
    let twins = story("twins");
    let mut progress = CampaignProgress::new();
    let mut summary = TwinsSummary::default();
    let mut first: Option<(u64, String)> = None;
    campaign::play(
        jobs,
        0..arguments.schedules,
        |number| survive(|| (twins.play)(number.into())),
        |number, played| {
            summary.schedules += 1;
            let broken = match played {
                Ok(outcome) => {
                    summary.turns += outcome.height();
                    summary.evidence += outcome.evidence.values().sum::<u64>();
                    (!outcome.faults.is_empty()).then(|| outcome.report())
                }
                Err(fall) => Some(fall.why),
            };
            let sound = broken.is_none();
            if let Some(report) = broken {
                summary.violations += 1;
                if first.as_ref().is_none_or(|(earlier, _)| number < *earlier) {
                    first = Some((number, report));
                }
            }
            progress.tell(|| format!("{} of {} schedules", summary.schedules, arguments.schedules));
            sound
        },
    );
    progress.end();
    if let Some((number, report)) = first {
        say!("schedule {number}\n{report}");
    }
    if arguments.json {
        say!("{}", serde_json::to_string(&summary).expect("numbers are JSON"));
    } else {
        let TwinsSummary { schedules, violations, turns, evidence } = summary;
        say!(
            "{schedules} schedules, {turns} turns, {evidence} pieces of evidence, \
             {violations} schedules with a broken law"
        );
    }
    if summary.violations == 0 { SimulatorExit::Sound } else { SimulatorExit::Broken }
}
