//! Sealed keys: a key that only a passphrase opens, for backups and for other devices.
//!
//! ```text
//! metatopia-sealed-key-1 SALT NONCE SEALED
//! ```
//! Argon2id makes a key of the passphrase and the salt, with 64 MiB and three passes: more than the least
//! that RFC 9106 advises where memory is scarce. XChaCha20-Poly1305 seals the 32 bytes of the secret with it.
//! The first word of the line stands for all of this, so another cost is another word.

use alloc::{
    format,
    string::{String, ToString as _},
};

use argon2::{Algorithm, Argon2, Params, Version};
use chacha20poly1305::{
    KeyInit as _, XChaCha20Poly1305, XNonce,
    aead::{Aead as _, Payload},
};
use metatopia_types::{Rotation, Sign as _, SigningKey};
use zeroize::Zeroizing;

use super::{KeyText, ROTATION_TAG, hex, lines, parse_hex, parse_rotation, rotation_line};

/// The first word of the line, which names the format, its algorithms and their cost.
const TAG: &str = "metatopia-sealed-key-1";

const COMMENT: &str = "# Sealed secret key of Metatopia. Only its passphrase opens it.\n";

const MEMORY_KIB: u32 = 64 * 1_024;
const PASSES: u32 = 3;
const LANES: u32 = 1;

const SALT: usize = 16;
const NONCE: usize = 24;
/// The secret, and a tag of 16 bytes.
const SEALED: usize = 48;

/// Random bytes that a seal takes.
pub const SEAL_RANDOM: usize = SALT + NONCE;

/// Says why a sealed key was not opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnsealTextError {
    /// The text is not that of a sealed key.
    #[error("it is no sealed key: it has no line of `{TAG}` and three words of digits")]
    Format,
    /// The passphrase is another one, or the text was changed: nobody can tell which.
    #[error("the passphrase does not open it: it is another one, or the text is damaged")]
    Passphrase,
}

/// Seals a key with a passphrase, and returns the text for a file. Its rotation stands beside it unsealed, because it
/// is no secret. Nobody may use the random bytes again.
///
/// # Panics
/// When the passphrase has more than 4 GiB.
#[must_use]
pub fn seal(text: &KeyText, passphrase: &[u8], random: &[u8; SEAL_RANDOM]) -> String {
    let (salt, nonce) = random.split_at(SALT);
    let salt: &[u8; SALT] = salt.try_into().expect("it was split there");
    let secret = text.key.secret();
    let payload = Payload { msg: &*secret, aad: TAG.as_bytes() };
    let sealed = cipher(passphrase, salt).encrypt(XNonce::from_slice(nonce), payload);
    let sealed = sealed.expect("32 bytes are not too many for the cipher");
    let words = [hex(salt), hex(nonce), hex(&sealed)].join(" ");
    let rotation = text.rotation.as_ref().map(rotation_line);
    let rotation = rotation.map_or_else(String::new, |line| format!("{line}\n"));
    format!("{COMMENT}# public {}\n{TAG} {words}\n{rotation}", text.key.public())
}

/// Opens a sealed key.
///
/// # Errors
/// See [`UnsealTextError`].
///
/// # Panics
/// When the passphrase has more than 4 GiB.
pub fn unseal(text: &[u8], passphrase: &[u8]) -> Result<KeyText, UnsealTextError> {
    let (salt, nonce, sealed, rotation) = parse(text).ok_or(UnsealTextError::Format)?;
    let payload = Payload { msg: &sealed[..], aad: TAG.as_bytes() };
    let secret = cipher(passphrase, &salt).decrypt(XNonce::from_slice(&nonce[..]), payload);
    let secret = Zeroizing::new(secret.map_err(|_| UnsealTextError::Passphrase)?);
    let mut seed = Zeroizing::new([0; 32]);
    seed.copy_from_slice(&secret);
    let key = SigningKey::from_seed(*seed);
    match rotation {
        Some(rotation) if rotation.new != key.public() => Err(UnsealTextError::Format),
        rotation => Ok(KeyText { key, rotation }),
    }
}

/// Says whether a line is that of a sealed key, sound or not.
#[must_use]
pub fn is_sealed(line: &[u8]) -> bool {
    line.starts_with(TAG.as_bytes())
}

fn cipher(passphrase: &[u8], salt: &[u8; SALT]) -> XChaCha20Poly1305 {
    let params = Params::new(MEMORY_KIB, PASSES, LANES, Some(32)).expect("a cost that is allowed");
    let mut key = Zeroizing::new([0; 32]);
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    argon2
        .hash_password_into(passphrase, salt, &mut *key)
        .expect("a passphrase and a salt of lengths that are allowed");
    XChaCha20Poly1305::new((&*key).into())
}

/// The salt, the nonce and the sealed secret of a text, and the rotation beside them.
type SealedParts =
    (Zeroizing<[u8; SALT]>, Zeroizing<[u8; NONCE]>, Zeroizing<[u8; SEALED]>, Option<Rotation>);

fn parse(text: &[u8]) -> Option<SealedParts> {
    let mut lines = lines(text).map(|(_, line)| line);
    let line = core::str::from_utf8(lines.next()?).ok()?.to_string();
    let mut words = line.strip_prefix(TAG)?.strip_prefix(' ')?.split(' ');
    let mut word = || words.next().map(str::as_bytes);
    let (salt, nonce, sealed) = (parse_hex(word()?)?, parse_hex(word()?)?, parse_hex(word()?)?);
    let rotation = match lines.next() {
        Some(line) if line.starts_with(ROTATION_TAG.as_bytes()) => Some(parse_rotation(line)?),
        Some(_) => return None,
        None => None,
    };
    (words.next().is_none() && lines.next().is_none()).then_some((salt, nonce, sealed, rotation))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passphrase_opens_what_it_sealed_with_its_rotation_and_no_other_one_does() {
        let [old, key] = [1, 2].map(|n| SigningKey::from_seed([n; 32]));
        let rotation = Some(Rotation::new(&old, &key, 1));
        let sealed = seal(&KeyText { key, rotation }, b"correct horse", &[9; SEAL_RANDOM]);
        let opened = unseal(sealed.as_bytes(), b"correct horse").expect("its passphrase");
        assert_eq!((*opened.key.secret(), opened.rotation), ([2; 32], rotation));
        assert!(!sealed.contains(&"02".repeat(8)), "the secret is not in the text");
        let wrong = unseal(sealed.as_bytes(), b"correct horsf");
        assert_eq!(wrong.unwrap_err(), UnsealTextError::Passphrase);
        for spoilt in ["", &sealed.replace(" ", "  "), &format!("{sealed}{sealed}"), &sealed[..200]]
        {
            let read = unseal(spoilt.as_bytes(), b"correct horse");
            assert_eq!(read.unwrap_err(), UnsealTextError::Format, "{spoilt}");
        }
    }
}
