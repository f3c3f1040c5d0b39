//! Endpoints: each server announces, and signs, where its clients connect.

use alloc::{string::String, vec::Vec};

use metatopia_types::{Digest, Millis, PublicKey, Sign, Signature, SimId, Verify, wire};
use serde::{Deserialize, Serialize};

/// Largest address in an announcement, in bytes.
pub const ADDRESS_BYTES_MAX: usize = 128;

/// Hashes of certificates in an announcement: the certificate in use and the next one.
pub const CERTIFICATES_MAX: usize = 2;

/// The endpoint where clients of one server connect, as that server announces it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndpointAnnouncement {
    /// The sim it serves.
    pub sim: SimId,
    /// The server that the endpoint is of.
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

/// An announcement with its server's signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedAnnouncement {
    /// The announcement. The page and its test vectors call it by its old name.
    #[serde(rename = "entrance")]
    pub announcement: EndpointAnnouncement,
    /// The signature by the server's vote key.
    pub signature: Signature,
}

impl EndpointAnnouncement {
    fn sign_bytes(&self) -> [u8; 32] {
        Digest::of("metatopia entrance v1", &wire::encode(self)).0
    }

    /// Signs the announcement. `key` is that of `server`.
    #[must_use]
    pub fn sign(self, key: &dyn Sign) -> SignedAnnouncement {
        let signature = key.sign(&self.sign_bytes());
        SignedAnnouncement { announcement: self, signature }
    }
}

impl SignedAnnouncement {
    /// Returns whether the announcement is within its limits and signed by the server that it names.
    #[must_use]
    pub fn verify(&self, scheme: &dyn Verify) -> bool {
        let announcement = &self.announcement;
        announcement.http.len() <= ADDRESS_BYTES_MAX
            && announcement.quic.len() <= ADDRESS_BYTES_MAX
            && announcement.certificates.len() <= CERTIFICATES_MAX
            && scheme.verify(&announcement.server, &announcement.sign_bytes(), &self.signature)
    }
}
