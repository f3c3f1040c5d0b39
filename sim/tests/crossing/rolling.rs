//! Things with scripts that roll over the line, come back and tell by their text how often they did.

use std::collections::BTreeMap;

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{BodySpec, Motion, Shape};
use metatopia_scripting::{Draft, Package, PackageAuthor, ScriptState, Value};
use metatopia_sim::{Genesis, ObjectSpec, ScriptSpec, WorldObject};
use metatopia_types::{
    Act, AssetLicence, Build, Look, ObjectId, Origin, PackageId, SignedEnvelope,
};

use crate::town::{ADMIN, Place, genesis, public, step, town_of};

/// What rolls back whenever it has come over a border.
const ROLLER: &str = "\
fn on_start() { timer(\"roll\", 0.1); }
fn on_timer(name) { self_.velocity = vec2(8 * state.way, 0); timer(\"roll\", 0.3); }
fn on_arrive() {
    state.way = 0 - state.way;
    state.n = state.n + 1;
    self_.text = \"came \" + state.n;
}
fn on_refused(why) { self_.text = \"refused: \" + why; }
";

/// What waits and remembers only.
pub(crate) const QUIET: &str = "fn on_arrive() { self_.text = \"here\"; }\n";

pub(crate) fn package(name: &str, source: &str) -> Package {
    package_importing(name, source, &[])
}

/// A package that imports these by their own names.
pub(crate) fn package_importing(name: &str, source: &str, imports: &[&Package]) -> Package {
    let import = |package: &&Package| (package.manifest().name.clone(), package.id());
    Package::build(Draft {
        imports: imports.iter().map(import).collect(),
        name: name.to_owned(),
        version: "1.0.0".to_owned(),
        api: 1,
        entry: "main.rhai".to_owned(),
        files: BTreeMap::from([("main.rhai".to_owned(), source.as_bytes().to_vec())]),
        licence: "AGPL-3.0-or-later".to_owned(),
        authors: vec![PackageAuthor { name: "A Tester".to_owned(), key: None }],
        ..Draft::default()
    })
    .unwrap_or_else(|error| panic!("package {name}: {error}"))
}

pub(crate) fn roller() -> Package {
    package("roller", ROLLER)
}

/// A ball at a place, with scripts that begin with this state.
pub(crate) fn ball(place: Vec2, scripts: &[PackageId], state: &ScriptState) -> ObjectSpec {
    let radius = Fx::from_ratio(3, 10);
    let script = |package: &PackageId| ScriptSpec { package: *package, state: state.clone() };
    ObjectSpec {
        kind: "ball".to_owned(),
        name: "a ball".to_owned(),
        owner: Some(public(7)),
        look: Look::default(),
        text: String::new(),
        body: BodySpec::new(Shape::Circle { radius }, Motion::Dynamic, place),
        scripts: scripts.iter().map(script).collect(),
        licence: AssetLicence::Cc0,
        spawner: None,
        seat: None,
    }
}

/// The state of a roller that goes this way.
pub(crate) fn way(way: i64) -> ScriptState {
    ScriptState([("way".to_owned(), Value::Int(way)), ("n".to_owned(), Value::Int(0))].into())
}

/// The geneses of sims that know the roller, the first of which has so many of them near its eastern line.
pub(crate) fn geneses(columns: i32, servers: u8, balls: i32) -> Vec<Genesis> {
    let package = roller();
    let with_package = |column: i32| {
        let mut genesis = genesis(column, servers);
        genesis.packages.insert(package.id(), package.encode());
        genesis
    };
    let mut all: Vec<Genesis> = (0..columns).map(with_package).collect();
    for n in 0..balls {
        let place = Vec2::new(Fx::from_int(29), Fx::from_int(8 + 2 * n));
        all[0].objects.push(ball(place, &[package.id()], &way(1)));
    }
    all
}

/// Lets every thing of every sim travel, or none.
pub(crate) fn let_travel(town: &mut [Place], travels: bool) -> Vec<SignedEnvelope> {
    let mut acts = Vec::new();
    for place in town {
        let things = place.world.objects().filter(|thing| thing.player.is_none());
        let things: Vec<ObjectId> =
            things.filter(|thing| thing.travels != travels).map(|thing| thing.id).collect();
        for object in things {
            let act = Act::Build(Build::LetTravel { object, travels });
            acts.push(place.act(public(ADMIN), 1, act));
        }
    }
    acts
}

/// A town of these geneses whose things travel.
pub(crate) fn rolling(geneses: Vec<Genesis>) -> Vec<Place> {
    let mut town = town_of(geneses);
    let_travel(&mut town, true);
    step(&mut town, 50);
    town
}

/// The thing of this origin in a sim.
pub(crate) fn thing(place: &Place, origin: Origin) -> Option<WorldObject> {
    place.world.objects().find(|thing| thing.origin == origin && thing.player.is_none())
}

/// The origin of the first thing of the western sim.
pub(crate) fn first(town: &[Place]) -> Origin {
    Origin { sim: town[0].id(), number: ObjectId(1) }
}
