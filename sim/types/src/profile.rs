//! Profiles: what a person says of herself, in a document that she signs. Her client keeps it, whoever gets the
//! file can check it, and a sim shows it to others.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::{
    Digest, PublicKey, Sign, Signature, Verify, is_line,
    limits::{
        PROFILE_LINE_BYTES_MAX, PROFILE_PICTURE_BYTES_MAX, PRONOUNS_BYTES_MAX,
        SENT_PROFILE_BYTES_MAX,
    },
    wire,
};

/// The format of the document. One of another format is none that this program shows.
pub const PROFILE_FORMAT: u16 = 1;

/// The kind of leaf that holds the profiles of a sim.
pub const PROFILES_LEAF: &str = "profiles";

/// What a person says of herself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// The format: [`PROFILE_FORMAT`].
    pub format: u16,
    /// The person whose profile it is.
    pub key: PublicKey,
    /// How many profiles of this key came before: of two, the one with the greater version is newer.
    pub version: u32,
    /// A line about the person; empty if she says none.
    pub line: String,
    /// Her pronouns; empty if she says none.
    pub pronouns: String,
    /// The picture, by what [`picture_digest`] returns for it.
    pub picture: Option<Digest>,
}

impl Profile {
    /// Returns the first profile of a key, which says nothing yet.
    #[must_use]
    pub const fn empty(key: PublicKey) -> Self {
        Self {
            format: PROFILE_FORMAT,
            key,
            version: 0,
            line: String::new(),
            pronouns: String::new(),
            picture: None,
        }
    }

    /// Says whether it says nothing.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.line.is_empty() && self.pronouns.is_empty() && self.picture.is_none()
    }

    /// Says whether its texts are short lines without spaces at their ends, and its format is the known one.
    #[must_use]
    pub fn is_proper(&self) -> bool {
        self.format == PROFILE_FORMAT
            && is_short_line(&self.line, PROFILE_LINE_BYTES_MAX)
            && is_short_line(&self.pronouns, PRONOUNS_BYTES_MAX)
    }

    /// Returns what its owner signs.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of("metatopia profile v1", &wire::encode(self))
    }

    /// Puts the signature of its owner on it.
    #[must_use]
    pub fn sign(self, key: &dyn Sign) -> SignedProfile {
        let signature = key.sign(&self.digest().0);
        SignedProfile { profile: self, signature }
    }
}

/// Says whether a text is one line of so many bytes at most, without spaces at its ends. An empty one is.
fn is_short_line(text: &str, max: usize) -> bool {
    text.len() <= max && text.trim() == text && is_line(text)
}

/// A profile with the signature of its owner, as it is kept in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedProfile {
    /// What the person says of herself.
    pub profile: Profile,
    /// The signature by `profile.key` over the profile's digest.
    pub signature: Signature,
}

impl SignedProfile {
    /// Checks whether it is proper, and whether its owner signed it.
    #[must_use]
    pub fn verify(&self, scheme: &dyn Verify) -> bool {
        let Self { profile, signature } = self;
        profile.is_proper() && scheme.verify(&profile.key, &profile.digest().0, signature)
    }
}

/// Returns the digest by which a profile, or the introduction of a sim, names a picture.
#[must_use]
pub fn picture_digest(picture: &[u8]) -> Digest {
    Digest::of("metatopia picture v1", picture)
}

/// A profile as a client sends it to a sim: a blob of the turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentProfile {
    /// What its owner signed.
    pub signed: SignedProfile,
    /// The bytes of its picture; empty if there is none, or if the sim has it.
    #[serde(with = "wire::bytes")]
    pub picture: Vec<u8>,
}

impl SentProfile {
    /// Returns the bytes of the blob.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        wire::encode(self)
    }

    /// Reads a blob; nothing of what is no sent profile, or longer than one may be.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let sent: Self = wire::decode(bytes, SENT_PROFILE_BYTES_MAX).ok()?;
        (sent.picture.len() <= PROFILE_PICTURE_BYTES_MAX).then_some(sent)
    }

    /// Says whether the picture that comes with it is the one that it names.
    #[must_use]
    pub fn has_its_picture(&self) -> bool {
        self.signed.profile.picture == Some(picture_digest(&self.picture))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ed25519, SigningKey};

    fn ada() -> SigningKey {
        SigningKey::from_seed([1; 32])
    }

    fn profile() -> Profile {
        let (line, pronouns) = ("I build mills.".into(), "she/her".into());
        let picture = Some(picture_digest(b"a face"));
        Profile { version: 3, line, pronouns, picture, ..Profile::empty(ada().public()) }
    }

    #[test]
    fn a_profile_is_checked_by_its_signature_and_by_nothing_else() {
        let signed = profile().sign(&ada());
        assert!(signed.verify(&Ed25519));
        let of = |profile: Profile| SignedProfile { profile, ..signed.clone() };
        let eve = SigningKey::from_seed([2; 32]);
        for forged in [
            of(Profile { version: 4, ..profile() }),
            of(Profile { line: "I build walls.".into(), ..profile() }),
            of(Profile { pronouns: String::new(), ..profile() }),
            of(Profile { picture: None, ..profile() }),
            of(Profile { key: eve.public(), ..profile() }),
            profile().sign(&eve),
            Profile { format: 2, ..profile() }.sign(&ada()),
        ] {
            assert!(!forged.verify(&Ed25519), "{forged:?}");
        }
        assert!(Profile::empty(ada().public()).is_empty() && !profile().is_empty());
    }

    #[test]
    fn texts_of_a_profile_are_short_lines_that_turn_nothing() {
        let with = |line: &str, pronouns: &str| {
            Profile { line: line.into(), pronouns: pronouns.into(), ..profile() }.is_proper()
        };
        let (longest, most) = ("x".repeat(PROFILE_LINE_BYTES_MAX), "y".repeat(PRONOUNS_BYTES_MAX));
        assert!(with(&longest, &most) && with("", ""));
        assert!(!with(&format!("{longest}x"), "") && !with("", &format!("{most}y")));
        for wrong in ["two\nlines", "a\u{202e}b", "a\u{2067}b", "a\u{7}", " a", "a "] {
            assert!(!with(wrong, "") && !with("", wrong), "{}", wrong.escape_unicode());
        }
    }

    #[test]
    fn a_sent_profile_has_a_bound_and_its_picture_is_known_by_its_bytes() {
        let longest = Profile {
            line: "x".repeat(PROFILE_LINE_BYTES_MAX),
            pronouns: "y".repeat(PRONOUNS_BYTES_MAX),
            version: u32::MAX,
            ..profile()
        };
        let picture = vec![7; PROFILE_PICTURE_BYTES_MAX];
        let picture_of = |picture: &[u8]| Some(picture_digest(picture));
        let signed = Profile { picture: picture_of(&picture), ..longest }.sign(&ada());
        let sent = SentProfile { signed, picture };
        let bytes = sent.encode();
        assert!(bytes.len() <= SENT_PROFILE_BYTES_MAX, "{}", bytes.len());
        assert_eq!(SentProfile::decode(&bytes).as_ref(), Some(&sent));
        assert!(sent.has_its_picture());
        let other = SentProfile { picture: vec![8], ..sent.clone() };
        assert!(!other.has_its_picture());
        let longer = SentProfile { picture: vec![7; PROFILE_PICTURE_BYTES_MAX + 1], ..sent };
        assert_eq!(SentProfile::decode(&longer.encode()), None);
        for wrong in [&bytes[..bytes.len() - 1], &[&bytes[..], &[0]].concat(), &[]] {
            assert_eq!(SentProfile::decode(wrong), None);
        }
    }
}
