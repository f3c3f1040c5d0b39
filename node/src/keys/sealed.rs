//! Sealed keys: a key that only a passphrase opens, for backups and for other machines.
//!
//! ```text
//! # Sealed secret key of Metatopia. Only its passphrase opens it.
//! # public 3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29
//! metatopia-sealed-key-1 SALT NONCE SEALED
//! ```
//! Argon2id makes a key of the passphrase and the salt, with 64 MiB and three passes: more than the least
//! that RFC 9106 advises where memory is scarce. XChaCha20-Poly1305 seals the 32 bytes of the secret with it.
//! The first word of the line stands for all of this, so another cost is another word.

use std::path::{Path, PathBuf};

use argon2::{Algorithm, Argon2, Params, Version};
use chacha20poly1305::{
    KeyInit as _, XChaCha20Poly1305, XNonce,
    aead::{Aead as _, Payload},
};
use metatopia_types::{Sign as _, SigningKey};
use zeroize::Zeroizing;

use super::{CreateKeyError, LoadKeyError, hex, parse_hex, read_private, save_private};

/// The longest passphrase, in bytes.
pub const PASSPHRASE_BYTES_MAX: usize = 1_024;

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

/// Says why a sealed key was not opened.
#[derive(Debug, thiserror::Error)]
pub enum UnsealError {
    /// The file is not there, is open to others, or is too long.
    #[error(transparent)]
    Load(#[from] LoadKeyError),
    /// The text is not that of a sealed key.
    #[error("{} is no sealed key: it has no line of `{TAG}` and three words of digits", path.display())]
    Format {
        /// The path of the file.
        path: PathBuf,
    },
    /// The passphrase is another one, or the file was changed: nobody can tell which.
    #[error("the passphrase does not open {}: it is another one, or the file is damaged", path.display())]
    Passphrase {
        /// The path of the file.
        path: PathBuf,
    },
}

/// Seals a key with a passphrase, and writes it to a new file of mode 0600.
///
/// # Errors
/// See [`CreateKeyError`].
pub fn seal(path: &Path, key: &SigningKey, passphrase: &[u8]) -> Result<(), CreateKeyError> {
    let (mut salt, mut nonce) = ([0; SALT], [0; NONCE]);
    getrandom::fill(&mut salt).map_err(CreateKeyError::Random)?;
    getrandom::fill(&mut nonce).map_err(CreateKeyError::Random)?;
    let secret = key.secret();
    let payload = Payload { msg: &*secret, aad: TAG.as_bytes() };
    let sealed = cipher(passphrase, &salt).encrypt(XNonce::from_slice(&nonce), payload);
    let sealed = sealed.expect("32 bytes are not too many for the cipher");
    let words = [hex(&salt), hex(&nonce), hex(&sealed)].join(" ");
    let text = format!("{COMMENT}# public {}\n{TAG} {words}\n", key.public());
    save_private(path, text.as_bytes())
}

/// Opens a sealed key.
///
/// # Errors
/// See [`UnsealError`]. The permissions are those of key files: who can read a sealed key can try passphrases.
pub fn unseal(path: &Path, passphrase: &[u8]) -> Result<SigningKey, UnsealError> {
    let text = read_private(path)?;
    let format = || UnsealError::Format { path: path.to_owned() };
    let (salt, nonce, sealed) = parse(&text).ok_or_else(format)?;
    let payload = Payload { msg: &sealed[..], aad: TAG.as_bytes() };
    let secret = cipher(passphrase, &salt).decrypt(XNonce::from_slice(&nonce[..]), payload);
    let secret = secret.map_err(|_| UnsealError::Passphrase { path: path.to_owned() })?;
    let secret = Zeroizing::new(secret);
    let mut seed = Zeroizing::new([0; 32]);
    seed.copy_from_slice(&secret);
    Ok(SigningKey::from_seed(*seed))
}

/// Says whether a text is that of a sealed key, sound or not.
pub(super) fn is_sealed(line: &[u8]) -> bool {
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

/// The salt, the nonce and the sealed secret of a file.
type SealedParts = (Zeroizing<[u8; SALT]>, Zeroizing<[u8; NONCE]>, Zeroizing<[u8; SEALED]>);

fn parse(text: &[u8]) -> Option<SealedParts> {
    let text = std::str::from_utf8(text).ok()?;
    let lines = text.lines().map(str::trim);
    let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut words = lines.next()?.strip_prefix(TAG)?.strip_prefix(' ')?.split(' ');
    let mut word = || words.next().map(str::as_bytes);
    let found = (parse_hex(word()?)?, parse_hex(word()?)?, parse_hex(word()?)?);
    (words.next().is_none() && lines.next().is_none()).then_some(found)
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use super::*;
    use crate::{keys, scratch::Scratch};

    fn sealed(scratch: &Scratch) -> (PathBuf, SigningKey) {
        let (path, key) = (scratch.0.join("sealed"), SigningKey::from_seed([7; 32]));
        seal(&path, &key, b"correct horse").expect("a new file");
        (path, key)
    }

    #[test]
    fn a_passphrase_opens_what_it_sealed_and_no_other_one_does() {
        let scratch = Scratch::made("sealed-opens");
        let (path, key) = sealed(&scratch);

        let opened = unseal(&path, b"correct horse").expect("its passphrase");

        assert_eq!(opened.public(), key.public());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains(&"07".repeat(8)), "the secret is not in the file");
        for wrong in [&b"correct horsf"[..], b"", b"correct horse "] {
            let error = unseal(&path, wrong).unwrap_err();
            assert!(matches!(error, UnsealError::Passphrase { .. }), "{error}");
        }
    }

    #[test]
    fn a_damaged_file_is_told_from_one_of_another_kind() {
        let scratch = Scratch::made("sealed-damaged");
        let (path, _) = sealed(&scratch);
        let text = fs::read_to_string(&path).unwrap();
        let last = text.trim_end().chars().last().unwrap();
        let other = if last == '0' { "1" } else { "0" };
        let flipped = format!("{}{other}\n", &text.trim_end()[..text.trim_end().len() - 1]);
        fs::write(&path, flipped).unwrap();
        let error = unseal(&path, b"correct horse").unwrap_err();
        assert!(matches!(error, UnsealError::Passphrase { .. }), "{error}");

        let cut = &text[..text.len() - 9];
        let twice = format!("{text}{}", text.lines().last().unwrap());
        for wrong in ["", "# nothing\n", cut, &twice, &text.replace("-key-1", "-key-2")] {
            fs::write(&path, wrong).unwrap();
            let error = unseal(&path, b"correct horse").unwrap_err();
            assert!(matches!(error, UnsealError::Format { .. }), "{error}");
        }
    }

    #[test]
    fn a_sealed_key_that_others_can_read_is_refused_and_none_is_overwritten() {
        let scratch = Scratch::made("sealed-exposed");
        let (path, key) = sealed(&scratch);
        let error = seal(&path, &key, b"x").unwrap_err();
        assert!(matches!(error, CreateKeyError::Exists { .. }), "{error}");

        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let error = unseal(&path, b"correct horse").unwrap_err();
        let exposed = matches!(error, UnsealError::Load(LoadKeyError::Exposed { mode: 0o644, .. }));
        assert!(exposed, "{error}");
    }

    #[test]
    fn a_program_that_needs_the_key_says_that_it_is_sealed() {
        let scratch = Scratch::made("sealed-used");
        let (path, _) = sealed(&scratch);
        let error = keys::load(&path).unwrap_err().to_string();
        assert!(error.contains("metatopia keys import"), "{error}");
    }
}
