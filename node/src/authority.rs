//! A certificate that an authority gave to the operator: for pages over HTTPS, and for their
//! WebTransport. Programs do not ask for it; they pin [our own](crate::certificates).
//!
//! It lies in two PEM files, as `certbot` and other clients of authorities write them, and is read
//! again when the process gets SIGHUP. What cannot be used leaves the one in use in its place.

use std::{
    fs::File,
    io::{self, Read as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
};

use rustls::{
    Error, InconsistentKeys, ServerConfig,
    pki_types::{
        CertificateDer, PrivateKeyDer,
        pem::{self, PemObject as _},
    },
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};
use zeroize::Zeroizing;

use crate::{certificates::server_config, tls::provider};

/// Longest file of certificates, or of a key, in bytes; chains of four take some 8 KiB.
pub const PEM_BYTES_MAX: u64 = 64 * 1024;

/// Why a certificate cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum AuthorityError {
    /// A file cannot be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file is above [`PEM_BYTES_MAX`].
    #[error("{} is longer than {PEM_BYTES_MAX} bytes", path.display())]
    TooLong {
        /// The path of the file.
        path: PathBuf,
    },
    /// Whoever is on this machine could read the key.
    #[error("key file {} has mode {mode:04o}, which lets everybody in: chmod o= it", path.display())]
    Exposed {
        /// The path of the file.
        path: PathBuf,
        /// The mode of the file.
        mode: u32,
    },
    /// A file holds something else.
    #[error("{} holds no {what} in PEM: {source}", path.display())]
    Pem {
        /// The path of the file.
        path: PathBuf,
        /// What was looked for.
        what: &'static str,
        /// What is wrong.
        source: pem::Error,
    },
    /// The key is of a kind that TLS does not know here.
    #[error("the key in {} cannot be used: {source}", path.display())]
    Key {
        /// The path of the file.
        path: PathBuf,
        /// The error behind it.
        source: Error,
    },
    /// The key is another one's.
    #[error("the certificate in {} does not belong to the key in {}", chain.display(), key.display())]
    Strangers {
        /// The file of the certificate.
        chain: PathBuf,
        /// The file of the key.
        key: PathBuf,
    },
}

/// The certificate in use; clones are the same one.
#[derive(Clone, Debug)]
pub struct Authority(Arc<CertificateFiles>);

#[derive(Debug)]
struct CertificateFiles {
    chain: PathBuf,
    key: PathBuf,
    current: RwLock<Arc<CertifiedKey>>,
}

impl ResolvesServerCert for CertificateFiles {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.current.read().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

impl Authority {
    /// Reads the certificate, with those between it and its authority behind it, and its key.
    ///
    /// # Errors
    /// See [`AuthorityError`]; each names its file.
    pub fn open(chain: &Path, key: &Path) -> Result<Self, AuthorityError> {
        let current = RwLock::new(read(chain, key)?);
        Ok(Self(Arc::new(CertificateFiles {
            chain: chain.to_owned(),
            key: key.to_owned(),
            current,
        })))
    }

    /// Reads the files again. Connections that are there notice nothing.
    ///
    /// # Errors
    /// See [`AuthorityError`]; then the certificate in use stays.
    pub fn reload(&self) -> Result<(), AuthorityError> {
        let fresh = read(&self.0.chain, &self.0.key)?;
        *self.0.current.write().unwrap_or_else(PoisonError::into_inner) = fresh;
        Ok(())
    }

    /// Returns the certificate in use, for a handshake.
    pub(crate) fn shown(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.0.resolve(hello)
    }

    /// Returns the TLS settings of a server that shows it and speaks these protocols.
    pub(crate) fn server(&self, alpn: &[&[u8]]) -> Result<ServerConfig, Error> {
        server_config(self.0.clone(), alpn)
    }
}

fn read(chain: &Path, key: &Path) -> Result<Arc<CertifiedKey>, AuthorityError> {
    let pem = |path: &Path, what| {
        let path = path.to_owned();
        move |source| AuthorityError::Pem { path, what, source }
    };
    let (text, _) = content(chain)?;
    let certificates: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(&text)
        .collect::<Result<_, _>>()
        .map_err(pem(chain, "certificate"))?;
    if certificates.is_empty() {
        return Err(pem(chain, "certificate")(pem::Error::NoItemsFound));
    }
    let (text, mode) = content(key)?;
    if mode & 0o007 != 0 {
        return Err(AuthorityError::Exposed { path: key.to_owned(), mode });
    }
    let secret = PrivateKeyDer::from_pem_slice(&text).map_err(pem(key, "key"))?;
    let signs = provider()
        .key_provider
        .load_private_key(secret)
        .map_err(|source| AuthorityError::Key { path: key.to_owned(), source })?;
    let certified = CertifiedKey::new(certificates, signs);
    match certified.keys_match() {
        Ok(()) | Err(Error::InconsistentKeys(InconsistentKeys::Unknown)) => Ok(Arc::new(certified)),
        Err(_) => Err(AuthorityError::Strangers { chain: chain.to_owned(), key: key.to_owned() }),
    }
}

/// Returns what a file holds, and its mode.
fn content(path: &Path) -> Result<(Zeroizing<Vec<u8>>, u32), AuthorityError> {
    let failed = |source| AuthorityError::Read { path: path.to_owned(), source };
    let file = File::open(path).map_err(failed)?;
    let mode = file.metadata().map_err(failed)?.permissions().mode() & 0o7777;
    let mut bytes = Zeroizing::new(Vec::new());
    file.take(PEM_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > PEM_BYTES_MAX {
        return Err(AuthorityError::TooLong { path: path.to_owned() });
    }
    Ok((bytes, mode))
}

#[cfg(test)]
pub(crate) mod tests;
