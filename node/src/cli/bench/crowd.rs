//! Measures what a crowd costs: bytes for a client that looks on, and processor time of the server
//! that carries the crowd.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use metatopia_client_driver::{ClientDriver, GenesisTrust, NodeEndpoint, NodeUrl, passing_key};
use metatopia_load::{
    bots::{self, BotsSummary, CrowdSettings},
    figure::{Bound, Figure},
    micros, onlooker,
    process::cpu_time,
};
use metatopia_types::Height;

use super::on_a_plaza;
use crate::cli::{Failure, console::Console, status::ServerStatus};

/// Bots that the onlooker sees.
const IN_VIEW: u32 = 50;

/// The number of clients of one server.
const AT_ONE_SERVER: u32 = 200;

/// The acts that each bot sends in a second.
const RATE: u32 = 10;

/// The time after which all bots have come in and act.
const WARM_UP: Duration = Duration::from_secs(5);

/// The time between two turns that makes the second one late, in milliseconds. A turn takes 50.
const LATE_MS: u64 = 100;

/// The time that a node has to hand out one turn.
const TURN: Duration = Duration::from_secs(10);

/// Measures while bots act for this time.
pub(super) async fn measure(
    path: &Path,
    duration: Duration,
    console: Console,
) -> Result<Vec<Figure>, Failure> {
    on_a_plaza(path, console, async |cluster, _| {
        cluster.ready().await?;
        let nodes = cluster.urls();
        let endpoint = NodeEndpoint::ask(&nodes[0], None).await?;
        let trust = GenesisTrust::learn(&endpoint).await?;
        console.note(&format!("somebody looks on while {IN_VIEW} bots act"));
        let mut figures = seen(&nodes, &endpoint, &trust, duration).await?;
        console.note(&format!("{AT_ONE_SERVER} clients act at one server"));
        let carrying = cluster.processes().next().map(|(_, pid)| pid);
        figures.extend(carried(&nodes[0], carrying, &trust, duration).await?);
        Ok(figures)
    })
    .await
}

/// Measures what a client that looks on is sent.
async fn seen(
    nodes: &[NodeUrl],
    endpoint: &NodeEndpoint,
    trust: &GenesisTrust,
    duration: Duration,
) -> Result<Vec<Figure>, Failure> {
    let crowd = CrowdSettings {
        count: IN_VIEW,
        rate: RATE,
        duration: WARM_UP + duration,
        seed: 2,
        builds: false,
    };
    let (summary, weights) = tokio::join!(
        bots::measure(nodes, trust, crowd),
        onlooker::look_on(endpoint, (WARM_UP, duration)),
    );
    let (BotsSummary { lost, .. }, weights) = (summary?, weights?);
    let all = weights.views + weights.proofs;
    let views = weights.per_second(weights.count * 1_000);
    Ok(vec![
        Figure::tenths("sent to one client", weights.per_second(all), "KB/s", Bound::AtMost(40)),
        Figure::tenths("of it proofs", weights.per_second(weights.proofs), "KB/s", Bound::None),
        Figure::tenths(
            "if states were sent whole",
            weights.per_second(weights.full),
            "KB/s",
            Bound::None,
        ),
        Figure::tenths("views", views, "views/s", Bound::None),
        Figure::new("objects in sight", weights.in_sight, "objects", Bound::None),
        Figure::new("acts lost with 50 bots", lost, "acts", Bound::AtMost(0)),
    ])
}

/// Measures what one server of the four spends on a crowd of its own.
async fn carried(
    node: &NodeUrl,
    server: Option<u32>,
    trust: &GenesisTrust,
    duration: Duration,
) -> Result<Vec<Figure>, Failure> {
    let crowd = CrowdSettings {
        count: AT_ONE_SERVER,
        rate: RATE,
        duration: WARM_UP + duration,
        seed: 3,
        builds: false,
    };
    let nodes = std::slice::from_ref(node);
    let cost = async {
        tokio::time::sleep(WARM_UP).await;
        let (from, before, start) =
            (height(node).await?, server.and_then(cpu_time), Instant::now());
        tokio::time::sleep(duration).await;
        let (after, time) = (server.and_then(cpu_time), start.elapsed());
        let used = before.zip(after).map(|(before, after)| after.saturating_sub(before));
        Ok::<_, Failure>((from, height(node).await?, used, time))
    };
    let (summary, cost) = tokio::join!(bots::measure(nodes, trust, crowd), cost);
    let (summary, (from, to, used, time)) = (summary?, cost?);
    let (late, turns) = pace(node, trust, (from, to)).await?;
    let share = |part: u64| used.map(|used| micros(used) * part / micros(time).max(1));
    Ok(vec![
        Figure::tenths("turns with 200 clients", Some(turns), "turns/s", Bound::AtLeast(20)),
        Figure::new("late turns", late, "turns", Bound::AtMost(0)),
        Figure::tenths("the server that carries them", share(1_000), "% of a core", Bound::None),
        Figure::tenths(
            "processor time for each client",
            share(10_000 / u64::from(AT_ONE_SERVER)),
            "ms/s",
            Bound::None,
        ),
        Figure::new("acts lost with 200 clients", summary.lost, "acts", Bound::AtMost(0)),
        Figure::new("act to receipt p99, 200 clients", summary.p99_ms, "ms", Bound::None),
    ])
}

/// Returns the height that a node is at.
pub(super) async fn height(node: &NodeUrl) -> Result<u64, Failure> {
    Ok(ServerStatus::ask(node, None).await?.height)
}

/// Returns how many turns between two heights were late, and how many tenths of a turn there were
/// in a second, by the times that the turns state.
pub(super) async fn pace(
    node: &NodeUrl,
    trust: &GenesisTrust,
    (from, to): (u64, u64),
) -> Result<(u64, u64), Failure> {
    let mut driver = ClientDriver::open(vec![node.clone()], trust.clone(), passing_key()).await?;
    let mut times = Vec::new();
    for height in from.max(1)..=to {
        times.push(driver.prove_turn(Height(height), TURN).await?.0.header.time);
    }
    driver.leave().await;
    let late = times.windows(2).filter(|pair| pair[1].since(pair[0]) > LATE_MS).count() as u64;
    let (turns, took) = match times.as_slice() {
        [first, .., last] => (times.len() as u64 - 1, last.since(*first)),
        _ => (0, 0),
    };
    Ok((late, turns * 10_000 / took.max(1)))
}
