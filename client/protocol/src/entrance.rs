//! Where clients get in: each server says so itself, signed.

use alloc::{string::String, vec::Vec};

use metatopia_types::{Digest, Millis, PublicKey, Sign, Signature, SimId, Verify, wire};
use serde::{Deserialize, Serialize};

/// Largest address in an entrance, in bytes.
pub const ADDRESS_BYTES_MAX: usize = 128;

/// Hashes of certificates in an entrance: the one in use and the one after it.
pub const CERTIFICATES_MAX: usize = 2;

/// Where clients of one server connect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entrance {
    /// The sim it serves.
    pub sim: SimId,
    /// The server.
    pub server: PublicKey,
    /// The origin of its pages, such as `http://127.0.0.1:8080`; `/ws` is below it.
    pub http: String,
    /// Host and UDP port of raw QUIC and WebTransport.
    pub quic: String,
    /// SHA-256 of the certificate in use there, and of the one that will follow it.
    pub certificates: Vec<[u8; 32]>,
    /// When it was signed; of two of one server, the later one counts.
    pub issued: Millis,
}

/// An entrance with its server's signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedEntrance {
    /// What is signed.
    pub entrance: Entrance,
    /// By the server's vote key.
    pub signature: Signature,
}

impl Entrance {
    fn sign_bytes(&self) -> [u8; 32] {
        Digest::of("metatopia entrance v1", &wire::encode(self)).0
    }

    /// Signs it; `key` is that of `server`.
    #[must_use]
    pub fn sign(self, key: &dyn Sign) -> SignedEntrance {
        let signature = key.sign(&self.sign_bytes());
        SignedEntrance { entrance: self, signature }
    }
}

impl SignedEntrance {
    /// Is it within its limits, and signed by the server that it names?
    #[must_use]
    pub fn verify(&self, scheme: &dyn Verify) -> bool {
        let entrance = &self.entrance;
        entrance.http.len() <= ADDRESS_BYTES_MAX
            && entrance.quic.len() <= ADDRESS_BYTES_MAX
            && entrance.certificates.len() <= CERTIFICATES_MAX
            && scheme.verify(&entrance.server, &entrance.sign_bytes(), &self.signature)
    }
}
