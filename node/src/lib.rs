//! The library behind the `metatopia` program: driver, transports, disk, HTTP and command line.

pub mod applier;
pub mod bind;
pub mod carrier;
pub mod cli;
pub mod client_driver;
pub mod clock;
pub mod config;
pub mod disk;
pub mod driver;
pub mod framing;
pub mod gateway;
pub mod http;
pub mod keys;
pub mod lanes;
pub mod metrics;
pub mod server;
pub mod storage;
pub mod tls;
