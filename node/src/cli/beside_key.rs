//! What a person's client keeps in files beside her key: whom she blocks, her buddies, and her profile.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use metatopia_client::{
    BlockList, BlockListError, BuddyList, BuddyListError, OwnProfile, check_picture,
};
use metatopia_types::{Ed25519, PublicKey, Sign};

use super::failure::Failure;
use crate::keys;

/// The most bytes of a file that are read: a full list has fewer than 350,000.
const BYTES_MAX: u64 = 1 << 19;

/// The most bytes of a picture that are read: more than any camera writes, so that the length that is told is its own.
const PICTURE_READ_MAX: u64 = 16 * 1_024 * 1_024;

/// Advice about a list that its owner's key did not sign.
const SIGN: &str =
    "if it is yours all the same, `metatopia keys sign-lists KEY` signs what it says";

/// Advice about a file that is none any more.
const RESTORE: &str = "put a copy of it back, or move it away and begin anew";

/// Returns where something of this kind lies beside a key file.
pub(super) fn beside(key: &Path, kind: &str) -> PathBuf {
    let mut path = key.as_os_str().to_owned();
    path.push(".");
    path.push(kind);
    path.into()
}

/// Returns why a file cannot be read, in words that name it.
pub(super) fn unread(path: &Path, error: &io::Error) -> String {
    let path = path.display();
    match error.kind() {
        io::ErrorKind::NotFound => format!("there is no file {path}"),
        io::ErrorKind::PermissionDenied => format!("{path} is not yours to read"),
        io::ErrorKind::IsADirectory => format!("{path} is a folder, and no file"),
        io::ErrorKind::InvalidData => format!("{path} is damaged: it is no text any more"),
        _ => format!("{path} cannot be read: {error}"),
    }
}

/// Reads a text file, which `read` understands; nothing if there is no such file.
///
/// # Errors
/// Fails when the file cannot be read, or is not understood: it would be lost with the next change.
fn load<T, E: std::fmt::Display>(
    path: &Path,
    read: impl FnOnce(&str) -> Result<T, E>,
) -> Result<Option<T>, Failure> {
    let told = |why: &dyn std::fmt::Display| Failure::failed(format!("{}: {why}", path.display()));
    let unreadable = |error: &io::Error| Failure::failed(unread(path, error)).hint(RESTORE);
    let mut text = String::new();
    match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(&error)),
        Ok(file) => file.take(BYTES_MAX).read_to_string(&mut text).map_err(|it| unreadable(&it))?,
    };
    read(&text).map(Some).map_err(|error| told(&error))
}

/// Writes a file in place of the one before. Only its owner may read it.
///
/// # Errors
/// When the disk fails. The file before is there still.
fn keep(path: &Path, text: &str) -> io::Result<()> {
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(new, path)
}

/// A person's lists, as they lie beside her key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct KeptLists {
    pub(super) blocked: BlockList,
    pub(super) buddies: BuddyList,
}

impl KeptLists {
    /// Reads the lists beside a file of this key; a list without a file is empty.
    ///
    /// # Errors
    /// See [`load`]. Also when neither this key signed a list, nor the one whose place it took.
    pub(super) fn load(key: &Path, public: PublicKey) -> Result<Self, Failure> {
        let before = keys::load_rotation(key, public)?.map(|rotation| rotation.old);
        let owners: Vec<PublicKey> = [Some(public), before].into_iter().flatten().collect();
        let blocks = |text: &str| {
            BlockList::import(text, &owners).map_err(|error| match error {
                BlockListError::Signature(_) => format!("{error}; {SIGN}"),
                error => error.to_string(),
            })
        };
        let buddies = |text: &str| {
            BuddyList::import(text, &owners).map_err(|error| match error {
                BuddyListError::Signature(_) => format!("{error}; {SIGN}"),
                error => error.to_string(),
            })
        };
        Self::read(key, blocks, buddies)
    }

    /// Reads the lists beside a key file, whoever signed them.
    ///
    /// # Errors
    /// See [`load`].
    pub(super) fn recall(key: &Path) -> Result<Self, Failure> {
        Self::read(key, BlockList::recall, BuddyList::recall)
    }

    fn read<E: std::fmt::Display, F: std::fmt::Display>(
        key: &Path,
        blocks: impl FnOnce(&str) -> Result<BlockList, E>,
        buddies: impl FnOnce(&str) -> Result<BuddyList, F>,
    ) -> Result<Self, Failure> {
        let blocked = load(&beside(key, "blocks"), blocks)?.unwrap_or_default();
        let buddies = load(&beside(key, "buddies"), buddies)?.unwrap_or_default();
        Ok(Self { blocked, buddies })
    }

    /// Writes the lists beside a file of this key, which signs them. A list of nobody needs no new file.
    ///
    /// # Errors
    /// See [`keep`].
    pub(super) fn keep(&self, key: &Path, owner: &dyn Sign) -> io::Result<()> {
        if self.blocked.people().next().is_some() || beside(key, "blocks").exists() {
            keep_blocks(key, &self.blocked, owner)?;
        }
        if self.buddies.people().next().is_some() || beside(key, "buddies").exists() {
            keep_buddies(key, &self.buddies, owner)?;
        }
        Ok(())
    }
}

/// Writes the block list beside a key file.
///
/// # Errors
/// See [`keep`].
pub(super) fn keep_blocks(key: &Path, list: &BlockList, owner: &dyn Sign) -> io::Result<()> {
    keep(&beside(key, "blocks"), &list.export(owner))
}

/// Writes the buddy list beside a key file.
///
/// # Errors
/// See [`keep`].
pub(super) fn keep_buddies(key: &Path, list: &BuddyList, owner: &dyn Sign) -> io::Result<()> {
    keep(&beside(key, "buddies"), &list.export(owner))
}

/// Reads a profile from a file of its own; nothing if there is no such file.
///
/// # Errors
/// See [`load`].
pub(super) fn profile_of(file: &Path) -> Result<Option<OwnProfile>, Failure> {
    load(file, |text| {
        OwnProfile::import(text, &Ed25519).map_err(|error| format!("{error}; {RESTORE}"))
    })
}

/// Reads the profile beside a key file; nothing if there is none.
///
/// # Errors
/// See [`load`].
pub(super) fn profile(key: &Path) -> Result<Option<OwnProfile>, Failure> {
    profile_of(&beside(key, "profile"))
}

/// Writes the profile beside a key file.
///
/// # Errors
/// See [`keep`].
pub(super) fn keep_profile(key: &Path, profile: &OwnProfile) -> io::Result<()> {
    keep(&beside(key, "profile"), &profile.export())
}

/// Reads the bytes of a picture that is shown.
///
/// # Errors
/// When the file cannot be read, or is none that is shown: a sentence that names it and what is taken.
pub(super) fn picture(file: &Path) -> Result<Vec<u8>, Failure> {
    const TAKEN: &str =
        "a picture is a PNG or JPEG file of at most 8 KiB, and of at most 256 by 256 points";
    let mut picture = Vec::new();
    File::open(file)
        .and_then(|open| open.take(PICTURE_READ_MAX).read_to_end(&mut picture))
        .map_err(|error| Failure::usage(unread(file, &error)).hint(TAKEN))?;
    match check_picture(&picture) {
        Ok(_) => Ok(picture),
        Err(error) => Err(Failure::usage(format!("{}: {error}", file.display())).hint(TAKEN)),
    }
}

#[cfg(test)]
mod tests {
    use metatopia_client::ProfileChange;
    use metatopia_types::SigningKey;

    use super::*;
    use crate::scratch::Scratch;

    fn key(n: u8) -> SigningKey {
        SigningKey::from_seed([n; 32])
    }

    fn lists() -> KeptLists {
        let mut lists = KeptLists::default();
        lists.blocked.block(PublicKey([7; 32]), "Bob").unwrap();
        lists.buddies.add(PublicKey([8; 32]), "Carol").unwrap();
        lists
    }

    #[test]
    fn lists_are_kept_beside_the_key_that_signs_them_and_spoilt_ones_are_not_written_over() {
        let folder = Scratch::made("lists");
        let (path, me) = (folder.0.join("me.key"), key(1).public());
        assert_eq!(KeptLists::load(&path, me), Ok(KeptLists::default()));
        KeptLists::default().keep(&path, &key(1)).unwrap();
        assert!(!folder.0.join("me.key.blocks").exists(), "a list of nobody is no file");
        for _ in 0..2 {
            lists().keep(&path, &key(1)).unwrap();
        }
        assert_eq!(KeptLists::load(&path, me), Ok(lists()));
        for (kind, word) in [("blocks", "block"), ("buddies", "buddy")] {
            folder.file(&format!("me.key.{kind}"), "# mine\nBob\n");
            let told = KeptLists::load(&path, me).unwrap_err().message;
            assert!(told.contains(&format!("line 2 of the {word} list")), "{told}");
            lists().keep(&path, &key(1)).unwrap();
        }
    }

    /// A list that somebody else put beside the key decided whose words its owner read.
    #[test]
    fn a_list_that_another_key_signed_or_nobody_is_told_and_is_signed_when_its_owner_says_so() {
        let folder = Scratch::made("lists-signed");
        let (path, me) = (folder.0.join("me.key"), key(1).public());
        lists().keep(&path, &key(2)).unwrap();
        let told = KeptLists::load(&path, me).unwrap_err().message;
        assert!(told.contains("the block list: it is not signed by this key"), "{told}");
        assert!(told.contains(&key(2).public().to_string()) && told.ends_with(SIGN), "{told}");
        folder.file("me.key.blocks", format!("{} Bob\n", PublicKey([7; 32])));
        let told = KeptLists::load(&path, me).unwrap_err().message;
        assert!(told.contains("nor by any other"), "{told}");

        KeptLists::recall(&path).unwrap().keep(&path, &key(1)).unwrap();
        assert_eq!(KeptLists::load(&path, me), Ok(lists()));
        folder.file("me.key.blocks", "# nobody any more\n");
        KeptLists::recall(&path).unwrap().keep(&path, &key(1)).unwrap();
        assert!(KeptLists::load(&path, me).is_ok(), "a list of nobody is signed as well");
    }

    #[test]
    fn a_key_that_took_the_place_of_another_reads_the_lists_of_that_one() {
        let folder = Scratch::made("lists-rotated");
        let (path, old) = (folder.0.join("new.key"), key(1));
        let new = keys::rotate(&path, (&old, None), 1).unwrap().0;
        lists().keep(&path, &old).unwrap();
        assert_eq!(KeptLists::load(&path, new.public()), Ok(lists()));
    }

    #[test]
    fn a_profile_is_kept_beside_the_key_too_and_a_spoilt_one_is_told() {
        let folder = Scratch::made("profile-beside");
        let path = folder.0.join("me.key");
        assert_eq!(profile(&path), Ok(None));
        let line = [ProfileChange::Line("I build mills.".into())];
        let own = OwnProfile::changed(None, 0, &line, &key(1)).unwrap();
        keep_profile(&path, &own).unwrap();
        assert_eq!(profile(&path), Ok(Some(own)));
        folder.file("me.key.profile", "metatopia-profile-1 AAAA\n");
        let told = profile(&path).unwrap_err().message;
        assert!(told.contains("me.key.profile: it is no profile"), "{told}");
        assert!(told.ends_with(RESTORE), "{told}");
        // The words of a library were shown as they were.
        folder.file("me.key.profile", [0xff, 0xfe, 0x00]);
        let told = profile(&path).unwrap_err().message;
        assert!(told.contains("me.key.profile is damaged: it is no text any more; put"), "{told}");
    }

    #[test]
    fn a_file_that_is_no_picture_or_none_is_told_with_its_name_and_what_is_taken() {
        let folder = Scratch::made("no-picture");
        let missing = folder.0.join("face.png");
        let told = picture(&missing).unwrap_err().message;
        let path = missing.display();
        assert!(
            told.starts_with(&format!("there is no file {path}; a picture is a PNG")),
            "{told}"
        );
        folder.file("face.png", "no picture");
        let told = picture(&missing).unwrap_err().message;
        assert!(told.starts_with(&format!("{path}: the picture is no PNG or JPEG")), "{told}");
    }
}
