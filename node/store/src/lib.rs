//! The append-only log, snapshots and recovery, sans-IO.
