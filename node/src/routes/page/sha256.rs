//! SHA-256, which browsers and terminals compute too.

use rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256;

/// Returns the SHA-256 of these bytes in lowercase hexadecimal digits.
pub(super) fn sha256(bytes: &[u8]) -> String {
    // TLS brings it.
    let suite = TLS13_AES_128_GCM_SHA256.tls13().expect("it is a suite of TLS 1.3");
    let hash = suite.common.hash_provider.hash(bytes);
    hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_one_that_sha256sum_prints() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(b"abc"), abc);
    }
}
