//! The sim alone: a thousand moving objects, some of them with scripts, and what a turn costs.
//!
//! `cargo run --release -p metatopia-sim --example bench [turns]`
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a measurement reads the clock; the crate itself never does"
)]

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};

use metatopia_math::{Fx, Stream, Vec2};
use metatopia_physics::{BodySpec, Motion, Shape};
use metatopia_scripting::{Author, Draft, Package, State};
use metatopia_sim::{
    ENGINE, Genesis, ObjectSpec, Parameters, ScriptSpec, Serial, Stage, Tools, Watch, World,
};
use metatopia_types::{
    AssetLicence, Body, Contact, Ed25519, Header, HeaderId, Look, Millis, PackageId, Root, Round,
    Sign, SigningKey, Turn, ValidatorsId,
};

/// Objects that move all the time.
const OBJECTS: i32 = 1_000;

/// Every so many objects have a script that runs in each tick.
const SCRIPTED_EVERY: i32 = 20;

/// Keeps its object moving in a circle, and looks around now and then.
const SOURCE: &str = "fn on_start() {
    state.steps = 0;
}

fn on_tick(dt) {
    state.steps += 1;
    if state.steps % 30 == 0 {
        let near = nearby(5);
        self_.text = `${near.len()} near`;
    }
    impulse(self_.velocity.rotate(PI / 2) * dt);
}
";

/// Adds up the time of each stage.
struct Stopwatch {
    times: BTreeMap<Stage, Duration>,
    running: Option<(Stage, Instant)>,
}

impl Stopwatch {
    fn stop(&mut self) {
        if let Some((stage, since)) = self.running.take() {
            *self.times.entry(stage).or_default() += since.elapsed();
        }
    }
}

impl Watch for Stopwatch {
    fn enter(&mut self, stage: Stage) {
        self.stop();
        self.running = Some((stage, Instant::now()));
    }
}

fn package() -> Package {
    Package::build(Draft {
        name: "circler".to_owned(),
        version: "1.0.0".to_owned(),
        entry: "circler.rhai".to_owned(),
        files: BTreeMap::from([("circler.rhai".to_owned(), SOURCE.as_bytes().to_vec())]),
        licence: "AGPL-3.0-or-later".to_owned(),
        authors: vec![Author { name: "The Metatopia authors".to_owned(), key: None }],
        ..Draft::default()
    })
    .expect("the package of this file")
}

/// Objects on a grid of 3 m, each with a velocity of its own, none of which is ever damped.
fn object(n: i32, package: PackageId) -> ObjectSpec {
    let mut dice = Stream::new(&[1; 32], "bench", &[n as u64]);
    let place = Vec2::new(Fx::from_int(n % 32 * 3 - 48), Fx::from_int(n / 32 * 3 - 48));
    let shape = if n % 2 == 0 {
        Shape::Circle { radius: Fx::HALF }
    } else {
        Shape::Rect { half: Vec2::new(Fx::HALF, Fx::HALF) }
    };
    let mut body = BodySpec::new(shape, Motion::Dynamic, place);
    let mut speed = || dice.fx_between(Fx::from_int(-3), Fx::from_int(3));
    body.velocity = Vec2::new(speed(), speed());
    body.spin = speed();
    body.restitution = Fx::ONE;
    body.friction = Fx::ZERO;
    let script = ScriptSpec { package, state: State::default() };
    ObjectSpec {
        kind: "thing".to_owned(),
        name: format!("thing {n}"),
        owner: None,
        look: Look::default(),
        text: String::new(),
        body,
        scripts: if n % SCRIPTED_EVERY == 0 { vec![script] } else { Vec::new() },
        licence: AssetLicence::default(),
    }
}

fn wall(x: i32, y: i32, half: (i32, i32)) -> ObjectSpec {
    let shape = Shape::Rect { half: Vec2::new(Fx::from_int(half.0), Fx::from_int(half.1)) };
    let place = Vec2::new(Fx::from_int(x), Fx::from_int(y));
    let mut body = BodySpec::new(shape, Motion::Static, place);
    body.restitution = Fx::ONE;
    ObjectSpec {
        kind: "wall".to_owned(),
        name: "wall".to_owned(),
        body,
        scripts: Vec::new(),
        licence: AssetLicence::default(),
        ..object(1, PackageId::default())
    }
}

fn genesis(server: &SigningKey) -> Genesis {
    let package = package();
    let mut objects: Vec<ObjectSpec> = (0..OBJECTS).map(|n| object(n, package.id())).collect();
    objects.extend([
        wall(0, 61, (62, 1)),
        wall(0, -61, (62, 1)),
        wall(61, 0, (1, 62)),
        wall(-61, 0, (1, 62)),
    ]);
    let mut parameters = Parameters::default();
    parameters.gas.tick = 1 << 24;
    parameters.gas.owner_refill = 1 << 24;
    parameters.gas.owner_capacity = 1 << 30;
    Genesis {
        name: "bench".to_owned(),
        engine: ENGINE,
        parameters,
        admins: BTreeSet::new(),
        validators: BTreeMap::from([(server.public(), Contact::default())]),
        packages: BTreeMap::from([(package.id(), package.encode())]),
        objects,
        licence: "AGPL-3.0-or-later".to_owned(),
        lands: Vec::new(),
        asset_licence: "CC-BY-SA-4.0".to_owned(),
    }
}

fn turn(world: &World, server: &SigningKey) -> Turn {
    let height = world.height().plus(1);
    let body = Body::default();
    let ((acts, act_count), (blobs, blob_count)) = (body.acts_root(), body.blobs_root());
    let header = Header {
        sim: world.sim(),
        engine: ENGINE,
        height,
        previous: HeaderId::default(),
        proposer: server.public(),
        round: Round(0),
        time: Millis(1_700_000_000_000 + 50 * height.0),
        acts,
        act_count,
        blobs,
        blob_count,
        root: Root::default(),
        validators: ValidatorsId::default(),
        next_validators: ValidatorsId::default(),
    };
    Turn { header, body }
}

fn main() {
    let turns: u64 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1_000);
    let server = SigningKey::from_seed([1; 32]);
    let genesis = genesis(&server);
    let mut world = World::genesis(&genesis, &Tools::new(Arc::new(Ed25519))).expect("a genesis");
    let ticks = turns * u64::from(genesis.parameters.ticks_per_turn);
    let (before, mut failures, mut calls) = (world.hashed_bytes(), 0, 0);
    let mut watch = Stopwatch { times: BTreeMap::new(), running: None };
    for _ in 0..turns {
        let turn = turn(&world, &server);
        let applied = world.apply_watched(&turn, &Serial, &mut watch);
        watch.stop();
        failures += applied.failures.len();
        calls += applied.order.len();
    }
    let total: Duration = watch.times.values().sum();
    let moving = world.objects().filter(|seen| seen.velocity != Vec2::ZERO).count();
    let rate = u128::from(ticks) * 1_000_000_000 / total.as_nanos().max(1);
    println!("{moving} of {OBJECTS} objects move; {calls} calls of scripts, {failures} failed");
    println!("{ticks} ticks in {total:.2?}: {rate} ticks/s, {:.2?} a turn", total / turns as u32);
    println!("{} bytes hashed a turn", (world.hashed_bytes() - before) / turns);
    for (stage, time) in watch.times {
        let share = time.as_nanos() * 1_000 / total.as_nanos().max(1);
        println!("  {:8} {:3}.{} %  {:.2?}", format!("{stage:?}"), share / 10, share % 10, time);
    }
    println!("root {}", world.root());
}
