//! The folder `overlay` in a data directory: keys, the land office, and contacts.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use metatopia_client::{LandOfficeError, OFFICE_LINKS_MAX};
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

/// The longest head of a genesis: 64 admins and 31 validators of 33 bytes, and some numbers.
pub const HEAD_BYTES_MAX: usize = 8 * 1_024;

/// The longest file of links: a header, 31 signatures and a set for each.
const LINKS_BYTES_MAX: usize = OFFICE_LINKS_MAX * 8 * 1_024;

/// The longest file with a height.
const MAP_FROM_BYTES_MAX: usize = 16;

/// A member's folder.
#[derive(Debug, Clone)]
pub struct OverlayFolder {
    path: PathBuf,
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
    /// Returns the folder in a data directory.
    #[must_use]
    pub fn at(data_dir: &Path) -> Self {
        Self { path: data_dir.join(FOLDER) }
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
        ContactFile::named(&self.path, "contacts")
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
        ContactFile::named(&self.path, "office-servers")
    }

    fn office_path(&self) -> PathBuf {
        self.path.join("office")
    }

    fn links_path(&self) -> PathBuf {
        self.path.join("links")
    }

    /// Writes the head of the land office and its changes of validators.
    ///
    /// # Errors
    /// With what the system said.
    pub fn keep_office(&self, sets: &OfficeSets) -> Result<(), OverlayFolderError> {
        self.write(&self.office_path(), &wire::encode(sets.head()))?;
        self.write(&self.links_path(), &wire::encode(&sets.links()))
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

    fn map_from_path(&self) -> PathBuf {
        self.path.join("map-from")
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

    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), OverlayFolderError> {
        let failed = |source| OverlayFolderError::Disk { path: path.to_owned(), source };
        atomic_file::create_folder(&self.path).map_err(failed)?;
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
    use crate::scratch::Scratch;

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
