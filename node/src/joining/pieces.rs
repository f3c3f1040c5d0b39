//! Fetched leaves, kept until all are there, so that an interrupted fetch can continue.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use metatopia_types::{Digest, limits::LEAF_BYTES_MAX};

/// A folder of leaves, each in a file that is named by its hash. Its content is not trusted: it is
/// hashed again when it is read.
#[derive(Debug)]
pub struct Pieces(PathBuf);

/// The error of a disk that cannot keep the leaves.
#[derive(Debug, thiserror::Error)]
#[error("cannot keep what was fetched in {}: {source}", path.display())]
pub struct PiecesError {
    path: PathBuf,
    source: io::Error,
}

impl Pieces {
    /// Opens the folder in a data directory, and creates it if it is not there.
    ///
    /// # Errors
    /// Fails when the folder cannot be created.
    pub fn open(data_dir: &Path) -> Result<Self, PiecesError> {
        let path = data_dir.join("fetch");
        match fs::create_dir_all(&path) {
            Ok(()) => Ok(Self(path)),
            Err(source) => Err(PiecesError { path, source }),
        }
    }

    fn failed(&self, source: io::Error) -> PiecesError {
        PiecesError { path: self.0.clone(), source }
    }

    /// Loads all leaves of the folder, and skips files that are no leaves.
    ///
    /// # Errors
    /// Fails when the folder cannot be read.
    pub fn load(&self) -> Result<Vec<Vec<u8>>, PiecesError> {
        let mut leaves = Vec::new();
        for entry in fs::read_dir(&self.0).map_err(|error| self.failed(error))? {
            let entry = entry.map_err(|error| self.failed(error))?;
            let name = entry.file_name().into_string().unwrap_or_default();
            let fits = entry.metadata().is_ok_and(|file| file.len() <= LEAF_BYTES_MAX as u64);
            if !fits || name.parse::<Digest>().is_err() {
                continue;
            }
            leaves.extend(fs::read(entry.path()).ok());
        }
        Ok(leaves)
    }

    /// Keeps a leaf. A leaf that a power cut tears does not hash to its name, and is fetched again.
    ///
    /// # Errors
    /// Fails when the disk does not take the leaf.
    pub fn keep(&self, hash: &Digest, content: &[u8]) -> Result<(), PiecesError> {
        fs::write(self.0.join(hash.to_string()), content).map_err(|error| self.failed(error))
    }

    /// Removes the folder, once all leaves are where they belong.
    ///
    /// # Errors
    /// Fails when the folder cannot be removed.
    pub fn remove(self) -> Result<(), PiecesError> {
        fs::remove_dir_all(&self.0).map_err(|error| self.failed(error))
    }
}
