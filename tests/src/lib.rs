//! What the cross-crate tests share: where the workspace is, and its source files.
//!
//! This crate ships nothing. Its tests hold the layering table, the golden logs, and the real
//! processes.
//!
//! ```
//! assert!(metatopia_tests::root().join("Cargo.toml").is_file());
//! ```
#![forbid(unsafe_code)]

use std::{
    fs, io,
    path::{Path, PathBuf},
};

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
