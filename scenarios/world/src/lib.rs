//! The seeded simulated world: clocks, networks, disks and crashes for whole clusters in one process.
