//! Packages of scripts from their files.

use std::collections::BTreeMap;

use metatopia_scripting::{Draft, Package, PackageAuthor, PackageError, PackageManifest, check};
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::{Mistake, TomlSource};

/// The file that describes a package.
pub(crate) const MANIFEST: &str = "package.toml";

/// What a `package.toml` says.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct PackageFile {
    name: String,
    version: String,
    api: u16,
    entry: String,
    licence: String,
    authors: Vec<AuthorFile>,
    /// The id of the package that this one was made from.
    parent: Option<Spanned<String>>,
}

/// Somebody who wrote a package: a name, or a name with a key.
#[derive(Debug, Deserialize, Serialize)]
#[serde(untagged)]
enum AuthorFile {
    Name(String),
    Signed { name: String, key: String },
}

impl AuthorFile {
    fn author(self) -> Result<PackageAuthor, String> {
        match self {
            Self::Name(name) => Ok(PackageAuthor { name, key: None }),
            Self::Signed { name, key } => match key.parse() {
                Ok(key) => Ok(PackageAuthor { name, key: Some(key) }),
                Err(_) => Err(format!("{key:?} is no key")),
            },
        }
    }
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
    let file = path(MANIFEST);
    let source = TomlSource { file: &file, text };
    let described: PackageFile = source.read()?;
    let authors = described.authors.into_iter().map(AuthorFile::author);
    let parent = described.parent.as_ref().map(|id| {
        let text = id.get_ref();
        text.parse().map_err(|_| source.mistake(id, format!("{text:?} is no id of a package")))
    });
    let sources = files.iter().filter(|(name, _)| **name != MANIFEST);
    let package = Package::build(Draft {
        name: described.name,
        version: described.version,
        api: described.api,
        entry: described.entry.clone(),
        files: sources.map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect(),
        licence: described.licence,
        authors: authors.collect::<Result<_, _>>().map_err(|why| Mistake::in_file(&file, why))?,
        parent: parent.transpose()?,
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

/// Returns the text of the `package.toml` of a package.
pub(crate) fn manifest(package: &Package) -> String {
    let PackageManifest { name, version, api, entry, licence, authors, parent, .. } =
        package.manifest();
    let author = |author: &PackageAuthor| match &author.key {
        None => AuthorFile::Name(author.name.clone()),
        Some(key) => AuthorFile::Signed { name: author.name.clone(), key: key.to_string() },
    };
    let file = PackageFile {
        name: name.clone(),
        version: version.to_string(),
        api: *api,
        entry: entry.clone(),
        licence: licence.expression.clone(),
        authors: authors.iter().map(author).collect(),
        parent: parent.map(|id| Spanned::new(0..0, id.to_string())),
    };
    toml::to_string(&file).expect("numbers and texts")
}
