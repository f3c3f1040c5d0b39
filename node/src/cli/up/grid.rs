//! `up --grid`: a small world of several sims on this machine.
//!
//! The first start founds the land office, runs it alone while the other squares are claimed, and stops it
//! again. From then on one process runs the first server of all sims, another one the second, and so on.

use std::{
    env, fmt,
    fs::{self, File},
    path::{Path, PathBuf},
};

use futures::future::select_all;
use metatopia_client::square_of;
use metatopia_client_driver::NodeUrl;
use metatopia_sim::Parameters;
use metatopia_types::{SimId, Square, limits::SQUARE_TILES_MIN};
use serde::Serialize;
use tokio::{
    process::{Child, ChildStdin},
    time::{Instant, sleep, timeout},
};

use super::{
    Stop, UpArgs,
    cluster::{READY, STOP, ServerProcesses, spawn_all, until_ready},
    default_dir,
    reach::{Reach, ReachArgs},
    world::{ADMIN_KEY, LocalWorld, kept_servers},
};
use crate::cli::{
    border::{self, neighbour},
    console::Console,
    failure::Failure,
    numbers::number_of,
    ports::{self, Ports},
    session::{NodeArgs, PlayerArgs},
    world::{
        claim::claim_at,
        found::{self, FoundingArgs},
        square::WrittenSquare,
    },
};

/// The most squares on a side: 8 x 8 sims are as many as the land office grants in a week.
const SIDE_MAX: u32 = 8;

/// How often the least side of a square is doubled: 256 m.
const DOUBLINGS: u8 = 2;

/// The side of each square, in tiles.
pub(in crate::cli) const SQUARE_TILES: i32 = SQUARE_TILES_MIN << DOUBLINGS;

/// In the directory of a sim: its square is granted.
const CLAIMED: &str = "claimed";

/// The number of sims from west to east, and from south to north.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GridSize {
    columns: u32,
    rows: u32,
}

/// Reads a size like `2x2`.
pub(super) fn size(text: &str) -> Result<GridSize, String> {
    let wrong = || format!("a grid looks like 2x2, with 1 to {SIDE_MAX} squares on a side");
    let (columns, rows) = text.split_once('x').ok_or_else(wrong)?;
    let side = |text: &str| {
        text.parse().ok().filter(|side| (1..=SIDE_MAX).contains(side)).ok_or_else(wrong)
    };
    Ok(GridSize { columns: side(columns)?, rows: side(rows)? })
}

/// A sim of the grid.
#[derive(Debug)]
struct GridSim {
    dir: PathBuf,
    square: Square,
}

impl GridSize {
    /// Returns the sims of a grid, the land office first. Each touches one before it.
    fn sims(self, path: &Path) -> Vec<GridSim> {
        let place = |n: u32| {
            let (column, row) = (n % self.columns, n / self.columns);
            let at = |count: u32| count.cast_signed() * SQUARE_TILES;
            let square = Square { x: at(column), y: at(row), doublings: DOUBLINGS };
            GridSim { dir: path.join(format!("sim-{column}-{row}")), square }
        };
        (0..self.columns * self.rows).map(place).collect()
    }
}

/// The line that says that the world runs.
#[derive(Debug, Serialize)]
struct GridLine {
    ready: bool,
    world: String,
    sims: Vec<GridSimLine>,
    #[serde(skip)]
    data_dir: PathBuf,
}

#[derive(Debug, Serialize)]
struct GridSimLine {
    sim: String,
    square: String,
    http: String,
}

impl fmt::Display for GridLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sims = number_of(self.sims.len(), "sim", "sims");
        writeln!(f, "world {} of {sims} is open", self.world)?;
        for GridSimLine { square, http, .. } in &self.sims {
            writeln!(f, "  {square:<10} {http}")?;
        }
        writeln!(f, "kept in {}\n", self.data_dir.display())?;
        let node = self.sims.first().map(|sim| sim.http.as_str()).unwrap_or_default();
        let node = node.split("/w/").next().unwrap_or_default();
        writeln!(f, "Look at the map from another terminal:")?;
        writeln!(f, "  metatopia world map --node {node}\n")?;
        if self.sims.len() > 1 {
            writeln!(f, "Walk from one sim into the next, in words (`go east 100`, and again):")?;
            writeln!(f, "  metatopia keys new --out me.key")?;
            writeln!(f, "  metatopia client --key me.key --node {node}\n")?;
        }
        write!(f, "Ctrl-C stops it; the next start goes on where it stopped.")
    }
}

pub(super) async fn run(
    size: GridSize,
    args: UpArgs,
    reach: Reach,
    mut stop: Stop,
    console: Console,
) -> Result<(), Failure> {
    let path = match &args.data_dir {
        Some(path) => path.clone(),
        None => default_dir("world", |name| env::var_os(name).map(PathBuf::from))?,
    };
    if kept_servers(&path)?.is_some() {
        let message = format!("{} is the directory of a sim", path.display());
        return Err(Failure::usage(message).hint("name another place for the grid by --data-dir"));
    }
    let sims = size.sims(&path);
    let servers = args.servers.unwrap_or(1) as usize;
    // Before land is claimed, which takes long. The ports are chosen again once that is done.
    let _free = ports::choose_on(reach.listen(), reach.own(), servers, args.http_port)?;
    let ready = tokio::select! {
        made = make(&sims, &args, servers, console) => made,
        () = stop.come() => return Ok(()),
    };
    ready?;
    let worlds: Vec<LocalWorld> =
        sims.iter().map(|sim| LocalWorld::open(&sim.dir)).collect::<Result<_, _>>()?;
    for world in &worlds {
        world.check_count(Some(servers))?;
    }
    let mut processes = GridProcesses::start(&path, &worlds, (servers, args.http_port), &reach)?;
    let named = number_of(worlds.len(), "sim", "sims");
    console.note(&format!("starting {named} in {}", path.display()));
    let outcome = tokio::select! {
        outcome = processes.live(&sims, &worlds, (&path, args.exit_after), console) => outcome,
        () = stop.come() => Ok(()),
    };
    console.note("stopping");
    let stopped = processes.stop().await;
    outcome.and(stopped)
}

/// Runs a grid of so many columns and rows, of sims of this place and with so many servers each, and hands
/// their ids and nodes to `measure`, row by row from the south-west.
///
/// # Errors
/// When one of them does not run, or `measure` fails.
pub(in crate::cli) async fn on_grid<T>(
    path: &Path,
    (columns, rows): (u32, u32),
    (place, servers): (Option<PathBuf>, usize),
    console: Console,
    measure: impl AsyncFnOnce(Vec<(SimId, Vec<NodeUrl>)>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let sims = GridSize { columns, rows }.sims(path);
    let args = UpArgs { place, ..UpArgs::default() };
    make(&sims, &args, servers, console).await?;
    let worlds: Vec<LocalWorld> =
        sims.iter().map(|sim| LocalWorld::open(&sim.dir)).collect::<Result<_, _>>()?;
    let reach = Reach::of(&ReachArgs::default())?;
    let mut processes = GridProcesses::start(path, &worlds, (servers, 0), &reach)?;
    let measured = async {
        processes.ready(&worlds, path, console).await?;
        let nodes = |world: &LocalWorld| {
            let sim = world.sim();
            (sim, processes.urls.iter().map(|url| url.of(sim)).collect())
        };
        measure(worlds.iter().map(nodes).collect()).await
    };
    let measured = measured.await;
    processes.stop().await?;
    measured
}

/// Founds the land office and claims the other squares, as far as that was not done before.
async fn make(
    sims: &[GridSim],
    args: &UpArgs,
    servers: usize,
    console: Console,
) -> Result<(), Failure> {
    let founding = |name: &str| FoundingArgs {
        place: args.place.clone(),
        servers: servers as u32,
        side: DOUBLINGS,
        first_login: args.first_login,
        name: Some(name.to_owned()),
        // Whoever runs a grid on one machine trusts all of it.
        things_from_servers: Some(1),
    };
    let (office, others) = sims.split_first().expect("a grid has a square");
    if kept_servers(&office.dir)?.is_none() {
        found::found(&office.dir, &founding("land office"), |rules| allow(rules, sims.len()))?;
    }
    let missing: Vec<&GridSim> =
        others.iter().filter(|sim| !sim.dir.join(CLAIMED).exists()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    console.note(&format!("claiming {}", number_of(missing.len(), "square", "squares")));
    let world = LocalWorld::open(&office.dir)?;
    let mut cluster = ServerProcesses::start(&world, 0)?;
    let claimed = async {
        cluster.ready().await?;
        let node = cluster.urls().swap_remove(0);
        for sim in missing {
            let name = sim.dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let (dir, sponsor) = (sim.dir.clone(), office.dir.join(ADMIN_KEY));
            let at = (dir, node.clone(), sponsor);
            claim_at(at, founding(&name), sim.square, console).await?;
            let mark = sim.dir.join(CLAIMED);
            File::create(&mark)
                .map_err(|error| Failure::failed(format!("{}: {error}", mark.display())))?;
        }
        Ok(())
    };
    let claimed = claimed.await;
    let stopped = cluster.stop().await;
    claimed.and(stopped)
}

/// Lets a land office grant so many squares in a week, and all of them to one key. Each sim's own admin claims
/// its square, but they all are keys of whoever runs the grid, who may want to hold all squares by one.
fn allow(rules: &mut Parameters, squares: usize) {
    let squares = u32::try_from(squares).expect("a grid has 64 squares at most");
    rules.land_per_key = rules.land_per_key.max(squares);
    rules.land_per_week = rules.land_per_week.max(squares);
}

/// The processes of a grid: each runs one server of every sim.
struct GridProcesses {
    processes: Vec<Child>,
    /// The pipes whose end tells them to stop. They are kept here, because waiting for a child drops the
    /// child's own.
    pipes: Vec<ChildStdin>,
    urls: Vec<NodeUrl>,
}

impl GridProcesses {
    /// Chooses ports, writes the configuration files, and starts the processes.
    fn start(
        path: &Path,
        worlds: &[LocalWorld],
        (servers, http_port): (usize, u16),
        reach: &Reach,
    ) -> Result<Self, Failure> {
        let first = ports::choose_on(reach.listen(), reach.own(), servers, http_port)?;
        let all = ports::choose_on(reach.listen(), reach.own(), (worlds.len() + 1) * servers, 0)?;
        // Only one set of these ports is for HTTP, and the ones of other servers differ from it.
        let clear = all.iter().filter(|ports| !first.iter().any(|other| other.meets(ports)));
        let mut clear = clear.copied();
        let mut taken: Vec<u16> = first.iter().chain(&all).flat_map(Ports::tcp).collect();
        for world in worlds {
            let own: Vec<Ports> = first
                .iter()
                .map(|first| Some(clear.next()?.beside(first)))
                .collect::<Option<_>>()
                .ok_or_else(|| Failure::failed("this machine has too few free ports"))?;
            taken.extend(world.configure_beside(&own, reach, &taken)?);
        }
        let urls: Vec<NodeUrl> = first.iter().map(Ports::url).collect();
        for world in worlds {
            let nodes = |sim: SimId| urls.iter().map(|url| url.of(sim)).collect::<Vec<_>>();
            let beside = touching(worlds, world).map(|other| (other.sim(), nodes(other.sim())));
            neighbour::note(&neighbour::places(world.path())?, &beside.collect())?;
        }
        let (mut processes, mut pipes) = (Vec::new(), Vec::new());
        for (index, ports) in first.iter().enumerate() {
            let config = |world: &LocalWorld| world.servers()[index].config();
            let configs: Vec<PathBuf> = worlds.iter().map(config).collect();
            let log = path.join(format!("node-{index}.log"));
            let mut process = spawn_all(&configs, log, &reach.flags(ports))?;
            pipes.extend(process.stdin.take());
            processes.push(process);
        }
        Ok(Self { processes, pipes, urls })
    }

    /// Waits until all sims are ready, and then until a process ends.
    async fn live(
        &mut self,
        sims: &[GridSim],
        worlds: &[LocalWorld],
        (path, exit_after): (&Path, Option<std::time::Duration>),
        console: Console,
    ) -> Result<(), Failure> {
        self.ready(worlds, path, console).await?;
        let line = |(sim, world): (&GridSim, &LocalWorld)| GridSimLine {
            sim: world.sim().to_string(),
            square: WrittenSquare(sim.square).to_string(),
            http: self.urls[0].of(world.sim()).to_string(),
        };
        console.show(&GridLine {
            ready: true,
            world: worlds[0].sim().to_string(),
            sims: sims.iter().zip(worlds).map(line).collect(),
            data_dir: path.to_owned(),
        })?;
        let over = async {
            match exit_after {
                Some(after) => sleep(after).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = over => Ok(()),
            failure = ended(&mut self.processes, path) => Err(failure),
        }
    }

    /// Waits until all sims are ready, and opens the borders between them.
    async fn ready(
        &mut self,
        worlds: &[LocalWorld],
        path: &Path,
        console: Console,
    ) -> Result<(), Failure> {
        let deadline = Instant::now() + READY;
        for world in worlds {
            for url in &self.urls {
                let asked = until_ready(url.of(world.sim()).join("/health/ready"), deadline);
                tokio::select! {
                    ready = asked => ready.map_err(|why| {
                        let message = format!("sim {} is not ready: {why}", world.sim());
                        Failure::timed_out(message)
                            .hint(&format!("see node-0.log in {}", path.display()))
                    })?,
                    failure = ended(&mut self.processes, path) => return Err(failure),
                }
            }
        }
        let opened = open_borders(worlds, &self.urls, console);
        tokio::select! {
            opened = opened => opened,
            failure = ended(&mut self.processes, path) => Err(failure),
        }
    }

    /// Tells all processes to stop, and waits for them.
    async fn stop(mut self) -> Result<(), Failure> {
        self.pipes.clear();
        for process in &mut self.processes {
            if timeout(STOP, process.wait()).await.is_err() {
                // It did not stop by itself; nothing can be done if this fails too.
                let _ = process.kill().await;
            }
        }
        Ok(())
    }
}

/// Returns the sims beside one.
fn touching<'a>(
    worlds: &'a [LocalWorld],
    world: &LocalWorld,
) -> impl Iterator<Item = &'a LocalWorld> {
    let own = square_of(world.genesis());
    let touches = move |other: &&LocalWorld| {
        own.zip(square_of(other.genesis())).is_some_and(|(a, b)| touch(a, b))
    };
    worlds.iter().filter(touches)
}

/// Says whether two squares of a grid have a side in common.
fn touch(a: Square, b: Square) -> bool {
    a.x.abs_diff(b.x) + a.y.abs_diff(b.y) == SQUARE_TILES.unsigned_abs()
}

/// Opens the borders between the sims of a grid, as far as they are not open.
async fn open_borders(
    worlds: &[LocalWorld],
    urls: &[NodeUrl],
    console: Console,
) -> Result<(), Failure> {
    for world in worlds {
        let sim = world.sim();
        let node = urls.iter().map(|url| url.of(sim)).collect();
        let (at, key) = (NodeArgs { node, sim: Some(sim) }, world.path().join(ADMIN_KEY));
        let admin = PlayerArgs::of(at, key);
        let heads = touching(worlds, world).map(|other| other.genesis().head()).collect();
        border::open_missing(&admin, heads, console).await?;
    }
    Ok(())
}

/// Waits until a process ends.
async fn ended(processes: &mut [Child], path: &Path) -> Failure {
    let waiting = processes.iter_mut().map(|process| Box::pin(process.wait()));
    let (status, index, rest) = select_all(waiting).await;
    drop(rest);
    let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
    let log = path.join(format!("node-{index}.log"));
    let said = fs::read_to_string(&log).unwrap_or_default();
    let last = said.lines().next_back().unwrap_or_default().to_owned();
    Failure::failed(format!("a process ended with {status}, saying `{last}`"))
        .hint(&format!("its log is {}", log.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_of_a_grid_touch_along_a_side_and_not_at_a_corner() {
        let sims = size("3x2").unwrap().sims(Path::new("world"));
        let beside = |n: usize| -> Vec<usize> {
            (0..sims.len()).filter(|m| touch(sims[n].square, sims[*m].square)).collect()
        };
        assert_eq!((beside(0), beside(1), beside(5)), (vec![1, 3], vec![0, 2, 4], vec![2, 4]));
    }

    #[test]
    fn a_grid_begins_with_the_land_office_and_each_square_touches_one_before_it() {
        let sims = size("3x2").unwrap().sims(Path::new("world"));
        let squares: Vec<String> =
            sims.iter().map(|sim| WrittenSquare(sim.square).to_string()).collect();
        assert_eq!(squares, ["0:0:256", "8:0:256", "16:0:256", "0:8:256", "8:8:256", "16:8:256"]);
        assert_eq!(sims[4].dir, Path::new("world/sim-1-1"));
        for text in ["", "2", "0x2", "9x1", "2x", "2x2x2", "-1x1"] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    /// One key could hold two squares of a grid of 64, and an office of a place with fewer grants a week granted
    /// some of them only.
    #[test]
    fn the_office_of_a_grid_grants_all_of_it_in_a_week_and_to_one_key() {
        let allowed = |text: &str, before: u32| {
            let sims = size(text).unwrap().sims(Path::new("world"));
            let mut rules = Parameters { land_per_week: before, ..Parameters::default() };
            allow(&mut rules, sims.len());
            (rules.land_per_key, rules.land_per_week)
        };
        assert_eq!(allowed("8x8", 64), (64, 64));
        assert_eq!(allowed("8x8", 5), (64, 64));
        assert_eq!(allowed("2x2", 64), (4, 64));
        // No less than any other land office allows.
        let usual = Parameters::default();
        assert_eq!(allowed("1x1", usual.land_per_week), (usual.land_per_key, usual.land_per_week));
    }
}
