//! Packages on a disk and at a node.

use std::{collections::BTreeMap, path::Path};

use metatopia_client_driver::ClientDriver;
use metatopia_protocol::{Answer, PACKAGES_PER_ANSWER_MAX, PackageEntry, Question, ScriptEntry};
use metatopia_scenarios::{Mistake, PACKAGE_FILE, package_files, parse_package, parse_package_all};
use metatopia_scripting::{
    Licence, Package,
    limits::{FILES_MAX, PACKAGE_BYTES_MAX},
};
use metatopia_sim::limits::{PACKAGES_MAX, PUBLICATIONS_MAX};
use metatopia_types::{Digest, PackageId, limits::BLOB_BYTES_MAX};
use spdx::text::{EXCEPTION_TEXTS, LICENSE_TEXTS};

use super::mistakes;
use crate::cli::{
    console::Console,
    failure::Failure,
    folder::{FolderBounds, LICENCES_FOLDER, TextFolder, write_folder},
    session::ANSWER,
};

/// More files and bytes than a package may have, so that the rule of packages names what is too much.
const BOUNDS: FolderBounds =
    FolderBounds { files: 2 * FILES_MAX, bytes: 4 * PACKAGE_BYTES_MAX as u64 };

/// The least digits by which a package can be named.
const DIGITS_MIN: usize = 8;

/// The folder of a package on a disk.
#[derive(Debug)]
pub(super) struct ScriptFolder(TextFolder);

impl ScriptFolder {
    /// Reads all texts of a folder.
    ///
    /// # Errors
    /// Fails when there is no such folder, a file is no text, or there is far too much.
    pub(super) fn read(dir: &Path) -> Result<Self, Failure> {
        if !dir.is_dir() {
            return Err(Failure::not_found(format!("there is no folder {}", dir.display()))
                .hint("`metatopia script new` writes one"));
        }
        let mut texts = TextFolder::new(dir.display().to_string(), BOUNDS);
        texts.below(dir, "")?;
        Ok(Self(texts))
    }

    /// Returns how messages name the folder.
    pub(super) fn name(&self) -> &str {
        self.0.name().trim_end_matches('/')
    }

    /// Returns the texts by path.
    pub(super) const fn texts(&self) -> &BTreeMap<String, String> {
        &self.0.files
    }

    /// Returns the package that the folder holds.
    ///
    /// # Errors
    /// Returns all mistakes that were found, at least one.
    pub(super) fn package(&self) -> Result<Package, Vec<Mistake>> {
        let texts = self.texts().iter().map(|(path, text)| (&**path, &**text)).collect();
        parse_package_all(self.name(), &texts)
    }

    /// Returns the package that the folder holds, and prints its mistakes if it holds none.
    ///
    /// # Errors
    /// Fails when there are mistakes.
    pub(super) fn checked(&self, console: Console) -> Result<Package, Failure> {
        match self.package() {
            Ok(package) => Ok(package),
            Err(found) => Err(self.tell(&found, console)?),
        }
    }

    /// Prints mistakes of the folder. Returns the failure of the command that found them.
    ///
    /// # Errors
    /// Fails when nothing can be printed.
    pub(super) fn tell(&self, found: &[Mistake], console: Console) -> Result<Failure, Failure> {
        let text_of = |file: &str| {
            let path = file.strip_prefix(self.name())?.strip_prefix('/')?;
            self.texts().get(path).map(String::as_str)
        };
        mistakes::tell(self.name(), found, text_of, console)
    }
}

/// Reads a folder that is to be brought into a sim.
///
/// # Errors
/// Fails when it has mistakes, or is too long to be published.
pub(super) fn to_publish(dir: &Path, console: Console) -> Result<Package, Failure> {
    let package = ScriptFolder::read(dir)?.checked(console)?;
    check_size(&dir.display().to_string(), &package)?;
    Ok(package)
}

/// Checks that a package is short enough to be published. `name` is how messages name it.
///
/// # Errors
/// Fails when the package is too long.
pub(in crate::cli) fn check_size(name: &str, package: &Package) -> Result<(), Failure> {
    let bytes = package.encode().len();
    if bytes <= BLOB_BYTES_MAX {
        return Ok(());
    }
    let message =
        format!("{name} takes {bytes} bytes, and at most {BLOB_BYTES_MAX} can be published");
    Err(Failure::refused(message).hint("leave out files, or shorten them"))
}

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
    let left = entries.iter().find(|entry| entry.package == id).and_then(|entry| entry.left);
    Err(match left {
        Some(height) => Failure::not_found(format!(
            "the source of package {id} left the state at height {height}, as no script ran it"
        ))
        .hint("ask an archive: it has the turn that published it"),
        None => Failure::not_found(format!("the sim has no package {id}")),
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
            .hint("`metatopia script list` prints the ids of packages that run"));
    }
    let begins = |id: &PackageId| id.to_string().starts_with(&name.to_ascii_lowercase());
    let mut found: Vec<PackageId> = known.iter().map(|entry| entry.package).collect();
    found.retain(begins);
    match found[..] {
        [id] => Ok(id),
        [] => Err(Failure::not_found(format!("the sim has no package {name}.."))),
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

/// Writes a package into a folder that is new or empty, with the texts of its licence beside it, after
/// checking that the texts of the folder make the same package.
///
/// # Errors
/// Fails when they make another one, the folder is not empty, or the disk fails.
pub(super) fn write(dir: &Path, package: &Package) -> Result<(), Failure> {
    let mut files = package_files(package);
    let again = files.iter().map(|(path, text)| (&**path, &**text)).collect();
    let again = parse_package(&dir.display().to_string(), &again).map(|again| again.id());
    if again.as_ref() != Ok(&package.id()) {
        let message = format!("package {} is not the same from a folder", package.id());
        return Err(Failure::unverified(message).hint(&format!("it has a file {PACKAGE_FILE}?")));
    }
    files.extend(licence_texts(&package.manifest().licence));
    write_folder(dir, &files)
}

/// Returns the texts of the licences that were chosen, and of their exceptions, by path.
pub(super) fn licence_texts(licence: &Licence) -> BTreeMap<String, String> {
    let names = licence.chosen.split_whitespace().map(|word| word.trim_end_matches('+'));
    let text = |name: &str| {
        let all = LICENSE_TEXTS.iter().chain(EXCEPTION_TEXTS);
        let (name, text) = all.into_iter().find(|(listed, _)| *listed == name)?;
        Some((format!("{LICENCES_FOLDER}/{name}.txt"), (*text).to_owned()))
    };
    names.filter_map(text).collect()
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
            publisher: None,
            height: Height(0),
            bytes: 0,
            scripts: 0,
            left: None,
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
