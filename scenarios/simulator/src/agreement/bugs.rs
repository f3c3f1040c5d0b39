//! The bug bank: servers that break one rule, and the law by which each must be found.
//!
//! A world that sees nothing wrong proves nothing unless it would have seen it. Each bug is one line
//! at the place where the rule is kept, switched on only here; each is found by its own law, within
//! a number of seeds, and the same worlds without the bug break no law.

mod whole;

use std::time::Duration;

use metatopia_consensus::AgreementControls;
use metatopia_oracle::{Law, Violation};
use metatopia_replica::Controls as ReplicaControls;
use metatopia_store::LogControls;

use super::ambush::Ambush;
use super::outcome::ScenarioOutcome;
use super::scenario::Scenario;
use super::stories::{SeedStory, after_votes, lie, power, stormy};
use super::workload::Swarm;
use crate::chance::{Dice, Span};
use crate::cluster::ClusterOrder;
use crate::course::Seed;
use crate::replica;
use crate::villain::ByzantineBehaviour;
use whole::{
    beside_a_greedy_server, on_a_clogged_plaza, on_a_crowded_plaza, on_a_poisoned_plaza,
    on_the_plaza,
};

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

/// How long the worlds of the swarm live in which a bug is looked for.
const SPAN: Duration = Duration::from_secs(40);

/// Where a bug is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BugSite {
    /// In the agreement that all servers run.
    Agreement,
    /// In the log on every server's disk.
    Log,
    /// In the sim that whole servers run.
    Sim,
    /// In what joins them in a server.
    Replica,
}

/// What is broken.
#[derive(Debug, Clone, Copy)]
enum Rule {
    Agreement(AgreementControls),
    Log(LogControls),
    Sim(replica::ControlsFn),
    Replica(ReplicaControls),
}

/// A rule that is broken.
#[derive(Debug, Clone, Copy)]
pub struct Bug {
    /// Its name, in words joined by `-`.
    pub name: &'static str,
    /// The law that it must be found by.
    pub law: Law,
    rule: Rule,
    play: fn(Seed, BrokenRules) -> WorldFindings,
}

/// What was seen in a world.
#[derive(Debug, Clone)]
pub struct WorldFindings {
    /// Which laws were broken.
    pub faults: Vec<Violation>,
    /// Who stopped for good, and why.
    pub halts: Vec<(usize, String)>,
}

impl WorldFindings {
    /// Returns whether this law was broken.
    #[must_use]
    pub fn shows(&self, law: Law) -> bool {
        self.faults.iter().any(|fault| fault.law == law)
    }
}

impl From<ScenarioOutcome> for WorldFindings {
    fn from(outcome: ScenarioOutcome) -> Self {
        Self { faults: outcome.faults, halts: outcome.halts }
    }
}

/// The rule that a world breaks; nothing in a clean world.
#[derive(Debug, Clone, Copy, Default)]
struct BrokenRules {
    controls: AgreementControls,
    log_controls: LogControls,
    sim: Option<replica::ControlsFn>,
    replica: ReplicaControls,
}

impl BrokenRules {
    fn in_scenario(self, mut scenario: Scenario) -> Scenario {
        (scenario.controls, scenario.log_controls) = (self.controls, self.log_controls);
        scenario
    }
}

impl Bug {
    /// Returns the part of the server in which the rule is broken.
    #[must_use]
    pub const fn site(&self) -> BugSite {
        match self.rule {
            Rule::Agreement(_) => BugSite::Agreement,
            Rule::Log(_) => BugSite::Log,
            Rule::Sim(_) => BugSite::Sim,
            Rule::Replica(_) => BugSite::Replica,
        }
    }

    /// Plays the world of a seed with the bug.
    #[must_use]
    pub fn play(&self, seed: Seed) -> WorldFindings {
        let clean = BrokenRules::default();
        let broken = match self.rule {
            Rule::Agreement(controls) => BrokenRules { controls, ..clean },
            Rule::Log(log_controls) => BrokenRules { log_controls, ..clean },
            Rule::Sim(sim) => BrokenRules { sim: Some(sim), ..clean },
            Rule::Replica(replica) => BrokenRules { replica, ..clean },
        };
        (self.play)(seed, broken)
    }

    /// Plays the same world without it.
    #[must_use]
    pub fn play_clean(&self, seed: Seed) -> WorldFindings {
        (self.play)(seed, BrokenRules::default())
    }

    /// Looks for it: in which of the first `budget` seeds its law is broken for the first time.
    #[must_use]
    pub fn find(&self, budget: u64) -> Option<u64> {
        (0..budget).find(|seed| self.play((*seed).into()).shows(self.law))
    }
}

/// A world in which the oracle must complain whatever the code is: else it is blind.
#[must_use]
pub fn canary() -> SeedStory {
    super::stories::story("canary")
}

macro_rules! agreement {
    ($($rule:ident),+) => {
        Rule::Agreement(AgreementControls { $($rule: true,)+ ..CLEAN })
    };
}

const CLEAN: AgreementControls = AgreementControls {
    no_barrier: false,
    turns_not_logged: false,
    eager_replay: false,
    no_index: false,
    no_promises: false,
    small_quorum: false,
    lock_ignored: false,
    lock_not_logged: false,
    votes_not_logged: false,
    early_receipts: false,
    no_help: false,
    stale_set: false,
    time_judged_again: false,
    timers_lost: false,
    evidence_ignored: false,
    parts_dropped: false,
    stays_silent: false,
};

const SOUND: ReplicaControls = ReplicaControls {
    crashes_are_final: false,
    nothing_is_put_back: false,
    lanes_unjudged: false,
    opens_all_lanes: false,
    tells_unheard: false,
};

const fn bug(
    name: &'static str,
    law: Law,
    rule: Rule,
    play: fn(Seed, BrokenRules) -> WorldFindings,
) -> Bug {
    Bug { name, law, rule, play }
}

/// All bugs of this level.
pub const BUGS: &[Bug] = &[
    bug("quorum-too-small", Law::Certificate, agreement!(small_quorum), in_storm),
    bug("lock-ignored", Law::Lock, agreement!(lock_ignored), in_ambush),
    bug("lock-not-persisted", Law::Lock, agreement!(lock_not_logged), in_deadly_ambush),
    bug("vote-not-persisted", Law::NotDurable, agreement!(votes_not_logged), in_storm),
    bug("send-before-sync", Law::NotDurable, agreement!(no_barrier), in_storm),
    bug(
        "turn-not-persisted-before-prevote",
        Law::UnseenTurn,
        agreement!(turns_not_logged),
        in_storm,
    ),
    bug(
        "log-tail-accepted-unchecked",
        Law::Damage,
        Rule::Log(LogControls { tail_unchecked: true }),
        in_swarm,
    ),
    bug("certificate-not-served-to-laggards", Law::LateTurn, agreement!(no_help), in_swarm),
    bug("lane-window-off-by-one", Law::Twice, Rule::Sim(whole::lane_off_by_one), on_the_plaza),
    bug(
        "hash-over-unordered-data",
        Law::Root,
        Rule::Sim(whole::outcomes_in_a_hash_table),
        on_the_plaza,
    ),
    bug("limit-per-server", Law::Order, Rule::Sim(whole::gas_of_its_own), on_the_plaza),
    bug("merged-in-arrival-order", Law::Order, Rule::Sim(whole::merged_as_it_came), on_the_plaza),
    bug("snapshot-leaf-missing", Law::Restored, Rule::Sim(whole::leaf_missing), on_the_plaza),
    bug("stale-validator-set", Law::Certificate, agreement!(stale_set), in_swarm),
    bug(
        "time-checked-on-a-re-proposal",
        Law::Stuck,
        agreement!(time_judged_again),
        with_a_slow_clock,
    ),
    bug(
        "rotation-from-a-certificates-round",
        Law::Root,
        Rule::Sim(whole::certified_in),
        on_a_clogged_plaza,
    ),
    bug("receipt-before-durability", Law::NotDurable, agreement!(early_receipts), in_storm),
    bug("restored-timers-lost", Law::Stuck, agreement!(timers_lost), after_power_losses),
    bug(
        "apply-not-total",
        Law::LateAct,
        Rule::Replica(ReplicaControls { crashes_are_final: true, ..SOUND }),
        on_a_poisoned_plaza,
    ),
    bug(
        "seats-not-reserved",
        Law::Reserved,
        Rule::Sim(whole::no_reserved_seats),
        on_a_crowded_plaza,
    ),
    bug(
        "lanes-reserved-by-honest-pools-only",
        Law::Reserved,
        Rule::Replica(ReplicaControls { lanes_unjudged: true, ..SOUND }),
        beside_a_greedy_server,
    ),
    bug("evidence-ignored", Law::Impunity, agreement!(evidence_ignored), with_two_turns),
];

/// Crashes, lost frames, power losses.
fn in_storm(seed: Seed, broken: BrokenRules) -> WorldFindings {
    broken.in_scenario(stormy("a bug in a storm", seed)).play_and_heal(2 * SECOND, MINUTE).into()
}

/// The world of the swarm.
fn in_swarm(seed: Seed, broken: BrokenRules) -> WorldFindings {
    let BrokenRules { controls, log_controls, .. } = broken;
    Swarm { controls, log_controls, ..Swarm::new(seed, SPAN) }.play().outcome.into()
}

/// The scenario in which some servers are locked, again and again, on a turn of which the others saw no
/// quorum.
fn ambushed(seed: Seed) -> Scenario {
    let mut dice = Dice::new(seed.number, "ambush for a bug");
    let mut scenario = Scenario::new("a bug in an ambush", seed);
    scenario.conditions.links.delay = Span::ms(1, 20);
    let cut_for = dice.within(Span::ms(10, 600));
    scenario.ambush = Some(Ambush::new(3..=30, vec![0, 1], 3, cut_for).in_rounds(2));
    scenario
}

fn in_ambush(seed: Seed, broken: BrokenRules) -> WorldFindings {
    let mut stage = broken.in_scenario(ambushed(seed)).stage();
    stage.run_to_top(30, 12 * SECOND);
    stage.heal();
    stage.go_on(5, MINUTE);
    stage.finish().into()
}

/// The same, with servers that die right after a vote.
fn in_deadly_ambush(seed: Seed, broken: BrokenRules) -> WorldFindings {
    let mut scenario = broken.in_scenario(ambushed(seed));
    scenario.dies_after_vote_ppm = after_votes("a bug", seed).dies_after_vote_ppm * 5;
    let mut stage = scenario.stage();
    stage.run_to_top(30, 12 * SECOND);
    stage.heal();
    stage.go_on(5, MINUTE);
    stage.finish().into()
}

/// Plays a world in which one clock is an hour behind, two servers are locked on a turn, and the fourth dies
/// and stays away. So the server with the slow clock must take the turn when it is proposed again.
fn with_a_slow_clock(seed: Seed, broken: BrokenRules) -> WorldFindings {
    let mut scenario = broken.in_scenario(Scenario::new("a bug and a slow clock", seed));
    scenario.turn_length = 50;
    scenario.no_demotion = true;
    scenario.conditions.links.delay = Span::ms(1, 10);
    scenario.orders = vec![(Duration::ZERO, ClusterOrder::SetClock(3, -3_600_000))];
    let first = 4 + seed.number % 20;
    let ambush = Ambush::new(first..=first + 20, vec![0, 1], 3, Duration::from_millis(100));
    scenario.ambush = Some(ambush);
    let mut stage = scenario.stage();
    let sprung = |ambush: &Option<Ambush>| ambush.as_ref().is_some_and(|a| a.sprung() > 0);
    stage.world.run_while(20 * SECOND, |world| !sprung(&world.cluster.ambush));
    stage.world.plan(stage.world.now(), ClusterOrder::Kill(2));
    let later = stage.world.now() + Duration::from_millis(200);
    stage.world.run_until(later);
    stage.heal();
    stage.go_on(5, MINUTE);
    stage.finish().into()
}

/// Plays a world in which all servers lose power at once, again and again.
fn after_power_losses(seed: Seed, broken: BrokenRules) -> WorldFindings {
    broken.in_scenario(power(seed)).play_and_heal(4 * SECOND, MINUTE).into()
}

/// A liar proposes two turns, and votes for both.
fn with_two_turns(seed: Seed, broken: BrokenRules) -> WorldFindings {
    broken
        .in_scenario(lie("a bug and a liar", seed, ByzantineBehaviour::TwoTurns))
        .play(200, MINUTE)
        .into()
}
