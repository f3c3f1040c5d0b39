//! The laws of a region, tested through its public interface.

mod bounds;
mod collisions;
mod commands;
mod determinism;
mod edits;
mod events;
mod golden;
mod gravity;
mod ground;
mod movements;
mod queries;
mod rays;
mod restoring;
mod scenes;
mod shapes;
mod sleep;
mod walls;
