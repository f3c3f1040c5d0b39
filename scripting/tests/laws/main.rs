//! What holds for packages and scripts, seen from outside.
#![expect(clippy::unwrap_used, reason = "tests state facts")]

mod people;
mod spawning;
mod stage;

mod bounds;
mod checks;
mod failures;
mod hazards;
mod host;
mod imports;
mod joining;
mod language;
mod limits;
mod packages;
mod ports;
mod programs;
mod repeat;
mod syntax;
mod values;
