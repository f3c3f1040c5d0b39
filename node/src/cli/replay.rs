//! `replay`: what a server's log or a capsule leads to, turn by turn, on this machine.

mod pace;
mod stages;
mod summary;
#[cfg(test)]
mod tests;

use std::{fmt, fs, ops::ControlFlow, path::PathBuf, sync::Arc};

use clap::Args;
use metatopia_sim::{Applied, Capsule, CapsuleError, Course, Stage, Tools, Watch, World};
use metatopia_types::{Ed25519, Height, PublicKey, Root, Tick};
use serde::Serialize;

pub(super) use self::summary::StateSummary;
use self::{
    pace::{ReplayPace, Speed},
    stages::{StageDigests, Stages},
};
use super::{
    arguments,
    console::Console,
    failure::Failure,
    log::{
        replay::Onlooker,
        server::{pool, verify},
    },
    sources::{SourceKind, only_directory},
    up::world::GENESIS,
};

/// `replay`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    metatopia replay ~/.local/state/metatopia/plaza/server-0\n  \
    metatopia replay server-0 --at 1200 --json           the state after turn 1200\n  \
    metatopia replay server-0 --speed 50x                no faster than 50 times real time\n  \
    metatopia replay server-0 --stages --from 1190 --at 1200\n  \
    metatopia replay capsule-1201.capsule                what a server or a tab wrote\n\n\
    Nothing is changed, and the server may be running. Every root that is stated or noted is \
    compared. At the\nend there is one digest for each stage of a tick, over all ticks: where two \
    machines print others, that\nstage is where they part; --stages then shows the tick, \
    and prints nothing that differs from machine\nto machine. Exit code 5, and the height, when \
    anything is wrong;\n6 when whoever wrote a capsule came to \
    another state than its turns lead to; 3 when the state after --at is not\nthere: the log ends \
    before it, or was pruned and begins after it.")]
pub(super) struct ReplayArgs {
    /// The data directory of a server, or a capsule.
    path: PathBuf,
    /// The sim's genesis [default: the file `genesis` in the data directory].
    #[arg(long, value_name = "FILE")]
    genesis: Option<PathBuf>,
    /// Stop after this turn.
    #[arg(long, value_name = "HEIGHT", value_parser = arguments::height)]
    at: Option<Height>,
    /// So many times as fast as the world was, at most, such as `50x` [default: as fast as this
    /// machine can].
    #[arg(long, value_name = "SPEED", value_parser = pace::speed)]
    speed: Option<Speed>,
    /// Print the digest of the state after every stage of every tick.
    #[arg(long, conflicts_with = "quick")]
    stages: bool,
    /// Print stages from this turn on.
    #[arg(long, value_name = "HEIGHT", value_parser = arguments::height, requires = "stages")]
    from: Option<Height>,
    /// Compare roots only: no digests of stages, several times as fast.
    #[arg(long)]
    quick: bool,
}

/// What a replay found.
#[derive(Debug, Serialize)]
struct ReplayReport {
    #[serde(flatten)]
    own: Option<LocalDetails>,
    ok: bool,
    sim: Option<String>,
    turns: u64,
    acts: u64,
    /// Over all ticks.
    stages: Option<StageDigests>,
    state: Option<StateSummary>,
    error: Option<String>,
}

/// What is not the same on another machine. It is left out where the stages are printed, for these are
/// there to be compared with those of other machines.
#[derive(Debug, Serialize)]
struct LocalDetails {
    path: String,
    server: Option<String>,
    /// Times real time.
    speed_x: f64,
}

impl fmt::Display for ReplayReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { own, turns, acts, .. } = self;
        match own {
            None => writeln!(f, "{turns} turns with {acts} acts")?,
            Some(LocalDetails { path, speed_x, .. }) => {
                writeln!(
                    f,
                    "{path}: {turns} turns with {acts} acts, {speed_x:.0} times real time"
                )?;
            }
        }
        if let Some(stages) = &self.stages {
            write!(f, "{stages}")?;
        }
        if let Some(state) = &self.state {
            write!(f, "{state}")?;
        }
        match &self.error {
            Some(error) => write!(f, "WRONG: {error}"),
            None => write!(f, "every root is as it was stated"),
        }
    }
}

/// Looks on: prints, paces, and stops in time.
struct ReplayObserver {
    console: Console,
    at: Option<Height>,
    stages: Option<Stages>,
    pace: ReplayPace,
    turns: u64,
    acts: u64,
    failed: Option<Failure>,
}

impl Watch for ReplayObserver {
    fn enter(&mut self, _: Stage) {}

    fn is_heavy(&self) -> bool {
        self.stages.is_some()
    }

    fn left(&mut self, stage: Stage, tick: Tick, root: Root) {
        if let Some(stages) = &mut self.stages
            && let Err(failure) = stages.left(stage, tick, root)
        {
            self.failed.get_or_insert(failure);
        }
    }
}

impl Onlooker for ReplayObserver {
    fn begins(&mut self, after: Height) -> ControlFlow<()> {
        if let Some(stages) = &mut self.stages {
            stages.turn(after);
        }
        self.until(after)
    }

    fn may_begin_again(&self) -> bool {
        self.turns == 0
    }

    fn applied(&mut self, applied: &Applied, world: &World) -> ControlFlow<()> {
        self.turns += 1;
        self.acts += applied.outcomes.len() as u64;
        if let Some(stages) = &mut self.stages {
            stages.turn(applied.height);
        }
        if let Some(speed_x) = self.pace.turn(world.parameters().ticks_per_turn) {
            self.console.note(&format!("turn {}, {speed_x:.0} times real time", applied.height));
        }
        self.until(applied.height)
    }
}

impl ReplayObserver {
    fn new(args: &ReplayArgs, console: Console) -> Self {
        let from = args.stages.then(|| args.from.unwrap_or_default());
        Self {
            console,
            at: args.at,
            stages: (!args.quick).then(|| Stages::new(console, from)),
            pace: ReplayPace::new(args.speed),
            turns: 0,
            acts: 0,
            failed: None,
        }
    }

    /// Goes on from the state after this turn, unless that is far enough.
    fn until(&self, height: Height) -> ControlFlow<()> {
        let done = self.failed.is_some() || self.at.is_some_and(|at| height >= at);
        if done { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// What there is to say in the end.
    fn found(
        self,
        path: &str,
        server: Option<PublicKey>,
        world: Option<&World>,
        error: Option<String>,
    ) -> ReplayReport {
        let printed = self.stages.as_ref().is_some_and(Stages::are_printed);
        let own = || LocalDetails {
            path: path.to_owned(),
            server: server.map(|server| server.to_string()),
            speed_x: self.pace.speed_x(),
        };
        ReplayReport {
            own: (!printed).then(own),
            ok: error.is_none(),
            sim: world.map(|world| world.sim().to_string()),
            turns: self.turns,
            acts: self.acts,
            stages: self.stages.map(Stages::finish),
            state: world.map(StateSummary::of),
            error,
        }
    }
}

pub(super) fn run(args: &ReplayArgs, console: Console) -> Result<(), Failure> {
    let path = args.path.display().to_string();
    let mut player = ReplayObserver::new(args, console);
    console.note(&format!("replaying {path}"));
    let found = match SourceKind::at(&args.path)? {
        SourceKind::Directory => {
            let dir = only_directory(&args.path)?;
            let genesis = args.genesis.clone().unwrap_or_else(|| dir.join(GENESIS));
            let checked = verify(&dir, &genesis, &mut player)?;
            if let Some(failure) = player.failed.take() {
                return Err(failure);
            }
            let wrong = checked.wrong.map(|fault| fault.to_string());
            player.found(&path, checked.server, checked.world.as_ref(), wrong)
        }
        SourceKind::Capsule => {
            let bytes = fs::read(&args.path)
                .map_err(|error| Failure::failed(format!("cannot read {path}: {error}")))?;
            let capsule = Capsule::decode(&bytes).map_err(broken)?;
            return replay_capsule(&capsule, &path, player, console);
        }
    };
    tell(&found, &path, args.at, console)
}

/// Shows what was found. A history without the turn that was asked for is not wrong; but where it
/// begins later, or leaves that turn out, no other state is shown in place of that one.
fn tell(
    found: &ReplayReport,
    path: &str,
    at: Option<Height>,
    console: Console,
) -> Result<(), Failure> {
    let asked = at.zip(found.state.as_ref().map(|state| state.height));
    if let (Some((at, later)), None) = (asked.filter(|(at, height)| *height > at.0), &found.error) {
        let message = format!(
            "{path} does not have the state after turn {at}: the next one that it has is that \
             after turn {later}"
        );
        return Err(
            Failure::not_found(message).hint("replay the log of an archive, which keeps all turns")
        );
    }
    console.show(found)?;
    if let Some(error) = &found.error {
        return Err(Failure::unverified(format!("{path}: {error}")));
    }
    match asked {
        Some((at, last)) if last < at.0 => {
            Err(Failure::not_found(format!("turn {at} is not there: the last one is {last}")))
        }
        _ => Ok(()),
    }
}

fn broken(error: CapsuleError) -> Failure {
    Failure::unverified(error.to_string())
}

fn replay_capsule(
    capsule: &Capsule,
    path: &str,
    mut player: ReplayObserver,
    console: Console,
) -> Result<(), Failure> {
    let tools = Tools::new(Arc::new(Ed25519));
    let (_, world) = capsule.begin(&tools).map_err(broken)?;
    let (pool, at) = (pool()?, player.at);
    let begun = player.begins(world.height());
    let turns = if begun.is_break() { &[] } else { capsule.turns.as_slice() };
    let mut course = Course::new(world);
    let mut wrong = None;
    let mut parted = None;
    let mut own = capsule.roots.iter();
    for (turn, certificate) in turns {
        if let Err(why) = course.check(turn, certificate) {
            wrong = Some(format!("turn {}: {why}", turn.header.height));
            break;
        }
        let applied = course.follow(turn, &pool, &mut player);
        if let Some(had) = own.next().filter(|had| **had != applied.root) {
            parted.get_or_insert((applied.height, *had, applied.root));
        }
        if player.applied(&applied, course.world()).is_break() {
            break;
        }
    }
    if let Some(failure) = player.failed.take() {
        return Err(failure);
    }
    let found = player.found(path, None, Some(course.world()), wrong);
    let told = tell(&found, path, at, console);
    match parted {
        Some((height, had, now)) if found.ok => {
            let message = format!(
                "{path}: after turn {height} its writer had root {had}, the turns lead to {now}"
            );
            Err(Failure::new(super::exit::Exit::Diverged, message)
                .hint("`metatopia bisect` with a healthy server's directory names the field"))
        }
        _ => told,
    }
}
