//! The golden scenes of the physics: what bodies come to that fall, roll, are pushed and joined; and random streams
//! of commands.

use std::fmt::Write as _;

use crate::Report;
use crate::drawn::{STREAMS, played};

#[expect(dead_code, reason = "the laws of the physics use the rest")]
#[path = "../../../physics/tests/laws/scenes.rs"]
mod golden;

use golden::SCENES;
pub(crate) use golden::{at, cm};

/// Plays 600 steps of each golden scene of the physics, and each golden stream of random commands, and tells its
/// digest. What holds is how many have the one that is written down.
#[must_use]
pub fn scenes() -> Report {
    let mut text = String::new();
    let mut held = 0;
    let mut wrong = None;
    let scenes = SCENES.iter().map(|scene| (scene.name.to_owned(), scene.found(), scene.digest));
    let stream = |(seed, digest)| (format!("stream {seed}"), played(seed), digest);
    for (name, found, digest) in scenes.chain(STREAMS.map(stream)) {
        let found = found.to_string();
        writeln!(text, "{name} {found}").expect("a string takes every line");
        if found.starts_with(digest) {
            held += 1;
        } else {
            wrong.get_or_insert(SceneError { name, digest });
        }
    }
    Report::new(text, wrong.map_or(Ok(held), Err))
}

/// A scene or a stream came to something else than it must on every machine.
#[derive(Debug, thiserror::Error)]
#[error("the digest of {name} does not begin {digest}")]
struct SceneError {
    name: String,
    digest: &'static str,
}
