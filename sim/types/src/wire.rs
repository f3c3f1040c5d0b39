//! The one encoding: canonical postcard. Whatever was signed or hashed has exactly one form.

use alloc::vec::Vec;

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
}

/// Encodes `value`.
///
/// # Panics
/// Never for the types of this workspace: they hold no value that postcard cannot encode.
#[must_use]
pub fn encode<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    postcard::to_allocvec(value).expect("our types have lengths and no unsupported shapes")
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
    if rest.is_empty() && encode(&value) == bytes {
        Ok(value)
    } else {
        Err(DecodeError::NotCanonical)
    }
}
