//! The folder of a package on a disk, and what it imports, in folders beside it or at a node.

use std::{collections::BTreeMap, fs, path::Path};

use metatopia_client_driver::ClientDriver;
use metatopia_scenarios::{
    KnownPackages, Mistake, PACKAGE_FILE, imported_ids, parse_package_all, read_package,
};
use metatopia_scripting::{
    LinkedPackage, Package,
    limits::{FILES_MAX, LINKED_PACKAGES_MAX, PACKAGE_BYTES_MAX},
};
use metatopia_sim::limits::{
    PIECES_PER_AUTHOR_MAX, PUBLISHED_BYTES_PER_AUTHOR_MAX, PUBLISHED_BYTES_PER_TURN_MAX,
};
use metatopia_types::{PackageId, limits::PACKAGE_PIECE_BYTES_MAX};

use super::fetch;
use crate::cli::{
    console::Console,
    failure::Failure,
    folder::{FolderBounds, FolderEntry, IMPORTS_FOLDER, TextFolder, entries},
    script::mistakes,
    session::NodeArgs,
};

/// More files and bytes than a package may have, so that the rule of packages names what is too much.
const BOUNDS: FolderBounds =
    FolderBounds { files: 2 * FILES_MAX, bytes: 4 * PACKAGE_BYTES_MAX as u64 };

/// Folders beside that of a package in which its imports are looked for, by name.
const NEIGHBOURS_MAX: usize = 256;

/// The folder of a package on a disk, with the packages of its imports as far as they were found.
#[derive(Debug)]
pub(in crate::cli) struct ScriptFolder {
    texts: TextFolder,
    known: KnownPackages,
}

impl ScriptFolder {
    /// Reads all texts of a folder. What it imports is looked for in its folder IMPORTS, and in the folders
    /// beside it.
    ///
    /// # Errors
    /// Fails when there is no such folder, or there is far too much.
    pub(in crate::cli) fn read(dir: &Path) -> Result<Self, Failure> {
        if !dir.is_dir() {
            return Err(Failure::not_found(format!("there is no folder {}", dir.display()))
                .hint("`metatopia script new` writes one"));
        }
        let mut texts = TextFolder::new(dir.display().to_string(), BOUNDS);
        texts.below(dir, "")?;
        let mut folder = Self { texts, known: KnownPackages::new() };
        // Also what is no id is looked for: it may be the beginning of one.
        if folder.texts().get(PACKAGE_FILE).is_some_and(|text| text.contains("imports")) {
            // Of a folder that cannot be opened the full name may still have a parent.
            let full = fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
            let beside = full.parent().map(|parent| known_in(parent, true)).unwrap_or_default();
            folder.known = beside;
            folder.known.extend(known_in(&full.join(IMPORTS_FOLDER), false));
        }
        Ok(folder)
    }

    /// Returns the packages that it imports, and that those import, as far as they are not known.
    fn lacking(&self) -> Vec<PackageId> {
        let mut ids = imported_ids(&self.paths());
        let (mut lacking, mut seen) = (Vec::new(), 0);
        while let Some(id) = ids.get(seen).copied() {
            seen += 1;
            match self.known.get(&id) {
                None => lacking.push(id),
                Some(package) => {
                    let new: Vec<PackageId> =
                        package.imports().filter(|import| !ids.contains(import)).collect();
                    ids.extend(new);
                }
            }
        }
        lacking
    }

    /// Fetches from a node what it imports and no folder has. What the node does not have is missed later.
    ///
    /// # Errors
    /// Fails when no node answers, or it gives another package.
    pub(in crate::cli) async fn fetch_imports(&mut self, at: &NodeArgs) -> Result<(), Failure> {
        if self.lacking().is_empty() {
            return Ok(());
        }
        let mut driver = at.open_to_ask().await?;
        let fetched = self.fetch_from(&mut driver).await;
        driver.leave().await;
        fetched
    }

    async fn fetch_from(&mut self, driver: &mut ClientDriver) -> Result<(), Failure> {
        // Each round fetches what the last one imports, and more are never linked.
        for _ in 0..LINKED_PACKAGES_MAX {
            let before = self.known.len();
            for id in self.lacking().into_iter().take(LINKED_PACKAGES_MAX) {
                if let Some(package) = fetch(driver, id).await? {
                    self.known.insert(id, package);
                }
            }
            if self.known.len() == before {
                break;
            }
        }
        Ok(())
    }

    /// Returns the packages that were found beside it.
    pub(in crate::cli) const fn known(&self) -> &KnownPackages {
        &self.known
    }

    fn paths(&self) -> BTreeMap<&str, &str> {
        self.texts().iter().map(|(path, text)| (&**path, &**text)).collect()
    }

    /// Returns how messages name the folder.
    pub(in crate::cli) fn name(&self) -> &str {
        self.texts.plain_name()
    }

    /// Returns the texts by path.
    pub(in crate::cli) const fn texts(&self) -> &BTreeMap<String, String> {
        &self.texts.files
    }

    /// Returns the texts by path.
    ///
    /// # Errors
    /// Fails when a file is no UTF-8.
    pub(in crate::cli) fn whole_texts(&self) -> Result<&BTreeMap<String, String>, Failure> {
        let found = self.texts.judged(Ok(self.texts()));
        found.map_err(|mistakes| Failure::failed(mistakes[0].to_string()))
    }

    /// Returns the package that the folder holds.
    ///
    /// # Errors
    /// Returns all mistakes that were found, at least one.
    pub(in crate::cli) fn package(&self) -> Result<Package, Vec<Mistake>> {
        self.texts.judged(parse_package_all(self.name(), &self.paths(), &self.known))
    }

    /// Returns the package that the folder holds, and prints its mistakes if it holds none.
    ///
    /// # Errors
    /// Fails when there are mistakes.
    pub(in crate::cli) fn checked(&self, console: Console) -> Result<Package, Failure> {
        match self.package() {
            Ok(package) => Ok(package),
            Err(found) => Err(self.tell(&found, console)?),
        }
    }

    /// Prints mistakes of the folder. Returns the failure of the command that found them.
    ///
    /// # Errors
    /// Fails when nothing can be printed.
    pub(in crate::cli) fn tell(
        &self,
        found: &[Mistake],
        console: Console,
    ) -> Result<Failure, Failure> {
        let text_of = |file: &str| {
            let path = file.strip_prefix(self.name())?.strip_prefix('/')?;
            self.texts().get(path).map(String::as_str)
        };
        mistakes::tell(self.name(), found, text_of, console)
    }
}

/// Returns the packages of folders in a folder, and of their folders IMPORTS if wanted. A folder without a
/// package, or with one that breaks a rule, is passed over.
fn known_in(all: &Path, and_their_imports: bool) -> KnownPackages {
    let mut known = KnownPackages::new();
    let folders = entries(all).unwrap_or_default().into_iter().filter(|entry| entry.is_dir);
    for FolderEntry { name, path, .. } in folders.take(NEIGHBOURS_MAX) {
        if !path.join(PACKAGE_FILE).is_file() {
            continue;
        }
        let mut texts = TextFolder::new(name, BOUNDS);
        if texts.below(&path, "").is_ok() && texts.is_text() {
            let files = texts.files.iter().map(|(path, text)| (&**path, &**text)).collect();
            known.extend(read_package(texts.name(), &files).ok().map(|found| (found.id(), found)));
        }
        if and_their_imports {
            known.extend(known_in(&path.join(IMPORTS_FOLDER), false));
        }
    }
    known
}

/// Bytes of the longest package that can be published, as it is handed out: as many as the pieces of one author hold.
pub(in crate::cli) const PUBLISHABLE_BYTES_MAX: usize =
    PIECES_PER_AUTHOR_MAX * PACKAGE_PIECE_BYTES_MAX;

/// A package that is to be brought into a sim, behind those that it imports.
#[derive(Debug)]
pub(in crate::cli) struct PublishablePackage {
    pub(in crate::cli) package: Package,
    /// What it imports, each behind what that one imports.
    pub(in crate::cli) imports: Vec<Package>,
}

impl PublishablePackage {
    /// Puts a package together with what it imports of the known packages. `name` is how messages name it.
    ///
    /// # Errors
    /// Fails when the package is too long to be published, or an import is missing or forbidden.
    pub(in crate::cli) fn new(
        name: &str,
        package: &Package,
        known: &KnownPackages,
    ) -> Result<Self, Failure> {
        let linked = LinkedPackage::new(package, &|id| known.get(id))
            .map_err(|error| Failure::refused(format!("{name}: {error}")))?;
        let imports: Vec<Package> = linked.imports().packages().cloned().collect();
        let (bytes, compiled) = (package.encode().len(), linked.compiled_bytes() as u64);
        let weight = linked.weight() as u64;
        let message = if bytes > PUBLISHABLE_BYTES_MAX {
            too_long(name, bytes)
        } else if compiled > PUBLISHED_BYTES_PER_TURN_MAX {
            format!(
                "the source of {name} takes {compiled} bytes with what it imports, and at most \
                 {PUBLISHED_BYTES_PER_TURN_MAX} are compiled together"
            )
        } else if weight > PUBLISHED_BYTES_PER_AUTHOR_MAX {
            format!(
                "{name} takes {weight} bytes with what it imports, and at most \
                 {PUBLISHED_BYTES_PER_AUTHOR_MAX} can be published in a minute"
            )
        } else {
            return Ok(Self { package: package.clone(), imports });
        };
        Err(Failure::refused(message).hint("leave out files, or shorten them"))
    }
}

/// Checks that the sources of a folder are not too long to be published. What is far too long breaks rules of
/// packages as well, and would be told as a mistake of one file.
fn check_length(folder: &ScriptFolder) -> Result<(), Failure> {
    let sources = folder.texts().iter().filter(|(path, _)| *path != PACKAGE_FILE);
    let bytes: usize = sources.map(|(_, text)| text.len()).sum();
    if bytes <= PUBLISHABLE_BYTES_MAX {
        return Ok(());
    }
    let message = too_long(folder.name(), bytes);
    Err(Failure::refused(message).hint("leave out files, or shorten them"))
}

fn too_long(name: &str, bytes: usize) -> String {
    format!("{name} takes {bytes} bytes, and at most {PUBLISHABLE_BYTES_MAX} can be published")
}

/// Reads a folder that is to be brought into a sim. Imports that are in no folder are fetched.
///
/// # Errors
/// Fails when it has mistakes, or is too long to be published.
pub(in crate::cli) async fn to_publish(
    dir: &Path,
    at: &NodeArgs,
    console: Console,
) -> Result<PublishablePackage, Failure> {
    let mut folder = ScriptFolder::read(dir)?;
    check_length(&folder)?;
    folder.fetch_imports(at).await?;
    let package = folder.checked(console)?;
    PublishablePackage::new(&dir.display().to_string(), &package, folder.known())
}

#[cfg(test)]
mod tests {
    use metatopia_scenarios::ExamplePackage;

    use super::{super::write, *};
    use crate::scratch::Scratch;

    /// Writes a package that imports `scores` by this id, and returns its folder.
    fn importing(scratch: &Scratch, id: &str) -> std::path::PathBuf {
        let manifest = format!(
            "name = \"user\"\nversion = \"1.0.0\"\napi = 1\nentry = \"user.rhai\"\n\
             licence = \"AGPL-3.0-or-later\"\nauthors = [\"Ada\"]\n\n[imports]\nscores = \"{id}\"\n"
        );
        let source = "import \"scores\" as s;\nfn on_start() { state.x = s::LENGTH; }\n";
        let dir = scratch.0.join("user");
        fs::create_dir_all(&dir).expect("a folder");
        fs::write(dir.join("package.toml"), manifest).expect("a file");
        fs::write(dir.join("user.rhai"), source).expect("a file");
        dir
    }

    fn scores() -> Package {
        ExamplePackage::named("scores").expect("an example").package()
    }

    fn mistakes(dir: &Path) -> Vec<String> {
        let found = ScriptFolder::read(dir).expect("a folder").package().expect_err("mistakes");
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn imports_are_found_beside_the_package_and_in_its_own_folder() {
        for place in ["scores", "user/IMPORTS/anything", "other/IMPORTS/scores"] {
            let scratch = Scratch::made(&format!("imports-{}", place.replace('/', "-")));
            let dir = importing(&scratch, &scores().id().to_string());
            let first = &mistakes(&dir)[0];
            let told = "package.toml:9:10: import \"scores\": there is no package";
            assert!(first.contains(told), "{first}");
            write(&scratch.0.join(place), &scores(), &[]).expect("a new folder");
            if place.starts_with("other") {
                fs::write(scratch.0.join("other/package.toml"), "").expect("a file");
            }
            let folder = ScriptFolder::read(&dir).expect("a folder");
            let package = folder.package().unwrap_or_else(|found| panic!("{place}: {found:?}"));
            let all =
                PublishablePackage::new("user", &package, folder.known()).expect("it is small");
            assert_eq!(all.imports, [scores()]);
            assert_eq!(package.files().len(), 1, "imports are no part of it");
        }
    }

    #[test]
    fn a_prefix_or_an_older_id_is_answered_with_the_whole_one() {
        let scratch = Scratch::made("imports-prefix");
        write(&scratch.0.join("scores"), &scores(), &[]).expect("a new folder");
        let id = scores().id().to_string();
        let found = mistakes(&importing(&scratch, &id[..10]));
        assert!(found[0].ends_with(&format!("an import names the whole id: {id}")), "{found:?}");
        assert_eq!(found.len(), 1, "{found:?}");
        let found = mistakes(&importing(&scratch, &"ab".repeat(32)));
        assert!(found[0].ends_with(&format!("; scores 1.0.0 is {id}")), "{found:?}");
        let found = mistakes(&importing(&scratch, "scores"));
        assert!(found[0].contains("\"scores\" is no id of a package"), "{found:?}");
    }

    #[test]
    fn what_is_written_with_its_imports_is_checked_without_anything_else() {
        let scratch = Scratch::made("imports-written");
        let race = ExamplePackage::named("race").expect("an example");
        let dir = scratch.0.join("race");
        write(&dir, &race.package(), &race.imports()).expect("a new folder");
        let folder = ScriptFolder::read(&dir).expect("a folder");
        assert_eq!(folder.package().map(|package| package.id()), Ok(race.package().id()));
        assert!(dir.join("IMPORTS/scores/LICENSES/LGPL-3.0-or-later.txt").is_file());
    }

    #[test]
    fn a_folder_that_is_too_long_to_be_published_is_refused() {
        let scratch = Scratch::made("package-too-long");
        let dir = scratch.0.join("scores");
        write(&dir, &scores(), &[]).expect("a new folder");
        for n in 0..5 {
            let name = dir.join(format!("long{n}.rhai"));
            fs::write(name, "/".repeat(PUBLISHABLE_BYTES_MAX / 5)).expect("a file");
        }
        let failure = check_length(&ScriptFolder::read(&dir).expect("a folder")).expect_err("long");
        assert_eq!(failure.exit, crate::cli::exit::Exit::Refused);
        fs::remove_file(dir.join("long0.rhai")).expect("the file");
        assert!(check_length(&ScriptFolder::read(&dir).expect("a folder")).is_ok());
    }

    #[test]
    fn imports_are_looked_for_in_so_many_folders() {
        let scratch = Scratch::made("imports-neighbours");
        let dir = importing(&scratch, &scores().id().to_string());
        write(&scratch.0.join("zz"), &scores(), &[]).expect("a new folder");
        for n in 0..NEIGHBOURS_MAX - 2 {
            fs::create_dir(scratch.0.join(format!("a{n}"))).expect("a folder");
        }
        let is_found = || ScriptFolder::read(&dir).expect("a folder").package().is_ok();
        assert!(is_found());
        fs::create_dir(scratch.0.join("one-more")).expect("a folder");
        assert!(!is_found());
    }
}
