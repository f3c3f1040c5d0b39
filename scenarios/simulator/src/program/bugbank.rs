//! `bugbank`: would the world see it?

use clap::Args;
use metatopia_simulator::agreement::bugs::{self, BUGS, Bug, BugSite};
use metatopia_simulator::agreement::stories::ExpectedEnding;
use metatopia_simulator::crossing::bugs::BORDER_BUG_SEEDS;
use metatopia_simulator::survive;
use serde::Serialize;

use super::campaign::{self, CampaignProgress};
use super::{SimulatorExit, border_bank};

/// In how many seeds a bug is looked for, unless somebody says otherwise.
const BUDGET: u64 = 5_000;

#[derive(Debug, Args)]
pub(crate) struct BugbankArgs {
    /// In how many seeds each bug is looked for [default: 5000, and 50 with --crossing]
    #[arg(long)]
    budget: Option<u64>,
    /// Only the bug of this name; may be given again
    #[arg(long, value_name = "NAME")]
    pub(super) bug: Vec<String>,
    /// Bugs of the border between two sims, each in all of its seeds, and not up to the first that shows it
    #[arg(long)]
    crossing: bool,
    /// Bugs looked for at once [default: one per core]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// One JSON object per bug, and one for all
    #[arg(long)]
    pub(super) json: bool,
}

impl BugbankArgs {
    /// Returns in how many seeds each bug is looked for.
    fn budget(&self) -> u64 {
        let most = if self.crossing { BORDER_BUG_SEEDS } else { BUDGET };
        self.budget.unwrap_or(most)
    }

    /// Returns how many bugs are looked for at once.
    fn jobs(&self) -> usize {
        self.jobs.map_or_else(campaign::cores, usize::from)
    }

    /// Returns the first name that is given and that no bug has.
    pub(super) fn unknown(&self, names: &[&str]) -> Option<&str> {
        let mut given = self.bug.iter().map(String::as_str);
        given.find(|name| !names.contains(name))
    }

    /// Says whether a bug of this name is looked for.
    pub(super) fn chooses(&self, name: &str) -> bool {
        self.bug.is_empty() || self.bug.iter().any(|given| given == name)
    }
}

/// Tells that there is no bug of a name, and which there are.
pub(super) fn no_bug(name: &str, names: &[&str]) -> SimulatorExit {
    eprintln!("there is no bug {name}; there are");
    names.iter().for_each(|name| eprintln!("  {name}"));
    SimulatorExit::Usage
}

/// One line of `bugbank --json`.
#[derive(Debug, Serialize)]
struct BugLine {
    bug: &'static str,
    law: &'static str,
    found: bool,
    /// Worlds until its law was broken; all that were played if it was not.
    seeds: u64,
    site: &'static str,
    /// Laws that the same worlds broke without the bug.
    clean_violations: u64,
    /// The first world, by its panic instead of by a law.
    panicked: bool,
    /// Which world fell over with the bug, or without it, and why; nothing after it was played.
    #[serde(skip_serializing_if = "Option::is_none")]
    fell: Option<String>,
}

/// The last line of `bugbank --json`.
#[derive(Debug, Serialize)]
struct BugbankSummary {
    bugs: usize,
    found: usize,
    median_seeds: u64,
    most_seeds: u64,
    canary: bool,
    clean_violations: u64,
}

pub(crate) fn run(arguments: &BugbankArgs) -> SimulatorExit {
    if arguments.crossing {
        return border_bank::run(arguments);
    }
    let names: Vec<&str> = BUGS.iter().map(|bug| bug.name).collect();
    if let Some(name) = arguments.unknown(&names) {
        return no_bug(name, &names);
    }
    let bugs: Vec<&Bug> = BUGS.iter().filter(|bug| arguments.chooses(bug.name)).collect();
    let canary = survive(canary_fails).unwrap_or(false);
    match look_for_all(arguments, &bugs, look_for) {
        Ok(all) => tell(&all, canary, arguments.json),
        Err(exit) => exit,
    }
}

/// Looks for bugs, several at once, and returns what came of each in their order. Says so if a world fell over outside
/// of a bug.
pub(super) fn look_for_all<B: Sync, L: Send>(
    arguments: &BugbankArgs,
    bugs: &[&B],
    look_for: impl Fn(&B, u64) -> L + Sync,
) -> Result<Vec<L>, SimulatorExit> {
    let mut progress = CampaignProgress::new();
    let mut all: Vec<(u64, L)> = Vec::new();
    let count = u64::try_from(bugs.len()).unwrap_or(u64::MAX);
    let bug = |number: u64| bugs[usize::try_from(number).unwrap_or(0)];
    let played = campaign::quietly(|| {
        campaign::play(
            arguments.jobs(),
            0..count,
            |number| look_for(bug(number), arguments.budget()),
            |number, found| {
                all.push((number, found));
                progress.tell(|| format!("{} of {count} bugs", all.len()));
                true
            },
        );
    });
    progress.end();
    if let Err(why) = played {
        eprintln!("the world itself fell over: {why}");
        return Err(SimulatorExit::Broken);
    }
    all.sort_by_key(|(number, _)| *number);
    Ok(all.into_iter().map(|(_, found)| found).collect())
}

/// Returns whether the oracle finds the canary's bug. If not, it is blind.
fn canary_fails() -> bool {
    let canary = bugs::canary();
    match canary.ending {
        ExpectedEnding::Found(laws, budget) => (0..budget).any(|seed| {
            let outcome = (canary.play)(seed.into());
            laws.iter().any(|law| outcome.shows(*law))
        }),
        ExpectedEnding::Sound => false,
    }
}

fn look_for(bug: &Bug, budget: u64) -> BugLine {
    let site = match bug.site() {
        BugSite::Agreement => "agreement",
        BugSite::Log => "log",
        BugSite::Sim => "sim",
        BugSite::Replica => "replica",
    };
    let mut found = BugLine {
        bug: bug.name,
        law: bug.law.name(),
        found: false,
        seeds: 0,
        site,
        clean_violations: 0,
        panicked: false,
        fell: None,
    };
    found.fell = play_until_found(bug, budget, &mut found).err();
    found
}

/// Plays worlds until one breaks the law, then the same ones without the bug: what was not found needs
/// no proof that it is the bug that was found.
fn play_until_found(bug: &Bug, budget: u64, found: &mut BugLine) -> Result<(), String> {
    let fell =
        |seed: u64, which: &str, why: String| format!("{}, seed {seed}{which}: {why}", bug.name);
    while !found.found && found.seeds < budget {
        let seed = found.seeds;
        found.seeds += 1;
        let verdict = survive(|| bug.play(seed.into())).map_err(|fall| fell(seed, "", fall.why))?;
        found.found = verdict.shows(bug.law);
        let panics = |(_, why): &(usize, String)| why.starts_with("panicked");
        found.panicked = found.found && verdict.halts.iter().any(panics);
    }
    for seed in (0..found.seeds).filter(|_| found.found) {
        let verdict = survive(|| bug.play_clean(seed.into()))
            .map_err(|fall| fell(seed, ", without the bug", fall.why))?;
        found.clean_violations += u64::try_from(verdict.faults.len()).unwrap_or(1);
    }
    Ok(())
}

fn tell(all: &[BugLine], canary: bool, json: bool) -> SimulatorExit {
    let mut seeds: Vec<u64> = all.iter().map(|found| found.seeds).collect();
    seeds.sort_unstable();
    let summary = BugbankSummary {
        bugs: all.len(),
        found: all.iter().filter(|found| found.found).count(),
        median_seeds: seeds.get(seeds.len() / 2).copied().unwrap_or(0),
        most_seeds: seeds.last().copied().unwrap_or(0),
        canary,
        clean_violations: all.iter().map(|found| found.clean_violations).sum(),
    };
    let line = |value: serde_json::Result<String>| value.expect("numbers and names are JSON");
    for found in all {
        let BugLine { bug, law, seeds, fell, .. } = found;
        if let Some(fell) = fell {
            eprintln!("{fell}");
        }
        if json {
            say!("{}", line(serde_json::to_string(found)));
        } else if found.found {
            say!("{bug:<36} {law:<30} found in seed {seeds}");
        } else {
            say!("{bug:<36} {law:<30} NOT FOUND in {seeds} seeds");
        }
    }
    let BugbankSummary { bugs, found, median_seeds, most_seeds, clean_violations, .. } = summary;
    if json {
        say!("{}", line(serde_json::to_string(&summary)));
    } else {
        let eye = if canary { "the canary fails, as it must" } else { "THE CANARY DOES NOT FAIL" };
        say!(
            "{found} of {bugs} bugs found, in {median_seeds} seeds (median), {most_seeds} at most; \
             {clean_violations} laws broken without them; {eye}"
        );
    }
    let by_law = all.iter().all(|found| !found.panicked && found.fell.is_none());
    let sound = found == bugs && canary && clean_violations == 0 && by_law;
    if sound { SimulatorExit::Sound } else { SimulatorExit::Broken }
}
