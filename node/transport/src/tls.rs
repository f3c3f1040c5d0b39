//! Certificates without authorities: a server makes its own, and announces their hashes where
//! clients trust it (`/api/session`); a client accepts those and no others.
//!
//! All code here names its cryptography (ring) and protocol version (TLS 1.3) itself. The shorter
//! builders of rustls panic when a second provider is linked into the same program.

use std::{
    fmt,
    str::FromStr,
    sync::{Arc, OnceLock},
};

use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, ring, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime},
    version::TLS13,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The name in every certificate. It proves nothing: the hash does.
pub const NAME: &str = "metatopia";

/// The SHA-256 of a certificate in DER, shown and parsed as 64 lowercase hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CertificateHash(pub [u8; 32]);

impl CertificateHash {
    /// Returns the hash of a certificate.
    #[must_use]
    pub fn of(certificate: &CertificateDer<'_>) -> Self {
        let suite = ring::cipher_suite::TLS13_AES_128_GCM_SHA256;
        let sha256 = suite.tls13().expect("it is a suite of TLS 1.3").common.hash_provider;
        let mut hash = [0; 32];
        hash.copy_from_slice(sha256.hash(certificate).as_ref());
        Self(hash)
    }
}

impl fmt::Display for CertificateHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for CertificateHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for CertificateHash {
    type Err = metatopia_types::ParseIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse::<metatopia_types::Digest>().map(|digits| Self(digits.0))
    }
}

impl Serialize for CertificateHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CertificateHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Returns the TLS settings of a client that speaks `alpn` with the server whose certificate is
/// pinned.
///
/// # Errors
/// Fails when the cryptography has no TLS 1.3.
pub fn client(pin: Arc<Pin>, alpn: &[u8]) -> Result<ClientConfig, Error> {
    let mut config = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(pin)
        .with_no_client_auth();
    config.alpn_protocols = vec![alpn.to_vec()];
    config.enable_sni = false;
    Ok(config)
}

/// Returns the cryptography that all code here uses.
#[must_use]
pub fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// Accepts certificates that were announced, whatever their signers, names and dates are. The
/// server must still prove that it holds the certificate's key.
#[derive(Debug)]
pub struct Pin {
    expected: Vec<CertificateHash>,
    found: OnceLock<CertificateHash>,
    provider: CryptoProvider,
}

impl Pin {
    /// Returns a pin that accepts the certificates with these hashes.
    #[must_use]
    pub fn new(expected: &[CertificateHash]) -> Arc<Self> {
        let provider = ring::default_provider();
        Arc::new(Self { expected: expected.to_vec(), found: OnceLock::new(), provider })
    }

    /// Returns the certificate that was shown, if it was none of the pinned ones.
    #[must_use]
    pub fn mismatch(&self) -> Option<CertificateHash> {
        self.found.get().copied().filter(|found| !self.expected.contains(found))
    }
}

impl ServerCertVerifier for Pin {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let found = *self.found.get_or_init(|| CertificateHash::of(end_entity));
        if self.expected.contains(&found) {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(CertificateError::ApplicationVerificationFailure.into())
        }
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("TLS 1.2 is never offered".to_owned()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256};
    use rustls::{
        ServerConfig,
        crypto::ring::sign::any_ecdsa_type,
        pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
        sign::CertifiedKey,
    };

    use super::*;
    use crate::authority::tests::shake;

    const ALPN: &[u8] = b"test/1";

    /// Runs a handshake in memory, and returns the client's error, if there is one.
    fn handshake(server: ServerConfig, client: ClientConfig) -> Result<(), Error> {
        shake(server, Arc::new(client), NAME)
    }

    /// Returns a certificate that only its own key signed, as servers make them.
    fn certified() -> CertifiedKey {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap();
        let certificate = CertificateParams::new([NAME.to_owned()]).unwrap().self_signed(&key);
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let key = any_ecdsa_type(&key).unwrap();
        CertifiedKey::new(vec![certificate.unwrap().der().clone()], key)
    }

    fn hash(certified: &CertifiedKey) -> CertificateHash {
        CertificateHash::of(&certified.cert[0])
    }

    fn shows(certified: CertifiedKey) -> ServerConfig {
        let mut config = ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&TLS13])
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(PresentedCertificate(Arc::new(certified))));
        config.alpn_protocols = vec![ALPN.to_vec()];
        config
    }

    #[test]
    fn every_pinned_certificate_is_accepted() {
        let (now, next) = (certified(), certified());
        for shown in [&now, &next] {
            let pin = Pin::new(&[hash(&now), hash(&next)]);

            handshake(shows(shown.clone()), client(pin.clone(), ALPN).unwrap()).unwrap();

            assert_eq!(pin.mismatch(), None);
        }
    }

    #[test]
    fn another_certificate_is_refused_and_named() {
        let (expected, shown) = (certified(), certified());
        let pin = Pin::new(&[hash(&expected)]);

        let refused = handshake(shows(shown.clone()), client(pin.clone(), ALPN).unwrap());

        assert!(matches!(refused, Err(Error::InvalidCertificate(_))), "{refused:?}");
        assert_eq!(pin.mismatch(), Some(hash(&shown)));
    }

    #[derive(Debug)]
    struct PresentedCertificate(Arc<CertifiedKey>);

    impl rustls::server::ResolvesServerCert for PresentedCertificate {
        fn resolve(&self, _: rustls::server::ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
            Some(self.0.clone())
        }
    }

    /// A thief has the certificate, which everybody sees, but not its key.
    #[test]
    fn the_pinned_certificate_without_its_key_is_refused() {
        let (victim, thief) = (certified(), certified());
        let pin = Pin::new(&[hash(&victim)]);
        let stolen = CertifiedKey { cert: victim.cert, ..thief };

        let refused = handshake(shows(stolen), client(pin, ALPN).unwrap());

        let bad_signature = Error::InvalidCertificate(CertificateError::BadSignature);
        assert_eq!(refused, Err(bad_signature));
    }

    #[test]
    fn a_hash_is_the_sha_256_of_the_bytes_and_survives_text() {
        // This is the first test vector of FIPS 180-2.
        let abc = CertificateHash::of(&CertificateDer::from(b"abc".to_vec()));
        let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(abc.to_string(), text);
        assert_eq!(text.parse(), Ok(abc));
        assert_eq!(serde_json::to_string(&abc).unwrap(), format!("\"{text}\""));
        assert_eq!(serde_json::from_str::<CertificateHash>(&format!("\"{text}\"")).unwrap(), abc);
    }
}
