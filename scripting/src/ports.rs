//! The ports that a program has. Each is a file that `metatopia script port` wrote, and a line here.

#[rustfmt::skip]
mod greeter;

use alloc::{vec, vec::Vec};

use crate::Port;

/// Returns the ports of this program.
#[must_use]
pub fn ports() -> Vec<Port> {
    vec![greeter::PORT.port(include_str!("ports/greeter.rs"))]
}
