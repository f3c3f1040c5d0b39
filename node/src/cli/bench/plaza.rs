//! Measures the plaza under load, with a killed server, and at rest.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use metatopia_client_driver::{ClientDriver, GenesisTrust, NodeEndpoint, NodeUrl, passing_key};
use metatopia_load::{
    bots::{self, BotsSummary, CrowdSettings},
    figure::{Bound, Figure},
    micros,
    process::{cpu_time, resident_mb},
};
use metatopia_types::{Height, PublicKey};
use tokio::time::{sleep, timeout};

use super::on_a_plaza;
use crate::cli::{
    Failure,
    console::Console,
    status::ServerStatus,
    up::{cluster::ServerProcesses, world::LocalWorld},
};

/// The acts that each bot sends in a second.
const RATE: u32 = 10;

/// The time from the start of the bots until all have come in. Turns are counted from then on.
const WARM_UP: Duration = Duration::from_secs(3);

/// How long after a kill the longest wait for a turn is looked for.
const WATCH: Duration = Duration::from_secs(5);

/// The time between two looks at a height.
const LOOK: Duration = Duration::from_millis(5);

/// The longest wait for a server that was started again.
const BACK: Duration = Duration::from_secs(30);

/// The time that the plaza rests before its cost at rest is measured, and how long that is
/// measured.
const SETTLE: Duration = Duration::from_secs(3);
const REST: Duration = Duration::from_secs(10);

/// Measures every figure that needs servers.
pub(super) async fn measure(
    path: &Path,
    (count, duration): (u32, Duration),
    console: Console,
) -> Result<Vec<Figure>, Failure> {
    let start = Instant::now();
    on_a_plaza(path, console, async |cluster, world| {
        cluster.ready().await?;
        let ready = start.elapsed();
        let mut figures = vec![Figure::new("ready", millis(ready), "ms", Bound::AtMost(3_000))];
        console.note(&format!("{count} bots act for {} s", duration.as_secs()));
        figures.extend(under_load(cluster, count, duration).await?);
        console.note("killing the proposer, and starting it again");
        figures.extend(without_proposer(cluster, world).await?);
        console.note("measuring what the plaza costs at rest");
        sleep(SETTLE).await;
        figures.extend(at_rest(cluster).await);
        Ok(figures)
    })
    .await
}

async fn under_load(
    cluster: &ServerProcesses,
    count: u32,
    duration: Duration,
) -> Result<Vec<Figure>, Failure> {
    let nodes = cluster.urls();
    let trust = GenesisTrust::learn(&NodeEndpoint::ask(&nodes[0], None).await?).await?;
    let crowd = CrowdSettings { count, rate: RATE, duration, seed: 1, builds: false };
    let (summary, turns) =
        tokio::join!(bots::measure(&nodes, &trust, crowd), turn_rate(&nodes[0], duration));
    let (BotsSummary { sent, acknowledged, refused, lost, p50_ms, p99_ms, unanswered }, turns) =
        (summary?, turns?);
    let memory = cluster.processes().filter_map(|(_, pid)| resident_mb(pid)).max();
    let memory = memory.map(|mb| mb * 10);
    Ok(vec![
        Figure::tenths("turns with bots", Some(turns), "turns/s", Bound::AtLeast(20)),
        Figure::new("act to receipt p50", p50_ms, "ms", Bound::AtMost(120)),
        Figure::new("act to receipt p99", p99_ms, "ms", Bound::AtMost(300)),
        Figure::new("acts sent", sent, "acts", Bound::None),
        Figure::new("acts acknowledged", acknowledged, "acts", Bound::None),
        Figure::new("acts refused", refused, "acts", Bound::None),
        Figure::new("acts unanswered", unanswered, "acts", Bound::AtMost(0)),
        Figure::new("acts lost", lost, "acts", Bound::AtMost(0)),
        Figure::tenths("largest server, with bots", memory, "MB", Bound::None),
    ])
}

/// Returns how many turns were decided in ten seconds while the bots act.
async fn turn_rate(node: &NodeUrl, duration: Duration) -> Result<u64, Failure> {
    sleep(WARM_UP.min(duration / 4)).await;
    let (from, start) = next_turn(node).await?;
    sleep(duration.saturating_sub(WARM_UP).max(duration / 2)).await;
    let (to, end) = next_turn(node).await?;
    let (turns, time) = (to.saturating_sub(from), micros(end - start).max(1));
    // The division rounds to the nearest tenth.
    Ok((turns * 10_000_000 + time / 2) / time)
}

/// Waits for a new turn, and returns its height and when it was seen.
async fn next_turn(node: &NodeUrl) -> Result<(u64, Instant), Failure> {
    let (before, start) = (ServerStatus::ask(node, None).await?.height, Instant::now());
    while start.elapsed() < WATCH {
        sleep(LOOK).await;
        let height = ServerStatus::ask(node, None).await?.height;
        if height > before {
            return Ok((height, Instant::now()));
        }
    }
    Err(Failure::timed_out(format!("{node} decides nothing for {} s", WATCH.as_secs())))
}

async fn without_proposer(
    cluster: &mut ServerProcesses,
    world: &LocalWorld,
) -> Result<Vec<Figure>, Failure> {
    let keys: Vec<PublicKey> = world.servers().iter().map(|seat| seat.key).collect();
    let status = ServerStatus::ask(&cluster.ports(0).url(), None).await?;
    let is_proposer = |key: &PublicKey| status.proposer.as_deref() == Some(&key.to_string());
    // Between two heights there may be no proposer. Then any server will do.
    let victim = keys.iter().position(is_proposer).unwrap_or(0);
    let survivor = cluster.ports((victim + 1) % keys.len()).url();
    cluster.kill(victim).await?;
    let gap = longest_gap(&survivor).await?;
    let again = Instant::now();
    cluster.restart(victim)?;
    let node = cluster.ports(victim).url();
    let late = || {
        let message =
            format!("the server that was killed does not vote after {} s", BACK.as_secs());
        Failure::timed_out(message)
    };
    timeout(BACK, votes(&node, keys[victim])).await.map_err(|_| late())?;
    let back = again.elapsed();
    Ok(vec![
        Figure::new("turn after the proposer's death", millis(gap), "ms", Bound::AtMost(1_000)),
        Figure::new("votes after its restart", millis(back), "ms", Bound::AtMost(3_000)),
    ])
}

/// Returns the longest time without a new turn, from now on.
async fn longest_gap(node: &NodeUrl) -> Result<Duration, Failure> {
    let start = Instant::now();
    let (mut last, mut height, mut longest) = (start, None, Duration::ZERO);
    while start.elapsed() < WATCH {
        let now = ServerStatus::ask(node, None).await?.height;
        if height.is_some_and(|height| now > height) {
            longest = longest.max(last.elapsed());
            last = Instant::now();
        }
        height = Some(now);
        sleep(LOOK).await;
    }
    // The time since the last turn counts too, because the next one may never come.
    Ok(longest.max(last.elapsed()))
}

/// Waits until certificates that the server itself hands out carry its signature.
async fn votes(node: &NodeUrl, server: PublicKey) {
    loop {
        if let Ok(true) = voted(node, server).await {
            return;
        }
        sleep(LOOK).await;
    }
}

pub(super) async fn voted(node: &NodeUrl, server: PublicKey) -> Result<bool, Failure> {
    // The turns that were decided before the server came back tell nothing about it, so this asks
    // about new ones.
    let before = ServerStatus::ask(node, None).await?.height;
    let trust = GenesisTrust::learn(&NodeEndpoint::ask(node, None).await?).await?;
    let mut driver = ClientDriver::open(vec![node.clone()], trust, passing_key()).await?;
    let mut height = Height(before + 1);
    loop {
        let (_, certificate) = driver.prove_turn(height, WATCH).await?;
        if certificate.signatures.iter().any(|(signer, _)| *signer == server) {
            driver.leave().await;
            return Ok(true);
        }
        height = height.plus(1);
    }
}

async fn at_rest(cluster: &ServerProcesses) -> [Figure; 2] {
    let pids: Vec<u32> = cluster.processes().map(|(_, pid)| pid).collect();
    let used = || pids.iter().map(|pid| cpu_time(*pid)).sum::<Option<Duration>>();
    let (before, start) = (used(), Instant::now());
    sleep(REST).await;
    let (after, time) = (used(), start.elapsed());
    let percent = before
        .zip(after)
        .map(|(before, after)| micros(after.saturating_sub(before)) * 1_000 / micros(time).max(1));
    let memory = pids.iter().map(|pid| resident_mb(*pid)).max().flatten();
    let memory = memory.map(|mb| mb * 10);
    [
        Figure::tenths("four servers at rest", percent, "% of a core", Bound::AtMost(40)),
        Figure::tenths("largest server at rest", memory, "MB", Bound::AtMost(150)),
    ]
}

pub(super) fn millis(time: Duration) -> u64 {
    micros(time).div_ceil(1_000)
}
