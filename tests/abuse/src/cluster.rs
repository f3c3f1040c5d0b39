//! Real servers on this machine, in a folder of their own.

use std::{
    env, fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Stdio,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde::Deserialize;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader, Lines},
    process::{Child, ChildStdout, Command},
    time::{Instant, sleep, timeout},
};

/// Time for all servers to become ready. A debug build on a busy machine takes half of it.
const READY: Duration = Duration::from_secs(60);

/// Time for all of them to stop.
const STOP: Duration = Duration::from_secs(30);

/// Between two looks at a height.
const LOOK: Duration = Duration::from_millis(10);

/// Servers of a world: the fewest of which one may lie or vanish.
const SERVERS: &str = "4";

/// Which sources the servers trust: those are free of rations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrustedSources {
    /// None: what one address may have is rationed.
    Nobody,
    /// This machine: the gateway rations nothing, and rules alone must hold.
    Everybody,
}

/// What `up` says once the world is open.
#[derive(Debug, Deserialize)]
struct UpOutput {
    servers: Vec<TargetServer>,
}

/// One server process.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct TargetServer {
    pub(crate) pid: i32,
    http: String,
    p2p: String,
}

#[derive(Debug, Deserialize)]
struct ServerHeight {
    height: u64,
}

impl TargetServer {
    /// Returns the URL that programs are told.
    pub(crate) fn url(&self) -> &str {
        &self.http
    }

    /// Returns where it takes sessions over WebSocket.
    pub(crate) fn address(&self) -> Result<SocketAddr, String> {
        let address = self.http.trim_start_matches("http://").trim_end_matches('/');
        address.parse().map_err(|error| format!("{address}: {error}"))
    }

    /// Returns where it takes other servers.
    pub(crate) fn peer_address(&self) -> Result<SocketAddr, String> {
        let parts: Vec<&str> = self.p2p.split('/').collect();
        let ["", "ip4", ip, "tcp", port, ..] = parts[..] else {
            return Err(format!("{} is no address", self.p2p));
        };
        format!("{ip}:{port}").parse().map_err(|error| format!("{}: {error}", self.p2p))
    }

    /// Asks for the last decided height.
    pub(crate) async fn height(&self) -> Result<u64, String> {
        let url = format!("{}api/status", self.http);
        let asked = tokio::task::spawn_blocking(move || {
            let mut answer = ureq::get(&url).call().map_err(|error| error.to_string())?;
            let status: ServerHeight =
                answer.body_mut().read_json().map_err(|error| error.to_string())?;
            Ok::<_, String>(status.height)
        });
        asked.await.map_err(|error| error.to_string())?
    }

    /// Counts turns for so long; returns how many a second.
    pub(crate) async fn turns_per_second(&self, time: Duration) -> Result<f64, String> {
        let (from, begin) = (self.height().await?, Instant::now());
        sleep(time).await;
        let turns = self.height().await?.saturating_sub(from);
        #[expect(clippy::cast_precision_loss, reason = "turns of some minutes")]
        let turns = turns as f64;
        Ok(turns / begin.elapsed().as_secs_f64())
    }

    /// Waits for so many turns more; returns the seconds that took.
    pub(crate) async fn seconds_for(&self, turns: u64) -> Result<f64, String> {
        let (begin, from) = (Instant::now(), self.height().await?);
        while self.height().await? < from + turns {
            if begin.elapsed() > READY {
                return Err(format!("no {turns} turns within {} s", READY.as_secs()));
            }
            sleep(LOOK).await;
        }
        Ok(begin.elapsed().as_secs_f64())
    }

    /// Returns the memory that the process holds, in MiB.
    pub(crate) fn resident_mib(&self) -> Result<f64, String> {
        let path = format!("/proc/{}/status", self.pid);
        let text = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok());
        kib.map(|kib| kib / 1_024.0).ok_or_else(|| format!("{path} names no memory"))
    }

    /// Stops the process where it is, or lets it go on.
    pub(crate) fn freeze(&self, frozen: bool) -> Result<(), String> {
        let signal = if frozen { Signal::SIGSTOP } else { Signal::SIGCONT };
        kill(Pid::from_raw(self.pid), signal).map_err(|error| format!("{signal}: {error}"))
    }
}

/// A folder that is gone when this is.
#[derive(Debug)]
struct ServerFolders(PathBuf);

impl ServerFolders {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("metatopia-abuse-{}-{number}", std::process::id());
        Self(env::temp_dir().join(name))
    }
}

impl Drop for ServerFolders {
    fn drop(&mut self) {
        // What cannot be removed is left to the system, which cleans its place for such things.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Four servers of a new plaza, and the process that keeps them.
#[derive(Debug)]
pub(crate) struct PlazaCluster {
    pub(crate) servers: Vec<TargetServer>,
    keeper: Child,
    _said: Lines<BufReader<ChildStdout>>,
    scratch: ServerFolders,
}

impl PlazaCluster {
    /// Starts them on free ports of loopback, and waits until they are ready.
    pub(crate) async fn start(program: &Path, trust: TrustedSources) -> Result<Self, String> {
        Self::found(program, trust, &[]).await
    }

    /// Starts a cluster with a world that is founded in another way than others are.
    pub(crate) async fn found(
        program: &Path,
        trust: TrustedSources,
        how: &[&str],
    ) -> Result<Self, String> {
        let scratch = ServerFolders::new();
        let trusted = match trust {
            TrustedSources::Nobody => "",
            TrustedSources::Everybody => "127.0.0.0/8",
        };
        let failed = |error: std::io::Error| format!("{}: {error}", program.display());
        let mut keeper = Command::new(program)
            .args(["up", "--servers", SERVERS, "--http-port", "0", "--json", "--data-dir"])
            .arg(&scratch.0)
            .args(how)
            .env("METATOPIA_TRUSTED_SOURCES", trusted)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // Its servers end with it: each reads until what it reads from is closed.
            .kill_on_drop(true)
            .spawn()
            .map_err(failed)?;
        let said = keeper.stdout.take().ok_or("its output was not kept")?;
        let mut said = BufReader::new(said).lines();
        let line = timeout(READY, said.next_line()).await;
        let line = line.map_err(|_| format!("not ready after {} s", READY.as_secs()))?;
        let line = line.map_err(failed)?.ok_or("`up` ended before its servers were ready")?;
        let ready: UpOutput =
            serde_json::from_str(&line).map_err(|error| format!("{line}: {error}"))?;
        Ok(Self { servers: ready.servers, keeper, _said: said, scratch })
    }

    /// Returns the file with the admin's key.
    pub(crate) fn admin_key(&self) -> PathBuf {
        self.scratch.0.join("admin.key")
    }

    /// Stops them all.
    pub(crate) async fn stop(mut self) -> Result<(), String> {
        if let Some(pid) = self.keeper.id().and_then(|pid| i32::try_from(pid).ok()) {
            kill(Pid::from_raw(pid), Signal::SIGTERM).map_err(|error| format!("stop: {error}"))?;
        }
        let ended = timeout(STOP, self.keeper.wait()).await;
        let ended = ended.map_err(|_| format!("not stopped after {} s", STOP.as_secs()))?;
        ended.map(drop).map_err(|error| format!("stop: {error}"))
    }
}
