//! Folders of texts: of places, and of packages of scripts.

use std::{
    collections::BTreeMap,
    fs, io,
    io::Read as _,
    path::{Path, PathBuf},
};

use metatopia_scenarios::{Mistake, text_of_file};

use super::failure::Failure;
use crate::atomic_file::{create_folder, replace};

/// A folder beside source with the texts of its licences, as the REUSE specification calls it. It is no
/// part of a package: packages name licences of a list, and every copy of this program has their texts.
pub(super) const LICENCES_FOLDER: &str = "LICENSES";

/// A folder beside source with the packages that it imports, each in a folder of its own. It is no part of a
/// package either: a package names what it imports by id.
pub(super) const IMPORTS_FOLDER: &str = "IMPORTS";

/// What may be read of a folder.
#[derive(Debug, Clone, Copy)]
pub(super) struct FolderBounds {
    /// The most files.
    pub(super) files: usize,
    /// The most bytes of all of them together.
    pub(super) bytes: u64,
}

/// The texts of a folder, by path.
#[derive(Debug)]
pub(super) struct TextFolder {
    name: String,
    pub(super) files: BTreeMap<String, String>,
    /// Where files are no UTF-8, by path. Their texts have signs in place of what cannot be read.
    unread: BTreeMap<String, Mistake>,
    bytes: u64,
    bounds: FolderBounds,
}

impl TextFolder {
    /// Returns a folder of which nothing is read yet. `name` is how messages name it.
    pub(super) const fn new(name: String, bounds: FolderBounds) -> Self {
        Self { name, files: BTreeMap::new(), unread: BTreeMap::new(), bytes: 0, bounds }
    }

    /// Returns how messages name the folder.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name without a slash behind it.
    pub(super) fn plain_name(&self) -> &str {
        self.name.trim_end_matches('/')
    }

    /// Reads all texts below a folder, with this path before theirs. Links are not followed; hidden files,
    /// the texts of licences and imported packages are left out.
    ///
    /// # Errors
    /// Fails when there is more than may be read, or the disk fails.
    pub(super) fn below(&mut self, dir: &Path, before: &str) -> Result<(), Failure> {
        for FolderEntry { name, path, is_dir, is_file } in entries(dir)? {
            let is_beside = name == LICENCES_FOLDER || name == IMPORTS_FOLDER;
            if is_dir && !is_beside {
                self.below(&path, &format!("{before}{name}/"))?;
            } else if is_file {
                self.file(&path, format!("{before}{name}"))?;
            }
        }
        Ok(())
    }

    /// Reads one text. Where it is no UTF-8 is kept for [`TextFolder::judged`].
    ///
    /// # Errors
    /// As [`TextFolder::below`].
    pub(super) fn file(&mut self, path: &Path, name: String) -> Result<(), Failure> {
        if self.files.len() >= self.bounds.files {
            let message = format!("{} has more than {} files", self.name, self.bounds.files);
            return Err(Failure::failed(message).hint("there is no room for so many"));
        }
        let bytes = self.bytes_of(path)?;
        let lossy = String::from_utf8_lossy(&bytes).into_owned();
        if let Err(mistake) = text_of_file(&format!("{}/{name}", self.plain_name()), bytes) {
            self.unread.insert(name.clone(), mistake);
        }
        self.files.insert(name, lossy);
        Ok(())
    }

    /// Returns what the texts describe, or all mistakes: those that were found in the texts, and files that are no
    /// UTF-8. What else is wrong in such a file may come of what cannot be read, and is left out.
    ///
    /// # Errors
    /// Returns at least one mistake, ordered by file and line if a file is no UTF-8.
    pub(super) fn judged<T>(&self, found: Result<T, Vec<Mistake>>) -> Result<T, Vec<Mistake>> {
        if self.unread.is_empty() {
            return found;
        }
        let mut mistakes = found.err().unwrap_or_default();
        mistakes.retain(|mistake| !self.unread.values().any(|unread| unread.file == mistake.file));
        mistakes.extend(self.unread.values().cloned());
        mistakes.sort_by(|a, b| (&a.file, a.line, a.column).cmp(&(&b.file, b.line, b.column)));
        Err(mistakes)
    }

    /// Says whether all texts are UTF-8.
    pub(super) fn is_text(&self) -> bool {
        self.unread.is_empty()
    }

    /// Reads one file, of text or not.
    ///
    /// # Errors
    /// Fails when there is more than may be read, or the disk fails.
    pub(super) fn bytes_of(&mut self, path: &Path) -> Result<Vec<u8>, Failure> {
        let file = fs::File::open(path).map_err(|error| disk(path, &error))?;
        // This reads one byte more than may be left, so that too many bytes are noticed.
        let left = self.bounds.bytes.saturating_sub(self.bytes) + 1;
        let mut bytes = Vec::new();
        file.take(left).read_to_end(&mut bytes).map_err(|error| disk(path, &error))?;
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
        if self.bytes > self.bounds.bytes {
            let message = format!("{} holds more than {} bytes", self.name, self.bounds.bytes);
            return Err(Failure::failed(message));
        }
        Ok(bytes)
    }
}

/// An entry of a folder.
pub(super) struct FolderEntry {
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) is_dir: bool,
    pub(super) is_file: bool,
}

/// Lists a folder by name, without hidden entries and what editors leave: `x~` and `#x#`.
pub(super) fn entries(dir: &Path) -> Result<Vec<FolderEntry>, Failure> {
    let listed = fs::read_dir(dir).map_err(|error| disk(dir, &error))?;
    let mut found = Vec::new();
    for entry in listed {
        let entry = entry.map_err(|error| disk(dir, &error))?;
        let kind = entry.file_type().map_err(|error| disk(dir, &error))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with(['.', '#']) && !name.ends_with('~') {
            let (is_dir, is_file) = (kind.is_dir(), kind.is_file());
            found.push(FolderEntry { name, path: entry.path(), is_dir, is_file });
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// Returns the name of a folder, which need not be there. One such as `.` or `..` is named as the folder that it means.
pub(super) fn folder_name(dir: &Path) -> Option<String> {
    let full = match dir.file_name() {
        Some(_) => dir.to_owned(),
        None => fs::canonicalize(dir).ok()?,
    };
    full.file_name()?.to_str().map(str::to_owned)
}

/// Checks that a folder is not there yet, or is empty.
///
/// # Errors
/// When there is something in it, or the disk fails.
pub(super) fn check_empty(dir: &Path) -> Result<(), Failure> {
    match fs::read_dir(dir).map(|mut listed| listed.next().is_some()) {
        Ok(true) => Err(Failure::refused(format!("{} is not empty", dir.display()))
            .hint("name a folder that is not there yet")),
        Ok(false) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(disk(dir, &error)),
    }
}

/// Writes texts into a folder that is new or empty.
///
/// # Errors
/// Fails when the folder is not empty, or the disk fails.
pub(super) fn write_folder(dir: &Path, files: &BTreeMap<String, String>) -> Result<(), Failure> {
    check_empty(dir)?;
    for (name, text) in files {
        let path = dir.join(name);
        let folder = path.parent().expect("a file in a folder");
        create_folder(folder).map_err(|error| disk(folder, &error))?;
        replace(&path, text.as_bytes()).map_err(|error| disk(&path, &error))?;
    }
    Ok(())
}

/// Returns the failure of a disk.
pub(super) fn disk(path: &Path, error: &io::Error) -> Failure {
    Failure::failed(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    /// `place new .` said that "" is no name for a place.
    #[test]
    fn a_folder_that_is_meant_by_dots_has_its_name() {
        let scratch = Scratch::made("folder-name");
        let named = scratch.0.file_name().and_then(|name| name.to_str());
        fs::create_dir(scratch.0.join("below")).expect("a folder of ours");
        assert_eq!(folder_name(&scratch.0.join("below/..")).as_deref(), named);
        assert!(folder_name(Path::new(".")).is_some_and(|name| !name.is_empty()));
        assert_eq!(folder_name(Path::new("not/there")).as_deref(), Some("there"));
        assert_eq!(folder_name(Path::new("/")), None);
    }
}
