//! Facts about the client: what it believes, what it refuses, and what it asks for again.

mod ages;
mod blocks;
mod elsewhere;
mod hands;
mod heights;
mod hiding;
mod land;
mod liars;
mod limits;
mod orders;
mod presence;
mod private;
mod profiles;
mod resuming;
mod seeing;
mod session;
mod set_changes;
mod stand;
mod talk;
mod things;
