//! Suspension: a script that fails again and again stops until somebody has it run again.

use metatopia_scripting::Value;
use metatopia_sim::limits::{FAILURE_TURNS, FAILURES_MAX};
use metatopia_types::{Act, Build, ObjectId, Outcome, Refusal, ScriptId};

use crate::{
    building::{block, built, place, refused, site},
    byte_budget::script,
    yard::{Builder, Yard, package},
};

/// Fails when somebody says so; else it counts touches, starts and the seconds of a timer.
const FRAGILE: &str = r#"
    fn on_start() {
        state.starts = (state.starts ?? 0) + 1;
        state.touches = state.touches ?? 0;
        state.seconds = state.seconds ?? 0;
        timer("second", 1);
    }
    fn on_touch(other) { state.touches += 1; }
    fn on_timer(name) { state.seconds += 1; timer("second", 1); }
    fn on_chat(from, text) { 1 / 0; }
"#;

/// Returns a yard in which a box of player 1 runs that source.
fn fragile() -> (Yard, ObjectId) {
    let mut builder = Builder::new();
    let package = builder.package("fragile", FRAGILE);
    let mut yard = site(&mut builder);
    let object = place(&mut yard, 1, block(3, 1));
    assert_eq!(built(&mut yard, 1, Build::Attach { object, package }), Outcome::Ok);
    yard.play();
    (yard, object)
}

fn fail(yard: &mut Yard, times: usize) {
    for _ in 0..times {
        yard.say(1, 0, "fail");
        yard.idle(2);
    }
}

fn remembers(yard: &Yard, name: &str) -> Value {
    script(&yard.world, 1).state.0.get(name).cloned().unwrap_or(Value::Unit)
}

fn is_suspended(yard: &Yard) -> bool {
    yard.world.scripts().next().expect("the script").suspended.is_some()
}

fn resume(yard: &mut Yard, n: u8, object: ObjectId) -> Outcome {
    built(yard, n, Build::Resume { object, script: ScriptId(1) })
}

#[test]
fn three_failures_in_a_hundred_turns_suspend_a_script_and_nothing_reaches_it() {
    let (mut yard, object) = fragile();
    fail(&mut yard, FAILURES_MAX - 1);
    assert!(!is_suspended(&yard));

    fail(&mut yard, 1);

    assert!(is_suspended(&yard));
    let before = script(&yard.world, 1);
    assert_eq!(yard.try_act(1, Act::Touch { object }), Outcome::Ok);
    yard.say(1, 0, "fail");
    let applied = yard.idle(100);
    assert!(applied.order.is_empty() && applied.failures.is_empty());
    let after = script(&yard.world, 1);
    assert_eq!((after.state, after.timers), (before.state, before.timers));
    assert!(after.inbox.is_empty());
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn failures_that_are_far_apart_suspend_nothing() {
    let (mut yard, _) = fragile();
    for _ in 0..4 {
        fail(&mut yard, FAILURES_MAX - 1);
        yard.idle(FAILURE_TURNS);
    }
    assert!(!is_suspended(&yard));
    assert_eq!(script(&yard.world, 1).failures, 4 * (FAILURES_MAX as u64 - 1));
}

#[test]
fn a_resumed_script_keeps_its_state_and_begins_with_on_start() {
    let (mut yard, object) = fragile();
    assert_eq!(yard.try_act(1, Act::Touch { object }), Outcome::Ok);
    fail(&mut yard, FAILURES_MAX);
    yard.idle(100);

    assert_eq!(resume(&mut yard, 1, object), Outcome::Ok);

    yard.idle(2);
    assert!(!is_suspended(&yard));
    assert_eq!(
        (remembers(&yard, "starts"), remembers(&yard, "touches")),
        (Value::Int(2), Value::Int(1))
    );
    assert_eq!(yard.try_act(1, Act::Touch { object }), Outcome::Ok);
    yard.idle(30);
    assert_eq!(remembers(&yard, "touches"), Value::Int(2));
    assert!(matches!(remembers(&yard, "seconds"), Value::Int(1..)), "its timer runs again");
    fail(&mut yard, FAILURES_MAX - 1);
    assert!(!is_suspended(&yard), "earlier failures count no more");
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn only_who_may_script_a_thing_resumes_its_script_and_a_running_one_just_runs_on() {
    let (mut yard, object) = fragile();
    fail(&mut yard, FAILURES_MAX);
    assert_eq!(resume(&mut yard, 2, object), refused(Refusal::NotYours));
    let other = Build::Resume { object, script: ScriptId(7) };
    assert_eq!(built(&mut yard, 1, other), refused(Refusal::NoScript));
    assert_eq!(resume(&mut yard, 100, object), Outcome::Ok);
    assert_eq!(resume(&mut yard, 1, object), Outcome::Ok);
    assert_eq!(remembers(&yard, "starts"), Value::Int(2));
}

#[test]
fn an_upgrade_has_a_suspended_script_run_again() {
    let (mut yard, object) = fragile();
    fail(&mut yard, FAILURES_MAX);
    let better = package(
        "fragile",
        "fn on_upgrade() { state.upgraded = state.touches; } fn on_touch(other) { state.touches += 1; }",
    );
    yard.publish(1, better.encode());
    yard.play();

    let upgrade = Build::Upgrade { object, script: ScriptId(1), package: better.id() };
    assert_eq!(built(&mut yard, 1, upgrade), Outcome::Ok);

    assert_eq!(yard.try_act(1, Act::Touch { object }), Outcome::Ok);
    assert!(!is_suspended(&yard));
    assert_eq!(
        (remembers(&yard, "upgraded"), remembers(&yard, "touches")),
        (Value::Int(0), Value::Int(1))
    );
}

#[test]
fn a_world_that_is_restored_knows_who_is_suspended() {
    let (mut yard, object) = fragile();
    fail(&mut yard, FAILURES_MAX);
    let tools = metatopia_sim::Tools::new(std::sync::Arc::new(metatopia_types::Ed25519));
    let snapshot = yard.world.snapshot();
    let mut restored =
        metatopia_sim::World::from_snapshot(&snapshot, yard.world.root(), &tools).unwrap();

    for act in [Act::Touch { object }, Act::Build(Build::Resume { object, script: ScriptId(1) })] {
        yard.act(1, act);
        yard.play();
        let turn = yard.log.last().expect("a turn was played");
        assert_eq!(restored.apply(turn, &metatopia_sim::Serial).root, yard.world.root());
    }
    (0..40).for_each(|_| {
        yard.play();
        let turn = yard.log.last().expect("a turn was played");
        assert_eq!(restored.apply(turn, &metatopia_sim::Serial).root, yard.world.root());
    });
    assert_eq!(remembers(&yard, "starts"), Value::Int(2));
}

#[test]
fn who_touches_a_thing_and_leaves_at_once_suspends_nothing() {
    let mut builder = Builder::new();
    let package = builder.package("curious", "fn on_touch(other) { state.kind = other.kind; }");
    let mut yard = site(&mut builder);
    let object = place(&mut yard, 1, block(3, 1));
    assert_eq!(built(&mut yard, 1, Build::Attach { object, package }), Outcome::Ok);
    for _ in 0..FAILURES_MAX {
        yard.act(2, Act::Touch { object });
    }
    yard.act(2, Act::Leave);

    yard.play();

    assert_eq!(script(&yard.world, 1).failures, FAILURES_MAX as u64, "nobody is there any more");
    assert!(!is_suspended(&yard));
}
