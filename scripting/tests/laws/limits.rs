//! Every limit of a call is hit, and what fits it is not refused.

use metatopia_math::Fx;
use metatopia_scripting::{
    ErrorKind, Event, Handler, ScriptState, StateError, Value, ValueError, check, limits::*,
};
use metatopia_types::{limits::CHAT_BYTES_MAX, wire};

use crate::stage::{handler, run_in, start, world};

/// The statements fail like this.
fn kind(statements: &str) -> ErrorKind {
    let short = &statements[..statements.len().min(200)];
    start(statements).map_err(|error| error.kind).expect_err(short)
}

#[test]
fn host_functions_cost_what_the_table_says() {
    let gas = |statements| start(statements).unwrap().gas;
    let one = gas("nearby(1);");
    let two = gas("nearby(1); nearby(1);") - one;
    assert!(two.abs_diff(one - GAS_PER_CALL_MIN) <= 2, "{one}, and {two} more");
    assert!(one > 100 + GAS_PER_CALL_MIN, "{one}");
    assert_eq!(kind("for i in 0..1000 { nearby(64); }"), ErrorKind::Gas);
}

#[test]
fn a_caller_can_give_less_gas_but_not_more() {
    let handler = handler("fn on_start() { loop { } }");
    let used = |gas| {
        let view: std::sync::Arc<dyn metatopia_scripting::WorldView> = std::sync::Arc::new(world());
        let call = metatopia_scripting::Call {
            view: &view,
            script: metatopia_types::ScriptId(1),
            object: crate::stage::ME,
            index: 0,
            event: &Event::Start,
            state: &std::sync::Arc::new(ScriptState::default()),
            own: &metatopia_scripting::ObjectWrites::default(),
            gas,
        };
        handler.call(&call).unwrap_err().gas
    };
    assert_eq!(used(0), 0);
    assert_eq!(used(100), 100);
    assert_eq!(used(u64::MAX), GAS_PER_CALL_MAX);
}

#[test]
fn expression_depth() {
    let source =
        |times: usize| format!("fn on_start() {{ {}1{} }}", "(".repeat(times), ")".repeat(times));
    assert!(check(&source(EXPRESSION_DEPTH_MAX / 4)).is_empty());
    let found = check(&source(EXPRESSION_DEPTH_MAX));
    assert_eq!(found[0].message, "Expression exceeds maximum complexity");
    assert!(found[0].column > 16);
}

#[test]
fn constants() {
    let many =
        |count: usize| (0..count).map(|i| format!("const C{i} = {i};\n")).collect::<String>();
    assert!(check(&many(CONSTANTS_MAX)).is_empty());
    let found = check(&many(CONSTANTS_MAX + 1));
    assert_eq!((found.len(), found[0].line as usize), (1, CONSTANTS_MAX + 1));
    assert!(found[0].message.contains("more than 256 constants"), "{}", found[0].message);
}

#[test]
fn functions() {
    let many = |count: usize| (0..count).map(|i| format!("fn f{i}() {{}}\n")).collect::<String>();
    assert!(check(&many(FUNCTIONS_MAX)).is_empty());
    assert_eq!(check(&many(FUNCTIONS_MAX + 1))[0].line as usize, FUNCTIONS_MAX + 1);
}

#[test]
fn string_bytes_of_a_literal() {
    let literal = format!("fn on_start() {{ \"{}\" }}", "x".repeat(STRING_BYTES_MAX + 1));
    assert!(check(&literal)[0].message.contains("Length of string"));
}

#[test]
fn a_state_knows_its_own_limits() {
    // Four texts of the longest kind, and one that fills up: 3 bytes for each variable's name and
    // kind, 2 for each length, 1 for the count.
    let longest = |name: &str| (name.to_owned(), Value::Text("x".repeat(STRING_BYTES_MAX)));
    let state = |rest: usize| {
        let rest = ("e".to_owned(), Value::Text("x".repeat(rest)));
        ScriptState(["a", "b", "c"].map(longest).into_iter().chain([rest]).collect())
    };
    let overhead = 1 + 4 * (3 + 2);
    let fits = STATE_BYTES_MAX - 3 * STRING_BYTES_MAX - overhead;
    assert_eq!(state(fits).check(), Ok(()));
    let bytes = STATE_BYTES_MAX + 1;
    assert_eq!(state(fits + 1).check(), Err(StateError::Bytes { bytes }));
    let name = "deep".to_owned();
    let deep = ScriptState([(name.clone(), nested(VALUE_DEPTH_MAX + 1))].into());
    let error = ValueError::Depth;
    assert_eq!(deep.check(), Err(StateError::Variable { name, error }));
}

fn nested(levels: u32) -> Value {
    (0..levels).fold(Value::Unit, |value, _| Value::Array(vec![value]))
}

#[test]
fn a_value_knows_its_own_limits() {
    let array = |length| Value::Array(vec![Value::Unit; length]);
    let map =
        |length: usize| Value::Map((0..length).map(|i| (i.to_string(), Value::Unit)).collect());
    let text = |bytes| Value::Text("x".repeat(bytes));
    for (fits, long, error) in [
        (nested(VALUE_DEPTH_MAX), nested(VALUE_DEPTH_MAX + 1), ValueError::Depth),
        (array(ARRAY_LENGTH_MAX), array(ARRAY_LENGTH_MAX + 1), ValueError::Elements),
        (map(MAP_LENGTH_MAX), map(MAP_LENGTH_MAX + 1), ValueError::Entries),
        (text(STRING_BYTES_MAX), text(STRING_BYTES_MAX + 1), ValueError::Text),
    ] {
        assert_eq!(fits.check(), Ok(()), "{error}");
        assert_eq!(long.check(), Err(error));
        assert_eq!(Value::Array(vec![Value::Unit, long]).check(), Err(error));
    }
    assert_eq!(nested(1_000).check(), Err(ValueError::Depth));
}

#[test]
fn effects() {
    let say = |count| format!("for i in 0..{count} {{ say(\"x\"); }}");
    assert_eq!(start(&say(EFFECTS_MAX)).unwrap().effects.len(), EFFECTS_MAX);
    assert_eq!(kind(&say(EFFECTS_MAX + 1)), ErrorKind::Effects);
}

#[test]
fn effect_bytes() {
    let send = |count| {
        format!(
            "let s = \"x\"; while s.len() < 512 {{ s += s; }}
                 for i in 0..{count} {{ send(self_, \"t\", s); }}"
        )
    };
    let part = start(&send(7)).unwrap();
    let bytes: usize = part.effects.iter().map(|effect| wire::encode(effect).len()).sum();
    assert!(bytes > EFFECT_BYTES_MAX - 600 && bytes <= EFFECT_BYTES_MAX);
    assert_eq!(kind(&send(8)), ErrorKind::Effects);
}

#[test]
fn texts() {
    let text = |bytes: usize| "x".repeat(bytes);
    for (before, bytes, after) in [
        ("say(\"", CHAT_BYTES_MAX, "\");"),
        ("self_.text = \"", SIGN_BYTES_MAX, "\";"),
        ("send(self_, \"", TOPIC_BYTES_MAX, "\", 1);"),
        ("timer(\"", TOPIC_BYTES_MAX, "\", 1);"),
        ("cancel(\"", TOPIC_BYTES_MAX, "\");"),
    ] {
        assert!(start(&format!("{before}{}{after}", text(bytes))).is_ok(), "{before}");
        let long = format!("{before}{}{after}", text(bytes + 1));
        assert_eq!(kind(&long), ErrorKind::Argument, "{before}");
        assert_eq!(kind(&format!("{before}\\n{after}")), ErrorKind::Argument, "{before}");
    }
    assert_eq!(kind("say(\"\");"), ErrorKind::Argument);
}

#[test]
fn numbers_of_the_world() {
    for (good, bad) in [
        (format!("nearby({NEARBY_RADIUS_MAX});"), format!("nearby({NEARBY_RADIUS_MAX}.1);")),
        ("nearby(0);".into(), "nearby(-0.1);".into()),
        (
            format!("ray(vec2({RAY_REACH}, 0), vec2(-{RAY_REACH}, 0));"),
            format!("ray(vec2(0, 0), vec2(0, {RAY_REACH}.1));"),
        ),
        (
            format!("timer(\"t\", {TIMER_SECONDS_MAX});"),
            format!("timer(\"t\", {TIMER_SECONDS_MAX}.1);"),
        ),
        ("timer(\"t\", 0);".into(), "timer(\"t\", -1);".into()),
        (
            format!("impulse(vec2({IMPULSE_MAX}, -{IMPULSE_MAX}));"),
            format!("impulse(vec2(0, -{IMPULSE_MAX}.1));"),
        ),
        ("self_.color = 0xFFFFFF;".into(), "self_.color = 0x1000000;".into()),
        ("self_.color = 0;".into(), "self_.color = -1;".into()),
        ("random(3, 3);".into(), "random(3, 2);".into()),
    ] {
        assert!(start(&good).is_ok(), "{good}");
        assert_eq!(kind(&bad), ErrorKind::Argument, "{bad}");
    }
}

#[test]
fn nearby_objects() {
    let mut crowd = world();
    for id in 10..60 {
        crowd.things.push(crate::stage::Thing {
            id: metatopia_types::ObjectId(id),
            name: "x",
            kind: "crate",
            pos: metatopia_math::Vec2::new(Fx::ONE, Fx::ZERO),
            velocity: metatopia_math::Vec2::ZERO,
            spawner: None,
        });
    }
    let handler = handler("fn on_start() { state.near = nearby(64); }");
    let part = run_in(crowd, &handler, &Event::Start, ScriptState::default()).unwrap();
    let expected = (10..10 + u64::from(NEARBY_MAX)).map(metatopia_types::ObjectId);
    assert_eq!(part.state.unwrap().0["near"], Value::Array(expected.map(Value::Object).collect()));
}

#[test]
fn log_lines_are_dropped_and_cut() {
    let part = start(&format!("for i in 0..{} {{ log(i); }}", LOG_LINES_MAX + 5)).unwrap();
    assert_eq!(part.log.len(), LOG_LINES_MAX);
    assert_eq!(part.log[LOG_LINES_MAX - 1], (LOG_LINES_MAX - 1).to_string());
    let part =
        start("let s = \"\\u00e4\"; while s.len() < 256 { s += s; } log(\"x\" + s);").unwrap();
    assert_eq!(part.log[0].len(), LOG_LINE_BYTES_MAX - 1);
}
