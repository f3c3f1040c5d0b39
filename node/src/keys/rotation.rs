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

use metatopia_client::keys::{parse_rotation, rotation_line};
use metatopia_types::{PublicKey, Rotation, SigningKey};

use super::{CreateKeyError, LoadKeyError, create_as, read_private, save_private};

const COMMENT: &str = "# Rotation of a key of Metatopia: both keys signed that the new one takes the place \
                       of the old one.\n";

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

/// Makes a new key file, sealed if there is a passphrase, and beside it the document by which its key takes the place
/// of another one.
///
/// # Errors
/// See [`CreateKeyError`]. A key without its document may be left then, and is of no harm.
pub fn rotate(
    out: &Path,
    (old, passphrase): (&SigningKey, Option<&[u8]>),
    number: u32,
) -> Result<(SigningKey, Rotation), CreateKeyError> {
    let path = rotation_path(out);
    if path.symlink_metadata().is_ok() {
        return Err(CreateKeyError::Exists { path });
    }
    let new = create_as(out, passphrase)?;
    let rotation = Rotation::new(old, &new, number);
    save_rotation(&path, &rotation)?;
    Ok((new, rotation))
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
    save_private(path, format!("{COMMENT}{}\n", rotation_line(rotation)).as_bytes())
}

/// Returns the rotation beside a key file, or in it; none if the key took no other one's place.
///
/// # Errors
/// See [`LoadRotationError`].
pub fn load_rotation(key: &Path, public: PublicKey) -> Result<Option<Rotation>, LoadRotationError> {
    let path = rotation_path(key);
    let text = match read_private(&path) {
        Ok(text) => text,
        Err(LoadKeyError::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            let found = inside(key)?;
            return Ok(found.filter(|rotation| rotation.new == public));
        }
        Err(error) => return Err(error.into()),
    };
    let found = parse(&text);
    match found {
        None => Err(LoadRotationError::Format { path }),
        Some(rotation) if rotation.new != public => {
            Err(LoadRotationError::OtherKey { path, to: rotation.new })
        }
        found => Ok(found),
    }
}

/// Returns the only rotation of a text.
fn parse(text: &[u8]) -> Option<Rotation> {
    let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    let rotation = parse_rotation(lines.next()?)?;
    lines.next().is_none().then_some(rotation)
}

/// Returns the rotation that stands in the key file itself, as the page writes it.
fn inside(key: &Path) -> Result<Option<Rotation>, LoadKeyError> {
    let text = match read_private(key) {
        Ok(text) => text,
        Err(LoadKeyError::Read { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    Ok(lines.filter_map(parse_rotation).next())
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use metatopia_client::keys::KeyText;
    use metatopia_types::Sign as _;

    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn a_rotation_lies_beside_the_new_key_and_is_signed_by_both() {
        let scratch = Scratch::made("rotation-beside");
        let (old, out) = (SigningKey::from_seed([7; 32]), scratch.0.join("new.key"));
        let made = rotate(&out, (&old, None), 3).expect("new files").1;
        let new = super::super::load(&out).expect("the new key");

        assert_eq!((made.old, made.new, made.number), (old.public(), new.public(), 3));
        assert_eq!(load_rotation(&out, new.public()).expect("it is sound"), Some(made));
        let again = rotate(&out, (&old, None), 4).map(|_| ()).unwrap_err();
        assert!(matches!(again, CreateKeyError::Exists { .. }), "{again}");
        assert_eq!(load_rotation(&scratch.0.join("other"), new.public()).expect("none"), None);
    }

    /// The page keeps the rotation in the text of its key, and a file of that text is a key file too.
    #[test]
    fn a_key_file_with_the_text_of_the_page_holds_its_rotation_itself() {
        let scratch = Scratch::made("rotation-inside");
        let [old, new] = [1, 2].map(|n| SigningKey::from_seed([n; 32]));
        let (made, public) = (Rotation::new(&old, &new, 1), new.public());
        let text = KeyText { key: new, rotation: Some(made) }.page_text();
        let path = scratch.file("page.key", text.as_bytes());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(super::super::load(&path).expect("a key").public(), public);
        assert_eq!(load_rotation(&path, public).expect("it is sound"), Some(made));
    }

    /// A key that was exported left its rotation behind, and the other machine was a new person everywhere.
    #[test]
    fn a_rotation_goes_with_its_key_and_overwrites_nothing() {
        let scratch = Scratch::made("rotation-carried");
        let (out, copy) = (scratch.0.join("new.key"), scratch.0.join("new.sealed"));
        let made =
            rotate(&out, (&SigningKey::from_seed([1; 32]), None), 3).expect("it is written").1;
        carry_rotation(&copy, &made).expect("it is written");
        assert_eq!(load_rotation(&copy, made.new).expect("it is sound"), Some(made));
        let again = carry_rotation(&copy, &made).unwrap_err();
        assert!(matches!(again, CreateKeyError::Exists { .. }), "{again}");
    }

    #[test]
    fn a_rotation_that_is_damaged_or_of_another_key_is_told() {
        let scratch = Scratch::made("rotation-damaged");
        let (old, out) = (SigningKey::from_seed([7; 32]), scratch.0.join("new.key"));
        let made = rotate(&out, (&old, None), 1).expect("new files").1;
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
