//! What a node hands out to those who replay: turns, and states to begin with.

mod alone;
mod author_class;
mod borders;
mod clubs;
mod fetching;
mod filling;
mod handing_over;
mod join_retry;
mod joining;
mod joints;
mod land;
mod people;
mod profiles;
mod publishing;
mod repair;
mod snapshots;
mod state_sync;
mod turns;
