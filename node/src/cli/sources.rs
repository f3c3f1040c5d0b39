//! What there is to replay and to compare: data directories of servers, and capsules.

use std::{
    fs::File,
    io::{ErrorKind, Read as _},
    path::{Path, PathBuf},
};

use metatopia_store::{FileKind, Folder, ReadDisk};

use super::{failure::Failure, log::data_directories};

/// What a path names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SourceKind {
    /// A directory, in which a server may have kept its log.
    Directory,
    /// A file that says that it is a capsule, of any version.
    Capsule,
}

/// What capsules of all versions have in their first bytes.
const CAPSULE: &[u8] = b"metatopia capsule v";

impl SourceKind {
    /// Looks at a path.
    ///
    /// # Errors
    /// When there is nothing, or something else.
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

/// The data directory of one server: this one, or the only one in it.
///
/// # Errors
/// When there is none, or more than one.
pub(super) fn only_directory(path: &Path) -> Result<PathBuf, Failure> {
    let mut found = data_directories(path)?;
    match found.pop() {
        Some(only) if found.is_empty() => Ok(only),
        _ => Err(Failure::usage(format!("{} holds several servers", path.display()))
            .hint("name the data directory of one of them")),
    }
}

/// Reads a log, which its server may shorten meanwhile: what is not well then is read again. A server
/// removes a segment in minutes, so this comes to an end.
pub(super) fn read_log<T>(
    disk: &dyn ReadDisk,
    mut read: impl FnMut() -> T,
    is_well: impl Fn(&T) -> bool,
) -> T {
    loop {
        let begin = first_segment(disk);
        let found = read();
        if is_well(&found) || first_segment(disk) == begin {
            return found;
        }
    }
}

fn first_segment(disk: &dyn ReadDisk) -> Option<u64> {
    let numbers = disk.list(Folder::Log).ok()?.into_iter().filter_map(|file| match file.kind {
        FileKind::Segment(number) => Some(number),
        _ => None,
    });
    numbers.min()
}
