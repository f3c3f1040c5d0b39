use std::sync::{Mutex, MutexGuard};

use super::*;
use crate::{
    authority::tests::{Issuer, shake},
    gateway::ALPN,
    tls::{self, Pin},
};

const DAY_MS: u64 = 24 * HOUR_MS;

/// Some day in 2026.
const BEGIN: Millis = Millis(1_790_000_000_000);

fn after(ms: u64) -> Millis {
    Millis(BEGIN.0 + ms)
}

/// A storage in memory that outlasts the certificates in it. It fails while it is shut.
#[derive(Clone, Default)]
struct MemoryStorage(Arc<Mutex<MemoryShelf>>);

#[derive(Default)]
struct MemoryShelf {
    bytes: Option<Vec<u8>>,
    is_shut: bool,
}

impl MemoryStorage {
    fn shelf(&self) -> MutexGuard<'_, MemoryShelf> {
        self.0.lock().unwrap()
    }

    /// Returns the bytes that were stored.
    fn bytes(&self) -> Option<Vec<u8>> {
        self.shelf().bytes.clone()
    }

    fn open(&self, now: Millis) -> Result<Certificates, TlsCertificateError> {
        Certificates::open(Box::new(self.clone()), now)
    }

    fn hashes(&self, now: Millis) -> [CertificateHash; 2] {
        self.open(now).unwrap().hashes()
    }
}

impl fmt::Display for MemoryStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("memory")
    }
}

impl CertificateStorage for MemoryStorage {
    fn load(&self) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
        let shelf = self.shelf();
        if shelf.is_shut {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        Ok(shelf.bytes.clone().map(Zeroizing::new))
    }

    fn store(&self, bytes: &[u8]) -> io::Result<()> {
        let mut shelf = self.shelf();
        if shelf.is_shut {
            return Err(io::ErrorKind::StorageFull.into());
        }
        shelf.bytes = Some(bytes.to_vec());
        Ok(())
    }
}

/// Returns the two times in a certificate, which DER writes as digits with a Z behind.
fn dates(certificate: &[u8]) -> Vec<String> {
    let text: String = certificate.iter().map(|byte| char::from(*byte)).collect();
    let starts = text.match_indices('Z').filter_map(|(end, _)| {
        let digits = text.get(end.checked_sub(12)?..end)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.to_owned())
    });
    starts.collect()
}

#[test]
fn a_certificate_is_valid_for_13_days_that_began_an_hour_ago() {
    let identity = TlsIdentity::generate(BEGIN).unwrap();
    // 2026-09-21 14:13:20, minus an hour, plus 13 days.
    assert_eq!(dates(&identity.certificate), ["260921131320", "261004131320"]);
}

#[test]
fn the_next_certificate_is_announced_before_and_takes_over_in_time() {
    let certificates = Certificates::generate(BEGIN).unwrap();
    let [first, second] = certificates.hashes();
    assert_ne!(first, second);

    assert!(!certificates.renew(after(USE - 1)).unwrap());
    assert_eq!(certificates.hashes(), [first, second]);
    assert!(certificates.renew(after(USE)).unwrap());
    let [now, third] = certificates.hashes();
    assert_eq!(now, second);
    assert!(certificates.renew(after(2 * USE)).unwrap());
    assert_eq!(certificates.hashes()[0], third);
}

#[test]
fn after_too_long_a_pause_both_are_new() {
    let certificates = Certificates::generate(BEGIN).unwrap();
    let old = certificates.hashes();
    for now in [after(30 * DAY_MS), Millis(BEGIN.0 - DAY_MS)] {
        assert!(certificates.renew(now).unwrap());
        let new = certificates.hashes();
        assert!(!old.contains(&new[0]) && !old.contains(&new[1]));
        assert!(!certificates.renew(now).unwrap());
    }
}

#[test]
fn a_restart_keeps_what_was_announced() {
    let storage = MemoryStorage::default();
    let announced = storage.hashes(BEGIN);

    let again = storage.hashes(after(DAY_MS));
    let later = storage.hashes(after(15 * DAY_MS));
    let last = storage.hashes(after(15 * DAY_MS));

    assert_eq!(again, announced);
    assert_eq!(later[0], announced[1]);
    assert_eq!(last, later);
}

#[test]
fn what_makes_no_sense_is_replaced() {
    let storage = MemoryStorage::default();
    storage.hashes(BEGIN);
    let whole = storage.bytes().unwrap();
    let mut too_long = whole.clone();
    too_long.resize(STORED_BYTES_MAX + 1, 7);
    for wrong in [&[][..], b"garbage", &whole[..whole.len() / 2], &too_long] {
        storage.shelf().bytes = Some(wrong.to_vec());
        let made = storage.hashes(BEGIN);
        assert_eq!(storage.hashes(BEGIN), made);
        assert_ne!(storage.bytes().as_deref(), Some(wrong));
    }
}

#[test]
fn a_storage_that_fails_is_an_error_that_names_it_and_the_certificate_in_use_stays() {
    let storage = MemoryStorage::default();
    let certificates = storage.open(BEGIN).unwrap();
    let (announced, stored) = (certificates.hashes(), storage.bytes());
    storage.shelf().is_shut = true;

    for failed in [certificates.renew(after(USE)).map(drop), storage.open(BEGIN).map(drop)] {
        let error = failed.unwrap_err();
        assert!(matches!(error, TlsCertificateError::Storage { .. }), "{error}");
        assert!(error.to_string().starts_with("certificates in memory: "), "{error}");
    }

    assert_eq!((certificates.hashes(), storage.bytes()), (announced, stored));
    storage.shelf().is_shut = false;
    assert!(certificates.renew(after(USE)).unwrap());
}

#[test]
fn pages_are_shown_the_certificate_of_an_authority_and_programs_ours() {
    let issuer = Issuer::new();
    let authority = issuer.give("plaza.example").authority();
    let own = Certificates::generate(BEGIN).unwrap().with(Some(authority));
    let shake = |client| shake(own.server(&[ALPN, PAGES_ALPN]).unwrap(), client, "plaza.example");
    let trusting = |alpn: &[u8]| {
        let mut client = rustls::ClientConfig::clone(&issuer.client());
        client.alpn_protocols = vec![alpn.to_vec()];
        Arc::new(client)
    };
    let pinned = |alpn| Arc::new(tls::client(Pin::new(&own.hashes()), alpn).unwrap());

    shake(trusting(PAGES_ALPN)).unwrap();
    shake(pinned(ALPN)).unwrap();
    assert!(shake(trusting(ALPN)).is_err() && shake(pinned(PAGES_ALPN)).is_err());
}
