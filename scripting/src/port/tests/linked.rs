//! A port of a package that imports others does what the source of all of them does.

use alloc::{collections::BTreeMap, string::String, sync::Arc};

use metatopia_math::Fx;

use super::{
    answer, assert_written, of_every_kind, oracle::grammar::CALL, oracle::grammar::Grammar, play,
    samples, started, timer, touch, town, walked, with_all_gas,
};
use crate::{
    Draft, ErrorKind, Event, EventKind, Handler, LinkedPackage, Package, Port, ScriptHandler,
    lang::LinkedProgram, limits::GAS_PER_CALL_MAX,
};

/// Programs of the grammar that are imported.
const PROGRAMS: u64 = 200;

/// The ways in which the sample fails, most of them in what it imports.
const FAILURES: [&str; 12] = [
    "prize",
    "arguments",
    "kept",
    "own",
    "deeper",
    "handed",
    "closure",
    "called-back",
    "caught",
    "depth",
    "gas",
    "memory",
];

/// Returns a package with imports, which it calls by their own names.
fn importing(name: &str, source: &str, imports: &[&Package]) -> Package {
    let imports = imports.iter().map(|import| (import.manifest().name.clone(), import.id()));
    let files = [("main.rhai", source)];
    let draft = town::draft(name, "1.0.0", "The Metatopia authors", &files);
    Package::build(Draft { imports: imports.collect(), ..draft }).expect("a package in order")
}

/// Returns the package `scores` that ships with the program.
fn scores() -> Package {
    let source = include_str!("../../../../scenarios/packages/scores/scores.rhai");
    let tests = include_str!("../../../../scenarios/packages/scores/tests.rhai");
    let files = [("scores.rhai", source), ("tests.rhai", tests)];
    let draft = town::draft("scores", "1.0.0", "The Metatopia authors", &files);
    let draft = Draft { licence: "LGPL-3.0-or-later".into(), ..draft };
    Package::build(draft).expect("a package in order")
}

/// Hands out a package with all that it imports.
fn with<T>(
    package: &Package,
    imports: &[Package],
    then: impl FnOnce(&LinkedPackage<'_>) -> T,
) -> T {
    let found = |id: &_| imports.iter().find(|import| import.id() == *id);
    then(&LinkedPackage::new(package, &found).expect("all is there"))
}

/// Hands out the sample with its imports, one of which imports the other.
fn with_sample<T>(then: impl FnOnce(&LinkedPackage<'_>) -> T) -> T {
    let scores = scores();
    let tally = importing("tally", samples::TALLY, &[&scores]);
    let sample = importing("linked", samples::LINKED, &[&scores, &tally]);
    with(&sample, &[scores, tally], then)
}

fn source() -> ScriptHandler {
    with_sample(ScriptHandler::linked).expect("it compiles")
}

fn port() -> Port {
    samples::linked::PORT.port("")
}

/// Plays events with the sample and with its port.
pub(super) fn play_sample(events: &[(Event, u64)]) {
    play(&source(), &*port().handler, events);
}

#[test]
fn the_port_of_a_sample_with_imports_is_what_is_written_now() {
    with_sample(|linked| assert_written(linked, samples::LINKED_PORT));
}

#[test]
fn a_port_names_the_package_whose_id_covers_what_it_imports() {
    let (source, port) = (source(), port());
    with_sample(|linked| assert_eq!(port.package, linked.package().id()));
    for kind in EventKind::ALL {
        assert_eq!(port.handler.handles(kind), source.handles(kind), "{kind:?}");
    }
}

#[test]
fn a_port_fails_in_an_import_as_the_source_does_and_at_the_same_places() {
    let (source, port) = (source(), port());
    let events = of_every_kind().into_iter().chain(FAILURES.map(timer)).collect();
    assert_eq!(play(&source, &*port.handler, &with_all_gas(events)), 18);
    let state = started(&*port.handler);
    let fails = |name: &str| {
        let error = answer(&*port.handler, &timer(name), &state, GAS_PER_CALL_MAX);
        error.expect_err(name)
    };
    let kinds = FAILURES.map(|name| fails(name).kind);
    let expected = [
        ErrorKind::Thrown,
        ErrorKind::Type,
        ErrorKind::State,
        ErrorKind::Thrown,
        ErrorKind::Type,
        ErrorKind::Unknown,
        ErrorKind::Unknown,
        ErrorKind::Unknown,
        ErrorKind::Thrown,
        ErrorKind::Depth,
        ErrorKind::Gas,
        ErrorKind::Memory,
    ];
    assert_eq!(kinds, expected);
    let report = fails("handed").report;
    assert!(report.file.starts_with("scores@") && report.file.ends_with("/scores.rhai"));
    assert_eq!((report.line, report.column, report.trace.len()), (25, 63, 3), "{report:?}");
    assert_eq!(report.trace[2], "fail, called at 35:8");
}

/// The gas of a call ends a port at the same operation, also where that is one of an import.
#[test]
fn a_port_ends_where_the_gas_of_its_source_ends_in_an_import_too() {
    let (source, port, touch) = (source(), port(), touch(3, Fx::ONE));
    let state = started(&source);
    let whole = answer(&source, &touch, &state, GAS_PER_CALL_MAX).expect("it does well").gas;
    let mut files: BTreeMap<String, usize> = BTreeMap::new();
    for gas in 200..=whole {
        let expected = answer(&source, &touch, &state, gas);
        assert_eq!(answer(&*port.handler, &touch, &state, gas), expected, "with {gas} gas");
        if let Err(error) = expected {
            assert_eq!(error.kind, ErrorKind::Gas);
            *files.entry(error.report.file).or_default() += 1;
        }
    }
    assert_eq!(files.len(), 3, "gas ended in {files:?}");
}

/// Returns a handler that walks over the structure of a package and its imports.
fn walked_with_imports(linked: &LinkedPackage<'_>) -> Option<ScriptHandler> {
    let entry = &linked.package().manifest().entry;
    let LinkedProgram { program, firsts, .. } =
        linked.imports().link(entry, linked.package().entry()).expect("it compiles");
    let firsts = firsts.into_iter().map(|first| u16::try_from(first).expect("a few functions"));
    let files = linked.imports().files().chain([entry.clone()]);
    walked(&program, firsts.zip(files).collect())
}

/// The structure of ports is held to programs that nobody wrote, and that are imported.
#[test]
fn random_programs_do_the_same_with_blocks_as_with_jumps_where_others_import_them() {
    let (mut coverage, mut failed) = (BTreeMap::new(), 0);
    for seed in 1..=PROGRAMS {
        let body = Grammar::new(seed).program(&mut coverage).replace(CALL, "     ");
        let library = importing("library", &body, &[]);
        let user = "import \"library\" as l; fn on_start() { state.x = [1].map(|x| l::run()); }";
        let user = importing("user", user, &[&library]);
        let both = with(&user, &[library], |linked| {
            let source = ScriptHandler::linked(linked).ok()?;
            Some((source, walked_with_imports(linked)?))
        });
        let Some((source, port)) = both else { continue };
        for gas in [GAS_PER_CALL_MAX, 300, 1_000] {
            let expected = answer(&source, &Event::Start, &Arc::default(), gas);
            let found = answer(&port, &Event::Start, &Arc::default(), gas);
            assert_eq!(found, expected, "seed {seed} with {gas} gas:\n{body}");
            failed += u64::from(expected.is_err());
        }
    }
    assert!(failed > PROGRAMS / 2, "{failed} failed");
}
