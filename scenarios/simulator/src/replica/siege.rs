//! A siege: one server of four wears the others out, within what the rules let it do, and people come
//! and go all the while. The same seed without the siege says how long their acts take otherwise.

mod probe;
mod villainy;

use std::time::Duration;

use metatopia_protocol::{Answer, Question};
use metatopia_scenarios::plaza;
use metatopia_types::{Certificate, Header, Height};

use super::partings::scheme;
use super::place_setting::{ReplicaSetting, Rogue};
use super::visit::ReplicaStage;
use crate::chance::Span;
use crate::conditions::Conditions;
use probe::Probes;
use villainy::Villainy;

/// The server that lies.
const LIAR: usize = 3;

/// Those that do not.
const HONEST: [usize; 3] = [0, 1, 2];

/// Avatars that have room: what is measured is turns, and bodies cost time.
const AVATARS: u32 = 32;

/// Lanes that are open when lanes are besieged, a quarter of them by turns of the liar: it may open some
/// 1,700 more, and a proposer that might open more could take all that strangers may have in 11 s.
const OPEN_LANES: usize = 26_000;

/// The liar does something so often: twice in a turn.
const STEP: Duration = Duration::from_millis(25);

/// Between two visits of honest people.
const VISITS: Duration = Duration::from_millis(300);

/// Before the liar begins and people are measured, and after the last of them came.
const BEGIN: Duration = Duration::from_millis(1_000);

/// What the liar wants to use up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Siege {
    /// All lanes: each of its turns opens as many as it may.
    Lanes,
    /// What servers remember of invites: it signs them without end, and has each redeemed everywhere.
    Invites,
    /// Turns: it fills its own to the limit, and asks for decided ones without end.
    Turns,
}

/// What came of a siege.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Besieged {
    /// The most turns that honest acts took from when the first honest server had them, by who acted:
    /// strangers who logged in for the first time, players in new lanes, and stewards.
    pub waits: [u64; 3],
    /// The most turns that a node with an honest invite waited for its answer.
    pub joined: u64,
    /// Acts, and questions of nodes, that were measured.
    pub visits: u64,
    /// Acts in the liar's own turns.
    pub own_acts: u64,
    /// Nodes that were let in by the liar's invites, or questions that it asked.
    pub spent: u64,
    /// Turns that were decided.
    pub turns: u64,
    /// Honest acts and nodes that were refused.
    pub refused: u64,
    /// Laws that were broken.
    pub faults: Vec<String>,
}

impl Besieged {
    /// Returns how many turns later than in the same world without a siege honest people got what they
    /// wanted, at worst.
    #[must_use]
    pub fn later_than(&self, alone: &Self) -> u64 {
        let waits = self.waits.iter().chain([&self.joined]);
        let pairs = waits.zip(alone.waits.iter().chain([&alone.joined]));
        pairs.map(|(beside, alone)| beside.saturating_sub(*alone)).max().unwrap_or(0)
    }
}

/// A decided header that names the validators of genesis, with its certificate.
pub(super) type CertifiedHeader = (Header, Certificate);

/// Asks an honest server for one of the first turns.
fn checkpoint(stage: &mut ReplicaStage) -> CertifiedHeader {
    let height = Height(stage.world.top().saturating_sub(2).max(1));
    match stage.ask(HONEST[0], Question::Turn { height }) {
        Some(Answer::Turn(turn)) => (turn.0.header, turn.1),
        other => panic!("a server that runs knows the turn of {height}: {other:?}"),
    }
}

impl Siege {
    /// Plays it for some time of the world; without the liar's doings if it is not `on`.
    ///
    /// # Panics
    /// Never: the plaza is part of the program, and its servers run.
    #[must_use]
    pub fn play(self, seed: u64, time: Duration, on: bool) -> Besieged {
        let place = plaza::place();
        let mut setting = ReplicaSetting::narrow(&place, scheme(seed), (4, 4), seed, AVATARS);
        setting.own.rogue = Some(Rogue { seat: LIAR, opens_all_lanes: false });
        if self == Self::Lanes {
            setting.open_lanes(OPEN_LANES);
        }
        let mut conditions = Conditions::calm(0);
        conditions.links.delay = Span::ms(1, 20);
        let mut stage = ReplicaStage::new(setting, conditions);
        stage.run_until(BEGIN);
        let mut probes = Probes::new(&mut stage, HONEST);
        stage.run_for(BEGIN);
        let mut villainy = Villainy::new(self, &mut stage, (LIAR, HONEST));
        let (begun, mut next) = (stage.world.top(), stage.world.now());
        let end = next + time;
        while stage.world.now() < end {
            if on {
                villainy.step(&mut stage);
            }
            if stage.world.now() >= next {
                probes.visit(&mut stage);
                next += VISITS;
            }
            stage.run_for(STEP);
            probes.look(&mut stage);
        }
        stage.run_for(BEGIN);
        probes.look(&mut stage);
        let turns = stage.world.top() - begun;
        let (liar, history) =
            (stage.setting().name(LIAR), stage.world.cluster.oracle.laws.history());
        let own = history.turns().filter(|turn| turn.header.proposer == liar);
        let own_acts = own.map(|turn| turn.body.acts().len() as u64).sum();
        let spent = villainy.spent();
        let faults = stage.world.cluster.oracle.faults().iter().map(ToString::to_string).collect();
        let probe::Waits { waits, joined, visits, refused } = probes.measured(&stage);
        Besieged { waits, joined, visits, own_acts, spent, turns, refused, faults }
    }
}
