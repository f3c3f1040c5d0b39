//! Compares what handlers take in each engine: `cargo run --release -p metatopia-scripting --features
//! compare --example compare -- --json`.
//!
//! Engines of other languages are measured by a workspace of their own over the same handlers: each prints
//! lines of the same form.

#![expect(clippy::unwrap_used, reason = "the interpreter to compare with is set up as in tests")]

#[path = "stage/interpreter.rs"]
mod interpreter;
#[path = "stage/world.rs"]
mod stage;
#[path = "../tests/stage/stock.rs"]
mod stock;

use std::{hint::black_box, sync::Arc};

use metatopia_math::{Fx, Vec2};
use metatopia_scripting::{
    Call, ErrorKind, Event, EventKind, Handler, HostFault, Port, ScriptContext, ScriptError,
    ScriptHandler, ScriptOutput, ScriptProgram, ScriptState, Value, WorldView, ports, tick_port,
};
use metatopia_types::{Digest, ObjectId, PackageId};

use stage::{Crowd, OBJECTS, least, package, run};

/// Looks at five neighbours, keeps away from them, and tells three of what happened.
const TICK: &str = include_str!("../src/port/samples/tick.rhai");

/// The greeter of the plaza, which hears every line that is said there.
const GREETER: &str = include_str!("../../scenarios/packages/greeter/greeter.rhai");

const CHATTY: &str = "
fn on_tick(dt) {
    for o in nearby(8) {
        say(`Hello, ${o.name}! It is ${now()}.`);
    }
    log(\"done\");
}";

const MAP_HEAVY: &str = "
fn on_tick(dt) {
    let seen = #{};
    for i in 0..24 {
        let name = `k${i % 12}`;
        seen[name] = (seen[name] ?? 0) + i;
    }
    let sum = 0;
    for name in seen.keys() { sum += seen[name]; }
    state.sum = sum; state.seen = seen;
}";

const IDLE: &str = "fn on_tick(dt) { }";

/// Two hundred lines of functions, to compile.
fn long_source() -> String {
    let function = |i: u32| {
        format!(
            "fn f{i}(a, b) {{\n    let x = a * 2 + b;\n    if x > {i} {{\n        x -= b;\n    }} else \
             {{\n        x += 1;\n    }}\n    for i in 0..3 {{ x += i; }}\n    x\n}}\n"
        )
    };
    (0..20).map(function).collect::<String>() + "fn on_tick(dt) { state.x = f0(1, 2); }"
}

/// The handler `tick` by hand.
struct NativeTick;

impl NativeTick {
    fn handle(scene: &mut ScriptContext, dt: Fx) -> Result<(), HostFault> {
        let fault = || HostFault::new(ErrorKind::Arithmetic, "out of range");
        let fx = |text| Fx::parse(text).expect("a number");
        let square = |x: Fx, y: Fx| x.checked_mul(x)?.checked_add(y.checked_mul(y)?);
        // As constants of a program would be.
        thread_local! {
            static NUMBERS: [Fx; 6] = ["0.01", "0.98", "25.0", "5.0", "0.5", "9.0"]
                .map(|text| Fx::parse(text).expect("a number"));
        }
        let [near, slow, most, five, half, nine] = NUMBERS.with(|numbers| *numbers);
        let _ = fx;
        let me = scene.me();
        let own = scene.object(me)?;
        let (pos, velocity) = (own.pos, own.velocity);
        let (mut ax, mut ay) = (Fx::ZERO, Fx::ZERO);
        let (mut best, mut best_distance) = (me, Fx::from_int(100));
        for other in scene.nearby(Fx::from_int(8))? {
            let at = scene.object(other)?.pos;
            let dx = at.x.checked_sub(pos.x).ok_or_else(fault)?;
            let dy = at.y.checked_sub(pos.y).ok_or_else(fault)?;
            let distance = square(dx, dy).ok_or_else(fault)?;
            if distance < best_distance {
                (best, best_distance) = (other, distance);
            }
            if distance < Fx::from_int(16) && distance > near {
                let inverse = Fx::ONE.checked_div(distance).ok_or_else(fault)?;
                let away = |d: Fx, a: Fx| a.checked_sub(d.checked_mul(inverse)?);
                ax = away(dx, ax).ok_or_else(fault)?;
                ay = away(dy, ay).ok_or_else(fault)?;
            }
        }
        let step = |v: Fx, a: Fx| v.checked_add(a.checked_mul(dt)?)?.checked_mul(slow);
        let mut vx = step(velocity.x, ax).ok_or_else(fault)?;
        let mut vy = step(velocity.y, ay).ok_or_else(fault)?;
        let speed = square(vx, vy).ok_or_else(fault)?;
        if speed > most {
            let k = five.checked_div(speed.sqrt().ok_or_else(fault)?).ok_or_else(fault)?;
            vx = vx.checked_mul(k).ok_or_else(fault)?;
            vy = vy.checked_mul(k).ok_or_else(fault)?;
        }
        scene.set_velocity(Vec2::new(vx, vy))?;
        scene.set_spin(vx.checked_mul(half).ok_or_else(fault)?)?;
        if best_distance < nine {
            scene.send(best, "ping", Value::Int(1))?;
        } else {
            scene.send(me, "idle", Value::Int(0))?;
        }
        scene.send(me, "moved", Value::Int(2))
    }
}

impl Handler for NativeTick {
    fn package(&self) -> PackageId {
        PackageId(Digest::ZERO)
    }

    fn handles(&self, kind: EventKind) -> bool {
        kind == EventKind::Tick
    }

    fn call(&self, call: &Call<'_>) -> Result<ScriptOutput, ScriptError> {
        let Event::Tick { dt } = call.event else { return Ok(ScriptOutput::default()) };
        let mut scene = ScriptContext::new(call);
        let handled = Self::handle(&mut scene, *dt);
        let failed =
            |fault: HostFault| ScriptError { kind: fault.kind, gas: 1, report: Box::default() };
        handled.and_then(|()| scene.finish()).map_err(failed)
    }
}

/// An engine with a handler of it.
type Measured = (&'static str, Box<dyn Handler>);

fn engines(name: &str, source: &str) -> Vec<Measured> {
    let package = package(source);
    let own = ScriptHandler::new(&package).expect("it compiles");
    let mut all: Vec<Measured> = vec![("metatopia", Box::new(own))];
    all.push(("rhai-fixed", Box::new(interpreter::StockHandler::new(stock::engine(), source))));
    if name == "tick" {
        all.push(("port", Box::new(PortOf(tick_port()))));
        all.push(("native", Box::new(NativeTick)));
    }
    all
}

/// A port as the handler that it has.
struct PortOf(Port);

impl Handler for PortOf {
    fn package(&self) -> PackageId {
        self.0.package
    }

    fn handles(&self, kind: EventKind) -> bool {
        self.0.handler.handles(kind)
    }

    fn call(&self, call: &Call<'_>) -> Result<ScriptOutput, ScriptError> {
        self.0.handler.call(call)
    }
}

/// The greeter, from its source and as a port.
fn greeters() -> Vec<Measured> {
    let own = ScriptHandler::new(&package(GREETER)).expect("it compiles");
    let port = ports().into_iter().next().expect("the greeter has a port");
    vec![("metatopia", Box::new(own)), ("port", Box::new(PortOf(port)))]
}

fn same(view: &Arc<dyn WorldView>, engines: &[Measured], event: &Event) {
    let state = Arc::new(ScriptState::default());
    for object in 0..OBJECTS {
        let part = |handler: &dyn Handler| {
            let part = run(view, handler, event, object, &state).expect("it does not fail");
            ScriptOutput { gas: 0, ..part }
        };
        let expected = part(&*engines[0].1);
        for (engine, handler) in &engines[1..] {
            assert_eq!(part(&**handler), expected, "{engine} on object {object}");
        }
    }
}

fn print(json: bool, handler: &str, engine: &str, nanoseconds: u64) {
    let (whole, rest) = (nanoseconds / 1_000, nanoseconds % 1_000);
    if json {
        println!("{{\"handler\":\"{handler}\",\"engine\":\"{engine}\",\"us\":{whole}.{rest:03}}}");
    } else {
        println!("{handler:10} {engine:12} {whole:6}.{rest:03} us");
    }
}

fn main() {
    let json = std::env::args().any(|argument| argument == "--json");
    let mut words = std::env::args().skip(1).filter(|argument| argument != "--json");
    let (only, engine) = (words.next(), words.next().unwrap_or_else(|| "metatopia".into()));
    let view: Arc<dyn WorldView> = Arc::new(Crowd::new());
    let state = Arc::new(ScriptState::default());
    let tick = Event::Tick { dt: Fx::from_ratio(1, 60) };
    let chat = Event::Chat { from: ObjectId(1), text: "what is this?".into() };
    for (name, source, event) in [
        ("tick", TICK, &tick),
        ("chatty", CHATTY, &tick),
        ("map-heavy", MAP_HEAVY, &tick),
        ("idle", IDLE, &tick),
        ("greeter", GREETER, &chat),
    ] {
        if only.as_deref().is_some_and(|only| only != name) {
            continue;
        }
        let mut engines = if name == "greeter" { greeters() } else { engines(name, source) };
        if only.is_some() {
            // For a profiler: nothing else runs.
            engines.retain(|(name, _)| *name == engine);
        }
        same(&view, &engines, event);
        let mut least_of = vec![u64::MAX; engines.len()];
        // Turn by turn, so that a slow moment of the machine is one for all.
        for _ in 0..40 {
            for ((_, handler), least_time) in engines.iter().zip(&mut least_of) {
                let time = least(1, OBJECTS, |object| {
                    black_box(run(&view, &**handler, event, object, &state).expect("as before"));
                });
                *least_time = time.min(*least_time);
            }
        }
        for ((engine, _), time) in engines.iter().zip(least_of) {
            print(json, name, engine, time);
        }
    }
    if only.is_some() {
        return;
    }
    let source = long_source();
    let compile = least(20, 5, |_| drop(black_box(ScriptProgram::compile(&source))));
    print(json, "compile-200-lines", "metatopia", compile);
    let package = package(TICK);
    let start = least(3, 1_000, |_| drop(black_box(ScriptHandler::new(&package))));
    print(json, "start-1000-scripts", "metatopia", start * 1_000);
}
