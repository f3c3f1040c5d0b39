//! The world state machine: turns, inboxes, leaves, roots, snapshots.
