//! Signatures that cost nothing: anybody could forge them, and nobody here does.

use std::sync::Arc;

use metatopia_types::{Digest, PublicKey, Sign, Signature, SimId, Validator, ValidatorSet, Verify};

pub(crate) fn sim() -> SimId {
    SimId(Digest::of("consensus tests", b"sim"))
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct StandIn;

fn seal(key: &PublicKey, message: &[u8]) -> Signature {
    let hash = blake3::keyed_hash(&key.0, message);
    let mut bytes = [0; 64];
    bytes[..32].copy_from_slice(hash.as_bytes());
    Signature::from_bytes(bytes)
}

impl Verify for StandIn {
    fn verify(&self, key: &PublicKey, message: &[u8], signature: &Signature) -> bool {
        seal(key, message) == *signature
    }

    fn is_key(&self, _: &PublicKey) -> bool {
        true
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Key(pub PublicKey);

impl Sign for Key {
    fn public(&self) -> PublicKey {
        self.0
    }

    fn sign(&self, message: &[u8]) -> Signature {
        seal(&self.0, message)
    }
}

pub(crate) fn key(n: u8) -> PublicKey {
    PublicKey([n + 1; 32])
}

pub(crate) fn signer(n: u8) -> Arc<dyn Sign> {
    Arc::new(Key(key(n)))
}

pub(crate) fn set(members: impl IntoIterator<Item = u8>) -> ValidatorSet {
    let members = members.into_iter().map(|n| Validator {
        key: key(n),
        power: 1,
    });
    ValidatorSet::new(members.collect(), |_| true).unwrap()
}
