//! Agreement in the simulated world: every story with a few seeds, and what must be seen to fail.
//!
//! `cargo run -p metatopia-simulator --example vopr -- --seeds N` tells the same stories more often.

mod absence;
mod bank;
mod bugs;
mod clocks;
mod controls;
mod crashes;
mod liars;
mod locks;
mod pace;
mod people;
mod swarm;
mod weather;
