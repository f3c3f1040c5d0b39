//! Bakes in which source this program was built from, for `/source`: the licence asks for it; and the
//! page's WebAssembly module, where there is one.

#[path = "build/archive.rs"]
mod archive;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    time::SystemTime,
};

/// Names the module that is built in; `none` for none.
const MODULE_VARIABLE: &str = "MODULE_OF_METATOPIA";

/// The folder where `.ci/module` leaves the module, below the workspace.
const MODULE_FOLDER: &str = "target/module";

/// Where browsers run.
const MODULE_TARGET: &str = "wasm32-unknown-unknown";

/// What the module is made of.
const MODULE_SOURCES: [&str; 6] =
    ["client/protocol/src", "client/src", "client/wasm/src", "sim", "physics/src", "scripting/src"];

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
    name_and_pack_source(&root);
    build_in(module(&root).as_deref());
}

/// Tells the program which source it is of, and packs that source for it.
fn name_and_pack_source(root: &Path) {
    let carried = || Some((archive::carried_commit(root)?, "unknown"));
    let unknown = || ("unknown".to_owned(), "unknown");
    let (commit, modified) = source(root).or_else(carried).unwrap_or_else(unknown);
    println!("cargo::rustc-env=BUILD_COMMIT_OF_METATOPIA={commit}");
    println!("cargo::rustc-env=BUILD_MODIFIED_OF_METATOPIA={modified}");
    let out = env::var("OUT_DIR").expect("cargo sets it");
    archive::pack(root, &Path::new(&out).join("source.tar.gz"), &commit, &SOURCES);
}

/// The module, if there is one: the one that is named, else the one that `.ci/module` made of these
/// sources, else, in release builds, one that is made here where the compiler can. That never fails
/// this build: a page without the module says that it checks nothing.
fn module(root: &Path) -> Option<PathBuf> {
    println!("cargo::rerun-if-env-changed={MODULE_VARIABLE}");
    if let Some(path) = env::var_os(MODULE_VARIABLE) {
        if path == "none" {
            return None;
        }
        let named = PathBuf::from(path).canonicalize().ok()?;
        println!("cargo::rerun-if-changed={}", named.display());
        return Some(named);
    }
    // The folder is watched, for a file that is not there would be asked for at each build.
    let folder = root.join(MODULE_FOLDER);
    fs::create_dir_all(&folder).ok()?;
    println!("cargo::rerun-if-changed={}", folder.display());
    let folder = folder.canonicalize().ok()?;
    let kept = folder.join("metatopia.wasm").canonicalize().ok();
    let sources = MODULE_SOURCES.iter().filter_map(|source| newest(&root.join(source)));
    let is_new = |path: &PathBuf| newest(path) >= sources.clone().max();
    if kept.as_ref().is_some_and(is_new) {
        return kept;
    }
    let made = match env::var("PROFILE").as_deref() {
        Ok("release") => make_module(root, &folder.with_file_name("module-build")),
        _ => None,
    };
    if made.is_none() && kept.is_some() {
        println!("cargo::warning=the WebAssembly module is older than its sources: see .ci/module");
    }
    made.or(kept)
}

/// When anything in a folder changed last.
fn newest(path: &Path) -> Option<SystemTime> {
    let own = fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    let inside = fs::read_dir(path).into_iter().flatten().flatten();
    inside.map(|entry| newest(&entry.path())).fold(own, Ord::max)
}

/// Makes the module with a cargo of its own, in a target folder of its own, because this build holds
/// the lock of the other one. Nothing where the compiler has no standard library for it.
fn make_module(root: &Path, target: &Path) -> Option<PathBuf> {
    let sysroot = Command::new(env::var_os("RUSTC")?).args(["--print", "sysroot"]).output().ok()?;
    let sysroot = PathBuf::from(String::from_utf8(sysroot.stdout).ok()?.trim());
    if !sysroot.join("lib/rustlib").join(MODULE_TARGET).join("lib").is_dir() {
        return None;
    }
    let mut cargo = Command::new(env::var_os("CARGO")?);
    cargo.current_dir(root).args(["build", "--locked", "--package", "metatopia-wasm"]);
    cargo.args(["--profile", "wasm", "--target", MODULE_TARGET, "--target-dir"]).arg(target);
    // What was chosen for this machine is not for that one.
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_ENCODED") || text.starts_with("CARGO_BUILD_TARGET") {
            cargo.env_remove(&name);
        }
    }
    cargo.env_remove("RUSTFLAGS").env_remove("RUSTC_WORKSPACE_WRAPPER");
    let output = cargo.output().ok()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let why = said.lines().find(|line| line.starts_with("error")).unwrap_or("it says not why");
        println!("cargo::warning=no WebAssembly module could be made: {why}");
        return None;
    }
    target.join(MODULE_TARGET).join("wasm/metatopia_wasm.wasm").canonicalize().ok()
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
