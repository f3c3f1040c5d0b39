//! What happens in a world, as data.

use std::sync::Arc;
use std::time::Duration;

use metatopia_consensus::{AgreementControls, Patience};
use metatopia_store::LogControls;

use super::ambush::Ambush;
use super::ledger_setting::{AgreementSetting, Flaw, LedgerSetting, Unlogged};
use super::outcome::ScenarioOutcome;
use super::scenario_stage::AgreementStage;
use super::schedule::{Schedule, TWIN_NAMES, TWIN_SEATS};
use super::voters::AgreementServers;
use crate::chance::Dice;
use crate::cluster::ClusterOrder;
use crate::conditions::Conditions;
use crate::course::Seed;
use crate::crash::{CrashPoint, UnsyncedWrites};
use crate::signatures::SignatureKind;
use crate::villain::ByzantineBehaviour;
use crate::world::Simulator;

/// One in so many seeds has real signatures.
const REAL_SIGNATURES_EVERY: u64 = 20;

/// What happens in a world, and in which world. Two runs of one scenario are the same.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// What it is called.
    pub name: &'static str,
    /// What all dice are thrown from.
    pub seed: Seed,
    /// Servers that vote at genesis.
    pub founders: usize,
    /// All seats; those after the founders are empty to begin with.
    pub seats: usize,
    /// Voting power of the founders; 1 for those past the end.
    pub powers: Vec<u32>,
    /// What is wrong with the application of some servers.
    pub flaw: Option<Flaw>,
    /// Honest servers die so often, in parts per million, right after a vote left for one peer.
    pub dies_after_vote_ppm: u32,
    /// Links, disks and clocks.
    pub conditions: Conditions,
    /// How long servers wait.
    pub patience: Patience,
    /// Least milliseconds between two turns.
    pub turn_length: u64,
    /// The kind of signatures in it.
    pub scheme: SignatureKind,
    /// Who lies, and how.
    pub liars: Vec<(usize, ByzantineBehaviour)>,
    /// Everybody leads again and again, also who missed its turns.
    pub no_demotion: bool,
    /// A partition at the worst moment.
    pub ambush: Option<Ambush>,
    /// Seats that share the name of another seat, and which.
    pub copies: Vec<(usize, usize)>,
    /// Who leads and who reaches whom in which round.
    pub schedule: Option<Schedule>,
    /// Where one process dies.
    pub crash_point: Option<CrashPoint>,
    /// What else happens, and when.
    pub orders: Vec<(Duration, ClusterOrder)>,
    /// How many acts players submit, and within which time.
    pub acts: (u64, Duration),
    /// Are these acts so long that every turn with one comes in several parts?
    pub long_acts: bool,
    /// After how many turns servers write their state down.
    pub snapshot_every: Option<u64>,
    /// Rules that servers break.
    pub controls: AgreementControls,
    /// Rules that their logs break.
    pub log_controls: LogControls,
    /// What servers do not write down.
    pub unlogged: Option<Unlogged>,
}

impl Scenario {
    /// Four honest servers in a calm world, 20 ms apart.
    #[must_use]
    pub fn new(name: &'static str, seed: Seed) -> Self {
        let real = seed.number % REAL_SIGNATURES_EVERY == REAL_SIGNATURES_EVERY - 1;
        Self {
            name,
            seed,
            founders: 4,
            seats: 4,
            powers: Vec::new(),
            flaw: None,
            dies_after_vote_ppm: 0,
            conditions: Conditions::calm(20),
            patience: Patience::default(),
            turn_length: 1,
            scheme: if real { SignatureKind::Ed25519 } else { SignatureKind::StandIn },
            liars: Vec::new(),
            no_demotion: false,
            ambush: None,
            copies: Vec::new(),
            schedule: None,
            crash_point: None,
            orders: Vec::new(),
            acts: (60, Duration::from_secs(2)),
            long_acts: false,
            snapshot_every: None,
            controls: AgreementControls::default(),
            log_controls: LogControls::default(),
            unlogged: None,
        }
    }

    /// The same with other conditions.
    #[must_use]
    pub fn under(mut self, conditions: Conditions) -> Self {
        self.conditions = conditions;
        self
    }

    /// A world with two copies of one server, and the schedule of the seed's number.
    #[must_use]
    pub fn twins(seed: Seed) -> Self {
        let schedule = Schedule::numbered(seed.number);
        Self {
            seats: TWIN_SEATS,
            founders: TWIN_NAMES,
            copies: vec![(TWIN_NAMES, schedule.twin)],
            schedule: Some(schedule),
            ..Self::new("twins", seed)
        }
    }

    /// Adds crashes of all founders at random moments of the first `span`, and power losses of all
    /// at once.
    #[must_use]
    pub fn with_storm(mut self, span: Duration, crashes: u32, power_losses: u32) -> Self {
        let mut dice = Dice::new(self.seed.number, "storm");
        let span = u64::try_from(span.as_nanos()).expect("a run is short");
        let tails = [
            UnsyncedWrites::Lost,
            UnsyncedWrites::Torn,
            UnsyncedWrites::Torn,
            UnsyncedWrites::Kept,
        ];
        let at = |dice: &mut Dice| Duration::from_nanos(dice.below(span));
        for _ in 0..crashes {
            let (seat, tail) = (dice.index(self.founders), dice.pick(&tails));
            let down = Duration::from_millis(dice.below(200));
            self.orders.push((at(&mut dice), ClusterOrder::Crash { seat, tail, down }));
        }
        for _ in 0..power_losses {
            let tail =
                dice.pick(&[UnsyncedWrites::Lost, UnsyncedWrites::Torn, UnsyncedWrites::Torn]);
            let down = Duration::from_millis(dice.below(50));
            let stagger = Duration::from_millis(dice.below(30));
            self.orders.push((at(&mut dice), ClusterOrder::PowerLoss { tail, down, stagger }));
        }
        self
    }

    fn setting(&self) -> AgreementSetting {
        let mut setting = AgreementSetting::new(self.scheme, self.founders, self.seats);
        (setting.patience, setting.turn_length) = (self.patience, self.turn_length);
        setting.liars.clone_from(&self.liars);
        for (copy, original) in &self.copies {
            setting.copy_key(*copy, *original);
        }
        let names = |seats: &[usize]| seats.iter().map(|seat| setting.name(*seat)).collect();
        let everybody: Vec<usize> = (0..self.founders).collect();
        let again_and_again = self.no_demotion.then_some(&everybody);
        let leaders = self.schedule.as_ref().map(|schedule| &schedule.leaders);
        setting.own = LedgerSetting {
            powers: self.powers.clone(),
            flaw: self.flaw,
            controls: self.controls,
            log_controls: self.log_controls,
            unlogged: self.unlogged,
            leaders: leaders.or(again_and_again).map(|seats| names(seats)),
            snapshot_every: self.snapshot_every,
        };
        setting
    }

    /// Puts the founders and all copies into their seats.
    #[must_use]
    pub fn stage(&self) -> AgreementStage {
        let setting = Arc::new(self.setting());
        let mut servers = AgreementServers::new(Arc::clone(&setting));
        servers.ambush = self.ambush.clone();
        servers.schedule = self.schedule.clone();
        if self.dies_after_vote_ppm > 0 {
            let dice = Dice::new(self.seed.number, "deaths after votes");
            servers.skittish = Some((dice, self.dies_after_vote_ppm));
        }
        let mut conditions = self.conditions.clone();
        // One name in two places: who is told that it came or went would be told nonsense.
        conditions.notices &= self.copies.is_empty();
        let mut world =
            Simulator::new(servers, self.seats, self.seed.number, conditions, self.seed.written);
        let copies = self.copies.iter().map(|(copy, _)| *copy);
        for seat in (0..self.founders).chain(copies) {
            world.plan(Duration::ZERO, ClusterOrder::Start(seat));
        }
        for (at, order) in &self.orders {
            world.plan(*at, order.clone());
        }
        if let Some(point) = self.crash_point {
            world.crash_at(point);
        }
        AgreementStage::new(self.clone(), setting, world)
    }

    /// Plays until every honest server that runs has decided `height`, then checks all logs.
    #[must_use]
    pub fn play(&self, height: u64, limit: Duration) -> ScenarioOutcome {
        let mut stage = self.stage();
        stage.until_height(height, limit);
        stage.finish()
    }

    /// Plays `stormy` with all its trouble, then without, until the world went on for five turns.
    #[must_use]
    pub fn play_and_heal(&self, stormy: Duration, limit: Duration) -> ScenarioOutcome {
        let last = self.orders.iter().map(|(at, _)| *at).max().unwrap_or_default();
        assert!(last <= stormy, "trouble at {last:?} would come after the world is healed");
        let mut stage = self.stage();
        stage.world.run_until(stormy);
        stage.heal();
        stage.go_on(5, limit);
        stage.finish()
    }
}
