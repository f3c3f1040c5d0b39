//! How a standby shows that the state is there: a keyed digest over leaves that are drawn by chance.
//!
//! Nobody can prepare it, because the draw follows from the turn that was just decided, and nobody
//! can copy it, because it is keyed with the prover's own key. It shows that the state was there
//! then, or that somebody who has it helped; it does not show that the prover computed it.

use std::collections::BTreeMap;

use metatopia_math::Stream;
use metatopia_types::{Digest, Height, LeafKey, PublicKey, Roster};
use serde::{Deserialize, Serialize};

use crate::{
    limits::{PROOF_HEIGHTS, PROOF_LEAF_BYTES, PROOF_LEAVES, PROOFS_KEPT},
    state::World,
    tree::StateLeaves,
};

/// What the standbys that were called must prove, by the heights of the states.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Readiness(BTreeMap<Height, BTreeMap<PublicKey, Digest>>);

impl Readiness {
    /// Notes what the standbys prove about the state after the turn of `height`, whose seed is
    /// `seed`. Heights that are no multiple of [`PROOF_HEIGHTS`] are passed over.
    pub(crate) fn note(
        &mut self,
        height: Height,
        seed: &Digest,
        roster: &Roster,
        leaves: &StateLeaves,
    ) {
        if !is_proved(height) {
            return;
        }
        let called = roster.standbys().keys().filter(|key| roster.calls(key));
        let proofs: BTreeMap<PublicKey, Digest> =
            called.map(|key| (*key, proof(leaves, seed, key))).collect();
        if !proofs.is_empty() {
            self.0.insert(height, proofs);
        }
        self.0.retain(|of, _| of.plus(PROOFS_KEPT as u64 * PROOF_HEIGHTS) > height);
    }

    /// Says whether this is what the standby must prove about the state after `height`, as far as that is
    /// still known.
    pub(crate) fn is_shown(&self, height: Height, key: &PublicKey, proof: &Digest) -> bool {
        self.0.get(&height).and_then(|proofs| proofs.get(key)) == Some(proof)
    }
}

impl World {
    /// Returns what a standby shows about this state in [`Act::Ready`](metatopia_types::Act::Ready),
    /// at heights at which it is asked for.
    #[must_use]
    pub fn readiness(&self, key: &PublicKey) -> Option<Digest> {
        is_proved(self.height()).then(|| proof(&self.leaves, &self.state.clock.seed, key))
    }
}

/// Says whether standbys prove the state after this height.
fn is_proved(height: Height) -> bool {
    height.0 > 0 && height.0.is_multiple_of(PROOF_HEIGHTS)
}

/// Returns what the standby with this key proves about these leaves.
fn proof(leaves: &StateLeaves, seed: &Digest, key: &PublicKey) -> Digest {
    let drawn: Vec<&LeafKey> = leaves.list().map(|(key, _)| key).collect();
    let parts = key.0.as_chunks::<8>().0;
    let parts: Vec<u64> = parts.iter().map(|part| u64::from_le_bytes(*part)).collect();
    let mut dice = Stream::new(&seed.0, "metatopia readiness v1", &parts);
    let mut hasher = blake3::Hasher::new_keyed(&key.0);
    for _ in 0..PROOF_LEAVES {
        let leaf = drawn[dice.below(drawn.len() as u64) as usize];
        hasher.update(&leaves.head(leaf, PROOF_LEAF_BYTES));
    }
    Digest(*hasher.finalize().as_bytes())
}
