//! A small world, and the shortest way to run a script in it.

use std::{collections::BTreeMap, sync::Arc};

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_scripting::{
    AlongRay, Call, Draft, Event, Handler, NamedClub, Nearby, ObjectView, ObjectWrites, Package,
    PackageAuthor, ScriptError, ScriptHandler, ScriptOutput, ScriptState, Value, WorldView,
    limits::GAS_PER_CALL_MAX,
};
use metatopia_types::{AssetLicence, Digest, ObjectId, Origin, Permission, ScriptId, SimId, Tick};

/// The object that scripts run on here.
pub(crate) const ME: ObjectId = ObjectId(1);

pub(crate) struct Thing {
    pub id: ObjectId,
    pub name: &'static str,
    pub kind: &'static str,
    pub pos: Vec2,
    pub velocity: Vec2,
    pub spawner: Option<ObjectId>,
}

pub(crate) struct World {
    pub things: Vec<Thing>,
    pub tick: Tick,
    pub seed: Digest,
    /// An object that nobody may look at: the view panics.
    pub cursed: Option<ObjectId>,
    /// What the players let things do.
    pub allowed: Vec<Permission>,
}

pub(crate) fn fx(text: &str) -> Fx {
    Fx::parse(text).unwrap()
}

pub(crate) fn point(x: &str, y: &str) -> Vec2 {
    Vec2::new(fx(x), fx(y))
}

/// A bell at the origin, a crate 3 m and a player 4 m away, another crate far off.
pub(crate) fn world() -> World {
    let thing = |id, name, kind, pos| {
        let (velocity, spawner) = (Vec2::ZERO, None);
        Thing { id: ObjectId(id), name, kind, pos, velocity, spawner }
    };
    World {
        things: vec![
            thing(1, "bell", "sign", Vec2::ZERO),
            thing(2, "crate", "crate", point("3", "0")),
            thing(3, "Ada", "avatar", point("0", "4")),
            thing(4, "far", "crate", point("30", "0")),
        ],
        tick: Tick(90),
        seed: Digest([7; 32]),
        cursed: None,
        allowed: vec![Permission::Move, Permission::Dress],
    }
}

/// The origin of a thing of the small world, which was born in it.
pub(crate) const fn origin(number: u64) -> Origin {
    Origin { sim: SimId(Digest([0x5a; 32])), number: ObjectId(number) }
}

impl WorldView for World {
    fn object(&self, id: ObjectId) -> Option<ObjectView<'_>> {
        assert!(self.cursed != Some(id), "object {id} is cursed");
        self.things.iter().find(|thing| thing.id == id).map(|thing| ObjectView {
            origin: origin(thing.id.0),
            name: thing.name,
            kind: thing.kind,
            pos: thing.pos,
            angle: Angle::ZERO,
            velocity: thing.velocity,
            spin: Fx::ZERO,
            color: 0x808080,
            text: "",
            sensor: false,
            licence: AssetLicence::Cc0,
            player: (thing.kind == "avatar").then_some(metatopia_types::PublicKey([9; 32])),
            owner: None,
            spawner: thing.spawner,
        })
    }

    fn nearby(&self, center: Vec2, radius: Fx, max: u32) -> Nearby {
        let mut found: Vec<_> = self
            .things
            .iter()
            .map(|thing| (thing.pos.distance(center), thing.id))
            .filter(|(distance, _)| *distance <= radius)
            .collect();
        found.sort();
        let objects = found.into_iter().map(|(_, id)| id).take(max as usize).collect();
        Nearby { objects, looked: self.things.len() }
    }

    fn named(&self, object: ObjectId, name: &str, max: u32) -> Nearby {
        let mut objects: Vec<ObjectId> = self
            .things
            .iter()
            .filter(|thing| thing.id != object && thing.name == name && thing.kind != "avatar")
            .map(|thing| thing.id)
            .collect();
        objects.sort();
        objects.truncate(max as usize);
        Nearby { objects, looked: self.things.len() }
    }

    fn allows(&self, _: ObjectId, _: ObjectId, permission: Permission) -> bool {
        self.allowed.contains(&permission)
    }

    /// Returns whether this is Ada, who is a gardener, and the club is that of gardeners.
    fn is_member(&self, who: ObjectId, club: NamedClub<'_>) -> bool {
        let gardeners = matches!(club, NamedClub::Name("gardeners") | NamedClub::Number(3));
        who == ObjectId(3) && gardeners
    }

    /// Finds the first thing on the way. Each thing is a point on the way, or is not met.
    fn along_ray(&self, from: Vec2, to: Vec2, skip: ObjectId) -> AlongRay {
        let way = to.saturating_sub(from);
        let met = self.things.iter().filter(|thing| thing.id != skip).filter_map(|thing| {
            let offset = thing.pos.saturating_sub(from);
            let along = offset.dot(way).saturating_div(way.length_squared());
            let is_met = way.cross(offset) == Fx::ZERO && along >= Fx::ZERO && along <= Fx::ONE;
            is_met.then_some((along, thing.id))
        });
        let first = met.min().map(|(along, id)| (id, along));
        AlongRay { first, looked: self.things.len() }
    }

    fn tick(&self) -> Tick {
        self.tick
    }

    fn seed(&self) -> Digest {
        self.seed
    }
}

pub(crate) fn draft(source: &str) -> Draft {
    Draft {
        name: "example".into(),
        version: "1.0.0".into(),
        api: 1,
        entry: "main.rhai".into(),
        files: BTreeMap::from([("main.rhai".into(), source.into())]),
        licence: "AGPL-3.0-or-later".into(),
        authors: vec![PackageAuthor { name: "Ada".into(), key: None }],
        ..Draft::default()
    }
}

pub(crate) fn handler(source: &str) -> ScriptHandler {
    let package = Package::build(draft(source)).unwrap();
    ScriptHandler::new(&package).unwrap_or_else(|error| panic!("{error}\n{source}"))
}

/// Runs one event over a world, with a state.
pub(crate) fn run_in(
    world: World,
    handler: &dyn Handler,
    event: &Event,
    state: ScriptState,
) -> Result<ScriptOutput, ScriptError> {
    let view: Arc<dyn WorldView> = Arc::new(world);
    handler.call(&Call {
        view: &view,
        script: ScriptId(9),
        object: ME,
        index: 0,
        event,
        state: &Arc::new(state),
        own: &ObjectWrites::default(),
        gas: GAS_PER_CALL_MAX,
    })
}

/// Runs the statements as `on_start`, in the usual world.
pub(crate) fn start(statements: &str) -> Result<ScriptOutput, ScriptError> {
    let handler = handler(&format!("fn on_start() {{\n{statements}\n}}"));
    run_in(world(), &handler, &Event::Start, ScriptState::default())
}

/// The value of an expression: it goes through the state.
pub(crate) fn value(expression: &str) -> Value {
    let part = start(&format!("state.x = {expression};"));
    let part = part.unwrap_or_else(|error| panic!("{expression}: {error}"));
    part.state.map_or(Value::Unit, |state| state.0["x"].clone())
}

/// The error of an expression.
pub(crate) fn error(expression: &str) -> ScriptError {
    match start(&format!("state.x = {expression};")) {
        Err(error) => error,
        Ok(part) => panic!("{expression} gives {part:?}"),
    }
}
