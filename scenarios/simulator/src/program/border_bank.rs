//! `bugbank --crossing`: would the world of two sims see it?

use std::time::{Duration, Instant};

use metatopia_simulator::crossing::CrossingReport;
use metatopia_simulator::crossing::bugs::{BORDER_BUGS, BorderBug};
use metatopia_simulator::survive;
use serde::Serialize;

use super::SimulatorExit;
use super::bugbank::{BugbankArgs, look_for_all, no_bug};

/// One line of `bugbank --crossing --json`.
#[derive(Debug, Serialize)]
struct BorderBugLine {
    bug: &'static str,
    law: &'static str,
    /// How many of the worlds broke the law.
    found: u64,
    seeds: u64,
    /// The first seed whose world broke it.
    first: Option<u64>,
    site: &'static str,
    /// Laws that the same worlds broke without the bug.
    clean_violations: u64,
    /// What a world takes with the bug, up to the first law that it breaks.
    seconds_a_seed: f64,
    /// What the same world takes without it, up to its end.
    clean_seconds_a_seed: f64,
    /// Which world fell over with the bug, or without it, and why; nothing after it was played.
    #[serde(skip_serializing_if = "Option::is_none")]
    fell: Option<String>,
}

/// The last line of `bugbank --crossing --json`.
#[derive(Debug, Serialize)]
struct BorderBankSummary {
    bugs: usize,
    found: usize,
    clean_violations: u64,
}

pub(super) fn run(arguments: &BugbankArgs) -> SimulatorExit {
    let names: Vec<&str> = BORDER_BUGS.iter().map(|bug| bug.name).collect();
    if let Some(name) = arguments.unknown(&names) {
        return no_bug(name, &names);
    }
    let bugs: Vec<&BorderBug> =
        BORDER_BUGS.iter().filter(|bug| arguments.chooses(bug.name)).collect();
    match look_for_all(arguments, &bugs, look_for) {
        Ok(all) => tell(&all, arguments.json),
        Err(exit) => exit,
    }
}

fn look_for(bug: &BorderBug, seeds: u64) -> BorderBugLine {
    let mut line = BorderBugLine {
        bug: bug.name,
        law: bug.law.name(),
        found: 0,
        seeds: 0,
        first: None,
        site: "crossing",
        clean_violations: 0,
        seconds_a_seed: 0.0,
        clean_seconds_a_seed: 0.0,
        fell: None,
    };
    let (mut took, mut took_clean) = (Duration::ZERO, Duration::ZERO);
    for seed in 0..seeds {
        let broken = timed(&mut took, || bug.play(seed));
        let clean = timed(&mut took_clean, || bug.play_clean(seed));
        let (broken, clean) = match (broken, clean) {
            (Ok(broken), Ok(clean)) => (broken, clean),
            (Err(why), _) => {
                line.fell = Some(format!("{}, seed {seed}: {why}", bug.name));
                break;
            }
            (_, Err(why)) => {
                line.fell = Some(format!("{}, seed {seed}, without the bug: {why}", bug.name));
                break;
            }
        };
        line.seeds += 1;
        if bug.law.is_broken(&broken) {
            line.found += 1;
            line.first.get_or_insert(seed);
        }
        line.clean_violations += u64::try_from(clean.breaches.len()).unwrap_or(u64::MAX);
    }
    let worlds = line.seeds.max(1) as f64;
    let each = |all: Duration| (all.as_secs_f64() / worlds * 1_000.0).round() / 1_000.0;
    (line.seconds_a_seed, line.clean_seconds_a_seed) = (each(took), each(took_clean));
    line
}

/// Plays a world, and adds how long that takes. Says why it fell over, if it did.
fn timed(
    took: &mut Duration,
    play: impl FnOnce() -> CrossingReport,
) -> Result<CrossingReport, String> {
    let began = Instant::now();
    let played = survive(play).map_err(|fall| fall.why);
    *took += began.elapsed();
    played
}

fn tell(all: &[BorderBugLine], json: bool) -> SimulatorExit {
    let summary = BorderBankSummary {
        bugs: all.len(),
        found: all.iter().filter(|line| line.found > 0).count(),
        clean_violations: all.iter().map(|line| line.clean_violations).sum(),
    };
    let encoded = |value: serde_json::Result<String>| value.expect("numbers and names are JSON");
    for line in all {
        let BorderBugLine { bug, law, found, seeds, seconds_a_seed, .. } = line;
        if let Some(fell) = &line.fell {
            eprintln!("{fell}");
        }
        if json {
            say!("{}", encoded(serde_json::to_string(line)));
            continue;
        }
        let verdict = match line.first {
            Some(first) => format!("found in {found} of {seeds} seeds, first in seed {first}"),
            None => format!("NOT FOUND in {seeds} seeds"),
        };
        let clean = line.clean_seconds_a_seed;
        say!("{bug:<26} {law:<20} {verdict}; {seconds_a_seed} s a seed, {clean} s without it");
    }
    let BorderBankSummary { bugs, found, clean_violations } = summary;
    if json {
        say!("{}", encoded(serde_json::to_string(&summary)));
    } else {
        say!("{found} of {bugs} bugs found; {clean_violations} laws broken without them");
    }
    let is_whole = all.iter().all(|line| line.fell.is_none());
    let sound = found == bugs && clean_violations == 0 && is_whole;
    if sound { SimulatorExit::Sound } else { SimulatorExit::Broken }
}
