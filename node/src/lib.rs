//! The library behind the `metatopia` program: everything with an effect.
//!
//! [`host::run`] is one process. It runs the servers of one sim or of several, and answers HTTP for
//! all of them ([`routes`]). [`server`] puts a disk ([`disk_thread`], [`disk`]), a thread for the
//! world ([`executor`]), and the sessions of [`metatopia_transport`] around the sans-IO replica of
//! one sim. [`driver`] hands events to the replica and carries out its effects. [`joining`] makes a
//! follower from an invite, and [`first_state`] a world from a genesis. [`engine`] recognises the
//! directories of other programs. [`cli`] is the command line. This crate knows neither what turns
//! are decided nor what a world is.
//!
//! ```
//! use metatopia::{clock::SystemClock, metrics::Metrics};
//!
//! let clock = SystemClock::default();
//! assert!(clock.now().monotonic <= clock.now().monotonic);
//! assert!(Metrics::default().encode().contains("metatopia_http_requests_total 0"));
//! ```
#![forbid(unsafe_code)]

pub mod ahead;
mod atomic_file;
pub mod authority_files;
pub mod certificate_file;
pub mod cli;
pub mod clock;
pub mod config;
pub mod courier;
pub mod diagnostics;
pub mod disk;
pub mod disk_thread;
pub mod driver;
pub mod engine;
pub mod executor;
pub mod first_state;
pub mod host;
pub mod joining;
pub mod keys;
pub mod metrics;
pub mod overlay;
pub mod peer_set;
pub mod repair_log;
pub mod routes;
#[cfg(test)]
mod scratch;
pub mod server;
