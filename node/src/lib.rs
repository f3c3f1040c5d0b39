//! The library behind the `metatopia` program: everything with an effect.
//!
//! [`server::run`] is one server: it puts a disk ([`disk_thread`], [`disk`]), a thread for the world
//! ([`executor`]), and the sessions and HTTP of [`metatopia_transport`], with what HTTP answers
//! ([`routes`]), around a sans-IO replica, and [`driver`] brings to the replica what happens and does
//! what it wants.
//! [`joining`] makes a follower out of an invite, [`first_state`] a world out of a genesis; [`engine`]
//! tells worlds of other programs. [`cli`] is the command line. What is decided, and what a world is,
//! is not known here.
//!
//! ```
//! use metatopia::{clock::SystemClock, metrics::Metrics};
//!
//! let clock = SystemClock::default();
//! assert!(clock.now().monotonic <= clock.now().monotonic);
//! assert!(Metrics::default().encode().contains("metatopia_height 0"));
//! ```
#![forbid(unsafe_code)]

mod atomic_file;
pub mod authority_files;
pub mod certificate_file;
pub mod cli;
pub mod clock;
pub mod config;
pub mod diagnostics;
pub mod disk;
pub mod disk_thread;
pub mod driver;
pub mod engine;
pub mod executor;
pub mod first_state;
pub mod joining;
pub mod keys;
pub mod metrics;
pub mod peer_set;
pub mod repair_log;
pub mod routes;
pub mod server;
