//! What the language has: each kind of statement and expression, and what it means.

use metatopia_scripting::{ErrorKind, Event, ScriptState, Value};

use crate::stage::{error, fx, handler, run_in, start, value, world};

fn int(value: i64) -> Value {
    Value::Int(value)
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

fn ints(values: &[i64]) -> Value {
    Value::Array(values.iter().copied().map(Value::Int).collect())
}

/// The value of statements that end with an expression.
fn block(statements: &str) -> Value {
    value(&format!("{{ {statements} }}"))
}

/// The value of `state.x` after a whole source has started.
fn program(source: &str) -> Value {
    let part = run_in(world(), &handler(source), &Event::Start, ScriptState::default());
    let part = part.unwrap_or_else(|error| panic!("{source}: {error}"));
    part.state.map_or(Value::Unit, |state| state.0["x"].clone())
}

#[test]
fn loops_give_values_and_are_left_and_cut_short() {
    assert_eq!(block("let i = 0; loop { i += 1; if i == 5 { break i * 2; } }"), int(10));
    assert_eq!(
        block("let s = 0; for i in 0..10 { if i % 2 == 0 { continue; } s += i; } s"),
        int(25)
    );
    assert_eq!(block("let n = 3; let s = 1; while n > 0 { s *= n; n -= 1; } s"), int(6));
    assert_eq!(block("let n = 0; do { n += 2; } while n < 7; n"), int(8));
    assert_eq!(block("let n = 0; do { n += 2; } until n >= 7; n"), int(8));
    assert_eq!(block("for i in 0..5 { if i == 3 { break \"found\"; } }"), text("found"));
    assert_eq!(block("let s = 0; for (v, i) in [5, 6, 7] { s += v * i; } s"), int(20));
    assert_eq!(block("let s = []; for i in 3..=5 { s.push(i); } s"), ints(&[3, 4, 5]));
    assert_eq!(
        block("let s = 0; for i in 9223372036854775806..=9223372036854775807 { s += 1; } s"),
        { int(2) }
    );
    assert_eq!(
        block("let s = 0; for i in 0..3 { for j in 0..3 { if j == 2 { break; } s += 1; } } s"),
        { int(6) }
    );
}

#[test]
fn a_list_that_grows_in_its_own_loop_is_gone_over_as_it_was() {
    assert_eq!(block("let a = [1, 2]; for x in a { a.push(x); } a"), ints(&[1, 2, 1, 2]));
}

#[test]
fn blocks_conditions_and_switches_are_expressions() {
    assert_eq!(block("let x = if 1 < 2 { 3 } else { 4 }; x"), int(3));
    assert_eq!(block("let x = { let y = 2; y * y }; x"), int(4));
    assert_eq!(block("let x = switch 3 { 1 | 3 => \"odd\", 2 => \"even\", _ => \"many\" }; x"), {
        text("odd")
    });
    assert_eq!(block("switch 7 { 0..5 => 1, 5..=7 if false => 2, 5..=7 => 3 }"), int(3));
    assert_eq!(block("switch \"b\" { \"a\" => 1, \"b\" => { let z = 4; z + 1 } _ => 9 }"), int(5));
    assert_eq!(block("switch 1.0 { 1 => 1, _ => 2 }"), int(2));
    assert_eq!(block("let n = 4; switch n { 4 if n > 5 => 1, 4 => 2, _ => 3 }"), int(2));
    assert_eq!(value("switch 5 { 1 => 2 }"), Value::Unit);
    assert_eq!(block("switch true { false => 1, true => switch () { () => 2, _ => 3 } }"), int(2));
}

#[test]
fn conditions_end_at_the_first_that_decides() {
    assert_eq!(value("false && 1 / 0 == 1"), Value::Bool(false));
    assert_eq!(value("true || 1 / 0 == 1"), Value::Bool(true));
    assert_eq!(value("() ?? 3"), int(3));
    assert_eq!(value("2 ?? 1 / 0"), int(2));
    assert_eq!(block("let m = #{a: #{b: 1}}; [m?.a?.b, m?.z?.b?.c, ()?.x]"), {
        Value::Array(vec![int(1), Value::Unit, Value::Unit])
    });
    assert_eq!(error("{ let one = 1; true && one }").kind, ErrorKind::Type);
}

#[test]
fn closures_keep_what_they_name_by_value() {
    assert_eq!(block("let k = 10; let f = |x| x + k; k = 20; f(1)"), int(11));
    assert_eq!(block("let f = |a, b| a * b; f(6, 7)"), int(42));
    assert_eq!(block("let f = || 5; f()"), int(5));
    assert_eq!(block("let f = |x| x + 1; let g = |x| f(f(x)); g(1)"), int(3));
    assert_eq!(block("let k = 1; let f = |x| { k += x; k }; f(5); [f(5), k]"), ints(&[6, 1]));
    assert_eq!(block("let k = 2; let f = |x| { let g = |y| y * k; g(x) + 1 }; f(3)"), int(7));
    assert_eq!(
        block("let f = |x| if x == 0 { 0 } else { x + 1.5 }; f(1)"),
        Value::Fixed(fx("2.5"))
    );
    assert_eq!(
        program("const K = 3; fn f(g) { g(2) } fn on_start() { state.x = f(|x| x * K); }"),
        { int(6) }
    );
    assert_eq!(error("{ let f = |x| x; f(1, 2) }").kind, ErrorKind::Type);
    assert_eq!(error("{ let f = 1; f(1) }").kind, ErrorKind::Type);
}

#[test]
fn closures_are_kept_nowhere_and_sent_nowhere() {
    let error = start("state.f = |x| x;").unwrap_err();
    assert_eq!(error.kind, ErrorKind::State);
    assert!(error.report.message.contains("function cannot be kept"), "{error}");
    let error = start("state.f = [1, |x| x];").unwrap_err();
    assert_eq!((error.kind, error.report.line), (ErrorKind::Type, 2));
    let error = start("send(self_, \"t\", |x| x);").unwrap_err();
    assert_eq!(error.kind, ErrorKind::Type);
}

#[test]
fn functions_of_lists_call_back() {
    assert_eq!(value("[1, 2, 3].map(|x| x * x)"), ints(&[1, 4, 9]));
    assert_eq!(value("[5, 6].map(|x, i| x * 10 + i)"), ints(&[50, 61]));
    assert_eq!(value("[1, 2, 3, 4].filter(|x| x % 2 == 0)"), ints(&[2, 4]));
    assert_eq!(value("[1, 2, 3].reduce(|sum, x| sum + x, 100)"), int(106));
    assert_eq!(value("[1, 2, 3].any(|x| x > 2)"), Value::Bool(true));
    assert_eq!(value("[1, 2, 3].all(|x| x > 2)"), Value::Bool(false));
    assert_eq!(value("[1, 2, 3].find(|x| x > 1)"), int(2));
    assert_eq!(value("[1, 2, 3].find(|x| x > 9)"), Value::Unit);
    assert_eq!(value("[1, 2, 3].index_of(|x| x > 1)"), int(1));
    assert_eq!(block("let a = [3, 1, 2]; a.sort(|a, b| b - a); a"), ints(&[3, 2, 1]));
    assert_eq!(block("let s = 0; [1, 2].for_each(|x| log(x)); s"), int(0));
    assert_eq!(start("[1, 2].for_each(|x| log(x));").unwrap().log, ["1", "2"]);
    let stable = "let a = [[1, \"a\"], [0, \"b\"], [1, \"c\"], [0, \"d\"]];
        a.sort(|x, y| x[0] - y[0]); a.map(|x| x[1])";
    assert_eq!(block(stable), Value::Array(["b", "d", "a", "c"].map(text).into()));
}

#[test]
fn what_fails_in_a_callback_fails_outside() {
    let error = start("let a = [1, 0];\na.map(|x|\n 1 / x);").unwrap_err();
    assert_eq!((error.kind, error.report.line, error.report.column), (ErrorKind::Arithmetic, 4, 4));
    assert_eq!(error.report.trace, ["a closure, called at 3:3"]);
    assert_eq!(start("[3, 1].sort(|a, b| throw 1);").unwrap_err().kind, ErrorKind::Thrown);
    assert_eq!(start("[1].filter(|x| x);").unwrap_err().kind, ErrorKind::Type);
    assert_eq!(block("try { [1].map(|x| throw x); } catch (e) { state.y = e; } 7"), int(7));
}

#[test]
fn failures_are_caught_with_what_was_thrown() {
    assert_eq!(block("let r = 0; try { throw 5; } catch (e) { r = e; } r"), int(5));
    assert_eq!(
        block("let r = 0; try { r = 1 / 0; } catch (e) { r = e.kind; } r"),
        text("arithmetic")
    );
    assert_eq!(
        block("let r = 0; try { [1][3] } catch (e) { r = [e.line, e.column]; } r"),
        ints(&[2, 34])
    );
    assert_eq!(block("let r = 0; try { throw 1; } catch { r = 2; } r"), int(2));
    assert_eq!(
        block(
            "let r = []; try { try { throw 1; } catch (e) { throw e + 1; } } catch (e) { r = e; } r"
        ),
        { int(2) }
    );
    assert_eq!(
        program(
            "fn f(n) { if n == 0 { throw \"deep\"; } f(n - 1) }
             fn on_start() { try { f(3); } catch (e) { state.x = e; } }"
        ),
        text("deep")
    );
    assert_eq!(
        block("let s = 0; for i in 0..5 { try { if i == 3 { break; } s += 1; } catch { } } s"),
        { int(3) }
    );
    assert_eq!(
        program("fn f() { try { return 4; } catch { } 5 } fn on_start() { state.x = f(); }"),
        { int(4) }
    );
    let again = start("try {\n throw 9;\n} catch {\n throw;\n}").unwrap_err();
    assert_eq!((again.kind, again.report.message.as_str()), (ErrorKind::Thrown, "9"));
    assert_eq!(again.report.line, 3);
}

#[test]
fn some_failures_cannot_be_caught() {
    for (statements, kind) in [
        ("loop { }", ErrorKind::Gas),
        ("let s = \"x\"; loop { s += s; }", ErrorKind::Memory),
        ("on_start();", ErrorKind::Depth),
        ("let a = []; loop { a = [a]; }", ErrorKind::Depth),
    ] {
        let all = format!("try {{ {statements} }} catch {{ state.caught = true; }}");
        assert_eq!(start(&all).unwrap_err().kind, kind, "{statements}");
    }
}

#[test]
fn inner_parts_are_changed_in_place() {
    assert_eq!(block("let a = [[1, 2], [3]]; a[0][1] += 5; a[1].push(4); a"), {
        Value::Array(vec![ints(&[1, 7]), ints(&[3, 4])])
    });
    assert_eq!(block("let a = [1, 2, 3]; a[-1] = 9; a[0] -= 1; a"), ints(&[0, 2, 9]));
    assert_eq!(
        block(
            "let m = #{a: [#{b: 1}]}; m.a[0].b += 1; m[\"a\"][0][\"c\"] = 5; m.a[0].c + m.a[0].b"
        ),
        { int(7) }
    );
    assert_eq!(block("let a = [1]; let b = a; b.push(2); [a.len(), b.len()]"), ints(&[1, 2]));
    assert_eq!(block("let s = \"abc\"; s[1] = 'x'; s"), text("axc"));
    assert_eq!(block("let v = [vec2(1, 2)]; v[0].y += 2; v[0].y"), Value::Fixed(fx("4")));
    assert_eq!(block("let x = 2; x **= 5; x <<= 1; x |= 1; x &= 63; x ^= 3; x"), int(2));
    assert_eq!(block("let a = [1]; a += 2; a += [3, 4]; a"), ints(&[1, 2, 3, 4]));
}

#[test]
fn a_value_is_read_before_what_stands_behind_it() {
    assert_eq!(block("let x = 1; x + { x = 5; x }"), int(6));
    assert_eq!(block("let a = [1]; a.len() + { a.push(2); a.len() }"), int(3));
    assert_eq!(block("let x = 1; let y = [x, { x = 2; x }, x]; y"), ints(&[1, 2, 2]));
}

#[test]
fn texts_have_letters_and_parts() {
    assert_eq!(value("\"gr\\u00fcn\"[2]"), text("\u{fc}"));
    assert_eq!(value("\"abc\"[-1]"), text("c"));
    assert_eq!(value("\"abcdef\"[1..3]"), text("bc"));
    assert_eq!(value("\"abcdef\"[4..=9]"), text("ef"));
    assert_eq!(value("\"abcdef\"[4294967296..4294967298]"), text(""));
    assert_eq!(value("\"a\" + () + 1"), text("a1"));
    assert_eq!(value("`${1 + 1}${[1.5]} ${\"a\" + 'b'}`"), text("2[1.5] ab"));
}

#[test]
fn ranges_are_values_for_a_while() {
    assert_eq!(block("let r = 2..4; let s = 0; for i in r { s += i; } s"), int(5));
    assert_eq!(value("(1..=3).contains(3) && !(1..3).contains(3)"), Value::Bool(true));
    assert_eq!(value("type_of(1..2)"), text("range"));
    assert_eq!(start("state.r = 1..2;").unwrap_err().kind, ErrorKind::State);
}

#[test]
fn functions_call_functions() {
    assert_eq!(
        program(
            "fn f(n) { if n < 2 { n } else { f(n - 1) + f(n - 2) } } fn on_start() { state.x = f(9); }"
        ),
        { int(34) }
    );
    assert_eq!(
        program("fn f(a) { a } fn f(a, b) { a + b } fn on_start() { state.x = f(f(1), f(2, 3)); }"),
        { int(6) }
    );
    assert_eq!(
        program("fn f() { } fn on_start() { state.x = [f()]; }"),
        Value::Array(vec![Value::Unit])
    );
    assert_eq!(
        program("fn f(a) { a.push(1); a } fn on_start() { let a = [0]; f(a); state.x = a; }"),
        { ints(&[0]) }
    );
}

#[test]
fn state_is_written_once_at_the_end() {
    let part = start("state.n = 1; state.n += 1; state.m = 5; state.m = (); state[\"k\"] = [1];");
    let state = part.unwrap().state.unwrap().0;
    assert_eq!(state["n"], int(2));
    assert_eq!(state["k"], ints(&[1]));
    assert!(!state.contains_key("m"));
    assert_eq!(
        start("let s = state; s.a = 3; state.x = s.a;").unwrap().state.unwrap().0["x"],
        int(3)
    );
}
