//! Handlers that people have written do on slots what they do in registers.
//!
//! A translation once gave functions fewer registers than they use, and their calls failed early: whole sims did not
//! show it.

use std::{fs, path::Path};

use alloc::{borrow::ToOwned, string::String, sync::Arc, vec::Vec};

use metatopia_math::{Fx, Vec2};
use metatopia_types::ObjectId;

use super::on_slots;
use crate::{
    ErrorKind, Event, EventKind, Handler, ScriptHandler, ScriptProgram, Value,
    limits::GAS_PER_CALL_MAX,
    port::{
        samples,
        tests::town::{answer, play},
    },
};

/// Events of every kind, with objects that are there and that are gone.
fn events() -> Vec<Event> {
    let (ada, gone) = (ObjectId(3), ObjectId(99));
    let word = || "word".to_owned();
    vec![
        Event::Start,
        Event::Tick { dt: Fx::HALF },
        Event::Touch { other: ada, at: Vec2::X, impulse: Fx::ONE },
        Event::Touch { other: gone, at: Vec2::X, impulse: Fx::ZERO },
        Event::Chat { from: ada, text: "help".into() },
        Event::Message { from: ada, topic: word(), data: Value::Int(4) },
        Event::Message { from: ada, topic: "score".into(), data: Value::Fixed(Fx::HALF) },
        Event::Timer { name: word() },
        Event::Upgrade,
        Event::Spawn { thing: Some(ObjectId(2)), tag: word() },
        Event::Spawn { thing: None, tag: word() },
        Event::Enter { other: ada },
        Event::Leave { other: gone },
        Event::Ui { who: ada, tag: word(), choice: 1, text: "line".into() },
        Event::Answer { who: ada, tag: word(), accepted: true },
        Event::Hit { other: ObjectId(2), speed: Fx::ONE },
        Event::Break { other: None },
        Event::Arrive,
        Event::Refused { why: word() },
        Event::Sit { who: ada },
        Event::Stand { who: ada },
        Event::Depart { how: "alone".into() },
        Event::Undelivered { to: gone, topic: word(), why: "gone".into() },
        Event::HitBeyond { what: "thing".into(), speed: Fx::ONE },
        Event::TouchEnd { other: ada },
    ]
}

/// Plays events of every kind twice, with the state that they leave. Returns how many calls failed.
#[track_caller]
fn assert_same(source: &str) -> usize {
    let program = super::program(source);
    let (own, plain) = (on_slots(&program), ScriptHandler::plain(&program).expect("as the other"));
    let events = events().into_iter().chain(events()).filter(|event| plain.handles(event.kind()));
    let with_all_gas: Vec<_> = events.map(|event| (event, GAS_PER_CALL_MAX)).collect();
    play(&plain, &own, &with_all_gas)
}

/// Ends a call at each unit of gas up to what it takes, and at each it must end the same.
#[track_caller]
fn assert_ends_same(source: &str, event: &Event) {
    let program = super::program(source);
    let (own, plain) = (on_slots(&program), ScriptHandler::plain(&program).expect("as the other"));
    let state = Arc::default();
    let whole = answer(&plain, event, &state, GAS_PER_CALL_MAX).expect("it does well").gas;
    for gas in 0..=whole {
        let expected = answer(&plain, event, &state, gas);
        assert_eq!(answer(&own, event, &state, gas), expected, "with {gas} gas");
        let failed = expected.as_ref().err().map(|error| error.kind);
        assert_eq!(failed, (gas < whole).then_some(ErrorKind::Gas), "with {gas} gas");
    }
}

#[test]
fn events_are_of_every_kind() {
    let kinds: Vec<EventKind> = events().iter().map(Event::kind).collect();
    let missing: Vec<_> = EventKind::ALL.iter().filter(|kind| !kinds.contains(kind)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn handlers_that_are_timed_do_the_same_and_do_well() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/handlers");
    let read = |name: &str| fs::read_to_string(folder.join(name)).expect("it lies there");
    let timed = ["chatty.rhai", "idle.rhai", "map-heavy.rhai"].map(read);
    for source in timed.iter().map(String::as_str).chain([samples::TICK]) {
        assert_eq!(assert_same(source), 0, "{source}");
        assert_ends_same(source, &Event::Tick { dt: Fx::HALF });
    }
    assert!(on_slots(&super::program(samples::TICK)).operations_on_slots() > 40);
}

#[test]
fn packages_of_the_program_do_the_same() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/packages");
    let mut packages: Vec<_> = fs::read_dir(folder).expect("it is there").flatten().collect();
    packages.sort_by_key(|package| package.file_name());
    let (mut played, mut with_imports) = (0, 0);
    for package in packages {
        let name = package.file_name().into_string().expect("it is a text");
        let path = package.path().join(format!("{name}.rhai"));
        let source = fs::read_to_string(&path).expect("a package has its entry");
        if ScriptProgram::compile(&source).is_err() {
            with_imports += 1;
            continue;
        }
        println!("{name}: {} of its calls failed", assert_same(&source));
        played += 1;
    }
    assert!(played > 10, "{played} packages were played, and {with_imports} have imports");
}

#[test]
fn the_sample_of_the_language_does_the_same() {
    assert_same(samples::LANGUAGE);
}
