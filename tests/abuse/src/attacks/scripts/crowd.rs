//! A world of 64 keys: all are here, own as many things as fit, and run all scripts that they may.

use std::collections::BTreeMap;

use metatopia_math::{Fx, Vec2};
use metatopia_scenarios::plaza;
use metatopia_scripting::{Draft, Package, PackageAuthor, ScriptState};
use metatopia_sim::{
    Genesis, Motion, ObjectSpec, Parameters, ScriptSpec, Serial, Shape, World,
    limits::SCRIPTS_PER_OBJECT_MAX,
};
use metatopia_types::{
    Act, Blob, Digest, Height, Look, NodeContact, PackageId, PublicKey, SignedEnvelope, Turn,
};

use super::{super::lone_world::LoneWorld, StageTimes, recipes::Recipe};

/// Keys that have things.
const KEYS: usize = 64;

/// Metres between two of their things: as near to one another as the smallest discs can be.
const APART: (i64, i64) = (3, 20);

/// Things of a row.
const ROW: usize = 55;

/// Letters of the line that each key says in a turn, where keys speak.
const LETTERS: usize = 512;

/// Turns between two signs of life of a key; more than keys.
const HEARTBEAT: u64 = 100;

/// Milliseconds of a turn.
const TURN: u64 = 50;

/// A world under attack.
pub(super) struct Occupants {
    sim: LoneWorld,
    speaks: bool,
}

fn key(n: usize) -> PublicKey {
    PublicKey(Digest::of("a key of a crowd", &n.to_le_bytes()).0)
}

fn package(n: usize, source: &str) -> Result<Package, String> {
    let package = Package::build(Draft {
        name: format!("hostile-{n}"),
        version: "1.0.0".into(),
        api: 1,
        entry: "main.rhai".into(),
        files: [("main.rhai".into(), source.as_bytes().to_vec())].into(),
        licence: "AGPL-3.0-or-later".into(),
        authors: vec![PackageAuthor { name: "Mallory".into(), key: None }],
        ..Draft::default()
    });
    package.map_err(|error| error.to_string())
}

impl Occupants {
    /// Founds a plaza with what the keys of this recipe have put up, and lets them in.
    pub(super) fn assemble(recipe: &Recipe) -> Result<Self, String> {
        let servers: BTreeMap<_, _> =
            (1..=4).map(|n| (PublicKey([n; 32]), NodeContact::default())).collect();
        let mut genesis = plaza::genesis(servers, [PublicKey([9; 32])].into());
        let mut packages = Vec::new();
        for (n, source) in recipe.sources.iter().enumerate() {
            let package = package(n, source)?;
            packages.push(package.id());
            genesis.packages.insert(package.id(), package.encode());
        }
        packages.extend(recipe.of_the_plaza.iter().flat_map(|name| running(&genesis, name)));
        put_up(&mut genesis, recipe, &packages)?;
        let sim = LoneWorld::found(&genesis, TURN)?;
        let mut crowd = Self { sim, speaks: recipe.speaks };
        let turn = crowd.turn();
        crowd.apply(&turn, &mut StageTimes::default());
        let here = crowd.world().present().count();
        if here == KEYS { Ok(crowd) } else { Err(format!("{here} of {KEYS} keys came in")) }
    }

    pub(super) fn world(&self) -> &World {
        &self.sim.world
    }

    /// Returns the next turn: the keys log in, say what they say, and give signs of life.
    pub(super) fn turn(&mut self) -> Turn {
        let height = self.sim.world.height().plus(1);
        let line = Blob(vec![b'a'; LETTERS]);
        let says = |n: usize| -> Option<Act> {
            if height == Height(1) {
                Some(Act::login(format!("key {n}"), Look::default()))
            } else if self.speaks {
                Some(Act::Say { channel: 1, body: line.id() })
            } else {
                (height.0 % HEARTBEAT == n as u64).then_some(Act::Heartbeat)
            }
        };
        let acts: Vec<(usize, Act)> = (0..KEYS).filter_map(|n| Some((n, says(n)?))).collect();
        let acts: Vec<SignedEnvelope> =
            acts.into_iter().map(|(n, act)| self.sim.act(key(n), act)).collect();
        let speak = self.speaks && height > Height(1);
        self.sim.turn(acts, if speak { vec![line] } else { Vec::new() })
    }

    /// Plays a turn.
    pub(super) fn apply(&mut self, turn: &Turn, stages: &mut StageTimes) {
        stages.time(|stages| self.sim.world.apply_watched(turn, &Serial, stages));
    }
}

/// Returns the package of this name that runs on the plaza.
fn running(genesis: &Genesis, name: &str) -> Option<PackageId> {
    let specs = genesis.objects.iter().flat_map(|object| &object.scripts);
    let mut ids = specs.map(|script| script.package);
    ids.find(|id| {
        let package = genesis.packages.get(id).and_then(|bytes| Package::decode(bytes).ok());
        package.is_some_and(|package| package.manifest().name == name)
    })
}

/// Returns the things of all keys: whose each is, the how manyeth of theirs, and whether it can be
/// pushed. Those that can come first, so that they lie in one heap.
fn things(
    recipe: &Recipe,
    parameters: &Parameters,
    each: usize,
) -> impl Iterator<Item = (usize, usize, bool)> + use<> {
    let rules = &parameters.building;
    let (max, each_movable) = if recipe.movable {
        (rules.movable_max as usize, rules.movable_per_player as usize)
    } else {
        (0, 0)
    };
    let movable = move |owner: usize| each_movable.min(max.saturating_sub(owner * each_movable));
    let pushed =
        (0..KEYS).flat_map(move |owner| (0..movable(owner)).map(move |n| (owner, n, true)));
    let fixed = move |owner| (movable(owner)..each).map(move |n| (owner, n, false));
    pushed.chain((0..KEYS).flat_map(fixed))
}

/// Puts a crowd of small discs onto the square, as many as the world takes.
fn put_up(genesis: &mut Genesis, recipe: &Recipe, packages: &[PackageId]) -> Result<(), String> {
    let parameters = &genesis.parameters.clone();
    let room = (parameters.objects_max - parameters.avatars_max) as usize - genesis.objects.len();
    let each = (room / KEYS).min(parameters.building.objects_per_player as usize);
    let each = if recipe.is_roomy { each / 2 } else { each };
    let most = (parameters.building.scripts_per_player as usize).min(recipe.scripts_each);
    let movable = genesis.objects.iter().find(|object| object.body.motion == Motion::Dynamic);
    let like = movable.ok_or("the plaza has nothing that can be pushed")?.clone();
    for (place, (owner, nth, can_be_pushed)) in things(recipe, parameters, each).enumerate() {
        let of_this = nth * SCRIPTS_PER_OBJECT_MAX..(nth + 1) * SCRIPTS_PER_OBJECT_MAX;
        let spec = |n: usize| ScriptSpec {
            package: packages[n % packages.len()],
            state: ScriptState::default(),
        };
        let mut thing = ObjectSpec {
            kind: "disc".to_owned(),
            name: "disc".to_owned(),
            owner: Some(key(owner)),
            scripts: of_this.filter(|n| *n < most).map(spec).collect(),
            ..like.clone()
        };
        let at = |n: usize| Fx::from_ratio(n as i64 * APART.0, APART.1);
        let corner = Vec2::new(Fx::from_int(-19), Fx::from_int(-19));
        thing.body.shape = Shape::Circle { radius: Fx::from_ratio(1, 16) };
        thing.body.motion = if can_be_pushed { Motion::Dynamic } else { Motion::Static };
        thing.body.pose.position =
            corner.saturating_add(Vec2::new(at(place % ROW), at(place / ROW)));
        genesis.objects.push(thing);
    }
    Ok(())
}
