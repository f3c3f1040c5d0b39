//! Stories about servers whose states part, for tests that look into capsules and reports. Each plays
//! one seed. Other stories are files: [`Story`](crate::story::Story).

use std::time::Duration;

use metatopia_types::Height;

use super::account::Account;
use super::person::{Person, PersonProfile};
use super::place_setting::{Flip, ReplicaSetting};
use super::visit::ReplicaStage;
use crate::chance::{Dice, Span};
use crate::cluster::ClusterOrder;
use crate::conditions::Conditions;
use crate::crash::UnsyncedWrites;
use crate::signatures::SignatureKind;

/// One in so many seeds has real signatures.
const REAL_SIGNATURES_EVERY: u64 = 10;

/// How long a story may take to calm down.
const PATIENCE: Duration = Duration::from_secs(30);

const SECOND: Duration = Duration::from_secs(1);

/// Chooses real signatures for a small share of the seeds.
#[must_use]
pub const fn scheme(seed: u64) -> SignatureKind {
    if seed % REAL_SIGNATURES_EVERY == REAL_SIGNATURES_EVERY - 1 {
        SignatureKind::Ed25519
    } else {
        SignatureKind::StandIn
    }
}

/// Brings so many people, who are lively until a moment, to all servers in turn.
pub fn bring_people(stage: &mut ReplicaStage, people: u64, until: Duration) {
    let founders = stage.setting().founders;
    for number in 1..=people {
        let node = usize::try_from(number).unwrap_or(0) % founders;
        let manner = PersonProfile::lively(until);
        let person = Person::new(stage.setting(), number, node, manner);
        stage.invite(Duration::from_millis(70 * number), person);
    }
}

/// The seat of whoever proposes at the height under way, as running servers say.
#[must_use]
pub fn proposing(stage: &ReplicaStage) -> Option<usize> {
    let seats = 0..stage.world.seats();
    let mut said = seats.filter_map(|seat| stage.world.server(seat)?.status()?.proposer);
    let proposer = said.next_back()?;
    (0..stage.world.seats()).find(|seat| stage.setting().name(*seat) == proposer)
}

/// Brings people to all servers but one, who are lively until a moment.
fn bring_people_elsewhere(stage: &mut ReplicaStage, shunned: &[usize], until: Duration) {
    let seats: Vec<usize> =
        (0..stage.setting().founders).filter(|seat| !shunned.contains(seat)).collect();
    for (number, seat) in (1..=5).zip(seats.into_iter().cycle()) {
        let person = Person::new(stage.setting(), number, seat, PersonProfile::lively(until));
        stage.invite(Duration::from_millis(70 * number), person);
    }
}

/// The server whose memory is bad in [`flipped_bit`] and [`bad_memory`].
#[must_use]
pub fn forgetful(seed: u64) -> usize {
    Dice::new(seed, "forgetful").index(4)
}

/// A bit flips in one server's state. It finds out, heals, and votes again; later it dies, and reads
/// a log again that holds its wrong notes.
#[must_use]
pub fn flipped_bit(seed: u64) -> Account {
    let mut dice = Dice::new(seed, "flipped bit");
    let mut setting = ReplicaSetting::plaza(scheme(seed), seed);
    let seat = forgetful(seed);
    setting.own.snapshot_turns = 5 + dice.below(60);
    setting.own.flips = vec![Flip { seat, height: Height(30 + dice.below(60)), lasting: false }];
    let mut conditions = Conditions::calm(1 + dice.below(20));
    conditions.job = Span::ms(0, dice.below(10));
    let mut stage = ReplicaStage::new(setting, conditions);
    let until = 12 * SECOND;
    bring_people_elsewhere(&mut stage, &[seat], until);
    stage.run_until(8 * SECOND);
    let (tail, down) = (
        dice.pick(&[UnsyncedWrites::Lost, UnsyncedWrites::Torn, UnsyncedWrites::Kept]),
        SECOND / 2,
    );
    stage.world.plan(8 * SECOND, ClusterOrder::Crash { seat, tail, down });
    stage.run_until(until);
    stage.finish(PATIENCE)
}

/// Bits flip in one server's state again and again, four times within an hour.
#[must_use]
pub fn bad_memory(seed: u64) -> ReplicaStage {
    let mut setting = ReplicaSetting::plaza(scheme(seed), seed);
    let seat = forgetful(seed);
    let flip = |height| Flip { seat, height: Height(height), lasting: false };
    setting.own.flips = vec![flip(30), flip(70), flip(110), flip(150)];
    setting.own.snapshot_turns = 25;
    let mut stage = ReplicaStage::new(setting, Conditions::calm(10));
    let until = 12 * SECOND;
    bring_people_elsewhere(&mut stage, &[seat], until);
    stage.run_until(until);
    stage
}

/// Two of four servers come to another state than the other two: no root has a quorum. Either bits
/// flipped in both, or, if it is `lasting`, they run other rules.
#[must_use]
pub fn two_against_two(seed: u64, lasting: bool) -> ReplicaStage {
    let mut setting = ReplicaSetting::plaza(scheme(seed), seed);
    let height = Height(60);
    setting.own.flips = [1, 2].map(|seat| Flip { seat, height, lasting }).into();
    setting.own.snapshot_turns = 25;
    let mut stage = ReplicaStage::new(setting, Conditions::calm(10));
    let until = 14 * SECOND;
    bring_people_elsewhere(&mut stage, &[1, 2], until);
    stage.run_until(until);
    stage
}

/// The stage on which one server comes to a wrong state at a height however often it computes that state. No
/// state of its own leads to the right one.
#[must_use]
pub fn wrong_rules(seed: u64) -> ReplicaStage {
    let mut setting = ReplicaSetting::plaza(scheme(seed), seed);
    let seat = forgetful(seed);
    setting.own.flips = vec![Flip { seat, height: Height(60), lasting: true }];
    setting.own.snapshot_turns = 25;
    let mut stage = ReplicaStage::new(setting, Conditions::calm(10));
    let until = 14 * SECOND;
    bring_people_elsewhere(&mut stage, &[seat], until);
    stage.run_until(until);
    stage
}

/// The stage on which a server is away while the others decide some hundred turns. It comes back to find that
/// fetching a state is quicker than replaying. Its power fails again as soon as it votes.
#[must_use]
pub fn left_behind(seed: u64) -> ReplicaStage {
    let mut dice = Dice::new(seed, "left behind");
    let mut setting = ReplicaSetting::plaza(scheme(seed), seed);
    let seat = forgetful(seed);
    (setting.own.snapshot_turns, setting.own.behind_turns) = (20 + dice.below(30), 100);
    let mut stage = ReplicaStage::new(setting, Conditions::calm(1 + dice.below(20)));
    let until = 18 * SECOND;
    bring_people_elsewhere(&mut stage, &[seat], until);
    let tail = dice.pick(&[UnsyncedWrites::Lost, UnsyncedWrites::Torn, UnsyncedWrites::Kept]);
    let down = 9 * SECOND;
    stage.world.plan(2 * SECOND, ClusterOrder::Crash { seat, tail, down });
    let (tail, down) = (
        dice.pick(&[UnsyncedWrites::Lost, UnsyncedWrites::Torn, UnsyncedWrites::Kept]),
        SECOND / 2,
    );
    let again = 13 * SECOND + Duration::from_millis(dice.below(1_000));
    stage.world.plan(again, ClusterOrder::Crash { seat, tail, down });
    stage.run_until(until);
    stage
}
