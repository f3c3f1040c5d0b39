//! A small cluster in memory, and what it shows. The simulated world has the large one.

mod bugs;
mod cluster;
mod crashes;
mod keys;
mod pace;
mod smoke;
