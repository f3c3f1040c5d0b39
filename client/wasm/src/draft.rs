//! Drafts of packages: made by the rules that servers have, to be published or tried.

use std::{collections::BTreeMap, str::FromStr};

use metatopia_scripting::{APIS, Diagnostic, Draft, Package, PackageAuthor, check, check_syntax};
use metatopia_types::{Blob, PackageId, PublicKey, limits::BLOB_BYTES_MAX};
use serde::Deserialize;

/// A package to be made, in the words of the page.
#[derive(Debug, Deserialize)]
pub(crate) struct PageDraft {
    name: String,
    version: String,
    /// The newest one, if none is named.
    api: Option<u16>,
    entry: String,
    files: BTreeMap<String, String>,
    licence: String,
    /// Ids of packages, by the names that the source has for them.
    #[serde(default)]
    imports: BTreeMap<String, String>,
    /// Who wrote what it was made from; the own key is added.
    #[serde(default)]
    authors: Vec<PageAuthor>,
    parent: Option<String>,
}

/// Somebody who wrote a package, in the words of the page.
#[derive(Debug, Deserialize)]
struct PageAuthor {
    name: String,
    key: Option<String>,
}

/// Why a draft makes no package.
#[derive(Debug)]
pub(crate) enum DraftFault {
    /// A key, parent or import that is none.
    Name,
    /// It breaks a rule of packages, in words.
    Rule(String),
    /// It fits into no turn.
    TooLong,
}

impl PageDraft {
    /// Makes the package. Whoever makes it is added to its authors, unless the key is one of theirs. What the
    /// source says of its imports is judged by the sim, which has them.
    pub(crate) fn package(
        self,
        name: String,
        key: PublicKey,
    ) -> Result<(PackageId, Blob), DraftFault> {
        let parent = self.parent.map(|id| id.parse::<PackageId>()).transpose();
        let parent = parent.map_err(|_| DraftFault::Name)?;
        let import = |(name, id): (String, String)| Ok((name, id.parse::<PackageId>()?));
        let imports: Result<BTreeMap<String, PackageId>, <PackageId as FromStr>::Err> =
            self.imports.into_iter().map(import).collect();
        let authors: Option<Vec<PackageAuthor>> =
            self.authors.into_iter().map(PageAuthor::read).collect();
        let mut authors = authors.ok_or(DraftFault::Name)?;
        if !authors.iter().any(|author| author.key == Some(key)) {
            authors.push(PackageAuthor { name, key: Some(key) });
        }
        let files = self.files.into_iter().map(|(path, text)| (path, text.into_bytes()));
        let package = Package::build(Draft {
            name: self.name,
            version: self.version,
            api: self.api.unwrap_or(APIS[APIS.len() - 1]),
            entry: self.entry,
            files: files.collect(),
            imports: imports.map_err(|_| DraftFault::Name)?,
            licence: self.licence,
            authors,
            parent,
        });
        let package = package.map_err(|why| DraftFault::Rule(why.to_string()))?;
        let has_imports = !package.manifest().imports.is_empty();
        if let Some(first) = look_over(package.entry(), has_imports).first() {
            return Err(DraftFault::Rule(first.to_string()));
        }
        let blob = Blob(package.encode());
        if blob.0.len() > BLOB_BYTES_MAX {
            return Err(DraftFault::TooLong);
        }
        Ok((package.id(), blob))
    }
}

/// Returns what is wrong with a source. What it names of imports cannot be judged without them, so of one that
/// has some the syntax is looked over.
pub(crate) fn look_over(source: &str, has_imports: bool) -> Vec<Diagnostic> {
    if has_imports { check_syntax(source) } else { check(source) }
}

impl PageAuthor {
    fn read(self) -> Option<PackageAuthor> {
        let key = self.key.map(|key| key.parse()).transpose().ok()?;
        Some(PackageAuthor { name: self.name, key })
    }
}
