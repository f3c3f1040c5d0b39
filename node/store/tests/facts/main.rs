//! Facts about the store, told through its public interface.

mod aside;
mod crashes;
mod cuts;
mod files;
mod fixture;
mod flips;
mod limits;
mod mangled;
mod marks;
mod patches;
mod redactions;
mod refused;
mod rolls;
mod schedules;
mod syncs;
