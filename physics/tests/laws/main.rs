//! The laws of a region, as anybody outside can check them.

mod commands;
mod determinism;
mod events;
mod golden;
mod matter;
mod queries;
mod restoring;
mod scenes;
