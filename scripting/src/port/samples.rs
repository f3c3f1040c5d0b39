//! Ports of sources that no sim runs, for tests and measurements.

#[cfg(test)]
#[expect(clippy::too_many_lines, reason = "a port has a line for each operation")]
#[rustfmt::skip]
pub(crate) mod language;
#[expect(clippy::too_many_lines, reason = "a port has a line for each operation")]
#[rustfmt::skip]
pub(crate) mod tick;

/// A script that is all arithmetic.
#[cfg(test)]
pub(crate) const TICK: &str = include_str!("samples/tick.rhai");
/// A script with each operation of the language.
#[cfg(test)]
pub(crate) const LANGUAGE: &str = include_str!("samples/language.rhai");
/// The port of the one.
pub(crate) const TICK_PORT: &str = include_str!("samples/tick.rs");
/// The port of the other.
#[cfg(test)]
pub(crate) const LANGUAGE_PORT: &str = include_str!("samples/language.rs");
