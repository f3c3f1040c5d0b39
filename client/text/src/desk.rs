//! What the program does for authors beside a text client: folders on a disk, an editor, and a sim that is
//! computed along.

use std::{collections::BTreeSet, path::PathBuf, pin::Pin, process::Command};

use metatopia_client_driver::ClientDriver;
use metatopia_scripting::{Package, PackageAuthor};
use metatopia_types::ScriptId;

/// The folder of a package that somebody changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DraftFolder {
    /// The folder itself.
    pub dir: PathBuf,
    /// The file with the source that runs.
    pub file: PathBuf,
    /// Whether it was written just now; an older one is left as it is.
    pub is_new: bool,
}

/// Lines of logs that come when the sim was computed along.
pub type LogLines<'a> = Pin<Box<dyn Future<Output = Result<Vec<String>, String>> + 'a>>;

/// Whoever has a disk and an editor for a text client. Errors are sentences for the person.
pub trait ScriptDesk {
    /// Returns a package that is part of the program.
    fn example(&self, name: &str) -> Option<Package>;

    /// Lists the names of those packages.
    fn examples(&self) -> Vec<&'static str>;

    /// Returns what a package of the program imports, each behind what that one imports.
    fn example_imports(&self, name: &str) -> Vec<Package>;

    /// Writes a fork of a package into a folder for drafts, unless there is one of its name, and what it
    /// imports beside it.
    ///
    /// # Errors
    /// When it cannot be written.
    fn draft(
        &self,
        parent: &Package,
        imports: &[Package],
        author: PackageAuthor,
    ) -> Result<DraftFolder, String>;

    /// Returns the command that edits a file; nothing where no person is at a terminal.
    fn editor(&self, draft: &DraftFolder) -> Option<Command>;

    /// Reads the package of a folder, and what it imports, each behind what that one imports.
    ///
    /// # Errors
    /// All mistakes that were found, a line each.
    fn read(&self, dir: &str) -> Result<(Package, Vec<Package>), Vec<String>>;

    /// Returns what scripts logged, and where they failed, since the newest state that the servers signed.
    fn logs<'a>(
        &'a self,
        driver: &'a mut ClientDriver,
        scripts: &'a BTreeSet<ScriptId>,
    ) -> LogLines<'a>;
}
