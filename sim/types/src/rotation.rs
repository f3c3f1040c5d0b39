//! Rotations: how a person gives up a key for another one.
//!
//! The old key and the new one sign the same document, so neither is taken without its owner. It names no
//! sim: each sim takes it at a login of the new key, and moves there what the old key had.

use serde::{Deserialize, Serialize};

use crate::{Digest, PublicKey, Sign, Signature, Verify, wire};

/// A document by which a key takes the place of another one, in every sim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rotation {
    /// The key that is given up.
    pub old: PublicKey,
    /// The key that takes its place.
    pub new: PublicKey,
    /// How many rotations led to the new key, this one counted.
    pub number: u32,
    /// By the old key.
    pub by_old: Signature,
    /// By the new key.
    pub by_new: Signature,
}

impl Rotation {
    /// Returns the document by which one key takes the place of another.
    #[must_use]
    pub fn new(old: &dyn Sign, new: &dyn Sign, number: u32) -> Self {
        let message = message(&old.public(), &new.public(), number);
        let (by_old, by_new) = (old.sign(&message), new.sign(&message));
        Self { old: old.public(), new: new.public(), number, by_old, by_new }
    }

    /// Checks whether both keys signed it, and whether they are two.
    #[must_use]
    pub fn verify(&self, scheme: &dyn Verify) -> bool {
        let message = message(&self.old, &self.new, self.number);
        self.old != self.new
            && scheme.verify(&self.old, &message, &self.by_old)
            && scheme.verify(&self.new, &message, &self.by_new)
    }
}

/// Returns what both keys sign.
fn message(old: &PublicKey, new: &PublicKey, number: u32) -> [u8; 32] {
    Digest::of("metatopia rotation v1", &wire::encode(&(old, new, number))).0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ed25519, SigningKey};

    #[test]
    fn both_keys_sign_a_rotation_and_neither_half_stands_for_the_other() {
        let [old, new, eve] = [1, 2, 3].map(|n| SigningKey::from_seed([n; 32]));
        let rotation = Rotation::new(&old, &new, 1);
        assert!(rotation.verify(&Ed25519));

        let stolen = Rotation::new(&old, &eve, 1);
        let claimed = Rotation::new(&eve, &new, 1);
        for forged in [
            Rotation { by_old: claimed.by_old, ..rotation },
            Rotation { by_new: stolen.by_new, ..rotation },
            Rotation { number: 2, ..rotation },
            Rotation { new: eve.public(), ..rotation },
            Rotation { old: eve.public(), ..rotation },
            Rotation { old: new.public(), new: old.public(), ..rotation },
            Rotation::new(&old, &old, 1),
        ] {
            assert!(!forged.verify(&Ed25519), "{forged:?}");
        }
    }
}
