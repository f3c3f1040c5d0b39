//! Where the executor of our own means something else than stock rhai, on purpose: all of it, each with
//! what both say.

use metatopia_scripting::{ErrorKind, Value};

use crate::{Verdict, judged, own, stock};

/// Returns what stock rhai and our own executor give for a function's body.
fn both(body: &str) -> (Verdict, Verdict) {
    let source = format!("fn run() {{ {body} }}");
    (judged::run(&stock::engine(), &source).0, own::run(&source))
}

fn value(value: Value) -> Verdict {
    Verdict::Value(value, Box::default())
}

fn int(int: i64) -> Verdict {
    value(Value::Int(int))
}

fn text(text: &str) -> Verdict {
    value(Value::Text(text.into()))
}

/// A value that is seen by two names would be state that no one can see: a closure keeps a copy.
#[test]
fn a_closure_keeps_values_and_not_variables() {
    let (stock, own) = both("let k = 1; let f = |x| x + k; k = 5; f\u{1}(1)");
    assert_eq!((stock, own), (int(6), int(2)));
    let (stock, own) = both("let k = 1; let f = |x| { k += x; k }; f\u{1}(1); k");
    assert_eq!((stock, own), (int(2), int(1)));
}

/// A letter is a text of length one: an author needs no second kind.
#[test]
fn a_letter_is_a_text() {
    let (stock, own) = both("type_of('x')");
    assert_eq!((stock, own), (text("char"), text("string")));
    let (stock, own) = both("switch \"x\" { 'x' => 1, _ => 2 }");
    assert_eq!((stock, own), (int(2), int(1)));
}

/// What a catch is told of a fault is our own: the words of the interpreter change with its version.
#[test]
fn what_a_catch_is_told_of_a_fault_is_our_own() {
    let (stock, own) = both("try { 1 / 0 } catch (e) { return e.kind; }");
    assert_eq!((stock, own), (value(Value::Unit), text("arithmetic")));
}

/// What fails changes nothing.
#[test]
fn an_entry_that_cannot_be_changed_is_not_made() {
    let (stock, own) = both("let m = #{}; try { m.a += 1; } catch { } m.len()");
    assert_eq!((stock, own), (int(1), int(0)));
}

/// Bits have operators of their own.
#[test]
fn an_int_has_no_places() {
    let (stock, own) = both("let x = 5; x[0]");
    assert_eq!(stock, value(Value::Bool(true)));
    assert!(matches!(own, Verdict::Error { kind: ErrorKind::Type, .. }), "{own:?}");
}

/// To take a text out of another is no difference of numbers.
#[test]
fn texts_are_not_subtracted() {
    let (stock, own) = both("\"abc\" - \"b\"");
    assert_eq!(stock, text("ac"));
    assert!(matches!(own, Verdict::Error { kind: ErrorKind::Type, .. }), "{own:?}");
}

/// A member that a value surely does not have is a mistake in the source, whether or not it is reached.
#[test]
fn members_that_no_such_value_has_are_refused() {
    let (stock, own) = both("if false { \"abc\".size } 1");
    assert_eq!((stock, own), (int(1), Verdict::RefusedMember));
}
