//! `script fork` writes somebody's source as a package of one's own.

use std::path::PathBuf;

use clap::Args;
use metatopia_scenarios::TESTS_FILE;
use metatopia_scripting::{Package, PackageAuthor, Version};
use metatopia_types::{Blob, PublicKey};

use super::{check::CheckedPackage, packages, source::with_imports};
use crate::cli::{console::Console, failure::Failure, folder::check_empty, session::NodeArgs};

#[derive(Debug, Args)]
pub(in crate::cli) struct ScriptForkArgs {
    /// The id of the package, or its first digits, at least eight.
    package: String,
    /// The folder to write. It must be new or empty.
    dir: PathBuf,
    /// Another name for the package [default: that of its parent].
    #[arg(long)]
    name: Option<String>,
    /// Somebody who will have written it too, beside the authors of the parent.
    #[arg(long)]
    author: Option<String>,
    /// That author's public key, which `metatopia keys show` prints.
    #[arg(long, value_name = "KEY", requires = "author")]
    author_key: Option<PublicKey>,
    #[command(flatten)]
    at: NodeArgs,
}

pub(super) async fn run(args: ScriptForkArgs, console: Console) -> Result<(), Failure> {
    check_empty(&args.dir)?;
    let mut driver = args.at.open_to_ask().await?;
    let found = with_imports(&mut driver, &args.package).await;
    driver.leave().await;
    let (parent, imports) = found?;
    let author = args.author.map(|name| PackageAuthor { name, key: args.author_key });
    let fork = fork(&parent, args.name, author)?;
    packages::write(&args.dir, &fork, &imports)?;
    console.show(&CheckedPackage::of(&args.dir.display().to_string(), &fork))
}

/// Returns a package that names its parent. Licence, authors and sources stay, but for the name by which its
/// tests import it.
pub(super) fn fork(
    parent: &Package,
    name: Option<String>,
    author: Option<PackageAuthor>,
) -> Result<Package, Failure> {
    let mut manifest = parent.manifest().clone();
    manifest.parent = Some(parent.id());
    let Version { patch, .. } = &mut manifest.version;
    *patch = patch.saturating_add(1);
    let mut files = parent.files().clone();
    if let Some(name) = name {
        // Tests import what they test by its name.
        let before = format!("import \"{}\"", manifest.name);
        let is_own = !manifest.imports.contains_key(&manifest.name);
        if let Some(tests) = files.get_mut(TESTS_FILE).filter(|_| is_own) {
            *tests = tests.replace(&before, &format!("import \"{name}\""));
            manifest.files.insert(TESTS_FILE.to_owned(), Blob(tests.clone().into_bytes()).id());
        }
        manifest.name = name;
    }
    manifest.authors.extend(author.filter(|author| !parent.manifest().authors.contains(author)));
    Package::from_parts(manifest, files).map_err(|error| Failure::usage(error.to_string()))
}

#[cfg(test)]
mod tests {
    use metatopia_scenarios::plaza;

    use super::*;

    #[test]
    fn a_fork_names_its_parent_and_keeps_licence_and_authors() {
        let parent = &plaza::packages()[0];
        let ada = PackageAuthor { name: "Ada".to_owned(), key: None };
        let fork = fork(parent, Some("my-own".to_owned()), Some(ada.clone())).expect("a package");

        let (old, new) = (parent.manifest(), fork.manifest());
        assert_eq!(new.parent, Some(parent.id()));
        assert_eq!((&*new.name, &new.licence), ("my-own", &old.licence));
        assert_eq!(new.version.patch, old.version.patch + 1);
        assert_eq!(new.authors, [&old.authors[..], &[ada]].concat());
        assert_eq!(fork.files(), parent.files());
        assert_ne!(fork.id(), parent.id());
    }
}
