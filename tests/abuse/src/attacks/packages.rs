//! A thousand scripts of the packages that ship with the program, each awake once a second.
//!
//! No attack: what a sim costs that people filled with what everybody builds. 64 keys own 16 things each,
//! which run the examples that can be touched, and 320 people who stand among them touch each of them once
//! a second. Played in this
//! process against the sim. The figure is the processor time of one thread for a whole turn: its acts, its
//! three ticks and its root. The turns are played three times, and of each the shortest time counts; of
//! all turns after the first ones the longest counts.

use std::{collections::BTreeMap, time::Duration};

use metatopia_math::{Fx, Vec2};
use metatopia_scenarios::{ExamplePackage, plaza};
use metatopia_scripting::{Package, ScriptState};
use metatopia_sim::{
    Genesis, Motion, ObjectSpec, ScriptSpec, Serial, Shape, World, limits::ARRIVALS_PER_TURN_MAX,
};
use metatopia_types::{Act, Digest, Look, NodeContact, ObjectId, PublicKey, Turn};

use super::{Play, lone_world::LoneWorld, processor, yardstick::Yardstick};
use crate::finding::Finding;

const NAME: &str = "packages";

/// Milliseconds that a turn may take; a dev build has half as much again.
const TURN_MS_MAX: f64 = if cfg!(debug_assertions) { 12.0 } else { 8.0 };

/// Scripts, each on a thing of its own.
const SCRIPTS: u64 = 1_000;

/// Keys that own the things, and keys that are here: so many that somebody is near every thing.
const KEYS: u64 = 64;
const PEOPLE: u64 = 320;

/// Turns of a second.
const SECOND: u64 = 20;

/// Turns that are played first, and turns that are measured.
const WARM_UP: u64 = 60;
const TURNS: u64 = 600;
const TURNS_SHORT: u64 = 100;

/// Plays of the same turns.
const PLAYS: usize = 3;

/// Metres between two things, so that what they spawn has room.
const APART: i32 = 3;

/// Things of a row.
const ROW: i32 = 32;

fn key(n: u64) -> PublicKey {
    PublicKey(Digest::of("a key of a full place", &n.to_le_bytes()).0)
}

pub(super) fn play(play: &Play) -> Result<Vec<Finding>, String> {
    let turns = if play.short { TURNS_SHORT } else { TURNS };
    let yardstick = Yardstick::at_start();
    let (genesis, names) = place()?;
    let mut sim = LoneWorld::found(&genesis, 50)?;
    let mut played = Vec::new();
    for _ in 0..WARM_UP {
        let turn = next_turn(&mut sim);
        sim.world.apply(&turn, &Serial);
    }
    let begin = sim.world.clone();
    let before = gas(&begin);
    let mut calls = 0;
    for _ in 0..turns {
        let turn = next_turn(&mut sim);
        let at = processor::time();
        let applied = sim.world.apply(&turn, &Serial);
        played.push((turn, processor::time().saturating_sub(at)));
        calls += applied.order.len();
        if let Some(failure) = applied.failures.first() {
            return Err(format!("a script failed: {failure:?}"));
        }
    }
    for _ in 1..PLAYS {
        let mut world = begin.clone();
        for (turn, best) in &mut played {
            let at = processor::time();
            world.apply(turn, &Serial);
            *best = processor::time().saturating_sub(at).min(*best);
        }
    }
    let after = gas(&sim.world);
    // Where people appear is left to chance: a thing in a corner may have nobody near.
    let awake = after.iter().zip(&before).filter(|(after, before)| after > before).count();
    if awake as u64 * 100 < SCRIPTS * 99 {
        return Err(format!("{awake} of {SCRIPTS} scripts were awake"));
    }
    let worst = played.iter().map(|(_, spent)| *spent).max().unwrap_or_default();
    let all: Duration = played.iter().map(|(_, spent)| *spent).sum();
    let note = format!(
        "longest of {turns} turns, each the shortest of {PLAYS}; {:.1} ms on average; {awake} scripts awake; \
         {} calls a second; {names} packages; {} things",
        milliseconds(all) / turns as f64,
        calls as u64 * SECOND / turns,
        sim.world.objects().count(),
    );
    let value = milliseconds(worst);
    Ok(vec![Finding::at_most_ms(NAME, value, TURN_MS_MAX, yardstick.at_end()).noted(note)])
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

/// Returns the gas that each script of genesis has used.
fn gas(world: &World) -> Vec<u64> {
    world.scripts().take(SCRIPTS as usize).map(|script| script.gas_used).collect()
}

/// Returns the genesis, and how many packages run in it.
fn place() -> Result<(Genesis, usize), String> {
    let servers: BTreeMap<_, _> =
        (1..=4).map(|n| (PublicKey([n; 32]), NodeContact::default())).collect();
    let mut genesis = plaza::genesis(servers, [PublicKey([9; 32])].into());
    let like = genesis.objects.first().cloned().ok_or("the plaza has no things")?;
    genesis.objects.clear();
    genesis.packages.clear();
    let avatar = &mut genesis.parameters.avatar;
    (avatar.reach, avatar.spawn, avatar.spawn_radius) =
        (Fx::from_int(10), Vec2::ZERO, Fx::from_int(APART * ROW / 2));
    let mut packages = Vec::new();
    for example in ExamplePackage::ALL {
        let package = example.package();
        if package.entry().contains("fn on_touch(") {
            // A script starts only where everything that it imports is there.
            let carried = example.imports().into_iter().chain([package.clone()]);
            genesis.packages.extend(carried.map(|package| (package.id(), package.encode())));
            packages.push((example.name, package));
        }
    }
    for n in 0..SCRIPTS {
        let (name, package) = &packages[n as usize % packages.len()];
        genesis.objects.push(thing(n, name, package, &like));
    }
    Ok((genesis, packages.len()))
}

/// Returns the n-th thing: a box of one metre.
fn thing(n: u64, name: &str, package: &Package, like: &ObjectSpec) -> ObjectSpec {
    let moves = ["door", "lift", "turntable"].contains(&name);
    let mut thing = ObjectSpec {
        kind: "thing".to_owned(),
        name: if n.is_multiple_of(2) { "start" } else { "gate" }.to_owned(),
        owner: Some(key(n % KEYS)),
        text: String::new(),
        scripts: vec![ScriptSpec { package: package.id(), state: ScriptState::default() }],
        ..like.clone()
    };
    thing.body.shape = Shape::Rect { half: Vec2::new(Fx::HALF, Fx::HALF) };
    thing.body.motion = if moves { Motion::Kinematic } else { Motion::Static };
    thing.body.pose.position = place_of(n);
    thing
}

/// Returns the next turn: people come in, or a twentieth of the things is touched by whoever is nearest.
fn next_turn(sim: &mut LoneWorld) -> Turn {
    let height = sim.world.height().plus(1).0;
    let come = |n: u64| (key(n), Act::login(format!("key {n}"), Look::default()));
    let arrivals = ARRIVALS_PER_TURN_MAX as u64;
    let acts: Vec<(PublicKey, Act)> = if height * arrivals <= PEOPLE {
        (0..arrivals).map(|n| come((height - 1) * arrivals + n)).collect()
    } else {
        let here: Vec<(PublicKey, Vec2)> = people(&sim.world).collect();
        let turn = (0..SCRIPTS).filter(|n| n % SECOND == height % SECOND);
        turn.map(|n| {
            let at = |who: &(PublicKey, Vec2)| who.1.distance(place_of(n));
            let nearest = here.iter().min_by_key(|who| at(who)).expect("people came in");
            (nearest.0, Act::Touch { object: ObjectId(n + 1) })
        })
        .chain((height % PEOPLE..PEOPLE).take(1).map(|n| (key(n), Act::Heartbeat)))
        .collect()
    };
    let acts = acts.into_iter().map(|(author, act)| sim.act(author, act)).collect();
    sim.turn(acts, Vec::new())
}

fn people(world: &World) -> impl Iterator<Item = (PublicKey, Vec2)> {
    let at = |n| Some((key(n), world.object(world.avatar(&key(n))?)?.position));
    (0..PEOPLE).filter_map(at)
}

/// Returns where the n-th thing stands.
fn place_of(n: u64) -> Vec2 {
    let place = |n: u64| Fx::from_int(APART * (n as i32 - ROW / 2) + APART / 2);
    Vec2::new(place(n % ROW as u64), place(n / ROW as u64))
}
