//! Packages on a disk and at a node.

mod folder;

use std::{collections::BTreeMap, path::Path};

use metatopia_client::text::printable;
use metatopia_client_driver::ClientDriver;
use metatopia_protocol::{Answer, PACKAGES_PER_ANSWER_MAX, PackageEntry, Question, ScriptEntry};
use metatopia_scenarios::{KnownPackages, PACKAGE_FILE, package_files, read_package};
use metatopia_scripting::{ImportTree, Licence, Package, limits::LINKED_PACKAGES_MAX};
use metatopia_sim::limits::{PACKAGES_MAX, PUBLICATIONS_MAX};
use metatopia_types::{Digest, PackageId, ScriptId};
use spdx::text::{EXCEPTION_TEXTS, LICENSE_TEXTS};

pub(in crate::cli) use self::folder::{PUBLISHABLE_BYTES_MAX, PublishablePackage};
pub(super) use self::folder::{ScriptFolder, to_publish};
use crate::cli::{
    failure::Failure,
    folder::{IMPORTS_FOLDER, LICENCES_FOLDER, write_folder},
    session::ANSWER,
};

/// The least digits by which a package can be named.
pub(super) const DIGITS_MIN: usize = 8;

/// Where the packages of a sim are told.
const LIST: &str = "`metatopia script list --packages` lists those that it has";

/// Fetches a package from a node, and checks that it is the one that was asked for; nothing if the sim
/// does not have it.
///
/// # Errors
/// Fails when no answer comes, or another package.
pub(super) async fn fetch(
    driver: &mut ClientDriver,
    id: PackageId,
) -> Result<Option<Package>, Failure> {
    match driver.ask(Question::Source { package: id }, ANSWER).await? {
        Answer::Source(bytes) => match Package::decode(&bytes) {
            Ok(package) if package.id() == id => Ok(Some(package)),
            _ => {
                Err(Failure::unverified(format!("the node gave another source than that of {id}")))
            }
        },
        Answer::Unknown | Answer::SourceLeft(_) => Ok(None),
        _ => Err(Failure::timed_out("the node is too busy to hand out source").hint("try again")),
    }
}

/// Fetches a package by its id, or by the first digits of it.
///
/// # Errors
/// As [`fetch`]; also when there is no such package, or several begin like this.
pub(super) async fn named(driver: &mut ClientDriver, name: &str) -> Result<Package, Failure> {
    let id = match name.parse() {
        Ok(id) => id,
        Err(_) => begun(&known(driver).await?, name)?,
    };
    if let Some(package) = fetch(driver, id).await? {
        return Ok(package);
    }
    let entries = known(driver).await?;
    let listed = entries.iter().find(|entry| entry.package == id);
    Err(match listed.and_then(|entry| Some((entry, entry.left?))) {
        Some((PackageEntry { authors, licence, .. }, height)) => Failure::not_found(format!(
            "the source of package {id}, by {} under {}, left the state at height {height}, as no script ran it",
            printable(authors),
            printable(licence)
        ))
        .hint("ask an archive: it has the turn that published it"),
        None => Failure::not_found(format!("the sim has no package {id}")).hint(LIST),
    })
}

/// Asks which packages the sim has, or had.
///
/// # Errors
/// Fails when the node does not say.
pub(in crate::cli) async fn known(driver: &mut ClientDriver) -> Result<Vec<PackageEntry>, Failure> {
    let (mut all, mut after) = (Vec::new(), PackageId(Digest::ZERO));
    loop {
        let Answer::Packages(page) = driver.ask(Question::Packages { after }, ANSWER).await? else {
            let busy = "the node is too busy to list its packages";
            return Err(Failure::timed_out(busy).hint("try again"));
        };
        let last = page.len() < PACKAGES_PER_ANSWER_MAX;
        // A node that repeats itself would be asked without end.
        for entry in &page {
            if entry.package <= after {
                return Err(Failure::unverified("the node lists its packages in no order"));
            }
            after = entry.package;
        }
        all.extend(page);
        if all.len() > PUBLICATIONS_MAX + PACKAGES_MAX {
            return Err(Failure::unverified("the node lists more packages than a sim can have"));
        }
        if last {
            return Ok(all);
        }
    }
}

/// Returns the one package whose id begins with these digits.
fn begun(known: &[PackageEntry], name: &str) -> Result<PackageId, Failure> {
    let digits = name.len() >= DIGITS_MIN && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !digits {
        return Err(Failure::usage(format!("{name:?} is no id of a package"))
            .hint("`metatopia script list --packages` prints the ids of all packages"));
    }
    let begins = |id: &PackageId| id.to_string().starts_with(&name.to_ascii_lowercase());
    let mut found: Vec<PackageId> = known.iter().map(|entry| entry.package).collect();
    found.retain(begins);
    match found[..] {
        [id] => Ok(id),
        [] => Err(Failure::not_found(format!("the sim has no package {name}..")).hint(LIST)),
        _ => Err(Failure::usage(format!("{} packages begin with {name}", found.len()))),
    }
}

/// Asks which scripts run.
///
/// # Errors
/// Fails when the node does not say.
pub(in crate::cli) async fn running(
    driver: &mut ClientDriver,
) -> Result<Vec<ScriptEntry>, Failure> {
    let scripts = driver.scripts(ANSWER).await?;
    scripts.ok_or_else(|| {
        Failure::timed_out("the node is too busy to list its scripts").hint("try again")
    })
}

/// Finds a running script by its number, or by the name of the thing that runs it.
///
/// # Errors
/// Fails when no such script runs, several do, or the node does not say.
pub(super) async fn script(driver: &mut ClientDriver, named: &str) -> Result<ScriptEntry, Failure> {
    meant(running(driver).await?, named)
}

/// Returns the script that a number or the name of a thing means.
fn meant(mut running: Vec<ScriptEntry>, named: &str) -> Result<ScriptEntry, Failure> {
    match named.parse() {
        Ok(number) => running.retain(|entry| entry.script == ScriptId(number)),
        Err(_) => running.retain(|entry| entry.name == named),
    }
    let numbers: Vec<String> = running.iter().map(|entry| entry.script.to_string()).collect();
    match (running.pop(), &numbers[..]) {
        (Some(one), [_]) => Ok(one),
        (Some(_), _) => {
            let message = format!("things called {named} run the scripts {}", numbers.join(", "));
            Err(Failure::usage(message).hint("give the number of one"))
        }
        (None, _) => {
            let message = match named.parse::<u64>() {
                Ok(number) => format!("no script {number} runs there"),
                Err(_) => format!("nothing that is called {named} runs a script there"),
            };
            Err(Failure::not_found(message).hint("`metatopia script list` prints the scripts"))
        }
    }
}

/// Fetches what a package imports, each behind what that one imports.
///
/// # Errors
/// Fails when the node does not have all of it.
pub(super) async fn imports_of(
    driver: &mut ClientDriver,
    package: &Package,
) -> Result<Vec<Package>, Failure> {
    let mut known = KnownPackages::new();
    let mut ids: Vec<PackageId> = package.imports().collect();
    while let Some(id) = ids.pop() {
        if known.contains_key(&id) || known.len() >= LINKED_PACKAGES_MAX {
            continue;
        }
        if let Some(import) = fetch(driver, id).await? {
            ids.extend(import.imports());
            known.insert(id, import);
        }
    }
    let tree = ImportTree::find(&package.manifest().imports, &|id| known.get(id));
    let tree = tree.map_err(|error| {
        Failure::unverified(format!("the node lacks what the package imports: {error}"))
    })?;
    Ok(tree.packages().cloned().collect())
}

/// Writes a package into a folder that is new or empty, with the texts of its licence and what it imports
/// beside it, after checking that the texts of the folder make the same package.
///
/// # Errors
/// Fails when they make another one, the folder is not empty, or the disk fails.
pub(super) fn write(dir: &Path, package: &Package, imports: &[Package]) -> Result<(), Failure> {
    let mut files = written(dir, package)?;
    for (place, import) in imports.iter().enumerate() {
        let name = &import.manifest().name;
        // Two versions of one package may be imported.
        let before = imports[..place].iter().filter(|other| other.manifest().name == *name).count();
        let folder = if before == 0 { name.clone() } else { format!("{name}-{}", before + 1) };
        let within =
            |(path, text): (String, String)| (format!("{IMPORTS_FOLDER}/{folder}/{path}"), text);
        files.extend(written(dir, import)?.into_iter().map(within));
    }
    write_folder(dir, &files)
}

/// Returns the texts of a package's folder, with the text of its licence.
fn written(dir: &Path, package: &Package) -> Result<BTreeMap<String, String>, Failure> {
    let mut files = package_files(package);
    let again = files.iter().map(|(path, text)| (&**path, &**text)).collect();
    let again = read_package(&dir.display().to_string(), &again).map(|again| again.id());
    if again.as_ref() != Ok(&package.id()) {
        let message = format!("package {} is not the same from a folder", package.id());
        return Err(Failure::unverified(message).hint(&format!("it has a file {PACKAGE_FILE}?")));
    }
    files.extend(licence_texts(&package.manifest().licence));
    Ok(files)
}

/// Returns the texts of the licences that were chosen, and of their exceptions, by path.
pub(in crate::cli) fn licence_texts(licence: &Licence) -> BTreeMap<String, String> {
    texts_of(&licence.chosen)
}

/// Returns the texts of all licences that an expression names, and of their exceptions, by path.
pub(in crate::cli) fn texts_of(expression: &str) -> BTreeMap<String, String> {
    let is_between = |c: char| c.is_whitespace() || matches!(c, '(' | ')');
    let names = expression.split(is_between).map(|word| word.trim_end_matches('+'));
    let text = |name: &str| {
        let all = LICENSE_TEXTS.iter().chain(EXCEPTION_TEXTS);
        let (name, text) = all.into_iter().find(|(listed, _)| *listed == name)?;
        Some((format!("{LICENCES_FOLDER}/{name}.txt"), (*text).to_owned()))
    };
    names.filter_map(text).collect()
}

/// Returns a script that runs this package on the thing of the same number, which has this name.
#[cfg(test)]
pub(in crate::cli) fn runs(script: u64, name: &str, package: PackageId) -> ScriptEntry {
    ScriptEntry {
        script: ScriptId(script),
        object: metatopia_types::ObjectId(script),
        name: name.to_owned(),
        package,
        owner: None,
        failures: 0,
        last_failure: None,
        suspended: None,
        dropped: 0,
        gas_used: 0,
    }
}

#[cfg(test)]
mod tests {
    use metatopia_types::Height;

    use super::*;
    use crate::cli::exit::Exit;

    fn has(package: u8) -> PackageEntry {
        PackageEntry {
            package: PackageId(Digest([package; 32])),
            name: String::new(),
            version: String::new(),
            licence: String::new(),
            authors: String::new(),
            publisher: None,
            height: Height(0),
            bytes: 0,
            scripts: 0,
            left: None,
        }
    }

    #[test]
    fn a_script_is_named_by_its_number_or_by_a_thing_that_alone_has_its_name() {
        let runs = |script, name| runs(script, name, PackageId(Digest::ZERO));
        let all = || vec![runs(3, "lamp"), runs(7, "lamp"), runs(9, "bell")];
        assert_eq!(meant(all(), "7").map(|entry| entry.script), Ok(ScriptId(7)));
        assert_eq!(meant(all(), "bell").map(|entry| entry.script), Ok(ScriptId(9)));
        let two = meant(all(), "lamp").expect_err("two of them");
        assert_eq!(two.exit, Exit::Usage);
        assert!(two.message.contains("run the scripts 3, 7"), "{two}");
        for (named, told) in [("8", "no script 8"), ("bel", "nothing that is called bel")] {
            let none = meant(all(), named).expect_err("none of them");
            assert_eq!(none.exit, Exit::NotFound);
            assert!(none.message.contains(told), "{none}");
        }
    }

    #[test]
    fn a_package_is_named_by_the_first_digits_if_only_one_begins_like_this() {
        let mut near = has(0xab);
        near.package.0.0[31] = 0;
        let known = [has(0xab), near, has(0xcd)];
        assert_eq!(begun(&known, "CDCDCDCD").ok(), Some(known[2].package));
        let exit = |name: &str| begun(&known, name).expect_err("not one").exit;
        assert_eq!(exit("abababab"), Exit::Usage);
        assert_eq!(exit("cdcd"), Exit::Usage);
        assert_eq!(exit("efefefef"), Exit::NotFound);
        assert_eq!(exit("not-hexadecimal"), Exit::Usage);
    }

    #[test]
    fn the_texts_of_chosen_licences_and_exceptions_are_there() {
        let texts = |expression: &str| {
            let licence = Licence::parse(expression).expect("a licence");
            licence_texts(&licence).into_keys().collect::<Vec<_>>()
        };
        assert_eq!(texts("MIT OR agpl-3.0-or-later"), ["LICENSES/AGPL-3.0-or-later.txt"]);
        assert_eq!(
            texts("GPL-2.0-only WITH Classpath-exception-2.0 AND MIT"),
            [
                "LICENSES/Classpath-exception-2.0.txt",
                "LICENSES/GPL-2.0-only.txt",
                "LICENSES/MIT.txt"
            ]
        );
        let text = &licence_texts(&Licence::parse("GPL-3.0-only").expect("a licence"));
        assert!(text["LICENSES/GPL-3.0-only.txt"].contains("GNU GENERAL PUBLIC LICENSE"));
    }
}
