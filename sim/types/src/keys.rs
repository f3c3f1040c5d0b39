//! Signing and checking. One strict verifier everywhere: two that disagree would split the world.

use core::fmt;

use ed25519_dalek::Signer as _;

use crate::{PublicKey, Signature};

/// Checks signatures.
///
/// The simulated world puts a cheap stand-in here; everything that meets strangers uses
/// [`Ed25519`].
pub trait Verify: Send + Sync {
    /// Returns whether the holder of `key` signed `message`.
    fn verify(&self, key: &PublicKey, message: &[u8], signature: &Signature) -> bool;

    /// Returns whether this key may take part at all. A key that is no point of the curve, or a weak one, may
    /// not.
    fn is_key(&self, key: &PublicKey) -> bool;
}

/// Returns the point of X25519 of a public key: the same point of the curve, in the other form of it. Nothing
/// of bytes that are no key.
#[must_use]
pub fn agreement_point(key: &PublicKey) -> Option<[u8; 32]> {
    let key = ed25519_dalek::VerifyingKey::from_bytes(&key.0).ok().filter(|key| !key.is_weak())?;
    Some(key.to_montgomery().to_bytes())
}

/// Makes signatures with one key.
pub trait Sign: Send + Sync {
    /// The key that others check with.
    fn public(&self) -> PublicKey;

    /// Signs `message`. The same key and message give the same signature.
    fn sign(&self, message: &[u8]) -> Signature;
}

/// ed25519 with the strict rules of RFC 8032: no small-order keys, no malleable signatures.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ed25519;

impl Verify for Ed25519 {
    fn verify(&self, key: &PublicKey, message: &[u8], signature: &Signature) -> bool {
        let Ok(key) = ed25519_dalek::VerifyingKey::from_bytes(&key.0) else {
            return false;
        };
        let signature = ed25519_dalek::Signature::from_bytes(&signature.to_bytes());
        !key.is_weak() && key.verify_strict(message, &signature).is_ok()
    }

    fn is_key(&self, key: &PublicKey) -> bool {
        ed25519_dalek::VerifyingKey::from_bytes(&key.0).is_ok_and(|key| !key.is_weak())
    }
}

/// A secret key. It is wiped from memory when dropped, and never shown.
pub struct SigningKey(ed25519_dalek::SigningKey);

impl SigningKey {
    /// The key of a 32-byte secret. Take the secret from the operating system's randomness.
    #[must_use]
    pub fn from_seed(secret: [u8; 32]) -> Self {
        Self(ed25519_dalek::SigningKey::from_bytes(&secret))
    }

    /// The secret number of the same key for X25519, as RFC 7748 has it before clamping. It is the one that
    /// signs, so that a person has one key and publishes no other.
    #[must_use]
    pub fn agreement(&self) -> zeroize::Zeroizing<[u8; 32]> {
        zeroize::Zeroizing::new(self.0.to_scalar_bytes())
    }

    /// The secret itself, for writing it to a file that only its owner can read.
    #[must_use]
    pub fn secret(&self) -> zeroize::Zeroizing<[u8; 32]> {
        zeroize::Zeroizing::new(self.0.to_bytes())
    }
}

impl Sign for SigningKey {
    fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key().to_bytes())
    }

    fn sign(&self, message: &[u8]) -> Signature {
        Signature::from_bytes(self.0.sign(message).to_bytes())
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey of {}", self.public())
    }
}
