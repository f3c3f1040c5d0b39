//! A port does what its source does, in all that can be seen of it.

mod linked;
pub(crate) mod town;
mod walk;

#[path = "../../tests/oracle"]
mod oracle {
    #![allow(dead_code, reason = "the oracle runs programs, and ports borrow its programs alone")]
    pub(super) mod grammar;
}

use alloc::{collections::BTreeMap, string::String, sync::Arc, vec, vec::Vec};
use core::cell::RefCell;

use metatopia_math::{Fx, Vec2};
use metatopia_types::{Digest, ObjectId, PackageId};
use proptest::prelude::*;

use super::{PortTables, samples, structure::PortShape, window::windows, write_port};
use crate::{
    ErrorKind, Event, EventKind, Handler, LinkedPackage, Package, Port, ScriptHandler,
    ScriptProgram, ScriptState,
    exec::{CallMachine, CallOutcome, Datum, PortedBody, priced},
    ir::IrFunction,
    limits::GAS_PER_CALL_MAX,
    ports,
};
use oracle::grammar::{CALL, Grammar};
use town::{answer, package, play, with_all_gas};

/// Programs of the grammar that are tried.
const PROGRAMS: u64 = 600;

fn sample(name: &str, source: &str) -> Package {
    package(name, "1.0.0", "The Metatopia authors", &[("main.rhai", source)])
}

/// Returns a package that imports nothing.
fn alone(package: &Package) -> LinkedPackage<'_> {
    LinkedPackage::new(package, &|_| None).expect("it imports nothing")
}

/// Compares a port with what the generator writes now.
#[track_caller]
fn assert_written(linked: &LinkedPackage<'_>, written: &str) {
    let text = write_port(linked).expect("it has a port");
    if text != written {
        println!("---- begin\n{text}---- end");
        panic!("the port of {} is not what is written now", linked.package().manifest().name);
    }
}

fn of_tables(tables: &'static PortTables) -> Port {
    tables.port("")
}

#[test]
fn the_ports_of_samples_are_what_is_written_now() {
    assert_written(&alone(&sample("tick", samples::TICK)), samples::TICK_PORT);
    assert_written(&alone(&sample("language", samples::LANGUAGE)), samples::LANGUAGE_PORT);
}

fn touch(other: u64, impulse: Fx) -> Event {
    Event::Touch { other: ObjectId(other), at: Vec2::X, impulse }
}

fn timer(name: &str) -> Event {
    Event::Timer { name: name.into() }
}

/// Returns the state after the start.
fn started(handler: &dyn Handler) -> Arc<ScriptState> {
    let start = answer(handler, &Event::Start, &Arc::default(), GAS_PER_CALL_MAX);
    Arc::new(start.expect("it starts").state.expect("it remembers something"))
}

/// Every way in which a call can fail, beside those that do well.
fn of_every_kind() -> Vec<Event> {
    let message = |data| {
        let topic = "word".into();
        Event::Message { from: ObjectId(3), topic, data }
    };
    let names = [
        "closure",
        "missing",
        "depth",
        "gas",
        "memory",
        "state",
        "kind",
        "over",
        "index",
        "call",
        "arguments",
        "range",
        "effects",
        "nothing",
    ];
    let mut events = vec![
        Event::Start,
        touch(3, Fx::ONE),
        touch(2, Fx::HALF),
        touch(99, Fx::ZERO),
        message(crate::Value::Int(4)),
        Event::Tick { dt: Fx::ONE },
    ];
    events.extend(names.map(timer));
    events
}

#[test]
fn a_port_fails_as_its_source_does_and_at_the_same_places() {
    let package = sample("language", samples::LANGUAGE);
    let source = ScriptHandler::new(&package).expect("it compiles");
    let port = of_tables(&samples::language::PORT);
    assert_eq!(port.package, package.id());
    for kind in EventKind::ALL {
        assert_eq!(port.handler.handles(kind), source.handles(kind), "{kind:?}");
    }
    let failed = play(&source, &*port.handler, &with_all_gas(of_every_kind()));
    assert_eq!(failed, 14);
    let state = started(&*port.handler);
    let kind = |name: &str| {
        let error = answer(&*port.handler, &timer(name), &state, GAS_PER_CALL_MAX);
        error.expect_err("it fails").kind
    };
    let kinds = ["closure", "depth", "gas", "memory", "state", "effects"].map(kind);
    let expected = [
        ErrorKind::Thrown,
        ErrorKind::Depth,
        ErrorKind::Gas,
        ErrorKind::Memory,
        ErrorKind::State,
        ErrorKind::Effects,
    ];
    assert_eq!(kinds, expected);
}

/// A port may loop for ever as its source may: the gas of a call ends it, at the same operation.
#[test]
fn a_port_ends_where_the_gas_of_its_source_ends() {
    let package = sample("language", samples::LANGUAGE);
    let source = ScriptHandler::new(&package).expect("it compiles");
    let port = of_tables(&samples::language::PORT);
    let touch = touch(3, Fx::ONE);
    let state = started(&source);
    let whole = answer(&source, &touch, &state, GAS_PER_CALL_MAX).expect("it does well").gas;
    let mut failed = 0;
    for gas in (200..=whole).step_by(2) {
        let expected = answer(&source, &touch, &state, gas);
        assert_eq!(answer(&*port.handler, &touch, &state, gas), expected, "with {gas} gas");
        failed += u32::from(expected.is_err_and(|error| error.kind == ErrorKind::Gas));
    }
    assert!(failed > 60, "{failed} calls ran out of gas before {whole}");
}

fn greeter() -> Package {
    let source = include_str!("../../../scenarios/packages/greeter/greeter.rhai");
    let tests = include_str!("../../../scenarios/packages/greeter/tests.rhai");
    let files = [("greeter.rhai", source), ("tests.rhai", tests)];
    package("greeter", "1.2.0", "The Metatopia authors", &files)
}

#[test]
fn each_port_of_the_program_is_what_is_written_now() {
    let ported = [greeter()];
    let known = ports();
    for package in &ported {
        let port = known.iter().find(|port| port.package == package.id());
        assert_written(&alone(package), port.map_or("", |port| port.source));
    }
    // Ports that were edited by hand are counted here.
    assert_eq!(known.len(), ported.len());
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("hello".into()),
        Just(" Hello, you ".into()),
        Just("help".into()),
        Just("time".into()),
        Just("good morning!".into()),
        "[ -~]{0,40}",
        "\\PC{0,20}",
    ]
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        Just(Event::Start),
        Just(Event::Upgrade),
        (0..6_u64).prop_map(|other| Event::Enter { other: ObjectId(other) }),
        (0..6_u64, words()).prop_map(|(from, text)| Event::Chat { from: ObjectId(from), text }),
        (0..6_u64, any::<i64>()).prop_map(|(other, bits)| touch(other, Fx::from_bits(bits))),
        (0..6_u64, any::<i64>()).prop_map(|(from, data)| {
            let (from, topic) = (ObjectId(from), "word".into());
            Event::Message { from, topic, data: crate::Value::Int(data) }
        }),
        any::<i64>().prop_map(|bits| Event::Tick { dt: Fx::from_bits(bits) }),
        prop_oneof![Just("gas"), Just("closure"), Just("state"), Just("none")].prop_map(timer),
    ]
}

fn gas() -> impl Strategy<Value = u64> {
    prop_oneof![Just(GAS_PER_CALL_MAX), 0..3_000_u64]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn random_events_give_the_same_with_the_source_and_with_the_port(
        events in prop::collection::vec((event(), gas()), 1..24)
    ) {
        let greeter = ScriptHandler::new(&greeter()).expect("it compiles");
        for port in ports() {
            play(&greeter, &*port.handler, &events);
        }
        for (name, text, tables) in [
            ("tick", samples::TICK, &samples::tick::PORT),
            ("language", samples::LANGUAGE, &samples::language::PORT),
        ] {
            let source = ScriptHandler::new(&sample(name, text)).expect("it compiles");
            play(&source, &*of_tables(tables).handler, &events);
        }
        linked::play_sample(&events);
    }
}

std::thread_local! {
    /// The program that is walked over.
    static WALKED: RefCell<Arc<Vec<(IrFunction, PortShape)>>> = RefCell::default();
}

fn body<const N: usize>(m: &mut CallMachine<'_>, r: &mut [Datum]) -> CallOutcome<Datum> {
    let functions = WALKED.with_borrow(Arc::clone);
    let (function, shape) = &functions[N];
    walk::walk(function, shape, m, r)
}

/// A function that walks over one of a program.
type WalkedBody = fn(&mut CallMachine<'_>, &mut [Datum]) -> CallOutcome<Datum>;

/// Functions of a program that can be walked over.
const BODIES: [WalkedBody; 16] = [
    body::<0>, body::<1>, body::<2>, body::<3>, body::<4>, body::<5>, body::<6>, body::<7>,
    body::<8>, body::<9>, body::<10>, body::<11>, body::<12>, body::<13>, body::<14>, body::<15>,
];

/// Returns a handler that walks over the structure of a program, which was made of these files.
fn walked(program: &ScriptProgram, files: Vec<(u16, String)>) -> Option<ScriptHandler> {
    let code = priced(program).expect("it calls what there is");
    let functions = program.functions.iter().zip(code).map(|(function, code)| {
        let function = IrFunction { code, ..function.clone() };
        let shape = PortShape::of(&function).expect("no source jumps into a loop");
        (function, shape)
    });
    let functions: Vec<_> = functions.collect();
    let windows = windows(program);
    let bodies =
        BODIES.iter().zip(windows).map(|(body, window)| PortedBody { body: *body, window });
    let bodies: Vec<PortedBody> = bodies.collect();
    if bodies.len() < functions.len() {
        return None;
    }
    let mut tables = program.clone();
    tables.functions.iter_mut().for_each(|function| function.code.clear());
    WALKED.set(Arc::new(functions));
    let handler = ScriptHandler::port(PackageId(Digest::ZERO), files, &tables, bodies);
    Some(handler.expect("as the program"))
}

/// The structure of ports is held to programs that nobody wrote.
#[test]
fn random_programs_do_the_same_with_blocks_and_loops_as_with_jumps() {
    let mut coverage = BTreeMap::new();
    let (mut done, mut failed) = (0, 0);
    for seed in 1..=PROGRAMS {
        let body = Grammar::new(seed).program(&mut coverage).replace(CALL, "     ");
        let source = alloc::format!("{body}\nfn on_start() {{ state.x = [run()]; }}");
        let Ok(program) = ScriptProgram::compile(&source) else { continue };
        let Some(port) = walked(&program, vec![(0, "x".into())]) else { continue };
        let own = ScriptHandler::load(PackageId(Digest::ZERO), "x".into(), &program);
        let own = own.expect("it calls what there is");
        for gas in [GAS_PER_CALL_MAX, 300, 1_000] {
            let expected = answer(&own, &Event::Start, &Arc::default(), gas);
            let found = answer(&port, &Event::Start, &Arc::default(), gas);
            assert_eq!(found, expected, "seed {seed} with {gas} gas:\n{source}");
            match expected {
                Ok(_) => done += 1,
                Err(_) => failed += 1,
            }
        }
    }
    println!("{done} calls did well, {failed} failed");
    assert!(done > PROGRAMS / 2 && failed > PROGRAMS / 2, "{done} did well, {failed} failed");
}
