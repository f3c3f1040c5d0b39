//! `replay` shows what a server's log or a capsule leads to, turn by turn, on this machine; and what a
//! recording of a physics region leads to, tick by tick.

mod pace;
mod region;
#[cfg(test)]
mod tests;

use std::{fmt, fs, ops::ControlFlow, path::PathBuf};

use clap::Args;
use metatopia_audit::{
    TurnObserver,
    replay::{StageDigests, StageHashes, StateSummary, WriterDivergence, replay_capsule},
};
use metatopia_sim::{Applied, Capsule, CapsuleError, Stage, Unsound, Watch, World};
use metatopia_types::{Height, PublicKey, Root, Tick};
use serde::Serialize;

use self::pace::{ReplayPace, Speed};
use super::{
    arguments,
    console::Console,
    exit::Exit,
    failure::Failure,
    log::{NEWER_PROGRAM, verify},
    numbers::number_of,
    sources::{SourceKind, only_directory, pool},
    up::world::GENESIS,
};

/// The arguments of `replay`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    metatopia replay ~/.local/state/metatopia/plaza/server-0\n  \
    metatopia replay server-0 --at 1200 --json           the state after turn 1200\n  \
    metatopia replay server-0 --speed 50x                no faster than 50 times real time\n  \
    metatopia replay server-0 --stages --from 1190 --at 1200\n  \
    metatopia replay capsule-1201.capsule                what a server or a tab wrote\n  \
    metatopia replay --region heap.stream                what a region of physics was told\n\n\
    Nothing is changed, and the server may be running. Every root that is stated or noted is \
    compared. At the\nend there is one digest for each stage of a tick, over all ticks. A stage \
    whose digests differ on two\nmachines is where they part. Then --stages shows the tick, and \
    prints nothing that differs from machine\nto machine. Exit code 5, and the height, when \
    anything is wrong; 6 when the writer of a capsule came to\nanother state than its turns lead \
    to; 3 when the state after --at is not there, because the log ends\nbefore it, or was pruned \
    and begins after it; 8 when it\nruns a port that this program lacks.")]
pub(super) struct ReplayArgs {
    /// The data directory of a server, or a capsule; with --region, a recording.
    path: PathBuf,
    /// Play a recording of a physics region, and compare the digest at every tick.
    #[arg(long, conflicts_with_all = ["genesis", "at", "speed", "stages", "from", "quick"])]
    region: bool,
    /// The sim's genesis [default: the file `genesis` in the data directory].
    #[arg(long, value_name = "FILE")]
    genesis: Option<PathBuf>,
    /// Stop after this turn.
    #[arg(long, value_name = "HEIGHT", value_parser = arguments::height)]
    at: Option<Height>,
    /// The most that the replay may be faster than the sim was, such as `50x` [default: as fast as
    /// this machine can].
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

/// The result of a replay, as it is printed.
#[derive(Debug, Serialize)]
struct ReplayReport {
    #[serde(flatten)]
    own: Option<LocalDetails>,
    ok: bool,
    sim: Option<String>,
    turns: u64,
    acts: u64,
    /// The digests over all ticks.
    stages: Option<StageDigests>,
    state: Option<StateSummary>,
    error: Option<String>,
    /// Says whether the error is only that this program lacks a port.
    lacks_port: bool,
}

/// The details that differ from machine to machine. They are left out where the stages are printed,
/// because people compare those with the stages of other machines.
#[derive(Debug, Serialize)]
struct LocalDetails {
    path: String,
    server: Option<String>,
    /// The speed as a multiple of real time.
    speed_x: f64,
}

impl fmt::Display for ReplayReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { own, turns, acts, .. } = self;
        let turns = number_of(*turns, "turn", "turns");
        let acts = number_of(*acts, "act", "acts");
        match own {
            None => writeln!(f, "{turns} with {acts}")?,
            Some(LocalDetails { path, speed_x, .. }) => {
                writeln!(f, "{path}: {turns} with {acts}, {speed_x:.0} times real time")?;
            }
        }
        if let Some(stages) = &self.stages {
            write!(f, "{stages}")?;
        }
        if let Some(state) = &self.state {
            write!(f, "{state}")?;
        }
        match &self.error {
            Some(error) if self.lacks_port => write!(f, "NOT CHECKED: {error}"),
            Some(error) => write!(f, "WRONG: {error}"),
            None => write!(f, "every root is as it was stated"),
        }
    }
}

/// Observes a replay: prints its stages, holds it to its speed, and stops it at the right turn.
struct ReplayObserver {
    console: Console,
    at: Option<Height>,
    stages: Option<StageHashes>,
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
            && let Some(line) = stages.left(stage, tick, root)
            && let Err(failure) = self.console.show(&line)
        {
            self.failed.get_or_insert(failure);
        }
    }
}

impl TurnObserver for ReplayObserver {
    fn begins(&mut self, after: Height) -> ControlFlow<()> {
        if let Some(stages) = &mut self.stages {
            stages.turn_over(after);
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
            stages.turn_over(applied.height);
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
            stages: (!args.quick).then(|| StageHashes::new(from)),
            pace: ReplayPace::new(args.speed),
            turns: 0,
            acts: 0,
            failed: None,
        }
    }

    /// Stops the replay when the state after this turn was asked for, or when printing failed.
    fn until(&self, height: Height) -> ControlFlow<()> {
        let done = self.failed.is_some() || self.at.is_some_and(|at| height >= at);
        if done { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Returns the result of the replay.
    fn found(
        self,
        path: &str,
        server: Option<PublicKey>,
        world: Option<&World>,
        error: Option<String>,
    ) -> ReplayReport {
        let printed = self.stages.as_ref().is_some_and(StageHashes::are_listed);
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
            stages: self.stages.map(StageHashes::finish),
            state: world.map(StateSummary::of),
            error,
            lacks_port: false,
        }
    }
}

pub(super) fn run(args: &ReplayArgs, console: Console) -> Result<(), Failure> {
    if args.region {
        return region::run(&args.path, console);
    }
    let path = args.path.display().to_string();
    let mut observer = ReplayObserver::new(args, console);
    console.note(&format!("replaying {path}"));
    let found = match SourceKind::at(&args.path)? {
        SourceKind::Directory => {
            let dir = only_directory(&args.path)?;
            let genesis = args.genesis.clone().unwrap_or_else(|| dir.join(GENESIS));
            let checked = verify(&dir, &genesis, &mut observer)?;
            if let Some(failure) = observer.failed.take() {
                return Err(failure);
            }
            if let Some((first, _)) = checked.forgotten.first() {
                console.note(&format!(
                    "words of turn {first} were forgotten: no state is computed from there up to the \
                     next snapshot that the server keeps"
                ));
            }
            let fault = checked.fault.as_ref();
            let lacks_port = fault.is_some_and(|fault| fault.kind.missing_port().is_some());
            let error = fault.map(ToString::to_string);
            let found = observer.found(&path, checked.server, checked.world.as_ref(), error);
            ReplayReport { lacks_port, ..found }
        }
        SourceKind::Capsule => {
            let bytes = fs::read(&args.path)
                .map_err(|error| Failure::failed(format!("cannot read {path}: {error}")))?;
            let capsule = Capsule::decode(&bytes).map_err(broken)?;
            return report_capsule(&capsule, &path, observer, console);
        }
    };
    report(&found, &path, args.at, console)
}

/// Shows the result. A history without the turn that was asked for is not wrong. But if the history
/// begins after that turn, or lacks it, no other state is shown in its place.
fn report(
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
        let failure = Failure::unverified(format!("{path}: {error}"));
        return Err(match found.lacks_port {
            true => Failure { exit: Exit::OtherEngine, ..failure }.hint(NEWER_PROGRAM),
            false => failure,
        });
    }
    match asked {
        Some((at, last)) if last < at.0 => {
            Err(Failure::not_found(format!("turn {at} is not there: the last one is {last}")))
        }
        _ => Ok(()),
    }
}

fn broken(error: CapsuleError) -> Failure {
    let exit = if error.other_engine().is_some() { Exit::OtherEngine } else { Exit::Unverified };
    Failure::new(exit, error.to_string())
}

fn report_capsule(
    capsule: &Capsule,
    path: &str,
    mut observer: ReplayObserver,
    console: Console,
) -> Result<(), Failure> {
    let at = observer.at;
    let replay = replay_capsule(capsule, &pool()?, &mut observer).map_err(broken)?;
    if let Some(failure) = observer.failed.take() {
        return Err(failure);
    }
    let fault = replay.fault.as_ref();
    let lacks_port = fault.is_some_and(|fault| matches!(fault.why, Unsound::MissingPort(_)));
    let error = fault.map(ToString::to_string);
    let found = observer.found(path, None, Some(&replay.world), error);
    let found = ReplayReport { lacks_port, ..found };
    let reported = report(&found, path, at, console);
    match replay.divergence {
        Some(WriterDivergence { height, had, found: root }) if found.ok => {
            let message = format!(
                "{path}: after turn {height} its writer had root {had}, the turns lead to {root}"
            );
            Err(Failure::new(Exit::Diverged, message)
                .hint("`metatopia bisect` with a healthy server's directory names the field"))
        }
        _ => reported,
    }
}
