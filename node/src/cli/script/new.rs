//! `script new` writes a package that works, to begin with.

use std::{collections::BTreeMap, path::PathBuf};

use clap::{Args, builder::PossibleValue};
use metatopia_scenarios::{ExamplePackage, TESTS_FILE, licence_words};
use metatopia_scripting::{APIS, Draft, Licence, Package, PackageAuthor};
use metatopia_types::PublicKey;

use super::{check::CheckedPackage, fork::fork, lines::quoted, packages};
use crate::cli::{console::Console, failure::Failure, folder::folder_name};

/// The script to begin with.
const SCRIPT: &str = include_str!("template/script.rhai");

/// The tests of that script.
const TESTS: &str = include_str!("template/tests.rhai");

/// The word that stands for the name of the package in both.
const NAME: &str = "NAME";

#[derive(Debug, Args)]
pub(in crate::cli) struct ScriptNewArgs {
    /// The folder to write. It must be new or empty.
    dir: PathBuf,
    /// The name of the package: small letters, digits and hyphens [default: the name of the folder].
    #[arg(long)]
    name: Option<String>,
    /// Begin with this package, which is part of the program, as a fork of it.
    #[arg(long, value_name = "NAME", value_parser = examples(), conflicts_with = "license",
        hide_possible_values = true)]
    example: Option<String>,
    /// An SPDX expression that allows a copyleft choice.
    #[arg(long, alias = "licence", value_name = "SPDX", default_value = "AGPL-3.0-or-later",
        value_parser = licence)]
    license: Licence,
    /// Who wrote it, as people will read for ever.
    #[arg(long, default_value = "anonymous")]
    author: String,
    /// The author's public key, which `metatopia keys show` prints.
    #[arg(long, value_name = "KEY")]
    author_key: Option<PublicKey>,
}

/// Returns the names of the examples.
fn examples() -> clap::builder::PossibleValuesParser {
    ExamplePackage::ALL.map(|example| PossibleValue::new(example.name).help(example.about)).into()
}

/// Reads a licence, and says what is wrong with it.
fn licence(text: &str) -> Result<Licence, String> {
    Licence::parse(text).map_err(|error| licence_words(&error))
}

pub(super) fn run(args: &ScriptNewArgs, console: Console) -> Result<(), Failure> {
    let package = package(args)?;
    packages::write(&args.dir, &package, &imports(args))?;
    console.show(&CheckedPackage::of(&args.dir.display().to_string(), &package))?;
    let dir = quoted(&args.dir.display().to_string());
    let entry = quoted(&args.dir.join(&package.manifest().entry).display().to_string());
    console.note(&format!(
        "Change {entry}, then:\n  metatopia script check {dir}\n  metatopia script test {dir}\n  \
         metatopia script publish {dir} --key me.key"
    ));
    Ok(())
}

/// Returns what the package to begin with imports.
fn imports(args: &ScriptNewArgs) -> Vec<Package> {
    let example = args.example.as_deref().and_then(ExamplePackage::named);
    example.map(|example| example.imports()).unwrap_or_default()
}

/// Returns the package to begin with.
fn package(args: &ScriptNewArgs) -> Result<Package, Failure> {
    let folder = folder_name(&args.dir);
    let name = args.name.as_deref().or(folder.as_deref()).unwrap_or_default();
    let author = PackageAuthor { name: args.author.clone(), key: args.author_key };
    if let Some(example) = args.example.as_deref().and_then(ExamplePackage::named) {
        return fork(&example.package(), Some(name.to_owned()), Some(author));
    }
    let entry = format!("{name}.rhai");
    let text = |template: &str| template.replacen(NAME, name, 1).into_bytes();
    Package::build(Draft {
        name: name.to_owned(),
        version: "0.1.0".to_owned(),
        api: *APIS.last().expect("a program has an api"),
        files: BTreeMap::from([
            (entry.clone(), text(SCRIPT)),
            (TESTS_FILE.to_owned(), text(TESTS)),
        ]),
        entry,
        licence: args.license.expression.clone(),
        authors: vec![author],
        ..Draft::default()
    })
    .map_err(|error| Failure::usage(error.to_string()))
}

#[cfg(test)]
mod tests {
    use metatopia_scenarios::{KnownPackages, rehearse};

    use super::*;
    use crate::{
        cli::{exit::Exit, script::packages::ScriptFolder},
        scratch::Scratch,
    };

    fn args(scratch: &Scratch, license: &str) -> ScriptNewArgs {
        ScriptNewArgs {
            dir: scratch.0.clone(),
            name: Some("lamp".to_owned()),
            license: licence(license).expect("a licence"),
            author: "Ada".to_owned(),
            author_key: None,
            example: None,
        }
    }

    #[test]
    fn an_example_becomes_a_fork_that_passes_its_tests() {
        let scratch = Scratch::new("script-new-example");
        let mut of = args(&scratch, "GPL-3.0-only");
        of.example = Some("bell".to_owned());
        run(&of, Console::quiet()).expect("a new folder");

        let package = ScriptFolder::read(&scratch.0).expect("a folder").package().expect("fine");
        let bell = ExamplePackage::named("bell").expect("an example").package();
        assert_eq!((&*package.manifest().name, &*package.manifest().entry), ("lamp", "bell.rhai"));
        assert_eq!(package.manifest().parent, Some(bell.id()));
        assert_eq!(package.files(), bell.files());
        let tests = rehearse("lamp", &package, &KnownPackages::new()).expect("they compile");
        assert!(tests.iter().all(|test| test.mistake.is_none()), "{tests:?}");
    }

    /// The tests of `scores` import what they test, and failed under another name.
    #[test]
    fn a_renamed_example_is_imported_by_its_new_name_in_its_tests() {
        let scratch = Scratch::new("script-new-renamed");
        let mut of = args(&scratch, "GPL-3.0-only");
        of.example = Some("scores".to_owned());
        run(&of, Console::quiet()).expect("a new folder");

        let package = ScriptFolder::read(&scratch.0).expect("a folder").package().expect("fine");
        let tests = rehearse("lamp", &package, &KnownPackages::new()).expect("they compile");
        assert!(!tests.is_empty() && tests.iter().all(|test| test.mistake.is_none()), "{tests:?}");
    }

    #[test]
    fn a_new_package_is_fine_and_passes_its_tests() {
        let scratch = Scratch::new("script-new");
        run(&args(&scratch, "mit or gpl-3.0-or-later"), Console::quiet()).expect("a new folder");

        let package = ScriptFolder::read(&scratch.0).expect("a folder").package().expect("fine");
        let manifest = package.manifest();
        assert_eq!((&*manifest.name, &*manifest.entry), ("lamp", "lamp.rhai"));
        assert_eq!(manifest.licence.expression, "MIT OR GPL-3.0-or-later");
        let text = scratch.0.join("LICENSES/GPL-3.0-or-later.txt");
        assert!(std::fs::read_to_string(text).expect("the licence").contains("GENERAL PUBLIC"));
        let tests = rehearse("lamp", &package, &KnownPackages::new()).expect("they compile");
        assert_eq!(tests.len(), 3);
        assert!(tests.iter().all(|test| test.mistake.is_none()), "{tests:?}");
    }

    #[test]
    fn a_folder_that_is_not_empty_is_left_as_it_is() {
        let scratch = Scratch::made("script-new-full");
        scratch.file("notes.txt", "mine");
        let failure =
            run(&args(&scratch, "GPL-3.0-only"), Console::quiet()).expect_err("not empty");
        assert_eq!(failure.exit, Exit::Refused);
        assert_eq!(std::fs::read_dir(&scratch.0).expect("a folder").count(), 1);
    }

    #[test]
    fn what_is_no_name_or_licence_is_told_before_anything_is_written() {
        let scratch = Scratch::new("script-new-name");
        let mut wrong = args(&scratch, "GPL-3.0-only");
        wrong.name = Some("My Lamp".to_owned());
        let failure = run(&wrong, Console::quiet()).expect_err("no name");
        assert_eq!(failure.exit, Exit::Usage);
        assert!(failure.message.contains("\"My Lamp\" is no package name"), "{failure}");
        assert!(!scratch.0.exists());
        for (expression, told) in [
            ("MIT", "allows no copyleft choice"),
            ("GPL-3.0", "write GPL-3.0-only or GPL-3.0-or-later"),
            ("GPL-2.0-only AND GPL-3.0-only", "cannot hold together"),
        ] {
            let error = licence(expression).expect_err(expression);
            assert!(error.contains(told), "{error}");
        }
    }
}
