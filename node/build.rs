//! Bakes in which source this program was built from, for `/source`: the licence asks for it; and the
//! page's WebAssembly module, where there is one.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Names the module that is built in; `none` for none. Where it is not set, the module is taken
/// from where `.ci/module` leaves it.
const MODULE_VARIABLE: &str = "MODULE_OF_METATOPIA";

/// The folder where `.ci/module` leaves the module, below the workspace.
const MODULE_FOLDER: &str = "target/module";

/// What the program is made of; when none of it changed, neither did the answer.
const SOURCES: [&str; 9] = [
    "Cargo.toml",
    "Cargo.lock",
    "client",
    "consensus",
    "node",
    "physics",
    "scenarios",
    "scripting",
    "sim",
];

fn main() {
    let manifest = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let root = Path::new(&manifest).join("..");
    let mut watched: Vec<_> = SOURCES.iter().map(|source| root.join(source)).collect();
    // What is checked out; and the branch, which moves without its name in HEAD changing.
    let branch = git(&root, &["symbolic-ref", "--quiet", "HEAD"]);
    for name in ["HEAD".to_owned()].into_iter().chain(branch) {
        watched.extend(git(&root, &["rev-parse", "--git-path", &name]).map(|path| root.join(path)));
    }
    for path in watched.iter().filter(|path| path.exists()) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    let (commit, modified) = source(&root).unwrap_or(("unknown".to_owned(), "unknown"));
    println!("cargo::rustc-env=BUILD_COMMIT_OF_METATOPIA={commit}");
    println!("cargo::rustc-env=BUILD_MODIFIED_OF_METATOPIA={modified}");
    build_in(module(&root).as_deref());
}

/// The module, if there is one.
fn module(root: &Path) -> Option<PathBuf> {
    println!("cargo::rerun-if-env-changed={MODULE_VARIABLE}");
    let (watched, path) = match env::var_os(MODULE_VARIABLE) {
        Some(path) if path == "none" => return None,
        Some(path) => (PathBuf::from(&path), PathBuf::from(path)),
        None => {
            // The folder is watched, for a file that is not there would be asked for at each build.
            let folder = root.join(MODULE_FOLDER);
            fs::create_dir_all(&folder).ok()?;
            let path = folder.join("metatopia.wasm");
            (folder, path)
        }
    };
    println!("cargo::rerun-if-changed={}", watched.display());
    path.canonicalize().ok()
}

/// Writes the piece of source that holds the module.
fn build_in(module: Option<&Path>) {
    let value = match module {
        Some(path) => format!("Some(include_bytes!({path:?}))"),
        None => "None".to_owned(),
    };
    let source = format!(
        "/// The WebAssembly module, if this build brings one.\n\
        const MODULE: Option<&[u8]> = {value};\n"
    );
    let out = env::var("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&out).join("module.rs"), source).expect("cargo made the folder");
}

/// The commit that is checked out, and whether files differ from it. Nothing when this is no git
/// checkout, also when it was unpacked somewhere inside another one.
fn source(root: &Path) -> Option<(String, &'static str)> {
    let top = git(root, &["rev-parse", "--show-toplevel"])?;
    if Path::new(&top).canonicalize().ok()? != root.canonicalize().ok()? {
        return None;
    }
    let commit = git(root, &["rev-parse", "--verify", "HEAD"])?;
    let changes = git(root, &["status", "--porcelain", "--untracked-files=no"])?;
    Some((commit, if changes.is_empty() { "no" } else { "yes" }))
}

fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    // Without optional locks, a build does not get into the way of somebody who commits.
    let mut command = Command::new("git");
    command.arg("--no-optional-locks").args(arguments).current_dir(root);
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
