//! Plays two sims side by side, slice by slice, and says what came of it.

mod admin;
mod ambush;
mod bans;
mod lies;
mod road;
mod setup;
mod silence;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use metatopia_sim::World;
use metatopia_store::memory::MemoryDisk;
use metatopia_types::{Act, Build, Digest, ObjectId, SimId};

use self::admin::AdminWishes;
use self::ambush::StepAmbush;
use self::bans::AdminBans;
use self::lies::ToldLies;
pub use self::road::RoadCounts;
use self::road::RoadEvent;
use self::silence::Silence;
use super::counts::CrossingCounts;
use super::courier::VirtualCourier;
use super::ledger::{BothStates, TripLedger, is_quiet};
use super::plan::{BorderTrouble, CrossingClass, CrossingPlan, DispatchRoad};
use super::walker::BorderWalker;
use super::{SIMS, ground};
use crate::agenda::Agenda;
use crate::chance::Dice;
use crate::cluster::ClusterOrder;
use crate::replica::ReplicaStage;

/// Both sims are played for so long, one after the other. Whatever goes from one to the other takes longer.
const SLICE: Duration = Duration::from_millis(2);

/// The time between two thoughts of people.
const THINK: Duration = Duration::from_millis(200);

/// The time between two acts of an admin, so that a lease goes on.
const ADMIN: Duration = Duration::from_secs(5);

/// When all faults are over, everything has to be over within this time: the deadline of a departure is 10 s, in which
/// the longest pause of a courier passes as well, each of two dispatches may wait for a question that stands for 1 s
/// and for a silent node for 3 s, a stale node is left after 5 s, and servers that were away catch up.
const SETTLE: Duration = Duration::from_secs(25);

/// People stop walking in this time.
const STOP: Duration = Duration::from_secs(2);

/// In this time every server catches up in the end.
const PATIENCE: Duration = Duration::from_secs(60);

/// What came of a seed.
#[derive(Debug, Clone)]
pub struct CrossingReport {
    /// The seed that was played.
    pub seed: u64,
    /// Whether anything was to go wrong.
    pub class: CrossingClass,
    /// What crossed, and how.
    pub counts: CrossingCounts,
    /// What happened to dispatches.
    pub road: RoadCounts,
    /// Dispatches that counted for nothing at the servers to which they were brought.
    pub unheard: u64,
    /// Acts in decided turns that told what a neighbour never said.
    pub unheard_acts: u64,
    /// Processes that died.
    pub crashes: u64,
    /// The last height of each sim.
    pub heights: [u64; 2],
    /// How long after the end of the faults something was under way or pinned.
    pub settled: Duration,
    /// The time that the world lived.
    pub took: Duration,
    /// Which laws were broken.
    pub breaches: Vec<String>,
    /// The same for every run of this seed.
    pub digest: Digest,
}

/// See the module.
struct CrossingRun {
    plan: CrossingPlan,
    now: Duration,
    stages: [ReplicaStage; 2],
    ids: [SimId; 2],
    /// The furthest state of each sim that was seen.
    states: BothStates,
    couriers: [Vec<VirtualCourier>; 2],
    /// What is under way between the sims.
    road: Agenda<RoadEvent>,
    conditions: DispatchRoad,
    road_dice: Dice,
    road_counts: RoadCounts,
    /// What all servers of a sim say that is not so.
    lies: ToldLies,
    /// What each sim said first to a courier, for its liar to say again.
    first_said: [Option<Vec<u8>>; 2],
    /// Which courier put which question.
    asked: BTreeMap<u64, (usize, usize)>,
    next_token: u64,
    /// How much later each sim is told what the neighbour says.
    held_up: [Duration; 2],
    /// Servers that do not reach the neighbour, by sim and seat.
    cut_off: BTreeSet<(usize, usize)>,
    troubles: VecDeque<(Duration, usize, BorderTrouble)>,
    walkers: Vec<BorderWalker>,
    walker_dice: Dice,
    thinks_at: Duration,
    admin_at: Duration,
    admin: AdminWishes,
    bans: AdminBans,
    /// A day on which the sims do not reach each other.
    silence: Option<Silence>,
    /// A crash that waits for a step of a crossing.
    ambush: Option<StepAmbush>,
    ledger: TripLedger,
    copies: [Vec<MemoryDisk>; 2],
}

/// Plays what a seed stands for.
#[must_use]
pub fn play_crossing(plan: &CrossingPlan) -> CrossingReport {
    let mut run = CrossingRun::new(plan.clone());
    if let Err(why) = run.set_up() {
        run.ledger.blame(run.now, &why);
        return run.leave();
    }
    let end = run.begin() + plan.life;
    // After the first law that a bug breaks nothing more is learnt.
    while run.now < end && (plan.broken.is_none() || run.ledger.breaches.is_empty()) {
        run.slice(true);
    }
    if plan.is_control() { run.leave() } else { run.finish() }
}

impl CrossingRun {
    fn new(plan: CrossingPlan) -> Self {
        let settings = SIMS.map(|sim| ground::setting(&plan, sim));
        let ids = [settings[0].sim, settings[1].sim];
        let states = [settings[0].beginning(), settings[1].beginning()];
        let mut settings = settings.into_iter();
        let stages = SIMS.map(|sim| {
            let setting = settings.next().expect("two settings");
            ReplicaStage::new(setting, plan.conditions[sim].clone())
        });
        let couriers = SIMS.map(|_| (0..plan.seats()).map(VirtualCourier::new).collect());
        Self {
            now: Duration::ZERO,
            stages,
            ids,
            couriers,
            road: Agenda::default(),
            conditions: plan.road,
            road_dice: Dice::new(plan.seed, "road"),
            road_counts: RoadCounts::default(),
            lies: ToldLies::default(),
            first_said: [None, None],
            asked: BTreeMap::new(),
            next_token: 1,
            held_up: [Duration::ZERO; 2],
            cut_off: BTreeSet::new(),
            troubles: VecDeque::new(),
            walkers: Vec::new(),
            walker_dice: Dice::new(plan.seed, "walkers"),
            thinks_at: Duration::ZERO,
            admin_at: Duration::ZERO,
            admin: AdminWishes::new(plan.seed),
            bans: AdminBans::default(),
            silence: None,
            ambush: None,
            ledger: TripLedger::new(&states),
            states,
            copies: [Vec::new(), Vec::new()],
            plan,
        }
    }

    /// Begins what is planned for the sims. Returns this moment.
    fn begin(&mut self) -> Duration {
        let began = self.now;
        self.ambush = self.plan.is_ambushed.then(|| StepAmbush::new(self.plan.seed));
        let planned = self.plan.troubles.iter().cloned();
        self.troubles = planned.map(|(after, sim, one)| (began + after, sim, one)).collect();
        began
    }

    /// Plays both sims for a slice. People walk, or stand still.
    fn slice(&mut self, walks: bool) {
        self.now += SLICE;
        while let Some((_, event)) = self.road.take(self.now) {
            self.arrive(event);
        }
        while self.troubles.front().is_some_and(|(at, ..)| *at <= self.now) {
            let (_, sim, trouble) = self.troubles.pop_front().expect("there is one");
            self.befall(sim, trouble);
        }
        for stage in &mut self.stages {
            stage.run_until(self.now);
        }
        self.look();
        self.carry();
        self.administer();
        if self.now >= self.thinks_at {
            self.thinks_at = self.now + THINK;
            self.think(walks);
        }
    }

    /// Looks at the furthest state of each sim, if it is new.
    fn look(&mut self) {
        let mut is_new = false;
        for sim in SIMS {
            let world = &self.stages[sim].world;
            let servers = world.honest().filter_map(|seat| world.server(seat));
            let states = servers.filter_map(|server| server.replica().world());
            if let Some(furthest) = states.max_by_key(|state| state.height())
                && furthest.height() > self.states[sim].height()
            {
                self.states[sim] = furthest.clone();
                is_new = true;
            }
        }
        if is_new {
            let steps = self.ledger.look(self.now, &self.states);
            self.spring(&steps);
            self.ban_comers();
        }
    }

    fn think(&mut self, walks: bool) {
        for walker in &mut self.walkers {
            if walks {
                let known = (&self.states, &self.ids);
                walker.go_on(self.now, &mut self.stages, known, &mut self.walker_dice);
            } else {
                walker.stand(self.now, &mut self.stages, &self.states);
            }
        }
        if self.now >= self.admin_at {
            self.admin_at = self.now + ADMIN;
            SIMS.into_iter().for_each(|sim| self.order(sim, Act::Heartbeat));
        }
    }

    /// Lets everything travel that can be pushed, or nothing.
    fn let_travel(&mut self, travels: bool) {
        for sim in SIMS {
            let things = self.states[sim].objects();
            let things = things.filter(|seen| seen.player.is_none() && seen.movable);
            let things: Vec<ObjectId> =
                things.filter(|seen| seen.travels != travels).map(|seen| seen.id).collect();
            for object in things {
                self.order(sim, Act::Build(Build::LetTravel { object, travels }));
            }
        }
    }

    fn befall(&mut self, sim: usize, trouble: BorderTrouble) {
        match trouble {
            BorderTrouble::Order(order) => self.stages[sim].world.plan(self.now, order),
            BorderTrouble::CutOff(seat) => drop(self.cut_off.insert((sim, seat))),
            BorderTrouble::Reach(seat) => drop(self.cut_off.remove(&(sim, seat))),
            BorderTrouble::Close => self.admin.closed[sim] = true,
            BorderTrouble::Open => self.admin.closed[sim] = false,
            BorderTrouble::Ban => self.bans.wanted[sim] = true,
            BorderTrouble::Rotate => self.rotate(sim),
            BorderTrouble::SilentDay(day) => self.fall_silent(sim, day),
            BorderTrouble::HoldUp(span) => self.held_up[sim] = span,
            BorderTrouble::Lie(lie) => self.plan_lie(sim, lie),
            BorderTrouble::Conceal => self.lies.conceals[sim] = true,
            BorderTrouble::Copy => {
                let world = &self.stages[sim].world;
                self.copies[sim] = (0..world.seats()).map(|seat| world.salvaged(seat)).collect();
            }
            BorderTrouble::RollBack => self.roll_back(sim),
        }
    }

    fn roll_back(&mut self, sim: usize) {
        let stage = &mut self.stages[sim];
        for seat in 0..self.copies[sim].len() {
            stage.world.plan(self.now, ClusterOrder::Kill(seat));
        }
        stage.run_until(self.now);
        for (seat, mut copy) in std::mem::take(&mut self.copies[sim]).into_iter().enumerate() {
            copy.forget_faults();
            *stage.world.disk_mut(seat) = copy;
            stage.world.plan(self.now, ClusterOrder::Start(seat));
        }
    }

    /// Ends all faults, lets everybody settle, and checks the laws.
    fn finish(mut self) -> CrossingReport {
        self.troubles.clear();
        self.cut_off.clear();
        self.held_up = [Duration::ZERO; 2];
        (self.ambush, self.silence) = (None, None);
        self.lies.plan_no_more();
        self.admin.closed = [false; 2];
        self.conditions = DispatchRoad::calm(self.conditions.delay);
        self.stop_rotating();
        self.stop_bans();
        for sim in SIMS {
            self.stages[sim].world.heal();
            self.start_members(sim);
        }
        let (began, limit) = (self.now, self.now + STOP + SETTLE);
        let (mut orders_at, mut settled) = (self.now, Duration::ZERO);
        let is_over = |run: &Self| is_quiet(&run.states) && run.is_everybody_in();
        while self.now < limit && !(self.now >= began + STOP && is_over(&self)) {
            if self.now >= orders_at {
                orders_at = self.now + Duration::from_millis(500);
                self.let_travel(false);
            }
            self.slice(false);
            if !is_quiet(&self.states) {
                settled = self.now - began;
            }
        }
        self.ledger.check_end(self.now, &self.states);
        // A change that was ordered before the end of the faults may have come about since.
        SIMS.into_iter().for_each(|sim| self.start_members(sim));
        let mut report = self.report(settled);
        let mut digests = Vec::new();
        for (sim, stage) in self.stages.into_iter().enumerate() {
            let account = stage.finish(PATIENCE);
            let name = ground::name(sim);
            report.breaches.extend(account.faults.iter().map(|fault| format!("{name}: {fault}")));
            digests.extend(account.digest.0);
        }
        report.digest = Digest::of("metatopia simulated crossing v1", &digests);
        report
    }

    /// Ends here and now, whatever is under way.
    fn leave(self) -> CrossingReport {
        self.report(Duration::ZERO)
    }

    fn report(&self, settled: Duration) -> CrossingReport {
        CrossingReport {
            seed: self.plan.seed,
            class: self.plan.class,
            counts: self.ledger.counts.clone(),
            road: self.road_counts,
            unheard: self.stages.iter().map(|stage| stage.world.cluster.unheard).sum(),
            unheard_acts: self.stages.iter().map(|stage| stage.world.cluster.unheard_acts.0).sum(),
            crashes: self.stages.iter().map(|stage| stage.world.crashes()).sum(),
            heights: SIMS.map(|sim| self.states[sim].height().0),
            settled,
            took: self.now,
            breaches: self.ledger.breaches.clone(),
            digest: Digest::ZERO,
        }
    }

    /// Plays on until something is so. Says what was waited for in vain.
    fn wait(&mut self, what: &str, is_so: impl Fn(&BothStates) -> bool) -> Result<(), String> {
        let limit = self.now + PATIENCE;
        while !is_so(&self.states) {
            if self.now >= limit {
                return Err(format!("in vain it was waited until {what}"));
            }
            self.slice(false);
        }
        Ok(())
    }
}

/// Says whether something holds for the states of both sims.
fn both(states: &BothStates, is_so: impl Fn(usize, &World) -> bool) -> bool {
    SIMS.into_iter().all(|sim| is_so(sim, &states[sim]))
}
