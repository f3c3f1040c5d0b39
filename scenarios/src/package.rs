//! Packages of scripts from their files.

use std::collections::BTreeMap;

use metatopia_scripting::{
    Diagnostic, Draft, Licence, LicenceError, ManifestError, PACKAGE_FILE, Package, PackageAuthor,
    PackageError, PackageManifest, SourceError, check, read_source,
};
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::{Mistake, TomlSource};

/// What a `package.toml` says, with the places of what rules are about.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct PackageFile {
    name: Spanned<String>,
    version: Spanned<String>,
    api: Spanned<u16>,
    entry: Spanned<String>,
    licence: Spanned<String>,
    authors: Spanned<Vec<AuthorFile>>,
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
    fn author(&self) -> Result<PackageAuthor, String> {
        match self {
            Self::Name(name) => Ok(PackageAuthor { name: name.clone(), key: None }),
            Self::Signed { name, key } => match key.parse() {
                Ok(key) => Ok(PackageAuthor { name: name.clone(), key: Some(key) }),
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
    parse_package_all(folder, files)
        .map_err(|mistakes| mistakes.into_iter().next().expect("a failure names a mistake"))
}

/// Puts a package together as [`parse_package`] does, and looks at every file.
///
/// # Errors
/// All mistakes that were found, those of `package.toml` first; never none.
pub fn parse_package_all(
    folder: &str,
    files: &BTreeMap<&str, &str>,
) -> Result<Package, Vec<Mistake>> {
    let Some(text) = files.get(PACKAGE_FILE) else {
        return Err(vec![Mistake::in_file(folder, format!("{PACKAGE_FILE} is missing"))]);
    };
    let file = format!("{folder}/{PACKAGE_FILE}");
    let reader = PackageReader { folder, source: TomlSource { file: &file, text } };
    let described: PackageFile = reader.source.read().map_err(|mistake| vec![mistake])?;
    let sources: BTreeMap<&str, &str> =
        files.iter().filter(|(name, _)| **name != PACKAGE_FILE).map(|(n, t)| (*n, *t)).collect();
    let mut mistakes = Vec::new();
    let package = reader.build(&described, &sources).unwrap_or_else(|mistake| {
        mistakes.push(mistake);
        None
    });
    for mistake in reader.others(&described, &sources) {
        if !mistakes.contains(&mistake) {
            mistakes.push(mistake);
        }
    }
    match package {
        Some(package) if mistakes.is_empty() => Ok(package),
        _ => Err(mistakes),
    }
}

/// Reads a package, and says where a rule is broken.
struct PackageReader<'a> {
    folder: &'a str,
    source: TomlSource<'a>,
}

impl PackageReader<'_> {
    /// Returns the package, or the first rule that it breaks; nothing never comes alone.
    fn build(
        &self,
        described: &PackageFile,
        sources: &BTreeMap<&str, &str>,
    ) -> Result<Option<Package>, Mistake> {
        let authors = described.authors.get_ref().iter().map(AuthorFile::author);
        let authors: Result<Vec<_>, String> = authors.collect();
        let parent = described.parent.as_ref().map(|id| {
            let text = id.get_ref();
            let bad = |_| self.source.mistake(id, format!("{text:?} is no id of a package"));
            text.parse().map_err(bad)
        });
        let bytes = |(name, text): (&&str, &&str)| ((*name).to_owned(), text.as_bytes().to_vec());
        Package::build(Draft {
            name: described.name.get_ref().clone(),
            version: described.version.get_ref().clone(),
            api: *described.api.get_ref(),
            entry: described.entry.get_ref().clone(),
            files: sources.iter().map(bytes).collect(),
            licence: described.licence.get_ref().clone(),
            authors: authors.map_err(|why| self.source.mistake(&described.authors, why))?,
            parent: parent.transpose()?,
            ..Draft::default()
        })
        .map(Some)
        .map_err(|error| self.place(&error, described))
    }

    /// Returns what else is wrong: the licence, each file, and all that the entry's compiler says.
    fn others(&self, described: &PackageFile, sources: &BTreeMap<&str, &str>) -> Vec<Mistake> {
        let mut found = Vec::new();
        if let Err(error) = Licence::parse(described.licence.get_ref()) {
            found.push(self.licence(&error, described));
        }
        for (path, text) in sources {
            let file = format!("{}/{path}", self.folder);
            if path == described.entry.get_ref() {
                found.extend(source_mistakes(&file, text));
            } else if let Err(error) = read_source(text.as_bytes().to_vec()) {
                found.push(text_mistake(&file, &error));
            }
        }
        found
    }

    /// Returns the mistake of a rule that the package breaks, at its place.
    fn place(&self, error: &PackageError, described: &PackageFile) -> Mistake {
        use ManifestError as M;
        let here = |path: &str| format!("{}/{path}", self.folder);
        match error {
            PackageError::Source { path, error } => text_mistake(&here(path), error),
            PackageError::Licence(error) => self.licence(error, described),
            PackageError::Manifest(wrong) => match wrong {
                M::Name(_) => self.source.mistake(&described.name, wrong),
                M::Version(_) => self.source.mistake(&described.version, wrong),
                M::Api { .. } => self.source.mistake(&described.api, wrong),
                M::Entry(_) => self.source.mistake(&described.entry, wrong),
                M::Authors(_) | M::Author(_) => self.source.mistake(&described.authors, wrong),
                M::Path(path) | M::Taken(path) => Mistake::in_file(&here(path), wrong),
                M::Files(_) | M::Import { .. } => Mistake::in_file(self.folder, wrong),
            },
            _ => Mistake::in_file(self.folder, error),
        }
    }

    /// Returns the mistake of a licence, at the column of its expression if that is known.
    fn licence(&self, error: &LicenceError, described: &PackageFile) -> Mistake {
        let span = described.licence.span();
        let message = error.to_string();
        match error {
            LicenceError::Expression { column, .. } | LicenceError::Deprecated { column, .. } => {
                // The span begins with the quote, and columns of expressions begin with 1.
                let start = span.start.saturating_add(*column);
                let told = message.strip_prefix(&format!("column {column}: "));
                self.source.mistake_in(start..span.end, told.unwrap_or(&message))
            }
            _ => self.source.mistake_in(span, message),
        }
    }
}

/// Returns what is wrong with a source: the rule of packages that its text breaks, or all that the compiler
/// says. `file` is how messages name it.
#[must_use]
pub fn source_mistakes(file: &str, text: &str) -> Vec<Mistake> {
    // What cannot be read cannot be compiled.
    if let Err(error) = read_source(text.as_bytes().to_vec()) {
        return vec![text_mistake(file, &error)];
    }
    let found = check(text).into_iter();
    let mistake = |wrong: Diagnostic| Mistake {
        file: file.to_owned(),
        line: wrong.line as usize,
        column: wrong.column as usize,
        message: wrong.message,
    };
    found.map(mistake).collect()
}

/// Returns the mistake of a text that breaks a rule of packages, at its line.
fn text_mistake(file: &str, error: &SourceError) -> Mistake {
    let (line, column) = match error {
        SourceError::Utf8 { line } | SourceError::CarriageReturn { line } => (*line, 0),
        SourceError::Hidden { line, column, .. } => (*line, *column),
        SourceError::Bytes { .. } | SourceError::ByteOrderMark => (0, 0),
    };
    let message = error.to_string();
    // The words begin with the place, which stands before them anyway.
    let told = message.split_once(": ").filter(|_| line > 0).map_or(&*message, |(_, rest)| rest);
    Mistake { line, column, ..Mistake::in_file(file, told) }
}

/// Returns the texts of a package's folder, by path: `package.toml`, and the files.
#[must_use]
pub fn package_files(package: &Package) -> BTreeMap<String, String> {
    let mut files = package.files().clone();
    files.insert(PACKAGE_FILE.to_owned(), manifest(package));
    files
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
        name: unplaced(name.clone()),
        version: unplaced(version.to_string()),
        api: unplaced(*api),
        entry: unplaced(entry.clone()),
        licence: unplaced(licence.expression.clone()),
        authors: unplaced(authors.iter().map(author).collect()),
        parent: parent.map(|id| unplaced(id.to_string())),
    };
    toml::to_string(&file).expect("numbers and texts")
}

/// Returns a value that is not read from a text, but written to one.
fn unplaced<T>(value: T) -> Spanned<T> {
    Spanned::new(0..0, value)
}
