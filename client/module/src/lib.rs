//! Says whether the page's WebAssembly module was made of these very sources.
//!
//! The module is built seldom and takes minutes, so it lies in the tree as `metatopia.wasm`. Beside it
//! `made-of.txt` states the SHA-256 of the file and of each part that it was made of: the crates, what
//! of the workspace's manifest and of `Cargo.lock` concerns them, and the scripts that build it. All of
//! it is a pure function of the contents of files. The node's build script asks whether the module
//! fits, and `.ci/module` makes one that does.
//!
//! ```
//! use metatopia_module::{Fit, MadeOf};
//!
//! let text = format!("{}  sim\n{}  metatopia.wasm\n", "a1".repeat(32), "b2".repeat(32));
//! let made_of = MadeOf::parse(&text).unwrap();
//! let changed = MadeOf::parse(&text.replace("a1", "a3")).unwrap();
//! assert_eq!(made_of.differing(&changed), ["sim"]);
//! assert_eq!(Fit::Stale(vec!["sim".to_owned()]).to_string(), "made of other sources (sim)");
//! ```
#![forbid(unsafe_code)]

mod lock;
mod made_of;
mod manifest;
mod parts;

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
};

pub use made_of::{MadeOf, NotMadeOf};
pub use parts::{PartDigests, Unclear, parts};

/// Where the module is kept for everybody, below the workspace.
pub const KEPT: &str = "client/module";

/// Where a fresher one is left between two landings, below the workspace.
pub const FRESH: &str = "target/module";

/// The name of the module.
pub const WASM: &str = "metatopia.wasm";

/// The name of the module as brotli packs it, beside the other.
pub const PACKED: &str = "metatopia.wasm.br";

/// The name of the text beside it.
pub const MADE_OF: &str = "made-of.txt";

/// Whether a module belongs to these sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fit {
    /// It was made of them.
    Fits,
    /// These parts differ.
    Stale(Vec<String>),
    /// There is none.
    Missing,
    /// The text beside it says nothing about this file, and why.
    Unknown(String),
}

impl fmt::Display for Fit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fits => write!(f, "made of these sources"),
            Self::Stale(parts) => write!(f, "made of other sources ({})", parts.join(", ")),
            Self::Missing => write!(f, "not there"),
            Self::Unknown(why) => write!(f, "made of nobody knows what: {why}"),
        }
    }
}

/// Says how the module in `folder` fits to sources that were looked at already.
///
/// # Errors
/// When a file is there and cannot be read.
pub fn fit(folder: &Path, parts: &PartDigests) -> io::Result<Fit> {
    let Some(wasm) = read(&folder.join(WASM))? else { return Ok(Fit::Missing) };
    let Some(text) = read(&folder.join(MADE_OF))? else {
        return Ok(Fit::Unknown(format!("there is no {MADE_OF} beside it")));
    };
    let made_of = match MadeOf::parse(&String::from_utf8_lossy(&text)) {
        Ok(made_of) => made_of,
        Err(error) => return Ok(Fit::Unknown(format!("{MADE_OF}: {error}"))),
    };
    let now = parts.with_module(&wasm);
    if !made_of.says_same_of(&now, WASM) {
        return Ok(Fit::Unknown(format!("{MADE_OF} is of another file")));
    }
    let differing = made_of.differing(&now);
    Ok(if differing.is_empty() { Fit::Fits } else { Fit::Stale(differing) })
}

/// Returns the first of these folders whose module fits, or how that of the first folder does not.
///
/// # Errors
/// When a file is there and cannot be read.
pub fn choose(folders: &[PathBuf], parts: &PartDigests) -> io::Result<Result<PathBuf, Fit>> {
    let mut why = None;
    for folder in folders {
        match fit(folder, parts)? {
            Fit::Fits => return Ok(Ok(folder.join(WASM))),
            other => why = why.or(Some(other)),
        }
    }
    Ok(Err(why.unwrap_or(Fit::Missing)))
}

fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io::Error::new(error.kind(), format!("{}: {error}", path.display()))),
    }
}
