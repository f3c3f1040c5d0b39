use std::{fs, sync::Arc};

use metatopia_transport::tls::provider;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, PKCS_ECDSA_P256_SHA256,
};
use rustls::{ClientConfig, RootCertStore, version::TLS13};

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

    /// Writes a certificate for this name into the files.
    pub(crate) fn give(&self, name: &str) {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap();
        let parameters = CertificateParams::new([name.to_owned()]).unwrap();
        let given = parameters.signed_by(&key, &self.issuer).unwrap();
        fs::write(self.chain(), given.pem()).unwrap();
        self.write_key(key.serialize_pem(), 0o600);
    }

    /// Writes a text into the file of the key.
    pub(crate) fn write_key(&self, text: String, mode: u32) {
        let _absent = fs::remove_file(self.key());
        fs::write(self.key(), text).unwrap();
        fs::set_permissions(self.key(), fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Returns a client that trusts this authority, and no other.
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

#[test]
fn what_cannot_be_used_is_named_with_its_file() {
    let files = Files::new("authority-unusable");
    let shown = AuthorityFiles::open(&files.chain(), &files.key()).unwrap();
    let own = fs::read_to_string(files.key()).unwrap();
    let other = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap().serialize_pem();
    let strange = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    for (text, mode, word) in [
        (other, 0o600, "does not belong"),
        (own, 0o604, "mode 0604"),
        ("nothing".to_owned(), 0o600, "holds no key"),
        (strange.to_owned(), 0o600, "cannot be used"),
        (" ".repeat(PEM_BYTES_MAX as usize + 1), 0o600, "longer than"),
    ] {
        files.write_key(text, mode);
        let refused = shown.reload().unwrap_err().to_string();
        assert!(refused.contains(word) && refused.contains("key.pem"), "{refused}");
    }
    files.give("plaza.example");
    shown.reload().unwrap();
    fs::write(files.chain(), "").unwrap();
    let refused = shown.reload().unwrap_err().to_string();
    assert!(refused.contains("holds no certificate") && refused.contains("chain.pem"), "{refused}");
    fs::remove_file(files.chain()).unwrap();
    let refused = shown.reload().unwrap_err();
    assert!(matches!(refused, AuthorityFileError::Read { .. }), "{refused}");
}
