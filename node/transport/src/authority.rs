//! A certificate that an authority gave to the operator, for pages over HTTPS and for their
//! WebTransport. Programs do not ask for it; they pin [the server's own](crate::certificates).

use std::sync::{Arc, PoisonError, RwLock};

use rustls::{
    Error, InconsistentKeys, ServerConfig,
    pki_types::{
        CertificateDer, PrivateKeyDer,
        pem::{self, PemObject as _},
    },
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};

use crate::{certificates::server_config, tls::provider};

/// Says why a certificate cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum AuthorityError {
    /// The first text holds something else.
    #[error("no certificate in PEM: {0}")]
    Chain(pem::Error),
    /// The second text holds something else.
    #[error("no key in PEM: {0}")]
    NoKey(pem::Error),
    /// TLS here does not know this kind of key.
    #[error("the key cannot be used: {0}")]
    Key(Error),
    /// The key does not belong to the certificate.
    #[error("the certificate does not belong to the key")]
    Strangers,
}

/// The certificate in use. Clones show the same one.
#[derive(Clone, Debug)]
pub struct Authority(Arc<ShownCertificate>);

#[derive(Debug)]
struct ShownCertificate(RwLock<Arc<CertifiedKey>>);

impl ResolvesServerCert for ShownCertificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.read().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

impl Authority {
    /// Returns an authority that shows a certificate, with those between it and its authority
    /// behind it, and its key, both in PEM.
    ///
    /// # Errors
    /// See [`AuthorityError`].
    pub fn new(chain: &[u8], key: &[u8]) -> Result<Self, AuthorityError> {
        Ok(Self(Arc::new(ShownCertificate(RwLock::new(certified(chain, key)?)))))
    }

    /// Replaces the certificate and the key. Open connections are not affected.
    ///
    /// # Errors
    /// See [`AuthorityError`]; then the certificate in use stays.
    pub fn replace(&self, chain: &[u8], key: &[u8]) -> Result<(), AuthorityError> {
        let fresh = certified(chain, key)?;
        *self.0.0.write().unwrap_or_else(PoisonError::into_inner) = fresh;
        Ok(())
    }

    /// Returns the certificate in use, for a handshake.
    pub(crate) fn shown(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.0.resolve(hello)
    }

    /// Returns the TLS settings of a server that shows the certificate and speaks these protocols.
    pub(crate) fn server(&self, alpn: &[&[u8]]) -> Result<ServerConfig, Error> {
        server_config(self.0.clone(), alpn)
    }
}

fn certified(chain: &[u8], key: &[u8]) -> Result<Arc<CertifiedKey>, AuthorityError> {
    let certificates: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(chain)
        .collect::<Result<_, _>>()
        .map_err(AuthorityError::Chain)?;
    if certificates.is_empty() {
        return Err(AuthorityError::Chain(pem::Error::NoItemsFound));
    }
    let secret = PrivateKeyDer::from_pem_slice(key).map_err(AuthorityError::NoKey)?;
    let signs = provider().key_provider.load_private_key(secret).map_err(AuthorityError::Key)?;
    let certified = CertifiedKey::new(certificates, signs);
    match certified.keys_match() {
        Ok(()) | Err(Error::InconsistentKeys(InconsistentKeys::Unknown)) => Ok(Arc::new(certified)),
        Err(_) => Err(AuthorityError::Strangers),
    }
}

#[cfg(test)]
pub(crate) mod tests;
