//! `script check` shows what is wrong with a source or a package before it runs.

use std::{
    fmt,
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use clap::Args;
use metatopia_client_driver::NodeUrl;
use metatopia_scenarios::{PACKAGE_FILE, TESTS_FILE, source_mistakes, text_of_file};
use metatopia_scripting::{Package, limits::FILE_BYTES_MAX};
use serde::Serialize;

use super::{
    mistakes,
    packages::{PUBLISHABLE_BYTES_MAX, ScriptFolder},
};
use crate::cli::{console::Console, failure::Failure, session::NodeArgs, wait};

#[derive(Debug, Args)]
pub(in crate::cli) struct ScriptCheckArgs {
    /// The folder of a package, or one source file.
    path: PathBuf,
    #[command(flatten)]
    imports: ImportArgs,
}

/// Where imports are looked up that are in no folder.
#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// Fetch what the package imports from this node, as far as it is neither in the folder IMPORTS nor in a
    /// folder beside that of the package.
    #[arg(long, value_name = "URL[,URL..]", value_delimiter = ',')]
    node: Vec<NodeUrl>,
}

impl ImportArgs {
    /// Reads the folder of a package, and fetches imports that it lacks if a node is named.
    ///
    /// # Errors
    /// As [`ScriptFolder::read`] and [`ScriptFolder::fetch_imports`].
    pub(super) fn folder(&self, dir: &Path) -> Result<ScriptFolder, Failure> {
        let mut folder = ScriptFolder::read(dir)?;
        if !self.node.is_empty() {
            let at = NodeArgs { node: self.node.clone(), sim: None };
            wait(folder.fetch_imports(&at))?;
        }
        Ok(folder)
    }
}

/// The result of a check of a source.
#[derive(Debug, Serialize)]
struct CheckedSource {
    path: String,
    ok: bool,
}

/// A package without mistakes.
#[derive(Debug, Serialize)]
pub(super) struct CheckedPackage {
    path: String,
    ok: bool,
    name: String,
    version: String,
    /// The expression of the author, in the spelling of the SPDX list.
    licence: String,
    /// The copyleft licence under which the package runs.
    chosen: String,
    files: usize,
    /// The length in which it is published.
    bytes: usize,
    bytes_max: usize,
    tests: bool,
    package: String,
}

impl CheckedPackage {
    pub(super) fn of(path: &str, package: &Package) -> Self {
        let manifest = package.manifest();
        Self {
            path: path.to_owned(),
            ok: true,
            name: manifest.name.clone(),
            version: manifest.version.to_string(),
            licence: manifest.licence.expression.clone(),
            chosen: manifest.licence.chosen.clone(),
            files: package.files().len(),
            bytes: package.encode().len(),
            bytes_max: PUBLISHABLE_BYTES_MAX,
            tests: package.files().contains_key(TESTS_FILE),
            package: package.id().to_string(),
        }
    }
}

impl fmt::Display for CheckedPackage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, name, version, chosen, files, bytes, bytes_max, .. } = self;
        let word = if *files == 1 { "file" } else { "files" };
        write!(
            f,
            "{path}: {name} {version}, {chosen}, {files} {word}, {bytes} of {bytes_max} bytes\n\
             package {}",
            self.package
        )
    }
}

pub(super) fn run(args: &ScriptCheckArgs, console: Console) -> Result<(), Failure> {
    if args.path.is_dir() { folder(args, console) } else { file(&args.path, console) }
}

fn folder(args: &ScriptCheckArgs, console: Console) -> Result<(), Failure> {
    let folder = args.imports.folder(&args.path)?;
    let package = folder.checked(console)?;
    let checked = CheckedPackage::of(folder.name(), &package);
    if checked.bytes > PUBLISHABLE_BYTES_MAX {
        console.warn("It is too long to be published, but a place may ship it.");
    }
    if console.is_json() {
        return console.json(&checked);
    }
    console.line(&format!("{checked}: {}", console.verdict(true, "fine")))
}

fn file(path: &Path, console: Console) -> Result<(), Failure> {
    let name = path.display().to_string();
    if path.file_name().is_some_and(|file| file == PACKAGE_FILE) {
        return Err(Failure::usage(format!("{name} is the manifest of a package"))
            .hint("name its folder, which is checked as a whole"));
    }
    let source = read(path)?;
    let found = source_mistakes(&name, &source);
    if !found.is_empty() {
        return Err(mistakes::tell(&name, &found, |_| Some(&*source), console)?);
    }
    if console.is_json() {
        return console.json(&CheckedSource { path: name, ok: true });
    }
    console.line(&format!("{name}: {}", console.verdict(true, "fine")))
}

/// Reads a source file.
///
/// # Errors
/// Fails when the file is not there, too long, or no text.
pub(super) fn read(path: &Path) -> Result<String, Failure> {
    let name = path.display();
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => Failure::not_found(format!("there is no folder or file {name}")),
        _ => Failure::failed(format!("cannot read {name}: {error}")),
    };
    let mut bytes = Vec::new();
    let limit = FILE_BYTES_MAX as u64 + 1;
    File::open(path).map_err(failed)?.take(limit).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > FILE_BYTES_MAX {
        let message =
            format!("{name} is longer than {FILE_BYTES_MAX} bytes, the most a script has");
        return Err(Failure::failed(message));
    }
    text_of_file(&name.to_string(), bytes).map_err(|mistake| Failure::failed(mistake.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::exit::Exit;

    /// Whoever mistyped the folder of a package was told of a file.
    #[test]
    fn what_is_not_there_may_be_meant_as_a_folder_or_a_file() {
        let failure = read(Path::new("/nowhere/lamp")).expect_err("it is not there");
        assert_eq!(failure.exit, Exit::NotFound);
        assert_eq!(failure.message, "there is no folder or file /nowhere/lamp");
    }
}
