//! What stock interpretation leaks, each ending in a clean refusal or error, and soon.

use metatopia_math::Vec2;
use metatopia_scripting::{ErrorKind, Event, ScriptState, check, limits};
use metatopia_types::ObjectId;

use crate::stage::{Thing, handler, point, run_in, start, world};

/// The source is refused, at this line, with these words.
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
fn callbacks_that_would_leak_gas_are_refused() {
    refused("fn on_start() {\n let f = |x| x + 1;\n}", 2, "closures");
    refused("fn on_start() {\n let k = 1; let f = |x| x + k;\n}", 2, "closures");
    refused(
        "fn on_start() {\n [1].for_each(|x| { let i = 0; while i < 1500 { i += 1; } });\n}",
        2,
        "closures",
    );
    refused("fn g(x) { x }\nfn on_start() {\n let f = g; f(1)\n}", 3, "no variable g");
    refused("fn on_start() {\n let f = Fn(\"on_start\"); f.call()\n}", 2, "Fn");
}

#[test]
fn a_sort_that_calls_back_is_refused_and_the_own_sort_is_stable() {
    refused("fn on_start() {\n [3, 1].sort(|a, b| throw 1);\n}", 2, "closures");
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
fn syntax_whose_meaning_depends_on_hashes_is_refused() {
    refused("fn on_chat(who, text) {\n switch text { \"a\" => 1, _ => 2 };\n}", 2, "switch");
    refused("fn on_start() {\n try { f() } catch (e) { state.e = e; }\n}", 2, "try");
    refused("fn on_start() {\n this.x = 1;\n}", 2, "this");
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
    // The interpreter forgets the inner place when it is stopped; then it is the handler's line.
    assert_eq!(run("loop { }"), 5);
    assert_eq!(run("f(n)"), 5);
    assert_eq!(run("let a = [n]; loop { a = [a]; }"), 2);
}

#[test]
fn strings_arrays_and_maps_cannot_grow_without_end() {
    fails("let s = \"x\"; loop { s += s; }", ErrorKind::Memory);
    fails("let s = \"x\"; loop { s = s + s; }", ErrorKind::Memory);
    fails("let s = \"x\"; loop { s = `${s}${s}`; }", ErrorKind::Memory);
    fails("let a = []; loop { a.push(1); }", ErrorKind::Memory);
    fails("let a = [1]; loop { a += a; }", ErrorKind::Memory);
    fails("let a = [0, 0]; loop { a[0] = a; a[1] = a; }", ErrorKind::Depth);
    fails("let a = []; loop { a = [a]; }", ErrorKind::Depth);
    fails("let m = #{}; loop { m = #{m: m}; }", ErrorKind::Depth);
    fails("let m = #{}; for i in 0..5000 { m[`k${i}`] = i; }", ErrorKind::Memory);
    fails(
        "const TEN = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
         let m = #{}; for i in 0..5000 { m[`k${i}`] = TEN; }",
        ErrorKind::Memory,
    );
    let text = "x".repeat(limits::LITERAL_TEXT_BYTES_MAX);
    fails(
        &format!(
            "let a = []; for i in 0..64 {{ a += 0; }} for i in 0..64 {{ a[i] = \"{text}\"; }}"
        ),
        ErrorKind::Memory,
    );
    fails("let a = split(\"x\".to_string(), \"\"); loop { a.insert(0, a); }", ErrorKind::Depth);
    fails("loop { state.list = (state.list ?? \"\") + \"xxxxxxxxxxxxxxxx\"; }", ErrorKind::Memory);
}

#[test]
fn functions_inside_one_another_cannot_hold_much() {
    let run = |copies: usize| {
        let copies: String = (0..copies).map(|i| format!("let c{i} = a;")).collect();
        let source = format!(
            "fn f(n, a) {{ {copies} for i in 0..8 {{ i; }} f(n + 1, a) }}
            fn on_start() {{ let a = []; for i in 0..500 {{ a += i; }} f(0, a); }}"
        );
        let (handler, state) = (handler(&source), Default::default());
        let event = Event::Start;
        run_in(world(), &handler, &event, state).unwrap_err()
    };
    assert_eq!(run(7).kind, ErrorKind::Depth);
    assert_eq!(run(8).kind, ErrorKind::Memory);
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
    refused("fn on_start() {\n let f = |x| x; log(f.name);\n}", 2, "closures");
    let error = start("let x = self_ + state;").unwrap_err();
    assert_eq!(error.kind, ErrorKind::Type);
    assert!(!error.report.message.contains("::"), "{error}");
}

#[test]
fn copies_of_large_values_are_paid_for() {
    let few = start("let a = [0]; for i in 0..200 { let b = a; }").unwrap();
    let many = start("let a = []; for i in 0..500 { a += 0; } for i in 0..200 { let b = a; }");
    let building = start("let a = []; for i in 0..500 { a += 0; }").unwrap();
    let copies = many.unwrap().gas - building.gas;
    assert!(copies > few.gas + 200 * 15 - 200, "{copies} against {}", few.gas);
}

/// Gas of doing this twice, with a constant `B` and a variable `b` of this value.
fn gas_of(value: &str, statement: &str) -> u64 {
    let run = |count: usize| {
        let source = format!(
            "const B = {value};\nfn f(a, b) {{ }}\n\
            fn on_start() {{ let b = B; for i in 0..{count} {{ {statement} }} }}"
        );
        let handler = handler(&source);
        let event = Event::Start;
        let part = run_in(world(), &handler, &event, Default::default());
        part.unwrap_or_else(|error| panic!("{statement}: {error}")).gas
    };
    run(4) - run(2)
}

#[test]
fn a_constant_pays_for_its_copies_as_a_variable_does() {
    // Each access to a constant was a copy for a unit of gas: a call took a third of a second.
    let nested = format!("[{}]", ["[[[[[[0]]]]]]"; 73].join(", "));
    for statement in ["B;", "f(B, 1);", "B == 1 || false;", "type_of(B);", "B[0];", "state.x = B;"]
    {
        let (large, small) = (gas_of(&nested, statement), gas_of("[0]", statement));
        assert!(large > small + 2 * 800, "{statement}: {large} against {small}");
        let variable = gas_of(&nested, &statement.replace('B', "b"));
        assert!(large.abs_diff(variable) < 2 * 100, "{statement}: {large} against {variable}");
    }
}

#[test]
fn a_list_in_a_list_pays_as_memory_of_its_own() {
    let plain = gas_of(&format!("[{}]", ["0"; 500].join(", ")), "B;");
    let boxed = gas_of(&format!("[{}]", ["1.5"; 500].join(", ")), "B;");
    let lists = gas_of(&format!("[{}]", ["[]"; 500].join(", ")), "B;");
    let maps = gas_of(&format!("[{}]", ["#{}"; 500].join(", ")), "B;");
    assert!(plain * 4 < boxed && boxed < lists && lists < maps, "{plain} {boxed} {lists} {maps}");
}

#[test]
fn a_letter_that_is_written_pays_for_the_text_around_it() {
    let gas = |bytes: usize| gas_of(&format!("\"{}\"", "x".repeat(bytes)), "b[7] = 'y';");
    assert!(gas(4_096) > gas(64) + 2 * 300, "{} against {}", gas(4_096), gas(64));
}

#[test]
fn large_literals_have_a_name() {
    let list = |count: usize| format!("[{}]", vec!["0"; count].join(", "));
    let text = |bytes: usize| format!("\"{}\"", "x".repeat(bytes));
    let most = limits::LITERAL_VALUES_MAX - 4;
    let in_handler = |statement: &str| format!("fn on_start() {{\n{statement}\n}}");
    for call in ["log(V);", "1 in V;", "[1].contains(V);", "V == V;"] {
        let with = |literal: &str| in_handler(&call.replace('V', literal));
        assert_eq!(check(&with(&list(most))), [], "{call}");
        refused(&with(&list(most + 1)), 2, "name it with const or let");
        refused(&with("[[[[[]]]]]"), 2, "name it with const or let");
        refused(&with("#{a: #{}, b: #{}, c: #{}}"), 2, "name it with const or let");
    }
    assert_eq!(check(&in_handler(&format!("let a = {};", list(200)))), []);
    let named = |bytes: usize| format!("#{{{}: 1}}", "n".repeat(bytes));
    let longest = limits::LITERAL_NAME_BYTES_MAX;
    assert_eq!(check(&in_handler(&format!("let a = {};", named(longest)))), []);
    refused(&in_handler(&format!("let a = {};", named(longest + 1))), 2, "name the map with const");
    assert_eq!(check(&format!("const A = {};", named(longest + 1))), []);
    assert_eq!(check(&in_handler(&text(limits::LITERAL_TEXT_BYTES_MAX))), []);
    refused(&in_handler(&text(limits::LITERAL_TEXT_BYTES_MAX + 1)), 2, "name it with const");
    assert_eq!(check(&format!("const T = {};", text(4_096))), []);
}

/// In a crowd of three thousand things a look around took fifteen times as long as its price said.
#[test]
fn a_look_around_pays_for_all_that_is_looked_at() {
    let gas = |things: u64| {
        let mut crowd = world();
        crowd.things.extend((100..100 + things).map(|id| Thing {
            id: ObjectId(id),
            name: "disc",
            kind: "disc",
            pos: point("50", "0"),
            velocity: Vec2::ZERO,
        }));
        let handler = handler("fn on_start() { nearby(1); }");
        run_in(crowd, &handler, &Event::Start, ScriptState::default())
            .expect("it is cheap enough")
            .gas
    };
    assert_eq!(gas(600) - gas(0), 300);
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
    let gas = |bytes: usize| {
        let text = metatopia_scripting::Value::Text("x".repeat(bytes));
        let state = ScriptState([("t".to_owned(), text)].into());
        let event = Event::Start;
        run_in(world(), &handler, &event, state).unwrap().gas
    };
    assert_eq!(gas(3_200) - gas(0), 3_200 / limits::STATE_BYTES_PER_GAS as u64);
}
