//! Compares what handlers take in each engine: `cargo run --release -p metatopia-scripting --features
//! compare --example compare`. It prints tables, and with `--json` lines.
//!
//! Engines that cannot be in one build with ours are programs of the workspace `scripting/peers`, which
//! this builds and starts; with `--own` it leaves them out. All take turns, so that a slow moment of the
//! machine is one for all, and what counts is the processor time of the thread that runs a handler.
//!
//! A profiler wants one handler in one engine: `compare tick metatopia`. Several may be named: `compare tick
//! metered,unmetered` shows what metering takes.

#![expect(clippy::unwrap_used, reason = "the interpreter to compare with is set up as in tests")]

mod bounds;
#[path = "../stage/interpreter.rs"]
mod interpreter;
mod native;
mod peers;
#[path = "../stage/world.rs"]
mod stage;
#[path = "../../tests/stage/stock.rs"]
mod stock;
#[path = "../stage/told.rs"]
mod told;

use std::{hint::black_box, sync::Arc};

use metatopia_math::Fx;
use metatopia_scripting::{
    Call, Event, EventKind, Handler, Port, ScriptError, ScriptHandler, ScriptOutput, ScriptProgram,
    ScriptState, WorldView, ports, tick_port,
};
use metatopia_types::{ObjectId, PackageId};

use bounds::Row;
use peers::{PEERS, PeerProcess};
use stage::{Crowd, OBJECTS, least, mean, package, run};

/// How often each engine has its turn; the median counts.
const ROUNDS: usize = 21;

/// The handlers that every engine has, and their sources.
const HANDLERS: [(&str, &str); 4] = [
    ("tick", include_str!("../../src/port/samples/tick.rhai")),
    ("chatty", include_str!("../handlers/chatty.rhai")),
    ("map-heavy", include_str!("../handlers/map-heavy.rhai")),
    ("idle", include_str!("../handlers/idle.rhai")),
];

/// The greeter of the plaza, which hears every line that is said there.
const GREETER: &str = include_str!("../../../scenarios/packages/greeter/greeter.rhai");

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

/// An engine of this build with a handler of it.
type Measured = (&'static str, Box<dyn Handler>);

fn engines(name: &str, source: &str) -> Vec<Measured> {
    let own = ScriptHandler::new(&package(source)).expect("it compiles");
    let mut all: Vec<Measured> = vec![("metatopia", Box::new(own))];
    if let Some(native) = native::native(name) {
        all.push(("native", Box::new(native)));
        all.push(("rhai-fixed", Box::new(interpreter::StockHandler::new(stock::engine(), source))));
    }
    match name {
        "tick" => all.push(("port", Box::new(PortOf(tick_port())))),
        "greeter" => {
            let port = ports().into_iter().next().expect("the greeter has a port");
            all.push(("port", Box::new(PortOf(port))));
        }
        _ => {}
    }
    all
}

/// The world that handlers of this build see, and the event that they get.
struct Stage {
    view: Arc<dyn WorldView>,
    event: Event,
    state: Arc<ScriptState>,
}

impl Stage {
    fn call(&self, handler: &dyn Handler, object: u64) -> ScriptOutput {
        let output = run(&self.view, handler, &self.event, object, &self.state);
        output.expect("it does not fail")
    }

    /// Holds that engines of this build leave the same.
    fn same(&self, engines: &[Measured]) {
        for object in 0..OBJECTS {
            let left =
                |handler: &dyn Handler| ScriptOutput { gas: 0, ..self.call(handler, object) };
            for pair in engines.windows(2) {
                let [(one, first), (other, second)] = pair else { unreachable!("two") };
                assert_eq!(left(&**first), left(&**second), "{one}, {other}, object {object}");
            }
        }
    }

    /// Makes a peer run a handler, if it leaves the same as ours.
    fn load<'a>(
        &self,
        peer: &'a mut Result<PeerProcess, String>,
        (name, source): (&str, &str),
    ) -> Result<Contender<'a>, String> {
        let peer = peer.as_mut().map_err(|why| why.clone())?;
        peer.load(name)?;
        let ours = ScriptHandler::new(&package(source)).expect("it compiles");
        for object in 0..OBJECTS {
            peer.check(object, &told::told(&self.call(&ours, object)))?;
        }
        Ok(Contender::There(peer))
    }

    /// Measures engines of this build and peers in turns.
    fn rows(
        &self,
        handler: (&str, &str),
        engines: &[Measured],
        peers: &mut [(&'static str, Result<PeerProcess, String>)],
    ) -> Vec<Row> {
        eprintln!("{}: is measured", handler.0);
        self.same(engines);
        let here = engines.iter().map(|(name, engine)| (*name, Ok(Contender::Here(&**engine))));
        let there = peers.iter_mut().map(|(name, peer)| (*name, self.load(peer, handler)));
        let mut all: Vec<_> = here.chain(there).map(|(name, it)| (name, it, vec![])).collect();
        for _ in 0..ROUNDS {
            for (_, contender, times) in &mut all {
                match contender.as_mut().map(|contender| contender.measure(self)) {
                    Ok(Ok(time)) => times.push(time),
                    Ok(Err(why)) => *contender = Err(why),
                    Err(_) => {}
                }
            }
        }
        let median = |mut times: Vec<u64>| {
            times.sort_unstable();
            times[times.len() / 2]
        };
        let row = |(engine, contender, times): (_, Result<Contender<'_>, String>, _)| Row {
            engine,
            result: contender.map(|_| median(times)),
        };
        all.into_iter().map(row).collect()
    }
}

/// An engine that has loaded a handler.
enum Contender<'a> {
    Here(&'a dyn Handler),
    There(&'a mut PeerProcess),
}

impl Contender<'_> {
    fn measure(&mut self, stage: &Stage) -> Result<u64, String> {
        match self {
            Self::Here(handler) => {
                Ok(mean(OBJECTS, |object| drop(black_box(stage.call(*handler, object)))))
            }
            Self::There(peer) => peer.measure(),
        }
    }
}

/// Measures what a script takes before its first event.
fn starts() -> [(&'static str, u64); 2] {
    let source = long_source();
    let compile = least(20, 5, |_| drop(black_box(ScriptProgram::compile(&source))));
    let package = package(HANDLERS[0].1);
    let start = least(3, 1_000, |_| drop(black_box(ScriptHandler::new(&package))));
    [("compile-200-lines", compile), ("start-1000-scripts", start * 1_000)]
}

fn main() {
    let (flags, words): (Vec<_>, Vec<_>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let is_set = |flag: &str| flags.iter().any(|known| known == flag);
    let print = if is_set("--json") { bounds::print_lines } else { bounds::print_table };
    let only = words.first().map(String::as_str);
    let engine = only.map(|_| words.get(1).map_or("metatopia", String::as_str));
    let is_asked = |name: &str| engine.is_none_or(|asked| asked.split(',').any(|one| one == name));
    let asked_engines = |name: &str, source: &str| {
        let mut engines = engines(name, source);
        engines.retain(|(engine, _)| is_asked(engine));
        engines
    };
    let peers = PEERS.iter().filter(|peer| is_asked(peer.name) && !is_set("--own"));
    let mut peers: Vec<_> = peers.map(|peer| (peer.name, PeerProcess::start(peer))).collect();
    let mut stage = Stage {
        view: Arc::new(Crowd::new()),
        event: Event::Tick { dt: Fx::from_ratio(1, 60) },
        state: Arc::new(ScriptState::default()),
    };
    for (name, source) in HANDLERS.into_iter().filter(|(name, _)| only.is_none_or(|o| o == *name)) {
        print(name, &stage.rows((name, source), &asked_engines(name, source), &mut peers));
    }
    if only.is_none_or(|only| only == "greeter") {
        stage.event = Event::Chat { from: ObjectId(1), text: "what is this?".into() };
        let engines = asked_engines("greeter", GREETER);
        print("greeter", &stage.rows(("greeter", GREETER), &engines, &mut []));
    }
    if only.is_none() {
        for (name, time) in starts() {
            print(name, &[Row { engine: "metatopia", result: Ok(time) }]);
        }
    }
}
