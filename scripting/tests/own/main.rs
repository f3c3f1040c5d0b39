//! The laws of packages and scripts once more, for the executor of our own; and what it has beyond them.
#![expect(clippy::unwrap_used, reason = "tests state facts")]

#[path = "../laws/stage.rs"]
mod stage;

#[path = "../laws/host.rs"]
mod host;
#[path = "../laws/language.rs"]
mod language;
#[path = "../laws/ports.rs"]
mod ports;
#[path = "../laws/values.rs"]
mod values;

mod bounds;
mod mistakes;
mod repeat;
mod syntax;

/// The executor that the laws are held to here.
pub(crate) type TestedHandler = metatopia_scripting::ScriptHandler;
