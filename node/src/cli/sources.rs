//! Sources of history on the command line: data directories of servers, and capsules.

use std::{
    fs::File,
    io::{ErrorKind, Read as _},
    path::{Path, PathBuf},
    thread,
};

use super::{failure::Failure, log::data_directories};
use crate::{disk::DataDirectory, engine, executor::Pool};

/// The kind of source that a path names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SourceKind {
    /// A directory in which a server may have kept its log.
    Directory,
    /// A file that says that it is a capsule, of any version.
    Capsule,
}

/// The text that capsules of all versions have in their first bytes.
const CAPSULE: &[u8] = b"metatopia capsule v";

impl SourceKind {
    /// Returns the kind of source that a path names.
    ///
    /// # Errors
    /// Fails when the path names nothing, or something else.
    pub(super) fn at(path: &Path) -> Result<Self, Failure> {
        let name = path.display();
        if path.is_dir() {
            return Ok(Self::Directory);
        }
        let mut first = Vec::new();
        let read = File::open(path).and_then(|file| file.take(64).read_to_end(&mut first));
        match read {
            Ok(_) if first.get(1..).is_some_and(|rest| rest.starts_with(CAPSULE)) => {
                Ok(Self::Capsule)
            }
            Ok(_) => Err(Failure::usage(format!(
                "{name} is neither a server's data directory nor a capsule"
            ))),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Err(Failure::not_found(format!("there is no {name}")))
            }
            Err(error) => Err(Failure::failed(format!("cannot read {name}: {error}"))),
        }
    }
}

/// Opens a data directory to be read. All of its files must be this program's.
///
/// # Errors
/// Fails when the directory cannot be read, or a file in it is for another program.
pub(super) fn open_directory(dir: &Path) -> Result<DataDirectory, Failure> {
    let disk = DataDirectory::open(dir).map_err(|error| Failure::failed(error.to_string()))?;
    engine::check_files(dir, &disk)?;
    Ok(disk)
}

/// Returns the data directory of one server: this one, or the only one in it.
///
/// # Errors
/// Fails when there is no such directory, or more than one.
pub(super) fn only_directory(path: &Path) -> Result<PathBuf, Failure> {
    let mut found = data_directories(path)?;
    match found.pop() {
        Some(only) if found.is_empty() => Ok(only),
        _ => Err(Failure::usage(format!("{} holds several servers", path.display()))
            .hint("name the data directory of one of them")),
    }
}

/// Returns threads for scripts, as many as this machine has.
///
/// # Errors
/// Fails when threads cannot be started.
pub(super) fn pool() -> Result<Pool, Failure> {
    let threads = thread::available_parallelism().map_or(1, Into::into);
    Pool::new(threads).map_err(|error| Failure::failed(error.to_string()))
}
