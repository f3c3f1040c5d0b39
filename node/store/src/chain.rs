//! The hash chain through all records.

use metatopia_types::SimId;

pub(crate) const HASH_BYTES: usize = 16;

/// A hash over a record and everything before it, 128 bits of blake3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chain(pub(crate) [u8; HASH_BYTES]);

impl Chain {
    /// The hash before the first record. Two sims' logs differ from their first hash on.
    pub(crate) fn origin(sim: SimId) -> Self {
        Self::take(&blake3::derive_key("metatopia log origin v1", sim.bytes()))
    }

    /// The hash after a record with these fields and payload.
    pub(crate) fn after(self, fields: &[u8], payload: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("metatopia log record v1");
        hasher.update(&self.0).update(fields).update(payload);
        Self::take(hasher.finalize().as_bytes())
    }

    /// The seal of a record whose payload was replaced: over its header and what took the place of the payload.
    pub(crate) fn redacted(self, header: &[u8], replacement: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("metatopia log redaction v1");
        hasher.update(&self.0).update(header).update(replacement);
        Self::take(hasher.finalize().as_bytes())
    }

    fn take(hash: &[u8; 32]) -> Self {
        Self(hash[..HASH_BYTES].try_into().expect("a range of 16"))
    }
}

#[cfg(test)]
mod tests {
    use metatopia_types::Digest;

    use super::*;

    #[test]
    fn two_sims_have_no_hash_in_common() {
        let origin = |name: &[u8]| Chain::origin(SimId(Digest::of("a test", name)));
        assert_ne!(origin(b"plaza"), origin(b"forest"));
        assert_ne!(origin(b"plaza").after(b"", b""), origin(b"forest").after(b"", b""));
    }
}
