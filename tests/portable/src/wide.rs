//! Numbers that do not fit into 32 bits, wherever a script may count or index with one. In a build
//! for wasm32 places in memory have 32 bits, and one conversion too many would cut such a number off.

use std::fmt::Write as _;

use crate::{
    Report,
    posts::{self, PostsError},
};

/// What scripts make of the number `w`, which is 2^32; `s` is a string, `a` an array.
const EXPRESSIONS: [&str; 26] = [
    "s[w]",
    "s[-w - 1]",
    "s.sub(w, 2)",
    "s.sub(0, w + 2)",
    "s.sub(-w, w + 2)",
    "a[w]",
    "a[w + 1]",
    "a[-w]",
    "a[-w - 1]",
    "{ a[w] = 1; a }",
    "{ a.insert(w, 1); a }",
    "{ a.insert(-w, 1); a }",
    "a.remove(w)",
    "a.remove(-w - 1)",
    "a.index_of(w)",
    "a.contains(w + 1)",
    "w in 0..w + 1",
    "1 << (w + 1)",
    "w >> (w + 1)",
    "2 ** (w + 1)",
    "{ let n = 0; for i in w - 1..w + 2 { n += i; } n }",
    "{ let n = 0; for (x, i) in w..w + 3 { n += x * i; } n }",
    "random(w, w * 1000000)",
    "[w.to_string(), \"4294967297\".to_int()]",
    "vec2(w / 4, 1)",
    "fixed(w)",
];

/// Starts scripts that count and index with numbers beyond 32 bits, and tells what each made of it.
/// What holds is how many came to an end, with a value or an error.
#[must_use]
pub fn widest() -> Report {
    let mut text = String::new();
    let outcome = start(&mut text);
    Report::new(text, outcome)
}

/// Why scripts with wide numbers did not all come to an end.
#[derive(Debug, thiserror::Error)]
enum WideError {
    #[error(transparent)]
    Posts(#[from] PostsError),
    #[error("{ended} of {} scripts came to an end", EXPRESSIONS.len())]
    Ended { ended: usize },
}

fn start(text: &mut String) -> Result<u32, WideError> {
    let sources = EXPRESSIONS.map(|expression| {
        format!(
            "fn on_start() {{\n let w = 4294967296; let s = \"hello\"; let a = [1, 2, 3];\n \
             log({expression});\n}}\n"
        )
    });
    let (world, applied) = posts::start(&sources)?;
    let lines = applied.log.iter().map(|line| (line.script, format!("gives {}", line.text)));
    let failures = applied.failures.iter().map(|failure| {
        let message = &failure.report.message;
        (failure.script, format!("fails, {:?}: {message}", failure.kind))
    });
    let mut ends: Vec<_> = lines.chain(failures).collect();
    ends.sort();
    for ((script, end), expression) in ends.iter().zip(EXPRESSIONS) {
        writeln!(text, "script {script} {expression} {end}").expect("a string takes every line");
    }
    writeln!(text, "{} {}", world.height(), world.root()).expect("a string takes every line");
    let ended = ends.len();
    let all = u32::try_from(ended).ok().filter(|_| ended == EXPRESSIONS.len());
    all.ok_or(WideError::Ended { ended })
}
