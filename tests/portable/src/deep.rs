//! Scripts that nest as deep as they may. A machine with a smaller stack than others must refuse
//! them by the same rule, at the same line, before its stack ends.

use std::fmt::Write as _;

use metatopia_scripting::{ErrorKind, check};

use crate::{
    Report,
    posts::{self, PostsError},
};

/// What a call is put into, again and again: syntax that takes much stack for each level.
const NESTS: [(&str, &str); 19] = [
    ("[", "]"),
    ("abs(", ")"),
    ("if true { ", " }"),
    ("for i in 0..1 { ", " }"),
    ("while true { ", " }"),
    ("[", "][0]"),
    ("(1).max(", ")"),
    ("1.max(", ")"),
    ("true && (", ")"),
    ("() ?? (", ")"),
    ("`${", "}`"),
    ("1 + (", ")"),
    ("-(", ")"),
    ("#{a: ", "}.a"),
    ("{ let a = ", "; a }"),
    ("vec2(1, 2).x.max(", ")"),
    ("[1, 2][", "]"),
    ("state[", "]"),
    ("abs([`${", "}`][0])"),
];

/// More nests inside one another than any script may have.
const TOO_MANY: usize = 40;

/// Starts scripts that call themselves inside of as many nests as fit into a source, and tells where
/// each was stopped. What holds is how many of them were stopped by their depth, which is all.
#[must_use]
pub fn deepest() -> Report {
    let mut text = String::new();
    let outcome = start(&mut text);
    Report::new(text, outcome)
}

/// Why deep scripts were not all stopped as they should be.
#[derive(Debug, thiserror::Error)]
enum DeepError {
    #[error(transparent)]
    Posts(#[from] PostsError),
    #[error("{found} of {} scripts were stopped by their depth", NESTS.len())]
    Stopped { found: u32 },
}

fn start(text: &mut String) -> Result<u32, DeepError> {
    let sources = NESTS.map(|(open, close)| deepest_source(open, close));
    let (world, applied) = posts::start(&sources)?;
    let mut found = 0;
    for failure in &applied.failures {
        let (script, kind, report) = (failure.script, failure.kind, &failure.report);
        let (line, column, message) = (report.line, report.column, &report.message);
        writeln!(text, "script {script} {kind:?} at {line}:{column}: {message}")
            .expect("a string takes every line");
        found += u32::from(kind == ErrorKind::Depth);
    }
    writeln!(text, "{} {}", world.height(), world.root()).expect("a string takes every line");
    if found as usize == NESTS.len() { Ok(found) } else { Err(DeepError::Stopped { found }) }
}

/// A function that calls itself without end, inside of as many nests as its source may have.
fn deepest_source(open: &str, close: &str) -> String {
    let source = |times: usize| {
        let (open, close) = (open.repeat(times), close.repeat(times));
        format!("fn f(n) {{ {open}f(n + 1){close} }}\nfn on_start() {{ f(0); }}\n")
    };
    let times = (1..TOO_MANY).rev().find(|times| check(&source(*times)).is_empty());
    source(times.unwrap_or(0))
}
