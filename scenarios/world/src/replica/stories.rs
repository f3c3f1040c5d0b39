//! Stories about whole servers. Each plays one seed to its end; tests play a few seeds of each, and
//! `cargo run -p metatopia-world --example vopr` as many as you like.

use std::time::Duration;

use metatopia_scenarios::plaza;
use metatopia_types::{Act, Emote, Height};

use super::person::{Manner, Person};
use super::setting::{Flip, Setting, Slow};
use super::stage::{Account, Stage};
use crate::agreement::Scheme;
use crate::chance::{Dice, Span};
use crate::cluster::Order;
use crate::conditions::Conditions;
use crate::crash::Tail;

/// One in so many seeds has real signatures.
const REAL_SIGNATURES_EVERY: u64 = 10;

/// How long a story may take to calm down.
const PATIENCE: Duration = Duration::from_secs(30);

const SECOND: Duration = Duration::from_secs(1);

/// Real signatures for a small share of the seeds.
#[must_use]
pub const fn scheme(seed: u64) -> Scheme {
    if seed % REAL_SIGNATURES_EVERY == REAL_SIGNATURES_EVERY - 1 {
        Scheme::Ed25519
    } else {
        Scheme::StandIn
    }
}

/// Brings so many people, who are lively until a moment, to all servers in turn.
pub fn bring_people(stage: &mut Stage, people: u64, until: Duration) {
    let founders = stage.setting().founders;
    for number in 1..=people {
        let node = usize::try_from(number).unwrap_or(0) % founders;
        let manner = Manner::lively(until);
        let person = Person::new(stage.setting(), number, node, manner);
        stage.invite(Duration::from_millis(70 * number), person);
    }
}

/// Nothing goes wrong.
#[must_use]
pub fn visit(seed: u64) -> Account {
    let mut stage = Stage::new(Setting::plaza(scheme(seed), seed), Conditions::calm(20));
    bring_people(&mut stage, 8, 8 * SECOND);
    stage.run_until(8 * SECOND);
    stage.finish(PATIENCE)
}

/// Processes die all the time, often all of them at once, and start again from snapshots made every
/// few turns.
#[must_use]
pub fn storm(seed: u64) -> Account {
    let mut dice = Dice::new(seed, "storm of replicas");
    let mut setting = Setting::plaza(scheme(seed), seed);
    setting.snapshot_turns = 5 + dice.below(40);
    let mut conditions = Conditions::calm(0);
    conditions.links.delay = Span::ms(1, 2 + dice.below(40));
    conditions.links.straggler_ppm = dice.pick(&[0, 0, 5_000]);
    conditions.sync = Span::ms(0, dice.below(12));
    conditions.job = Span::ms(0, dice.below(30));
    conditions.sync_error_ppm = dice.pick(&[0, 0, 200]);
    let clock = |dice: &mut Dice| (dice.below(800) as i64 - 400, dice.below(2_000) as i32 - 1_000);
    conditions.clocks = (0..setting.founders).map(|_| clock(&mut dice)).collect();
    let mut stage = Stage::new(setting, conditions);
    let stormy = 12 * SECOND;
    bring_people(&mut stage, 6, stormy);
    if dice.below(2) == 0 {
        for person in &mut stage.people {
            person.manner.pace = Span::ms(20, 60);
        }
    }
    plan_storm(&mut stage, &mut dice, stormy);
    stage.run_until(stormy);
    stage.finish(PATIENCE)
}

fn plan_storm(stage: &mut Stage, dice: &mut Dice, stormy: Duration) {
    let tails = [Tail::Lost, Tail::Torn, Tail::Torn, Tail::Kept];
    let nanos = u64::try_from(stormy.as_nanos()).expect("a run is short");
    let at = |dice: &mut Dice| Duration::from_nanos(dice.below(nanos));
    for _ in 0..dice.below(12) {
        let seat = dice.index(stage.setting().founders);
        let tail = dice.pick(&tails);
        let down = Duration::from_millis(dice.below(1_500));
        let order = Order::Crash { seat, tail, down };
        stage.world.plan(at(dice), order);
    }
    for _ in 0..dice.below(4) {
        let tail = dice.pick(&tails);
        let down = Duration::from_millis(dice.below(300));
        let stagger = Duration::from_millis(dice.below(300));
        let order = Order::PowerLoss { tail, down, stagger };
        stage.world.plan(at(dice), order);
    }
}

/// Again and again whoever proposes dies, in the middle of its turn.
#[must_use]
pub fn dying_proposers(seed: u64) -> Account {
    let mut dice = Dice::new(seed, "dying proposers");
    let mut setting = Setting::plaza(scheme(seed), seed);
    setting.snapshot_turns = 15;
    let mut stage = Stage::new(setting, Conditions::calm(10));
    let until = 12 * SECOND;
    bring_people(&mut stage, 6, until);
    while stage.world.now() < until {
        stage.run_for(Duration::from_millis(400 + dice.below(1_200)));
        if let Some(seat) = proposing(&stage) {
            let tail = dice.pick(&[Tail::Lost, Tail::Torn, Tail::Kept]);
            let down = Duration::from_millis(200 + dice.below(1_000));
            let now = stage.world.now();
            stage.world.plan(now, Order::Crash { seat, tail, down });
        }
    }
    stage.finish(PATIENCE)
}

/// The seat of whoever proposes at the height under way, as running servers say.
#[must_use]
pub fn proposing(stage: &Stage) -> Option<usize> {
    let seats = 0..stage.world.seats();
    let mut said = seats.filter_map(|seat| stage.world.server(seat)?.status()?.proposer);
    let proposer = said.next_back()?;
    (0..stage.world.seats()).find(|seat| stage.setting().name(*seat) == proposer)
}

/// The power fails in the first moments of the sim, when little is on the disks.
#[must_use]
pub fn false_start(seed: u64) -> Account {
    let mut dice = Dice::new(seed, "false start");
    let mut setting = Setting::plaza(scheme(seed), seed);
    setting.snapshot_turns = 10;
    let mut conditions = Conditions::calm(1 + dice.below(20));
    conditions.sync = Span::ms(1, 10);
    let mut stage = Stage::new(setting, conditions);
    let until = 4 * SECOND;
    bring_people(&mut stage, 3, until);
    for _ in 0..3 {
        let order = Order::PowerLoss {
            tail: dice.pick(&[Tail::Lost, Tail::Torn]),
            down: Duration::from_millis(dice.below(30)),
            stagger: Duration::from_millis(dice.below(10)),
        };
        let at = Duration::from_micros(dice.below(150_000));
        stage.world.plan(at, order);
    }
    stage.run_until(until);
    stage.finish(PATIENCE)
}

/// One server needs 0.2 s for each of a stretch of turns, four times as long as a turn lasts.
#[must_use]
pub fn slow_server(seed: u64) -> Account {
    let mut dice = Dice::new(seed, "slow server");
    let mut setting = Setting::plaza(scheme(seed), seed);
    setting.snapshot_turns = 50;
    setting.slow = Some(Slow {
        seat: dice.index(setting.founders),
        from: Height(40),
        to: Height(70),
        takes: Duration::from_millis(200),
    });
    let mut stage = Stage::new(setting, Conditions::calm(20));
    let until = 10 * SECOND;
    bring_people(&mut stage, 6, until);
    stage.run_until(until);
    stage.finish(PATIENCE)
}

/// People lose their lines with acts under way. Before they are back, turns are decided and
/// snapshots made, the power fails, and every server starts again from a snapshot.
#[must_use]
pub fn long_absence(seed: u64) -> Account {
    let mut dice = Dice::new(seed, "long absence");
    let mut setting = Setting::plaza(scheme(seed), seed);
    setting.snapshot_turns = 10;
    let mut stage = Stage::new(setting, Conditions::calm(10));
    let until = 8 * SECOND;
    bring_people(&mut stage, 4, until);
    stage.run_until(2 * SECOND);
    for person in 0..stage.people.len() {
        let wave = |person: &mut Person, now| person.act(now, Act::Emote(Emote::Wave), None);
        stage.prompt(person, wave);
        stage.run_for(Duration::from_millis(20 + dice.below(60)));
        stage.lose_line(person, Duration::from_millis(2_000 + dice.below(500)));
    }
    stage.run_for(Duration::from_millis(1_000));
    let (tail, down, stagger) = (Tail::Lost, Duration::from_millis(300), Duration::ZERO);
    let now = stage.world.now();
    stage.world.plan(now, Order::PowerLoss { tail, down, stagger });
    stage.run_until(until);
    stage.finish(PATIENCE)
}

/// The seat of the server that joins.
pub const JOINER: usize = 4;

/// An admin names a fifth server. It starts from genesis, reads from the others' logs what they no
/// longer remember, says that it follows, and votes; then one of the founders dies for good. One
/// server is slow to apply while the set changes.
#[must_use]
pub fn joining(seed: u64) -> Account {
    let mut dice = Dice::new(seed, "joining");
    let place = plaza::place().expect("the plaza's files were built in");
    let mut setting = Setting::new(&place, scheme(seed), 4, JOINER + 1, seed);
    setting.snapshot_turns = 10;
    setting.slow = Some(Slow {
        seat: dice.index(4),
        from: Height(80),
        to: Height(110),
        takes: Duration::from_millis(60 + dice.below(40)),
    });
    let key = setting.name(JOINER);
    let mut stage = Stage::new(setting, Conditions::calm(10));
    let until = 12 * SECOND;
    let admin = Person::new(stage.setting(), 0, dice.index(4), Manner::lively(until));
    let admin = stage.invite(Duration::ZERO, admin);
    bring_people(&mut stage, 5, until);
    let (tail, down, stagger) = (Tail::Torn, Duration::from_millis(100), Duration::ZERO);
    stage.world.plan(2 * SECOND, Order::PowerLoss { tail, down, stagger });
    stage.world.plan(3 * SECOND, Order::Start(JOINER));
    stage.run_until(3 * SECOND + Duration::from_millis(dice.below(1_000)));
    stage.prompt(admin, |admin, now| admin.add_server(now, key, JOINER));
    stage.run_until(9 * SECOND);
    stage.world.plan(9 * SECOND, Order::Kill(dice.index(4)));
    stage.run_until(until);
    stage.finish(PATIENCE)
}

/// Brings people to all servers but one, who are lively until a moment.
fn bring_people_elsewhere(stage: &mut Stage, shunned: &[usize], until: Duration) {
    let seats: Vec<usize> =
        (0..stage.setting().founders).filter(|seat| !shunned.contains(seat)).collect();
    for (number, seat) in (1..=5).zip(seats.into_iter().cycle()) {
        let person = Person::new(stage.setting(), number, seat, Manner::lively(until));
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
    let mut setting = Setting::plaza(scheme(seed), seed);
    let seat = forgetful(seed);
    setting.snapshot_turns = 5 + dice.below(60);
    setting.flips = vec![Flip { seat, height: Height(30 + dice.below(60)), lasting: false }];
    let mut conditions = Conditions::calm(1 + dice.below(20));
    conditions.job = Span::ms(0, dice.below(10));
    let mut stage = Stage::new(setting, conditions);
    let until = 12 * SECOND;
    bring_people_elsewhere(&mut stage, &[seat], until);
    stage.run_until(8 * SECOND);
    let (tail, down) = (dice.pick(&[Tail::Lost, Tail::Torn, Tail::Kept]), SECOND / 2);
    stage.world.plan(8 * SECOND, Order::Crash { seat, tail, down });
    stage.run_until(until);
    stage.finish(PATIENCE)
}

/// Bits flip in one server's state again and again, four times within an hour.
#[must_use]
pub fn bad_memory(seed: u64) -> Stage {
    let mut setting = Setting::plaza(scheme(seed), seed);
    let seat = forgetful(seed);
    let flip = |height| Flip { seat, height: Height(height), lasting: false };
    setting.flips = vec![flip(30), flip(70), flip(110), flip(150)];
    setting.snapshot_turns = 25;
    let mut stage = Stage::new(setting, Conditions::calm(10));
    let until = 12 * SECOND;
    bring_people_elsewhere(&mut stage, &[seat], until);
    stage.run_until(until);
    stage
}

/// Two of four servers come to another state than the other two: no root has a quorum. Either bits
/// flipped in both, or, if it is `lasting`, they run other rules.
#[must_use]
pub fn two_against_two(seed: u64, lasting: bool) -> Stage {
    let mut setting = Setting::plaza(scheme(seed), seed);
    let height = Height(60);
    setting.flips = [1, 2].map(|seat| Flip { seat, height, lasting }).into();
    setting.snapshot_turns = 25;
    let mut stage = Stage::new(setting, Conditions::calm(10));
    let until = 14 * SECOND;
    bring_people_elsewhere(&mut stage, &[1, 2], until);
    stage.run_until(until);
    stage
}

/// One server comes to a wrong state at a height however often it computes it: no state of its own
/// leads to the right one.
#[must_use]
pub fn wrong_rules(seed: u64) -> Stage {
    let mut setting = Setting::plaza(scheme(seed), seed);
    let seat = forgetful(seed);
    setting.flips = vec![Flip { seat, height: Height(60), lasting: true }];
    setting.snapshot_turns = 25;
    let mut stage = Stage::new(setting, Conditions::calm(10));
    let until = 14 * SECOND;
    bring_people_elsewhere(&mut stage, &[seat], until);
    stage.run_until(until);
    stage
}

/// A server is away while the others decide some hundred turns, and comes back to find that fetching
/// a state is quicker than replaying. Its power fails again as soon as it votes.
#[must_use]
pub fn left_behind(seed: u64) -> Stage {
    let mut dice = Dice::new(seed, "left behind");
    let mut setting = Setting::plaza(scheme(seed), seed);
    let seat = forgetful(seed);
    (setting.snapshot_turns, setting.behind_turns) = (20 + dice.below(30), 100);
    let mut stage = Stage::new(setting, Conditions::calm(1 + dice.below(20)));
    let until = 18 * SECOND;
    bring_people_elsewhere(&mut stage, &[seat], until);
    let tail = dice.pick(&[Tail::Lost, Tail::Torn, Tail::Kept]);
    let down = 9 * SECOND;
    stage.world.plan(2 * SECOND, Order::Crash { seat, tail, down });
    let (tail, down) = (dice.pick(&[Tail::Lost, Tail::Torn, Tail::Kept]), SECOND / 2);
    let again = 13 * SECOND + Duration::from_millis(dice.below(1_000));
    stage.world.plan(again, Order::Crash { seat, tail, down });
    stage.run_until(until);
    stage
}
