//! Random programs: whatever they do, they end, do it again, and never trip the executor.

use metatopia_scripting::{
    Draft, ErrorKind, Event, Package, ScriptHandler, ScriptState, check, limits::GAS_PER_CALL_MAX,
};
use proptest::prelude::*;

use crate::stage::{draft, run_in, world};

/// Pieces of the language, whole and broken, and what has been trouble elsewhere.
const PIECES: [&str; 86] = [
    "let a = ",
    "let b = ",
    "const K = ",
    "a",
    "b",
    "K",
    "state.x",
    "state.y",
    "state[a]",
    "self_",
    "self_.pos",
    "self_.pos.x",
    "self_.text",
    "self_.color",
    " = ",
    " += ",
    " -= ",
    " *= ",
    " + ",
    " - ",
    " * ",
    " / ",
    " % ",
    " ** ",
    " << ",
    " >> ",
    " == ",
    " < ",
    " && ",
    " || ",
    " ?? ",
    " in ",
    "!",
    "-",
    "1",
    "0",
    "-7",
    "1.5",
    "0.0",
    "9223372036854775807",
    "2147483647.5",
    "true",
    "()",
    "\"x\"",
    "'c'",
    "`${a}`",
    "[1, 2.5, \"z\"]",
    "[]",
    "#{p: 1, q: [2]}",
    "0..5",
    "2..=3",
    "[a]",
    "[0]",
    ".p",
    ".push(a)",
    ".pop()",
    ".len()",
    ".sort()",
    ".keys()",
    "vec2(1, 2)",
    "nearby(9)",
    "random(1, 6)",
    "say(`${b}`)",
    "send(self_, \"t\", a)",
    "timer(\"t\", 1)",
    "if a { ",
    "for i in a { ",
    "while true { ",
    "loop { break; ",
    " } ",
    "; ",
    "return a",
    "|x| ",
    ".map(|x| x)",
    ".sort(|x, y| x - y)",
    ".reduce(|x, y| x + y, 0)",
    "?.p",
    "switch a { 1 => ",
    ", _ => ",
    "try { ",
    " } catch (e) { ",
    "throw a",
    "do { ",
    " } until b",
    "break ",
    " => ",
];

fn statements() -> impl Strategy<Value = String> {
    let piece = proptest::sample::select(&PIECES[..]);
    let line = proptest::collection::vec(piece, 1..12).prop_map(|pieces| pieces.concat());
    // Lines that do not parse alone are left out, so that whole programs often run.
    let line = line.prop_map(|line| {
        let alone = format!("fn on_start() {{ let a = 1; let b = 2; {line}; }}");
        if check(&alone).is_empty() { line } else { "a = [a, b]".into() }
    });
    proptest::collection::vec(line, 1..12).prop_map(|lines| lines.join(";\n"))
}

fn compile(source: &str) -> Option<ScriptHandler> {
    let package = Package::build(Draft { ..draft(source) }).unwrap();
    ScriptHandler::new(&package).ok()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn random_programs_end_and_repeat(body in statements()) {
        let source = format!("fn on_start() {{ let a = 1; let b = 2;\n{body};\n}}");
        let Some(handler) = compile(&source) else { return Ok(()) };
        let run = || run_in(world(), &handler, &Event::Start, ScriptState::default());

        let first = run();

        prop_assert_eq!(&run(), &first);
        let gas = match &first {
            Ok(part) => part.gas,
            Err(error) => {
                prop_assert_ne!(error.kind, ErrorKind::Panic, "{}", error);
                prop_assert!(!error.report.message.contains("::"), "{}", error);
                error.gas
            }
        };
        prop_assert!(gas <= GAS_PER_CALL_MAX);
    }

    #[test]
    fn random_sources_are_checked_without_a_panic(
        pieces in proptest::collection::vec(proptest::sample::select(&PIECES[..]), 0..40),
        text in "\\PC{0,40}",
    ) {
        for source in [pieces.concat(), text, format!("fn on_start() {{ {} }}", pieces.concat())] {
            let found = check(&source);
            prop_assert!(found.len() <= 32);
            prop_assert!(
                found.iter().all(|d| d.line > 0 || d.message.starts_with("the constant")),
                "{found:?}"
            );
        }
    }
}
