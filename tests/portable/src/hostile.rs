//! Hostile programs: what they are stopped by, where, and after how much gas.

use std::fmt::Write as _;

use crate::Report;

#[path = "../../../scripting/tests/hostile/ending.rs"]
mod ending;
#[path = "../../../scripting/tests/stage/nowhere.rs"]
mod nowhere;
#[path = "../../../scripting/tests/hostile/programs.rs"]
mod programs;
#[path = "../../../scripting/tests/stage/starting.rs"]
mod starting;

/// How each program ends, as the tests of the scripts recorded it.
const GOLDEN: &str = include_str!("../../../scripting/tests/hostile/golden.txt");

/// Runs each hostile program of the tests of the scripts, and tells how it ended. What holds is how many of
/// them ended as it was recorded.
#[must_use]
pub fn hostile() -> Report {
    let mut text = String::new();
    let mut held = 0;
    let mut wrong = None;
    let mut recorded = GOLDEN.lines();
    for (name, source) in programs::all() {
        let end = ending::compiled(&source)
            .map_or_else(|refused| refused, |program| ending::ended(&program));
        let line = format!("{name}: {end}");
        match recorded.next() {
            Some(expected) if expected == line => held += 1,
            _ => {
                wrong.get_or_insert(EndedElsewhere(name));
            }
        }
        writeln!(text, "{line}").expect("a string takes every line");
    }
    let outcome = match recorded.next() {
        Some(missing) => Err(EndedElsewhere(missing.to_owned())),
        None => wrong.map_or(Ok(held), Err),
    };
    Report::new(text, outcome)
}

/// A program ended elsewhere than it must on every machine.
#[derive(Debug, thiserror::Error)]
#[error("the program {0:?} ended otherwise than recorded")]
struct EndedElsewhere(String);
