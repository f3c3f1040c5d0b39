//! Makes steps of the scenes that the example `compare` of the physics plays, as it is told to, so that a native build
//! and modules for wasm32 can be measured in turns. `.ci/pace` builds them, and `tests/pace/pace.mjs` asks them.
//!
//! The program answers lines of standard input. The module exports `begin`, `step` and `digest`, imports nothing, and
//! does nothing of its own accord.

#[cfg(target_family = "wasm")]
mod module;
#[cfg(not(target_family = "wasm"))]
mod native;
#[expect(dead_code, reason = "the comparison with another engine uses the rest")]
#[path = "../../../physics/examples/compare/scenes.rs"]
mod scenes;

#[cfg(target_family = "wasm")]
const fn main() {}

#[cfg(not(target_family = "wasm"))]
fn main() -> std::process::ExitCode {
    native::answer()
}
