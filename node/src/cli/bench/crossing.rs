//! Measures bots that cross the border between two sims back and forth.

use std::{path::Path, time::Duration};

use metatopia_audit::crossings::{CrossingVerdict, DirectionCount, HearingCost};
use metatopia_client_driver::{GenesisTrust, NodeUrl};
use metatopia_load::{
    crossing::{CrossedSim, CrossingSummary, cross},
    figure::{Bound, Figure},
};
use metatopia_types::SimId;
use tokio::time::sleep;

use super::yard::{self, ParcelSize};
use crate::cli::{Failure, console::Console, log::verified_borders, up::grid::on_grid};

/// The promised turns from departure to arrival.
const MEDIAN_TURNS: u64 = 5;
const P95_TURNS: u64 = 10;

/// The promised turns by which ghosts lag, for half of all border frames.
const GHOST_TURNS: u64 = 8;

/// The promised crossings a second through one border with parcels of 1 KiB. With parcels of 48 KiB it is one.
const CROSSINGS_PER_SECOND: u64 = 20;

/// So many bots walk back and forth once a second together, however late turns come.
const BOTS_PER_CROSSING: u64 = 2;

/// The promised bytes of log a second by which a sim hears its neighbour, with nobody near and with somebody.
const QUIET_BYTES: u64 = 300;
const BUSY_BYTES: u64 = 60_000;

/// How long the border is quiet before the bots come: sims hear each other every ten seconds then.
const QUIET: Duration = Duration::from_secs(30);

/// The milliseconds of a turn.
const TURN_MS: u64 = 50;

/// How the bots walk.
#[derive(Clone, Copy, Debug)]
pub(super) struct CrossingLoad {
    /// The number of bots.
    pub(super) bots: u32,
    /// How long they walk.
    pub(super) duration: Duration,
    /// How large their parcels are to be; without it each has a ball.
    pub(super) parcel: Option<ParcelSize>,
}

impl CrossingLoad {
    /// Returns how many crossings a second are promised, if the bots are so many that they walk back and forth so
    /// often. Parcels of more than 1 KiB have as many bytes a second at most as the largest one has.
    fn pace(self) -> Bound {
        let pace = self.parcel.map_or(CROSSINGS_PER_SECOND, ParcelSize::in_the_largest);
        let pace = pace.min(CROSSINGS_PER_SECOND);
        let is_busy = u64::from(self.bots) >= pace * BOTS_PER_CROSSING;
        if is_busy { Bound::AtLeast(pace) } else { Bound::None }
    }
}

/// Starts two sims side by side, and lets bots walk between them.
pub(super) async fn measure(
    path: &Path,
    servers: usize,
    load: CrossingLoad,
    console: Console,
) -> Result<Vec<Figure>, Failure> {
    let place = path.join("place");
    yard::write(&place, load.parcel)?;
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
    load: CrossingLoad,
    console: Console,
) -> Result<Vec<Figure>, Failure> {
    walk(nodes.map(|nodes| (None, nodes)), load, console).await
}

/// Lets bots walk from the first sim into the second and back. Without its id, a sim is who its nodes say.
async fn walk(
    sims: [(Option<SimId>, Vec<NodeUrl>); 2],
    load: CrossingLoad,
    console: Console,
) -> Result<Vec<Figure>, Failure> {
    let [west, east] = sims;
    let (west, east) = (sim(west).await?, sim(east).await?);
    let CrossingLoad { bots, duration, parcel } = load;
    console.note(&format!("{bots} bots walk over the border for {duration:?}"));
    let summary = cross(&west, &east, (bots, duration), yard::carried(parcel)).await?;
    Ok(figures(&summary, load))
}

/// Returns what the logs of both sims say of the border together.
fn by_both_logs(verdict: &CrossingVerdict) -> [Figure; 8] {
    let both = [verdict.there, verdict.back];
    let sum = |of: fn(&DirectionCount) -> u64| both.iter().map(of).sum();
    let most = |of: fn(&HearingCost) -> Option<u64>| {
        verdict.hearing.iter().filter_map(of).max().map(|bytes| bytes * 10)
    };
    let (quiet, busy) = (most(|cost| cost.quiet.per_second()), most(|cost| cost.busy.per_second()));
    let parcel = |percent| verdict.parcel_bytes(percent).map(|bytes| bytes * 10);
    let lag = |percent| verdict.ghost_lag(percent).map(|age| age * 10 / TURN_MS);
    [
        Figure::new("taken, by both logs", sum(|count| count.taken), "parcels", Bound::None),
        Figure::new(
            "came home, by both logs",
            sum(|count| count.came_home),
            "parcels",
            Bound::None,
        ),
        Figure::tenths("parcels p50, by both logs", parcel(50), "bytes", Bound::None),
        Figure::tenths("largest parcel, by both logs", parcel(100), "bytes", Bound::None),
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

fn figures(summary: &CrossingSummary, load: CrossingLoad) -> Vec<Figure> {
    let crossings = summary.times.len() as u64;
    let pace = (crossings * 10).checked_div(load.duration.as_secs());
    let turns = |figure, percent, bound| {
        Figure::tenths(figure, summary.turns(percent), "turns", Bound::AtMost(bound))
    };
    let none = |figure, count| Figure::new(figure, count, "bots", Bound::AtMost(0));
    vec![
        Figure::new("crossings", crossings, "times", Bound::None),
        Figure::tenths("crossings a second", pace, "times/s", load.pace()),
        turns("departure to arrival p50", 50, MEDIAN_TURNS),
        turns("departure to arrival p95", 95, P95_TURNS),
        Figure::new("came back", summary.returned, "times", Bound::None),
        none("in no sim after the end", summary.lost),
        none("in both sims after the end", summary.doubled),
        none("never crossed", summary.stuck),
        none("with empty hands after the end", summary.empty_handed),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::bench::yard::parcel_size;

    #[test]
    fn the_pace_of_a_border_is_promised_by_the_size_of_parcels_to_bots_that_are_enough() {
        let pace = |bots, size: Option<&str>| {
            let parcel = size.map(|text| parcel_size(text).expect("a size"));
            CrossingLoad { bots, duration: Duration::from_secs(60), parcel }.pace()
        };
        let least = |bound| match bound {
            Bound::AtLeast(least) => Some(least),
            Bound::AtMost(_) | Bound::None => None,
        };
        let paces = [(40, None), (40, Some("1KiB")), (4, Some("24KiB")), (2, Some("48KiB"))];
        let paces = paces.map(|(bots, size)| least(pace(bots, size)));
        assert_eq!(paces, [Some(20), Some(20), Some(2), Some(1)]);
        let few = [(39, None), (39, Some("2KiB")), (3, Some("24KiB")), (1, Some("48KiB"))];
        assert_eq!(few.map(|(bots, size)| least(pace(bots, size))), [None; 4]);
    }
}
