//! `bench` compares this machine with the figures that are promised.

mod absence;
mod crossing;
mod crowd;
mod find;
mod join;
mod logins;
mod overlay;
mod past;
mod plaza;
mod yard;

use std::{
    env, fs,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{Args, Subcommand};
use metatopia_client_driver::NodeUrl;
use metatopia_load::{figure::Figure, machine::MachineSpec, thousand};
use serde::Serialize;

use self::{crossing::CrossingLoad, yard::ParcelSize};
use super::{
    arguments,
    console::Console,
    failure::Failure,
    up::{
        cluster::ServerProcesses,
        world::{LocalWorld, SERVERS},
    },
};

#[derive(Debug, Subcommand)]
pub(super) enum BenchCommand {
    /// Run the plaza with four servers and fifty bots in a new directory, kill a server, and
    /// measure.
    #[command(after_help = "Takes about a minute. Exit code 1 when a figure is past twice its \
        bound.\nA build without --release measures itself, not Metatopia.")]
    Plaza(PlazaArgs),
    /// Let crowds into the plaza, and measure what one client is sent and what one server spends.
    #[command(after_help = "Takes two minutes. Exit code 1 when a figure is past twice its \
        bound.\nA build without --release measures itself, not Metatopia. The bots run on this \
        machine too: with few cores they take the servers' time.")]
    Crowd(CrowdArgs),
    /// Let newcomers into the plaza, each over a connection of its own, and measure how long a login takes
    /// and whether the turns keep their pace.
    #[command(after_help = "Examples:\n  \
        metatopia bench logins                             500 newcomers in ten seconds\n  \
        metatopia bench logins --count 200 --duration 5s --json\n\n\
        Exit code 1 when a figure is past twice its bound.\nA build without --release measures itself, \
        not Metatopia. The newcomers run on this machine too.")]
    Logins(BenchLoginsArgs),
    /// Let a follower join a large sim with a long past, and measure how long it takes, how much
    /// memory it needs, and what a turn of such a sim costs.
    #[command(after_help = "Examples:\n  \
        metatopia bench join                               10,000 objects, 100,000 turns\n  \
        metatopia bench join --objects 15000 --turns 1000\n\n\
        Takes about a minute. Exit code 1 when a figure is past twice its \
        bound.\nA build without --release measures itself, not Metatopia.")]
    Join(BenchJoinArgs),
    /// Kill a server, let the others go on without it, start it again, and measure how long it
    /// takes to vote. This is done with one server after the other.
    #[command(after_help = "Examples:\n  \
        metatopia bench absence                            five minutes and a bit\n  \
        metatopia bench absence --missed 10m --times 1\n\n\
        The bench waits in real time. Exit code 1 when a figure is past twice its bound: 3 s after \
        up to a\nminute, 8 s after more.\nA build without --release measures itself, not \
        Metatopia.")]
    Absence(AbsenceArgs),
    /// Let members of a world's overlay find all their neighbours on loopback, kill half of them, and
    /// measure how long it takes until the others know theirs again.
    #[command(
        after_help = "Real sockets, handshakes and signatures; the land is drawn. Exit code 1 \
        when a figure is past twice its bound.\nA build without --release measures itself, not \
        Metatopia."
    )]
    Overlay(BenchOverlayArgs),
    /// Let bots walk over the border between two sims and back, each with a thing in hand, and measure how
    /// long they are nowhere. The logs of both sims are verified after it.
    #[command(after_help = "Examples:\n  \
        metatopia bench crossing                           20 bots for a minute\n  \
        metatopia bench crossing --servers 4 --count 50 --duration 10m --json\n  \
        metatopia bench crossing --count 4 --parcel 48KiB  the largest parcels\n  \
        metatopia bench crossing --west http://10.0.0.1:8080 --east http://10.0.0.2:8080\n\n\
        Sims that run already need an open border between them. In the western one, people come in a few \
        metres\nbefore it. Their logs are not verified. Between sims that the bench starts, nobody comes for the \
        first\n30 s: so long the log of a quiet border is measured.\n\n\
        Exit code 1 when a figure is past twice its bound.\nA build without --release measures itself, \
        not Metatopia.")]
    Crossing(BenchCrossingArgs),
    /// Ask a small world who owns points of its plane, and measure how long the answers take, with their
    /// proofs checked.
    #[command(after_help = "Examples:\n  \
        metatopia bench find                               300 points in a grid of 4x4 sims\n  \
        metatopia bench find --points 1000 --json\n\n\
        One process runs all sims. Each point is asked about as `metatopia world find` does. Exit code 1 \
        when a\nfigure is past twice its bound, or an answer is wrong.\nA build without --release measures \
        itself, not Metatopia.")]
    Find(BenchFindArgs),
}

#[derive(Debug, Args)]
pub(super) struct BenchFindArgs {
    /// The number of points.
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u32).range(100..=10_000))]
    points: u32,
}

#[derive(Debug, Args)]
pub(super) struct BenchCrossingArgs {
    /// How long the bots walk.
    #[arg(long, default_value = "60s", value_parser = arguments::duration, value_name = "DURATION")]
    duration: Duration,
    /// The number of bots.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=50))]
    count: u32,
    /// How many servers each of the two sims has.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4))]
    servers: u32,
    /// How large the parcels are, 1KiB to 48KiB: each bot carries a thing whose scripts remember so much, instead of a
    /// ball.
    #[arg(long, value_parser = yard::parcel_size, value_name = "SIZE", conflicts_with = "west")]
    parcel: Option<ParcelSize>,
    /// Nodes of a sim that runs, instead of starting two: the bots log in to it, and walk over its eastern edge.
    #[arg(long, value_name = "URL[,URL..]", value_delimiter = ',')]
    #[arg(requires = "east", conflicts_with = "servers")]
    west: Vec<NodeUrl>,
    /// Nodes of the sim that runs east of that one.
    #[arg(long, value_name = "URL[,URL..]", value_delimiter = ',', requires = "west")]
    east: Vec<NodeUrl>,
}

#[derive(Debug, Args)]
pub(super) struct BenchOverlayArgs {
    /// The number of members.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(4..=64))]
    members: u32,
}

#[derive(Debug, Args)]
pub(super) struct AbsenceArgs {
    /// How long a server is away.
    #[arg(long, default_value = "60s", value_parser = arguments::duration, value_name = "DURATION")]
    missed: Duration,
    /// How often a server is killed.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    times: u32,
}

#[derive(Debug, Args)]
pub(super) struct BenchJoinArgs {
    /// Objects in the sim, besides those of the plaza.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(0..=15_000))]
    objects: u32,
    /// Turns in the past of the servers. They are made, nobody waits for them.
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(0..=1_000_000))]
    turns: u64,
}

#[derive(Debug, Args)]
pub(super) struct BenchLoginsArgs {
    /// The number of newcomers.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    count: u32,
    /// The time in which they connect.
    #[arg(long, default_value = "10s", value_parser = arguments::duration)]
    duration: Duration,
}

#[derive(Debug, Args)]
pub(super) struct CrowdArgs {
    /// How long each crowd of bots acts.
    #[arg(long, default_value = "20s", value_parser = arguments::duration)]
    duration: Duration,
}

#[derive(Debug, Args)]
pub(super) struct PlazaArgs {
    /// How long the bots act.
    #[arg(long, default_value = "20s", value_parser = arguments::duration)]
    duration: Duration,
    /// The number of bots.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=400))]
    count: u32,
}

/// A directory that is removed when this value is dropped.
struct ScratchDirectory(PathBuf);

impl ScratchDirectory {
    fn new() -> Self {
        Self(env::temp_dir().join(format!("metatopia-bench-{}", std::process::id())))
    }
}

impl Drop for ScratchDirectory {
    fn drop(&mut self) {
        // The system cleans its temporary directory, so a failure to remove this one does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Starts a plaza of four servers, measures it, and stops it.
async fn on_a_plaza(
    path: &Path,
    console: Console,
    measure: impl AsyncFnOnce(&mut ServerProcesses, &LocalWorld) -> Result<Vec<Figure>, Failure>,
) -> Result<Vec<Figure>, Failure> {
    console.note("starting four servers");
    let world = LocalWorld::open_or_create_with(path, SERVERS, |_| {})?;
    let mut cluster = ServerProcesses::start(&world, 0)?;
    let figures = measure(&mut cluster, &world).await;
    let stopped = cluster.stop().await;
    let figures = figures?;
    stopped.map(|()| figures)
}

#[derive(Serialize)]
struct MachineLine<'a> {
    machine: &'a MachineSpec,
}

pub(super) async fn run(command: BenchCommand, console: Console) -> Result<(), Failure> {
    if cfg!(debug_assertions) {
        console.note("this is no release build: its figures say little");
    }
    let scratch = ScratchDirectory::new();
    let figures = match command {
        BenchCommand::Plaza(args) => {
            let load = (args.count, args.duration);
            let mut figures = plaza::measure(&scratch.0, load, console).await?;
            console.note("the sim alone, with 1,000 moving objects");
            let thousand = tokio::task::spawn_blocking(thousand::measure).await;
            figures.extend(thousand.map_err(|error| Failure::failed(error.to_string()))?);
            figures
        }
        BenchCommand::Join(args) => {
            join::measure(&scratch.0, (args.objects, args.turns), console).await?
        }
        BenchCommand::Absence(args) => {
            absence::measure(&scratch.0, (args.missed, args.times), console).await?
        }
        BenchCommand::Find(args) => find::measure(&scratch.0, args.points, console).await?,
        BenchCommand::Overlay(args) => overlay::measure(args.members as usize, console).await?,
        BenchCommand::Crossing(args) => {
            let (bots, duration, parcel) = (args.count, args.duration, args.parcel);
            let load = CrossingLoad { bots, duration, parcel };
            match args.west.is_empty() {
                true => crossing::measure(&scratch.0, args.servers as usize, load, console).await?,
                false => crossing::measure_running([args.west, args.east], load, console).await?,
            }
        }
        BenchCommand::Logins(args) => {
            logins::measure(&scratch.0, (args.count, args.duration), console).await?
        }
        BenchCommand::Crowd(args) => crowd::measure(&scratch.0, args.duration, console).await?,
    };
    tell(&figures, console)
}

/// Prints the figures with their bounds, and the machine that they were measured on.
fn tell(figures: &[Figure], console: Console) -> Result<(), Failure> {
    let machine = MachineSpec::here();
    for figure in figures {
        if console.is_json() {
            console.json(figure)?;
        } else {
            let verdict = console.verdict(figure.holds(), figure.verdict());
            console.line(&format!("{figure}  {verdict}"))?;
        }
    }
    if console.is_json() {
        console.json(&MachineLine { machine: &machine })?;
    } else {
        console.line(&format!("machine: {machine}"))?;
    }
    let failed: Vec<&str> = figures.iter().filter(|f| f.fails()).map(|f| f.figure).collect();
    match failed.as_slice() {
        [] => Ok(()),
        names => Err(Failure::failed(format!("past twice the bound: {}", names.join(", ")))),
    }
}
