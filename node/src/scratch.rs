//! Directories of tests.

use std::{fs, path::PathBuf};

/// A directory of one test, which is removed when the test ends.
#[derive(Debug)]
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    /// Returns a directory that is not there yet. `name` is used by one test alone.
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("metatopia-{name}-{}", std::process::id()));
        let _absent = fs::remove_dir_all(&path);
        Self(path)
    }

    /// Returns a directory that is there and empty.
    pub(crate) fn made(name: &str) -> Self {
        let scratch = Self::new(name);
        fs::create_dir(&scratch.0).expect("nothing has this name");
        scratch
    }

    /// Writes a file into the directory, and returns its path.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, content).expect("a directory of ours");
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _absent = fs::remove_dir_all(&self.0);
    }
}
