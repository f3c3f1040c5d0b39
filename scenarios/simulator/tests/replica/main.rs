//! Whole servers and real sessions in the simulated world.

mod arrivals;
mod decided_alike;
mod devices;
mod disks;
mod divergence;
mod fair;
mod plaza;
mod published_alike;
mod refused_alike;
mod siege;
