//! `up`: a whole world on this machine, one process per server.

pub(super) mod cluster;
mod founded_from;
pub(super) mod grid;
mod guard;
mod hangup;
mod present;
pub(super) mod reach;
mod watch;
pub(super) mod world;

use std::{
    env, fmt, io,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Args;
use metatopia_client::text::printable;
use metatopia_scenarios::{Mistake, Place, plaza};
use metatopia_sim::{ENGINE, FirstLogin, Genesis, Publishers, RULES, rules_name};
use serde::Serialize;
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    time::{Instant, sleep_until},
};

use self::{
    cluster::ServerProcesses,
    guard::Supervisor,
    present::present_parameters,
    reach::{Invitation, Reach, ReachArgs},
    watch::PlaceWatch,
    world::{ADMIN_KEY, LocalWorld, SERVERS},
};
use super::{
    arguments, console::Console, failure::Failure, numbers::number_of, place::folder::PlaceFolder,
};
use crate::routes::module_warning;

/// The port of the first server.
const HTTP_PORT: u16 = 8080;

/// Arguments of `metatopia up`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    metatopia up\n  \
    metatopia up --servers 1 --data-dir /tmp/alone     one server that is trusted by all\n  \
    metatopia up --http-port 0 --exit-after 30s --json  free ports, for scripts\n  \
    metatopia up --place my-place                      a place of your own\n  \
    metatopia up --place my-place --watch              ..which changes as you save its files\n  \
    metatopia up --lan                                 let others in your network in\n  \
    metatopia up --grid 2x2 --servers 1                a world of four sims\n\n\
    Each server is a process of its own with a directory of its own, server-0 and on; what it\n\
    logs is in node.log there. Ctrl-C stops all; the next start goes on where they stopped. A server\n\
    that ends is started again, after a second and then less and less often.")]
pub(super) struct UpArgs {
    /// The folder of the place that a new sim is founded of [default: plaza, which is part of the
    /// program].
    #[arg(long, value_name = "DIR")]
    place: Option<PathBuf>,
    /// Bring what changes in the packages and things of that folder into the running sim, within a second. Scripts
    /// keep what they remember. A save that would delete more than 8 things, and more than half of them, waits until
    /// place.toml is saved once more without a change.
    #[arg(long, requires = "place")]
    watch: bool,
    /// How many servers a new world has, or each sim of a grid [default: 4, and 1 with --grid].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=31))]
    servers: Option<u32>,
    /// Where the world is kept [default: ~/.local/state/metatopia/NAME, by the place's name, and
    /// ~/.local/state/metatopia/world with --grid].
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// The HTTP port of the first server; the others take the next ones that are free. 0: any.
    #[arg(long, default_value_t = HTTP_PORT, value_name = "PORT")]
    http_port: u16,
    #[command(flatten)]
    reach: ReachArgs,
    /// Whom a new world lets in: open (every key), work (every key that shows some seconds of work, or
    /// a ticket), invite (every key that shows a ticket of an admin) or closed [default: what the place
    /// says; else open, but work if others are let in and there is no --grid].
    #[arg(long, value_name = "RULE", value_parser = first_login)]
    first_login: Option<FirstLogin>,
    /// Tries that this work takes in quiet hours of a new world.
    #[arg(long, value_name = "COUNT", hide = true)]
    first_login_tries: Option<u64>,
    /// Let others into a world that is open to every key. Keys cost nothing, so strangers can fill
    /// it.
    #[arg(long)]
    open: bool,
    /// Make a small world of several sims on this machine, so many squares wide and high: the first is the
    /// land office, and one process runs the servers of all.
    #[arg(long, value_name = "COLUMNSxROWS", value_parser = grid::size, conflicts_with = "watch")]
    grid: Option<grid::GridSize>,
    /// Stop this long after the world is ready.
    #[arg(long, value_parser = arguments::duration, value_name = "DURATION")]
    exit_after: Option<Duration>,
    /// Leave a server that ends as it is, and end when too few are left.
    #[arg(long)]
    no_restart: bool,
}

impl Default for UpArgs {
    fn default() -> Self {
        Self {
            place: None,
            watch: false,
            servers: None,
            data_dir: None,
            http_port: HTTP_PORT,
            reach: ReachArgs::default(),
            first_login: None,
            first_login_tries: None,
            open: false,
            grid: None,
            exit_after: None,
            no_restart: false,
        }
    }
}

/// The line that says that the world runs.
#[derive(Debug, Serialize)]
struct ReadyLine {
    ready: bool,
    name: String,
    sim: String,
    http: String,
    servers: Vec<ServerLine>,
    #[serde(skip)]
    invitation: Option<Invitation>,
    #[serde(skip)]
    data_dir: PathBuf,
    /// Whether a key that is new needs a ticket.
    #[serde(skip)]
    by_ticket: bool,
}

#[derive(Debug, Serialize)]
struct ServerLine {
    index: usize,
    pid: u32,
    key: String,
    http: String,
    p2p: String,
}

impl fmt::Display for ReadyLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = printable(&self.name);
        writeln!(f, "{name} is open: sim {}", self.sim)?;
        for ServerLine { index, pid, http, .. } in &self.servers {
            writeln!(f, "  server {index}  {http}  (process {pid})")?;
        }
        writeln!(f, "kept in {}\n", self.data_dir.display())?;
        let node = match self.http.as_str() {
            "http://127.0.0.1:8080/" => String::new(),
            http => format!(" --node {http}"),
        };
        match &self.invitation {
            None => writeln!(f, "Walk in: open {} in a browser.\n", self.http)?,
            Some(invitation) => writeln!(f, "{invitation}\n")?,
        }
        if self.by_ticket {
            let key = self.data_dir.join(ADMIN_KEY);
            writeln!(f, "New keys need a ticket, a link of its own; make one for each guest:")?;
            writeln!(f, "  metatopia ticket new --key {}{node}\n", key.display())?;
        }
        writeln!(f, "Or from another terminal:")?;
        writeln!(f, "  metatopia keys new --out me.key")?;
        writeln!(f, "  metatopia client --key me.key{node}\n")?;
        write!(f, "Ctrl-C stops it; the next start goes on where it stopped.")
    }
}

pub(super) async fn run(args: UpArgs, console: Console) -> Result<(), Failure> {
    let mut stop = Stop::install()?;
    if let Some(size) = args.grid {
        let reach = Reach::of(&args.reach)?;
        return grid::run(size, args, reach, stop, console).await;
    }
    let place = place_of(args.place.as_deref(), args.data_dir.as_deref(), console)?;
    let path = match args.data_dir {
        Some(path) => path,
        None => {
            let path = default_dir(place.name(), |name| env::var_os(name).map(PathBuf::from))?;
            args.place.as_ref().map_or(Ok(()), |folder| founded_from::check(&path, folder))?;
            path
        }
    };
    let reach = Reach::of(&args.reach)?;
    let servers = args.servers.map(|count| count as usize);
    let alone = reach.is_loopback() || args.open;
    let safe = if alone { FirstLogin::Open } else { FirstLogin::Work };
    let rule = args.first_login.or(place.first_login()).unwrap_or(safe);
    let safe = if alone { Publishers::Anybody } else { Publishers::Seen };
    let publishers = place.publishers().unwrap_or(safe);
    let founding = |genesis: &mut Genesis| {
        let parameters = &mut genesis.parameters;
        parameters.first_login = rule;
        parameters.publishers = publishers;
        parameters.first_login_tries =
            args.first_login_tries.unwrap_or(parameters.first_login_tries);
    };
    let count = servers.unwrap_or(SERVERS);
    let world = LocalWorld::open_or_found(&path, count, &place, founding)?;
    let is_founded = world.is_of(&place);
    if let Some(folder) = &args.place {
        tell_origin((&world, is_founded), folder, args.watch, console)?;
    }
    world.check_count(servers)?;
    check_rule(&world, args.first_login, alone)?;
    let count = world.servers().len();
    if let Some(warning) = guard::warning(count) {
        console.warn(&warning);
    }
    announce(&world, console);
    let mut cluster = ServerProcesses::start_at(&world, args.http_port, &reach)?;
    // Without a certificate it ends the program, as it does when its terminal is closed.
    let _hangups = match reach.has_certificate() {
        true => Some(hangup::pass_on(cluster.pids()).map_err(no_signals)?),
        false => None,
    };
    let watch = args.place.filter(|_| args.watch).map(|dir| {
        let admin = world.path().join(ADMIN_KEY);
        let at = (world.sim(), cluster.urls());
        PlaceWatch::new(dir, (place, is_founded), at, admin, console)
    });
    let until = (args.exit_after, !args.no_restart);
    let outcome = tokio::select! {
        outcome = live(&mut cluster, (&world, &reach), until, watch, console) => outcome,
        () = stop.come() => Ok(()),
    };
    console.note("stopping");
    let stopped = cluster.stop().await;
    outcome.and(stopped)
}

/// Notes the folder that a world was founded from, or warns that it was founded from another text.
fn tell_origin(
    (world, is_founded): (&LocalWorld, bool),
    folder: &Path,
    is_watched: bool,
    console: Console,
) -> Result<(), Failure> {
    if is_founded {
        return founded_from::note(world.path(), folder);
    }
    let goes_on = match is_watched {
        true => "only its packages, and what changes in its things from now on, follow the folder",
        false => "it goes on as it is",
    };
    console.warn(&format!(
        "warning: the sim was founded from another place, or from another text of this one; \
         {goes_on}. To found a new one, name another directory by --data-dir",
    ));
    Ok(())
}

/// Says what starts, and what is wrong with this program.
fn announce(world: &LocalWorld, console: Console) {
    let servers = number_of(world.servers().len(), "server", "servers");
    console.note(&format!("starting {servers} in {}", world.path().display()));
    console.note(&format!("engine {ENGINE}, rules: {}", rules_name(&RULES)));
    if let Some(warning) = module_warning() {
        console.warn(&format!("warning: {warning}"));
    }
}

pub(super) fn first_login(text: &str) -> Result<FirstLogin, String> {
    let found = FirstLogin::ALL.iter().find(|(_, name)| *name == text);
    found.map(|(rule, _)| *rule).ok_or_else(|| "not one of open, work, invite, closed".to_owned())
}

/// Returns the place of a folder, or the plaza.
///
/// # Errors
/// Fails when the folder is not there or has mistakes. A sim that is in the directory goes on without it.
fn place_of(
    folder: Option<&Path>,
    data_dir: Option<&Path>,
    console: Console,
) -> Result<Place, Failure> {
    let Some(folder) = folder.map(PlaceFolder::read).transpose()? else {
        return Ok(plaza::place());
    };
    folder.warn_of_skipped(console);
    folder.place().map_err(|mistakes| {
        let genesis = |dir: &&Path| dir.join("server-0").join(world::GENESIS).exists();
        let hint = data_dir.filter(genesis).map(|dir| {
            let dir = dir.display();
            format!("the sim in {dir} needs no folder any more: `metatopia up --data-dir {dir}`")
        });
        let failure = wrong(&mistakes);
        match hint {
            Some(hint) => failure.hint(&hint),
            None => failure,
        }
    })
}

/// Refuses to let others into a world where every key may enter or publish, unless that is wanted. What an admin
/// changed since the founding counts.
fn check_rule(world: &LocalWorld, wanted: Option<FirstLogin>, alone: bool) -> Result<(), Failure> {
    let (founded, path) = (world.first_login(), world.path().display());
    if let Some(wanted) = wanted.filter(|wanted| *wanted != founded) {
        let message =
            format!("the world in {path} was founded {}, not {}", founded.name(), wanted.name());
        return Err(Failure::usage(message)
            .hint("leave out --first-login, or name another place by --data-dir"));
    }
    if alone {
        return Ok(());
    }
    let present = present_parameters(world)?;
    if present.first_login == FirstLogin::Open {
        let message = format!("the world in {path} is open: keys that cost nothing can fill it");
        let failure = Failure::refused(message).hint(
            "let nobody in but people you know, by --open; start it for this machine alone, and change that \
             by `metatopia admin set first_login work`; or found another, by --data-dir DIR",
        );
        return Err(match present.publishers {
            Publishers::Anybody => failure.hint(
                "anybody may publish scripts there too, until `metatopia admin set publishers seen`",
            ),
            _ => failure,
        });
    }
    if present.publishers == Publishers::Anybody {
        let message =
            format!("in the world in {path} anybody may publish scripts, and keys cost nothing");
        return Err(Failure::refused(message).hint(
            "start it for this machine alone, and change that by `metatopia admin set publishers seen`; or \
             let nobody in but people you know, by --open",
        ));
    }
    Ok(())
}

/// Waits until all are ready, then as long as the world can go on.
async fn live(
    cluster: &mut ServerProcesses,
    (world, reach): (&LocalWorld, &Reach),
    (exit_after, restarts): (Option<Duration>, bool),
    watch: Option<PlaceWatch>,
    console: Console,
) -> Result<(), Failure> {
    cluster.ready().await?;
    console.show(&ready(cluster, world, reach))?;
    let end = exit_after.map(|after| Instant::now() + after);
    let ended = async {
        match end {
            Some(at) => sleep_until(at).await,
            None => std::future::pending().await,
        }
    };
    let watched = async {
        match watch {
            Some(watch) => watch.run().await,
            None => std::future::pending().await,
        }
    };
    let guard = Supervisor::new(cluster, world, restarts, console)?;
    tokio::select! {
        never = watched => match never {},
        ended = guard.watch() => {
            ended?;
            console.note("the sim has ended, as its charter says");
            Ok(())
        }
        () = ended => Ok(()),
    }
}

fn ready(cluster: &ServerProcesses, world: &LocalWorld, reach: &Reach) -> ReadyLine {
    let http = |index| format!("{}/", reach.origin(cluster.ports(index)));
    let line = |(index, pid): (usize, u32)| {
        let (seat, ports) = (&world.servers()[index], cluster.ports(index));
        ServerLine {
            index,
            pid,
            key: seat.key.to_string(),
            http: http(index),
            p2p: ports.p2p_address().to_string(),
        }
    };
    ReadyLine {
        ready: true,
        name: world.name().to_owned(),
        sim: world.sim().to_string(),
        http: http(0),
        servers: cluster.processes().map(line).collect(),
        invitation: Invitation::of(reach, cluster.ports(0)),
        data_dir: world.path().to_owned(),
        by_ticket: world.first_login() == FirstLogin::Invite,
    }
}

/// Returns the mistakes of a place as a failure.
pub(super) fn wrong(mistakes: &[Mistake]) -> Failure {
    let lines: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
    Failure::failed(lines.join("\n"))
}

/// Returns the folder name of a place: letters and digits of its name, and a hyphen for anything else.
fn folder_name(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() { c } else { '-' };
    name.chars().flat_map(char::to_lowercase).map(plain).collect()
}

/// Returns the directory in which the world of a place is kept unless another one is named.
pub(super) fn default_dir(
    place: &str,
    variable: impl Fn(&str) -> Option<PathBuf>,
) -> Result<PathBuf, Failure> {
    // As the XDG base directory specification has it: a relative path counts as not set.
    let state = variable("XDG_STATE_HOME").filter(|path| path.is_absolute());
    let home =
        || variable("HOME").filter(|path| path.is_absolute()).map(|h| h.join(".local/state"));
    state.or_else(home).map(|state| state.join("metatopia").join(folder_name(place))).ok_or_else(
        || {
            Failure::usage("neither XDG_STATE_HOME nor HOME is set")
                .hint("name a place by --data-dir")
        },
    )
}

fn no_signals(error: io::Error) -> Failure {
    Failure::failed(format!("cannot wait for signals: {error}"))
}

/// What people and supervisors stop a program with.
struct Stop {
    interrupt: Signal,
    terminate: Signal,
}

impl Stop {
    fn install() -> Result<Self, Failure> {
        let interrupt = signal(SignalKind::interrupt()).map_err(no_signals)?;
        let terminate = signal(SignalKind::terminate()).map_err(no_signals)?;
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
    use crate::cli::exit::Exit;

    #[test]
    fn the_ready_line_has_the_documented_shape() {
        let server = ServerLine {
            index: 0,
            pid: 1,
            key: "aa".into(),
            http: "http://127.0.0.1:8080/".into(),
            p2p: "/ip4/127.0.0.1/tcp/9".into(),
        };
        let ready = ReadyLine {
            ready: true,
            name: "plaza".into(),
            sim: "bb".into(),
            http: "http://127.0.0.1:8080/".into(),
            servers: vec![server],
            invitation: None,
            data_dir: "/x".into(),
            by_ticket: false,
        };
        assert_eq!(
            serde_json::to_string(&ready).unwrap(),
            concat!(
                r#"{"ready":true,"name":"plaza","sim":"bb","http":"http://127.0.0.1:8080/","servers":["#,
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
            default_dir("plaza", find)
        };
        let both: &[(&str, &str)] = &[("XDG_STATE_HOME", "/s"), ("HOME", "/h")];
        assert_eq!(set(both), Ok("/s/metatopia/plaza".into()));
        let relative: &[(&str, &str)] = &[("XDG_STATE_HOME", "s"), ("HOME", "/h")];
        assert_eq!(set(relative), Ok("/h/.local/state/metatopia/plaza".into()));
        assert_eq!(set(&[]).unwrap_err().exit, Exit::Usage);
    }
}
