//! The server processes of a sim: started together, watched, stopped together.

use std::{
    collections::BTreeMap,
    env,
    ffi::OsString,
    fs::{self, File},
    io::{Read as _, Seek as _, SeekFrom},
    path::PathBuf,
    process::Stdio,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::future::select_all;
use metatopia_client_driver::{HttpError, NodeUrl, http};
use tokio::{
    process::{Child, ChildStdin, Command},
    task::JoinSet,
    time::{Instant, sleep, timeout, timeout_at},
};

use super::{
    reach::Reach,
    world::{LocalWorld, WorldServer},
};
use crate::{
    cli::{
        Failure,
        exit::Exit,
        ports::{self, Ports},
    },
    config::ENVIRONMENT_PREFIX,
    driver::DriverError,
};

/// The time that all servers have to become ready.
pub(super) const READY: Duration = Duration::from_secs(30);

/// The time between two questions whether a server is ready.
const ASK: Duration = Duration::from_millis(20);

/// The variables that the servers of one sim may share, without their prefix.
const SHARED: [&str; 5] =
    ["LOG", "LOG_FORMAT", "SNAPSHOT_TURNS", "BEHIND_TURNS", "TRUSTED_SOURCES"];

/// The time that servers have to stop by themselves before they are killed.
pub(super) const STOP: Duration = Duration::from_secs(15);

/// How many bytes at the end of a server's log are searched for its last words.
const LAST_WORDS_BYTES: u64 = 4_096;

/// The processes that run, by the numbers of their servers.
pub(in crate::cli) type Pids = Arc<Mutex<BTreeMap<usize, u32>>>;

/// A server process that runs or has run.
#[derive(Debug)]
struct ServerProcess {
    seat: WorldServer,
    ports: Ports,
    /// The flags that the server gets besides its configuration.
    flags: Vec<OsString>,
    /// The process; nothing once its end was seen.
    process: Option<Child>,
    /// The pipe whose end tells the server to stop. It is kept here, because waiting for a child
    /// drops the child's own.
    stdin: Option<ChildStdin>,
    pid: u32,
}

impl ServerProcess {
    fn start(seat: WorldServer, ports: Ports, reach: &Reach) -> Result<Self, Failure> {
        let flags = reach.flags(&ports);
        let mut server = Self { seat, ports, flags, process: None, stdin: None, pid: 0 };
        server.spawn()?;
        Ok(server)
    }

    fn spawn(&mut self) -> Result<(), Failure> {
        let mut process = spawn(&self.seat, &self.flags)?;
        self.stdin = process.stdin.take();
        self.pid = process.id().unwrap_or_default();
        self.process = Some(process);
        Ok(())
    }
}

/// A server that ended by itself.
#[derive(Debug)]
pub(in crate::cli) struct ServerExit {
    pub(in crate::cli) index: usize,
    pub(in crate::cli) pid: u32,
    pub(in crate::cli) status: String,
    /// The code that the server ended with; nothing if a signal ended it.
    pub(in crate::cli) code: Option<i32>,
    /// Whether the sim has ended, as its charter says. A server that somebody stops ends with the same code.
    pub(in crate::cli) sim_ended: bool,
}

impl ServerExit {
    /// Returns the way in which `up` ends because this server ended. What the server's program lacks, this one lacks as
    /// well; any other end is told as `otherwise`.
    pub(in crate::cli) fn exit_of_up(&self, otherwise: Exit) -> Exit {
        let is_other = self.code == Some(i32::from(Exit::OtherEngine.code()));
        if is_other { Exit::OtherEngine } else { otherwise }
    }
}

/// The server processes of a sim.
#[derive(Debug)]
pub(in crate::cli) struct ServerProcesses {
    servers: Vec<ServerProcess>,
    pids: Pids,
}

impl ServerProcesses {
    /// Chooses ports of loopback, writes the configuration files, and starts a process for each
    /// server.
    ///
    /// # Errors
    /// Fails when a port is in use, or when a process cannot be started. Then no process is left
    /// running.
    pub(in crate::cli) fn start(world: &LocalWorld, http_port: u16) -> Result<Self, Failure> {
        Self::start_at(world, http_port, &Reach::LOOPBACK)
    }

    /// Starts the servers as [`ServerProcesses::start`] does, at addresses that others can reach.
    pub(in crate::cli) fn start_at(
        world: &LocalWorld,
        http_port: u16,
        reach: &Reach,
    ) -> Result<Self, Failure> {
        let count = world.servers().len();
        let ports = ports::choose_on(reach.listen(), reach.own(), count, http_port)?;
        world.configure(&ports, reach)?;
        let mut cluster = Self { servers: Vec::new(), pids: Pids::default() };
        for (seat, ports) in world.servers().iter().cloned().zip(ports) {
            cluster.servers.push(ServerProcess::start(seat, ports, reach)?);
            cluster.note(cluster.servers.len() - 1);
        }
        Ok(cluster)
    }

    /// Returns the processes that run. The map stays current as long as this value lives.
    pub(in crate::cli) fn pids(&self) -> Pids {
        self.pids.clone()
    }

    /// Notes whether a server's process runs.
    fn note(&self, index: usize) {
        let ServerProcess { process, pid, .. } = &self.servers[index];
        let mut pids = self.pids.lock().unwrap_or_else(PoisonError::into_inner);
        match process {
            Some(_) => pids.insert(index, *pid),
            None => pids.remove(&index),
        };
    }

    pub(in crate::cli) fn ports(&self, index: usize) -> &Ports {
        &self.servers[index].ports
    }

    pub(in crate::cli) fn log_path(&self, index: usize) -> PathBuf {
        self.servers[index].seat.log()
    }

    /// Returns each server with the number of its process.
    pub(in crate::cli) fn processes(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        self.servers.iter().enumerate().map(|(index, server)| (index, server.pid))
    }

    /// Returns the URL of each server.
    pub(in crate::cli) fn urls(&self) -> Vec<NodeUrl> {
        self.servers.iter().map(|server| server.ports.url()).collect()
    }

    /// Waits until every server is ready.
    ///
    /// # Errors
    /// Fails when a server ends, or takes too long. The failure names the server and its last
    /// words.
    pub(in crate::cli) async fn ready(&mut self) -> Result<(), Failure> {
        let deadline = Instant::now() + READY;
        let mut asking = JoinSet::new();
        for (index, server) in self.servers.iter().enumerate() {
            let url = server.ports.url().join("/health/ready");
            asking.spawn(async move { (index, until_ready(url, deadline).await) });
        }
        let all = async {
            while let Some(asked) = asking.join_next().await {
                match asked {
                    Ok((_, Ok(()))) => {}
                    Ok((index, Err(reason))) => return Some((index, reason)),
                    Err(error) => return Some((0, error.to_string())),
                }
            }
            None
        };
        let late = tokio::select! {
            late = all => late,
            death = self.death() => return Err(match death.sim_ended {
                true => Failure::refused("the sim has ended, as its charter says").hint(
                    "its files stay as they are; to found a new one, name another directory by \
                     --data-dir",
                ),
                false => self.epitaph(&death),
            }),
        };
        let Some((index, reason)) = late else {
            return Ok(());
        };
        let message = format!("server {index} is not ready after {} s: {reason}", READY.as_secs());
        Err(Failure::timed_out(message).hint(&format!("see {}", self.log_path(index).display())))
    }

    /// Waits until a server ends. Nothing is lost when this is cancelled.
    pub(in crate::cli) async fn death(&mut self) -> ServerExit {
        let waiting = self.servers.iter_mut().enumerate().filter_map(|(index, server)| {
            let process = server.process.as_mut()?;
            Some(Box::pin(async move { (index, process.wait().await) }))
        });
        let waiting: Vec<_> = waiting.collect();
        if waiting.is_empty() {
            return std::future::pending().await;
        }
        let ((index, status), ..) = select_all(waiting).await;
        let server = &mut self.servers[index];
        server.process = None;
        let pid = server.pid;
        self.note(index);
        let code = status.as_ref().ok().and_then(std::process::ExitStatus::code);
        let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
        let ended = DriverError::SimEnded.to_string();
        let said = last_words(&self.log_path(index));
        let sim_ended = code == Some(0) && said.is_some_and(|said| said.contains(&ended));
        ServerExit { index, pid, status, code, sim_ended }
    }

    fn epitaph(&self, death: &ServerExit) -> Failure {
        let ServerExit { index, status, .. } = death;
        let path = self.log_path(*index);
        let words = last_words(&path).unwrap_or_default();
        let said = if words.is_empty() { String::new() } else { format!(", saying `{words}`") };
        Failure::new(
            death.exit_of_up(Exit::Failed),
            format!("server {index} ended with {status}{said}"),
        )
        .hint(&format!("its log is {}", path.display()))
    }

    /// Returns whether a process of ours runs for this server.
    pub(in crate::cli) fn is_running(&self, index: usize) -> bool {
        self.servers[index].process.is_some()
    }

    /// Returns the number of the process that the server has, or had last.
    pub(in crate::cli) fn pid(&self, index: usize) -> u32 {
        self.servers[index].pid
    }

    /// Returns the last line of a server's log.
    pub(in crate::cli) fn last_words(&self, index: usize) -> Option<String> {
        last_words(&self.log_path(index))
    }

    /// Ends a server in the middle of its work, as a power cut would.
    ///
    /// # Errors
    /// Fails when the server does not run.
    pub(in crate::cli) async fn kill(&mut self, index: usize) -> Result<(), Failure> {
        let server = &mut self.servers[index];
        let Some(mut process) = server.process.take() else {
            return Err(Failure::failed(format!("server {index} is not running")));
        };
        self.note(index);
        let killed = process.kill().await;
        killed.map_err(|error| Failure::failed(format!("cannot kill server {index}: {error}")))
    }

    /// Starts a server again on its data, with its ports.
    ///
    /// # Errors
    /// Fails when the process cannot be started.
    pub(in crate::cli) fn restart(&mut self, index: usize) -> Result<(), Failure> {
        self.servers[index].spawn()?;
        self.note(index);
        Ok(())
    }

    /// Tells all servers to stop, by the end of their standard input, and waits for them.
    ///
    /// # Errors
    /// Fails when a server had to be killed.
    pub(in crate::cli) async fn stop(mut self) -> Result<(), Failure> {
        let deadline = Instant::now() + STOP;
        for server in &mut self.servers {
            drop(server.stdin.take());
        }
        let mut killed = Vec::new();
        for (index, server) in self.servers.iter_mut().enumerate() {
            let Some(mut process) = server.process.take() else {
                continue;
            };
            if timeout_at(deadline, process.wait()).await.is_err() {
                killed.push(index.to_string());
                // The server did not stop by itself. Nothing can be done if the kill fails too.
                let _ = timeout(STOP, process.kill()).await;
            }
        }
        if killed.is_empty() {
            return Ok(());
        }
        let killed = killed.join(", ");
        Err(Failure::failed(format!("server {killed} did not stop in time and was killed")))
    }
}

fn spawn(seat: &WorldServer, flags: &[OsString]) -> Result<Child, Failure> {
    spawn_all(&[seat.config()], seat.log(), flags)
}

/// Starts a process for the servers of these configurations, one for each sim.
///
/// # Errors
/// Fails when it cannot be started; names the log.
pub(super) fn spawn_all(
    configs: &[PathBuf],
    path: PathBuf,
    flags: &[OsString],
) -> Result<Child, Failure> {
    let failed = |what: &str, error: std::io::Error| {
        let home = path.parent().unwrap_or(&path).display();
        Failure::failed(format!("cannot start a server in {home}: {what}: {error}"))
    };
    let program = env::current_exe().map_err(|error| failed("this program", error))?;
    // The log of the last run stays, for people who want to know why it ended.
    let _ = fs::rename(&path, path.with_extension("log.old"));
    let log = File::create(&path).map_err(|error| failed("its log", error))?;
    let errors = log.try_clone().map_err(|error| failed("its log", error))?;
    let mut command = Command::new(program);
    for (name, _) in env::vars_os() {
        // A value that is meant for one server would reach them all.
        let shown = name.to_string_lossy();
        if shown.strip_prefix(ENVIRONMENT_PREFIX).is_some_and(|key| !SHARED.contains(&key)) {
            command.env_remove(&name);
        }
    }
    command
        .args(["node", "run", "--until-stdin-ends"])
        .args(configs.iter().flat_map(|config| [OsString::from("--config"), config.into()]))
        .args(flags)
        .stdin(Stdio::piped())
        .stdout(log)
        .stderr(errors)
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| failed("its process", error))
}

/// Asks until the server is ready. Returns the last reason against it when time is up.
pub(super) async fn until_ready(url: String, deadline: Instant) -> Result<(), String> {
    let mut reason = "nobody listens there".to_owned();
    while Instant::now() < deadline {
        match timeout_at(deadline, http::get_text(url.clone())).await {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(HttpError::Status { said, .. })) => reason = said,
            Ok(Err(error)) => reason = error.to_string(),
            Err(_) => break,
        }
        sleep(ASK).await;
    }
    Err(reason)
}

/// Returns the last line of a log.
fn last_words(path: &PathBuf) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LAST_WORDS_BYTES))).ok()?;
    let mut bytes = Vec::new();
    file.take(LAST_WORDS_BYTES).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().rev().find(|line| !line.trim().is_empty())?;
    Some(line.trim_start_matches("error: ").to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_is_what_a_server_died_saying() {
        let path = env::temp_dir().join(format!("metatopia-words-{}", std::process::id()));
        fs::write(&path, format!("{}\nerror: port 1 is in use\n\n", "x".repeat(9_000))).unwrap();
        assert_eq!(last_words(&path), Some("port 1 is in use".into()));
        fs::remove_file(&path).unwrap();
        assert_eq!(last_words(&path), None);
    }
}
