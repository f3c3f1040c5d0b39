//! Prints the digests of the golden scenes, and of random streams of commands, as this build computes them:
//! `cargo run --release -p metatopia-physics --example digests`. It fails where one is not as it must be on
//! every machine. `.ci/digests` runs it in builds for several processors.

use std::process::ExitCode;

#[path = "../tests/laws/drawn.rs"]
mod drawn;
#[path = "../tests/laws/draws.rs"]
mod draws;
#[expect(dead_code, reason = "the laws of the crate use the rest")]
#[path = "../tests/laws/scenes.rs"]
mod scenes;

use drawn::{STREAMS, played};
use scenes::SCENES;

fn main() -> ExitCode {
    let scenes = SCENES.iter().map(|scene| (scene.name.to_owned(), scene.found(), scene.digest));
    let stream = |(seed, digest)| (format!("stream {seed}"), played(seed), digest);
    let mut wrong = 0;
    for (name, found, digest) in scenes.chain(STREAMS.map(stream)) {
        let found = found.to_string();
        if found.starts_with(digest) {
            println!("{name:10} {found}");
        } else {
            println!("{name:10} {found} WRONG: it begins {digest} elsewhere");
            wrong += 1;
        }
    }
    if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
