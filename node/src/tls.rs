//! Certificates without authorities: a server makes its own, and says its hash where clients trust
//! it (`/api/session`); a client accepts that certificate and no other.
//!
//! Everything here names its cryptography (ring) and protocol version (TLS 1.3) itself. rustls'
//! shorter builders panic when a second provider is linked into the same program.

use std::{
    fmt,
    str::FromStr,
    sync::{Arc, OnceLock},
};

use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, ServerConfig, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, ring, verify_tls13_signature},
    pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime},
    version::TLS13,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The name in every certificate. It proves nothing: the hash does.
pub const NAME: &str = "metatopia";

/// SHA-256 of a certificate in DER; shown and parsed as 64 lowercase hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CertificateHash(pub [u8; 32]);

impl CertificateHash {
    /// The hash of a certificate.
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

/// A self-signed certificate and its key, made for one run of a server and never stored.
///
/// It carries rcgen's dates, which never run out: whoever pins a hash does not ask for dates. (A
/// browser would, and wants at most 14 days.)
pub(crate) struct Identity {
    certificate: CertificateDer<'static>,
    key: PrivatePkcs8KeyDer<'static>,
}

impl Identity {
    /// A new one, with an ECDSA key on P-256.
    pub(crate) fn generate() -> Result<Self, rcgen::Error> {
        let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256)?;
        let certificate = rcgen::CertificateParams::new([NAME.to_owned()])?.self_signed(&key)?;
        let key = PrivatePkcs8KeyDer::from(key.serialize_der());
        Ok(Self { certificate: certificate.der().clone(), key })
    }

    pub(crate) fn hash(&self) -> CertificateHash {
        CertificateHash::of(&self.certificate)
    }

    /// A server that offers `alpn` and shows this certificate. It hands out no session tickets:
    /// every connection proves the certificate's key anew.
    pub(crate) fn server(self, alpn: &[u8]) -> Result<ServerConfig, Error> {
        let mut config = ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&TLS13])?
            .with_no_client_auth()
            .with_single_cert(vec![self.certificate], self.key.into())?;
        config.alpn_protocols = vec![alpn.to_vec()];
        config.send_tls13_tickets = 0;
        Ok(config)
    }
}

/// A client that speaks `alpn` with the server whose certificate has this hash.
pub(crate) fn client(pin: Arc<Pin>, alpn: &[u8]) -> Result<ClientConfig, Error> {
    let mut config = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(pin)
        .with_no_client_auth();
    config.alpn_protocols = vec![alpn.to_vec()];
    config.enable_sni = false;
    Ok(config)
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// Accepts one certificate, whoever signed it and whatever names and dates it carries. The server
/// must still prove that it holds the certificate's key.
#[derive(Debug)]
pub(crate) struct Pin {
    expected: CertificateHash,
    found: OnceLock<CertificateHash>,
    provider: CryptoProvider,
}

impl Pin {
    pub(crate) fn new(expected: CertificateHash) -> Arc<Self> {
        let provider = ring::default_provider();
        Arc::new(Self { expected, found: OnceLock::new(), provider })
    }

    /// The certificate that is accepted.
    pub(crate) fn expected(&self) -> CertificateHash {
        self.expected
    }

    /// The certificate that was shown, if it was another one.
    pub(crate) fn mismatch(&self) -> Option<CertificateHash> {
        self.found.get().copied().filter(|found| *found != self.expected)
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
        if found == self.expected {
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
    use rustls::{ClientConnection, ServerConnection, pki_types::PrivateKeyDer};

    use super::*;

    const ALPN: &[u8] = b"test/1";

    /// Runs a handshake in memory; the client's error, if it has one.
    fn handshake(server: ServerConfig, client: ClientConfig) -> Result<(), Error> {
        let mut server = ServerConnection::new(Arc::new(server)).unwrap();
        let name = ServerName::try_from(NAME).unwrap();
        let mut client = ClientConnection::new(Arc::new(client), name).unwrap();
        for _ in 0..8 {
            let mut wire = Vec::new();
            while client.wants_write() {
                client.write_tls(&mut wire).unwrap();
            }
            server.read_tls(&mut &wire[..]).unwrap();
            let _alert = server.process_new_packets();
            let mut wire = Vec::new();
            while server.wants_write() {
                server.write_tls(&mut wire).unwrap();
            }
            client.read_tls(&mut &wire[..]).unwrap();
            client.process_new_packets()?;
        }
        assert!(!client.is_handshaking() && !server.is_handshaking());
        Ok(())
    }

    #[test]
    fn the_pinned_certificate_is_accepted() {
        let identity = Identity::generate().unwrap();
        let pin = Pin::new(identity.hash());

        handshake(identity.server(ALPN).unwrap(), client(pin.clone(), ALPN).unwrap()).unwrap();

        assert_eq!(pin.mismatch(), None);
    }

    #[test]
    fn another_certificate_is_refused_and_named() {
        let (expected, shown) = (Identity::generate().unwrap(), Identity::generate().unwrap());
        let (pin, hash) = (Pin::new(expected.hash()), shown.hash());

        let refused = handshake(shown.server(ALPN).unwrap(), client(pin.clone(), ALPN).unwrap());

        assert!(matches!(refused, Err(Error::InvalidCertificate(_))), "{refused:?}");
        assert_eq!(pin.mismatch(), Some(hash));
    }

    /// A thief who has the certificate, which everybody sees, but not its key.
    #[derive(Debug)]
    struct Thief(Arc<rustls::sign::CertifiedKey>);

    impl rustls::server::ResolvesServerCert for Thief {
        fn resolve(
            &self,
            _: rustls::server::ClientHello<'_>,
        ) -> Option<Arc<rustls::sign::CertifiedKey>> {
            Some(self.0.clone())
        }
    }

    #[test]
    fn the_pinned_certificate_without_its_key_is_refused() {
        let (victim, thief) = (Identity::generate().unwrap(), Identity::generate().unwrap());
        let pin = Pin::new(victim.hash());
        let key = ring::sign::any_ecdsa_type(&PrivateKeyDer::from(thief.key)).unwrap();
        let shown = rustls::sign::CertifiedKey::new(vec![victim.certificate], key);
        let mut server = ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&TLS13])
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(Thief(Arc::new(shown))));
        server.alpn_protocols = vec![ALPN.to_vec()];

        let refused = handshake(server, client(pin, ALPN).unwrap());

        let bad_signature = Error::InvalidCertificate(CertificateError::BadSignature);
        assert_eq!(refused, Err(bad_signature));
    }

    #[test]
    fn a_hash_is_the_sha_256_of_the_bytes_and_survives_text() {
        // The first test vector of FIPS 180-2.
        let abc = CertificateHash::of(&CertificateDer::from(b"abc".to_vec()));
        let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(abc.to_string(), text);
        assert_eq!(text.parse(), Ok(abc));
        assert_eq!(serde_json::to_string(&abc).unwrap(), format!("\"{text}\""));
        assert_eq!(serde_json::from_str::<CertificateHash>(&format!("\"{text}\"")).unwrap(), abc);
    }
}
