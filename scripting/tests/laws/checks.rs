//! What is wrong with a source is said with its place, and with what was probably meant.

use std::collections::BTreeSet;

use metatopia_scripting::{
    CompileError, Event, EventKind, Handler, Package, ScriptHandler, check,
    host::{FUNCTIONS, NAMES, PROPERTIES, SYNTAX, ValueKind, reference},
};

use crate::stage::{draft, handler};

/// The first complaint about a source.
fn first(source: &str) -> String {
    check(source).first().map_or_else(|| "none".into(), ToString::to_string)
}

#[test]
fn a_good_source_has_no_complaints() {
    let source = "// Greets.\nconst WORD = \"hi\";\nfn on_chat(from, text) {\n    \
                  if text == WORD { say(`${WORD}, ${from.name}`); }\n}\n";
    assert_eq!(check(source), []);
    let handler = handler(source);
    assert!(handler.handles(EventKind::Chat));
    assert!(!handler.handles(EventKind::Tick));
}

#[test]
fn syntax_errors_have_line_and_column() {
    assert_eq!(first("fn on_start() {\n  let = 1;\n}"), "2:7: Expecting name of a variable");
    assert_eq!(first("fn on_start() {\n  say(\"a)\n}"), "2:7: Open string is not terminated");
    assert_eq!(first("fn on_start() {"), "1:16: Expecting '}' to terminate this block");
}

#[test]
fn unknown_handlers_are_errors_with_a_suggestion() {
    let all = "there are on_start, on_tick, on_touch, on_chat, on_message, on_timer, on_upgrade, \
               on_spawn, on_ui, on_enter, on_leave, on_answer, on_hit, on_break, on_arrive, \
               on_refused, on_sit, on_stand, on_depart, on_undelivered, on_hit_beyond, on_touch_end";
    let expected = "1:4: there is no event for on_tuch: did you mean on_touch?";
    assert_eq!(first("fn on_tuch(who) {}"), expected);
    assert_eq!(first("fn on_xyzzy() {}"), format!("1:4: there is no event for on_xyzzy; {all}"));
    // The list is long, and stands once.
    let told = check("fn on_xyzzy() {}\nfn on_yzzyx() {}\n");
    assert_eq!(told[1].to_string(), "2:4: there is no event for on_yzzyx");
}

#[test]
fn handlers_may_leave_out_parameters_but_not_add_any() {
    assert_eq!(first("fn on_touch() {} fn on_message(from, topic) {}"), "none");
    assert_eq!(first("fn on_start(x) {}"), "1:4: on_start takes no parameters");
    assert_eq!(
        first("fn on_touch(a, b, c, d) {}"),
        "1:4: on_touch takes at most 3: other, at, impulse"
    );
    assert!(first("fn on_tick() {} fn on_tick(dt) {}").contains("which is the handler?"));
}

/// Such mistakes were marked at the end of the parameters, which may be some lines below the name.
#[test]
fn a_mistake_in_the_head_of_a_function_is_marked_at_its_name() {
    let start = "on_start takes no parameters";
    for (source, complaint) in [
        ("fn on_start(x) {}", format!("1:4: {start}")),
        ("const A = #{ b: 1 };\n\n  private fn   on_start(x) { }", format!("3:16: {start}")),
        ("fn a() { #{} }\nfn on_start(x) { if true { } }\nfn b() {}", format!("2:4: {start}")),
        ("fn // { fn on_stop() {\n/* fn */ on_start /* ( */ (\n  x, // {\n  y\n)\n{}", {
            format!("2:10: {start}")
        }),
        ("fn a() { let on_start = |x| { x }; } fn on_start(x) {}", { format!("1:41: {start}") }),
        ("fn say(words) {\n}", "1:4: say is a function of the world: choose another name".into()),
        ("fn int.twice() {\n}", {
            "1:8: twice: functions of a type are not part of the language".into()
        }),
        ("fn\ton_stat() {}", "1:4: there is no event for on_stat: did you mean on_start?".into()),
        ("fn greet(who, state) {\n}", {
            "1:4: state has a meaning already: choose another name".into()
        }),
    ] {
        assert!(first(source).starts_with(&complaint), "{source}: {}", first(source));
    }
}

#[test]
fn literals_out_of_range_are_errors_with_their_place() {
    let at = "number is out of range";
    assert_eq!(
        first("fn on_start() {\n  let a = 9999999999.5;\n}"),
        format!("2:11: 9999999999.5: {at}")
    );
    assert_eq!(
        first("fn on_start() {\n  [1, -2147483649.0]\n}"),
        format!("2:7: -2147483649.0: {at}")
    );
    // Too large for a whole number, it is read as a fixed-point one.
    assert_eq!(
        first("const A = 1;\nconst B = 9223372036854775808;"),
        format!("2:11: 9223372036854775808: {at}")
    );
    // There are no exponents: this is a 1, and then a name.
    assert_eq!(first("const A = 1e3;"), "1:12: Expecting ';' to terminate this statement");
}

#[test]
fn unknown_names_are_errors_with_a_suggestion() {
    for (source, complaint) in [
        ("fn on_start() {\n say(nmae);\n}", "2:6: there is no variable nmae"),
        (
            "fn on_start() { let speed = 1; log(sped); }",
            "1:36: there is no variable sped: did you mean speed?",
        ),
        (
            "const SPEED = 1;\nfn on_start() { SPEDE }",
            "2:17: there is no variable SPEDE: did you mean SPEED?",
        ),
        ("fn on_start() { sya(1); }", "1:17: there is no function sya: did you mean say?"),
        ("fn on_start() { say(); }", "1:17: say does not take 0 arguments: say(text: string)"),
        (
            "fn f(x) {}\nfn on_start() { f(); }",
            "2:17: the function f of this script does not take 0 arguments",
        ),
        (
            "fn f(x) {}\nfn on_start() { 1.f(); }",
            "2:19: f is a function of this script: call it as f(value)",
        ),
        (
            "fn on_start() { self_.colour = 1; }",
            "1:23: objects have no property colour: did you mean color?",
        ),
        ("fn on_start() { x = 1; }", "1:17: there is no variable x"),
        ("fn on_start() { PI = 3; }", "1:17: PI cannot be assigned"),
        (
            "fn on_start() { let state = 3; }",
            "1:17: state has a meaning already: choose another name",
        ),
        ("fn say(text) {}", "1:4: say is a function of the world: choose another name"),
        (
            "let x = 1;",
            "1:1: a variable outside of a function would be gone after the call: use const, or \
             state.name inside of a handler",
        ),
        (
            "say(\"x\");",
            "1:1: only constants and functions stand outside of functions: put this into a \
             handler such as on_start",
        ),
        ("const A = now();", "1:11: a constant cannot depend on now"),
        ("const A = state;", "1:11: a constant cannot depend on state"),
        ("const A = 1;\nconst B = 1 / (A - 1);", "2:13: /: division by zero"),
        ("const A = f(); fn f() { 1 }", "1:11: a constant cannot call a function of the script"),
        ("const A = 1; const A = 2;", "1:14: there are two constants A"),
        (
            "const K = [1]; fn on_start() { K.push(2); }",
            "1:32: K is a constant: copy it with let to change the copy",
        ),
        (
            "fn g(x) { x } fn on_start() { [1].map(g); }",
            "1:39: there is no variable g: to hand the function on, use a closure such as |x| g(x)",
        ),
    ] {
        assert_eq!(first(source), complaint, "{source}");
    }
}

#[test]
fn members_that_a_value_surely_does_not_have_are_errors_with_a_suggestion() {
    let in_chat = |statement: &str| format!("fn on_chat(from, text) {{\n {statement}\n}}");
    for (statement, complaint) in [
        ("log(text.len);", "2:11: strings have no property len: call it, as .len()"),
        ("text.lenght;", "2:7: strings have no property lenght: did you mean len?"),
        ("\"a\".size;", "2:6: strings have no property size"),
        (
            "text.split;",
            "2:7: strings have no property split: call it, split(text: string, by: string)",
        ),
        ("from.nmae;", "2:7: objects have no property nmae: did you mean name?"),
        ("from.name.len;", "2:12: strings have no property len: call it, as .len()"),
        ("from.pos.z;", "2:11: vectors have no property z: did you mean x?"),
        ("let a = [1]; a.len;", "2:17: arrays have no property len: call it, as .len()"),
        ("let a = [1]; a.length;", "2:17: arrays have no property length: did you mean len?"),
        ("let a = [text]; a.lower();", "2:20: arrays have no function lower: lower(text: string)"),
        (
            "for o in nearby(5) { o.colour; }",
            "2:25: objects have no property colour: did you mean color?",
        ),
        (
            "for w in text.split(\" \") { w.len; }",
            "2:31: strings have no property len: call it, as .len()",
        ),
        ("(1 + 0.5).x;", "2:12: numbers have no property x"),
        ("`${from}`.x;", "2:12: strings have no property x"),
        ("text.push(1);", "2:7: strings have no function push: push(array: array, value: any)"),
        (
            "let f = |x| x.len; f(text.trim);",
            "2:28: strings have no property trim: call it, as .trim()",
        ),
        ("WORD.len;", "2:7: strings have no property len: call it, as .len()"),
        ("state.n.len;", "none"),
        ("let m = #{}; m.len;", "none"),
        ("let a = \"\"; a = #{len: 1}; a.len;", "none"),
        ("let a = \"\"; loop { a.len; a = #{}; }", "none"),
        ("let a = [\"x\"]; a[0].len;", "none"),
        ("let a = text.to_int(); a.len;", "none"),
        ("let split = |n| [vec2(1.0, 2.0)]; for v in split(1) { log(v.x); }", "none"),
        ("let nearby = |r| [\"a\"]; for n in nearby(1) { log(n.len()); }", "none"),
        (
            "mine(from).len; mine.len;",
            "2:18: there is no variable mine: to hand the function on, use a closure such as |x| mine(x)",
        ),
    ] {
        let source = format!("{}\nconst WORD = \"a\"; fn mine(x) {{ x }}", in_chat(statement));
        assert_eq!(first(&source), complaint, "{statement}");
    }
    // A handler that is called by name can get anything.
    assert_eq!(
        first("fn on_timer(name) { name.x } fn on_start() { on_timer(vec2(1, 2)); }"),
        "none"
    );
}

#[test]
fn doors_out_of_the_language_name_what_to_use_instead() {
    for (call, words) in [
        ("print(1)", "use log"),
        ("debug(1)", "use log"),
        ("eval(\"1\")", "a text cannot be executed"),
        ("sleep(1)", "use timer and on_timer"),
        ("Fn(\"f\")", "use a closure such as |x| x + 1"),
        ("(|x| x).call(1)", "call a closure by its name, as f(x)"),
        ("(|x| x).curry(1)", "a closure keeps the values"),
        ("this.x = 1", "self_ is the own object"),
        ("on_start!()", "on_start! is not part of the language"),
        ("import \"x\" as y", "an import stands outside of functions"),
        ("export let x = 1", "export is not part of the language"),
    ] {
        let found = first(&format!("fn on_start() {{\n {call};\n}}"));
        assert!(found.starts_with("2:") && found.contains(words), "{call}: {found}");
    }
}

#[test]
fn mistakes_are_told_all_at_once_and_in_order() {
    let found = check("fn on_start() {\n a();\n b();\n x + 1\n}\nfn on_tuch() {}");
    let lines: Vec<u32> = found.iter().map(|mistake| mistake.line).collect();
    assert_eq!(lines, [2, 3, 4, 6]);
    let many = format!("fn on_start() {{ {} }}", "x();".repeat(1_000));
    assert_eq!(check(&many).len(), 32);
}

#[test]
fn cases_of_a_switch_are_plain_values() {
    assert!(first("fn on_start() { switch 1 { 1.5 => 1 } }").contains("literal"));
    assert!(first("fn on_start() { switch 1 { [1] => 1 } }").contains("a case of a switch is"));
    assert!(first("fn on_start() { switch { 1 } { 1 => 1 } }").contains("give the value"));
}

#[test]
fn a_package_that_does_not_compile_names_its_file() {
    let package = Package::build(draft("fn on_start() { a(); b(); }")).unwrap();
    let error: CompileError = ScriptHandler::new(&package).unwrap_err();
    assert_eq!(error.to_string(), "main.rhai:1:17: there is no function a (and 1 more)");
}

#[test]
fn the_reference_in_the_documents_is_that_of_the_table() {
    let page = include_str!("../../../docs/reference.md");
    assert!(page == reference(), "run `metatopia script reference > docs/reference.md`");
}

#[test]
fn the_reference_lists_everything() {
    let page = reference();
    for kind in EventKind::ALL {
        assert!(page.contains(kind.handler()));
    }
    for name in NAMES {
        assert!(page.contains(&format!("| `{}` | ", name.name)), "{}", name.name);
    }
    for function in FUNCTIONS {
        assert!(page.contains(&function.signature().replace('|', "\\|")), "{}", function.name);
        assert!(page.contains(function.doc), "{}", function.name);
    }
    for property in PROPERTIES {
        assert!(page.contains(&format!("`{}.{}`", property.of, property.name)));
    }
    assert!(page.contains("| `vec2 * number` | vec2 | 27 | scaled |"));
    assert!(page.is_ascii());
}

#[test]
fn the_table_has_no_entry_twice() {
    let mut seen = BTreeSet::new();
    for function in FUNCTIONS {
        let kinds: Vec<ValueKind> = function.arguments.iter().map(|(_, kind)| *kind).collect();
        assert!(seen.insert((function.name, kinds)), "{}", function.signature());
        assert!(function.price > 0, "{}", function.name);
        assert!(!function.doc.is_empty(), "{}", function.name);
    }
}

#[test]
fn the_examples_of_the_reference_compile_and_run() {
    for (words, example) in SYNTAX {
        let outside = ["const", "fn"].iter().any(|word| example.starts_with(word));
        let source =
            if outside { (*example).to_owned() } else { format!("fn on_start() {{ {example} }}") };
        assert_eq!(check(&source), [], "{words}");
        assert!(reference().contains(example), "{words}");
        let (world, state) = (crate::stage::world(), Default::default());
        let result = crate::stage::run_in(world, &handler(&source), &Event::Start, state);
        assert!(result.is_ok(), "{words}: {result:?}");
    }
}

/// An argument of a kind, as a script writes it.
pub(crate) fn sample(name: &str, kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::Function if name == "test" => "|x| true",
        ValueKind::Function if name == "order" => "|a, b| a - b",
        ValueKind::Function if name == "join" => "|a, b| b",
        ValueKind::Function => "|x| x",
        ValueKind::Unit => "()",
        ValueKind::Bool => "true",
        ValueKind::Number if name == "low" => "-1",
        ValueKind::Int | ValueKind::Number => "1",
        ValueKind::Fixed => "0.5",
        ValueKind::Text if name == "what" => "\"dress\"",
        ValueKind::Text if name == "sound" => "\"bell\"",
        ValueKind::Text => "\"1\"",
        ValueKind::Vec2 => "vec2(1, 0)",
        ValueKind::Object => "self_",
        ValueKind::Array => "[1, 2, 3]",
        ValueKind::Map if name == "thing" => "#{}",
        ValueKind::Map if name == "offer" => "#{give: nearby(5)[0]}",
        ValueKind::Map if name == "form" => "#{title: \"a\"}",
        ValueKind::Map => "#{a: 1}",
        ValueKind::Range => "(1..3)",
        ValueKind::State => "state",
        ValueKind::Any => "()",
    }
}

/// Returns a call of a function or operator.
pub(crate) fn call_of(name: &str, args: &[&str]) -> String {
    match (args, name.starts_with(|c: char| c.is_ascii_lowercase())) {
        (args, true) => format!("{name}({})", args.join(", ")),
        ([a], false) => format!("{name}{a}"),
        ([a, b], false) => format!("{a} {name} {b}"),
        (args, false) => panic!("{args:?}"),
    }
}

#[test]
fn every_function_of_the_table_can_be_called() {
    for function in FUNCTIONS {
        let args: Vec<_> =
            function.arguments.iter().map(|(name, kind)| sample(name, *kind)).collect();
        let call = call_of(function.name, &args);
        let source = format!("let x = {call}; log(type_of(x));");
        let result = match function.name {
            // Only what was spawned can be removed.
            "despawn" => crate::spawning::touched(crate::spawning::spawned(1, 4), &source),
            // Only people are shown forms and whispered to, are offered things, and allow something.
            "ui" | "whisper" | "offer" | "ask" | "allowed" | "carry" | "dress" => {
                crate::stage::start(&source.replace("self_", "nearby(5)[1]"))
            }
            // A thing is joined to another one.
            "pin" | "weld" | "tie" | "rod" | "spring" | "slide" | "break_at" | "motor"
            | "unjoin" => crate::stage::start(&source.replace("self_", "nearby(5)[0]")),
            _ => crate::stage::start(&source),
        };
        let log = result.unwrap_or_else(|error| panic!("{call}: {error}")).log;
        let kind = function.result;
        let fits = match (kind, log[0].as_str()) {
            (ValueKind::Any, _) => true,
            (ValueKind::Number | ValueKind::Fixed, found) => found == "int" || found == "fixed",
            (kind, found) => kind.to_string() == found,
        };
        assert!(fits, "{call} gives {}, not {kind}", log[0]);
    }
}
