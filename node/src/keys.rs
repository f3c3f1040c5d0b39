//! Key files: one secret each, which only its owner can read.
//!
//! ```text
//! # Secret key of Metatopia. Whoever can read it can act in its name.
//! # public 3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29
//! metatopia-key-1 0000000000000000000000000000000000000000000000000000000000000000
//! ```
//! Lines that begin with `#` and empty lines mean nothing; there is exactly one key line, which may also be the
//! text that the page shows ([`metatopia_client::keys`] says what is read). A file whose group or others have any
//! right, or which belongs to another user, is refused: a key that others could read is not a secret any more. The
//! content is wiped from memory after use and appears in no message.

use std::{
    fs::{DirBuilder, File, OpenOptions, Permissions},
    io::{self, Read as _, Write as _},
    os::{
        fd::OwnedFd,
        unix::fs::{
            DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
        },
    },
    path::{Path, PathBuf},
};

use libp2p::identity::Keypair;
use metatopia_client::keys::{KEY_TAG, KEY_TEXT_MAX, KeyText, KeyTextError};
use metatopia_types::{Sign as _, SigningKey};
use zeroize::Zeroizing;

/// The longest key file with its comments, in bytes.
pub const FILE_BYTES_MAX: usize = KEY_TEXT_MAX;

const COMMENT: &str = "# Secret key of Metatopia. Whoever can read it can act in its name.\n";

/// Says why a key file was not used.
#[derive(Debug, thiserror::Error)]
pub enum LoadKeyError {
    /// The file is not there, or cannot be read.
    #[error("key file {}: {source}", path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The path is a directory, a pipe, or something else.
    #[error("key file {} is not a file", path.display())]
    NotAFile {
        /// The path that was given.
        path: PathBuf,
    },
    /// Other users could read or change the file.
    #[error("key file {} has mode {mode:04o}, which lets others in: chmod 600", path.display())]
    Exposed {
        /// The path of the file.
        path: PathBuf,
        /// The permission bits of the file.
        mode: u32,
    },
    /// The file belongs to another user.
    #[error("key file {} belongs to user {owner}, not to user {user}", path.display())]
    Foreign {
        /// The path of the file.
        path: PathBuf,
        /// The owner of the file.
        owner: u32,
        /// The user that runs this program.
        user: u32,
    },
    /// The text is not that of a key file.
    #[error("key file {}: {source}", path.display())]
    Format {
        /// The path of the file.
        path: PathBuf,
        /// The fault in the text.
        source: KeyTextError,
    },
}

/// Says why no key file was made.
#[derive(Debug, thiserror::Error)]
pub enum CreateKeyError {
    /// The path exists, and a key is never overwritten.
    #[error("{} exists; a key is never overwritten", path.display())]
    Exists {
        /// The path that was given.
        path: PathBuf,
    },
    /// The file or its directory could not be written.
    #[error("key file {}: {source}", path.display())]
    Write {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The system has no randomness to give.
    #[error("no randomness: {0}")]
    Random(getrandom::Error),
}

/// Makes a new key and writes it to a new file of mode 0600. Missing directories are created with
/// mode 0700. The file is on the disk when this returns.
///
/// # Errors
/// See [`CreateKeyError`]; a file that could not be finished is removed.
pub fn create(path: &Path) -> Result<SigningKey, CreateKeyError> {
    create_as(path, None)
}

/// Makes a new key as [`create`] does, and seals it with a passphrase if there is one: its secret was on no disk.
///
/// # Errors
/// See [`CreateKeyError`]; a file that could not be finished is removed.
pub fn create_as(path: &Path, passphrase: Option<&[u8]>) -> Result<SigningKey, CreateKeyError> {
    let mut seed = Zeroizing::new([0; 32]);
    getrandom::fill(&mut *seed).map_err(CreateKeyError::Random)?;
    let key = SigningKey::from_seed(*seed);
    match passphrase {
        Some(passphrase) => seal(path, &key, passphrase)?,
        None => save(path, &key)?,
    }
    Ok(key)
}

/// Writes a key to a new file, as [`create`] does.
///
/// # Errors
/// See [`CreateKeyError`]; a file that could not be finished is removed.
pub fn save(path: &Path, key: &SigningKey) -> Result<(), CreateKeyError> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut digits = Zeroizing::new([0; 64]);
    for (pair, byte) in digits.chunks_exact_mut(2).zip(*key.secret()) {
        pair[0] = DIGITS[usize::from(byte >> 4)];
        pair[1] = DIGITS[usize::from(byte & 15)];
    }
    let head = format!("{COMMENT}# public {}\n{KEY_TAG} ", key.public());
    let mut text = Zeroizing::new(Vec::with_capacity(FILE_BYTES_MAX));
    text.extend_from_slice(head.as_bytes());
    text.extend_from_slice(&*digits);
    text.push(b'\n');
    save_private(path, &text)
}

/// Writes a text that only its owner may read to a new file.
fn save_private(path: &Path, text: &[u8]) -> Result<(), CreateKeyError> {
    let failed = |source: io::Error| {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::AlreadyExists => CreateKeyError::Exists { path },
            _ => CreateKeyError::Write { path, source },
        }
    };
    let directory = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(failed)?;
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let file = file.map_err(failed)?;
    let written = write(file, text).and_then(|()| File::open(directory)?.sync_all());
    if let Err(error) = written {
        // Half a key is of no use, and would stand in the way of the next try.
        let _ = std::fs::remove_file(path);
        return Err(failed(error));
    }
    Ok(())
}

fn write(mut file: File, text: &[u8]) -> io::Result<()> {
    // The umask cuts the mode given at creation, but not this one.
    file.set_permissions(Permissions::from_mode(0o600))?;
    file.write_all(text)?;
    file.sync_all()
}

/// Reads a key file.
///
/// # Errors
/// See [`LoadKeyError`]. The mode is checked on the opened file, so that the file cannot be
/// exchanged between the check and the reading.
pub fn load(path: &Path) -> Result<SigningKey, LoadKeyError> {
    let text = read_private(path)?;
    let read = KeyText::parse(&text).map(|read| read.key);
    read.map_err(|source| LoadKeyError::Format { path: path.to_owned(), source })
}

/// Reads a file that only its owner can reach.
///
/// # Errors
/// See [`LoadKeyError`]; of a file that is too long, its beginning is not given.
pub fn read_private(path: &Path) -> Result<Zeroizing<Vec<u8>>, LoadKeyError> {
    let failed = |source| LoadKeyError::Read { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(LoadKeyError::NotAFile { path: path.to_owned() });
    }
    let user = user().map_err(failed)?;
    check(path, metadata.mode() & 0o7777, metadata.uid(), user)?;
    let mut text = Zeroizing::new(vec![0; FILE_BYTES_MAX + 1]);
    let mut len = 0;
    while len < text.len() {
        match file.read(&mut text[len..]).map_err(failed)? {
            0 => break,
            read => len += read,
        }
    }
    if len > FILE_BYTES_MAX {
        let source = KeyTextError::TooLong;
        return Err(LoadKeyError::Format { path: path.to_owned(), source });
    }
    text.truncate(len);
    Ok(text)
}

/// Checks that a file of this mode and owner is fit to hold a secret of `user`.
fn check(path: &Path, mode: u32, owner: u32, user: u32) -> Result<(), LoadKeyError> {
    let path = || path.to_owned();
    if owner != user {
        return Err(LoadKeyError::Foreign { path: path(), owner, user });
    }
    if mode & 0o077 != 0 {
        return Err(LoadKeyError::Exposed { path: path(), mode });
    }
    Ok(())
}

/// Returns the user that this program acts as. The standard library does not tell, but a new pipe
/// belongs to the user who made it.
fn user() -> io::Result<u32> {
    let (pipe, _other_end) = io::pipe()?;
    Ok(File::from(OwnedFd::from(pipe)).metadata()?.uid())
}

/// Returns the key in the form of libp2p. A server's peer id is the hash of its node key, which is
/// another key than the one it votes with.
#[must_use]
pub fn peer_keypair(key: &SigningKey) -> Keypair {
    let mut seed = key.secret();
    Keypair::ed25519_from_bytes(&mut seed[..]).expect("any 32 bytes are a secret of ed25519")
}

mod rotation;
mod sealed;
pub use rotation::{LoadRotationError, carry_rotation, load_rotation, rotate, rotation_path};
pub use sealed::{PASSPHRASE_BYTES_MAX, UnsealError, seal, unseal};

#[cfg(test)]
mod tests;
