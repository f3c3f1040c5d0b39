//! Signature schemes of simulated servers: the real one, a cheap stand-in, and one that believes
//! everything.

use std::sync::Arc;

use metatopia_types::{Digest, Ed25519, PublicKey, Sign, Signature, SigningKey, Verify};

/// Numbers keys of players, far from those of servers. The first is the admin.
const PLAYER_KEYS: u64 = 1_000_000;

/// Which signatures a world uses. Checking real ones is most of what agreement costs, so only a
/// share of the seeds does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum SignatureKind {
    /// ed25519, as everywhere outside.
    Ed25519,
    /// A keyed hash whose key is the public key: anybody could forge it, and here nobody does
    /// except where a test says so.
    StandIn,
    /// Every signature is good. Only for a negative control: an oracle that watches forged votes
    /// must see the world break.
    Credulous,
}

impl SignatureKind {
    /// Returns the scheme with which servers check signatures.
    #[must_use]
    pub fn verifier(self) -> Arc<dyn Verify> {
        match self {
            Self::Ed25519 => Arc::new(Ed25519),
            Self::StandIn => Arc::new(StandIn),
            Self::Credulous => Arc::new(Credulous),
        }
    }

    /// `count` keys, ascending by public key, so that seat and place in a validator set agree.
    #[must_use]
    pub fn keys(self, count: usize) -> Vec<Arc<dyn Sign>> {
        let mut keys: Vec<Arc<dyn Sign>> = (0..count as u64).map(|i| self.key(i)).collect();
        keys.sort_by_key(|key| key.public());
        keys
    }

    /// Returns the key of a player; player 0 is the admin.
    #[must_use]
    pub fn player(self, number: u64) -> Arc<dyn Sign> {
        self.key(PLAYER_KEYS + number)
    }

    /// The `number`-th key.
    #[must_use]
    pub fn key(self, number: u64) -> Arc<dyn Sign> {
        let secret = Digest::of("metatopia simulated key v1", &number.to_le_bytes());
        match self {
            Self::Ed25519 => Arc::new(SigningKey::from_seed(secret.0)),
            Self::StandIn | Self::Credulous => Arc::new(StandInKey(PublicKey(secret.0))),
        }
    }
}

struct StandIn;
struct Credulous;
struct StandInKey(PublicKey);

fn stand_in(key: &PublicKey, message: &[u8]) -> Signature {
    let mut bytes = [0; 64];
    blake3::Hasher::new_keyed(&key.0).update(message).finalize_xof().fill(&mut bytes);
    Signature::from_bytes(bytes)
}

impl Verify for StandIn {
    fn verify(&self, key: &PublicKey, message: &[u8], signature: &Signature) -> bool {
        stand_in(key, message) == *signature
    }

    fn is_key(&self, _: &PublicKey) -> bool {
        true
    }
}

impl Verify for Credulous {
    fn verify(&self, _: &PublicKey, _: &[u8], _: &Signature) -> bool {
        true
    }

    fn is_key(&self, _: &PublicKey) -> bool {
        true
    }
}

impl Sign for StandInKey {
    fn public(&self) -> PublicKey {
        self.0
    }

    fn sign(&self, message: &[u8]) -> Signature {
        stand_in(&self.0, message)
    }
}

#[cfg(test)]
mod tests {
    use super::SignatureKind;

    #[test]
    fn each_scheme_accepts_its_own_signatures_and_two_refuse_others() {
        for (scheme, refuses) in [
            (SignatureKind::Ed25519, true),
            (SignatureKind::StandIn, true),
            (SignatureKind::Credulous, false),
        ] {
            let (key, other, verifier) = (scheme.key(1), scheme.key(2), scheme.verifier());
            let signature = key.sign(b"vote");

            assert!(verifier.is_key(&key.public()), "{scheme:?}");
            assert!(verifier.verify(&key.public(), b"vote", &signature), "{scheme:?}");
            assert_eq!(verifier.verify(&key.public(), b"vota", &signature), !refuses);
            assert_eq!(verifier.verify(&other.public(), b"vote", &signature), !refuses);
        }
    }

    #[test]
    fn keys_ascend() {
        for scheme in [SignatureKind::Ed25519, SignatureKind::StandIn] {
            let keys = scheme.keys(7);
            assert!(keys.windows(2).all(|pair| pair[0].public() < pair[1].public()));
        }
    }
}
