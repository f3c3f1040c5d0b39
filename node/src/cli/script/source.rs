//! `script source` writes source that runs in a sim into folders.

use std::{
    collections::BTreeSet,
    fmt,
    path::{Path, PathBuf},
};

use clap::Args;
use metatopia_client_driver::ClientDriver;
use metatopia_scripting::Package;
use metatopia_sim::Course;
use serde::Serialize;

use super::{follow, packages};
use crate::cli::{console::Console, failure::Failure, folder::check_empty, session::NodeArgs};

#[derive(Debug, Args)]
pub(in crate::cli) struct ScriptSourceArgs {
    /// The id of the package, or its first digits, at least eight.
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    package: Option<String>,
    /// Write all packages of the sim, each into a folder of its own.
    #[arg(long)]
    all: bool,
    /// The folder to write. It must be new or empty. What one package imports comes into
    /// its folder IMPORTS; with --all it lies beside it.
    #[arg(short, long = "out", value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    at: NodeArgs,
}

/// A package that was written.
#[derive(Debug, Serialize)]
struct WrittenSource {
    folder: String,
    package: String,
    name: String,
    version: String,
    licence: String,
    files: usize,
}

impl WrittenSource {
    fn of(dir: &Path, package: &Package) -> Self {
        let manifest = package.manifest();
        Self {
            folder: dir.display().to_string(),
            package: package.id().to_string(),
            name: manifest.name.clone(),
            version: manifest.version.to_string(),
            licence: manifest.licence.expression.clone(),
            files: package.files().len(),
        }
    }
}

impl fmt::Display for WrittenSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { folder, package, name, version, licence, .. } = self;
        write!(f, "{folder}: {name} {version}, {licence}, which re-hashes to {package}")
    }
}

pub(super) async fn run(args: ScriptSourceArgs, console: Console) -> Result<(), Failure> {
    // This comes first, so that nothing is fetched for a folder that cannot be written.
    check_empty(&args.out)?;
    let mut driver = args.at.open_to_ask().await?;
    if let Some(name) = &args.package {
        let found = with_imports(&mut driver, name).await;
        driver.leave().await;
        let (package, imports) = found?;
        packages::write(&args.out, &package, &imports)?;
        return console.show(&WrittenSource::of(&args.out, &package));
    }
    let present = present(&mut driver).await;
    driver.leave().await;
    let course = present?;
    let world = course.world();
    let (sim, height, root) = (world.sim(), world.height(), world.root());
    console.note(&format!("sim {sim} after turn {height}, whose state has the root {root}"));
    let (mut used, mut failed) = (BTreeSet::new(), None);
    for package in world.packages() {
        let dir = args.out.join(folder_of(package, &mut used));
        // One that cannot be written keeps nobody from the others.
        match packages::write(&dir, package, &[]) {
            Ok(()) => console.show(&WrittenSource::of(&dir, package))?,
            Err(failure) => {
                console.warn(&format!("package {}: {failure}", package.id()));
                failed = Some(failure);
            }
        }
    }
    failed.map_or(Ok(()), Err)
}

/// Fetches a package by its id or the first digits of it, and what it imports.
pub(super) async fn with_imports(
    driver: &mut ClientDriver,
    name: &str,
) -> Result<(Package, Vec<Package>), Failure> {
    let package = packages::named(driver, name).await?;
    let imports = packages::imports_of(driver, &package).await?;
    Ok((package, imports))
}

/// Returns the present state, which follows from what the servers signed.
async fn present(driver: &mut ClientDriver) -> Result<Course, Failure> {
    let mut course = follow::begin(driver, |_, _| ()).await?;
    follow::catch_up(driver, &mut course, |_| Ok(())).await?;
    Ok(course)
}

/// Returns the name of a folder that no other package has: that of the package, and a number where
/// several have one name.
fn folder_of(package: &Package, used: &mut BTreeSet<String>) -> String {
    let name = &package.manifest().name;
    let numbered = (2..).map(|number: u64| format!("{name}-{number}"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    let free = names.find(|name| !used.contains(name)).expect("there is no end of numbers");
    used.insert(free.clone());
    free
}

#[cfg(test)]
mod tests {
    use metatopia_scenarios::plaza;

    use super::*;
    use crate::{cli::script::packages::ScriptFolder, scratch::Scratch};

    #[test]
    fn what_is_written_is_the_same_package_with_the_text_of_its_licence() {
        let scratch = Scratch::made("script-source");
        for package in plaza::packages() {
            let dir = scratch.0.join(&package.manifest().name);
            packages::write(&dir, &package, &[]).expect("a folder of ours");
            let again = ScriptFolder::read(&dir).expect("a folder").package().expect("fine");
            assert_eq!(again.id(), package.id());
            assert!(dir.join("LICENSES/AGPL-3.0-or-later.txt").is_file());
        }
    }

    #[test]
    fn packages_of_one_name_get_folders_of_their_own() {
        let package = &plaza::packages()[0];
        let name = package.manifest().name.clone();
        let mut used = BTreeSet::new();
        let folders: Vec<String> = (0..3).map(|_| folder_of(package, &mut used)).collect();
        assert_eq!(folders, [name.clone(), format!("{name}-2"), format!("{name}-3")]);
    }
}
