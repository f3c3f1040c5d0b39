//! The golden scenes of the physics: what bodies come to that fall, roll, are pushed and joined.

use std::fmt::Write as _;

use crate::Report;

#[expect(dead_code, reason = "the laws of the physics use the rest")]
#[path = "../../../physics/tests/laws/scenes.rs"]
mod golden;

use golden::SCENES;

/// Plays 600 steps of each golden scene of the physics, and tells its digest. What holds is how many have
/// the one that is written down.
#[must_use]
pub fn scenes() -> Report {
    let mut text = String::new();
    let mut held = 0;
    let mut wrong = None;
    for scene in &SCENES {
        let found = scene.found().to_string();
        writeln!(text, "{} {found}", scene.name).expect("a string takes every line");
        if found.starts_with(scene.digest) {
            held += 1;
        } else {
            wrong.get_or_insert(SceneError { name: scene.name, digest: scene.digest });
        }
    }
    Report::new(text, wrong.map_or(Ok(held), Err))
}

/// A scene came to something else than it must on every machine.
#[derive(Debug, thiserror::Error)]
#[error("the digest of {name} does not begin {digest}")]
struct SceneError {
    name: &'static str,
    digest: &'static str,
}
