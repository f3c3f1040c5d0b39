//! Signatures that are known to be good.
//!
//! Checking signatures is nearly all of what agreement computes: a vote is met when it arrives,
//! when the certificate is put together, when it is said again, and when the log is read. It is
//! checked once. Our own are good because we made them.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use metatopia_types::{PublicKey, Signature, Verify};

use crate::limits::SIGNATURES_CACHED_MAX;

/// Checks signatures, and remembers the good ones.
pub(crate) struct SignatureCache {
    scheme: Arc<dyn Verify>,
    good: BTreeSet<[u8; 32]>,
    /// The oldest first: it goes when there is no room.
    order: VecDeque<[u8; 32]>,
}

impl core::fmt::Debug for SignatureCache {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Seals({} known)", self.good.len())
    }
}

/// Returns the digest under which a good signature is remembered. Key and signature are part of it,
/// because one good signature says nothing about another.
fn mark(key: &PublicKey, message: &[u8; 32], signature: &Signature) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&key.0).update(message);
    *hasher.update(&signature.to_bytes()).finalize().as_bytes()
}

impl SignatureCache {
    pub(crate) fn new(scheme: Arc<dyn Verify>) -> Self {
        Self { scheme, good: BTreeSet::new(), order: VecDeque::new() }
    }

    /// Returns how many signatures are remembered.
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    /// Remembers a signature that we made, or checked in an earlier life.
    pub(crate) fn trust(&mut self, key: &PublicKey, message: &[u8; 32], signature: &Signature) {
        let mark = mark(key, message, signature);
        if !self.good.insert(mark) {
            return;
        }
        self.order.push_back(mark);
        if self.order.len() > SIGNATURES_CACHED_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.good.remove(&oldest);
        }
    }

    /// Returns whether the holder of `key` signed `message`. Bad signatures are not remembered, because there
    /// are more of them than memory.
    pub(crate) fn check(
        &mut self,
        key: &PublicKey,
        message: &[u8; 32],
        signature: &Signature,
    ) -> bool {
        if self.good.contains(&mark(key, message, signature)) {
            return true;
        }
        let good = self.scheme.verify(key, message, signature);
        if good {
            self.trust(key, message, signature);
        }
        good
    }
}
