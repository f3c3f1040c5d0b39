//! Packages of scripts from their files.

use std::collections::BTreeMap;

use metatopia_scripting::{
    CompileError, Diagnostic, Draft, ImportError, ImportTree, Licence, LicenceError, LinkedPackage,
    ManifestError, PACKAGE_FILE, Package, PackageAuthor, PackageError, PackageManifest,
    SourceError, check, read_source,
};
use metatopia_types::PackageId;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::{Mistake, TomlSource};

/// The least digits of an id of which the rest is told, if only one package begins like this.
const DIGITS_MIN: usize = 8;

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
    /// Ids of other packages, by the names that the source imports them by.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    imports: BTreeMap<String, Spanned<String>>,
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

/// Packages that others can import, by id.
pub type KnownPackages = BTreeMap<PackageId, Package>;

/// Puts a package that imports nothing together from the texts in its folder, by path: `package.toml` and
/// the source. `folder` is how messages name the folder.
///
/// # Errors
/// The first mistake, with file and line.
pub fn parse_package(folder: &str, files: &BTreeMap<&str, &str>) -> Result<Package, Mistake> {
    parse_package_all(folder, files, &KnownPackages::new())
        .map_err(|mistakes| mistakes.into_iter().next().expect("a failure names a mistake"))
}

/// Puts a package together from its texts, and looks at nothing but the rules of packages: not at what it
/// imports, and not at its source.
///
/// # Errors
/// The first mistake, with file and line.
pub fn read_package(folder: &str, files: &BTreeMap<&str, &str>) -> Result<Package, Mistake> {
    let file = format!("{folder}/{PACKAGE_FILE}");
    let (reader, described, sources) = described(folder, &file, files)?;
    let package = reader.build(&described, &sources, &KnownPackages::new())?;
    Ok(package.expect("nothing never comes alone"))
}

/// Returns the ids of what the package of a folder imports itself, as far as its `package.toml` can be read.
#[must_use]
pub fn imported_ids(files: &BTreeMap<&str, &str>) -> Vec<PackageId> {
    let described = described("", PACKAGE_FILE, files).map(|(_, described, _)| described.imports);
    let imports = described.unwrap_or_default();
    imports.values().filter_map(|id| id.get_ref().parse().ok()).collect()
}

/// Returns a reader of a folder, and what its `package.toml` says.
fn described<'a>(
    folder: &'a str,
    file: &'a str,
    files: &BTreeMap<&'a str, &'a str>,
) -> Result<(PackageReader<'a>, PackageFile, BTreeMap<&'a str, &'a str>), Mistake> {
    let Some(text) = files.get(PACKAGE_FILE) else {
        return Err(Mistake::in_file(folder, format!("{PACKAGE_FILE} is missing")));
    };
    let reader = PackageReader { folder, source: TomlSource { file, text } };
    let described: PackageFile = reader.source.read()?;
    let sources = files.iter().filter(|(name, _)| **name != PACKAGE_FILE).map(|(n, t)| (*n, *t));
    Ok((reader, described, sources.collect()))
}

/// Puts a package together from its texts, and looks at every file, and at what it imports of `known`.
///
/// # Errors
/// All mistakes that were found, those of `package.toml` first; never none.
pub fn parse_package_all(
    folder: &str,
    files: &BTreeMap<&str, &str>,
    known: &KnownPackages,
) -> Result<Package, Vec<Mistake>> {
    let file = format!("{folder}/{PACKAGE_FILE}");
    let (reader, described, sources) =
        described(folder, &file, files).map_err(|mistake| vec![mistake])?;
    let mut mistakes = Vec::new();
    let package = reader.build(&described, &sources, known).unwrap_or_else(|mistake| {
        mistakes.push(mistake);
        None
    });
    for mistake in reader.others(&described, &sources, known, package.as_ref()) {
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
        known: &KnownPackages,
    ) -> Result<Option<Package>, Mistake> {
        let authors = described.authors.get_ref().iter().map(AuthorFile::author);
        let authors: Result<Vec<_>, String> = authors.collect();
        let parent = described.parent.as_ref().map(|id| {
            let text = id.get_ref();
            let bad = |_| self.source.mistake(id, format!("{text:?} is no id of a package"));
            text.parse().map_err(bad)
        });
        let imports: Result<BTreeMap<String, PackageId>, Mistake> = (described.imports.iter())
            .map(|(name, id)| Ok((name.clone(), self.import(id, known)?)))
            .collect();
        let bytes = |(name, text): (&&str, &&str)| ((*name).to_owned(), text.as_bytes().to_vec());
        Package::build(Draft {
            imports: imports?,
            name: described.name.get_ref().clone(),
            version: described.version.get_ref().clone(),
            api: *described.api.get_ref(),
            entry: described.entry.get_ref().clone(),
            files: sources.iter().map(bytes).collect(),
            licence: described.licence.get_ref().clone(),
            authors: authors.map_err(|why| self.source.mistake(&described.authors, why))?,
            parent: parent.transpose()?,
        })
        .map(Some)
        .map_err(|error| self.place(&error, described))
    }

    /// Returns the id of an import.
    fn import(&self, id: &Spanned<String>, known: &KnownPackages) -> Result<PackageId, Mistake> {
        let text = id.get_ref();
        text.parse().map_err(|_| {
            let begins = |known: &&PackageId| {
                text.len() >= DIGITS_MIN && known.to_string().starts_with(&text.to_lowercase())
            };
            let mut begun = known.keys().filter(begins);
            let words = match (begun.next(), begun.next()) {
                (Some(one), None) => format!("an import names the whole id: {one}"),
                _ => format!("{text:?} is no id of a package, which has 64 digits"),
            };
            self.source.mistake(id, words)
        })
    }

    /// Returns all that a source of the package can import, or what is wrong with that.
    fn imports<'k>(
        &self,
        described: &PackageFile,
        ids: &'k BTreeMap<String, PackageId>,
        known: &'k KnownPackages,
    ) -> Result<ImportTree<'k>, Mistake> {
        let found = ImportTree::find(ids, &|id| known.get(id));
        found.map_err(|error| self.import_mistake(&error, described, known))
    }

    /// Returns the mistake of an import, at its line.
    fn import_mistake(
        &self,
        error: &ImportError,
        described: &PackageFile,
        known: &KnownPackages,
    ) -> Mistake {
        let (ImportError::Missing { name, .. }
        | ImportError::Other { name, .. }
        | ImportError::Licence { name, .. }) = error
        else {
            return Mistake::in_file(self.source.file, error);
        };
        let mut words = error.to_string();
        if let ImportError::Missing { .. } = error {
            let named = known.iter().filter(|(_, package)| package.manifest().name == *name);
            for (id, package) in named.take(2) {
                let described = described.name.get_ref();
                words.push_str(&match package.manifest().imports.contains_key(described) {
                    true => {
                        format!("; {name} imports {described}, and no circle of imports can be")
                    }
                    false => format!("; {name} {} is {id}", package.manifest().version),
                });
            }
        }
        match described.imports.get(name.split("::").next().unwrap_or(name)) {
            Some(id) => self.source.mistake(id, words),
            None => Mistake::in_file(self.source.file, words),
        }
    }

    /// Returns what is wrong with the sources of the package: its entry, and what that imports.
    fn entry(
        &self,
        described: &PackageFile,
        text: &str,
        known: &KnownPackages,
        package: Option<&Package>,
    ) -> Vec<Mistake> {
        let file = format!("{}/{}", self.folder, described.entry.get_ref());
        if let Err(error) = read_source(text.as_bytes().to_vec()) {
            return vec![text_mistake(&file, &error)];
        }
        let mut found = Vec::new();
        let mut ids = BTreeMap::new();
        for (name, id) in &described.imports {
            match self.import(id, known) {
                Ok(id) => drop(ids.insert(name.clone(), id)),
                Err(mistake) => found.push(mistake),
            }
        }
        // What the source names of imports that are not there cannot be judged.
        let tree = match self.imports(described, &ids, known) {
            Ok(tree) if found.is_empty() => tree,
            Ok(_) => return found,
            Err(mistake) => return [found, vec![mistake]].concat(),
        };
        let linked = package.map(|package| LinkedPackage::new(package, &|id| known.get(id)));
        if let Some(Err(error)) = linked {
            found.push(self.import_mistake(&error, described, known));
        }
        if let Err(CompileError { file, diagnostics }) = tree.check(&file, text) {
            found.extend(diagnostics.into_iter().map(|wrong| mistake_of(&file, wrong)));
        }
        found
    }

    /// Returns what else is wrong: the licence, each file, and all that the entry's compiler says.
    fn others(
        &self,
        described: &PackageFile,
        sources: &BTreeMap<&str, &str>,
        known: &KnownPackages,
        package: Option<&Package>,
    ) -> Vec<Mistake> {
        let mut found = Vec::new();
        if let Err(error) = Licence::parse(described.licence.get_ref()) {
            found.push(self.licence(&error, described));
        }
        for (path, text) in sources {
            let file = format!("{}/{path}", self.folder);
            if path == described.entry.get_ref() {
                found.extend(self.entry(described, text, known, package));
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
                // A file of another name is no script. One of this name is not there.
                M::Entry(entry) if !entry.ends_with(".rhai") => {
                    self.source.mistake(&described.entry, wrong)
                }
                M::Entry(entry) => self.source.mistake(&described.entry, no_entry(entry)),
                M::Files(0) => {
                    self.source.mistake(&described.entry, no_entry(described.entry.get_ref()))
                }
                M::Authors(_) | M::Author(_) => self.source.mistake(&described.authors, wrong),
                M::Path(path) | M::Taken(path) => Mistake::in_file(&here(path), wrong),
                M::Import { name } => match described.imports.get(name) {
                    Some(id) => self.source.mistake(id, wrong),
                    None => Mistake::in_file(self.source.file, wrong),
                },
                M::Imports(_) => Mistake::in_file(self.source.file, wrong),
                M::Files(_) => Mistake::in_file(self.folder, wrong),
            },
            _ => Mistake::in_file(self.folder, error),
        }
    }

    /// Returns the mistake of a licence, at the column of its expression if that is known.
    fn licence(&self, error: &LicenceError, described: &PackageFile) -> Mistake {
        licence_mistake(&self.source, &described.licence, error)
    }
}

/// Returns what is wrong with a package whose entry is not among its files.
fn no_entry(entry: &str) -> String {
    format!("there is no {entry}, the entry of the package")
}

/// Returns the mistake of a licence that is written there, at the column of its expression if that is known.
pub(crate) fn licence_mistake(
    source: &TomlSource<'_>,
    licence: &Spanned<String>,
    error: &LicenceError,
) -> Mistake {
    let span = licence.span();
    let message = licence_words(error);
    match error {
        LicenceError::Expression { column, .. } | LicenceError::Deprecated { column, .. } => {
            // The span begins with the quote, and columns of expressions begin with 1.
            let start = span.start.saturating_add(*column);
            let told = message.strip_prefix(&format!("column {column}: "));
            source.mistake_in(start..span.end, told.unwrap_or(&message))
        }
        _ => source.mistake_in(span, message),
    }
}

/// Returns what is wrong with an expression of licences, and what to write where that is no name of one.
#[must_use]
pub fn licence_words(error: &LicenceError) -> String {
    match error {
        LicenceError::Expression { column, reason }
            if matches!(reason.as_str(), "unknown term" | "unknown license id") =>
        {
            let told = "no licence of the SPDX list has this name";
            format!("column {column}: {told}: write one such as AGPL-3.0-or-later")
        }
        _ => error.to_string(),
    }
}

/// Returns what is wrong with a source that imports nothing: the rule of packages that its text breaks, or
/// all that the compiler says. `file` is how messages name it.
#[must_use]
pub fn source_mistakes(file: &str, text: &str) -> Vec<Mistake> {
    // What cannot be read cannot be compiled.
    if let Err(error) = read_source(text.as_bytes().to_vec()) {
        return vec![text_mistake(file, &error)];
    }
    check(text).into_iter().map(|wrong| mistake_of(file, wrong)).collect()
}

/// Returns a complaint of the compiler as a mistake.
fn mistake_of(file: &str, wrong: Diagnostic) -> Mistake {
    Mistake {
        file: file.to_owned(),
        line: wrong.line as usize,
        column: wrong.column as usize,
        message: wrong.message,
    }
}

/// Returns the mistake of a text that breaks a rule of packages, at its line.
fn text_mistake(file: &str, error: &SourceError) -> Mistake {
    let (line, column) = match error {
        SourceError::CarriageReturn { line } => (*line, 0),
        SourceError::Utf8 { line, column } | SourceError::Hidden { line, column, .. } => {
            (*line, *column)
        }
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
    let PackageManifest { name, version, api, entry, licence, authors, parent, imports, .. } =
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
        imports: (imports.iter())
            .map(|(name, id)| (name.clone(), unplaced(id.to_string())))
            .collect(),
    };
    toml::to_string(&file).expect("numbers and texts")
}

/// Returns a value that is not read from a text, but written to one.
fn unplaced<T>(value: T) -> Spanned<T> {
    Spanned::new(0..0, value)
}
