//! Prints the digests of the golden scenes as this build computes them:
//! `cargo run --release -p metatopia-physics --example digests`. It fails where one is not as it must be on
//! every machine. `.ci/digests` runs it in builds for several processors.

use std::process::ExitCode;

#[expect(dead_code, reason = "the laws of the crate use the rest")]
#[path = "../tests/laws/scenes.rs"]
mod scenes;

use scenes::SCENES;

fn main() -> ExitCode {
    let mut wrong = 0;
    for scene in &SCENES {
        let found = scene.found().to_string();
        if found.starts_with(scene.digest) {
            println!("{:10} {found}", scene.name);
        } else {
            println!("{:10} {found} WRONG: it begins {} elsewhere", scene.name, scene.digest);
            wrong += 1;
        }
    }
    if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
