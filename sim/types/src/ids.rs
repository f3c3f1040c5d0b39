//! Identifiers: digests of content, keys, and counters. Each is a type of its own, so that two of
//! them cannot be swapped by accident.

use core::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A blake3 digest, 32 bytes; shown and parsed as 64 lowercase hexadecimal digits.
///
/// No digest is there by default, and none of the ids that are digests: whatever was not computed would
/// pass for something that was.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// All zero bits: what a format says where there is nothing yet.
    pub const ZERO: Self = Self([0; 32]);

    /// The digest of `bytes` in the domain `context` (blake3's key derivation), so that the same
    /// bytes mean different things in different places.
    #[must_use]
    pub fn of(context: &str, bytes: &[u8]) -> Self {
        Self(blake3::derive_key(context, bytes))
    }
}

/// Why a text is not an identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ParseIdError {
    /// The text has another length than the identifier needs.
    #[error("{found} characters where {expected} hexadecimal digits are needed")]
    Length {
        /// Digits that are needed.
        expected: usize,
        /// Bytes that were given.
        found: usize,
    },
    /// A character that is no lowercase hexadecimal digit.
    #[error("character {at} is not a lowercase hexadecimal digit")]
    Digit {
        /// Its place, counted from 0.
        at: usize,
    },
}

/// The digits of a byte's two halves.
const DIGITS: &[u8; 16] = b"0123456789abcdef";

fn write_hex(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    // Scripts pay for an origin's text as for any other: whole pieces at once, not digit by digit.
    for part in bytes.chunks(32) {
        let mut text = [0; 64];
        for (digits, byte) in text.chunks_exact_mut(2).zip(part) {
            digits[0] = DIGITS[usize::from(byte >> 4)];
            digits[1] = DIGITS[usize::from(byte & 15)];
        }
        let text = core::str::from_utf8(&text[..2 * part.len()]);
        f.write_str(text.expect("hexadecimal digits are one byte each"))?;
    }
    Ok(())
}

fn parse_hex<const N: usize>(text: &str) -> Result<[u8; N], ParseIdError> {
    let text = text.as_bytes();
    if text.len() != 2 * N {
        return Err(ParseIdError::Length { expected: 2 * N, found: text.len() });
    }
    let digit = |at: usize| match text[at] {
        c @ b'0'..=b'9' => Ok(c - b'0'),
        c @ b'a'..=b'f' => Ok(c - b'a' + 10),
        _ => Err(ParseIdError::Digit { at }),
    };
    let mut bytes = [0; N];
    for (i, byte) in bytes.iter_mut().enumerate() {
        *byte = digit(2 * i)? << 4 | digit(2 * i + 1)?;
    }
    Ok(bytes)
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0[..4], f)
    }
}

impl FromStr for Digest {
    type Err = ParseIdError;

    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        parse_hex(text).map(Self)
    }
}

macro_rules! digest_ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub Digest);

        impl $name {
            /// The digest's bytes.
            #[must_use]
            pub const fn bytes(&self) -> &[u8; 32] {
                &self.0.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}:{:?}", stringify!($name), self.0)
            }
        }

        impl FromStr for $name {
            type Err = ParseIdError;

            fn from_str(text: &str) -> Result<Self, ParseIdError> {
                text.parse().map(Self)
            }
        }
    )*};
}

digest_ids! {
    /// A sim: the digest of the head of its genesis.
    SimId;
    /// An act: the digest of its envelope without the signature.
    ActId;
    /// A turn: the digest of its header, and the value the servers agree on.
    HeaderId;
    /// The Merkle root of a state.
    Root;
    /// A blob: the digest of its bytes.
    BlobId;
    /// A package of script source: the digest of its manifest.
    PackageId;
    /// A validator set: the digest of its members.
    ValidatorsId;
}

impl HeaderId {
    /// What the header of height 1 states as the one before it.
    pub const BEFORE_FIRST: Self = Self(Digest::ZERO);
}

/// An ed25519 public key: names a player, a server or an admin.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PublicKey(pub [u8; 32]);

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("key:")?;
        write_hex(&self.0[..4], f)
    }
}

impl FromStr for PublicKey {
    type Err = ParseIdError;

    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        parse_hex(text).map(Self)
    }
}

/// An ed25519 signature, 64 bytes. (Two halves, because arrays of 64 have no serde of their own.)
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Signature([u8; 32], [u8; 32]);

impl Signature {
    /// A signature of the 64 bytes of the scheme.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 64]) -> Self {
        let (mut r, mut s) = ([0; 32], [0; 32]);
        r.copy_from_slice(&bytes[..32]);
        s.copy_from_slice(&bytes[32..]);
        Self(r, s)
    }

    /// The 64 bytes of the scheme.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 64] {
        let mut bytes = [0; 64];
        bytes[..32].copy_from_slice(&self.0);
        bytes[32..].copy_from_slice(&self.1);
        bytes
    }
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sig:")?;
        write_hex(&self.0[..4], f)
    }
}

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident($inner:ty);)*) => {$(
        $(#[$doc])*
        #[derive(
            Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        pub struct $name(pub $inner);

        impl $name {
            /// `n` further on; stays at the largest value instead of wrapping.
            #[must_use]
            pub const fn plus(self, n: $inner) -> Self {
                Self(self.0.saturating_add(n))
            }

            /// `n` further back, or nothing before 0.
            #[must_use]
            pub const fn minus(self, n: $inner) -> Option<Self> {
                match self.0.checked_sub(n) {
                    Some(value) => Some(Self(value)),
                    None => None,
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}:{}", stringify!($name), self.0)
            }
        }
    )*};
}

counters! {
    /// Counts turns: the first turn has height 1, genesis is 0.
    Height(u64);
    /// Counts fixed steps of simulated time since genesis.
    Tick(u64);
    /// Counts the tries at one height, from 0.
    Round(u32);
    /// One session of an author: acts are ordered inside a lane only.
    Lane(u64);
    /// Strictly increasing inside a lane.
    Seq(u64);
    /// An object of a world, in the order of creation; 0 is never given out.
    ObjectId(u64);
    /// A script running on an object, in the order of creation; 0 is the sim core.
    ScriptId(u64);
    /// A lot of a sim, in the order of claims; 0 is never given out.
    LotId(u64);
    /// A club of a sim, in the order of foundings; 0 is never given out.
    ClubId(u64);
}
