//! A script that loops, floods or hoards harms only itself.

use std::collections::BTreeMap;

use metatopia_math::Fx;
use metatopia_physics::Motion;
use metatopia_scripting::{
    Call, ErrorKind, Event, EventKind, ScriptEffect, ScriptOutput, ScriptState, Value,
    limits::{EFFECTS_MAX, GAS_PER_CALL_MAX, SIGN_BYTES_MAX, STATE_BYTES_MAX, TOPIC_BYTES_MAX},
};
use metatopia_sim::limits::{
    GAS_PER_SCRIPT_TICK, INBOX_EVENTS_MAX, INBOX_EVENTS_PER_SENDER_MAX, TIMERS_MAX, VOICE_LINES_MAX,
};
use metatopia_types::{Act, ObjectId, Tick};

use crate::yard::{Builder, Yard};

/// Uses all gas of every call.
fn glutton(builder: &mut Builder) -> metatopia_types::PackageId {
    builder.port("glutton", &[EventKind::Tick], |_| {
        Ok(ScriptOutput { gas: GAS_PER_CALL_MAX, ..ScriptOutput::default() })
    })
}

/// Counts its ticks.
fn clockwork(builder: &mut Builder) -> metatopia_types::PackageId {
    builder.port("clockwork", &[EventKind::Tick], |call| {
        let text = call.view.object(call.object).map_or("", |object| object.text);
        let count = text.parse::<u64>().unwrap_or(0) + 1;
        let mut part = ScriptOutput { gas: 20, ..ScriptOutput::default() };
        part.own.text = Some(count.to_string());
        Ok(part)
    })
}

fn text(yard: &Yard, id: ObjectId) -> String {
    yard.world.object(id).expect("here").text
}

#[test]
fn a_script_that_uses_all_its_gas_waits_until_it_has_earned_it_and_nobody_else_does() {
    let mut builder = Builder::new();
    // ByteBudget in a tick for all who have earned it: that is another bound.
    builder.genesis.parameters.gas.tick = 250_000;
    let (greedy, modest) = (glutton(&mut builder), clockwork(&mut builder));
    builder.thing(Motion::Static, (5, 0), &[greedy]);
    let counter = builder.thing(Motion::Static, (-5, 0), &[modest]);
    let mut yard = builder.build();

    yard.idle(100);

    assert_eq!(text(&yard, counter), "300");
    // A full pool to begin with, and so much a tick for 300 ticks; the last call may overdraw it.
    let gas = &yard.world.parameters().gas;
    let calls = (gas.script_capacity + 300 * gas.script_refill) / GAS_PER_CALL_MAX;
    let used = yard.world.scripts().next().expect("the glutton").gas_used / GAS_PER_CALL_MAX;
    assert!((calls..=calls + 1).contains(&used), "{used} calls, {calls} earned");
}

#[test]
fn a_crowd_of_gluttons_leaves_each_other_a_turn_and_the_tick_a_bound() {
    let mut builder = Builder::new();
    // ByteBudget in a tick for all who have earned it: that is another bound.
    builder.genesis.parameters.gas.tick = 250_000;
    let greedy = glutton(&mut builder);
    builder.genesis.parameters.gas.script_refill = GAS_PER_CALL_MAX;
    builder.genesis.parameters.gas.owner_refill = 100 * GAS_PER_CALL_MAX;
    builder.genesis.parameters.gas.owner_capacity = 100 * GAS_PER_CALL_MAX;
    let all = 40;
    for n in 0..all {
        builder.thing(Motion::Static, (2 * n, 0), &[greedy]);
    }
    let mut yard = builder.build();
    let turns = 20;

    for _ in 0..turns {
        let applied = yard.play();
        let gas = applied.order.len() as u64 * GAS_PER_CALL_MAX;
        let bound = 3 * yard.world.parameters().gas.tick;
        assert!(gas <= bound, "{gas} gas in a turn of at most {bound}");
    }

    // 250,000 a tick are twelve of them; in 60 ticks each of the 40 gets about 18 turns.
    let calls: Vec<u64> =
        yard.world.scripts().map(|script| script.gas_used / GAS_PER_CALL_MAX).collect();
    assert!(calls.iter().all(|calls| *calls >= 6), "{calls:?}");
}

#[test]
fn an_owner_who_is_overdrawn_stops_its_own_scripts_only() {
    let mut builder = Builder::new();
    // ByteBudget in a tick for all who have earned it: that is another bound.
    builder.genesis.parameters.gas.tick = 250_000;
    let (greedy, modest) = (glutton(&mut builder), clockwork(&mut builder));
    builder.genesis.parameters.gas.script_refill = GAS_PER_CALL_MAX;
    builder.genesis.parameters.gas.owner_capacity = GAS_PER_CALL_MAX;
    builder.genesis.parameters.gas.owner_refill = 100;
    builder.thing(Motion::Static, (5, 0), &[greedy]);
    let shared = builder.thing(Motion::Static, (-5, 0), &[modest]);
    let other = builder.thing(Motion::Static, (-5, 9), &[modest]);
    let owner = Some(crate::yard::public(1));
    (builder.genesis.objects[0].owner, builder.genesis.objects[1].owner) = (owner, owner);
    let mut yard = builder.build();

    yard.idle(30);

    assert_eq!(text(&yard, other), "90");
    let count: u64 = text(&yard, shared).parse().expect("a number");
    assert!(count < 10, "{count} ticks paid by an owner who is overdrawn");
}

#[test]
fn a_flood_of_messages_fills_the_senders_share_and_no_more() {
    let mut builder = Builder::new();
    // It calls itself once more each tick, and sends all that a call may send.
    let flood = builder.port("flood", &[EventKind::Tick, EventKind::Message], |call| {
        let send = |to: u64| ScriptEffect::Send {
            to: ObjectId(to),
            topic: "x".to_owned(),
            data: Value::Unit,
        };
        let mut effects = vec![send(2); EFFECTS_MAX - 1];
        effects.push(send(call.object.0));
        Ok(ScriptOutput { gas: 20, effects, ..ScriptOutput::default() })
    });
    let victim = builder.port("victim", &[EventKind::Message, EventKind::Touch], |call| {
        let mut part = ScriptOutput { gas: 20, ..ScriptOutput::default() };
        if let Event::Touch { .. } = call.event {
            part.own.text = Some("touched".to_owned());
        }
        Ok(part)
    });
    builder.genesis.parameters.avatar.spawn_radius = Fx::ZERO;
    builder.thing(Motion::Static, (50, 0), &[flood]);
    let target = builder.thing(Motion::Static, (1, 1), &[victim]);
    let mut yard = builder.build();
    yard.login(1);
    yard.idle(2);

    yard.act(1, Act::Touch { object: target });
    let applied = yard.play();

    assert_eq!(text(&yard, target), "touched");
    let of_tick = applied.order.iter().filter(|received| {
        received.tick == applied.tick
            && received.script.0 == 2
            && received.event.kind() == EventKind::Message
    });
    assert_eq!(of_tick.count(), INBOX_EVENTS_PER_SENDER_MAX);
    let dropped = yard.world.scripts().nth(1).expect("the victim").dropped;
    assert!(dropped > 100, "{dropped}");
}

#[test]
fn an_inbox_that_nobody_empties_stays_bounded() {
    let mut builder = Builder::new();
    let flood = builder.port("flood", &[EventKind::Tick], |_| {
        let data = Value::Text("x".repeat(3_000));
        let send = |data| ScriptEffect::Send { to: ObjectId(1), topic: "x".to_owned(), data };
        let mut effects: Vec<ScriptEffect> = (0..30).map(|n| send(Value::Int(n))).collect();
        effects.insert(0, send(data));
        Ok(ScriptOutput { gas: 20, effects, ..ScriptOutput::default() })
    });
    // It wants messages, and uses all its gas for one.
    let slow = builder.port("slow", &[EventKind::Message], |_| {
        Ok(ScriptOutput { gas: GAS_PER_CALL_MAX, ..ScriptOutput::default() })
    });
    builder.genesis.parameters.gas.script_refill = 100;
    builder.thing(Motion::Static, (0, 5), &[slow]);
    for n in 0..10 {
        builder.thing(Motion::Static, (3 * n, 0), &[flood, flood]);
    }
    let mut yard = builder.build();

    yard.idle(30);

    let leaf = yard.world.leaf(&metatopia_types::LeafKey("script/1".to_owned())).expect("there");
    assert!(leaf.len() <= metatopia_types::limits::LEAF_BYTES_MAX, "{} bytes", leaf.len());
    let script: metatopia_sim::Script =
        metatopia_types::wire::decode(&leaf, leaf.len()).expect("a script");
    assert!(script.inbox.waiting().len() <= INBOX_EVENTS_MAX);
    assert!(script.inbox.waiting().len() > INBOX_EVENTS_PER_SENDER_MAX);
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn a_script_begins_no_further_call_once_it_has_used_the_gas_of_a_tick() {
    const CALLS: usize = 4;
    let mut builder = Builder::new();
    let reader = builder.port("reader", &[EventKind::Message], |_| {
        let gas = GAS_PER_SCRIPT_TICK / CALLS as u64;
        Ok(ScriptOutput { gas, ..ScriptOutput::default() })
    });
    let writer = builder.port("writer", &[EventKind::Start], |_| {
        let data = |n| Value::Int(n);
        let send = |n| ScriptEffect::Send { to: ObjectId(1), topic: "x".to_owned(), data: data(n) };
        let effects = (0..CALLS as i64 + 2).map(send).collect();
        Ok(ScriptOutput { gas: 20, effects, ..ScriptOutput::default() })
    });
    builder.thing(Motion::Static, (0, 5), &[reader]);
    builder.thing(Motion::Static, (3, 5), &[writer]);
    let mut yard = builder.build();

    let applied = yard.play();

    let mut calls: BTreeMap<Tick, usize> = BTreeMap::new();
    let read = applied.order.iter().filter(|it| it.event.kind() == EventKind::Message);
    read.for_each(|received| *calls.entry(received.tick).or_default() += 1);
    assert_eq!(calls.into_values().collect::<Vec<_>>(), [CALLS, 2]);
}

#[test]
fn timers_and_lines_beyond_the_limits_are_dropped_and_counted() {
    let mut builder = Builder::new();
    let package = builder.port("busy", &[EventKind::Start], |_| {
        let timer = |n: usize| ScriptEffect::Timer { name: format!("{n}"), ticks: 1_000 };
        let say = |n: u32| ScriptEffect::Say { text: format!("{n}") };
        let mut effects: Vec<ScriptEffect> = (0..TIMERS_MAX + 3).map(timer).collect();
        // Setting one that is there is no new one.
        effects.push(timer(0));
        effects.extend((0..VOICE_LINES_MAX + 4).map(say));
        Ok(ScriptOutput { gas: 20, effects, ..ScriptOutput::default() })
    });
    builder.thing(Motion::Static, (5, 0), &[package]);
    let mut yard = builder.build();

    let applied = yard.play();

    assert_eq!(applied.chat.len(), VOICE_LINES_MAX as usize);
    assert_eq!(yard.world.scripts().next().expect("busy").dropped, 3 + 4);
}

#[test]
fn a_timer_runs_out_once_at_its_tick_unless_it_is_stopped() {
    let mut builder = Builder::new();
    let package = builder.port("alarm", &[EventKind::Start, EventKind::Timer], |call| {
        let timer = |name: &str, ticks| ScriptEffect::Timer { name: name.to_owned(), ticks };
        let mut part = ScriptOutput { gas: 20, ..ScriptOutput::default() };
        match call.event {
            Event::Start => {
                part.effects = vec![timer("a", 4), timer("b", 4), timer("c", 2), timer("b", 9)];
                part.effects.push(ScriptEffect::Cancel { name: "c".to_owned() });
            }
            Event::Timer { name } => {
                part.effects
                    .push(ScriptEffect::Say { text: format!("{name} at {}", call.view.tick()) });
            }
            _ => {}
        }
        Ok(part)
    });
    builder.thing(Motion::Static, (5, 0), &[package]);
    let mut yard = builder.build();

    let said: Vec<String> = (0..10).flat_map(|_| yard.play().chat).map(|line| line.text).collect();

    assert_eq!(said, ["a at 5", "b at 10"]);
}

#[test]
fn a_port_that_breaks_a_limit_of_scripts_fails_like_one() {
    fn overdo(call: &Call<'_>) -> ScriptOutput {
        let say = |text: String| ScriptEffect::Say { text };
        let timer = |name: String, ticks| ScriptEffect::Timer { name, ticks };
        let mut part = ScriptOutput { gas: 20, ..ScriptOutput::default() };
        match call.script.0 {
            1 => part.gas = call.gas + 1,
            2 => part.own.text = Some("x".repeat(SIGN_BYTES_MAX + 1)),
            3 => part.effects = vec![say("x".to_owned()); EFFECTS_MAX + 1],
            4 => part.effects = vec![say(String::new())],
            5 => part.effects = vec![timer("x".repeat(TOPIC_BYTES_MAX + 1), 1)],
            6 => part.effects = vec![timer("x".to_owned(), 0)],
            7 => part.effects = vec![say("x".repeat(400)); 12],
            _ => {
                let text = Value::Text("x".repeat(STATE_BYTES_MAX));
                part.state = Some(ScriptState([("x".to_owned(), text)].into()));
            }
        }
        part
    }
    let mut builder = Builder::new();
    // ByteBudget in a tick for all who have earned it: that is another bound.
    builder.genesis.parameters.gas.tick = 250_000;
    let package = builder.port("wild", &[EventKind::Start], |call| Ok(overdo(call)));
    builder.thing(Motion::Static, (5, 0), &[package; 8]);
    let mut yard = builder.build();

    let applied = yard.play();

    let kinds: Vec<ErrorKind> = applied.failures.iter().map(|failure| failure.kind).collect();
    let effects = [ErrorKind::Effects; 5];
    assert_eq!(kinds[..2], [ErrorKind::Gas, ErrorKind::Argument]);
    assert_eq!(kinds[2..7], effects);
    assert_eq!(kinds[7..], [ErrorKind::State]);
    assert!(applied.chat.is_empty());
    assert_eq!(text(&yard, ObjectId(1)), "");
}

#[test]
fn hostile_sources_fail_alone_and_the_world_goes_on() {
    let sources = [
        ("looping", "fn on_tick() { loop {} }", ErrorKind::Gas),
        ("recursing", "fn on_tick() { f(1); } fn f(n) { f(n + 1) }", ErrorKind::Depth),
        ("hoarding", "fn on_tick() { let all = []; loop { all.push(1); } }", ErrorKind::Memory),
        ("flooding", "fn on_tick() { loop { send(self_, \"x\", 1); } }", ErrorKind::Effects),
        ("shouting", "fn on_tick() { loop { say(\"x\"); } }", ErrorKind::Effects),
        ("dividing", "fn on_tick() { state.x = 1 / 0; }", ErrorKind::Arithmetic),
    ];
    let mut builder = Builder::new();
    // ByteBudget in a tick for all who have earned it: that is another bound.
    builder.genesis.parameters.gas.tick = 250_000;
    for (n, (name, source, _)) in (0..).zip(&sources) {
        let package = builder.package(name, source);
        builder.thing(Motion::Static, (3 * n, 0), &[package]);
    }
    let modest = clockwork(&mut builder);
    let counter = builder.thing(Motion::Static, (0, 9), &[modest]);
    let mut yard = builder.build();

    let applied = yard.play();
    let mut chat = applied.chat.len();
    for (script, (name, _, expected)) in (1..).zip(&sources) {
        let first = applied.failures.iter().find(|failure| failure.script.0 == script);
        let failure = first.unwrap_or_else(|| panic!("{name} did not fail"));
        assert_eq!(failure.kind, *expected, "{name}: {:?}", failure.report);
        assert!(failure.report.line == 1 && failure.report.column > 0, "{name}");
    }
    for _ in 0..30 {
        chat += yard.play().chat.len();
    }

    assert_eq!(text(&yard, counter), "93");
    assert_eq!(chat, 0, "what a failing call said is lost with it");
    assert_eq!(yard.world.root(), yard.world.rehash());
}
