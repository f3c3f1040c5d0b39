//! Bounds of this crate alone, with their arithmetic. Shared ones are in `metatopia_types::limits`.

use metatopia_types::limits::{TURN_BYTES_MAX, VALIDATORS_MAX};

/// Length of every part of a turn but its last. Small enough that a vote never waits long behind
/// one: 16 KiB take 13 ms on a line of 10 Mbit/s.
pub const PART_BYTES: usize = 16 * 1_024;

/// Parts of the longest turn. They are counted in the bits of a `u64`.
pub const PARTS_MAX: usize = TURN_BYTES_MAX.div_ceil(PART_BYTES);
const _: () = assert!(PARTS_MAX <= 64, "a want names parts by the bits of a u64");

/// Turns that one peer may have in the making here: its own for this height and the next two, and
/// one that it hands on.
pub const ASSEMBLIES_PER_PEER_MAX: usize = 4;

/// Messages of one peer that wait for a height to begin: two rounds of a proposal, two votes and a
/// proof, for the open height and the two after it.
pub const EARLY_FRAMES_PER_PEER_MAX: usize = 32;

/// Peers that are remembered: all validators, and followers.
pub const PEERS_MAX: usize = 256;

/// Answers to wants that one peer gets at once; after that, one in each of its pauses between two
/// wants. Some rounds of a bad network; 8 of the longest turn are 3.6 MB.
pub const WANT_ANSWERS_MAX: u32 = 8;

/// Decisions in one answer to a peer that is behind.
pub const DECISIONS_PER_ANSWER_MAX: u32 = 16;

/// Bytes of turns in one such answer; one decision is always sent.
pub const ANSWER_BYTES_MAX: usize = 1_024 * 1_024;

/// Decisions held that cannot be used yet, because the ones before them are missing.
pub const DECISIONS_AHEAD_MAX: u64 = 64;

/// Decided turns kept in memory for peers that are a little behind, and for receipts: one minute.
pub const DECISIONS_KEPT: u64 = 1_200;

/// Bytes of decided turns kept in memory.
pub const DECISION_BYTES_KEPT: usize = 32 * 1_024 * 1_024;

/// Applied heights whose base can still be taken.
pub const BASES_KEPT: u64 = 64;

/// Rounds of one height that are counted for fast timers; later ones wait their full time.
pub const ROUNDS_COUNTED_MAX: usize = 64;

/// Set changes that a join pack may carry, and a server keeps: at most 40 MiB of sets of 31. Whoever follows the sim
/// and missed more has to trust somebody again.
pub const LINKS_MAX: usize = 10_000;

/// Signatures remembered as good: a height of the largest set has 2 votes of each member, more
/// with lost rounds.
pub const SIGNATURES_CACHED_MAX: usize = 4_096;

/// Largest encoded certificate, polka or round proof: a signature of every validator.
pub const PROOF_BYTES_MAX: usize = VALIDATORS_MAX * (32 + 64 + 40) + 64;

/// Largest encoded join pack: some 2,000 changes of sets of 31, of which a link has 4 KiB, and all
/// [`LINKS_MAX`] of sets of four.
pub const JOIN_PACK_BYTES_MAX: usize = 8 * 1_024 * 1_024;

/// Largest encoded message: a decision.
pub const MESSAGE_BYTES_MAX: usize = TURN_BYTES_MAX + PROOF_BYTES_MAX;

/// Largest encoded record: a turn.
pub const RECORD_BYTES_MAX: usize = TURN_BYTES_MAX + PROOF_BYTES_MAX;
