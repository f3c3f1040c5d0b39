//! The library behind the `metatopia` program: everything with an effect.
//!
//! [`server::run`] is one server: it puts a disk ([`storage`], [`disk`]), a thread for the world
//! ([`applier`]), sessions with other servers ([`lanes`]) and with clients ([`gateway`]), and HTTP
//! ([`http`]) around a sans-IO replica, and [`driver`] brings to the replica what happens and does
//! what it wants. [`client_driver`] does the same for a client's session, over a [`carrier`].
//! [`joining`] makes a follower out of an invite, [`founding`] a world out of a genesis; [`documents`]
//! are files that operators hand to each other; [`engine`] tells worlds of other programs. [`cli`] is
//! the command line. What is decided, and what a world is, is not known here.
//!
//! ```
//! use metatopia::{clock::Clock, metrics::Metrics};
//!
//! let clock = Clock::default();
//! assert!(clock.now().monotonic <= clock.now().monotonic);
//! assert!(Metrics::default().encode().contains("metatopia_height 0"));
//! ```
#![forbid(unsafe_code)]

pub mod applier;
pub mod authority;
pub mod bind;
pub mod capsules;
pub mod carrier;
pub mod certificates;
pub mod cli;
pub mod client_driver;
pub mod clock;
pub mod config;
pub mod disk;
pub mod documents;
pub mod driver;
mod durable;
pub mod engine;
pub mod founding;
pub mod framing;
pub mod gateway;
pub mod heals;
pub mod http;
pub mod joining;
pub mod keys;
pub mod lanes;
pub mod metrics;
pub mod neighbours;
pub mod networks;
mod pace;
pub mod server;
pub mod storage;
pub mod tls;
