//! Bakes in which source this program was built from, for `/source`: the licence asks for it; and the
//! page's WebAssembly module, where there is one.

#[path = "build/archive.rs"]
mod archive;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use metatopia_module::{FRESH, KEPT, PACKED, WASM, choose, parts};

/// Names the module that is built in; `none` for none.
const MODULE_VARIABLE: &str = "MODULE_OF_METATOPIA";

/// Where browsers run.
const MODULE_TARGET: &str = "wasm32-unknown-unknown";

/// What can be done about one that does not fit.
const REMEDY: &str = "`.ci/module fresh` makes one that fits: see CONTRIBUTING.md";

/// What the program is made of; when none of it changed, neither did the answer.
const SOURCES: [&str; 12] = [
    ".ci/module",
    ".ci/wasm-toolchain",
    "Cargo.toml",
    "Cargo.lock",
    "client",
    "consensus",
    "node",
    "physics",
    "rust-toolchain.toml",
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
    build_in(&module(&root));
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

/// The module that is built in.
struct Module {
    /// Without one, the page does not run.
    file: Option<PathBuf>,
    /// What everybody is to be told about it: how it is.
    fault: Option<String>,
}

/// The module: the one that is named, else one that was made of these sources, from the tree or from
/// `.ci/module`, else, in release builds, one that is made here where the compiler can; else the one
/// of the tree, or none, with a warning.
fn module(root: &Path) -> Module {
    println!("cargo::rerun-if-env-changed={MODULE_VARIABLE}");
    if let Some(path) = env::var_os(MODULE_VARIABLE) {
        if path == "none" {
            let fault = format!("not there: {MODULE_VARIABLE} was `none` in the build");
            return Module { file: None, fault: Some(fault) };
        }
        let named = PathBuf::from(&path).canonicalize();
        let file = named.unwrap_or_else(|error| panic!("{MODULE_VARIABLE} is {path:?}: {error}"));
        println!("cargo::rerun-if-changed={}", file.display());
        return Module { file: Some(file), fault: None };
    }
    // The folder is watched, for a file that is not there would be asked for at each build.
    let fresh = root.join(FRESH);
    if fs::create_dir_all(&fresh).is_ok() {
        println!("cargo::rerun-if-changed={}", fresh.display());
    }
    let folders = [root.join(KEPT), fresh];
    let choice = parts(root).map_err(|unclear| unclear.to_string());
    let choice = choice.and_then(|parts| {
        let choice = choose(&folders, &parts).map_err(|error| error.to_string())?;
        choice.map_err(|fit| fit.to_string())
    });
    let why = match choice {
        Ok(file) => return Module { file: Some(file), fault: None },
        Err(why) => why,
    };
    if env::var("PROFILE").as_deref() == Ok("release") {
        let made = make_module(root, &root.join(FRESH).with_file_name("module-build"));
        if made.is_some() {
            return Module { file: made, fault: None };
        }
    }
    println!("cargo::warning=the page's WebAssembly module is {why}; {REMEDY}");
    let kept = folders[0].join(WASM);
    Module { file: kept.exists().then_some(kept), fault: Some(why) }
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
fn build_in(module: &Module) {
    let include = |file: Option<PathBuf>| match file {
        Some(file) => format!("Some(include_bytes!({file:?}))"),
        None => "None".to_owned(),
    };
    let file = module.file.as_ref().map(|file| file.canonicalize().expect("it was there just now"));
    let packed = file.as_ref().map(|file| file.with_file_name(PACKED)).filter(|file| file.exists());
    let (bytes, packed) = (include(file), include(packed));
    let source = format!(
        "/// The WebAssembly module, if this build brings one.\n\
        const MODULE: Option<&[u8]> = {bytes};\n\
        /// The same as brotli packs it, if that was done.\n\
        const MODULE_PACKED: Option<&[u8]> = {packed};\n\
        /// How it is, if that is not as it should be.\n\
        const MODULE_FAULT: Option<&str> = {:?};\n",
        module.fault
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
