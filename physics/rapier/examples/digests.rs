//! Prints the digests of the golden scenes on this tier, as this build computes them:
//! `cargo run --release -p metatopia-physics-rapier --example digests`. It fails where one is not as it must be on
//! every machine. `.ci/digests` runs it in builds for several processors.

use std::process::ExitCode;

#[path = "../tests/laws/digested.rs"]
mod digested;
#[expect(dead_code, reason = "the laws of both tiers use the rest")]
#[path = "../../tests/laws/scenes.rs"]
mod scenes;

use digested::{GOLDEN, digests};

fn main() -> ExitCode {
    let mut wrong = 0;
    for ((name, found), (_, digest)) in digests().into_iter().zip(GOLDEN) {
        if found == digest {
            println!("{name:10} {found}");
        } else {
            println!("{name:10} {found} WRONG: it is {digest} elsewhere");
            wrong += 1;
        }
    }
    if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
