//! The document of a rotation, kept beside the key that took the place of another one.
//!
//! ```text
//! # Rotation of a key of Metatopia: both keys signed that the new one takes the place of the old one.
//! metatopia-rotation-1 DIGITS
//! ```

use std::{
    io,
    path::{Path, PathBuf},
};

use metatopia_types::{Ed25519, PublicKey, Rotation, SigningKey, wire};

use super::{CreateKeyError, LoadKeyError, create, fill_from_hex, hex, read_private, save_private};

/// The first word of the line, which names the format and its version.
const TAG: &str = "metatopia-rotation-1";

const COMMENT: &str = "# Rotation of a key of Metatopia: both keys signed that the new one takes the place \
                       of the old one.\n";

/// The longest document, in bytes: two keys, two signatures and a number.
const DOCUMENT_BYTES_MAX: usize = 256;

/// Says why the rotation beside a key was not used.
#[derive(Debug, thiserror::Error)]
pub enum LoadRotationError {
    /// The file cannot be read, or is open to others.
    #[error(transparent)]
    Load(#[from] LoadKeyError),
    /// The text is no rotation that both keys signed.
    #[error("{} is no rotation that both keys signed; remove it to go without one", path.display())]
    Format {
        /// The path of the file.
        path: PathBuf,
    },
    /// The rotation leads to another key than the one beside it.
    #[error("{} leads to the key {to}, which is not the one beside it", path.display())]
    OtherKey {
        /// The path of the file.
        path: PathBuf,
        /// The key that it leads to.
        to: PublicKey,
    },
}

/// Returns where the rotation of a key file lies.
#[must_use]
pub fn rotation_path(key: &Path) -> PathBuf {
    let mut path = key.as_os_str().to_owned();
    path.push(".rotation");
    path.into()
}

/// Makes a new key file, and beside it the document by which its key takes the place of another one.
///
/// # Errors
/// See [`CreateKeyError`]. A key without its document may be left then, and is of no harm.
pub fn rotate(out: &Path, old: &SigningKey, number: u32) -> Result<Rotation, CreateKeyError> {
    let path = rotation_path(out);
    if path.symlink_metadata().is_ok() {
        return Err(CreateKeyError::Exists { path });
    }
    let rotation = Rotation::new(old, &create(out)?, number);
    save_rotation(&path, &rotation)?;
    Ok(rotation)
}

/// Writes the rotation of a key beside another file with that key.
///
/// # Errors
/// See [`CreateKeyError`]: a rotation that lies there is never overwritten.
pub fn carry_rotation(out: &Path, rotation: &Rotation) -> Result<(), CreateKeyError> {
    save_rotation(&rotation_path(out), rotation)
}

/// Writes a document.
fn save_rotation(path: &Path, rotation: &Rotation) -> Result<(), CreateKeyError> {
    let digits = hex(&wire::encode(rotation));
    save_private(path, format!("{COMMENT}{TAG} {digits}\n").as_bytes())
}

/// Returns the rotation beside a key file; none if the key took no other one's place.
///
/// # Errors
/// See [`LoadRotationError`].
pub fn load_rotation(key: &Path, public: PublicKey) -> Result<Option<Rotation>, LoadRotationError> {
    let path = rotation_path(key);
    let text = match read_private(&path) {
        Ok(text) => text,
        Err(LoadKeyError::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            return Ok(None);
        }
        Err(error) => return Err(error.into()),
    };
    let found = parse(&text).filter(|rotation| rotation.verify(&Ed25519));
    match found {
        None => Err(LoadRotationError::Format { path }),
        Some(rotation) if rotation.new != public => {
            Err(LoadRotationError::OtherKey { path, to: rotation.new })
        }
        found => Ok(found),
    }
}

fn parse(text: &[u8]) -> Option<Rotation> {
    let text = std::str::from_utf8(text).ok()?;
    let mut lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let digits = lines.next()?.strip_prefix(TAG)?.strip_prefix(' ')?;
    let mut bytes = vec![0; digits.len() / 2];
    fill_from_hex(&mut bytes, digits.as_bytes())?;
    let rotation = wire::decode(&bytes, DOCUMENT_BYTES_MAX).ok()?;
    lines.next().is_none().then_some(rotation)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use metatopia_types::Sign as _;

    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn a_rotation_lies_beside_the_new_key_and_is_signed_by_both() {
        let scratch = Scratch::made("rotation-beside");
        let (old, out) = (SigningKey::from_seed([7; 32]), scratch.0.join("new.key"));
        let made = rotate(&out, &old, 3).expect("new files");
        let new = super::super::load(&out).expect("the new key");

        assert_eq!((made.old, made.new, made.number), (old.public(), new.public(), 3));
        assert_eq!(load_rotation(&out, new.public()).expect("it is sound"), Some(made));
        let again = rotate(&out, &old, 4).unwrap_err();
        assert!(matches!(again, CreateKeyError::Exists { .. }), "{again}");
        assert_eq!(load_rotation(&scratch.0.join("other"), new.public()).expect("none"), None);
    }

    /// A key that was exported left its rotation behind, and the other machine was a new person everywhere.
    #[test]
    fn a_rotation_goes_with_its_key_and_overwrites_nothing() {
        let scratch = Scratch::made("rotation-carried");
        let (out, copy) = (scratch.0.join("new.key"), scratch.0.join("new.sealed"));
        let made = rotate(&out, &SigningKey::from_seed([1; 32]), 3).expect("it is written");
        carry_rotation(&copy, &made).expect("it is written");
        assert_eq!(load_rotation(&copy, made.new).expect("it is sound"), Some(made));
        let again = carry_rotation(&copy, &made).unwrap_err();
        assert!(matches!(again, CreateKeyError::Exists { .. }), "{again}");
    }

    #[test]
    fn a_rotation_that_is_damaged_or_of_another_key_is_told() {
        let scratch = Scratch::made("rotation-damaged");
        let (old, out) = (SigningKey::from_seed([7; 32]), scratch.0.join("new.key"));
        let made = rotate(&out, &old, 1).expect("new files");
        let other = load_rotation(&out, old.public()).unwrap_err();
        assert!(
            matches!(other, LoadRotationError::OtherKey { to, .. } if to == made.new),
            "{other}"
        );

        let path = rotation_path(&out);
        let text = fs::read_to_string(&path).unwrap();
        let line = text.lines().last().unwrap();
        let flipped = text.replace(&made.old.to_string(), &made.new.to_string());
        let cut = text.trim_end()[..text.len() - 9].to_owned();
        let texts =
            [String::new(), cut, format!("{text}{line}"), flipped, text.replace("-1 ", "-2 ")];
        for wrong in texts {
            fs::write(&path, &wrong).unwrap();
            let error = load_rotation(&out, made.new).unwrap_err();
            assert!(matches!(error, LoadRotationError::Format { .. }), "{wrong}: {error}");
        }
    }
}
