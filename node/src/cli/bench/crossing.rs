//! Measures bots that cross the border between two sims back and forth.

use std::{fs, path::Path, time::Duration};

use metatopia_audit::crossings::{CrossingVerdict, DirectionCount, HearingCost};
use metatopia_client_driver::{GenesisTrust, NodeUrl};
use metatopia_load::{
    crossing::{CrossedSim, CrossingSummary, cross},
    figure::{Bound, Figure},
};
use metatopia_types::SimId;
use tokio::time::sleep;

use crate::cli::{Failure, console::Console, log::verified_borders, up::grid::on_grid};

/// The promised turns from departure to arrival.
const MEDIAN_TURNS: u64 = 5;
const P95_TURNS: u64 = 10;

/// The promised turns by which ghosts lag, for half of all border frames.
const GHOST_TURNS: u64 = 8;

/// The promised crossings a second through one border, and the bots that walk back and forth so often.
const CROSSINGS_PER_SECOND: u64 = 20;
const BUSY_BOTS: u32 = 40;

/// The promised bytes of log a second by which a sim hears its neighbour, with nobody near and with somebody.
const QUIET_BYTES: u64 = 300;
const BUSY_BYTES: u64 = 60_000;

/// How long the border is quiet before the bots come: sims hear each other every ten seconds then.
const QUIET: Duration = Duration::from_secs(30);

/// The milliseconds of a turn.
const TURN_MS: u64 = 50;

/// A place without anything, whose people come in some metres before the eastern line.
const PLACE: &str = "name = \"yard\"\nlicence = \"AGPL-3.0-or-later\"\n\
    asset_licence = \"CC-BY-SA-4.0\"\nspawn = [112, 0]\nspawn_radius = 12\n";

/// Starts two sims side by side, and lets bots walk between them.
pub(super) async fn measure(
    path: &Path,
    servers: usize,
    load: (u32, Duration),
    console: Console,
) -> Result<Vec<Figure>, Failure> {
    let place = path.join("place");
    let failed = |error| Failure::failed(format!("{}: {error}", place.display()));
    fs::create_dir_all(&place).map_err(failed)?;
    fs::write(place.join("place.toml"), PLACE).map_err(failed)?;
    console.note("starting two sims");
    let setup = (Some(place.clone()), servers);
    let world = path.join("world");
    let mut found = on_grid(&world, (2, 1), setup, console, async |sims| {
        let two: Result<[(SimId, Vec<NodeUrl>); 2], _> = sims.try_into();
        let two = two.expect("a grid of two squares");
        console.note(&format!("the border is quiet for {QUIET:?}"));
        sleep(QUIET).await;
        walk(two.map(|(sim, nodes)| (Some(sim), nodes)), load, console).await
    })
    .await?;
    let dirs = ["sim-0-0", "sim-1-0"].map(|sim| world.join(sim)).into();
    let verified = tokio::task::spawn_blocking(move || verified_borders(dirs, console)).await;
    let verdicts = verified.map_err(|error| Failure::failed(error.to_string()))??;
    found.extend(verdicts.iter().flat_map(by_both_logs));
    Ok(found)
}

/// Lets bots walk between two sims that run already, whose logs lie elsewhere.
pub(super) async fn measure_running(
    nodes: [Vec<NodeUrl>; 2],
    load: (u32, Duration),
    console: Console,
) -> Result<Vec<Figure>, Failure> {
    walk(nodes.map(|nodes| (None, nodes)), load, console).await
}

/// Lets bots walk from the first sim into the second and back. Without its id, a sim is who its nodes say.
async fn walk(
    sims: [(Option<SimId>, Vec<NodeUrl>); 2],
    load: (u32, Duration),
    console: Console,
) -> Result<Vec<Figure>, Failure> {
    let [west, east] = sims;
    let (west, east) = (sim(west).await?, sim(east).await?);
    console.note(&format!("{} bots walk over the border for {:?}", load.0, load.1));
    Ok(figures(&cross(&west, &east, load).await?, load))
}

/// Returns what the logs of both sims say of the border together.
fn by_both_logs(verdict: &CrossingVerdict) -> [Figure; 6] {
    let both = [verdict.there, verdict.back];
    let sum = |of: fn(&DirectionCount) -> u64| both.iter().map(of).sum();
    let most = |of: fn(&HearingCost) -> Option<u64>| {
        verdict.hearing.iter().filter_map(of).max().map(|bytes| bytes * 10)
    };
    let (quiet, busy) = (most(|cost| cost.quiet.per_second()), most(|cost| cost.busy.per_second()));
    let lag = |percent| verdict.ghost_lag(percent).map(|age| age * 10 / TURN_MS);
    [
        Figure::new("taken, by both logs", sum(|count| count.taken), "parcels", Bound::None),
        Figure::new(
            "came home, by both logs",
            sum(|count| count.came_home),
            "parcels",
            Bound::None,
        ),
        Figure::tenths(
            "ghosts' lag p50, by both logs",
            lag(50),
            "turns",
            Bound::AtMost(GHOST_TURNS),
        ),
        Figure::tenths("ghosts' lag p95, by both logs", lag(95), "turns", Bound::None),
        Figure::tenths("log of a quiet border", quiet, "bytes/s", Bound::AtMost(QUIET_BYTES)),
        Figure::tenths("log of a busy border", busy, "bytes/s", Bound::AtMost(BUSY_BYTES)),
    ]
}

async fn sim((sim, nodes): (Option<SimId>, Vec<NodeUrl>)) -> Result<CrossedSim, Failure> {
    let trust = GenesisTrust::learn_from(&nodes, sim).await?;
    Ok(CrossedSim { nodes, trust })
}

fn figures(summary: &CrossingSummary, (bots, duration): (u32, Duration)) -> Vec<Figure> {
    let crossings = summary.times.len() as u64;
    let pace = (crossings * 10).checked_div(duration.as_secs());
    let pace_bound = match bots {
        BUSY_BOTS.. => Bound::AtLeast(CROSSINGS_PER_SECOND),
        _ => Bound::None,
    };
    let turns = |figure, percent, bound| {
        Figure::tenths(figure, summary.turns(percent), "turns", Bound::AtMost(bound))
    };
    let none = |figure, count| Figure::new(figure, count, "bots", Bound::AtMost(0));
    vec![
        Figure::new("crossings", crossings, "times", Bound::None),
        Figure::tenths("crossings a second", pace, "times/s", pace_bound),
        turns("departure to arrival p50", 50, MEDIAN_TURNS),
        turns("departure to arrival p95", 95, P95_TURNS),
        Figure::new("came back", summary.returned, "times", Bound::None),
        none("in no sim after the end", summary.lost),
        none("in both sims after the end", summary.doubled),
        none("never crossed", summary.stuck),
        none("without their ball after the end", summary.empty_handed),
    ]
}
