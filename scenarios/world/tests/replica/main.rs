//! Whole servers and real sessions in the simulated world.

mod divergence;
mod plaza;
mod swarm;
