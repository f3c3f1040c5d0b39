//! A small cluster in memory, and what it shows. The simulated world has the large one.

mod ahead;
mod bugs;
mod catching_up;
mod cluster;
mod core;
mod crashes;
mod faults;
mod join;
mod judge;
mod keys;
mod limits;
mod muted;
mod opening;
mod pace;
mod smoke;
mod wire;
