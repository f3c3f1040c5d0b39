//! Sealed words: what one person tells another, so that nobody else can read it. Here is their form, and how
//! their reader shows to others what they say. Who seals and opens them is the client.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::{
    Act, Blob, Digest, PublicKey, SignedEnvelope, SimId, Verify, is_line,
    limits::{CHAT_BYTES_MAX, SEALED_CLASSES, SEALED_HEAD_BYTES, SEALED_TAG_BYTES},
    wire,
};

/// Bytes of a passing key.
const PASSING_BYTES: usize = 32;

/// Bytes of a nonce.
const NONCE_BYTES: usize = SEALED_HEAD_BYTES - 2 * PASSING_BYTES;

/// Words that only their reader can open.
///
/// Its bytes are its fields one after the other. They are as long as those of any words of the same class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedWords {
    /// The X25519 key that the author made for this session and reader.
    pub passing: [u8; PASSING_BYTES],
    /// What makes the words' key stream another one than that of all other words.
    pub nonce: [u8; NONCE_BYTES],
    /// What binds the author to the words, once their reader shows them: see [`OpenedWords`].
    pub commitment: Digest,
    /// The words with their padding, encrypted, and the tag.
    pub encrypted: Vec<u8>,
}

impl SealedWords {
    /// Returns the bytes that are sealed words.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let Self { passing, nonce, commitment, encrypted } = self;
        [&passing[..], &nonce[..], &commitment.0[..], encrypted].concat()
    }

    /// Reads sealed words; nothing of bytes that are as long as none of a class.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        class_of_sealed(bytes.len())?;
        let (passing, rest) = bytes.split_first_chunk()?;
        let (nonce, rest) = rest.split_first_chunk()?;
        let (commitment, encrypted) = rest.split_first_chunk()?;
        Some(Self {
            passing: *passing,
            nonce: *nonce,
            commitment: Digest(*commitment),
            encrypted: encrypted.to_vec(),
        })
    }
}

/// Returns the least class that holds so many bytes of words.
#[must_use]
pub fn class_of_words(bytes: usize) -> Option<usize> {
    SEALED_CLASSES.into_iter().find(|class| bytes <= *class)
}

/// Returns the class of sealed words of so many bytes, if they are of one.
#[must_use]
pub fn class_of_sealed(bytes: usize) -> Option<usize> {
    let around = SEALED_HEAD_BYTES + SEALED_TAG_BYTES;
    SEALED_CLASSES.into_iter().find(|class| bytes == class + around)
}

/// Returns what binds an author to words: nobody finds other words, another reader or another `opening` for the
/// same commitment. Without the opening it says nothing about the words.
#[must_use]
pub fn words_commitment(
    sim: SimId,
    (author, reader): (&PublicKey, &PublicKey),
    opening: &Digest,
    text: &str,
) -> Digest {
    let bound = wire::encode(&(sim, author, reader, opening, text));
    Digest::of("metatopia private words commitment v1", &bound)
}

/// Words that their reader shows to others: it proves who told them to whom. It opens no other words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenedWords {
    /// The act of telling, with its author's signature.
    pub act: SignedEnvelope,
    /// The sealed words that the act names.
    #[serde(with = "wire::bytes")]
    pub sealed: Vec<u8>,
    /// What opens their commitment.
    pub opening: Digest,
    /// The words that were told.
    pub text: String,
}

/// Says whether people tell each other such words: one line, neither empty nor too long.
#[must_use]
pub fn is_told(text: &str) -> bool {
    !text.trim().is_empty() && text.len() <= CHAT_BYTES_MAX && is_line(text)
}

impl OpenedWords {
    /// Returns who told these words to `reader` in this sim, if they prove it.
    #[must_use]
    pub fn author(&self, sim: SimId, reader: &PublicKey, scheme: &dyn Verify) -> Option<PublicKey> {
        let sealed = SealedWords::decode(&self.sealed)?;
        let envelope = &self.act.envelope;
        let told = Act::Tell { to: *reader, sealed: Blob(self.sealed.clone()).id() };
        let bound = words_commitment(sim, (&envelope.author, reader), &self.opening, &self.text);
        let is_this = envelope.sim == sim && envelope.act == told && bound == sealed.commitment;
        (is_this && is_told(&self.text) && self.act.verify(scheme)).then_some(envelope.author)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ed25519, Envelope, Height, Lane, Seq, Sign, SigningKey};

    fn opened(text: &str) -> (OpenedWords, SigningKey, PublicKey, SimId) {
        let (author, reader) = (SigningKey::from_seed([1; 32]), PublicKey([2; 32]));
        let (sim, opening) = (SimId(Digest([3; 32])), Digest([4; 32]));
        let commitment = words_commitment(sim, (&author.public(), &reader), &opening, text);
        let sealed = SealedWords {
            passing: [5; 32],
            nonce: [6; 24],
            commitment,
            encrypted: vec![7; SEALED_CLASSES[0] + SEALED_TAG_BYTES],
        };
        let sealed = sealed.encode();
        let act = Act::Tell { to: reader, sealed: Blob(sealed.clone()).id() };
        let (lane, seq, last_valid) = (Lane(1), Seq(1), Height(9));
        let envelope = Envelope { sim, author: author.public(), lane, seq, last_valid, act };
        let act = envelope.sign(&author);
        (OpenedWords { act, sealed, opening, text: text.into() }, author, reader, sim)
    }

    #[test]
    fn sealed_words_have_the_length_of_their_class_and_no_other() {
        assert_eq!(SEALED_CLASSES[SEALED_CLASSES.len() - 1], CHAT_BYTES_MAX);
        let classes: Vec<Option<usize>> =
            [1, 64, 65, 128, 200, 512, 513].into_iter().map(class_of_words).collect();
        let found = [Some(64), Some(64), Some(128), Some(128), Some(256), Some(512), None];
        assert_eq!(classes, found);
        let (words, ..) = opened("hello");
        let sealed = SealedWords::decode(&words.sealed).expect("sealed words");
        assert_eq!(sealed.encode(), words.sealed);
        let around = SEALED_HEAD_BYTES + SEALED_TAG_BYTES;
        assert_eq!(words.sealed.len(), SEALED_CLASSES[0] + around);
        for wrong in [0, 103, words.sealed.len() - 1] {
            assert_eq!(SealedWords::decode(&words.sealed[..wrong]), None);
        }
    }

    #[test]
    fn opened_words_prove_their_author_to_everybody_and_nothing_else_does() {
        let (words, author, reader, sim) = opened("hello");
        let proves = |words: &OpenedWords| words.author(sim, &reader, &Ed25519);
        assert_eq!(proves(&words), Some(author.public()));
        assert_eq!(words.author(sim, &PublicKey([9; 32]), &Ed25519), None, "told to her");
        assert_eq!(words.author(SimId(Digest::ZERO), &reader, &Ed25519), None, "told here");
        assert_eq!(proves(&OpenedWords { text: "hell".into(), ..words.clone() }), None);
        assert_eq!(proves(&OpenedWords { opening: Digest::ZERO, ..words.clone() }), None);
        for no in ["", " ", "two\nlines", "a\u{202e}b", &"x".repeat(CHAT_BYTES_MAX + 1)] {
            let (words, _, reader, sim) = opened(no);
            assert_eq!(words.author(sim, &reader, &Ed25519), None, "nobody tells {no:?}");
        }
        let mut other = words.clone();
        other.sealed[0] ^= 1;
        assert_eq!(proves(&other), None, "other sealed words");
        // Who sends somebody else's sealed words as her own has not told what they say.
        let mallory = SigningKey::from_seed([8; 32]);
        let envelope = Envelope { author: mallory.public(), ..words.act.envelope.clone() };
        assert_eq!(proves(&OpenedWords { act: envelope.sign(&mallory), ..words.clone() }), None);
        let unsigned = SignedEnvelope { envelope: words.act.envelope.clone(), ..words.act };
        let forged = SignedEnvelope { signature: mallory.sign(b"no act"), ..unsigned };
        assert_eq!(proves(&OpenedWords { act: forged, ..words }), None);
    }
}
