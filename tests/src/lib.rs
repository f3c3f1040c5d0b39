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
