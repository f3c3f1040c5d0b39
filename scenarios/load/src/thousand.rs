//! Measures the sim alone: a thousand objects that never rest, some of them with scripts.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};

use metatopia_math::{Fx, Stream, Vec2};
use metatopia_physics::{BodySpec, Motion, Shape};
use metatopia_scripting::{Draft, Package, PackageAuthor, ScriptState};
use metatopia_sim::{
    ENGINE, Genesis, ObjectSpec, Parameters, ScriptSpec, Serial, Stage, Tools, Watch, World,
};
use metatopia_types::{
    AssetLicence, Ed25519, Header, Look, Millis, NodeContact, PublicKey, Sign as _, SigningKey,
    Turn, TurnBody,
};

use super::figure::{Bound, Figure};

/// The number of objects that move all the time.
const OBJECTS: u32 = 1_000;

/// One of so many objects has a script that runs in each tick.
const SCRIPTED: u32 = 20;

/// The number of turns that are measured.
const TURNS: u64 = 200;

/// Half the side of the square that they are in, in metres.
const GROUND: i32 = 60;

/// A script that walks its object in circles, and looks around now and then.
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

/// Adds up the time of each stage of a turn.
#[derive(Default)]
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

/// Measures ticks in a second on one thread, and how the time is shared among stages.
#[must_use]
pub fn measure() -> Vec<Figure> {
    let server = SigningKey::from_seed([1; 32]).public();
    let genesis = genesis(server);
    let ticks = TURNS * u64::from(genesis.parameters.ticks_per_turn);
    let tools = Tools::new(Arc::new(Ed25519));
    let mut world = World::genesis(&genesis, &tools).expect("this genesis keeps the rules");
    let mut watch = Stopwatch::default();
    for _ in 0..TURNS {
        world.apply_watched(&empty_turn(&world, server), &Serial, &mut watch);
        watch.stop();
    }
    let total: Duration = watch.times.values().sum();
    let per_second = u128::from(ticks) * 1_000_000_000 / total.as_nanos().max(1);
    let per_second = u64::try_from(per_second).unwrap_or(u64::MAX);
    let share = |stages: &[Stage]| {
        let time: Duration = stages.iter().filter_map(|stage| watch.times.get(stage)).sum();
        u64::try_from(time.as_nanos() * 1_000 / total.as_nanos().max(1)).ok()
    };
    let part = |name, stages: &[Stage]| Figure::tenths(name, share(stages), "%", Bound::None);
    vec![
        Figure::new("1,000 moving objects", per_second, "ticks/s", Bound::None),
        part("share of physics", &[Stage::Physics]),
        part("share of scripts", &[Stage::Scripts, Stage::Merge]),
        part("share of hashing", &[Stage::Leaves]),
    ]
}

fn genesis(server: PublicKey) -> Genesis {
    let package = Package::build(Draft {
        name: "circler".to_owned(),
        version: "1.0.0".to_owned(),
        api: 1,
        entry: "circler.rhai".to_owned(),
        files: BTreeMap::from([("circler.rhai".to_owned(), SOURCE.into())]),
        licence: "AGPL-3.0-or-later".to_owned(),
        authors: vec![PackageAuthor { name: "The Metatopia authors".to_owned(), key: None }],
        ..Draft::default()
    });
    let package = package.expect("this package keeps the rules");
    let mut objects: Vec<ObjectSpec> = (0..OBJECTS).map(thing).collect();
    for object in objects.iter_mut().step_by(SCRIPTED as usize) {
        object.scripts = vec![ScriptSpec { package: package.id(), state: ScriptState::default() }];
    }
    objects.extend(walls().map(wall));
    let mut parameters = Parameters::default();
    // The limit is so high that no script waits for its budget.
    parameters.gas.tick = 1 << 24;
    parameters.gas.owner_refill = 1 << 24;
    parameters.gas.owner_capacity = 1 << 30;
    let packages = BTreeMap::from([(package.id(), package.encode())]);
    Genesis { parameters, packages, ..bare(server, objects) }
}

/// Returns the genesis of a sim with these objects and nothing else.
pub(crate) fn bare(server: PublicKey, objects: Vec<ObjectSpec>) -> Genesis {
    Genesis {
        name: "bench".to_owned(),
        admins: BTreeSet::new(),
        validators: BTreeMap::from([(server, NodeContact::default())]),
        objects,
        licence: "AGPL-3.0-or-later".to_owned(),
        asset_licence: "CC-BY-SA-4.0".to_owned(),
        ..Genesis::empty()
    }
}

pub(crate) fn object(kind: &str, body: BodySpec) -> ObjectSpec {
    ObjectSpec {
        kind: kind.to_owned(),
        name: kind.to_owned(),
        owner: None,
        look: Look::default(),
        text: String::new(),
        body,
        scripts: Vec::new(),
        licence: AssetLicence::default(),
        spawner: None,
        seat: None,
    }
}

/// Returns an object on a grid of 3 m, with a velocity of its own that nothing ever damps.
pub(crate) fn thing(n: u32) -> ObjectSpec {
    let mut dice = Stream::new(&[1; 32], "metatopia bench v1", &[u64::from(n)]);
    let at = |n: u32| Fx::from_int(i32::try_from(n * 3).expect("a small grid") - 48);
    let shape = match n % 2 {
        0 => Shape::Circle { radius: Fx::HALF },
        _ => Shape::Rect { half: Vec2::new(Fx::HALF, Fx::HALF) },
    };
    let mut body = BodySpec::new(shape, Motion::Dynamic, Vec2::new(at(n % 32), at(n / 32)));
    let mut speed = || dice.fx_between(Fx::from_int(-3), Fx::from_int(3));
    body.velocity = Vec2::new(speed(), speed());
    body.spin = speed();
    body.restitution = Fx::ONE;
    body.friction = Fx::ZERO;
    object("thing", body)
}

/// Returns where the walls around all objects are.
pub(crate) const fn walls() -> [(i32, i32); 4] {
    const FAR: i32 = GROUND + 1;
    [(0, FAR), (0, -FAR), (FAR, 0), (-FAR, 0)]
}

pub(crate) fn wall((x, y): (i32, i32)) -> ObjectSpec {
    let long = |across: i32| Fx::from_int(if across == 0 { GROUND + 2 } else { 1 });
    let shape = Shape::Rect { half: Vec2::new(long(x), long(y)) };
    let place = Vec2::new(Fx::from_int(x), Fx::from_int(y));
    let mut body = BodySpec::new(shape, Motion::Static, place);
    body.restitution = Fx::ONE;
    object("wall", body)
}

/// Returns the next turn, without acts. Nobody here checks what its header states of roots and
/// sets.
pub(crate) fn empty_turn(world: &World, server: PublicKey) -> Turn {
    let height = world.height().plus(1);
    let body = TurnBody::default();
    let header = Header {
        sim: world.sim(),
        engine: ENGINE,
        height,
        proposer: server,
        time: Millis(50 * height.0),
        root: world.root(),
        ..Header::unstated()
    };
    Turn::of(header, body)
}
