//! What honest players feel while fifty clients do their worst at ten times what they may.

mod enemy;

use std::{env, fs, path::Path, process::Stdio, time::Duration};

use metatopia_client_driver::{NodeEndpoint, NodeUrl};
use serde::{Deserialize, Serialize};
use tokio::{
    process::{Child, Command},
    runtime::Runtime,
    time::sleep,
};

use super::{Play, on_servers};
use crate::{
    cluster::{PlazaCluster, TrustedSources},
    finding::Finding,
};

/// Players who behave, and acts a second of each: enough acts for a percentile.
const HONEST: &str = "20";
const RATE: &str = "10";

/// How long they act, alone and beside the others.
const ACTED: Duration = Duration::from_secs(20);
const ACTED_SHORT: Duration = Duration::from_secs(4);

/// The hostile come in so long before the honest are measured again.
const WARM_UP: Duration = Duration::from_secs(3);

/// The time from act to receipt may grow to so many percent of what it is alone. The hostile clients
/// run on this machine too, and take the servers' time if it has few cores.
const PERCENT: f64 = 240.0;

/// So often they are measured beside each other at most, and the quickest counts: what else a machine does for a
/// moment lengthens a percentile of some hundred acts many times over. What the servers cannot bear lengthens all.
const MEASURED: u64 = 3;

/// What they may cost a server, in MiB.
const GROWTH: f64 = 64.0;

/// What `metatopia bots` says in the end.
#[derive(Debug, Deserialize)]
struct BotsOutput {
    acknowledged: u64,
    refused: u64,
    unanswered: u64,
    lost: u64,
    p99_ms: u32,
}

/// What a process of hostile clients says in the end.
#[derive(Debug, Serialize, Deserialize)]
struct HostileOutput {
    frames: u64,
}

pub(super) fn play(play: &Play) -> Result<Vec<Finding>, String> {
    let time = if play.short { ACTED_SHORT } else { ACTED };
    on_servers(play, TrustedSources::Nobody, async |cluster| {
        let alone = act(&play.program, cluster, time, play.seed).await?;
        let before = largest(cluster)?;
        let mut found: Option<(BotsOutput, u64)> = None;
        for n in 1..=MEASURED {
            let enemies = let_loose(cluster, time + WARM_UP)?;
            sleep(WARM_UP).await;
            let beside = act(&play.program, cluster, time, play.seed + n).await?;
            let frames = how_many(enemies).await?;
            // An act that was refused or lost counts whenever it was.
            let is_harmed = beside.is_harmed();
            if is_harmed || found.as_ref().is_none_or(|(best, _)| beside.p99_ms < best.p99_ms) {
                found = Some((beside, frames));
            }
            let best = found.as_ref().map_or(0, |(best, _)| best.p99_ms);
            if is_harmed || percent(&alone, best) <= PERCENT {
                break;
            }
        }
        let (beside, frames) = found.expect("it was measured once at least");
        let grown = largest(cluster)? - before;
        Ok(findings(&alone, &beside, frames, grown))
    })
}

impl BotsOutput {
    fn is_harmed(&self) -> bool {
        self.refused + self.unanswered + self.lost > 0
    }
}

fn percent(alone: &BotsOutput, p99_ms: u32) -> f64 {
    f64::from(p99_ms) * 100.0 / f64::from(alone.p99_ms.max(1))
}

fn findings(alone: &BotsOutput, beside: &BotsOutput, frames: u64, grown: f64) -> Vec<Finding> {
    let percent = percent(alone, beside.p99_ms);
    let BotsOutput { acknowledged, refused, unanswered, lost, p99_ms } = beside;
    let note = format!(
        "receipts after {} ms and {p99_ms} ms (p99) beside {frames} frames; {acknowledged} acts \
         acknowledged, {refused} refused, {unanswered} unanswered, {lost} lost",
        alone.p99_ms
    );
    let harmed = beside.is_harmed();
    vec![
        Finding::at_most("hostile", percent, PERCENT, "%").beside(100.0).noted(note).unless(harmed),
        Finding::at_most("hostile", grown.max(0.0), GROWTH, "MiB"),
    ]
}

/// Lets honest players act, by the program itself.
async fn act(
    program: &Path,
    cluster: &PlazaCluster,
    time: Duration,
    seed: u64,
) -> Result<BotsOutput, String> {
    let duration = format!("{}s", time.as_secs());
    let ended = Command::new(program)
        .args(["bots", "--json", "--count", HONEST, "--rate", RATE])
        .args(["--duration", &duration, "--node", &urls(cluster), "--seed", &seed.to_string()])
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = ended.await.map_err(|error| format!("{}: {error}", program.display()))?;
    let said = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&said).map_err(|_| {
        let why = String::from_utf8_lossy(&output.stderr);
        format!("`bots` ended with {}: {}", output.status, why.trim())
    })
}

fn urls(cluster: &PlazaCluster) -> String {
    let urls: Vec<&str> = cluster.servers.iter().map(|server| server.url()).collect();
    urls.join(",")
}

/// Memory of the largest server.
fn largest(cluster: &PlazaCluster) -> Result<f64, String> {
    let mut each = cluster.servers.iter().map(|server| server.resident_mib());
    each.try_fold(0.0_f64, |most, mib| Ok(most.max(mib?)))
}

/// Starts the hostile clients in a process of their own that yields to all others: on machines of
/// their own they would take no time from servers and honest players.
fn let_loose(cluster: &PlazaCluster, time: Duration) -> Result<Child, String> {
    let own = env::current_exe().map_err(|error| error.to_string())?;
    let nice =
        ["/usr/bin/nice", "/bin/nice"].into_iter().find(|nice| fs::exists(nice).is_ok_and(|is| is));
    let mut command = match nice {
        Some(nice) => {
            let mut command = Command::new(nice);
            command.args(["-n", "19"]).arg(own);
            command
        }
        // Where nobody can yield, all share alike.
        None => Command::new(own),
    };
    command
        .args(["--seconds", &time.as_secs().to_string(), "--enemies-of", &urls(cluster)])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("hostile clients: {error}"))
}

/// Waits for their end, and for their word how much they sent.
async fn how_many(enemies: Child) -> Result<u64, String> {
    let output = enemies.wait_with_output().await.map_err(|error| error.to_string())?;
    let told: Result<HostileOutput, _> = serde_json::from_slice(&output.stdout);
    told.map(|told| told.frames).map_err(|_| format!("hostile clients: {}", output.status))
}

/// Plays all of the hostile clients of these servers, in this process.
///
/// # Errors
/// When a server does not answer.
pub(crate) fn rage(nodes: &[NodeUrl], time: Duration) -> Result<(), String> {
    let runtime = Runtime::new().map_err(|error| format!("no runtime: {error}"))?;
    let frames = runtime.block_on(async {
        let mut endpoints = Vec::new();
        for node in nodes {
            let endpoint =
                NodeEndpoint::ask(node, None).await.map_err(|error| error.to_string())?;
            endpoints.push(endpoint);
        }
        Ok::<_, String>(enemy::crowd(endpoints, time).await)
    })?;
    println!("{}", serde_json::to_string(&HostileOutput { frames }).expect("a number"));
    Ok(())
}
