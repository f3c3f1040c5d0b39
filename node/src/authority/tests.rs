use std::fs;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, PKCS_ECDSA_P256_SHA256,
};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConnection, version::TLS13};

use super::*;

/// An authority of a test, and the files of a certificate that it gave.
pub(crate) struct Files {
    folder: PathBuf,
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Files {
    pub(crate) fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("metatopia-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let mut own = CertificateParams::new(Vec::new()).unwrap();
        own.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap();
        let files = Self { folder, issuer: CertifiedIssuer::self_signed(own, key).unwrap() };
        files.give("plaza.example");
        files
    }

    pub(crate) fn chain(&self) -> PathBuf {
        self.folder.join("chain.pem")
    }

    pub(crate) fn key(&self) -> PathBuf {
        self.folder.join("key.pem")
    }

    /// Puts a certificate for a name there.
    pub(crate) fn give(&self, name: &str) {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap();
        let parameters = CertificateParams::new([name.to_owned()]).unwrap();
        let given = parameters.signed_by(&key, &self.issuer).unwrap();
        fs::write(self.chain(), given.pem()).unwrap();
        self.write_key(key.serialize_pem(), 0o600);
    }

    fn write_key(&self, text: String, mode: u32) {
        let _absent = fs::remove_file(self.key());
        fs::write(self.key(), text).unwrap();
        fs::set_permissions(self.key(), fs::Permissions::from_mode(mode)).unwrap();
    }

    /// A client that trusts this authority, and no other.
    pub(crate) fn client(&self) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(self.issuer.der().clone()).unwrap();
        let builder = ClientConfig::builder_with_provider(provider());
        let builder = builder.with_protocol_versions(&[&TLS13]).unwrap();
        Arc::new(builder.with_root_certificates(roots).with_no_client_auth())
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _absent = fs::remove_dir_all(&self.folder);
    }
}

/// A handshake in memory with a server of this name.
fn handshake(files: &Files, authority: &Authority, name: &'static str) -> Result<(), Error> {
    shake(authority.server(&[b"test"]).unwrap(), files.client(), name)
}

/// A handshake in memory.
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
    assert!(!client.is_handshaking());
    Ok(())
}

#[test]
fn whoever_trusts_the_authority_trusts_the_server_of_that_name_and_no_other() {
    let files = Files::new("authority-name");
    let authority = Authority::open(&files.chain(), &files.key()).unwrap();
    handshake(&files, &authority, "plaza.example").unwrap();
    assert!(handshake(&files, &authority, "other.example").is_err());
}

#[test]
fn a_renewed_certificate_is_shown_once_it_is_read_again() {
    let files = Files::new("authority-renewed");
    let authority = Authority::open(&files.chain(), &files.key()).unwrap();
    files.give("other.example");
    handshake(&files, &authority, "plaza.example").unwrap();

    authority.reload().unwrap();

    handshake(&files, &authority, "other.example").unwrap();
}

#[test]
fn what_cannot_be_used_is_named_and_leaves_what_is_in_use() {
    let files = Files::new("authority-unusable");
    let authority = Authority::open(&files.chain(), &files.key()).unwrap();
    let own = fs::read_to_string(files.key()).unwrap();
    let other = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap().serialize_pem();
    for (text, mode, word) in [
        (other, 0o600, "does not belong"),
        (own, 0o604, "mode 0604"),
        ("nothing".to_owned(), 0o600, "holds no key"),
        (" ".repeat(PEM_BYTES_MAX as usize + 1), 0o600, "longer than"),
    ] {
        files.write_key(text, mode);
        let refused = authority.reload().unwrap_err().to_string();
        assert!(refused.contains(word) && refused.contains("key.pem"), "{refused}");
    }
    fs::write(files.chain(), "").unwrap();
    let refused = authority.reload().unwrap_err().to_string();
    assert!(refused.contains("holds no certificate"), "{refused}");
    handshake(&files, &authority, "plaza.example").unwrap();
}
