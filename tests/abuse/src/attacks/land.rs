//! Ten thousand keys want land: a friend of theirs who holds a square vouches for the first of them, and
//! each that got a square vouches for the next.
//!
//! Played in this process against the rules of a land office alone. The figure is the squares of the attacker
//! after an hour of governance time, with the friend's own. All must have tried, and the chain of vouchers
//! must have worked, or the row fails.

use metatopia_math::Fx;
use metatopia_sim::{Area, Genesis, Serial, limits::ARRIVALS_PER_TURN_MAX};
use metatopia_types::{
    Act, Blob, Digest, LandOrder, LandSponsor, Look, NodeContact, OfficeFounding, PublicKey,
    Sign as _, SigningKey, Site, Square, TilePoint,
};

use super::{Play, lone_world::LoneWorld};
use crate::finding::Finding;

const NAME: &str = "land";

/// Keys that want land.
const FULL: u64 = 10_000;
const SHORT: u64 = 256;

/// An hour of governance time.
const HOUR_MS: u64 = 3_600_000;

/// Squares that a land office grants in a week, usually.
const SQUARES_MAX: f64 = 64.0;

fn key(n: u64) -> SigningKey {
    SigningKey::from_seed(Digest::of("a key that wants land", &n.to_le_bytes()).0)
}

const fn square(x: i32) -> Square {
    Square { x: 2 * x, y: 0, doublings: 0 }
}

/// The attacker: how far its row of squares reaches, and who vouches for the next one.
struct LandRow {
    end: i32,
    voucher: SigningKey,
}

pub(super) fn play(play: &Play) -> Result<Vec<Finding>, String> {
    let keys = if play.short { SHORT } else { FULL };
    let admin = key(u64::MAX);
    let groups = keys.div_ceil(ARRIVALS_PER_TURN_MAX as u64);
    let mut sim = LoneWorld::found(&office(&admin), HOUR_MS / (4 * groups + 90))?;
    let friend = key(0);
    let mut row = LandRow { end: 1, voucher: admin };
    let begin = sim.world.governance().time;
    // The first turn needs no time before it, and logs the friend in.
    enter(&mut sim, &[0]);
    claim(&mut sim, &mut row, &[0]);
    let is_friend = sim.world.grant_at(TilePoint::corner(square(1)));
    if is_friend.is_none_or(|grant| grant.holder != friend.public()) {
        return Err("the friend of the attacker got no square".to_owned());
    }
    let mut entered = 0;
    let all: Vec<u64> = (1..=keys).collect();
    for group in all.chunks(ARRIVALS_PER_TURN_MAX) {
        entered += enter(&mut sim, group);
        claim(&mut sim, &mut row, group);
        let leave = group.iter().map(|n| sim.act(key(*n).public(), Act::Leave)).collect();
        let turn = sim.turn(leave, Vec::new());
        sim.world.apply(&turn, &Serial);
    }
    let passed = sim.world.governance().time - begin;
    let got = sim.world.grants().count() - 1;
    let note = format!("{entered} of {keys} keys came, in {} s of governance time", passed / 1_000);
    let tried = entered == keys && passed <= HOUR_MS && got > 1;
    let finding = Finding::at_most(NAME, got as f64, SQUARES_MAX, "squares").noted(note);
    Ok(vec![finding.unless(!tried)])
}

/// Returns the genesis of a land office with the usual rules.
fn office(admin: &SigningKey) -> Genesis {
    let (square, holder) = (square(0), admin.public());
    let mut genesis = Genesis {
        name: "land office".to_owned(),
        admins: [holder].into(),
        validators: (1..=4).map(|n| (PublicKey([n; 32]), NodeContact::default())).collect(),
        licence: "AGPL-3.0-or-later".to_owned(),
        asset_licence: "CC-BY-SA-4.0".to_owned(),
        office: Some(OfficeFounding { square, holder, beacons: vec![key(u64::MAX - 1).public()] }),
        ..Genesis::empty()
    };
    genesis.parameters.ground = Area::of_square(square);
    genesis.parameters.avatar.spawn_radius = Fx::from_int(20);
    genesis
}

/// Logs keys in. Returns how many are let in.
fn enter(sim: &mut LoneWorld, keys: &[u64]) -> u64 {
    let login = |n: &u64| {
        let login = Act::login(format!("key {n}"), Look::default());
        sim.act(key(*n).public(), login)
    };
    let acts: Vec<_> = keys.iter().map(login).collect();
    let turn = sim.turn(acts.clone(), Vec::new());
    sim.world.apply(&turn, &Serial);
    let is_in = |act: &&_| sim.outcome(act).is_some_and(|outcome| outcome.is_done());
    acts.iter().filter(is_in).count() as u64
}

/// Has keys claim the square at the end of the row, one after the other while squares are left, then all in
/// one turn. Whoever gets one vouches for the next.
fn claim(sim: &mut LoneWorld, row: &mut LandRow, keys: &[u64]) {
    let (mut acts, mut orders) = (Vec::new(), Vec::new());
    for n in keys {
        let (own, at) = (key(*n), square(row.end));
        let order = order(sim, row, *n);
        acts.push(sim.act(own.public(), Act::Land { order: order.id() }));
        orders.push(order);
        let granted = sim.world.land_week().map_or(0, |week| week.granted);
        if f64::from(granted) < SQUARES_MAX {
            let turn = sim.turn(core::mem::take(&mut acts), core::mem::take(&mut orders));
            sim.world.apply(&turn, &Serial);
        }
        if sim.world.grant_at(TilePoint::corner(at)).is_some() {
            (row.voucher, row.end) = (own, row.end + 1);
        }
    }
    let turn = sim.turn(acts, orders);
    sim.world.apply(&turn, &Serial);
}

/// Returns a key's claim of the square at the end of the row.
fn order(sim: &LoneWorld, row: &LandRow, n: u64) -> Blob {
    let (world, at, own) = (sim.world.sim(), square(row.end), key(n).public());
    let head = Genesis {
        name: format!("place of {n}"),
        site: Some(Site { world, square: at }),
        admins: [own].into(),
        validators: [(own, NodeContact::default())].into(),
        ..Genesis::empty()
    }
    .head();
    let sponsor = Some(LandSponsor::new(&row.voucher, world, head.id(), at, &own));
    LandOrder::Claim { head, beacons: vec![own], sponsor }.blob()
}
