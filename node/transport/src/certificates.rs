//! The certificates that a server shows to clients. The server makes them itself, announces their
//! hashes, and replaces them before they end.
//!
//! Browsers accept a certificate by its hash only if it is of ECDSA on P-256 and valid for at most
//! 14 days. So a server has two: the one in use, and the [next](Certificates::hashes), whose hash
//! is announced long before its use. A client that asked once can come back after a rotation.
//!
//! | moment | what |
//! | --- | --- |
//! | use begins - [`BACKDATE`] | the certificate is valid from here, for clocks that are behind |
//! | use begins + [`USE`] | the next one takes over; a new one is made and announced |
//! | valid from + [`VALIDITY`] | the old one ends, nearly a day later, for clocks that are ahead |
//!
//! Both are kept in a [storage](CertificateStorage) that the program lends, so that a restart
//! breaks no announced hash. A replacement does not affect open connections.

use std::{
    fmt, io,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard},
};

use metatopia_types::Millis;
use rcgen::{CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256};
use rustls::{
    ServerConfig,
    crypto::ring::sign::any_ecdsa_type,
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer},
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
    version::TLS13,
};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use zeroize::Zeroizing;

use crate::{
    authority::Authority,
    gateway::PAGES_ALPN,
    tls::{CertificateHash, NAME, provider},
};

const HOUR_MS: u64 = 60 * 60 * 1_000;

/// How long a certificate is valid, in milliseconds: 13 days, one less than browsers take.
pub const VALIDITY: u64 = 13 * 24 * HOUR_MS;

/// The time before its use from which a certificate is valid, in milliseconds.
pub const BACKDATE: u64 = HOUR_MS;

/// The time for which a certificate is used, in milliseconds: 12 days.
pub const USE: u64 = 12 * 24 * HOUR_MS;

const _: () = assert!(USE + BACKDATE < VALIDITY, "it would end while it is used");

/// The most bytes of certificates and keys that are read from a storage. Two of each are about
/// 1,200.
pub const STORED_BYTES_MAX: usize = 16 * 1024;

/// A place where the certificates of a server and their keys outlast its process. Its text names it
/// to people.
pub trait CertificateStorage: fmt::Display + Send + Sync {
    /// Returns what was stored last, if anything. If that is more than [`STORED_BYTES_MAX`] bytes,
    /// it may return any part that is longer than the limit.
    ///
    /// # Errors
    /// Returns what the system says.
    fn load(&self) -> io::Result<Option<Zeroizing<Vec<u8>>>>;

    /// Stores these bytes as a whole, in place of what was stored before. They last once this
    /// returns, and they hold secrets.
    ///
    /// # Errors
    /// Returns what the system says. Either the bytes from before or these are stored then.
    fn store(&self, bytes: &[u8]) -> io::Result<()>;
}

/// Says why there is no certificate.
#[derive(Debug, thiserror::Error)]
pub enum TlsCertificateError {
    /// A certificate could not be made.
    #[error("no certificate can be made: {0}")]
    Make(#[from] rcgen::Error),
    /// The key of a certificate cannot be used.
    #[error("a certificate cannot be used: {0}")]
    Use(#[from] rustls::Error),
    /// The storage cannot be written or read.
    #[error("certificates in {place}: {source}")]
    Storage {
        /// The text by which the storage names itself.
        place: String,
        /// The error of the system.
        source: io::Error,
    },
}

/// A self-signed certificate and its key.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct TlsIdentity {
    /// The time when its use begins.
    from: Millis,
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl TlsIdentity {
    /// Generates a certificate with an ECDSA key on P-256, to be used from `from` on.
    pub(crate) fn generate(from: Millis) -> Result<Self, rcgen::Error> {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
        let mut parameters = CertificateParams::new([NAME.to_owned()])?;
        let begin = from.0.saturating_sub(BACKDATE);
        parameters.not_before = date(begin);
        parameters.not_after = date(begin.saturating_add(VALIDITY));
        let certificate = parameters.self_signed(&key)?.der().to_vec();
        Ok(Self { from, certificate, key: key.serialize_der() })
    }

    pub(crate) fn hash(&self) -> CertificateHash {
        CertificateHash::of(&CertificateDer::from(&self.certificate[..]))
    }

    /// Returns the pair in the form that a handshake uses.
    pub(crate) fn certified(&self) -> Result<CertifiedKey, rustls::Error> {
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(&self.key[..]));
        let certificate = CertificateDer::from(self.certificate.clone());
        Ok(CertifiedKey::new(vec![certificate], any_ecdsa_type(&key)?))
    }

    /// Returns when the next certificate takes over.
    fn until(&self) -> Millis {
        Millis(self.from.0.saturating_add(USE))
    }

    /// Returns whether the certificate may be shown now. It may be shown a little early, for a
    /// clock that was set back.
    fn is_current(&self, now: Millis) -> bool {
        self.from.0.saturating_sub(BACKDATE) <= now.0 && now < self.until()
    }
}

/// Returns the date of a time. A time beyond what a certificate can state gives the last year that
/// it can.
fn date(at: u64) -> OffsetDateTime {
    let seconds = i64::try_from(at / 1_000).unwrap_or(i64::MAX);
    let last = OffsetDateTime::UNIX_EPOCH + time::Duration::days(365 * 7_000);
    OffsetDateTime::from_unix_timestamp(seconds).unwrap_or(last)
}

/// The certificate in use, and the one after it.
#[derive(Serialize, Deserialize)]
struct CertificatePair {
    now: TlsIdentity,
    next: TlsIdentity,
}

impl CertificatePair {
    fn generate(now: Millis) -> Result<Self, rcgen::Error> {
        let now = TlsIdentity::generate(now)?;
        let next = TlsIdentity::generate(now.until())?;
        Ok(Self { now, next })
    }

    /// Returns the pair to use at `now`, if it is another one.
    fn replaced(&self, now: Millis) -> Result<Option<Self>, rcgen::Error> {
        if self.now.is_current(now) {
            Ok(None)
        } else if self.next.is_current(now) {
            let next = TlsIdentity::generate(self.next.until())?;
            Ok(Some(Self { now: self.next.clone(), next }))
        } else {
            Self::generate(now).map(Some)
        }
    }
}

/// The certificates of one server. Clones show the same ones.
#[derive(Clone, Debug)]
pub struct Certificates {
    kept: Arc<CertificateStore>,
    /// The authority's certificate, which pages are shown in place of the server's own.
    authority: Option<Authority>,
}

struct CertificateStore {
    storage: Option<Box<dyn CertificateStorage>>,
    current: RwLock<Current>,
}

struct Current {
    pair: CertificatePair,
    /// The certificate in use, ready for handshakes.
    shown: Arc<CertifiedKey>,
}

impl fmt::Debug for CertificateStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Certificates({:?})", self.hashes())
    }
}

impl CertificateStore {
    fn read(&self) -> RwLockReadGuard<'_, Current> {
        self.current.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn hashes(&self) -> [CertificateHash; 2] {
        let current = self.read();
        [current.pair.now.hash(), current.pair.next.hash()]
    }
}

impl Certificates {
    /// Generates new certificates, which are not stored.
    ///
    /// # Errors
    /// Fails when they cannot be made.
    pub fn generate(now: Millis) -> Result<Self, TlsCertificateError> {
        Self::new(None, CertificatePair::generate(now)?)
    }

    /// Opens the certificates of a storage, as far as they can be used at `now`. Missing ones are
    /// made and stored there. Unreadable ones are replaced, which breaks the hashes that were
    /// announced.
    ///
    /// # Errors
    /// Fails when certificates cannot be made, loaded or stored.
    pub fn open(
        storage: Box<dyn CertificateStorage>,
        now: Millis,
    ) -> Result<Self, TlsCertificateError> {
        let stored = match load(&*storage)? {
            Some(Ok(pair)) => Some(pair),
            Some(Err(why)) => {
                tracing::warn!(path = %storage, why, "certificates passed over");
                None
            }
            None => None,
        };
        let pair = match stored {
            Some(pair) => pair,
            None => {
                let pair = CertificatePair::generate(now)?;
                store(&*storage, &pair)?;
                pair
            }
        };
        let certificates = Self::new(Some(storage), pair)?;
        certificates.renew(now)?;
        Ok(certificates)
    }

    fn new(
        storage: Option<Box<dyn CertificateStorage>>,
        pair: CertificatePair,
    ) -> Result<Self, TlsCertificateError> {
        let shown = Arc::new(pair.now.certified()?);
        let current = RwLock::new(Current { pair, shown });
        let kept = Arc::new(CertificateStore { storage, current });
        Ok(Self { kept, authority: None })
    }

    /// Returns certificates that show pages the one of an authority, and programs the server's own.
    /// Only pages ask for HTTP/3.
    #[must_use]
    pub fn with(self, authority: Option<Authority>) -> Self {
        Self { authority, ..self }
    }

    /// Returns whether the pages' certificate is that of an authority. Then a browser trusts it for
    /// its name, and not for its hash.
    #[must_use]
    pub fn are_of_authority(&self) -> bool {
        self.authority.is_some()
    }

    /// Returns the SHA-256 of the certificate in use, and of the one after it.
    #[must_use]
    pub fn hashes(&self) -> [CertificateHash; 2] {
        self.kept.hashes()
    }

    /// Replaces the certificate in use if its time is over, and returns whether it was. To be
    /// called now and then. Without anything to do it costs one comparison.
    ///
    /// # Errors
    /// Fails when no certificate can be made or stored. Then the one in use stays.
    pub fn renew(&self, now: Millis) -> Result<bool, TlsCertificateError> {
        let replaced = self.kept.read().pair.replaced(now)?;
        let Some(pair) = replaced else {
            return Ok(false);
        };
        let shown = Arc::new(pair.now.certified()?);
        if let Some(storage) = &self.kept.storage {
            store(&**storage, &pair)?;
        }
        *self.kept.current.write().unwrap_or_else(PoisonError::into_inner) =
            Current { pair, shown };
        Ok(true)
    }

    /// Returns the TLS settings of a server that offers these protocols and shows the certificate
    /// in use at each handshake.
    pub(crate) fn server(&self, alpn: &[&[u8]]) -> Result<ServerConfig, rustls::Error> {
        server_config(Arc::new(self.clone()), alpn)
    }
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let is_page = hello.alpn().is_some_and(|mut asked| asked.any(|name| name == PAGES_ALPN));
        match &self.authority {
            Some(authority) if is_page => authority.shown(hello),
            _ => Some(self.kept.read().shown.clone()),
        }
    }
}

/// Returns settings that hand out no session tickets, so that every connection proves the
/// certificate's key anew.
pub(crate) fn server_config(
    shown: Arc<dyn ResolvesServerCert>,
    alpn: &[&[u8]],
) -> Result<ServerConfig, rustls::Error> {
    let mut config = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])?
        .with_no_client_auth()
        .with_cert_resolver(shown);
    config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
    config.send_tls13_tickets = 0;
    Ok(config)
}

/// Loads the certificates of a storage: none if it is empty, or the reason why its content cannot
/// be used.
fn load(
    storage: &dyn CertificateStorage,
) -> Result<Option<Result<CertificatePair, &'static str>>, TlsCertificateError> {
    let failed = |source| TlsCertificateError::Storage { place: storage.to_string(), source };
    let Some(bytes) = storage.load().map_err(failed)? else {
        return Ok(None);
    };
    if bytes.len() > STORED_BYTES_MAX {
        return Ok(Some(Err("it is too long")));
    }
    let Ok(pair) = postcard::from_bytes::<CertificatePair>(&bytes) else {
        return Ok(Some(Err("it is not what this version writes")));
    };
    let usable = pair.now.certified().is_ok() && pair.next.certified().is_ok();
    Ok(Some(if usable { Ok(pair) } else { Err("a key in it cannot be used") }))
}

fn store(
    storage: &dyn CertificateStorage,
    pair: &CertificatePair,
) -> Result<(), TlsCertificateError> {
    let encoded = postcard::to_allocvec(pair).map_err(io::Error::other);
    let stored = encoded.and_then(|bytes| storage.store(&Zeroizing::new(bytes)));
    stored.map_err(|source| TlsCertificateError::Storage { place: storage.to_string(), source })
}

#[cfg(test)]
mod tests;
