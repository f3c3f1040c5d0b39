//! `crossing`: two sims of whole servers side by side, and what crosses the border between them.

use std::collections::BTreeMap;
use std::time::Duration;

use clap::Args;
use metatopia_simulator::crossing::{
    CHANGE_STEPS, CRASH_STEPS, CrossingClass, CrossingCounts, CrossingPlan, CrossingReport,
    DepartureLie, HOMECOMINGS, NamedCounts, RoadCounts, play_crossing,
};
use metatopia_simulator::survive;
use metatopia_types::TravelRefusal;
use serde::Serialize;

use super::campaign::{self, CampaignProgress};
use super::{SimulatorExit, span};

/// Where nothing goes wrong, 99 of 100 arrivals are at most so many turns after their departures.
const CALM_TURNS_MAX: u64 = 10;

/// Where nothing goes wrong, half of all border frames move ghosts at most so many turns after they were made.
const GHOST_TURNS_MAX: u64 = 8;

/// So many faulty worlds, in each of which people walk for [`KINDS_SECONDS`], have all kinds of trouble among them.
const KINDS_WORLDS: u64 = 24;

/// How long people walk in worlds that are to have all kinds of trouble.
const KINDS_SECONDS: u64 = 20;

/// Why [`STEPS_WORLDS`] such worlds refuse somebody or something, besides what sims lie of.
const REASONS: [TravelRefusal; 7] = [
    TravelRefusal::Banned,
    TravelRefusal::Late,
    TravelRefusal::Closed,
    TravelRefusal::Full,
    TravelRefusal::ShareFull,
    TravelRefusal::FewServers,
    TravelRefusal::TooLarge,
];

/// So many such worlds have all ways to come home among them, and crashes and set changes between all steps.
const STEPS_WORLDS: u64 = 100;

#[derive(Debug, Args)]
pub(crate) struct CrossingArgs {
    /// How many worlds
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    /// The first seed; the others follow. Every fourth world is calm
    #[arg(long, value_parser = span::seed, allow_negative_numbers = true, default_value = "1")]
    from: u64,
    /// How many seconds people walk in each world, in its own time
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(10..=3_600))]
    seconds: u64,
    /// How many servers each of the two sims has
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(4..=16))]
    servers: u8,
    /// Worlds played at once [default: one per core]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Ends with one JSON object
    #[arg(long)]
    json: bool,
}

/// What all worlds of a class counted.
#[derive(Debug, Default)]
struct CrossingTally {
    worlds: u64,
    counts: CrossingCounts,
    road: RoadCounts,
    unheard: u64,
    unheard_acts: u64,
    crashes: u64,
    settled: Duration,
}

impl CrossingTally {
    fn add(&mut self, report: &CrossingReport) {
        self.worlds += 1;
        self.counts.add(&report.counts);
        self.road.add(&report.road);
        self.unheard += report.unheard;
        self.unheard_acts += report.unheard_acts;
        self.crashes += report.crashes;
        self.settled = self.settled.max(report.settled);
    }

    fn figures(&self) -> CrossingFigures {
        let (counts, road) = (&self.counts, &self.road);
        CrossingFigures {
            worlds: self.worlds,
            taken: counts.taken(),
            people: counts.people,
            things: counts.things,
            carried: counts.carried,
            stowed: counts.stowed,
            refused: counts.refused.clone(),
            came_home: counts.came_home.clone(),
            ambushes: counts.ambushes.clone(),
            severings: counts.severings,
            given_back: counts.given_back,
            set_changes: counts.set_changes,
            changes_amid: counts.changes_amid.clone(),
            pinned_waits: counts.pinned_waits,
            turns_p50: counts.percentile(50),
            turns_p95: counts.percentile(95),
            turns_p99: counts.percentile(99),
            ghost_turns_p50: counts.ghost_percentile(50),
            ghost_turns_p95: counts.ghost_percentile(95),
            longest_ms: millis(counts.longest),
            settled_ms: millis(self.settled),
            looks: counts.looks,
            dispatches: road.brought,
            dispatches_late: road.late,
            dispatches_lost: road.lost,
            dispatches_doubled: road.doubled,
            dispatches_corrupted: road.corrupted,
            dispatches_forged: road.forged,
            dispatches_unheard: self.unheard,
            acts_unheard: self.unheard_acts,
            crashes: self.crashes,
        }
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// What is printed of a class.
#[derive(Debug, Serialize)]
struct CrossingFigures {
    worlds: u64,
    taken: u64,
    people: u64,
    things: u64,
    carried: u64,
    stowed: u64,
    refused: NamedCounts,
    came_home: NamedCounts,
    ambushes: NamedCounts,
    severings: u64,
    given_back: u64,
    set_changes: u64,
    changes_amid: NamedCounts,
    pinned_waits: u64,
    turns_p50: Option<u64>,
    turns_p95: Option<u64>,
    turns_p99: Option<u64>,
    ghost_turns_p50: Option<u64>,
    ghost_turns_p95: Option<u64>,
    longest_ms: u64,
    settled_ms: u64,
    looks: u64,
    dispatches: u64,
    dispatches_late: u64,
    dispatches_lost: u64,
    dispatches_doubled: u64,
    dispatches_corrupted: u64,
    dispatches_forged: u64,
    dispatches_unheard: u64,
    acts_unheard: u64,
    crashes: u64,
}

/// The last line of `crossing --json`.
#[derive(Debug, Serialize)]
struct CrossingOutcome {
    seeds: u64,
    violations: u64,
    virtual_seconds: u64,
    speed_x: f64,
    classes: BTreeMap<&'static str, CrossingFigures>,
    /// What is to be better than it is, though no law was broken.
    shortfalls: Vec<String>,
}

/// Says what the classes fall short of: something has to cross in each, and quickly where nothing goes wrong.
fn shortfalls(classes: &BTreeMap<&'static str, CrossingFigures>) -> Vec<String> {
    let idle = classes.iter().filter(|(_, figures)| figures.worlds > 0 && figures.taken == 0);
    let mut short: Vec<String> = idle
        .map(|(class, figures)| {
            format!("{class}: nobody and nothing crossed in {} worlds", figures.worlds)
        })
        .collect();
    let calm = classes.get(CrossingClass::Calm.name()).and_then(|figures| figures.turns_p99);
    if let Some(turns) = calm.filter(|turns| *turns > CALM_TURNS_MAX) {
        short.push(format!("calm: p99 is {turns} turns, and is to be {CALM_TURNS_MAX} at most"));
    }
    let calm = classes.get(CrossingClass::Calm.name()).and_then(|figures| figures.ghost_turns_p50);
    if let Some(turns) = calm.filter(|turns| *turns > GHOST_TURNS_MAX) {
        let bound = GHOST_TURNS_MAX;
        short.push(format!("calm: ghosts lag by {turns} turns, and are to by {bound} at most"));
    }
    short
}

/// Says which kinds of trouble there were none of, though there were worlds enough.
fn never(figures: &CrossingFigures) -> Vec<String> {
    let mut never = Vec::new();
    if figures.worlds >= KINDS_WORLDS {
        let kinds = [
            ("refusals", figures.refused.values().sum()),
            ("crashes after a step", figures.ambushes.values().sum()),
            ("things put into luggage", figures.stowed),
            ("severings", figures.severings),
            ("set changes", figures.set_changes),
            ("forged dispatches", figures.dispatches_forged),
            ("acts that tell what was never said", figures.acts_unheard),
        ];
        let none = kinds.into_iter().filter(|(_, times)| *times == 0);
        let mut kinds: Vec<String> = none.map(|(kind, _)| kind.to_owned()).collect();
        let lies = DepartureLie::ALL.map(|lie| lie.refusal().word());
        let none = lies.into_iter().filter(|word| !figures.refused.contains_key(word));
        kinds.extend(none.map(|word| format!("refusals for `{word}`")));
        never.extend(
            kinds.iter().map(|kind| format!("faulty: no {kind} in {} worlds", figures.worlds)),
        );
    }
    if figures.worlds >= STEPS_WORLDS {
        let missing = |kind: &str, counts: &NamedCounts, names: &[&'static str]| {
            let none = names.iter().filter(|name| !counts.contains_key(*name));
            none.map(|name| format!("faulty: no {kind}: {name}")).collect::<Vec<_>>()
        };
        let reasons = REASONS.map(TravelRefusal::word);
        never.extend(missing("refusal", &figures.refused, &reasons));
        never.extend(missing("homecoming", &figures.came_home, &HOMECOMINGS));
        never.extend(missing("crash after a step", &figures.ambushes, &CRASH_STEPS));
        never.extend(missing("set change amid a crossing", &figures.changes_amid, &CHANGE_STEPS));
    }
    never
}

pub(crate) fn run(arguments: &CrossingArgs) -> SimulatorExit {
    let Some(end) = arguments.from.checked_add(arguments.seeds) else {
        eprintln!(
            "error: seeds end before {}; begin with an earlier one than {}",
            u64::MAX,
            arguments.from
        );
        return SimulatorExit::Usage;
    };
    let (life, servers) = (Duration::from_secs(arguments.seconds), usize::from(arguments.servers));
    let jobs = arguments.jobs.map_or_else(campaign::cores, usize::from);
    let mut progress = CampaignProgress::new();
    let mut tallies: BTreeMap<CrossingClass, CrossingTally> = BTreeMap::new();
    let (mut done, mut lived) = (0, Duration::ZERO);
    let mut broken: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    let play = |seed: u64| {
        let plan = CrossingPlan::draw(seed, life, servers);
        survive(|| play_crossing(&plan))
    };
    campaign::play(jobs, arguments.from..end, play, |seed, played| {
        done += 1;
        let breaches = match played {
            Ok(report) => {
                lived += report.took;
                tallies.entry(report.class).or_default().add(&report);
                report.breaches
            }
            Err(fall) => vec![fall.why],
        };
        progress.tell(|| format!("{done} of {} worlds, {} broken", arguments.seeds, broken.len()));
        let is_sound = breaches.is_empty();
        if !is_sound {
            broken.insert(seed, breaches);
        }
        is_sound
    });
    progress.end();
    if let Some((seed, breaches)) = broken.first_key_value() {
        say!("{}", CrossingPlan::draw(*seed, life, servers).to_string().trim_end());
        breaches.iter().for_each(|breach| say!("seed {seed}: {breach}"));
    }
    let speed = lived.as_secs_f64() / progress.elapsed().as_secs_f64();
    let classes: BTreeMap<_, _> =
        tallies.iter().map(|(class, tally)| (class.name(), tally.figures())).collect();
    let mut shortfalls = shortfalls(&classes);
    if arguments.seconds >= KINDS_SECONDS {
        let faulty = classes.get(CrossingClass::Faulty.name());
        shortfalls.extend(faulty.map(never).unwrap_or_default());
    }
    let outcome = CrossingOutcome {
        seeds: done,
        violations: broken.len() as u64,
        virtual_seconds: lived.as_secs(),
        speed_x: (speed * 100.0).round() / 100.0,
        shortfalls,
        classes,
    };
    tell(&outcome, arguments.json);
    let is_sound = broken.is_empty() && outcome.shortfalls.is_empty();
    if is_sound { SimulatorExit::Sound } else { SimulatorExit::Broken }
}

/// Returns what was counted by name as words.
fn named(counts: &NamedCounts) -> String {
    let words: Vec<String> = counts.iter().map(|(name, times)| format!("{times} {name}")).collect();
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}

fn tell(outcome: &CrossingOutcome, json: bool) {
    if json {
        say!("{}", serde_json::to_string(outcome).expect("numbers and names are JSON"));
        return;
    }
    for (class, figures) in &outcome.classes {
        let turns = |turns: Option<u64>| turns.map_or_else(|| "-".to_owned(), |n| n.to_string());
        let [median, p95, p99] =
            [figures.turns_p50, figures.turns_p95, figures.turns_p99].map(turns);
        say!(
            "{class}: {} worlds, {} taken ({} people, {} things, {} carried), {} put into luggage, {} pinned waits",
            figures.worlds,
            figures.taken,
            figures.people,
            figures.things,
            figures.carried,
            figures.stowed,
            figures.pinned_waits
        );
        say!("  refused: {}", named(&figures.refused));
        say!("  came home: {}", named(&figures.came_home));
        say!("  crashes after a step: {}", named(&figures.ambushes));
        say!("  {} severings, {} given back by them", figures.severings, figures.given_back);
        say!(
            "  {} set changes, amid crossings: {}",
            figures.set_changes,
            named(&figures.changes_amid)
        );
        say!(
            "  departure to arrival {median} / {p95} / {p99} turns (median, p95, p99), \
             longest {} ms, settled after {} ms, {} looks",
            figures.longest_ms,
            figures.settled_ms,
            figures.looks
        );
        let [median, p95] = [figures.ghost_turns_p50, figures.ghost_turns_p95].map(turns);
        say!("  ghosts lag by {median} / {p95} turns (median, p95)");
        say!(
            "  {} dispatches: {} late, {} lost, {} doubled, {} corrupted, {} forged, \
             {} counted for nothing, {} acts told what was never said; {} crashes",
            figures.dispatches,
            figures.dispatches_late,
            figures.dispatches_lost,
            figures.dispatches_doubled,
            figures.dispatches_corrupted,
            figures.dispatches_forged,
            figures.dispatches_unheard,
            figures.acts_unheard,
            figures.crashes
        );
    }
    say!(
        "{} worlds, {} virtual seconds, {}x real time, {} worlds with a broken law",
        outcome.seeds,
        outcome.virtual_seconds,
        outcome.speed_x,
        outcome.violations
    );
    outcome.shortfalls.iter().for_each(|short| say!("{short}"));
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{
        CALM_TURNS_MAX, CHANGE_STEPS, CRASH_STEPS, CrossingFigures, CrossingTally, GHOST_TURNS_MAX,
        HOMECOMINGS, KINDS_WORLDS, NamedCounts, REASONS, STEPS_WORLDS, never, shortfalls,
    };

    #[test]
    fn many_worlds_without_a_kind_of_trouble_fall_short_and_few_do_not() {
        let tally = |worlds| CrossingTally { worlds, ..CrossingTally::default() };
        assert!(never(&tally(KINDS_WORLDS - 1).figures()).is_empty());
        let few = never(&tally(KINDS_WORLDS).figures()).join("\n");
        let severings = format!("faulty: no severings in {KINDS_WORLDS} worlds");
        assert!(few.contains(&severings), "{few}");
        assert!(!few.contains("homecoming"), "{few}");

        let all = |names: &[&'static str]| -> NamedCounts {
            names.iter().map(|name| (*name, 1)).collect()
        };
        let mut many = tally(STEPS_WORLDS);
        (many.counts.severings, many.counts.set_changes, many.counts.stowed) = (1, 1, 1);
        (many.road.forged, many.unheard_acts) = (1, 1);
        let lies = ["here", "no pass", "bad parcel"];
        let reasons = REASONS.map(|why| why.word());
        let refused = [&lies[..], &reasons[..]].concat();
        many.counts.refused = all(&refused);
        many.counts.ambushes = all(&CRASH_STEPS);
        many.counts.changes_amid = all(&CHANGE_STEPS);
        many.counts.came_home = all(&HOMECOMINGS[1..]);
        assert_eq!(never(&many.figures()), ["faulty: no homecoming: refused"]);
        many.counts.came_home = all(&HOMECOMINGS);
        assert!(never(&many.figures()).is_empty());
        for why in reasons {
            many.counts.refused.remove(why);
            assert_eq!(never(&many.figures()), [format!("faulty: no refusal: {why}")]);
            many.counts.refused.insert(why, 1);
        }
        many.counts.refused.remove("bad parcel");
        let bad = format!("faulty: no refusals for `bad parcel` in {STEPS_WORLDS} worlds");
        assert_eq!(never(&many.figures()), [bad]);
    }

    /// The command ended well after worlds in which nobody ever crossed.
    #[test]
    fn worlds_in_which_nothing_crosses_or_calm_ones_in_which_it_takes_long_fall_short() {
        let figures = |taken: u64, turns: u64| {
            let mut tally = CrossingTally { worlds: 3, ..CrossingTally::default() };
            (tally.counts.people, tally.counts.turns) = (taken, vec![turns; taken as usize]);
            tally.figures()
        };
        let of = |classes: [(&'static str, CrossingFigures); 2]| {
            shortfalls(&BTreeMap::from(classes)).join("\n")
        };
        let (quick, slow) = (CALM_TURNS_MAX, CALM_TURNS_MAX + 1);
        assert_eq!(of([("calm", figures(5, quick)), ("faulty", figures(5, slow))]), "");
        let idle = of([("calm", figures(5, slow)), ("faulty", figures(0, 0))]);
        assert!(idle.contains("faulty: nobody and nothing crossed in 3 worlds"), "{idle}");
        assert!(idle.contains("calm: p99 is 11 turns, and is to be 10 at most"), "{idle}");
        let mut lags = CrossingTally { worlds: 3, ..CrossingTally::default() };
        (lags.counts.people, lags.counts.ghost_turns) = (1, vec![1, GHOST_TURNS_MAX + 1, 20]);
        let lags = of([("calm", lags.figures()), ("faulty", figures(5, slow))]);
        assert_eq!(lags, "calm: ghosts lag by 9 turns, and are to by 8 at most");
    }
}
