//! Files of sealed keys: a key that only a passphrase opens, for backups and for other machines.
//!
//! ```text
//! # Sealed secret key of Metatopia. Only its passphrase opens it.
//! # public 3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29
//! metatopia-sealed-key-1 SALT NONCE SEALED
//! ```
//! [`metatopia_client::keys`] seals and opens the text, for the page does the same.

use std::path::{Path, PathBuf};

use metatopia_client::keys::{self as texts, KeyText, SEAL_RANDOM, UnsealTextError};
use metatopia_types::SigningKey;

use super::{CreateKeyError, LoadKeyError, read_private, save_private};

/// The longest passphrase, in bytes.
pub const PASSPHRASE_BYTES_MAX: usize = 1_024;

/// Says why a sealed key was not opened.
#[derive(Debug, thiserror::Error)]
pub enum UnsealError {
    /// The file is not there, is open to others, or is too long.
    #[error(transparent)]
    Load(#[from] LoadKeyError),
    /// The text is not that of a sealed key.
    #[error("{}: {}", path.display(), UnsealTextError::Format)]
    Format {
        /// The path of the file.
        path: PathBuf,
    },
    /// The passphrase is another one, or the file was changed: nobody can tell which.
    #[error("{}: {}", path.display(), UnsealTextError::Passphrase)]
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
    let mut random = [0; SEAL_RANDOM];
    getrandom::fill(&mut random).map_err(CreateKeyError::Random)?;
    // The rotation has a file of its own beside it.
    let text = KeyText { key: SigningKey::from_seed(*key.secret()), rotation: None };
    save_private(path, texts::seal(&text, passphrase, &random).as_bytes())
}

/// Opens a sealed key.
///
/// # Errors
/// See [`UnsealError`]. The permissions are those of key files: who can read a sealed key can try passphrases.
pub fn unseal(path: &Path, passphrase: &[u8]) -> Result<SigningKey, UnsealError> {
    let text = read_private(path)?;
    texts::unseal(&text, passphrase).map(|opened| opened.key).map_err(|error| {
        let path = path.to_owned();
        match error {
            UnsealTextError::Format => UnsealError::Format { path },
            UnsealTextError::Passphrase => UnsealError::Passphrase { path },
        }
    })
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use metatopia_types::Sign as _;

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
