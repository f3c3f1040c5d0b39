//! The one encoding: canonical postcard. Whatever was signed or hashed has exactly one form.

use alloc::vec::Vec;

use postcard::ser_flavors::{Flavor, Size};
use serde::{Serialize, de::DeserializeOwned};

/// Why bytes are not a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// More bytes than this message may have; nothing was decoded.
    #[error("{found} bytes where at most {limit} are allowed")]
    Oversize {
        /// Bytes that came.
        found: usize,
        /// Bytes that are allowed.
        limit: usize,
    },
    /// The bytes are no value of this type.
    #[error("malformed")]
    Malformed,
    /// A value, but not in its one canonical form (padding, trailing bytes, long integers).
    #[error("not the canonical encoding")]
    NotCanonical,
    /// The bytes say that they are of another format.
    #[error("they are of format {found}, and this program reads format {known}")]
    Format {
        /// The format that they say.
        found: u8,
        /// The format that this program reads.
        known: u8,
    },
}

/// Bytes that are tried on the stack before they are counted.
const SHORT: usize = 256;

/// Bytes of the longest number, of 64 bits.
const NUMBER: usize = 10;

/// Encodes `value`.
///
/// # Panics
/// Never for the types of this workspace: they hold no value that postcard cannot encode.
#[must_use]
pub fn encode<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    // Most values are short.
    let mut short = [0; SHORT];
    if let Ok(bytes) = postcard::to_slice(value, &mut short) {
        return bytes.to_vec();
    }
    // To count first costs less than a vector that grows, and is longer than its bytes in the end.
    let mut bytes = alloc::vec![0; length(value)];
    let used = postcard::to_slice(value, &mut bytes).expect("so many bytes were counted").len();
    assert_eq!(used, bytes.len(), "a value has one encoding");
    bytes
}

/// The bytes that [`encode`] makes of `value`.
///
/// # Panics
/// As [`encode`].
#[must_use]
pub fn length<T: Serialize + ?Sized>(value: &T) -> usize {
    postcard::serialize_with_flavor(value, Size::default())
        .expect("our types have lengths and no unsupported shapes")
}

/// Decodes what [`encode`] made, of at most `limit` bytes.
///
/// The value is encoded again and compared: postcard itself accepts longer forms of an integer,
/// and two forms of one message would have two digests.
///
/// # Errors
/// See [`DecodeError`]. No more than a small multiple of `bytes` is ever allocated.
pub fn decode<T: Serialize + DeserializeOwned>(
    bytes: &[u8],
    limit: usize,
) -> Result<T, DecodeError> {
    if bytes.len() > limit {
        return Err(DecodeError::Oversize { found: bytes.len(), limit });
    }
    let (value, rest) = postcard::take_from_bytes(bytes).map_err(|_| DecodeError::Malformed)?;
    match postcard::serialize_with_flavor(&value, Expected(bytes)) {
        Ok(true) if rest.is_empty() => Ok(value),
        _ => Err(DecodeError::NotCanonical),
    }
}

/// Decodes the value that the bytes begin with, whatever comes behind it: a later program may have
/// written more there than this one knows.
///
/// # Errors
/// When they begin with no such value.
pub fn decode_first<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, DecodeError> {
    let (value, _) = postcard::take_from_bytes(bytes).map_err(|_| DecodeError::Malformed)?;
    Ok(value)
}

/// Encodes `value` for other sims, which may run another engine: behind the number of its format.
#[must_use]
pub fn encode_format<T: Serialize + ?Sized>(format: u8, value: &T) -> Vec<u8> {
    encode(&(format, value))
}

/// Decodes what [`encode_format`] made with this format, of at most `limit` bytes.
///
/// # Errors
/// [`DecodeError::Format`] for another one, before anything is decoded; else as [`decode`].
pub fn decode_format<T: Serialize + DeserializeOwned>(
    format: u8,
    bytes: &[u8],
    limit: usize,
) -> Result<T, DecodeError> {
    if bytes.len() > limit {
        return Err(DecodeError::Oversize { found: bytes.len(), limit });
    }
    match bytes.split_first() {
        Some((found, value)) if *found == format => decode(value, limit),
        Some((found, _)) => Err(DecodeError::Format { found: *found, known: format }),
        None => Err(DecodeError::Malformed),
    }
}

/// The bytes that an encoding is expected to have from here on: it is compared, and not kept.
struct Expected<'a>(&'a [u8]);

impl Flavor for Expected<'_> {
    type Output = bool;

    #[inline]
    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        match self.0.split_first() {
            Some((first, rest)) if *first == byte => self.0 = rest,
            _ => return Err(postcard::Error::SerializeBufferFull),
        }
        Ok(())
    }

    #[inline]
    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        // A number is a few bytes: to call for a comparison takes longer than to compare them.
        if bytes.len() <= NUMBER {
            return bytes.iter().try_for_each(|byte| self.try_push(*byte));
        }
        let rest = self.0.strip_prefix(bytes);
        self.0 = rest.ok_or(postcard::Error::SerializeBufferFull)?;
        Ok(())
    }

    fn finalize(self) -> postcard::Result<bool> {
        Ok(self.0.is_empty())
    }
}

/// For fields that hold bytes: they are encoded and decoded in one piece, and in the same form as
/// one by one.
pub mod bytes {
    use alloc::vec::Vec;
    use core::fmt;

    use serde::{Deserializer, Serializer, de};

    struct Bytes;

    impl de::Visitor<'_> for Bytes {
        type Value = Vec<u8>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("bytes")
        }

        fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
            Ok(bytes.to_vec())
        }
    }

    /// Serializes bytes, for `serde(with)`.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(bytes)
    }

    /// Deserializes bytes, for `serde(with)`.
    ///
    /// # Errors
    /// Those of the deserializer.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        deserializer.deserialize_byte_buf(Bytes)
    }
}

/// For fields that hold several pieces of bytes, as [`bytes`] for one.
pub mod pieces {
    use alloc::vec::Vec;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize)]
    struct Lent<'a>(#[serde(serialize_with = "super::bytes::serialize")] &'a [u8]);

    #[derive(Deserialize)]
    struct Owned(#[serde(deserialize_with = "super::bytes::deserialize")] Vec<u8>);

    /// Serializes pieces of bytes, for `serde(with)`.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(pieces: &[Vec<u8>], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(pieces.iter().map(|piece| Lent(piece)))
    }

    /// Deserializes pieces of bytes, for `serde(with)`.
    ///
    /// # Errors
    /// Those of the deserializer.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<Vec<u8>>, D::Error> {
        let pieces = Vec::<Owned>::deserialize(deserializer)?;
        Ok(pieces.into_iter().map(|Owned(piece)| piece).collect())
    }
}
