//! Stories about agreement as data, and the stage they are played on.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use metatopia_consensus::{Controls, JoinError, JoinPack, Patience, Trust};
use metatopia_store::recover;
use metatopia_types::{Act, Digest, Height, Look, PublicKey};

use super::ambush::Ambush;
use super::oracle::{Fault, Wrong};
use super::server::{Log, Start};
use super::servers::{Decided, Servers};
use super::setting::Setting;
use super::signatures::Scheme;
use super::twins::{Schedule, TWIN_NAMES, TWIN_SEATS};
use super::villain::Deed;
use crate::chance::Dice;
use crate::cluster::Order;
use crate::conditions::Conditions;
use crate::crash::{CrashPoint, Steps, Tail};
use crate::world::World;

/// One in so many seeds has real signatures.
const REAL_SIGNATURES_EVERY: u64 = 20;

/// Players that submit acts.
const PLAYERS: u64 = 3;

/// What happens in a world, and in which world. Two runs of one scenario are the same.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// What it is called.
    pub name: &'static str,
    /// What all dice are thrown from.
    pub seed: u64,
    /// Servers that vote at genesis.
    pub founders: usize,
    /// All seats; those after the founders are empty to begin with.
    pub seats: usize,
    /// Links, disks and clocks.
    pub conditions: Conditions,
    /// How long servers wait.
    pub patience: Patience,
    /// Least milliseconds between two turns.
    pub turn_length: u64,
    /// Which signatures.
    pub scheme: Scheme,
    /// Who lies, and how.
    pub liars: Vec<(usize, Deed)>,
    /// A partition at the worst moment.
    pub ambush: Option<Ambush>,
    /// Two copies of one server, and who reaches whom.
    pub twins: Option<Schedule>,
    /// Where one process dies.
    pub crash_point: Option<CrashPoint>,
    /// What else happens, and when.
    pub orders: Vec<(Duration, Order)>,
    /// How many acts players submit, and within which time.
    pub acts: (u64, Duration),
    /// After how many turns servers write their state down.
    pub snapshot_every: Option<u64>,
    /// Rules that servers break.
    pub controls: Controls,
}

impl Scenario {
    /// Four honest servers in a calm world, 20 ms apart.
    #[must_use]
    pub fn new(name: &'static str, seed: u64) -> Self {
        let real = seed % REAL_SIGNATURES_EVERY == REAL_SIGNATURES_EVERY - 1;
        Self {
            name,
            seed,
            founders: 4,
            seats: 4,
            conditions: Conditions::calm(20),
            patience: Patience::default(),
            turn_length: 1,
            scheme: if real {
                Scheme::Ed25519
            } else {
                Scheme::StandIn
            },
            liars: Vec::new(),
            ambush: None,
            twins: None,
            crash_point: None,
            orders: Vec::new(),
            acts: (60, Duration::from_secs(2)),
            snapshot_every: None,
            controls: Controls::default(),
        }
    }

    /// The same with other conditions.
    #[must_use]
    pub fn under(mut self, conditions: Conditions) -> Self {
        self.conditions = conditions;
        self
    }

    /// A world with two copies of one server, and the `number`-th schedule.
    #[must_use]
    pub fn twins(number: u64) -> Self {
        let schedule = Schedule::numbered(number);
        Self {
            seats: TWIN_SEATS,
            founders: TWIN_NAMES,
            twins: Some(schedule),
            ..Self::new("twins", number)
        }
    }

    /// Adds crashes of all founders at random moments of the first `span`, and power losses of all
    /// at once.
    #[must_use]
    pub fn with_storm(mut self, span: Duration, crashes: u32, power_losses: u32) -> Self {
        let mut dice = Dice::new(self.seed, "storm");
        let span = u64::try_from(span.as_nanos()).expect("a run is short");
        let tails = [Tail::Lost, Tail::Torn, Tail::Torn, Tail::Kept];
        let at = |dice: &mut Dice| Duration::from_nanos(dice.below(span));
        for _ in 0..crashes {
            let (seat, tail) = (dice.index(self.founders), dice.pick(&tails));
            let down = Duration::from_millis(dice.below(200));
            self.orders
                .push((at(&mut dice), Order::Crash { seat, tail, down }));
        }
        for _ in 0..power_losses {
            let tail = dice.pick(&[Tail::Lost, Tail::Torn, Tail::Torn]);
            let down = Duration::from_millis(dice.below(50));
            let stagger = Duration::from_millis(dice.below(30));
            self.orders.push((
                at(&mut dice),
                Order::PowerLoss {
                    tail,
                    down,
                    stagger,
                },
            ));
        }
        self
    }

    fn setting(&self) -> Setting {
        let mut setting = Setting::new(self.scheme, self.founders, self.seats);
        setting.patience = self.patience;
        setting.turn_length = self.turn_length;
        setting.snapshot_every = self.snapshot_every;
        setting.controls = self.controls;
        if let Some(schedule) = &self.twins {
            setting.keys[TWIN_NAMES] = Arc::clone(&setting.keys[schedule.twin]);
            let leaders = schedule
                .leaders
                .iter()
                .map(|seat| setting.name(*seat))
                .collect();
            setting.leaders = Some(leaders);
        }
        setting
    }

    /// Puts the founders (and a twin) into their seats.
    #[must_use]
    pub fn stage(&self) -> Stage {
        self.stage_with(false)
    }

    /// The same, with a trace that people can read.
    #[must_use]
    pub fn stage_with(&self, written: bool) -> Stage {
        let setting = Arc::new(self.setting());
        let mut servers = Servers::new(Arc::clone(&setting), &self.liars);
        servers.ambush = self.ambush.clone();
        servers.schedule = self.twins.clone();
        let mut conditions = self.conditions.clone();
        // One name in two places: who is told that it came or went would be told nonsense.
        conditions.notices &= self.twins.is_none();
        let mut world = World::new(servers, self.seats, self.seed, conditions, written);
        let running = if self.twins.is_some() {
            self.seats
        } else {
            self.founders
        };
        for seat in 0..running {
            world.plan(Duration::ZERO, Order::Start(seat));
        }
        for (at, order) in &self.orders {
            world.plan(*at, order.clone());
        }
        if let Some(point) = self.crash_point {
            world.crash_at(point);
        }
        let mut stage = Stage {
            scenario: self.clone(),
            setting,
            world,
            sequences: BTreeMap::new(),
        };
        stage.submit_acts();
        stage
    }

    /// Plays until every honest server that runs has decided `height`, then checks all logs.
    #[must_use]
    pub fn play(&self, height: u64, limit: Duration) -> Outcome {
        let mut stage = self.stage();
        stage.until_height(height, limit);
        stage.finish()
    }

    /// Plays `stormy` with all its trouble, then without, until the world went on for five turns.
    #[must_use]
    pub fn play_and_heal(&self, stormy: Duration, limit: Duration) -> Outcome {
        let mut stage = self.stage();
        stage.world.run_until(stormy);
        stage.heal();
        let height = stage.heights().into_iter().flatten().max().unwrap_or(0) + 5;
        stage.until_height(height, stormy + limit);
        stage.finish()
    }
}

/// A scenario that is being played.
#[derive(Debug)]
pub struct Stage {
    scenario: Scenario,
    setting: Arc<Setting>,
    /// The world it is played in.
    pub world: World<Servers>,
    sequences: BTreeMap<PublicKey, u64>,
}

impl Stage {
    fn submit_acts(&mut self) {
        let mut dice = Dice::new(self.scenario.seed, "workload");
        let (count, span) = self.scenario.acts;
        let nanos = u64::try_from(span.as_nanos()).expect("a run is short");
        for number in 0..count {
            let at = Duration::from_nanos(nanos / count.max(1) * number);
            let player = number % PLAYERS;
            let look = Look {
                color: number as u32,
                ..Look::default()
            };
            let act = self
                .setting
                .act(player, number + 1, Height(1_000), Act::SetLook(look));
            let seat = dice.index(self.scenario.founders);
            self.world.request(at, seat, act.clone());
            // A client that heard nothing asks another server with the same bytes.
            if dice.below(3) == 0 {
                let other = dice.index(self.scenario.founders);
                self.world
                    .request(at + Duration::from_millis(150), other, act);
            }
        }
    }

    /// Submits an act of a server, the admin or a player to every server that runs.
    pub fn submit_everywhere(&mut self, key: &dyn metatopia_types::Sign, act: Act) {
        let seq = self.sequences.entry(key.public()).or_insert(0);
        *seq += 1;
        // The last heights it may name, whatever the world's height is now.
        let top = self.heights().into_iter().flatten().max().unwrap_or(0);
        let act = self
            .setting
            .envelope(key, self.sequences[&key.public()], Height(top + 900), act);
        for seat in 0..self.world.seats() {
            self.world.request(self.world.now(), seat, act.clone());
        }
    }

    /// What the servers have in common.
    #[must_use]
    pub fn setting(&self) -> &Arc<Setting> {
        &self.setting
    }

    /// The last height each server has decided, where one runs.
    #[must_use]
    pub fn heights(&self) -> Vec<Option<u64>> {
        (0..self.world.seats())
            .map(|s| self.world.server(s).map(|x| x.height().0))
            .collect()
    }

    /// The server that is furthest.
    #[must_use]
    pub fn leader(&self) -> Option<usize> {
        let height = |seat: &usize| self.world.server(*seat).map(super::server::Server::height);
        (0..self.world.seats())
            .filter(|seat| self.world.cluster.oracle.is_honest(*seat) && height(seat).is_some())
            .max_by_key(height)
    }

    /// Plays until every honest server that runs or will start again has decided `height`. Being
    /// late is a fault.
    pub fn until_height(&mut self, height: u64, limit: Duration) -> bool {
        let done = self
            .world
            .run_while(limit, |world| !all_decided(world, height));
        if !done {
            let heights = self.heights();
            let what = || format!("heights {heights:?} where {height} was due");
            self.world.cluster.oracle.blame(None, Wrong::Stuck, what);
        }
        done
    }

    /// All trouble ends: faults of links and disks, partitions, ambushes, schedules.
    pub fn heal(&mut self) {
        self.world.cluster.ambush = None;
        self.world.cluster.schedule = None;
        self.world.heal();
    }

    /// A state for a joiner from the server in `from`, checked against what the joiner trusts.
    ///
    /// # Errors
    /// Why the joiner does not believe it.
    pub fn checked_start(
        &self,
        pack: &JoinPack,
        state: super::LedgerState,
        fresh_key: bool,
    ) -> Result<Start, JoinError> {
        let trust = Trust {
            height: Height(0),
            validators: self.setting.genesis_set(),
        };
        let checkpoint = pack.verify(self.setting.sim, &trust, &*self.setting.verifier)?;
        assert_eq!(
            state.root(),
            checkpoint.root,
            "the fetched state is not the proved one"
        );
        let set = |ahead| state.roster.set(state.height.plus(ahead)).cloned();
        let sets = [1, 2, 3].map(|ahead| set(ahead).expect("a roster knows three sets"));
        let base = checkpoint.base(sets)?;
        Ok(Start {
            base,
            state,
            fresh_key,
        })
    }

    /// The server in `seat` starts for the first time from what the furthest server proves.
    ///
    /// # Errors
    /// Why it does not believe it.
    pub fn join(&mut self, seat: usize, fresh_key: bool) -> Result<u64, JoinError> {
        let leader = self.leader().expect("somebody runs");
        let server = self.world.server(leader).expect("it runs");
        let (pack, state) = server.serve_join().expect("the world is a few turns old");
        let start = self.checked_start(&pack, state, fresh_key)?;
        let height = start.base.height.0;
        self.world.cluster.starts.insert(seat, start);
        self.world.plan(self.world.now(), Order::Start(seat));
        Ok(height)
    }

    /// Takes the disk of a server away, with all it remembers of what it signed.
    pub fn lose_disk(&mut self, seat: usize) {
        self.world.plan(self.world.now(), Order::Kill(seat));
        self.world.run_until(self.world.now());
        *self.world.disk_mut(seat) = metatopia_store::memory::MemoryDisk::new();
        self.world.cluster.oracle.forget_disk(seat);
    }

    /// Reads every log once more, lets the oracle look at them, and closes the books.
    #[must_use]
    pub fn finish(mut self) -> Outcome {
        let mut logs = BTreeMap::new();
        for seat in 0..self.world.seats() {
            if !self.world.cluster.oracle.is_honest(seat) || self.world.server(seat).is_none() {
                continue;
            }
            // Even if the power failed everywhere at this very moment.
            let mut disk = self.world.disk(seat).clone();
            disk.crash(metatopia_store::memory::Tail::Lost);
            let log = recover(&mut disk, self.setting.sim)
                .map_err(|e| e.to_string())
                .and_then(|recovered| Log::read(&recovered.writer, &disk));
            match log {
                Ok(log) => drop(logs.insert(seat, log.decisions)),
                Err(what) => self
                    .world
                    .cluster
                    .oracle
                    .blame(Some(seat), Wrong::Lost, || what),
            }
        }
        self.world.cluster.oracle.close(self.world.now(), &logs);
        let cluster = &self.world.cluster;
        Outcome {
            heights: self.heights(),
            crashes: self.world.crashes(),
            events: self.world.trace().events(),
            took: self.world.now(),
            faults: cluster.oracle.faults().to_vec(),
            evidence: cluster.oracle.evidence().clone(),
            decided: cluster.decided.clone(),
            proposed_again: cluster.proposed_again,
            nil_votes: cluster.nil_votes,
            acts: cluster
                .oracle
                .history()
                .turns()
                .map(|turn| turn.body.acts().len())
                .sum(),
            steps: (0..self.world.seats())
                .map(|seat| self.world.steps(seat))
                .collect(),
            digest: self.world.digest(),
            scenario: self.scenario,
        }
    }
}

fn all_decided(world: &World<Servers>, height: u64) -> bool {
    let founders = world.cluster.setting.founders;
    let counts = |seat: usize| world.cluster.oracle.is_honest(seat) && world.is_wanted(seat);
    let mut counted = 0;
    for seat in (0..world.seats()).filter(|seat| counts(*seat)) {
        counted += 1;
        if world
            .server(seat)
            .is_none_or(|server| server.height().0 < height)
        {
            return false;
        }
    }
    counted > founders / 3
}

/// What came out of a scenario.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What was played.
    pub scenario: Scenario,
    /// The last decided height of every server that runs.
    pub heights: Vec<Option<u64>>,
    /// Processes that died.
    pub crashes: u64,
    /// Events of the world.
    pub events: u64,
    /// Time of the world.
    pub took: Duration,
    /// What the oracle saw.
    pub faults: Vec<Fault>,
    /// How many pieces of evidence accuse whom.
    pub evidence: BTreeMap<PublicKey, u64>,
    /// Who told of which height when.
    pub decided: Vec<Decided>,
    /// Proposals of a turn that had a quorum of prevotes before.
    pub proposed_again: u64,
    /// Votes for nothing.
    pub nil_votes: u64,
    /// Acts in decided turns.
    pub acts: usize,
    /// What each server did.
    pub steps: Vec<Steps>,
    /// The same for every run of this scenario.
    pub digest: Digest,
}

impl Outcome {
    /// The highest decided height.
    #[must_use]
    pub fn height(&self) -> u64 {
        self.heights.iter().flatten().copied().max().unwrap_or(0)
    }

    /// Times between the decisions that one server told of, from a moment on.
    #[must_use]
    pub fn intervals(&self, seat: usize, from: Duration) -> Vec<Duration> {
        let told = self
            .decided
            .iter()
            .filter(|d| d.seat == seat && d.at >= from);
        let times: Vec<Duration> = told.map(|d| d.at).collect();
        times.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    /// Whether a kind of wrong was seen.
    #[must_use]
    pub fn shows(&self, wrong: Wrong) -> bool {
        self.faults.iter().any(|fault| fault.wrong == wrong)
    }

    /// Everything needed to play it again, and what was wrong.
    #[must_use]
    pub fn report(&self) -> String {
        let mut text = format!("{:#?}\n", self.scenario);
        let heights = &self.heights;
        writeln!(
            text,
            "{} seed {}: heights {heights:?}",
            self.scenario.name, self.scenario.seed
        )
        .expect("a string takes everything");
        for fault in &self.faults {
            writeln!(text, "  {fault}").expect("a string takes everything");
        }
        text
    }

    /// Nothing was wrong.
    ///
    /// # Panics
    /// With the seed, the options and the faults, if something was.
    #[track_caller]
    pub fn assert_sound(&self) {
        assert!(self.faults.is_empty(), "{}", self.report());
    }
}

/// The value that `percent` of a list are at most; the list need not be ordered.
#[must_use]
pub fn percentile(durations: &[Duration], percent: usize) -> Duration {
    let mut sorted = durations.to_vec();
    sorted.sort();
    let at = sorted.len().saturating_sub(1) * percent / 100;
    sorted.get(at).copied().unwrap_or_default()
}
