//! Whole servers and real sessions in the simulated world.

mod arrivals;
mod disks;
mod divergence;
mod plaza;
mod siege;
mod swarm;
