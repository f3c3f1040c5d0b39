//! Bugs of whole servers: what they break of the sim, and the worlds that they are looked for in.

use std::time::Duration;

use metatopia_oracle::Law;
use metatopia_sim::{Controls, gas::SCRIPT_TICK_MAX};
use metatopia_types::{Act, Envelope, Round};

use super::{Broken, SECOND, Verdict};
use crate::agreement::Seed;
use crate::chance::{Dice, Span};
use crate::cluster::Order;
use crate::conditions::Conditions;
use crate::replica;

/// How long people play on the plaza.
const VISIT: Duration = Duration::from_secs(3);

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

/// Acts of this kind panic when they are applied.
fn poison(act: &Envelope) -> bool {
    matches!(act.act, Act::Emote(_))
}

/// A plaza that breaks a rule.
fn plaza(seed: Seed, broken: Broken) -> replica::Setting {
    let mut setting = replica::Setting::plaza(replica::stories::scheme(seed.number), seed.number);
    (setting.broken, setting.controls) = (broken.sim, broken.replica);
    setting.restore_every = Some(RESTORE_EVERY);
    setting
}

/// Whole servers, people who play, and acts that come late to some servers.
pub(super) fn on_the_plaza(seed: Seed, broken: Broken) -> Verdict {
    visit(replica::Stage::new(plaza(seed, broken), late()))
}

/// The same, and some acts panic.
pub(super) fn on_a_poisoned_plaza(seed: Seed, broken: Broken) -> Verdict {
    let mut setting = plaza(seed, broken);
    setting.trap = Some(poison);
    visit(replica::Stage::new(setting, late()))
}

/// One server sees a quorum, and the others go on to the next round, with the same turn: again and
/// again one hears of a turn too late, and what another says of it comes to the rest still later.
pub(super) fn on_a_clogged_plaza(seed: Seed, broken: Broken) -> Verdict {
    let mut dice = Dice::new(seed.number, "clogs for a bug");
    let mut orders = Vec::new();
    let mut at = SECOND / 2;
    while at < VISIT {
        let mut seats = vec![0, 1, 2, 3];
        let mut pick = || seats.remove(dice.index(seats.len()));
        let (quick, slow) = (pick(), pick());
        let (short, long) = (Duration::from_millis(150), Duration::from_millis(500));
        orders.push((at, Order::Clog(quick, slow, long)));
        orders.extend(seats.iter().map(|seat| (at, Order::Clog(*seat, slow, short))));
        let later = at + dice.within(Span::ms(0, 100));
        orders.extend(seats.iter().map(|seat| (later, Order::Clog(quick, *seat, long))));
        at += SECOND / 2;
    }
    let mut stage = replica::Stage::new(plaza(seed, broken), quick());
    orders.into_iter().for_each(|(at, order)| stage.world.plan(at, order));
    visit(stage)
}

/// Frames take up to 20 ms.
fn quick() -> Conditions {
    let mut conditions = Conditions::calm(0);
    conditions.links.delay = Span::ms(1, 20);
    conditions
}

/// Some come late.
fn late() -> Conditions {
    let mut conditions = quick();
    conditions.links.straggler_ppm = 50_000;
    conditions.links.straggle = Span::ms(50, 800);
    conditions
}

/// People play, until a law is broken or all has come about that they wanted.
fn visit(mut stage: replica::Stage) -> Verdict {
    replica::stories::bring_people(&mut stage, 5, VISIT);
    let broken = |stage: &replica::Stage| !stage.is_sound();
    let faults = if stage.run_till(VISIT, broken) {
        // What comes after the first law that is broken says little.
        stage.world.cluster.oracle.faults().to_vec()
    } else {
        stage.finish(10 * SECOND).faults
    };
    let halted = faults.iter().filter(|fault| fault.law == Law::Halted);
    let halts = halted.filter_map(|fault| Some((fault.seat?, fault.what.clone()))).collect();
    Verdict { faults, halts }
}
