//! What must come out the same on every machine, in every build, told as text.
//!
//! A server in a data centre and a light client in a browser must hold the same bits. This crate
//! makes that a comparison of texts: each check plays something, and its [`Report`] says what the
//! state was on the way. The program of this crate prints the reports of the native build, and
//! `tests/portable/run.mjs` those of the same code built for wasm32; `.ci/wasm` compares them.
//!
//! * [`replay`] replays the golden log of the plaza, and knows its roots.
//! * [`panics`] replays it while some acts panic: a caught panic is a failed outcome, and no more.
//! * [`deepest`] runs scripts that call and nest as deep as they may: the limits stop them, never
//!   the machine's stack.
//! * [`widest`] counts and indexes with numbers beyond 32 bits, which places in wasm32's memory have.
//! * [`hostile`] runs the hostile programs of the scripts' tests, and knows where each is stopped.
//! * [`scenes`] plays the golden scenes of the physics and random streams of commands, and knows their digests.
//! * [`letters`] and [`strangers`] read a thousand private words each, as a tab does.
//!
//! This crate knows no socket, file, clock or thread. It cannot say that two machines agree: that
//! is for whoever compares their reports.
//!
//! # Panics must unwind
//!
//! Applying a turn is total because a panic is caught, so a program that serves or verifies a sim
//! is built with `panic = "unwind"`, on wasm32 as well: `-C panic=unwind` and a standard library
//! built alike (`.ci/wasm` shows how), which uses the exceptions of WebAssembly. The standard
//! library for wasm32 that comes ready-made aborts instead. A module built with it comes to the same
//! roots for as long as nothing panics; a turn in which something does ends it with a trap. It never
//! goes on with another state, but it cannot follow that sim any further.
//!
//! ```
//! let report = metatopia_portable::deepest();
//! assert!(report.held.is_some(), "{}", report.text);
//! ```
#![forbid(unsafe_code)]

mod deep;
#[path = "../../../physics/tests/laws/drawn.rs"]
mod drawn;
#[path = "../../../physics/tests/laws/draws.rs"]
mod draws;
mod hostile;
mod posts;
mod private;
mod replay;
mod scenes;
mod wide;

use std::fmt;

pub use deep::deepest;
pub use hostile::hostile;
pub use private::{letters, strangers};
pub use replay::{panics, replay};
pub use scenes::scenes;
pub use wide::widest;

/// What one check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// How many facts held: roots that match for [`replay`], acts that failed alone for [`panics`],
    /// scripts that were stopped in time for [`deepest`], that came to an end for [`widest`], that ended as
    /// recorded for [`hostile`], digests that match for [`scenes`], words that were read for [`letters`] and
    /// [`strangers`]. Nothing when one did not; then the last line of the text says which.
    pub held: Option<u32>,
    /// What the state was on the way, a fact a line; the same on every machine.
    pub text: String,
}

impl Report {
    fn new(mut text: String, outcome: Result<u32, impl fmt::Display>) -> Self {
        let held = outcome.inspect_err(|fault| text.push_str(&format!("failed: {fault}\n"))).ok();
        Self { held, text }
    }
}
