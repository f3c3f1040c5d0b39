//! Whole servers and real sessions in the simulated world.

mod arrivals;
mod disks;
mod divergence;
mod fair;
mod plaza;
mod siege;
