//! What the tests of the workspace itself share: where it is, its sources, and its pure crates.
//!
//! This crate ships nothing. Its tests hold the layering, the names, the documents, the limits and the
//! dependencies. They read files and build no crate that they judge, so they take seconds.
//!
//! ```
//! assert!(metatopia_tests::root().join("Cargo.toml").is_file());
//! ```
#![forbid(unsafe_code)]

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// A crate without clocks, sockets, files, threads, floats or hash-ordered collections.
#[derive(Debug, Clone, Copy)]
pub struct PureCrate {
    /// Its package, without `metatopia-`.
    pub name: &'static str,
    /// Its folder, from the root.
    pub folder: &'static str,
}

/// Every pure crate. All checks of purity read this list: what such a crate may depend on, what its
/// sources may name, which lints it is held to, and that it builds for wasm32.
pub const PURE: &[PureCrate] = &[
    PureCrate { name: "math", folder: "sim/math" },
    PureCrate { name: "types", folder: "sim/types" },
    PureCrate { name: "physics", folder: "physics" },
    PureCrate { name: "scripting", folder: "scripting" },
    PureCrate { name: "consensus", folder: "consensus" },
    PureCrate { name: "raynet", folder: "raynet" },
    PureCrate { name: "store", folder: "node/store" },
    PureCrate { name: "protocol", folder: "client/protocol" },
    PureCrate { name: "sim", folder: "sim" },
    PureCrate { name: "client", folder: "client" },
    PureCrate { name: "replica", folder: "node/replica" },
    PureCrate { name: "audit", folder: "node/audit" },
    PureCrate { name: "oracle", folder: "scenarios/oracle" },
];

/// Returns the path from the root and the text of every Rust source.
///
/// # Panics
/// When a source cannot be read.
#[must_use]
pub fn sources() -> Vec<(String, String)> {
    let root = root();
    let relative = |path: &Path| {
        path.strip_prefix(&root).expect("below the root").to_string_lossy().into_owned()
    };
    files(&root, ".rs")
        .expect("the workspace can be read")
        .iter()
        .map(|path| (relative(path), fs::read_to_string(path).expect("a source file")))
        .collect()
}

/// Returns the part of a source that consists of tests; nothing of what ships.
#[must_use]
pub fn tests_of<'a>(path: &str, text: &'a str) -> &'a str {
    let is_test = path.contains("/tests/") || path.ends_with("/tests.rs");
    if is_test || !path.ends_with(".rs") {
        return text;
    }
    text.split_once("#[cfg(test)]\nmod tests {").map_or("", |(_, tests)| tests)
}

/// The workspace's root folder.
#[must_use]
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().map_or_else(|| here.to_path_buf(), Path::to_path_buf)
}

/// Returns the path from the root and the text of every document that describes the present: the
/// three beside the root's manifest, and all of `docs`. The log of changes describes the past.
///
/// # Panics
/// When a document cannot be read.
#[must_use]
pub fn documents() -> Vec<(String, String)> {
    let root = root();
    let of_root = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|name| root.join(name));
    let of_docs = files(&root.join("docs"), ".md").expect("docs can be read");
    let named = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a document");
        let name = path.strip_prefix(&root).expect("below the root").to_string_lossy().into_owned();
        (name, text)
    };
    of_root.into_iter().chain(of_docs).map(named).collect()
}

/// Every file below `folder` whose name ends with `ending`, sorted, without build output.
///
/// # Errors
/// When a folder cannot be read.
pub fn files(folder: &Path, ending: &str) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') {
                found.extend(files(&path, ending)?);
            }
        } else if name.ends_with(ending) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
