//! The laws of a region, as anybody outside can check them.

mod collisions;
mod commands;
mod determinism;
mod events;
mod golden;
mod movements;
mod queries;
mod rest;
mod restoring;
mod rework;
mod scenes;
mod walls;
