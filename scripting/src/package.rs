//! Packages: source, its licence and who wrote it, named by what they contain.

mod imports;
mod licence;
mod manifest;
mod source;

use alloc::{collections::BTreeMap, string::String, vec::Vec};

use metatopia_types::{Blob, BlobId, Digest, PackageId, wire};

use crate::limits::{FILE_BYTES_MAX, PACKAGE_BYTES_MAX};

/// The file of a package's folder that describes it. It is no file of the package.
pub const PACKAGE_FILE: &str = "package.toml";

pub use imports::{ImportError, ImportTree, LinkedPackage};
pub use licence::{ImportRule, Licence, LicenceError};
pub use manifest::{APIS, ManifestError, PackageAuthor, PackageManifest, Version};
pub use source::SourceError;

/// A package of source that keeps all rules: text only, small, under a copyleft licence, and with
/// exactly the files that its manifest names.
///
/// The same source and manifest have the same [`PackageId`] everywhere; a package that came from
/// somebody else is checked again ([`Package::from_parts`], [`Package::decode`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    id: PackageId,
    manifest: PackageManifest,
    files: BTreeMap<String, String>,
}

/// What a package is made of, before anything is checked.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// Lowercase letters, digits and hyphens.
    pub name: String,
    /// The version, as `1.2.3`.
    pub version: String,
    /// What the source is written for, see [`APIS`].
    pub api: u16,
    /// The file whose handlers run.
    pub entry: String,
    /// File contents by path.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Other packages, by the names that the source imports them by.
    pub imports: BTreeMap<String, PackageId>,
    /// An SPDX expression that allows a copyleft choice, as `AGPL-3.0-or-later`.
    pub licence: String,
    /// Who wrote it, at least one.
    pub authors: Vec<PackageAuthor>,
    /// The package that this one was made from.
    pub parent: Option<PackageId>,
}

/// Why something is no package.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PackageError {
    /// The manifest breaks a rule.
    #[error("manifest: {0}")]
    Manifest(#[from] ManifestError),
    /// The licence is not one that a package may have.
    #[error("licence: {0}")]
    Licence(#[from] LicenceError),
    /// A file breaks a rule.
    #[error("{path}: {error}")]
    Source {
        /// The path of the file.
        path: String,
        /// The rule that it breaks.
        error: SourceError,
    },
    /// All files together are longer than [`PACKAGE_BYTES_MAX`].
    #[error("the files take {bytes} bytes, more than {PACKAGE_BYTES_MAX} (PACKAGE_BYTES_MAX)")]
    Bytes {
        /// Their length in bytes.
        bytes: usize,
    },
    /// A file that the manifest names is not there.
    #[error("{path} is in the manifest, but missing")]
    Missing {
        /// The path of the file.
        path: String,
    },
    /// A file that the manifest does not name.
    #[error("{path} is not in the manifest")]
    Stray {
        /// The path of the file.
        path: String,
    },
    /// A file is not the one that the manifest names.
    #[error("{path} is {found}, the manifest says {stated}")]
    Content {
        /// The path of the file.
        path: String,
        /// What the manifest says.
        stated: BlobId,
        /// The id of the bytes that came.
        found: BlobId,
    },
    /// The bytes of a served package are not its canonical form.
    #[error("served package: {0}")]
    Decode(#[from] wire::DecodeError),
}

impl Package {
    /// Checks a draft and names it.
    ///
    /// # Errors
    /// The first rule that it breaks, with file and line where there is one.
    pub fn build(draft: Draft) -> Result<Self, PackageError> {
        let mut files = BTreeMap::new();
        for (path, bytes) in draft.files {
            let text = source::check(bytes)
                .map_err(|error| PackageError::Source { path: path.clone(), error })?;
            files.insert(path, text);
        }
        let manifest = PackageManifest {
            name: draft.name,
            version: draft.version.parse()?,
            api: draft.api,
            entry: draft.entry,
            files: files.iter().map(|(path, text)| (path.clone(), blob_id(text))).collect(),
            imports: draft.imports,
            licence: Licence::parse(&draft.licence)?,
            authors: draft.authors,
            parent: draft.parent,
        };
        Self::from_parts(manifest, files)
    }

    /// Checks a manifest and files that came from somebody else.
    ///
    /// # Errors
    /// The first rule that they break, with file and line where there is one.
    pub fn from_parts(
        manifest: PackageManifest,
        files: BTreeMap<String, String>,
    ) -> Result<Self, PackageError> {
        manifest.check()?;
        manifest.licence.check()?;
        let bytes = files.values().map(String::len).sum();
        if bytes > PACKAGE_BYTES_MAX {
            return Err(PackageError::Bytes { bytes });
        }
        if let Some(path) = files.keys().find(|path| !manifest.files.contains_key(*path)) {
            return Err(PackageError::Stray { path: path.clone() });
        }
        for (path, &stated) in &manifest.files {
            let path = path.clone();
            let Some(text) = files.get(&path) else {
                return Err(PackageError::Missing { path });
            };
            if let Err(error) = source::check_text(text) {
                return Err(PackageError::Source { path, error });
            }
            let found = blob_id(text);
            if found != stated {
                return Err(PackageError::Content { path, stated, found });
            }
        }
        let id = manifest.id();
        Ok(Self { id, manifest, files })
    }

    /// Its name: the digest of its manifest, and so of every file.
    #[must_use]
    pub const fn id(&self) -> PackageId {
        self.id
    }

    /// Returns what the package says about itself.
    #[must_use]
    pub const fn manifest(&self) -> &PackageManifest {
        &self.manifest
    }

    /// Its files, text by path.
    #[must_use]
    pub const fn files(&self) -> &BTreeMap<String, String> {
        &self.files
    }

    /// The file whose handlers run.
    #[must_use]
    pub fn entry(&self) -> &str {
        self.files.get(&self.manifest.entry).expect("checked when the package was made")
    }

    /// The form in which a server hands it out: everything that anybody needs to check it.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        wire::encode(&(&self.manifest, &self.files))
    }

    /// Reads the form in which it is handed out, and checks all of it. Whether it is the package
    /// that was asked for is seen by its [`Package::id`].
    ///
    /// # Errors
    /// See [`PackageError`].
    pub fn decode(bytes: &[u8]) -> Result<Self, PackageError> {
        // Manifest and paths together stay below one more file.
        let (manifest, files) = wire::decode(bytes, PACKAGE_BYTES_MAX + FILE_BYTES_MAX)?;
        Self::from_parts(manifest, files)
    }
}

/// Reads a source file as packages need it: plain text that shows what it is.
///
/// # Errors
/// The first rule that it breaks, with line and column where there is one.
pub fn read_source(bytes: Vec<u8>) -> Result<String, SourceError> {
    source::check(bytes)
}

fn blob_id(text: &str) -> BlobId {
    Blob(text.as_bytes().to_vec()).id()
}

impl PackageManifest {
    /// The digest of its canonical encoding.
    #[must_use]
    pub fn id(&self) -> PackageId {
        PackageId(Digest::of("metatopia package v1", &wire::encode(self)))
    }
}
