//! The folder `overlay` in a data directory: keys, the land office, and contacts.
//!
//! What is kept of the successor of the land office lies in a folder `next` in it, and so on: `office`,
//! `links`, `office-servers`, `contacts`, `map` and `map-from`. Keys, `endpoints` and `followers` are the node's own
//! and stay where they are.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

use metatopia_client::{LandOfficeError, OFFICE_LINKS_MAX};
use metatopia_raynet::limits::{SHELF_PROOF_BYTES_MAX, SHELVES_KEPT_MAX};
use metatopia_types::{
    GenesisHead, Height, Link, SigningKey, SimId,
    wire::{self, DecodeError},
};

use super::{contacts::ContactFile, office::OfficeSets};
use crate::{
    atomic_file,
    keys::{self, CreateKeyError, LoadKeyError},
};

/// The name of the folder.
const FOLDER: &str = "overlay";

/// The folder with what is kept of the successor of the land office.
const NEXT: &str = "next";

/// The longest head of a genesis: 64 admins and 31 validators of 33 bytes, and some numbers.
pub const HEAD_BYTES_MAX: usize = 8 * 1_024;

/// The longest file of links: a header, 31 signatures and a set for each.
const LINKS_BYTES_MAX: usize = OFFICE_LINKS_MAX * 8 * 1_024;

/// The longest file with a map: what goes before each proof has three bytes at most, as has their count.
const MAP_BYTES_MAX: usize = SHELVES_KEPT_MAX * (SHELF_PROOF_BYTES_MAX + 3) + 3;

/// The longest file with a height.
const MAP_FROM_BYTES_MAX: usize = 16;

/// The file that a member holds locked: two processes with one key shut each other out of the world, and write
/// their files over each other's.
const LOCK: &str = "lock";

/// The file that is held locked while it changes which worlds are kept. A server that takes part holds the other
/// one as long as it runs, and `world join` adds the successor of its world beside it.
const WORLDS_LOCK: &str = "worlds-lock";

/// Keeps others from being the member of a folder, until it is dropped or the process ends in any way.
#[derive(Debug)]
pub struct MemberLock {
    _lock: File,
}

/// Keeps others from changing which worlds a folder keeps, until it is dropped or the process ends in any way.
#[derive(Debug)]
pub struct WorldsLock {
    _lock: File,
}

/// A member's folder, as far as one world is concerned.
#[derive(Debug, Clone)]
pub struct OverlayFolder {
    /// Where the node's own files lie.
    path: PathBuf,
    /// Where that lies which is kept of the world.
    world: PathBuf,
}

/// Says why a folder is of no use.
#[derive(Debug, thiserror::Error)]
pub enum OverlayFolderError {
    /// A key cannot be used.
    #[error(transparent)]
    Key(#[from] LoadKeyError),
    /// A key cannot be made.
    #[error(transparent)]
    NewKey(#[from] CreateKeyError),
    /// Another process speaks by its key.
    #[error(
        "another process takes part in the world by {}; stop it, or join the world in another directory",
        path.display()
    )]
    InUse {
        /// The path of the folder.
        path: PathBuf,
    },
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Disk {
        /// The path of the file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file is not what its name says.
    #[error("{}: {source}", path.display())]
    Content {
        /// The path of the file.
        path: PathBuf,
        /// What is wrong.
        source: DecodeError,
    },
    /// The land office is not the world's.
    #[error("{}: {source}", path.display())]
    Office {
        /// The path of the file.
        path: PathBuf,
        /// What is wrong.
        source: LandOfficeError,
    },
}

impl OverlayFolder {
    /// Returns the folder in a data directory, for the newest world that is kept there.
    #[must_use]
    pub fn at(data_dir: &Path) -> Self {
        let mut newest = Self::first(data_dir);
        loop {
            let next = newest.next();
            if !next.office_path().exists() {
                return newest;
            }
            newest = next;
        }
    }

    /// Returns the folder for the world that was the first to be kept.
    fn first(data_dir: &Path) -> Self {
        let path = data_dir.join(FOLDER);
        Self { world: path.clone(), path }
    }

    /// Returns the folder for the successor of this world.
    #[must_use]
    pub fn next(&self) -> Self {
        Self { path: self.path.clone(), world: self.world.join(NEXT) }
    }

    /// Returns the folder for this world, and its land office, if they are kept in a data directory.
    ///
    /// # Errors
    /// As [`OverlayFolder::office`].
    pub fn of(
        data_dir: &Path,
        world: SimId,
    ) -> Result<Option<(Self, OfficeSets)>, OverlayFolderError> {
        let mut folder = Self::first(data_dir);
        while let Some(sets) = folder.office()? {
            if sets.world() == world {
                return Ok(Some((folder, sets)));
            }
            folder = folder.next();
        }
        Ok(None)
    }

    /// Returns the heads of the offices that the one of this world carries on, as far as they are kept, the
    /// newest first.
    ///
    /// # Errors
    /// As [`OverlayFolder::office`].
    pub fn parents(&self) -> Result<Vec<GenesisHead>, OverlayFolderError> {
        let mut heads = Vec::new();
        let mut folder = Self { path: self.path.clone(), world: self.path.clone() };
        while folder.world != self.world {
            heads.extend(folder.office()?.map(|sets| sets.head().clone()));
            folder = folder.next();
        }
        heads.reverse();
        Ok(heads)
    }

    /// Keeps in one data directory the land offices that are kept in another, for the server of an office that
    /// carries the newest of them on.
    ///
    /// # Errors
    /// As [`OverlayFolder::office`], and with what the system said.
    pub fn carry_on(from: &Path, to: &Path) -> Result<(), OverlayFolderError> {
        let (mut source, mut target) = (Self::first(from), Self::first(to));
        while let Some(sets) = source.office()? {
            target.keep_office(&sets)?;
            (source, target) = (source.next(), target.next());
        }
        Ok(())
    }

    /// Removes all that is kept of this world, and of those that succeed it.
    ///
    /// # Errors
    /// With what the system said.
    pub fn forget_world(&self) -> Result<(), OverlayFolderError> {
        assert_ne!(
            self.world, self.path,
            "the node's own files lie beside those of the first world"
        );
        match fs::remove_dir_all(&self.world) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(OverlayFolderError::Disk { path: self.world.clone(), source })
            }
            _ => Ok(()),
        }
    }

    /// Makes this process the only member of this folder.
    ///
    /// # Errors
    /// When another process is, or with what the system said.
    pub fn lock(&self) -> Result<MemberLock, OverlayFolderError> {
        let (lock, path) = self.lock_file(LOCK)?;
        match lock.try_lock() {
            Ok(()) => Ok(MemberLock { _lock: lock }),
            Err(TryLockError::WouldBlock) => {
                Err(OverlayFolderError::InUse { path: self.path.clone() })
            }
            Err(TryLockError::Error(source)) => Err(OverlayFolderError::Disk { path, source }),
        }
    }

    /// Waits until nobody else changes which worlds are kept in this folder. That takes the time of some writes.
    ///
    /// # Errors
    /// With what the system said.
    pub fn lock_worlds(&self) -> Result<WorldsLock, OverlayFolderError> {
        let (lock, path) = self.lock_file(WORLDS_LOCK)?;
        match lock.lock() {
            Ok(()) => Ok(WorldsLock { _lock: lock }),
            Err(source) => Err(OverlayFolderError::Disk { path, source }),
        }
    }

    /// Opens a file that is there to be locked.
    fn lock_file(&self, name: &str) -> Result<(File, PathBuf), OverlayFolderError> {
        let path = self.path.join(name);
        let failed = |source| OverlayFolderError::Disk { path: path.clone(), source };
        atomic_file::create_folder(&self.path).map_err(failed)?;
        let file = File::options().create(true).append(true).open(&path).map_err(failed)?;
        Ok((file, path))
    }

    /// Returns the path of the key that a member speaks with.
    #[must_use]
    pub fn member_key_path(&self) -> PathBuf {
        self.path.join("member.key")
    }

    /// Returns the path of the key that signs the addresses of the site.
    #[must_use]
    pub fn beacon_key_path(&self) -> PathBuf {
        self.path.join("beacon.key")
    }

    /// Says whether there is such a folder with a member's key.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.member_key_path().exists()
    }

    /// Returns the key that the member speaks with. Makes one if there is none.
    ///
    /// # Errors
    /// When it cannot be read or made.
    pub fn member_key(&self) -> Result<SigningKey, OverlayFolderError> {
        let path = self.member_key_path();
        if path.exists() { Ok(keys::load(&path)?) } else { Ok(keys::create(&path)?) }
    }

    /// Returns the key of a beacon, if this server has one.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn beacon_key(&self) -> Result<Option<SigningKey>, OverlayFolderError> {
        let path = self.beacon_key_path();
        if path.exists() { Ok(Some(keys::load(&path)?)) } else { Ok(None) }
    }

    /// Returns the contacts of the member.
    #[must_use]
    pub fn contacts(&self) -> ContactFile {
        ContactFile::named(&self.world, "contacts")
    }

    /// Returns the servers that speak for the site.
    #[must_use]
    pub fn endpoints(&self) -> ContactFile {
        ContactFile::named(&self.path, "endpoints")
    }

    /// Returns the file of the followers that let people in for the own sim. An operator writes it.
    #[must_use]
    pub fn followers(&self) -> ContactFile {
        ContactFile::named(&self.path, "followers")
    }

    /// Returns the servers of the land office that were known when the world was joined.
    #[must_use]
    pub fn office_servers(&self) -> ContactFile {
        ContactFile::named(&self.world, "office-servers")
    }

    fn office_path(&self) -> PathBuf {
        self.world.join("office")
    }

    fn links_path(&self) -> PathBuf {
        self.world.join("links")
    }

    /// Writes the changes of validators of the land office, and then its head: a world whose head is there is
    /// kept.
    ///
    /// # Errors
    /// With what the system said.
    pub fn keep_office(&self, sets: &OfficeSets) -> Result<(), OverlayFolderError> {
        self.write(&self.links_path(), &wire::encode(&sets.links()))?;
        self.write(&self.office_path(), &wire::encode(sets.head()))
    }

    /// Returns the land office that was written, if there is one.
    ///
    /// # Errors
    /// When a file cannot be read, or is not of a land office.
    pub fn office(&self) -> Result<Option<OfficeSets>, OverlayFolderError> {
        let path = self.office_path();
        let Some(head) = read::<GenesisHead>(&path, HEAD_BYTES_MAX)? else { return Ok(None) };
        let world: SimId = head.id();
        let wrong = |path: &Path| {
            let path = path.to_owned();
            move |source| OverlayFolderError::Office { path, source }
        };
        let sets = OfficeSets::new(world, head).map_err(wrong(&path))?;
        let path = self.links_path();
        let links = read::<Vec<Link>>(&path, LINKS_BYTES_MAX)?.unwrap_or_default();
        sets.follow(&links).map_err(wrong(&path))?;
        Ok(Some(sets))
    }

    /// Returns the path of the map that the member knew last.
    pub(super) fn map_path(&self) -> PathBuf {
        self.world.join("map")
    }

    /// Writes the proofs of a map.
    ///
    /// # Errors
    /// With what the system said.
    pub fn keep_map(&self, proofs: &[&[u8]]) -> Result<(), OverlayFolderError> {
        self.write(&self.map_path(), &wire::encode(&proofs))
    }

    /// Returns the proofs of the map that was written; none if there is none.
    ///
    /// # Errors
    /// When the file cannot be read, or holds no such proofs.
    pub fn map(&self) -> Result<Vec<Vec<u8>>, OverlayFolderError> {
        let proofs = read::<Vec<Vec<u8>>>(&self.map_path(), MAP_BYTES_MAX)?;
        Ok(proofs.unwrap_or_default())
    }

    fn map_from_path(&self) -> PathBuf {
        self.world.join("map-from")
    }

    /// Writes from which height of the land office on a map counts: that of the map by which the world was
    /// joined.
    ///
    /// # Errors
    /// With what the system said.
    pub fn keep_map_from(&self, height: Height) -> Result<(), OverlayFolderError> {
        self.write(&self.map_from_path(), &wire::encode(&height))
    }

    /// Returns that height; 0 if none was written.
    ///
    /// # Errors
    /// When the file cannot be read, or holds no height.
    pub fn map_from(&self) -> Result<Height, OverlayFolderError> {
        let height = read::<Height>(&self.map_from_path(), MAP_FROM_BYTES_MAX)?;
        Ok(height.unwrap_or_default())
    }

    /// Returns the error of a file in this folder.
    pub(super) fn failed(&self, source: io::Error) -> OverlayFolderError {
        OverlayFolderError::Disk { path: self.world.clone(), source }
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), OverlayFolderError> {
        let failed = |source| OverlayFolderError::Disk { path: path.to_owned(), source };
        atomic_file::create_folder(&self.world).map_err(failed)?;
        atomic_file::replace(path, bytes).map_err(failed)
    }
}

/// Reads a file of the one encoding; nothing if there is none.
fn read<T: serde::Serialize + serde::de::DeserializeOwned>(
    path: &Path,
    max: usize,
) -> Result<Option<T>, OverlayFolderError> {
    let bytes = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(OverlayFolderError::Disk { path: path.to_owned(), source }),
        Ok(bytes) => bytes,
    };
    let content = |source| OverlayFolderError::Content { path: path.to_owned(), source };
    wire::decode(&bytes, max).map(Some).map_err(content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        overlay::office::{office_of_tests, successor_of_tests},
        scratch::Scratch,
    };

    #[test]
    fn what_is_kept_of_two_worlds_lies_apart_and_keys_are_the_same() {
        let scratch = Scratch::new("two-worlds");
        let (old, first) = (office_of_tests(), OverlayFolder::at(&scratch.0));
        first.keep_office(&old).unwrap();
        first.keep_map_from(Height(1_234)).unwrap();
        let key = first.member_key().unwrap();
        let new = successor_of_tests(&old);
        first.next().keep_office(&new).unwrap();

        let newest = OverlayFolder::at(&scratch.0);
        assert_eq!(newest.office().unwrap().map(|sets| sets.world()), Some(new.world()));
        assert_eq!(
            newest.map_from().unwrap(),
            Height(0),
            "heights of two offices are not compared"
        );
        assert_eq!(newest.member_key().unwrap().secret(), key.secret());
        let kept = |world| OverlayFolder::of(&scratch.0, world).unwrap();
        let (folder, sets) = kept(old.world()).unwrap();
        assert_eq!((sets.world(), folder.map_from().unwrap()), (old.world(), Height(1_234)));
        assert!(kept(SimId(metatopia_types::Digest::ZERO)).is_none());
        newest.forget_world().unwrap();
        assert!(kept(new.world()).is_none());
        assert!(kept(old.world()).is_some());
    }

    /// The servers of a successor knew no office before it, so a sim that was off during two successions could
    /// follow neither.
    #[test]
    fn the_server_of_a_successor_keeps_the_offices_that_it_carries_on() {
        let (scratch, other) = (Scratch::new("carried"), Scratch::new("carries"));
        let old = office_of_tests();
        let new = successor_of_tests(&old);
        let first = OverlayFolder::at(&scratch.0);
        first.keep_office(&old).unwrap();
        first.next().keep_office(&new).unwrap();

        OverlayFolder::carry_on(&scratch.0, &other.0).unwrap();

        let newest = OverlayFolder::at(&other.0);
        assert_eq!(newest.office().unwrap().map(|sets| sets.world()), Some(new.world()));
        let before: Vec<SimId> =
            newest.next().parents().unwrap().iter().map(GenesisHead::id).collect();
        assert_eq!(before, [new.world(), old.world()], "the newest first");
        assert!(!newest.exists(), "keys are not copied");
    }

    /// Two processes took part by one key, and each wrote its contacts and its map over those of the other.
    #[test]
    fn only_one_process_at_a_time_is_the_member_of_a_folder() {
        let scratch = Scratch::new("member-lock");
        let folder = OverlayFolder::at(&scratch.0);
        let lock = folder.lock().unwrap();
        let second = folder.next().lock().unwrap_err();
        assert!(matches!(second, OverlayFolderError::InUse { .. }), "{second}");
        let worlds =
            folder.lock_worlds().expect("a server that runs leaves room for another world");
        drop((lock, worlds));
        folder.lock().unwrap();
    }

    /// Every member began with height 0, so the oldest map of a liar counted.
    #[test]
    fn a_member_begins_with_the_height_of_the_map_by_which_it_joined() {
        let scratch = Scratch::new("map-from");
        let folder = OverlayFolder::at(&scratch.0);
        assert_eq!(folder.map_from().unwrap(), Height(0), "nothing was written");
        folder.keep_map_from(Height(1_234)).unwrap();
        assert_eq!(folder.map_from().unwrap(), Height(1_234));
        fs::write(folder.map_from_path(), [0xff; 12]).unwrap();
        let wrong = folder.map_from().unwrap_err();
        assert!(matches!(wrong, OverlayFolderError::Content { .. }), "{wrong}");
    }
}
