use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    sync::atomic::{AtomicU32, Ordering},
};

use super::*;
use crate::{
    authority::tests::{Files, shake},
    gateway::ALPN,
    tls::{self, Pin},
};

const DAY_MS: u64 = 24 * HOUR_MS;

/// Some day in 2026.
const BEGIN: Millis = Millis(1_790_000_000_000);

fn after(ms: u64) -> Millis {
    Millis(BEGIN.0 + ms)
}

/// A directory of its own, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name =
            format!("certificates-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("certificates")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

/// The two times in a certificate, which DER writes as digits with a Z behind.
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
    let scratch = Scratch::new();
    let announced = Certificates::open(&scratch.file(), BEGIN).unwrap().hashes();

    let again = Certificates::open(&scratch.file(), after(DAY_MS)).unwrap().hashes();
    let later = Certificates::open(&scratch.file(), after(15 * DAY_MS)).unwrap().hashes();
    let last = Certificates::open(&scratch.file(), after(15 * DAY_MS)).unwrap().hashes();

    assert_eq!(again, announced);
    assert_eq!(later[0], announced[1]);
    assert_eq!(last, later);
    let mode = fs::metadata(scratch.file()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_file_that_makes_no_sense_is_replaced() {
    let scratch = Scratch::new();
    let whole = {
        Certificates::open(&scratch.file(), BEGIN).unwrap();
        fs::read(scratch.file()).unwrap()
    };
    let too_long = vec![7; usize::try_from(FILE_BYTES_MAX).unwrap() + 1];
    for wrong in [&[][..], b"garbage", &whole[..whole.len() / 2], &too_long] {
        fs::write(scratch.file(), wrong).unwrap();
        let made = Certificates::open(&scratch.file(), BEGIN).unwrap().hashes();
        assert_eq!(Certificates::open(&scratch.file(), BEGIN).unwrap().hashes(), made);
    }
}

#[test]
fn a_directory_that_is_not_there_is_an_error_that_names_the_file() {
    let missing = Path::new("/nonexistent/certificates");
    let error = Certificates::open(missing, BEGIN).unwrap_err().to_string();
    assert!(error.contains("/nonexistent/certificates"), "{error}");
}

#[test]
fn pages_are_shown_the_certificate_of_an_authority_and_programs_ours() {
    let files = Files::new("certificates-authority");
    let authority = Authority::open(&files.chain(), &files.key()).unwrap();
    let own = Certificates::generate(BEGIN).unwrap().with(Some(authority));
    let shake = |client| shake(own.server(&[ALPN, PAGES_ALPN]).unwrap(), client, "plaza.example");
    let trusting = |alpn: &[u8]| {
        let mut client = rustls::ClientConfig::clone(&files.client());
        client.alpn_protocols = vec![alpn.to_vec()];
        Arc::new(client)
    };
    let pinned = |alpn| Arc::new(tls::client(Pin::new(&own.hashes()), alpn).unwrap());

    shake(trusting(PAGES_ALPN)).unwrap();
    shake(pinned(ALPN)).unwrap();
    assert!(shake(trusting(ALPN)).is_err() && shake(pinned(PAGES_ALPN)).is_err());
}
