//! The limits of the tier.

/// Bodies of a region that the tier moves.
pub const BODIES_MAX: usize = 2_000;

/// Longest state of the tier, in bytes. A pile of so many bodies has two million. Bodies that each overlap
/// as many others as they may have up to 450 bytes for each of 64 of them.
pub const STATE_BYTES_MAX: usize = 64 << 20;
