//! Work that a first login shows: a number that is hard to find and easy to check.
//!
//! A key costs nothing, so what strangers may do without limit is done with a thousand keys. Where a
//! sim asks for work, each new key costs its owner some seconds of a processor, once. The work is
//! bound to one sim, one key and one recent header, so it can neither be sold nor done in advance.

use serde::{Deserialize, Serialize};

use crate::{Digest, HeaderId, Height, PublicKey, SimId};

/// The work of a first login.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// The height of the header that the work was done for, a multiple of
    /// [`ANCHOR_HEIGHTS`](crate::limits::ANCHOR_HEIGHTS).
    pub height: Height,
    /// The number that was found.
    pub nonce: u64,
}

/// What work is done for: it takes some `tries` to find a number whose digest is low enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Puzzle {
    seed: [u8; 32],
    highest: u64,
}

impl Puzzle {
    /// Returns the puzzle of a key in a sim, for a header of it; on average it takes `tries` tries.
    #[must_use]
    pub fn new(sim: SimId, key: &PublicKey, header: &HeaderId, tries: u64) -> Self {
        let mut parts = [0; 96];
        parts[..32].copy_from_slice(sim.bytes());
        parts[32..64].copy_from_slice(&key.0);
        parts[64..].copy_from_slice(header.bytes());
        let seed = Digest::of("metatopia first login work v1", &parts).0;
        Self { seed, highest: u64::MAX / tries.max(1) }
    }

    /// Checks whether this number solves it. Costs one compression of blake3.
    #[must_use]
    pub fn is_solved_by(&self, nonce: u64) -> bool {
        let mut block = [0; 40];
        block[..32].copy_from_slice(&self.seed);
        block[32..].copy_from_slice(&nonce.to_le_bytes());
        let digest = blake3::hash(&block);
        let mut first = [0; 8];
        first.copy_from_slice(&digest.as_bytes()[..8]);
        u64::from_be_bytes(first) <= self.highest
    }

    /// Returns the first of `count` numbers from `from` on that solves it, if there is one.
    ///
    /// ```
    /// use metatopia_types::{Digest, HeaderId, PublicKey, Puzzle, SimId};
    ///
    /// let sim = SimId(Digest::of("an example", b"plaza"));
    /// let puzzle = Puzzle::new(sim, &PublicKey([7; 32]), &HeaderId(sim.0), 100);
    /// let nonce = puzzle.solve(0, 10_000).expect("one in a hundred does");
    /// assert!(puzzle.is_solved_by(nonce));
    /// ```
    #[must_use]
    pub fn solve(&self, from: u64, count: u64) -> Option<u64> {
        (from..from.saturating_add(count)).find(|nonce| self.is_solved_by(*nonce))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn puzzle(sim: u8, key: u8, header: u8, tries: u64) -> Puzzle {
        let [sim, header] = [sim, header].map(|n| Digest([n; 32]));
        Puzzle::new(SimId(sim), &PublicKey([key; 32]), &HeaderId(header), tries)
    }

    #[test]
    fn a_solution_holds_for_one_sim_one_key_and_one_header() {
        let own = puzzle(1, 1, 1, 1_000);
        let nonce = own.solve(0, 100_000).expect("some number solves it");

        assert!(own.is_solved_by(nonce));
        for other in [puzzle(2, 1, 1, 1_000), puzzle(1, 2, 1, 1_000), puzzle(1, 1, 2, 1_000)] {
            assert!(!other.is_solved_by(nonce));
        }
    }

    #[test]
    fn solving_takes_as_many_tries_as_were_asked_for_on_average() {
        let solved = (0..64_000).filter(|nonce| puzzle(1, 1, 1, 1_000).is_solved_by(*nonce));
        // 64 are expected; the chance of less than 32 or more than 112 is below one in ten thousand.
        assert!((32..=112).contains(&solved.count()));

        assert!((0..100).all(|nonce| puzzle(1, 1, 1, 1).is_solved_by(nonce)));
        assert_eq!(puzzle(1, 1, 1, 0), puzzle(1, 1, 1, 1));
    }
}
