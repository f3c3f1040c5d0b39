//! Stock rhai with its own numbers, which are floating point, and its ordinary interpreter.
//!
//! It runs the sources that our engine runs. Its host is written here: ours does not go together with a
//! rhai that has floating point.

#[path = "../../examples/stage/crowd.rs"]
mod crowd;

use std::{cell::RefCell, fmt::Write as _, process::ExitCode};

use metatopia_peers::{METERED_MAX, PeerEngine, PeerFailure, serve, source};
use rhai::{
    AST, Array, CallFnOptions, Dynamic, Engine, EvalAltResult, FuncRegistration, INT,
    ImmutableString, Map, Scope,
};

type RhaiResult<T> = Result<T, Box<EvalAltResult>>;

/// A handle of an object.
#[derive(Clone, Copy, PartialEq)]
struct RhaiObject(u64);

/// A vector of two numbers.
#[derive(Clone, Copy)]
struct RhaiVector {
    x: f64,
    y: f64,
}

/// Stands for the script's persistent variables.
#[derive(Clone, Copy)]
struct RhaiState;

/// What a call leaves.
#[derive(Default)]
struct RhaiLeft {
    velocity: Option<RhaiVector>,
    spin: Option<f64>,
    said: Vec<String>,
    sent: Vec<(u64, String, Dynamic)>,
    state: Map,
    log: Vec<String>,
}

/// The crowd, and the call under way.
struct RhaiScene {
    objects: Vec<(RhaiVector, RhaiVector)>,
    bits: Vec<[i64; 4]>,
    me: u64,
    left: RhaiLeft,
}

impl RhaiScene {
    fn new() -> Self {
        let bits = crowd::crowd();
        let objects = bits.iter().map(|numbers| {
            let [x, y, vx, vy] = numbers.map(|bits| bits as f64 / 4_294_967_296.0);
            (RhaiVector { x, y }, RhaiVector { x: vx, y: vy })
        });
        Self { objects: objects.collect(), bits, me: 0, left: RhaiLeft::default() }
    }

    fn object(&self, object: RhaiObject) -> RhaiResult<(RhaiVector, RhaiVector)> {
        let found = usize::try_from(object.0).ok().and_then(|place| self.objects.get(place));
        found.copied().ok_or_else(|| "there is no such object".into())
    }

    fn nearby(&mut self) -> Vec<RhaiObject> {
        let found = crowd::neighbours(self.bits[self.me as usize][0]);
        found.into_iter().filter(|object| *object != self.me).map(RhaiObject).collect()
    }

    fn mine(&mut self, object: RhaiObject) -> RhaiResult<&mut RhaiLeft> {
        if object.0 == self.me { Ok(&mut self.left) } else { Err("not its own".into()) }
    }
}

thread_local! {
    /// The interpreter owns the functions that work on it.
    static SCENE: RefCell<RhaiScene> = RefCell::new(RhaiScene::new());
}

fn with<T>(work: impl FnOnce(&mut RhaiScene) -> T) -> T {
    SCENE.with_borrow_mut(work)
}

#[expect(deprecated, reason = "the hook is marked so to say: volatile")]
fn engine() -> Engine {
    let mut engine = Engine::new();
    engine
        .set_max_expr_depths(64, 64)
        .set_max_call_levels(12)
        .set_max_string_size(4_096)
        .set_max_array_size(512)
        .set_max_map_size(128)
        .on_progress(|operations| (operations > METERED_MAX).then_some(Dynamic::UNIT))
        .on_var(|name, index, _| {
            Ok(match name {
                "state" if index == 0 => Some(Dynamic::from(RhaiState)),
                "self_" if index == 0 => Some(with(|scene| Dynamic::from(RhaiObject(scene.me)))),
                _ => None,
            })
        })
        .register_type_with_name::<RhaiVector>("vec2")
        .register_get("x", |vector: &mut RhaiVector| vector.x)
        .register_get("y", |vector: &mut RhaiVector| vector.y)
        .register_fn("vec2", |x: f64, y: f64| RhaiVector { x, y })
        .register_type_with_name::<RhaiState>("state")
        .register_fn("nearby", |_: INT| -> Array {
            let found = with(RhaiScene::nearby);
            found.into_iter().map(Dynamic::from).collect()
        })
        .register_fn("send", |to: RhaiObject, topic: ImmutableString, data: Dynamic| {
            with(|scene| scene.left.sent.push((to.0, topic.as_str().into(), data)));
        })
        .register_fn("now", || f64::from(crowd::NOW))
        .register_fn("say", |text: ImmutableString| {
            with(|scene| scene.left.said.push(text.as_str().into()));
        })
        .register_fn("log", |text: ImmutableString| {
            with(|scene| scene.left.log.push(text.as_str().into()));
        });
    objects(&mut engine);
    engine
}

fn objects(engine: &mut Engine) {
    engine
        .register_type_with_name::<RhaiObject>("object")
        .register_get("pos", |object: &mut RhaiObject| with(|s| s.object(*object)).map(|o| o.0))
        .register_get("velocity", |object: &mut RhaiObject| {
            with(|scene| scene.object(*object)).map(|found| found.1)
        })
        .register_get("name", |object: &mut RhaiObject| -> RhaiResult<ImmutableString> {
            with(|scene| scene.object(*object)).map(|_| crowd::NAME.into())
        });
    // A handle stays what it is when its object changes, so it may be a constant.
    FuncRegistration::new_setter("velocity").with_purity(true).register_into_engine(
        engine,
        |object: &mut RhaiObject, velocity: RhaiVector| {
            with(|scene| scene.mine(*object).map(|left| left.velocity = Some(velocity)))
        },
    );
    FuncRegistration::new_setter("spin").with_purity(true).register_into_engine(
        engine,
        |object: &mut RhaiObject, spin: f64| {
            with(|scene| scene.mine(*object).map(|left| left.spin = Some(spin)))
        },
    );
    FuncRegistration::new_index_setter().with_purity(true).register_into_engine(
        engine,
        |_: &mut RhaiState, name: ImmutableString, value: Dynamic| {
            with(|scene| scene.left.state.insert(name.as_str().into(), value));
        },
    );
}

/// Stock rhai with a handler.
struct RhaiPeer {
    engine: Engine,
    ast: AST,
}

impl PeerEngine for RhaiPeer {
    type Left = RhaiLeft;

    fn load(handler: &str) -> Result<Self, PeerFailure> {
        let engine = engine();
        let ast = engine.compile(source(handler)?)?;
        Ok(Self { engine, ast })
    }

    fn call(&mut self, object: u64) -> Result<RhaiLeft, PeerFailure> {
        with(|scene| (scene.me, scene.left) = (object, RhaiLeft::default()));
        let options = CallFnOptions::new().eval_ast(false);
        let (scope, dt) = (&mut Scope::new(), 1.0 / 60.0);
        self.engine.call_fn_with_options::<()>(options, scope, &self.ast, "on_tick", (dt,))?;
        Ok(with(|scene| std::mem::take(&mut scene.left)))
    }

    fn told(left: &RhaiLeft) -> String {
        let mut line = String::new();
        let _ = told_into(&mut line, left);
        line
    }
}

fn told_into(line: &mut String, left: &RhaiLeft) -> std::fmt::Result {
    if let Some(RhaiVector { x, y }) = left.velocity {
        write!(line, "velocity {x:.12} {y:.12} ")?;
    }
    if let Some(spin) = left.spin {
        write!(line, "spin {spin:.12} ")?;
    }
    for text in &left.said {
        write!(line, "say {text} ")?;
    }
    for (to, topic, data) in &left.sent {
        write!(line, "send {to} {topic} {data} ")?;
    }
    for (name, value) in &left.state {
        write!(line, "state {name} ")?;
        match value.read_lock::<Map>() {
            Some(map) => map.iter().try_for_each(|(name, v)| write!(line, "{name} {v} "))?,
            None => write!(line, "{value} ")?,
        }
    }
    left.log.iter().try_for_each(|text| write!(line, "log {text} "))
}

fn main() -> ExitCode {
    serve::<RhaiPeer>()
}
