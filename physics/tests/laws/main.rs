//! The laws of a region, tested through its public interface.

mod bounds;
mod casts;
mod chains;
mod collisions;
mod commands;
mod determinism;
mod draws;
mod edits;
mod events;
mod filters;
mod golden;
mod gravity;
mod ground;
mod joints;
mod materials;
mod movements;
mod queries;
mod rays;
mod restoring;
mod scenes;
mod shapes;
mod sleep;
mod snapshots;
mod streams;
mod walls;
