//! The sans-IO server of one sim: agreement, simulation, log, mempool and client sessions.
