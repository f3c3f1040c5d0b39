//! What the module is made of, part by part.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, fs, io,
    path::{Path, PathBuf},
};

use super::{WASM, lock::Lock, made_of::MadeOf, manifest::CargoManifest};

/// The crate that becomes the module.
const CRATE: &str = "metatopia-wasm";

/// What tells how it is made; cargo is that of the toolchain.
const RECIPE: [&str; 3] = [".ci/module", ".ci/wasm-toolchain", "rust-toolchain.toml"];

/// Sections of the workspace's manifest that bear on it, also those below them. Of the dependencies
/// only those count that its crates name.
const SECTIONS: [&str; 4] = ["workspace.package", "profile.release", "profile.wasm", "patch"];

/// The digests of all parts of these sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartDigests {
    digests: MadeOf,
    members: BTreeSet<String>,
    lock: String,
}

impl PartDigests {
    /// States the digests of the parts and of a module that was made of them.
    #[must_use]
    pub fn with_module(&self, wasm: &[u8]) -> MadeOf {
        let mut made_of = self.digests.clone();
        made_of.state(WASM, wasm);
        made_of
    }

    /// Returns the crates of this workspace that it is made of.
    #[must_use]
    pub fn members(&self) -> &BTreeSet<String> {
        &self.members
    }

    /// Returns what of `Cargo.lock` concerns it: name and version of each package, and its checksum.
    #[must_use]
    pub fn lock(&self) -> &str {
        &self.lock
    }
}

impl fmt::Display for PartDigests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.digests.fmt(f)
    }
}

/// Why nobody can say what the module is made of.
#[derive(Debug)]
pub enum Unclear {
    /// A file or folder cannot be read.
    Unreadable(PathBuf, io::Error),
    /// A crate is used, and the workspace's manifest names no folder of it.
    NoFolder(String),
    /// The first uses the second, and `Cargo.lock` does not say so.
    NotLocked(String, String),
}

impl fmt::Display for Unclear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(path, error) => write!(f, "cannot read {}: {error}", path.display()),
            Self::NoFolder(name) => write!(f, "Cargo.toml names no folder of {name}"),
            Self::NotLocked(user, name) => {
                write!(f, "Cargo.lock does not say which {name} it is that {user} uses")
            }
        }
    }
}

impl std::error::Error for Unclear {}

/// Looks at the sources below `root`, the workspace's folder.
///
/// # Errors
/// When a file cannot be read, or the manifests and the lock do not fit together.
pub fn parts(root: &Path) -> Result<PartDigests, Unclear> {
    let workspace = CargoManifest::read(&text(&root.join("Cargo.toml"))?);
    let lock = Lock::read(&text(&root.join("Cargo.lock"))?);
    let mut digests = MadeOf::default();
    for path in RECIPE {
        digests.state(path, text(&root.join(path))?.as_bytes());
    }
    let folders: BTreeMap<&str, &str> = workspace
        .entries(|name| name == "workspace.dependencies")
        .filter_map(|entry| Some((entry.key.as_str(), entry.path()?)))
        .collect();
    let mut used = BTreeSet::new();
    let (mut members, mut waiting) = (BTreeSet::new(), vec![CRATE.to_owned()]);
    while let Some(name) = waiting.pop() {
        let folder = folders.get(&*name).ok_or_else(|| Unclear::NoFolder(name.clone()))?;
        let manifest = CargoManifest::read(&text(&root.join(folder).join("Cargo.toml"))?);
        digests.state(folder, &contents(root, Path::new(folder))?);
        members.insert(name.clone());
        for needed in manifest.used().map(str::to_owned) {
            let is_ours = folders.contains_key(&*needed);
            if is_ours && !members.contains(&needed) {
                waiting.push(needed.clone());
            }
            used.insert((name.clone(), needed));
        }
    }
    let is_named = |key: &str| used.iter().any(|(_, name)| name == key);
    digests.state("Cargo.toml", concerning(&workspace, is_named).as_bytes());
    let foreign = used.iter().map(|(user, name)| (&**user, &**name));
    let foreign: Vec<_> = foreign.filter(|(_, name)| !folders.contains_key(name)).collect();
    let not_locked = |(user, name): (&str, &str)| Unclear::NotLocked(user.into(), name.into());
    let lock = lock.needed(&foreign).map_err(not_locked)?;
    digests.state("Cargo.lock", lock.as_bytes());
    Ok(PartDigests { digests, members, lock })
}

/// Returns the text of the workspace's manifest that bears on the module.
fn concerning(workspace: &CargoManifest, is_named: impl Fn(&str) -> bool) -> String {
    let is_in = |name: &str| {
        let below = |section: &str| name.strip_prefix(section);
        SECTIONS
            .iter()
            .any(|s| below(s).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
    };
    let resolver = workspace.entries(|name| name == "workspace").filter(|e| e.key == "resolver");
    let needed = workspace.entries(|name| name == "workspace.dependencies");
    let needed = needed.filter(|entry| is_named(&entry.key));
    resolver.chain(needed).chain(workspace.entries(is_in)).map(|entry| &*entry.text).collect()
}

/// The manifest of a crate and all that is in its `src`, name by name, each with its length.
fn contents(root: &Path, folder: &Path) -> Result<Vec<u8>, Unclear> {
    let mut paths = vec![folder.join("Cargo.toml")];
    let build = folder.join("build.rs");
    paths.extend(root.join(&build).exists().then_some(build));
    list(root, &folder.join("src"), &mut paths)?;
    paths.sort();
    let mut all = Vec::new();
    for path in paths {
        let full = root.join(&path);
        let bytes = fs::read(&full).map_err(|error| Unclear::Unreadable(full, error))?;
        // Names have no line ends, and with its length a file cannot pass for two.
        all.extend(format!("{} {}\n", path.display(), bytes.len()).into_bytes());
        all.extend(bytes);
    }
    Ok(all)
}

/// Lists the files below a folder, without what editors leave beside them.
fn list(root: &Path, folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), Unclear> {
    let full = root.join(folder);
    let failed = |error| Unclear::Unreadable(full.clone(), error);
    for entry in fs::read_dir(&full).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let told = name.to_string_lossy();
        if told.starts_with('.') || told.ends_with('~') {
            continue;
        }
        let path = folder.join(&name);
        if root.join(&path).is_dir() {
            list(root, &path, found)?;
        } else {
            found.push(path);
        }
    }
    Ok(())
}

fn text(path: &Path) -> Result<String, Unclear> {
    fs::read_to_string(path).map_err(|error| Unclear::Unreadable(path.to_owned(), error))
}
