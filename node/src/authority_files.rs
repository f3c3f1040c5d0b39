//! The files of a certificate that an authority gave to the operator.
//!
//! The certificate lies in two PEM files, as `certbot` and other clients of authorities write them.
//! It is read again when the process gets SIGHUP. If the new files cannot be used, the certificate
//! in use stays in use.

use std::{
    fs::File,
    io::{self, Read as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use metatopia_transport::authority::{Authority, AuthorityError};
use rustls::{Error, pki_types::pem};
use zeroize::Zeroizing;

/// The longest file of certificates, or of a key, in bytes. Chains of four take some 8 KiB.
pub const PEM_BYTES_MAX: u64 = 64 * 1024;

/// Says why a certificate cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum AuthorityFileError {
    /// A file cannot be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A file is above [`PEM_BYTES_MAX`].
    #[error("{} is longer than {PEM_BYTES_MAX} bytes", path.display())]
    TooLong {
        /// The path of the file.
        path: PathBuf,
    },
    /// Other users of this machine could read the key.
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
        /// The kind of content that was looked for.
        what: &'static str,
        /// The fault in the file.
        source: pem::Error,
    },
    /// TLS here does not know this kind of key.
    #[error("the key in {} cannot be used: {source}", path.display())]
    Key {
        /// The path of the file.
        path: PathBuf,
        /// The error behind it.
        source: Error,
    },
    /// The key does not belong to the certificate.
    #[error("the certificate in {} does not belong to the key in {}", chain.display(), key.display())]
    Strangers {
        /// The file of the certificate.
        chain: PathBuf,
        /// The file of the key.
        key: PathBuf,
    },
}

/// The two files, and the certificate that is shown of them.
#[derive(Clone, Debug)]
pub struct AuthorityFiles {
    chain: PathBuf,
    key: PathBuf,
    authority: Authority,
}

impl AuthorityFiles {
    /// Reads the certificate, with those between it and its authority behind it, and its key.
    ///
    /// # Errors
    /// See [`AuthorityFileError`]; each names its file.
    pub fn open(chain: &Path, key: &Path) -> Result<Self, AuthorityFileError> {
        let (chain_text, key_text) = (content(chain)?.0, secret(key)?);
        let authority = Authority::new(&chain_text, &key_text);
        let authority = authority.map_err(|error| named(error, chain, key))?;
        Ok(Self { chain: chain.to_owned(), key: key.to_owned(), authority })
    }

    /// Reads the files again. Open connections are not affected.
    ///
    /// # Errors
    /// See [`AuthorityFileError`]; then the certificate in use stays.
    pub fn reload(&self) -> Result<(), AuthorityFileError> {
        let Self { chain, key, authority } = self;
        let (chain_text, key_text) = (content(chain)?.0, secret(key)?);
        authority.replace(&chain_text, &key_text).map_err(|error| named(error, chain, key))
    }

    /// Returns the certificate that is shown, which changes with each [reload](Self::reload).
    #[must_use]
    pub fn authority(&self) -> &Authority {
        &self.authority
    }
}

/// Returns the error with the files that it is about.
fn named(error: AuthorityError, chain: &Path, key: &Path) -> AuthorityFileError {
    let (chain, key) = (chain.to_owned(), key.to_owned());
    match error {
        AuthorityError::Chain(source) => {
            AuthorityFileError::Pem { path: chain, what: "certificate", source }
        }
        AuthorityError::NoKey(source) => AuthorityFileError::Pem { path: key, what: "key", source },
        AuthorityError::Key(source) => AuthorityFileError::Key { path: key, source },
        AuthorityError::Strangers => AuthorityFileError::Strangers { chain, key },
    }
}

/// Returns the content of a key file, if nobody else can read it.
fn secret(path: &Path) -> Result<Zeroizing<Vec<u8>>, AuthorityFileError> {
    let (text, mode) = content(path)?;
    if mode & 0o007 != 0 {
        return Err(AuthorityFileError::Exposed { path: path.to_owned(), mode });
    }
    Ok(text)
}

/// Returns the content of a file, and its mode.
fn content(path: &Path) -> Result<(Zeroizing<Vec<u8>>, u32), AuthorityFileError> {
    let failed = |source| AuthorityFileError::Read { path: path.to_owned(), source };
    let file = File::open(path).map_err(failed)?;
    let mode = file.metadata().map_err(failed)?.permissions().mode() & 0o7777;
    let mut bytes = Zeroizing::new(Vec::new());
    file.take(PEM_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > PEM_BYTES_MAX {
        return Err(AuthorityFileError::TooLong { path: path.to_owned() });
    }
    Ok((bytes, mode))
}

#[cfg(test)]
pub(crate) mod tests;
