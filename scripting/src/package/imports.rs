//! Imports: a package with all that its source is compiled with.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::{String, ToString},
    vec::Vec,
};

use metatopia_types::PackageId;

use super::{ImportRule, PACKAGE_FILE, Package};
use crate::{
    CompileError, Diagnostic,
    lang::{self, LinkedProgram, SourceUnit, UnitMistakes},
    limits::{IMPORT_BYTES_MIN, LINKED_BYTES_MAX, LINKED_PACKAGES_MAX},
};

/// Digits of a package's id by which messages tell it from others of its name.
const ID_DIGITS: usize = 8;

/// Where packages are looked up.
type Find<'f, 'a> = &'f dyn Fn(&PackageId) -> Option<&'a Package>;

/// Why a package cannot be put together with what it imports.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// An imported package is not there.
    #[error("import {name:?}: there is no package {package}")]
    Missing {
        /// What the importing package calls it, with the names of imports that lead there.
        name: String,
        /// The id that is imported.
        package: PackageId,
    },
    /// Another package was given than the one that is imported. Since an id is a digest of all that is in
    /// a package, also of its imports, this is the only way to a circle of imports.
    #[error("import {name:?}: this is package {found}, and {stated} is imported")]
    Other {
        /// What the importing package calls it.
        name: String,
        /// What its manifest says.
        stated: PackageId,
        /// What was given.
        found: PackageId,
    },
    /// A licence does not let the package import another one.
    #[error("import {name:?}: {rule}")]
    Licence {
        /// The name of the import; empty for two imports that do not fit together.
        name: String,
        /// The rule that says so.
        rule: ImportRule,
    },
    /// More than [`LINKED_PACKAGES_MAX`] with all that imports import.
    #[error(
        "with all that it imports these are more than {LINKED_PACKAGES_MAX} packages (LINKED_PACKAGES_MAX)"
    )]
    Packages,
    /// More than [`LINKED_BYTES_MAX`] of source with all imports.
    #[error(
        "with all that it imports the source takes {bytes} bytes, more than {LINKED_BYTES_MAX} (LINKED_BYTES_MAX)"
    )]
    Bytes {
        /// The length of all entry files.
        bytes: usize,
    },
}

/// All that a source imports: packages that were found, each once, behind those that they import.
#[derive(Debug, Clone, Default)]
pub struct ImportTree<'a> {
    imported: Vec<ImportedPackage<'a>>,
    /// What the source itself imports, by its names for it: places among all.
    direct: BTreeMap<&'a str, usize>,
}

/// A package that others import.
#[derive(Debug, Clone)]
struct ImportedPackage<'a> {
    package: &'a Package,
    /// The name by which it was reached first.
    name: String,
    imports: BTreeMap<&'a str, usize>,
}

impl<'a> ImportTree<'a> {
    /// Looks up imports, and what those import.
    ///
    /// # Errors
    /// See [`ImportError`]; licences are checked by [`LinkedPackage::new`].
    pub fn find(
        imports: &'a BTreeMap<String, PackageId>,
        find: Find<'_, 'a>,
    ) -> Result<Self, ImportError> {
        let mut search = ImportSearch { find, places: BTreeMap::new(), imported: Vec::new() };
        let direct = search.all(imports, "")?;
        let tree = Self { imported: search.imported, direct };
        let bytes = tree.bytes();
        if bytes > LINKED_BYTES_MAX { Err(ImportError::Bytes { bytes }) } else { Ok(tree) }
    }

    /// Returns the imported packages, each behind those that it imports.
    pub fn packages(&self) -> impl Iterator<Item = &'a Package> {
        self.imported.iter().map(|imported| imported.package)
    }

    /// Returns what a source with these imports can name of each, by its name in the manifest.
    ///
    /// # Errors
    /// What is wrong in an imported source.
    pub fn names(&self) -> Result<BTreeMap<String, Vec<String>>, CompileError> {
        let linked = self.link(PACKAGE_FILE, "")?;
        let names = |place: &usize| linked.names[*place].names().into_iter().map(String::from);
        let named =
            self.direct.iter().map(|(name, place)| ((*name).into(), names(place).collect()));
        Ok(named.collect())
    }

    /// Says what is wrong with an author's source that imports this, and with what it imports. Calls and
    /// assignments of the source itself that can run but fail whenever they do are mistakes too.
    ///
    /// # Errors
    /// All mistakes of the first source that has any. `file` is how messages name the source itself.
    pub fn check(&self, file: &str, source: &str) -> Result<(), CompileError> {
        lang::review(&self.units(source)).map_err(|mistakes| self.told(file, mistakes))
    }

    /// Compiles a source with all that it imports. Imports come first.
    pub(crate) fn link(&self, file: &str, source: &str) -> Result<LinkedProgram, CompileError> {
        lang::link(&self.units(source)).map_err(|mistakes| self.told(file, mistakes))
    }

    /// Returns the imported sources in their order, and behind them a source that imports them.
    fn units<'s>(&'s self, source: &'s str) -> Vec<SourceUnit<'s>> {
        let unit = |of: &'s ImportedPackage<'a>| SourceUnit {
            source: of.package.entry(),
            imports: of.imports.clone(),
        };
        let mut units: Vec<SourceUnit<'s>> = self.imported.iter().map(unit).collect();
        units.push(SourceUnit { source, imports: self.direct.clone() });
        units
    }

    /// Returns mistakes with the file that they are in.
    fn told(&self, file: &str, mistakes: UnitMistakes) -> CompileError {
        let UnitMistakes { unit, diagnostics } = mistakes;
        let import = self.imported.get(unit).map(|imported| file_of(imported.package));
        CompileError { file: import.unwrap_or_else(|| file.into()), diagnostics }
    }

    /// Returns the files whose sources a program has, in their order, but for the last.
    pub(crate) fn files(&self) -> impl Iterator<Item = String> {
        self.packages().map(file_of)
    }

    /// Returns the length of all imported entry files.
    fn bytes(&self) -> usize {
        self.packages().map(|package| package.entry().len()).sum()
    }
}

/// Returns how messages name the entry file of an imported package.
fn file_of(package: &Package) -> String {
    let (manifest, id) = (package.manifest(), package.id().to_string());
    format!("{}@{}/{}", manifest.name, &id[..ID_DIGITS], manifest.entry)
}

/// The walk over imports.
struct ImportSearch<'f, 'a> {
    find: Find<'f, 'a>,
    /// Where each package stands that was found.
    places: BTreeMap<PackageId, usize>,
    imported: Vec<ImportedPackage<'a>>,
}

impl<'a> ImportSearch<'_, 'a> {
    /// Finds imports of one package. `before` are the names that lead to it.
    fn all(
        &mut self,
        imports: &'a BTreeMap<String, PackageId>,
        before: &str,
    ) -> Result<BTreeMap<&'a str, usize>, ImportError> {
        let mut places = BTreeMap::new();
        for (name, id) in imports {
            let path = format!("{before}{name}");
            places.insert(name.as_str(), self.one(path, *id)?);
        }
        Ok(places)
    }

    /// Finds one import with all that it imports. Chains are as short as there are few packages.
    fn one(&mut self, name: String, stated: PackageId) -> Result<usize, ImportError> {
        if let Some(place) = self.places.get(&stated) {
            return Ok(*place);
        }
        let Some(package) = (self.find)(&stated) else {
            return Err(ImportError::Missing { name, package: stated });
        };
        let found = package.id();
        if found != stated {
            return Err(ImportError::Other { name, stated, found });
        }
        // The importing package counts, and so does each that is on the way here.
        let on_the_way = name.matches("::").count();
        if self.imported.len() + on_the_way + 2 > LINKED_PACKAGES_MAX {
            return Err(ImportError::Packages);
        }
        let imports = self.all(&package.manifest().imports, &format!("{name}::"))?;
        let place = self.imported.len();
        self.imported.push(ImportedPackage { package, name, imports });
        self.places.insert(stated, place);
        Ok(place)
    }
}

/// A package with all that it imports, which may be compiled: everything is there, and licences allow it.
#[derive(Debug, Clone)]
pub struct LinkedPackage<'a> {
    package: &'a Package,
    imports: ImportTree<'a>,
}

impl<'a> LinkedPackage<'a> {
    /// Puts a package together with what it imports, which `find` gives by id.
    ///
    /// # Errors
    /// See [`ImportError`].
    pub fn new(package: &'a Package, find: Find<'_, 'a>) -> Result<Self, ImportError> {
        let imports = ImportTree::find(&package.manifest().imports, find)?;
        let bytes = imports.bytes() + package.entry().len();
        if bytes > LINKED_BYTES_MAX {
            return Err(ImportError::Bytes { bytes });
        }
        let own = &package.manifest().licence;
        let licence = |name: &str, rule| ImportError::Licence { name: name.into(), rule };
        for ImportedPackage { package, name, .. } in &imports.imported {
            own.import(&package.manifest().licence).map_err(|rule| licence(name, rule))?;
        }
        let all = imports.packages().map(|package| &package.manifest().licence);
        own.join(all).map_err(|rule| licence("", rule))?;
        Ok(Self { package, imports })
    }

    /// Returns the package itself.
    #[must_use]
    pub const fn package(&self) -> &'a Package {
        self.package
    }

    /// Returns what it imports.
    #[must_use]
    pub const fn imports(&self) -> &ImportTree<'a> {
        &self.imports
    }

    /// Returns how many packages these are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.imports.imported.len() + 1
    }

    /// Returns what the package weighs where bytes are counted: as much as is handed out of it, and as is
    /// compiled with it.
    #[must_use]
    pub fn weight(&self) -> usize {
        self.package.encode().len() + self.imported_bytes()
    }

    /// Returns how much is compiled of the package: its entry, and what it imports.
    #[must_use]
    pub fn compiled_bytes(&self) -> usize {
        self.package.entry().len() + self.imported_bytes()
    }

    fn imported_bytes(&self) -> usize {
        self.imports.packages().map(|p| p.entry().len().max(IMPORT_BYTES_MIN)).sum()
    }
}

impl From<ImportError> for CompileError {
    fn from(error: ImportError) -> Self {
        let told = Diagnostic { line: 0, column: 0, message: error.to_string() };
        Self { file: PACKAGE_FILE.into(), diagnostics: [told].into() }
    }
}

impl Package {
    /// Returns the packages that it imports itself, each once.
    pub fn imports(&self) -> impl Iterator<Item = PackageId> {
        self.manifest.imports.values().copied().collect::<BTreeSet<_>>().into_iter()
    }
}
