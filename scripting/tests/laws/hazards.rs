//! What stock interpretation leaks, each ending in a clean refusal or error, and soon.

use metatopia_math::Vec2;
use metatopia_scripting::{ErrorKind, Event, ScriptState, Value, check, limits};
use metatopia_types::ObjectId;

use crate::stage::{Thing, handler, point, run_in, start, world};

/// Checks that the source is refused, at this line, with these words.
fn refused(source: &str, line: u32, words: &str) {
    let found = check(source);
    let fits = |d: &metatopia_scripting::Diagnostic| d.line == line && d.message.contains(words);
    assert!(found.iter().any(fits), "{source}: {found:?}");
}

/// The statements run into this error.
fn fails(statements: &str, kind: ErrorKind) {
    let error = start(statements).expect_err(statements);
    assert_eq!(error.kind, kind, "{statements}: {error}");
    assert!(error.gas <= limits::GAS_PER_CALL_MAX, "{statements}: {} gas", error.gas);
    assert!(error.report.line > 0, "{statements}: {error}");
}

#[test]
fn callbacks_are_metered_like_all_else() {
    fails("[1].for_each(|x| { loop { } });", ErrorKind::Gas);
    fails("let f = || 1; loop { f(); }", ErrorKind::Gas);
    fails("[1, 2].sort(|a, b| { loop { } });", ErrorKind::Gas);
    fails("[3, 1].sort(|a, b| throw 1);", ErrorKind::Thrown);
    refused("fn g(x) { x }\nfn on_start() {\n let f = g; f(1)\n}", 3, "no variable g");
    refused("fn on_start() {\n let f = Fn(\"on_start\"); f.call()\n}", 2, "Fn");
}

#[test]
fn sorting_is_stable() {
    let part = start("let a = [2, 1.0, 1, 2.0]; a.sort(); state.kinds = a.to_string();").unwrap();
    let kinds = &part.state.unwrap().0["kinds"];
    assert_eq!(kinds.to_string(), "[1.0, 1, 2, 2.0]");
}

#[test]
fn doors_out_of_the_language_do_not_exist() {
    for (call, name) in [
        ("sleep(1)", "sleep"),
        ("eval(\"1 + 1\")", "eval"),
        ("timestamp()", "timestamp"),
        ("print(1)", "print"),
        ("debug(1)", "debug"),
        ("import \"x\" as y", "import"),
        ("is_def_fn(\"f\", 1)", "is_def_fn"),
        ("call(1)", "call"),
        ("exit(1)", "exit"),
        ("blob(1000000000, 0)", "blob"),
        ("on_start!()", "on_start"),
    ] {
        refused(&format!("fn on_start() {{\n {call};\n}}"), 2, name);
    }
}

#[test]
fn loops_and_recursion_without_end_run_out_of_gas_or_depth() {
    fails("loop { }", ErrorKind::Gas);
    fails("while true { let x = 1; }", ErrorKind::Gas);
    fails("for i in 0..9223372036854775807 { }", ErrorKind::Gas);
    fails("do { } until false;", ErrorKind::Gas);
    fails("let s = 0; for i in 0..100000 { s += i; }", ErrorKind::Gas);
    fails("on_start();", ErrorKind::Depth);
    fails("let x = 1 + on_start() + 1;", ErrorKind::Depth);
}

#[test]
fn running_out_inside_of_a_function_names_a_line() {
    let run = |body: &str| {
        let source = format!("fn f(n) {{\n{body}\n}}\nfn on_start() {{\n  f(1);\n}}");
        let (handler, state) = (handler(&source), Default::default());
        let event = Event::Start;
        let error = run_in(world(), &handler, &event, state);
        error.unwrap_err().report.line
    };
    assert_eq!(run("loop { }"), 2);
    assert_eq!(run("f(n)"), 2);
    assert_eq!(run("let a = [n]; loop { a = [a]; }"), 2);
}

#[test]
fn strings_arrays_and_maps_cannot_grow_without_end() {
    fails("let s = \"x\"; loop { s += s; }", ErrorKind::Memory);
    fails("let s = \"x\"; loop { s = s + s; }", ErrorKind::Memory);
    fails("let s = \"x\"; loop { s = `${s}${s}`; }", ErrorKind::Memory);
    fails("let a = []; loop { a.push(1); }", ErrorKind::Memory);
    fails("let a = [1]; loop { a += a; }", ErrorKind::Memory);
    fails("let a = [0, 0]; loop { a[0] = a; a[1] = a; }", ErrorKind::Memory);
    fails("let a = []; loop { a = [a]; }", ErrorKind::Depth);
    fails("let m = #{}; loop { m = #{m: m}; }", ErrorKind::Depth);
    fails("let m = #{}; for i in 0..5000 { m[`k${i}`] = i; }", ErrorKind::Memory);
    fails(
        "const TEN = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
         let m = #{}; for i in 0..5000 { m[`k${i}`] = TEN; }",
        ErrorKind::Memory,
    );
    let text = "x".repeat(limits::STRING_BYTES_MAX / 2);
    fails(
        &format!(
            "let a = []; for i in 0..64 {{ a += 0; }} for i in 0..64 {{ a[i] = \"{text}\"; }}"
        ),
        ErrorKind::Memory,
    );
    fails("let a = split(\"x\".to_string(), \"\"); loop { a.insert(0, a); }", ErrorKind::Memory);
    fails("loop { state.list = (state.list ?? \"\") + \"xxxxxxxxxxxxxxxx\"; }", ErrorKind::Memory);
}

#[test]
fn deeply_nested_sources_are_refused_when_parsed() {
    let nest = |open: &str, close: &str| {
        format!("fn on_start() {{\n{}1{} }}", open.repeat(5_000), close.repeat(5_000))
    };
    for source in [
        nest("(", ")"),
        nest("[", "]"),
        nest("{", "}"),
        nest("-", ""),
        nest("!", ""),
        nest("1 + ", ""),
        nest("#{a: ", "}"),
        nest("if true { ", "}"),
        nest("f(", ")"),
        nest("a.b[", "]"),
        format!("fn on_start() {{\n1{} }}", "+1".repeat(5_000)),
        format!("fn on_start() {{\nstate.x{} }}", ".x".repeat(5_000)),
        format!("fn on_start() {{\nif false {{}} {} }}", "else if false {} ".repeat(2_000)),
        format!("fn on_start() {{\n`{}`; }}", "${`".repeat(500)),
    ] {
        let found = check(&source);
        assert!(!found.is_empty(), "accepted: {}", &source[..60]);
    }
}

#[test]
fn names_that_differ_between_builds_cannot_be_seen() {
    for statement in [
        "let x = self_ + state;",
        "let m = #{f: |x| x}; m.f.name;",
        "let m = #{f: |x| x}; m.f + 1;",
    ] {
        let error = start(statement).unwrap_err();
        assert!([ErrorKind::Type, ErrorKind::Unknown].contains(&error.kind), "{error}");
        assert!(!error.report.message.contains("::"), "{error}");
        assert!(!error.report.message.contains('$'), "{error}");
    }
    let printed = start("let f = |x| x; log(`${f}`);").unwrap().log;
    assert_eq!(printed, ["function"]);
}

/// A range that indexed a text was cut off to 32 bits on wasm32, and gave other letters there.
#[test]
fn ranges_are_those_of_whole_numbers_on_every_machine() {
    let part = start("log(\"text\"[4294967296..4294967298]); log(\"text\"[0..=4294967296]);");
    assert_eq!(part.unwrap().log, ["", "text"]);
}

/// The letters of a long text were all made before anything was paid: for a call that failed, sixty times
/// as much as it paid.
#[test]
fn splitting_a_text_pays_for_each_part_before_it_is_made() {
    let gas = |bytes: usize| {
        let text = "x".repeat(bytes);
        start(&format!("split(\"{text}\", \"\");")).map(|part| part.gas)
    };
    let (few, many) = (gas(1).unwrap(), gas(limits::ARRAY_LENGTH_MAX).unwrap());
    assert!(many - few > 400, "{many} against {few}");
    assert_eq!(gas(limits::ARRAY_LENGTH_MAX + 1).unwrap_err().kind, ErrorKind::Memory);
}

/// In a crowd of three thousand things a look around took fifteen times as long as its price said.
#[test]
fn a_look_around_pays_for_all_that_is_looked_at() {
    let gas = |look: &str, things: u64| {
        let mut crowd = world();
        crowd.things.extend((100..100 + things).map(|id| Thing {
            id: ObjectId(id),
            name: "disc",
            kind: "disc",
            pos: point("50", "0"),
            velocity: Vec2::ZERO,
            spawner: None,
        }));
        let handler = handler(&format!("fn on_start() {{ {look}; }}"));
        run_in(crowd, &handler, &Event::Start, ScriptState::default())
            .expect("it is cheap enough")
            .gas
    };
    assert_eq!(gas("nearby(1)", 600) - gas("nearby(1)", 0), 300);
    // A ray is held against shapes, which takes longer than a distance.
    let ray = "ray(vec2(0, 1), vec2(1, 1))";
    assert_eq!(gas(ray, 600) - gas(ray, 0), 1_200);
}

#[test]
fn who_puts_or_turns_an_object_pays_for_what_is_near_it() {
    let gas = |statement: &str| start(statement).expect("it is well").gas;
    let written = gas("self_.spin = 2;");
    for statement in ["self_.angle = 2;", "self_.pos = vec2(1, 2);"] {
        assert!(gas(statement) >= written + 200, "{statement}");
    }
}

#[test]
fn a_call_pays_for_the_state_that_comes_with_it() {
    let handler = handler("fn on_start() { }");
    let gas = |value: Value| {
        let state = ScriptState([("t".to_owned(), value)].into());
        run_in(world(), &handler, &Event::Start, state).unwrap().gas
    };
    let none = gas(Value::Text(String::new()));
    let text = gas(Value::Text("x".repeat(3_200)));
    assert_eq!(text - none, 3_200 / limits::STATE_BYTES_PER_GAS as u64);
    // A state of small values took fifteen times the time that its bytes paid for.
    let list = gas(Value::Array(vec![Value::Unit; 320]));
    let (bytes, values) = (limits::STATE_BYTES_PER_GAS, limits::STATE_ELEMENTS_PER_GAS);
    assert_eq!(list - none, (320 / bytes + 320 / values) as u64);
    let named = (0..64).map(|n| (format!("{n:03}"), Value::Unit)).collect();
    assert_eq!(gas(Value::Map(named)) - none, (64 * 5 / bytes + 64) as u64);
}
