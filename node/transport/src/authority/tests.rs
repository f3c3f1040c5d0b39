use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, PKCS_ECDSA_P256_SHA256,
};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConnection, version::TLS13};

use super::*;

/// An authority of a test.
pub(crate) struct Issuer(CertifiedIssuer<'static, KeyPair>);

/// A certificate that the authority gave, and its key, both in PEM.
pub(crate) struct GivenCertificate {
    pub(crate) chain: String,
    pub(crate) key: String,
}

impl GivenCertificate {
    pub(crate) fn authority(&self) -> Authority {
        Authority::new(self.chain.as_bytes(), self.key.as_bytes()).unwrap()
    }

    pub(crate) fn replace(&self, authority: &Authority) -> Result<(), AuthorityError> {
        authority.replace(self.chain.as_bytes(), self.key.as_bytes())
    }
}

impl Issuer {
    pub(crate) fn new() -> Self {
        let mut own = CertificateParams::new(Vec::new()).unwrap();
        own.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap();
        Self(CertifiedIssuer::self_signed(own, key).unwrap())
    }

    /// Returns a certificate for this name.
    pub(crate) fn give(&self, name: &str) -> GivenCertificate {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap();
        let parameters = CertificateParams::new([name.to_owned()]).unwrap();
        let given = parameters.signed_by(&key, &self.0).unwrap();
        GivenCertificate { chain: given.pem(), key: key.serialize_pem() }
    }

    /// Returns a client that trusts this authority, and no other.
    pub(crate) fn client(&self) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(self.0.der().clone()).unwrap();
        let builder = ClientConfig::builder_with_provider(provider());
        let builder = builder.with_protocol_versions(&[&TLS13]).unwrap();
        Arc::new(builder.with_root_certificates(roots).with_no_client_auth())
    }
}

/// Performs a handshake in memory with a server of this name.
fn handshake(issuer: &Issuer, authority: &Authority, name: &'static str) -> Result<(), Error> {
    shake(authority.server(&[b"test"]).unwrap(), issuer.client(), name)
}

/// Performs a handshake in memory.
pub(crate) fn shake(
    server: ServerConfig,
    client: Arc<ClientConfig>,
    name: &'static str,
) -> Result<(), Error> {
    let mut server = ServerConnection::new(Arc::new(server)).unwrap();
    let mut client = ClientConnection::new(client, name.try_into().unwrap()).unwrap();
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
fn whoever_trusts_the_authority_trusts_the_server_of_that_name_and_no_other() {
    let issuer = Issuer::new();
    let authority = issuer.give("plaza.example").authority();
    handshake(&issuer, &authority, "plaza.example").unwrap();
    assert!(handshake(&issuer, &authority, "other.example").is_err());
}

#[test]
fn a_certificate_that_takes_the_place_of_another_is_shown_to_the_next_who_comes() {
    let issuer = Issuer::new();
    let authority = issuer.give("plaza.example").authority();
    handshake(&issuer, &authority, "plaza.example").unwrap();

    issuer.give("other.example").replace(&authority).unwrap();

    handshake(&issuer, &authority, "other.example").unwrap();
    assert!(handshake(&issuer, &authority, "plaza.example").is_err());
}

#[test]
fn what_cannot_be_used_leaves_what_is_in_use() {
    let issuer = Issuer::new();
    let (given, other) = (issuer.give("plaza.example"), issuer.give("plaza.example"));
    let authority = given.authority();
    let (chain, key) = (given.chain.as_bytes(), given.key.as_bytes());
    let strange_key = b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";

    let refused = authority.replace(b"", key).unwrap_err();
    assert!(matches!(refused, AuthorityError::Chain(_)), "{refused}");
    let refused = authority.replace(chain, b"nothing").unwrap_err();
    assert!(matches!(refused, AuthorityError::NoKey(_)), "{refused}");
    let refused = authority.replace(chain, strange_key).unwrap_err();
    assert!(matches!(refused, AuthorityError::Key(_)), "{refused}");
    let refused = authority.replace(chain, other.key.as_bytes()).unwrap_err();
    assert!(matches!(refused, AuthorityError::Strangers), "{refused}");

    handshake(&issuer, &authority, "plaza.example").unwrap();
}
