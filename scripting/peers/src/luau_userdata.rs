//! Luau, as a game would embed it: objects and vectors are userdata, the globals are sealed, and an
//! interrupt ends what runs too long. Its numbers are floating point.

#[path = "../../examples/stage/crowd.rs"]
mod crowd;

use std::{cell::RefCell, collections::BTreeMap, process::ExitCode, rc::Rc};

use metatopia_math::{Fx, Vec2};
use metatopia_peers::{
    METERED_MAX, PeerEngine, PeerFailure, serve,
    stage::{self, PeerStage},
};
use metatopia_scripting::{HostFault, ScriptContext, ScriptOutput, Value};
use metatopia_types::ObjectId;
use mlua::{
    AnyUserData, Function, Lua, LuaOptions, LuaString, MetaMethod, StdLib, UserData,
    UserDataFields, UserDataMethods, UserDataRef, VmState,
};

/// The call under way.
type LuauScene = Rc<RefCell<Option<ScriptContext>>>;

/// Numbers of ours are multiples of this part of one.
const UNITS: f64 = 4_294_967_296.0;

fn to_float(number: Fx) -> f64 {
    number.to_bits() as f64 / UNITS
}

fn to_fixed(number: f64) -> Fx {
    Fx::from_bits((number * UNITS).round() as i64)
}

fn in_scene<T>(
    scene: &LuauScene,
    work: impl FnOnce(&mut ScriptContext) -> Result<T, HostFault>,
) -> mlua::Result<T> {
    let mut scene = scene.borrow_mut();
    let scene = scene.as_mut().ok_or_else(|| mlua::Error::runtime("there is no world here"))?;
    work(scene).map_err(|fault| mlua::Error::runtime(fault.message))
}

/// A vector of two numbers.
#[derive(Clone, Copy)]
struct LuauVector(f64, f64);

impl LuauVector {
    fn of(vector: Vec2) -> Self {
        Self(to_float(vector.x), to_float(vector.y))
    }
}

impl UserData for LuauVector {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("x", |_, vector| Ok(vector.0));
        fields.add_field_method_get("y", |_, vector| Ok(vector.1));
    }
}

/// A handle of an object.
struct LuauObject {
    id: ObjectId,
    scene: LuauScene,
}

impl UserData for LuauObject {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("pos", |_, this| {
            in_scene(&this.scene, |scene| Ok(LuauVector::of(scene.object(this.id)?.pos)))
        });
        fields.add_field_method_get("velocity", |_, this| {
            in_scene(&this.scene, |scene| Ok(LuauVector::of(scene.object(this.id)?.velocity)))
        });
        fields.add_field_method_get("name", |lua, this| {
            let name =
                |scene: &mut ScriptContext| Ok(lua.create_string(scene.object(this.id)?.name));
            in_scene(&this.scene, name)?
        });
        fields.add_field_method_set("velocity", |_, this, vector: UserDataRef<LuauVector>| {
            let velocity = Vec2::new(to_fixed(vector.0), to_fixed(vector.1));
            in_scene(&this.scene, |scene| {
                mine(scene, this.id)?;
                scene.set_velocity(velocity)
            })
        });
        fields.add_field_method_set("spin", |_, this, spin: f64| {
            in_scene(&this.scene, |scene| {
                mine(scene, this.id)?;
                scene.set_spin(to_fixed(spin))
            })
        });
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Eq, |_, this, other: UserDataRef<Self>| {
            Ok(this.id == other.id)
        });
    }
}

fn mine(scene: &ScriptContext, object: ObjectId) -> Result<(), HostFault> {
    let fault = || HostFault::new(metatopia_scripting::ErrorKind::Argument, "not its own");
    (object == scene.me()).then_some(()).ok_or_else(fault)
}

fn to_value(value: mlua::Value) -> mlua::Result<Value> {
    Ok(match value {
        mlua::Value::Nil => Value::Unit,
        mlua::Value::Integer(number) => Value::Int(number.into()),
        mlua::Value::Number(number) if number.fract() == 0.0 => Value::Int(number as i64),
        mlua::Value::Number(number) => Value::Fixed(to_fixed(number)),
        mlua::Value::String(text) => Value::Text(text.to_str()?.to_owned()),
        mlua::Value::Table(table) => {
            let entries = table.pairs::<LuaString, mlua::Value>().map(|entry| {
                let (name, value) = entry?;
                Ok((name.to_str()?.to_owned(), to_value(value)?))
            });
            Value::Map(entries.collect::<mlua::Result<BTreeMap<_, _>>>()?)
        }
        _ => return Err(mlua::Error::runtime("that cannot be kept")),
    })
}

/// Luau with a handler, and all objects that scripts may hold.
struct LuauPeer {
    // Before what it belongs to.
    on_tick: Function,
    objects: Rc<Vec<AnyUserData>>,
    interrupts: Rc<RefCell<u64>>,
    scene: LuauScene,
    stage: PeerStage,
    _lua: Lua,
}

/// Registers what scripts call.
fn register(lua: &Lua, scene: &LuauScene, objects: &Rc<Vec<AnyUserData>>) -> mlua::Result<()> {
    let globals = lua.globals();
    let vec2 = lua.create_function(|_, (x, y): (f64, f64)| Ok(LuauVector(x, y)))?;
    globals.set("vec2", vec2)?;
    let (here, objects) = (Rc::clone(scene), Rc::clone(objects));
    let nearby = lua.create_function(move |lua, radius: f64| {
        let found = in_scene(&here, |scene| scene.nearby(to_fixed(radius)))?;
        lua.create_sequence_from(found.iter().map(|id| &objects[id.0 as usize]))
    })?;
    globals.set("nearby", nearby)?;
    let here = Rc::clone(scene);
    let send = lua.create_function(
        move |_, (to, topic, data): (UserDataRef<LuauObject>, LuaString, mlua::Value)| {
            let data = to_value(data)?;
            in_scene(&here, |scene| scene.send(to.id, &topic.to_string_lossy(), data))
        },
    )?;
    globals.set("send", send)?;
    let here = Rc::clone(scene);
    let now =
        lua.create_function(move |_, ()| in_scene(&here, |scene| Ok(to_float(scene.now()))))?;
    globals.set("now", now)?;
    let here = Rc::clone(scene);
    let say = lua.create_function(move |_, text: LuaString| {
        in_scene(&here, |scene| scene.say(&text.to_string_lossy()))
    })?;
    globals.set("say", say)?;
    let here = Rc::clone(scene);
    let log = lua.create_function(move |_, text: LuaString| {
        in_scene(&here, |scene| {
            scene.log(&text.to_string_lossy());
            Ok(())
        })
    })?;
    globals.set("log", log)?;
    let here = Rc::clone(scene);
    let keep = lua.create_function(move |_, (name, value): (LuaString, mlua::Value)| {
        let value = to_value(value)?;
        in_scene(&here, |scene| scene.keep(&name.to_string_lossy(), value))
    })?;
    globals.set("keep", keep)
}

impl PeerEngine for LuauPeer {
    type Left = ScriptOutput;

    fn load(handler: &str) -> Result<Self, PeerFailure> {
        let source = match handler {
            "tick" => include_str!("../handlers/tick.luau"),
            "chatty" => include_str!("../handlers/chatty.luau"),
            "map-heavy" => include_str!("../handlers/map-heavy.luau"),
            "idle" => include_str!("../handlers/idle.luau"),
            _ => return Err("there is no such handler".into()),
        };
        let libraries = StdLib::TABLE | StdLib::STRING | StdLib::MATH;
        let lua = Lua::new_with(libraries, LuaOptions::default())?;
        let scene = LuauScene::default();
        let object =
            |id| lua.create_userdata(LuauObject { id: ObjectId(id), scene: scene.clone() });
        let objects = (0..crowd::OBJECTS).map(object).collect::<mlua::Result<Vec<_>>>()?;
        let objects = Rc::new(objects);
        register(&lua, &scene, &objects)?;
        let interrupts = Rc::new(RefCell::new(0));
        let counted = Rc::clone(&interrupts);
        lua.set_interrupt(move |_| {
            let mut counted = counted.borrow_mut();
            *counted += 1;
            if *counted > METERED_MAX {
                return Err(mlua::Error::runtime("it runs too long"));
            }
            Ok(VmState::Continue)
        });
        lua.sandbox(true)?;
        lua.load(source).set_name(handler).exec()?;
        let on_tick = lua.globals().get("on_tick")?;
        Ok(Self { on_tick, objects, interrupts, scene, stage: PeerStage::new(), _lua: lua })
    }

    fn call(&mut self, object: u64) -> Result<ScriptOutput, PeerFailure> {
        *self.interrupts.borrow_mut() = 0;
        *self.scene.borrow_mut() = Some(self.stage.context(object));
        let me = &self.objects[object as usize];
        self.on_tick.call::<()>((me, to_float(stage::dt())))?;
        stage::finish(self.scene.borrow_mut().take())
    }

    fn told(left: &ScriptOutput) -> String {
        stage::told(left)
    }
}

fn main() -> ExitCode {
    serve::<LuauPeer>()
}
