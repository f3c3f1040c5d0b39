//! Rotations: how a person gives up a key for another one.
//!
//! The old key and the new one sign the same document, so neither is taken without its owner. It names no
//! sim: each sim takes it at a login of the new key, and moves there what the old key had.

use core::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{Digest, ParseIdError, PublicKey, Sign, Signature, Verify, wire};

/// A document by which a key takes the place of another one, in every sim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rotation {
    /// The key that is given up.
    pub old: PublicKey,
    /// The key that takes its place.
    pub new: PublicKey,
    /// How many rotations led to the new key, this one counted.
    pub number: u32,
    /// The signature by the old key.
    pub by_old: Signature,
    /// The signature by the new key.
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

/// The word of a new key that it takes the place of a lost one, wherever friends of that one vouch for it. Without
/// it, friends could give a key, with its bans, to somebody who knows nothing of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewKeyWord {
    /// The new key.
    pub key: PublicKey,
    /// The signature by the new key over both.
    pub signature: Signature,
}

impl NewKeyWord {
    /// Returns the word of `new` that it takes the place of `old`.
    #[must_use]
    pub fn new(new: &dyn Sign, old: &PublicKey) -> Self {
        let key = new.public();
        Self { key, signature: new.sign(&word(old, &key)) }
    }

    /// Checks whether the new key says so of this old key.
    #[must_use]
    pub fn verify(&self, old: &PublicKey, scheme: &dyn Verify) -> bool {
        scheme.verify(&self.key, &word(old, &self.key), &self.signature)
    }
}

impl fmt::Display for NewKeyWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.signature.to_bytes();
        let (r, s) = bytes.split_at(32);
        let half = |half: &[u8]| PublicKey(half.try_into().expect("32 bytes"));
        write!(f, "{}{}{}", self.key, half(r), half(s))
    }
}

impl FromStr for NewKeyWord {
    type Err = ParseIdError;

    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        let part = |at: usize| text.get(64 * at..64 * (at + 1)).unwrap_or_default();
        let [key, r, s] = [0, 1, 2].map(|at| part(at).parse::<PublicKey>());
        let mut signature = [0; 64];
        signature[..32].copy_from_slice(&r?.0);
        signature[32..].copy_from_slice(&s?.0);
        // What stands behind it makes it another text.
        if text.len() != 192 {
            PublicKey::from_str(text)?;
        }
        Ok(Self { key: key?, signature: Signature::from_bytes(signature) })
    }
}

/// Returns what a new key signs.
fn word(old: &PublicKey, new: &PublicKey) -> [u8; 32] {
    Digest::of("metatopia new key v1", &wire::encode(&(old, new))).0
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

    /// Friends vouched for a stranger's key, and a banned person's ban was hers after 72 hours.
    #[test]
    fn a_new_key_says_itself_whose_place_it_takes_and_its_text_reads_back() {
        let [old, new, eve] = [1, 2, 3].map(|n| SigningKey::from_seed([n; 32]));
        let word = NewKeyWord::new(&new, &old.public());
        assert!(word.verify(&old.public(), &Ed25519));
        assert!(!word.verify(&eve.public(), &Ed25519));
        assert!(!NewKeyWord { key: eve.public(), ..word }.verify(&old.public(), &Ed25519));

        let text = word.to_string();
        assert_eq!((text.len(), text.parse()), (192, Ok(word)));
        for wrong in [&text[..191], &text[..64], "", &format!("{text}0")] {
            assert!(wrong.parse::<NewKeyWord>().is_err(), "{wrong}");
        }
    }
}
