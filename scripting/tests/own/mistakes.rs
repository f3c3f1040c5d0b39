//! What is wrong with a source is said with its place, and with what to do instead.

use metatopia_scripting::ScriptProgram;

/// What is wrong with a source, in order.
fn mistakes(source: &str) -> Vec<String> {
    let found = ScriptProgram::compile(source).err().unwrap_or_default();
    found.iter().map(ToString::to_string).collect()
}

/// The first complaint about a source.
fn first(source: &str) -> String {
    mistakes(source).into_iter().next().unwrap_or_else(|| "none".into())
}

#[test]
fn syntax_errors_have_line_and_column() {
    assert_eq!(first("fn on_start() {\n  let = 1;\n}"), "2:7: Expecting name of a variable");
    assert_eq!(first("fn on_start() {\n  say(\"a)\n}"), "2:7: Open string is not terminated");
    assert_eq!(first("fn on_start() {"), "1:16: Expecting '}' to terminate this block");
}

#[test]
fn unknown_handlers_are_errors_with_a_suggestion() {
    let all = "there are on_start, on_tick, on_touch, on_chat, on_message, on_timer";
    let expected = format!("1:17: there is no event for on_tuch: did you mean on_touch?; {all}");
    assert_eq!(first("fn on_tuch(who) {}"), expected);
    assert_eq!(first("fn on_start(x) {}"), "1:16: on_start takes no parameters");
    assert_eq!(
        first("fn on_touch(a, b, c, d) {}"),
        "1:25: on_touch takes at most 3: other, at, impulse"
    );
    assert!(first("fn on_tick() {} fn on_tick(dt) {}").contains("which is the handler?"));
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
        ("fn say(text) {}", "1:14: say is a function of the world: choose another name"),
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
        ("import \"x\" as y", "packages cannot be imported yet"),
    ] {
        let found = first(&format!("fn on_start() {{\n {call};\n}}"));
        assert!(found.starts_with("2:") && found.contains(words), "{call}: {found}");
    }
}

#[test]
fn mistakes_are_told_all_at_once_and_in_order() {
    let found = mistakes("fn on_start() {\n a();\n b();\n x + 1\n}\nfn on_tuch() {}");
    let lines: Vec<&str> = found.iter().map(|line| line.split(':').next().unwrap()).collect();
    assert_eq!(lines, ["2", "3", "4", "6"]);
    let many = format!("fn on_start() {{ {} }}", "x();".repeat(1_000));
    assert_eq!(mistakes(&many).len(), 32);
}

#[test]
fn cases_of_a_switch_are_plain_values() {
    assert!(first("fn on_start() { switch 1 { 1.5 => 1 } }").contains("literal"));
    assert!(first("fn on_start() { switch 1 { [1] => 1 } }").contains("a case of a switch is"));
    assert!(first("fn on_start() { switch { 1 } { 1 => 1 } }").contains("give the value"));
}
