//! `metatopia-simulator overlay`: plays the overlay, and prints its table of figures.

use std::time::Instant;

use clap::Args;
use metatopia_raynet::{CellEstimator, ExactPlane, Extent};
use metatopia_simulator::{
    Dice,
    overlay::{
        OverlayBound, OverlayPlay, OverlayRow, OverlayScene, OverlayUnit,
        rows::{worst, written},
        variants::compare,
    },
};
use serde_json::json;

use super::SimulatorExit;

/// Sites of a short form, which takes seconds.
const SHORT: usize = 200;

/// Sites of the largest comparison with other algorithms.
const COMPARED: usize = 2_000;

/// The most sites: 100,000 take gigabytes and hours.
const SITES_MAX: usize = 100_000;

/// The table of figures: each promise at its size. What needs real sockets is measured elsewhere.
const TABLE: [(OverlayScene, usize); 8] = [
    (OverlayScene::Rest, 1_000),
    (OverlayScene::Rest, 10_000),
    (OverlayScene::Kill(500_000), 10_000),
    (OverlayScene::Hole(300_000), 10_000),
    (OverlayScene::Churn(10_000), 2_000),
    (OverlayScene::Loss(200_000), 2_000),
    (OverlayScene::Forgers(100_000), 2_000),
    (OverlayScene::Join(100_000), 2_000),
];

/// Promises that are measured elsewhere, and how.
const ELSEWHERE: [(&str, &str); 3] = [
    ("50 members on real sockets, views whole and whole again", "metatopia bench overlay"),
    ("world find in a grid of 4x4 sims, p99", "metatopia bench find"),
    (
        "100,000 sites, 30% killed",
        "metatopia-simulator overlay --sites 100000 --kill 30% --warm --only --alone",
    ),
];

/// Choices that are measured together, and how often that is done.
const CHOICES: [u32; 2] = [400, 20];

/// Which scenes are played.
#[derive(Debug, Args)]
pub(crate) struct OverlayArgs {
    /// Plays the whole table of figures, each at the size that it is promised for
    #[arg(long, conflicts_with_all = [
        "sites", "kill", "hole", "churn", "loss", "forgers", "join", "warm", "only", "cycles",
    ])]
    table: bool,
    /// How many sites there are; without it and without a scene, a short form is played
    #[arg(long, value_parser = sites)]
    sites: Option<usize>,
    /// So many die at once
    #[arg(long, value_name = "SHARE", value_parser = share)]
    kill: Option<u64>,
    /// All in a disc of this share of the area die at once
    #[arg(long, value_name = "SHARE", value_parser = share)]
    hole: Option<u64>,
    /// So many leave in each of 100 cycles, and as many come
    #[arg(long, value_name = "SHARE", value_parser = share)]
    churn: Option<u64>,
    /// So many messages are lost
    #[arg(long, value_name = "SHARE", value_parser = share)]
    loss: Option<u64>,
    /// So many sites lie: they forge, repeat, flood, swallow and sign twice
    #[arg(long, value_name = "SHARE", value_parser = share)]
    forgers: Option<u64>,
    /// So many more join at once
    #[arg(long, value_name = "SHARE", value_parser = share)]
    join: Option<u64>,
    /// Sites know their neighbours at the beginning, as a world that has run for long
    #[arg(long)]
    warm: bool,
    /// Leaves out how sites find each other, and how they are at rest
    #[arg(long)]
    only: bool,
    /// How many seeds are played; the worst of them counts
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    seeds: u64,
    /// The first seed
    #[arg(long, default_value_t = 1)]
    from: u64,
    /// Cycles of the beginning, or of the churn
    #[arg(long)]
    cycles: Option<u32>,
    /// Leaves out the other algorithms
    #[arg(long)]
    alone: bool,
    /// Prints a JSON object a row
    #[arg(long)]
    json: bool,
}

/// Reads a share such as 30% in millionths.
fn share(word: &str) -> Result<u64, String> {
    let percent = word.strip_suffix('%').unwrap_or(word);
    let (whole, part) = percent.split_once('.').unwrap_or((percent, ""));
    let digits = format!("{whole}{part:0<4}");
    let is_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = !whole.is_empty() && part.len() <= 4 && is_digits;
    let read = digits.parse::<u64>().ok().filter(|ppm| is_number && *ppm < 1_000_000);
    read.ok_or_else(|| format!("{word} is no share: write one such as 30%, less than 100%"))
}

/// Reads how many sites there are.
fn sites(word: &str) -> Result<usize, String> {
    let read = word.parse().ok().filter(|sites| (10..=SITES_MAX).contains(sites));
    read.ok_or_else(|| format!("{word} is no number of sites: from 10 to {SITES_MAX}"))
}

impl OverlayArgs {
    /// Returns what is played, in order.
    fn plays(&self) -> Vec<OverlayPlay> {
        let play =
            |scene, sites| OverlayPlay { scene, sites, cycles: self.cycles, is_warm: self.warm };
        if self.table {
            return TABLE.map(|(scene, sites)| play(scene, sites)).to_vec();
        }
        let sites = self.sites.unwrap_or(SHORT);
        self.scenes().into_iter().map(|scene| play(scene, sites)).collect()
    }

    fn scenes(&self) -> Vec<OverlayScene> {
        let named = [
            self.kill.map(OverlayScene::Kill),
            self.hole.map(OverlayScene::Hole),
            self.churn.map(OverlayScene::Churn),
            self.loss.map(OverlayScene::Loss),
            self.forgers.map(OverlayScene::Forgers),
            self.join.map(OverlayScene::Join),
        ];
        let named = named.into_iter().flatten();
        let rest = (!self.only).then_some(OverlayScene::Rest);
        let mut scenes: Vec<OverlayScene> = rest.into_iter().chain(named).collect();
        if self.sites.is_none() && scenes == [OverlayScene::Rest] {
            scenes.push(OverlayScene::Kill(500_000));
        }
        scenes
    }
}

pub(crate) fn run(arguments: &OverlayArgs) -> SimulatorExit {
    let mut is_kept = true;
    let mut show = |rows: Vec<OverlayRow>| {
        for row in worst(rows) {
            is_kept &= row.is_kept();
            print(&row, arguments.json);
        }
    };
    let seeds = arguments.from..arguments.from.saturating_add(arguments.seeds);
    for play in arguments.plays() {
        let mut rows = Vec::new();
        for seed in seeds.clone() {
            let played = play.play(seed);
            rows.extend(played.rows);
            let (scene, digest) = (play.scene.name(), played.digest.to_string());
            if arguments.json {
                say!("{}", json!({ "scene": scene, "seed": seed, "digest": digest }));
            } else {
                say!("{scene} with seed {seed} ended as {digest}");
            }
        }
        show(rows);
    }
    show(vec![choice()]);
    if !arguments.alone {
        let sites = arguments.sites.unwrap_or(if arguments.table { COMPARED } else { SHORT });
        show(compared(sites.min(COMPARED), arguments));
    }
    if arguments.table && !arguments.json {
        for (what, command) in ELSEWHERE {
            say!("not played here: {what}: {command}");
        }
    }
    if is_kept { SimulatorExit::Sound } else { SimulatorExit::Broken }
}

fn print(row: &OverlayRow, as_json: bool) {
    let OverlayRow { scene, figure, sites, seed, value, unit, bound } = row;
    if as_json {
        let number = |millionths: u64| millionths as f64 / 1_000_000.0;
        let (relation, bound) = match bound {
            OverlayBound::AtLeast(least) => (Some("at least"), Some(number(*least))),
            OverlayBound::AtMost(most) => (Some("at most"), Some(number(*most))),
            OverlayBound::Open => (None, None),
        };
        let row = json!({
            "scene": scene, "figure": figure, "sites": sites, "seed": seed, "value": number(*value),
            "unit": unit.word(), "relation": relation, "bound": bound, "ok": row.is_kept(),
        });
        say!("{row}");
        return;
    }
    let (value, bound) = (written(*value), bound.to_string());
    let ok = if row.is_kept() { "ok" } else { "NOT KEPT" };
    say!("{sites:>6} {scene:<14} {figure:<42} {value:>10} {:<8} {bound:<12} {ok}", unit.word());
}

/// Measures one choice among 25 candidates. The fastest of some batches counts: whatever else runs on
/// the machine only makes it slower.
fn choice() -> OverlayRow {
    let mut dice = Dice::new(1, "overlay choice");
    let mut draw = || [dice.below(4_000) as i64 - 2_000, dice.below(4_000) as i64 - 2_000];
    let sets: Vec<Vec<[i64; 2]>> = (0..64).map(|_| (0..25).map(|_| draw()).collect()).collect();
    let cells = ExactPlane { extent: Extent::PLANE };
    let [count, batches] = CHOICES;
    let batch = |_| {
        let begun = Instant::now();
        let chosen: usize = (0..count as usize)
            .map(|index| cells.choose([0, 0], &sets[index % 64], 10, 24).len())
            .sum();
        assert!(chosen >= 10 * count as usize, "each choice fills a view");
        begun.elapsed()
    };
    let best = (0..batches).map(batch).min().unwrap_or_default() / count;
    let value = best.as_nanos() as u64 * 1_000;
    let bound =
        if cfg!(debug_assertions) { OverlayBound::Open } else { OverlayBound::AtMost(10_000_000) };
    let (scene, figure) = ("choice".to_owned(), "one choice among 25 candidates");
    OverlayRow { scene, figure, sites: 25, seed: 1, value, unit: OverlayUnit::Micros, bound }
}

/// Plays the algorithm of the specification, and a purely deterministic one.
fn compared(sites: usize, arguments: &OverlayArgs) -> Vec<OverlayRow> {
    let kill = arguments.kill.unwrap_or(500_000);
    let mut rows = Vec::new();
    for (name, [before, after]) in compare(sites, arguments.from, kill, [15, 12]) {
        let figures = [
            ("neighbours after 15 cycles", before.0),
            ("routes after 15 cycles", before.1),
            ("neighbours 12 cycles after the kill", after.0),
            ("routes 12 cycles after the kill", after.1),
        ];
        for (figure, value) in figures {
            let (scene, unit, bound) = (name.to_owned(), OverlayUnit::Share, OverlayBound::Open);
            rows.push(OverlayRow {
                scene,
                figure,
                sites,
                seed: arguments.from,
                value,
                unit,
                bound,
            });
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::{share, sites};

    #[test]
    fn a_share_is_read_in_millionths() {
        let read = ["50%", "1%", "0.1%", "12.3456%", "30"].map(share);
        assert_eq!(read, [500_000, 10_000, 1_000, 123_456, 300_000].map(Ok));
        for word in ["100%", "-1%", "x", "", "1.23456%", "%"] {
            assert!(share(word).is_err_and(|why| why.starts_with(word)), "{word}");
        }
    }

    #[test]
    fn there_are_10_to_100_000_sites() {
        assert_eq!([sites("10"), sites("100000")], [Ok(10), Ok(100_000)]);
        assert!(["9", "100001", "x"].iter().all(|word| sites(word).is_err()));
    }
}
