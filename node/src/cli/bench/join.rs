//! Measures a follower that joins a large sim.

use std::{
    env,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use metatopia_client_driver::NodeUrl;
use metatopia_load::{
    figure::{Bound, Figure},
    large::{self, crate_at, with_room},
    process::resident_mb,
};
use metatopia_replica::SNAPSHOT_TURNS;
use serde::Deserialize;
use tokio::time::{sleep, timeout};

use super::past;
use crate::cli::{
    Failure,
    console::Console,
    status::ServerStatus,
    up::{
        cluster::ServerProcesses,
        world::{LocalWorld, SERVERS},
    },
};

/// The longest that the servers may take to make a snapshot.
const SNAPSHOT: Duration = Duration::from_secs(120);

/// The time that the follower runs, after it follows, before its memory is measured.
const SETTLE: Duration = Duration::from_secs(5);

/// The time between two looks at a height.
const LOOK: Duration = Duration::from_millis(100);

/// The line that `node join --json` prints.
#[derive(Deserialize)]
struct JoinOutput {
    snapshot_height: Option<u64>,
    fetched_bytes: u64,
    seconds: f64,
}

/// A follower's process, which is killed when this value is dropped.
struct FollowerProcess(Child);

impl Drop for FollowerProcess {
    fn drop(&mut self) {
        // A process that has ended already cannot be killed, and need not be.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Measures the time from the start of the process until it says that it follows.
pub(super) async fn measure(
    path: &Path,
    (objects, turns): (u32, u64),
    console: Console,
) -> Result<Vec<Figure>, Failure> {
    let plaza = path.join("world");
    console.note("the sim alone, with as many objects");
    let alone = tokio::task::spawn_blocking(move || large::measure(objects)).await;
    let alone = alone.map_err(|error| Failure::failed(error.to_string()))?;
    let world = LocalWorld::open_or_create_with(&plaza, SERVERS, |genesis| {
        with_room(genesis, objects);
        genesis.objects.extend((0..objects).map(crate_at));
    })?;
    console.note(&format!("writing {turns} turns of history"));
    let world =
        tokio::task::spawn_blocking(move || past::write(&world, turns, console).map(|()| world));
    let world = world.await.map_err(|error| Failure::failed(error.to_string()))??;
    console.note("starting four servers, and waiting for their next snapshot");
    let mut cluster = ServerProcesses::start(&world, 0)?;
    let figures = async {
        cluster.ready().await?;
        let url = cluster.ports(0).url();
        until(&url, turns + SNAPSHOT_TURNS + 10).await?;
        let follow = path.join("follower");
        let text = tokio::task::spawn_blocking(move || join(&plaza, &follow)).await;
        let (follower, following) = text.map_err(|error| Failure::failed(error.to_string()))??;
        if following.snapshot_height.is_none() {
            return Err(Failure::failed("the follower began at genesis: no snapshot was offered"));
        }
        sleep(SETTLE).await;
        let server = cluster.processes().next().and_then(|(_, pid)| resident_mb(pid));
        let own = resident_mb(follower.0.id());
        let tenths = |mb: Option<u64>| mb.map(|mb| mb * 10);
        let share = own.zip(server).map(|(own, server)| own * 1_000 / server.max(1));
        let mut figures = vec![
            Figure::new("objects, besides those of the plaza", objects.into(), "", Bound::None),
            Figure::tenths(
                "join a large world",
                Some((following.seconds * 10.0) as u64),
                "s",
                Bound::AtMost(10),
            ),
            Figure::new("turns before it came", turns, "turns", Bound::None),
            Figure::new("fetched", following.fetched_bytes / 1_024, "KiB", Bound::None),
            Figure::tenths("memory of a server", tenths(server), "MB", Bound::None),
            Figure::tenths("memory of the follower", share, "% of a server", Bound::AtMost(200)),
        ];
        figures.extend(alone);
        Ok(figures)
    }
    .await;
    let stopped = cluster.stop().await;
    let figures = figures?;
    stopped?;
    Ok(figures)
}

async fn until(url: &NodeUrl, height: u64) -> Result<(), Failure> {
    let reached = async {
        loop {
            if ServerStatus::ask(url, None).await?.root_height >= height {
                return Ok(());
            }
            sleep(LOOK).await;
        }
    };
    timeout(SNAPSHOT, reached).await.map_err(|_| {
        let message = format!("height {height} was not reached in {} s", SNAPSHOT.as_secs());
        Failure::timed_out(message).hint("this machine is too slow for so many objects")
    })?
}

/// Makes an invite and joins by it, with the commands that people use.
fn join(plaza: &Path, follow: &Path) -> Result<(FollowerProcess, JoinOutput), Failure> {
    let failed =
        |what: &str, error: &dyn std::fmt::Display| Failure::failed(format!("{what}: {error}"));
    let program = env::current_exe().map_err(|error| failed("this program", &error))?;
    let made = Command::new(&program)
        .args(["invite", "create", "--json", "--data-dir"])
        .arg(plaza)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| failed("invite create", &error))?;
    let made: serde_json::Value =
        serde_json::from_slice(&made.stdout).map_err(|error| failed("invite create", &error))?;
    let text = made["invite"].as_str().ok_or_else(|| Failure::failed("no invite was made"))?;
    let mut process = Command::new(&program)
        .args(["node", "join", text, "--json", "--until-stdin-ends", "--data-dir"])
        .arg(follow)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .map_err(|error| failed("node join", &error))?;
    let output = process.stdout.take();
    let follower = FollowerProcess(process);
    let mut line = String::new();
    if let Some(output) = output {
        BufReader::new(output).read_line(&mut line).map_err(|error| failed("node join", &error))?;
    }
    let following = serde_json::from_str(&line).map_err(|error| failed("node join", &error))?;
    Ok((follower, following))
}
