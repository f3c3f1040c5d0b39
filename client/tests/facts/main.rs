//! Facts about the client: what it believes, what it refuses, and what it asks for again.

mod hiding;
mod liars;
mod limits;
mod resuming;
mod seeing;
mod session;
mod set_changes;
mod stand;
mod talk;
