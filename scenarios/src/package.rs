//! Packages of scripts from their files.

use std::collections::BTreeMap;

use metatopia_scripting::{Draft, Package, PackageAuthor, PackageError, check};
use serde::Deserialize;

use crate::{Mistake, TomlSource};

/// The file that describes a package.
pub(crate) const MANIFEST: &str = "package.toml";

/// What a `package.toml` says.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PackageFile {
    name: String,
    version: String,
    api: u16,
    entry: String,
    licence: String,
    authors: Vec<String>,
}

/// Puts a package together from the texts in its folder, by path: `package.toml` and the source.
/// `folder` is how messages name the folder.
///
/// # Errors
/// The first mistake, with file and line.
pub fn parse_package(folder: &str, files: &BTreeMap<&str, &str>) -> Result<Package, Mistake> {
    let path = |name: &str| format!("{folder}/{name}");
    let Some(text) = files.get(MANIFEST) else {
        return Err(Mistake::in_file(folder, format!("{MANIFEST} is missing")));
    };
    let described: PackageFile = TomlSource { file: &path(MANIFEST), text }.read()?;
    let sources = files.iter().filter(|(name, _)| **name != MANIFEST);
    let package = Package::build(Draft {
        name: described.name,
        version: described.version,
        api: described.api,
        entry: described.entry.clone(),
        files: sources.map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect(),
        licence: described.licence,
        authors: described
            .authors
            .into_iter()
            .map(|name| PackageAuthor { name, key: None })
            .collect(),
        ..Draft::default()
    })
    .map_err(|error| match &error {
        PackageError::Source { path: file, .. } => Mistake::in_file(&path(file), &error),
        _ => Mistake::in_file(&path(MANIFEST), &error),
    })?;
    match check(package.entry()).into_iter().next() {
        None => Ok(package),
        Some(wrong) => Err(Mistake {
            file: path(&described.entry),
            line: wrong.line as usize,
            column: wrong.column as usize,
            message: wrong.message,
        }),
    }
}
