//! Prints the digests of the golden scenes and random streams on this tier, as this build computes them:
//! `cargo run --release -p metatopia-physics-rapier --example digests`. It fails where one is not as it must be on
//! every machine. `.ci/digests` runs it in builds for several processors.

use std::process::ExitCode;

#[path = "../tests/laws/digested.rs"]
mod digested;
#[expect(dead_code, reason = "the other tier plays by itself")]
#[path = "../../tests/laws/drawn.rs"]
mod drawn;
#[path = "../../tests/laws/draws.rs"]
mod draws;
#[expect(dead_code, reason = "the laws of both tiers use the rest")]
#[path = "../../tests/laws/scenes.rs"]
mod scenes;

use digested::{GOLDEN, GOLDEN_STREAMS, digests, stream_digests};

fn main() -> ExitCode {
    let mut wrong = 0;
    let named = |name: &str, found, digest| (name.to_owned(), found, digest);
    let scenes = digests().into_iter().zip(GOLDEN);
    let scenes = scenes.map(|((name, found), (_, digest))| named(name, found, digest));
    let streams = stream_digests().into_iter().zip(GOLDEN_STREAMS);
    let streams =
        streams.map(|((seed, found), (_, digest))| named(&format!("stream {seed}"), found, digest));
    for (name, found, digest) in scenes.chain(streams) {
        if found == digest {
            println!("{name:10} {found}");
        } else {
            println!("{name:10} {found} WRONG: it is {digest} elsewhere");
            wrong += 1;
        }
    }
    if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
