//! The nouns of Metatopia: ids, acts, turns, validators, certificates, proofs, limits.
