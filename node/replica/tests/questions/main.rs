//! What a node hands out to those who replay: turns, and states to begin with.

mod alone;
mod fetching;
mod filling;
mod healing;
mod joining;
mod knocking;
mod rescue;
mod snapshots;
mod standing;
mod turns;
