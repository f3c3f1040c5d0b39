//! The library behind the `metatopia` program: driver, transports, disk, HTTP and command line.

pub mod bind;
pub mod carrier;
pub mod disk;
pub mod framing;
pub mod gateway;
pub mod lanes;
pub mod metrics;
pub mod tls;
