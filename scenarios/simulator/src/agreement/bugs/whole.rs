//! Bugs of whole servers: what they break of the sim, and the worlds that they are looked for in.

use std::sync::Arc;
use std::time::Duration;

use metatopia_oracle::{Law, Violation};
use metatopia_protocol::Submission;
use metatopia_scenarios::plaza;
use metatopia_sim::{
    Controls,
    gas::SCRIPT_TICK_MAX,
    limits::{LANES_PER_AUTHOR_MAX, REGULAR_LANES_MAX},
};
use metatopia_types::{Act, Envelope, Height, Lane, Round, Seq, Sign, limits::EXPIRY_HEIGHTS_MAX};

use super::{BrokenRules, SECOND, WorldFindings};
use crate::chance::{Dice, Span};
use crate::cluster::ClusterOrder;
use crate::conditions::Conditions;
use crate::course::Seed;
use crate::replica;

/// How long people play on the plaza.
const VISIT: Duration = Duration::from_secs(3);

/// Numbers the keys that a greedy server has, far from those of others.
const GREEDY_KEYS: u64 = 200_000;

/// After so many turns one server on the plaza goes on from a snapshot of its state.
const RESTORE_EVERY: u64 = 10;

pub(super) fn lane_off_by_one(_: usize, _: Round) -> Controls {
    Controls { lane_off_by_one: true, ..Controls::default() }
}

pub(super) fn outcomes_in_a_hash_table(seat: usize, _: Round) -> Controls {
    Controls { outcomes_hashed_by: u64::try_from(seat).ok(), ..Controls::default() }
}

/// One server lets a single script run in a tick.
pub(super) fn gas_of_its_own(seat: usize, _: Round) -> Controls {
    Controls { tick_gas: (seat == 1).then_some(SCRIPT_TICK_MAX), ..Controls::default() }
}

pub(super) fn merged_as_it_came(seat: usize, _: Round) -> Controls {
    Controls { merged_by: u64::try_from(seat).ok(), ..Controls::default() }
}

pub(super) fn leaf_missing(_: usize, _: Round) -> Controls {
    Controls { leaf_missing: true, ..Controls::default() }
}

pub(super) fn certified_in(_: usize, certified: Round) -> Controls {
    Controls { certified_in: Some(certified), ..Controls::default() }
}

pub(super) fn no_reserved_seats(_: usize, _: Round) -> Controls {
    Controls { no_reserved_seats: true, ..Controls::default() }
}

/// Acts of this kind panic when they are applied.
fn poison(act: &Envelope) -> bool {
    matches!(act.act, Act::Emote(_))
}

/// A plaza that breaks a rule.
fn a_plaza(seed: Seed, broken: BrokenRules) -> replica::ReplicaSetting {
    let setting =
        replica::ReplicaSetting::plaza(replica::partings::scheme(seed.number), seed.number);
    breaking(setting, broken)
}

fn breaking(mut setting: replica::ReplicaSetting, broken: BrokenRules) -> replica::ReplicaSetting {
    (setting.own.broken, setting.own.controls) = (broken.sim, broken.replica);
    setting.own.restore_every = Some(RESTORE_EVERY);
    setting
}

/// Plays a world of whole servers, people who play, and acts that come late to some servers.
pub(super) fn on_the_plaza(seed: Seed, broken: BrokenRules) -> WorldFindings {
    visit(replica::ReplicaStage::new(a_plaza(seed, broken), late()))
}

/// The same, and some acts panic.
pub(super) fn on_a_poisoned_plaza(seed: Seed, broken: BrokenRules) -> WorldFindings {
    let mut setting = a_plaza(seed, broken);
    setting.own.trap = Some(poison);
    visit(replica::ReplicaStage::new(setting, late()))
}

/// One server sees a quorum, and the others go on to the next round, with the same turn: again and
/// again one hears of a turn too late, and what another says of it comes to the rest still later.
pub(super) fn on_a_clogged_plaza(seed: Seed, broken: BrokenRules) -> WorldFindings {
    let mut dice = Dice::new(seed.number, "clogs for a bug");
    let mut orders = Vec::new();
    let mut at = SECOND / 2;
    while at < VISIT {
        let mut seats = vec![0, 1, 2, 3];
        let mut pick = || seats.remove(dice.index(seats.len()));
        let (quick, slow) = (pick(), pick());
        let (short, long) = (Duration::from_millis(150), Duration::from_millis(500));
        orders.push((at, ClusterOrder::Clog(quick, slow, long)));
        orders.extend(seats.iter().map(|seat| (at, ClusterOrder::Clog(*seat, slow, short))));
        let later = at + dice.within(Span::ms(0, 100));
        orders.extend(seats.iter().map(|seat| (later, ClusterOrder::Clog(quick, *seat, long))));
        at += SECOND / 2;
    }
    let mut stage = replica::ReplicaStage::new(a_plaza(seed, broken), quick());
    orders.into_iter().for_each(|(at, order)| stage.world.plan(at, order));
    visit(stage)
}

/// Avatars that have room on a crowded plaza: a quarter of them is for those who are known.
const NARROW: u32 = 8;

/// Plays a world in which fresh keys take all seats for newcomers, and then the admin and the servers come.
pub(super) fn on_a_crowded_plaza(seed: Seed, broken: BrokenRules) -> WorldFindings {
    let place = plaza::place();
    let scheme = replica::partings::scheme(seed.number);
    let narrow = replica::ReplicaSetting::narrow(&place, scheme, (4, 4), seed.number, NARROW);
    let mut stage = replica::ReplicaStage::new(breaking(narrow, broken), quick());
    stage.run_for(SECOND / 2);
    let mut crowd = replica::Crowd::new(stage.setting(), vec![0, 1]);
    crowd.come(&mut stage);
    stage.run_for(SECOND / 2);
    let admin = stage.setting().player(0);
    let servers = stage.setting().keys.clone();
    let stewards = std::iter::once(admin).chain(servers);
    end_with_stewards(stage, &[0, 1, 2, 3], &stewards.collect::<Vec<_>>(), |_| {})
}

/// So many acts does a greedy server get at once, each of which opens a lane: more than a turn takes.
const GREED: u64 = 1_200;

/// Plays a world in which as many lanes are open as people may open who are no stewards, and one server opens
/// all others that judging leaves it.
pub(super) fn beside_a_greedy_server(seed: Seed, broken: BrokenRules) -> WorldFindings {
    let mut setting = a_plaza(seed, broken);
    let seat = 3;
    setting.own.rogue = Some(replica::Rogue { seat, opens_all_lanes: true });
    setting.own.restore_every = None;
    setting.open_lanes(REGULAR_LANES_MAX);
    let servers = setting.keys[..seat].to_vec();
    let mut stage = replica::ReplicaStage::new(setting, quick());
    let mut lanes = 0;
    let mut feed = move |stage: &mut replica::ReplicaStage| {
        let now = stage.world.now();
        let acts = (lanes..lanes + GREED).map(|number| greedy_act(stage, number)).collect();
        lanes += GREED;
        stage.world.request(now, seat, replica::Request::HandIn(acts));
    };
    for _ in 0..8 {
        feed(&mut stage);
        stage.run_for(SECOND / 4);
    }
    end_with_stewards(stage, &[0, 1, 2], &servers, feed)
}

/// The next act of a crowd that a greedy server has, each in a lane of its own.
fn greedy_act(stage: &replica::ReplicaStage, number: u64) -> Submission {
    let key = stage.setting().player(GREEDY_KEYS + number / LANES_PER_AUTHOR_MAX as u64);
    let act = Envelope {
        sim: stage.setting().sim,
        author: key.public(),
        lane: Lane(number),
        seq: Seq(1),
        last_valid: Height(stage.world.top() + EXPIRY_HEIGHTS_MAX),
        act: Act::Heartbeat,
    };
    Submission { act: act.sign(&*key), blobs: Vec::new() }
}

/// Ends a world with logins of these keys, one after the other, at all servers in these seats.
fn end_with_stewards(
    mut stage: replica::ReplicaStage,
    seats: &[usize],
    keys: &[Arc<dyn Sign>],
    mut meanwhile: impl FnMut(&mut replica::ReplicaStage),
) -> WorldFindings {
    for (lane, key) in (1..).zip(keys) {
        meanwhile(&mut stage);
        let given = replica::log_in_everywhere(&mut stage, (&**key, Lane(lane)), seats, 1);
        let given = given.expect("servers that run take connections");
        let limit = stage.world.now() + 10 * SECOND;
        stage.run_till(limit, |stage| given.is_over(stage) || !stage.world.is_sound());
        if stage.world.is_sound() {
            given.judge(&mut stage);
        }
        if !stage.world.is_sound() {
            return verdict(stage.world.cluster.oracle.faults().to_vec());
        }
    }
    verdict(stage.finish(10 * SECOND).faults)
}

/// Frames take up to 20 ms.
fn quick() -> Conditions {
    let mut conditions = Conditions::calm(0);
    conditions.links.delay = Span::ms(1, 20);
    conditions
}

/// The conditions under which some frames come late.
fn late() -> Conditions {
    let mut conditions = quick();
    conditions.links.straggler_ppm = 50_000;
    conditions.links.straggle = Span::ms(50, 800);
    conditions
}

/// Plays people until a law is broken or all that they wanted has come about.
fn visit(mut stage: replica::ReplicaStage) -> WorldFindings {
    replica::partings::bring_people(&mut stage, 5, VISIT);
    let broken = |stage: &replica::ReplicaStage| !stage.world.is_sound();
    let faults = if stage.run_till(VISIT, broken) {
        // What comes after the first law that is broken says little.
        stage.world.cluster.oracle.faults().to_vec()
    } else {
        stage.finish(10 * SECOND).faults
    };
    verdict(faults)
}

fn verdict(faults: Vec<Violation>) -> WorldFindings {
    let halted = faults.iter().filter(|fault| fault.law == Law::Halted);
    let halts = halted.filter_map(|fault| Some((fault.seat?, fault.what.clone()))).collect();
    WorldFindings { faults, halts }
}
