//! Ports of sources that no sim runs, for tests and measurements.

#[cfg(test)]
#[expect(clippy::too_many_lines, reason = "a port has a line for each operation")]
#[rustfmt::skip]
pub(crate) mod language;
#[cfg(test)]
#[expect(clippy::too_many_lines, reason = "a port has a line for each operation")]
#[rustfmt::skip]
pub(crate) mod linked;
#[expect(clippy::too_many_lines, reason = "a port has a line for each operation")]
#[rustfmt::skip]
pub(crate) mod tick;

/// A script that is all arithmetic.
#[cfg(test)]
pub(crate) const TICK: &str = include_str!("samples/tick.rhai");
/// A script with each operation of the language.
#[cfg(test)]
pub(crate) const LANGUAGE: &str = include_str!("samples/language.rhai");
/// A script that imports the next one, and `scores`.
#[cfg(test)]
pub(crate) const LINKED: &str = include_str!("samples/linked.rhai");
/// A script for others to import.
#[cfg(test)]
pub(crate) const TALLY: &str = include_str!("samples/tally.rhai");
/// The port of the first one.
pub(crate) const TICK_PORT: &str = include_str!("samples/tick.rs");
/// The port of the one with each operation.
#[cfg(test)]
pub(crate) const LANGUAGE_PORT: &str = include_str!("samples/language.rs");
/// The port of the one with imports.
#[cfg(test)]
pub(crate) const LINKED_PORT: &str = include_str!("samples/linked.rs");
