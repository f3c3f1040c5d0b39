//! `up`: a whole world on this machine, one process per server.

pub(super) mod cluster;
pub(super) mod world;

use std::{env, fmt, io, path::PathBuf, time::Duration};

use clap::Args;
use serde::Serialize;
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    time::{Instant, sleep_until},
};

use self::{
    cluster::{Cluster, Death},
    world::{SERVERS, World},
};
use super::{arguments, console::Console, exit::Exit, failure::Failure, status::Status};
use crate::http::module_warning;

/// The port of the first server.
const HTTP_PORT: u16 = 8080;

/// `up`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    metatopia up\n  \
    metatopia up --servers 1 --data-dir /tmp/alone     one server that is trusted by all\n  \
    metatopia up --http-port 0 --exit-after 30s --json  free ports, for scripts\n\n\
    Each server is a process of its own with a directory of its own, server-0 and on; what it\n\
    logs is in node.log there. Ctrl-C stops all; the next start goes on where they stopped.")]
pub(super) struct UpArgs {
    /// How many servers a new world has [default: 4].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=31))]
    servers: Option<u32>,
    /// Where the world is kept [default: ~/.local/state/metatopia/plaza].
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// The HTTP port of the first server; the others take the next ones that are free. 0: any.
    #[arg(long, default_value_t = HTTP_PORT, value_name = "PORT")]
    http_port: u16,
    /// Stop this long after the world is ready.
    #[arg(long, value_parser = arguments::duration, value_name = "DURATION")]
    exit_after: Option<Duration>,
}

impl Default for UpArgs {
    fn default() -> Self {
        Self { servers: None, data_dir: None, http_port: HTTP_PORT, exit_after: None }
    }
}

/// The line that says that the world runs.
#[derive(Debug, Serialize)]
struct Ready {
    ready: bool,
    sim: String,
    http: String,
    servers: Vec<ServerLine>,
    #[serde(skip)]
    data_dir: PathBuf,
}

#[derive(Debug, Serialize)]
struct ServerLine {
    index: usize,
    pid: u32,
    key: String,
    http: String,
    p2p: String,
}

impl fmt::Display for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "The plaza is open: sim {}", self.sim)?;
        for ServerLine { index, pid, http, .. } in &self.servers {
            writeln!(f, "  server {index}  {http}  (process {pid})")?;
        }
        writeln!(f, "kept in {}\n", self.data_dir.display())?;
        let node = match self.http.as_str() {
            "http://127.0.0.1:8080/" => String::new(),
            http => format!(" --node {http}"),
        };
        writeln!(f, "Walk in: open {} in a browser.\n", self.http)?;
        writeln!(f, "Or from another terminal:")?;
        writeln!(f, "  metatopia keys new --out me.key")?;
        writeln!(f, "  metatopia client --key me.key{node}\n")?;
        write!(f, "Ctrl-C stops it; the next start goes on where it stopped.")
    }
}

/// A server process that ended by itself.
#[derive(Debug, Serialize)]
struct Died {
    died: usize,
    pid: u32,
    status: String,
    alive: usize,
    needed: usize,
}

impl fmt::Display for Died {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { died, pid, status, alive, needed } = self;
        write!(f, "server {died} (process {pid}) ended: {status}; ")?;
        write!(f, "{alive} live, {needed} are needed")
    }
}

pub(super) async fn run(args: UpArgs, console: Console) -> Result<(), Failure> {
    let mut stop = Stop::install()?;
    let path = match args.data_dir {
        Some(path) => path,
        None => default_dir(|name| env::var_os(name).map(PathBuf::from))?,
    };
    let servers = args.servers.map(|count| count as usize);
    let world = World::open_or_create(&path, servers.unwrap_or(SERVERS))?;
    world.check_count(servers)?;
    let count = world.servers().len();
    console.note(&format!("starting {count} servers in {}", world.path().display()));
    if let Some(warning) = module_warning() {
        console.warn(&format!("warning: {warning}"));
    }
    let mut cluster = Cluster::start(&world, args.http_port)?;
    let outcome = tokio::select! {
        outcome = live(&mut cluster, &world, args.exit_after, console) => outcome,
        () = stop.come() => Ok(()),
    };
    console.note("stopping");
    let stopped = cluster.stop().await;
    outcome.and(stopped)
}

/// Waits until all are ready, then as long as the world can go on.
async fn live(
    cluster: &mut Cluster,
    world: &World,
    exit_after: Option<Duration>,
    console: Console,
) -> Result<(), Failure> {
    cluster.ready().await?;
    console.show(&ready(cluster, world))?;
    let end = exit_after.map(|after| Instant::now() + after);
    let ended = async {
        match end {
            Some(at) => sleep_until(at).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        failure = watch(cluster, world, console) => Err(failure),
        () = ended => Ok(()),
    }
}

/// Do servers vote that are not of this directory? Then it is not for us to say how many are needed.
async fn has_others(cluster: &Cluster, world: &World) -> bool {
    for index in 0..world.servers().len() {
        if let Ok(status) = Status::ask(&cluster.ports(index).url(), None).await {
            let ours = |key: &String| world.servers().iter().any(|s| s.key.to_string() == *key);
            return !status.validators.iter().all(ours);
        }
    }
    false
}

/// Reports servers that end; returns when too few are left.
async fn watch(cluster: &mut Cluster, world: &World, console: Console) -> Failure {
    let needed = cluster.quorum();
    loop {
        let Death { index, pid, status } = cluster.death().await;
        let alive = cluster.alive().await;
        let died = Died { died: index, pid, status, alive, needed };
        if console.is_json() {
            if let Err(failure) = console.json(&died) {
                return failure;
            }
        } else {
            console.warn(&died.to_string());
        }
        if alive < needed && !has_others(cluster, world).await {
            let message = format!("{alive} servers live where {needed} are needed: no quorum");
            return Failure::new(Exit::TimedOut, message)
                .hint(&format!("see {}", cluster.log_path(index).display()));
        }
    }
}

fn ready(cluster: &Cluster, world: &World) -> Ready {
    let line = |(index, pid): (usize, u32)| {
        let (seat, ports) = (&world.servers()[index], cluster.ports(index));
        ServerLine {
            index,
            pid,
            key: seat.key.to_string(),
            http: ports.url().to_string(),
            p2p: ports.p2p_address().to_string(),
        }
    };
    Ready {
        ready: true,
        sim: world.sim().to_string(),
        http: cluster.ports(0).url().to_string(),
        servers: cluster.processes().map(line).collect(),
        data_dir: world.path().to_owned(),
    }
}

/// Where worlds are kept unless another place is named.
fn default_dir(variable: impl Fn(&str) -> Option<PathBuf>) -> Result<PathBuf, Failure> {
    // As the XDG base directory specification has it: a relative path counts as not set.
    let state = variable("XDG_STATE_HOME").filter(|path| path.is_absolute());
    let home =
        || variable("HOME").filter(|path| path.is_absolute()).map(|h| h.join(".local/state"));
    state.or_else(home).map(|state| state.join("metatopia/plaza")).ok_or_else(|| {
        Failure::usage("neither XDG_STATE_HOME nor HOME is set").hint("name a place by --data-dir")
    })
}

/// What people and supervisors stop a program with.
struct Stop {
    interrupt: Signal,
    terminate: Signal,
}

impl Stop {
    fn install() -> Result<Self, Failure> {
        let failed =
            |error: io::Error| Failure::failed(format!("cannot wait for signals: {error}"));
        let interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
        let terminate = signal(SignalKind::terminate()).map_err(failed)?;
        Ok(Self { interrupt, terminate })
    }

    async fn come(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ready_line_has_the_documented_shape() {
        let server = ServerLine {
            index: 0,
            pid: 1,
            key: "aa".into(),
            http: "http://127.0.0.1:8080/".into(),
            p2p: "/ip4/127.0.0.1/tcp/9".into(),
        };
        let ready = Ready {
            ready: true,
            sim: "bb".into(),
            http: "http://127.0.0.1:8080/".into(),
            servers: vec![server],
            data_dir: "/x".into(),
        };
        assert_eq!(
            serde_json::to_string(&ready).unwrap(),
            concat!(
                r#"{"ready":true,"sim":"bb","http":"http://127.0.0.1:8080/","servers":["#,
                r#"{"index":0,"pid":1,"key":"aa","http":"http://127.0.0.1:8080/","#,
                r#""p2p":"/ip4/127.0.0.1/tcp/9"}]}"#
            )
        );
    }

    #[test]
    fn worlds_are_kept_where_the_user_keeps_state() {
        let set = |pairs: &'static [(&str, &str)]| {
            let find =
                move |name: &str| pairs.iter().find(|(n, _)| *n == name).map(|(_, v)| v.into());
            default_dir(find)
        };
        let both: &[(&str, &str)] = &[("XDG_STATE_HOME", "/s"), ("HOME", "/h")];
        assert_eq!(set(both), Ok("/s/metatopia/plaza".into()));
        let relative: &[(&str, &str)] = &[("XDG_STATE_HOME", "s"), ("HOME", "/h")];
        assert_eq!(set(relative), Ok("/h/.local/state/metatopia/plaza".into()));
        assert_eq!(set(&[]).unwrap_err().exit, Exit::Usage);
    }
}
