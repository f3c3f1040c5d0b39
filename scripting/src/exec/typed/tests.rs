//! Code on slots does what the same program does in registers, in all that can be seen of it.

mod drawing;
mod handlers;

use alloc::{format, string::String, sync::Arc};

use metatopia_math::{Fx, Vec2};
use metatopia_types::{Digest, ObjectId, PackageId};

use crate::{
    Event, ScriptHandler, ScriptProgram, limits::GAS_PER_CALL_MAX, port::tests::town::answer,
};
use drawing::Drawing;

/// Programs that are tried.
const PROGRAMS: u64 = 1_500;

fn program(source: &str) -> ScriptProgram {
    ScriptProgram::compile(source).unwrap_or_else(|errors| panic!("{errors:?}:\n{source}"))
}

fn on_slots(program: &ScriptProgram) -> ScriptHandler {
    let loaded = ScriptHandler::load(PackageId(Digest::ZERO), "x".into(), program);
    loaded.expect("it calls what there is")
}

/// Plays a source on both with different amounts of gas. Returns how many calls did well, and how many failed.
#[track_caller]
fn assert_same(source: &str, event: &Event) -> (u64, u64) {
    let program = program(source);
    let (own, plain) = (on_slots(&program), ScriptHandler::plain(&program).expect("as the other"));
    let (mut done, mut failed) = (0, 0);
    for gas in [GAS_PER_CALL_MAX, 201, 203, 206, 212, 220, 240, 300, 500, 900, 2_000] {
        let expected = answer(&plain, event, &Arc::default(), gas);
        let found = answer(&own, event, &Arc::default(), gas);
        assert_eq!(found, expected, "with {gas} gas:\n{source}");
        match expected {
            Ok(_) => done += 1,
            Err(_) => failed += 1,
        }
    }
    (done, failed)
}

fn touch() -> Event {
    Event::Touch { other: ObjectId(3), at: Vec2::new(Fx::HALF, Fx::ONE), impulse: Fx::ONE }
}

#[test]
fn random_programs_do_on_slots_what_they_do_in_registers() {
    let (mut done, mut failed, mut refused, mut on_slots_in_all) = (0, 0, 0, 0);
    let count = PROGRAMS;
    for seed in 1..=count {
        let source = Drawing::new(seed).program();
        if ScriptProgram::compile(&source).is_err() {
            refused += 1;
            continue;
        }
        let (did, did_not) = assert_same(&source, &touch());
        (done, failed) = (done + did, failed + did_not);
        on_slots_in_all += on_slots(&program(&source)).operations_on_slots() as u64;
    }
    println!("{count} programs: {done} calls did well, {failed} failed");
    assert!(refused * 4 < count, "{refused} programs have mistakes of their own");
    assert!(done > count && failed > count, "{done} calls did well, {failed} failed");
    assert!(on_slots_in_all > 20 * count, "{on_slots_in_all} operations were on slots");
}

/// A copy of a number is read where it lies, until the number changes.
#[test]
fn variables_that_change_places_keep_their_values() {
    let source = "fn on_touch(other, at, impulse) {
        let a = impulse; let b = impulse + 1.5; let v = at;
        for i in 0..3 {
            let t = a; a = b; b = t;
            v = vec2(v.y, v.x);
            let w = v; v = v + w; w = v;
            state.at = [a, b, t, v, w, i];
        }
    }";
    assert!(assert_same(source, &touch()).0 > 0);
}

#[test]
fn a_number_that_becomes_a_text_on_one_way_is_read_on_both() {
    let source = "fn on_touch(other, at, impulse) {
        let x = 1.0;
        for i in 0..4 {
            if i == 2 { x = \"two\"; } else if i == 3 { x = 7; }
            state[`x${i}`] = x;
        }
    }";
    assert!(assert_same(source, &touch()).0 > 0);
}

/// Shared memory is paid for when it is changed: a value that a slot has displaced holds none.
#[test]
fn what_a_register_held_before_is_given_back_when_its_next_value_is_in_a_slot() {
    let source = "fn on_touch(other, at, impulse) {
        let list = [1, 2, 3];
        for i in 0..4 {
            { let copy = list; copy.push(i); list = copy; }
            { let sum = impulse + i; state.sum = sum; }
            list.push(i);
        }
        state.list = list;
    }";
    assert!(assert_same(source, &touch()).0 > 0);
}

#[test]
fn a_function_with_more_values_than_there_are_slots_stays_in_registers() {
    let vectors: String =
        (0..50).map(|i| format!("let v{i} = at * {i}.5; v{i} = v{i} + at;\n")).collect();
    let sums: String = (0..50).map(|i| format!("v{i}, ")).collect();
    let numbers: String = (0..200).map(|i| format!("impulse += {i}.25 * at.x;\n")).collect();
    let source =
        format!("fn on_touch(other, at, impulse) {{ {numbers} {vectors} state.all = [{sums}]; }}");
    assert!(assert_same(&source, &touch()).0 > 0);
    assert_eq!(on_slots(&program(&source)).operations_on_slots(), 0);
}

#[test]
fn a_port_has_no_operations_and_is_loaded_all_the_same() {
    let mut tables = program("fn on_tick(dt) { state.x = dt; }");
    tables.functions.iter_mut().for_each(|function| function.code.clear());
    assert_eq!(on_slots(&tables).operations_on_slots(), 0);
}

/// What a loop alone goes over is no array: whatever else happens to it must not show.
#[test]
fn loops_over_what_is_nearby_do_the_same_however_they_get_it() {
    let source = "fn on_touch(other, at, impulse) {
        let seen = []; let radius = impulse * 8.0;
        for o in nearby(8) { for p in nearby(radius) { if p == o { break; } seen.push(p.pos.x); } }
        let near = nearby(20); let same = near;
        for o in near { if o == other { continue; } seen.push(o.velocity); near.pop(); }
        for o in nearby(3) { seen.push(o == other); return [seen, near.len(), same]; }
        state.seen = seen; state.near = [near.len(), same.len()];
        for o in nearby(\"far\") { seen.push(o); }
    }";
    assert!(assert_same(source, &touch()).1 > 0);
    assert!(assert_same(&source.replace("\"far\"", "-1"), &touch()).1 > 0);
    assert!(assert_same(&source.replace("\"far\"", "5"), &touch()).0 > 0);
}
