//! What a package says about itself.

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};
use core::{fmt, str::FromStr};

use metatopia_types::{BlobId, PackageId, PublicKey};
use serde::{Deserialize, Serialize};

use super::{Licence, PACKAGE_FILE};
use crate::limits::{AUTHORS_MAX, FILES_MAX, IMPORTS_MAX, PACKAGE_NAME_BYTES_MAX, PATH_BYTES_MAX};

/// The apis that this build runs: the language and its host functions, by the number that a manifest
/// names. The source is what is kept, and the engine says what it means, so a number means the same for
/// ever.
pub const APIS: [u16; 1] = [1];

/// How the entry file must be named, so that readers and editors know the language.
const ENTRY_SUFFIX: &str = ".rhai";

/// Name, files, licence and authors. Its digest is the package's id; signatures stay outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageManifest {
    /// Lowercase letters, digits and hyphens; begins with a letter.
    pub name: String,
    /// Chosen by the author.
    pub version: Version,
    /// What the source is written for: one of [`APIS`].
    pub api: u16,
    /// The file whose handlers run.
    pub entry: String,
    /// What each file contains, by path.
    pub files: BTreeMap<String, BlobId>,
    /// Other packages, by the names that the source imports them by.
    pub imports: BTreeMap<String, PackageId>,
    /// What everybody may do with it.
    pub licence: Licence,
    /// Who wrote it.
    pub authors: Vec<PackageAuthor>,
    /// The package that this one was made from.
    pub parent: Option<PackageId>,
}

/// Somebody who wrote a package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageAuthor {
    /// How they want to be called.
    pub name: String,
    /// Their key, if they have one.
    pub key: Option<PublicKey>,
}

/// Three numbers, as `1.2.3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Version {
    /// Changes when users must change something.
    pub major: u32,
    /// Changes when something was added.
    pub minor: u32,
    /// Changes when something was repaired.
    pub patch: u32,
}

/// The rule that a manifest breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// A name is empty, too long, or not lowercase letters, digits and hyphens.
    #[error(
        "{0:?} is no package name: 1 to {PACKAGE_NAME_BYTES_MAX} (PACKAGE_NAME_BYTES_MAX) of a-z, 0-9 and -, a \
         letter first"
    )]
    Name(String),
    /// A version is not three numbers.
    #[error("{0:?} is no version: three numbers as 1.2.3")]
    Version(String),
    /// Written for an api that this program does not have.
    #[error("written for api {found}; this program has {}", apis())]
    Api {
        /// What the manifest says.
        found: u16,
    },
    /// No files, or too many.
    #[error("{0} files, where 1 to {FILES_MAX} (FILES_MAX) are allowed")]
    Files(usize),
    /// A path that is not the same on every system.
    #[error("{0:?} is no path: folders and files of a-z, 0-9, -, _ and ., not beginning with .")]
    Path(String),
    /// A path that a folder of the package cannot have: that of its manifest, or below a file.
    #[error("{0:?} is the place of {PACKAGE_FILE}, or lies below a file")]
    Taken(String),
    /// The entry file is not among the files, or is no script.
    #[error("the entry {0:?} is no {ENTRY_SUFFIX} file of the package")]
    Entry(String),
    /// The name of an import is empty, too long, or not lowercase letters, digits and hyphens.
    #[error(
        "import {name:?} has no proper name: 1 to {PACKAGE_NAME_BYTES_MAX} (PACKAGE_NAME_BYTES_MAX) of a-z, 0-9 \
         and -, a letter first"
    )]
    Import {
        /// What the manifest calls it.
        name: String,
    },
    /// Too many imports.
    #[error("{0} imports, where at most {IMPORTS_MAX} (IMPORTS_MAX) are allowed")]
    Imports(usize),
    /// No authors, or too many.
    #[error("{0} authors, where 1 to {AUTHORS_MAX} (AUTHORS_MAX) are allowed")]
    Authors(usize),
    /// An author's name is empty, too long, or has control or direction characters.
    #[error("{0:?} is no author's name")]
    Author(String),
}

impl PackageManifest {
    /// Checks that the manifest keeps the rules. The licence has rules of its own.
    pub(super) fn check(&self) -> Result<(), ManifestError> {
        if !is_name(&self.name) {
            return Err(ManifestError::Name(self.name.clone()));
        }
        if !APIS.contains(&self.api) {
            return Err(ManifestError::Api { found: self.api });
        }
        if self.files.is_empty() || self.files.len() > FILES_MAX {
            return Err(ManifestError::Files(self.files.len()));
        }
        if let Some(path) = self.files.keys().find(|path| !is_path(path)) {
            return Err(ManifestError::Path(path.clone()));
        }
        if let Some(path) = self.files.keys().find(|path| self.is_taken(path)) {
            return Err(ManifestError::Taken(path.clone()));
        }
        if !self.files.contains_key(&self.entry) || !self.entry.ends_with(ENTRY_SUFFIX) {
            return Err(ManifestError::Entry(self.entry.clone()));
        }
        if self.imports.len() > IMPORTS_MAX {
            return Err(ManifestError::Imports(self.imports.len()));
        }
        if let Some(name) = self.imports.keys().find(|name| !is_name(name)) {
            return Err(ManifestError::Import { name: name.clone() });
        }
        if self.authors.is_empty() || self.authors.len() > AUTHORS_MAX {
            return Err(ManifestError::Authors(self.authors.len()));
        }
        match self.authors.iter().find(|author| !is_author_name(&author.name)) {
            Some(author) => Err(ManifestError::Author(author.name.clone())),
            None => Ok(()),
        }
    }

    /// Says whether a folder on a disk cannot have this file beside the others and the manifest.
    fn is_taken(&self, path: &str) -> bool {
        let is_file = |path: &str| path == PACKAGE_FILE || self.files.contains_key(path);
        path == PACKAGE_FILE || path.match_indices('/').any(|(at, _)| is_file(&path[..at]))
    }
}

/// Returns the apis of this program, as people are told of them.
fn apis() -> String {
    let numbers: Vec<String> = APIS.iter().map(|api| format!("api {api}")).collect();
    numbers.join(", ")
}

fn is_name(name: &str) -> bool {
    let rest = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    name.len() <= PACKAGE_NAME_BYTES_MAX
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(rest)
}

fn is_path(path: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
    let part = |part: &str| !part.is_empty() && !part.starts_with('.') && part.chars().all(plain);
    path.len() <= PATH_BYTES_MAX && path.split('/').all(part)
}

fn is_author_name(name: &str) -> bool {
    !name.trim().is_empty()
        && name.len() <= PACKAGE_NAME_BYTES_MAX
        && !name.chars().any(super::source::is_hidden)
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl FromStr for Version {
    type Err = ManifestError;

    fn from_str(text: &str) -> Result<Self, ManifestError> {
        let bad = || ManifestError::Version(text.into());
        let mut numbers = text.split('.').map(|part| {
            let plain = part.bytes().all(|byte| byte.is_ascii_digit());
            let leading_zero = part.len() > 1 && part.starts_with('0');
            if plain && !leading_zero { part.parse().map_err(|_| bad()) } else { Err(bad()) }
        });
        let mut next = || numbers.next().unwrap_or_else(|| Err(bad()));
        let version = Self { major: next()?, minor: next()?, patch: next()? };
        if numbers.next().is_some() { Err(bad()) } else { Ok(version) }
    }
}
