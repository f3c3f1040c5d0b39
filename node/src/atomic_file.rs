//! Atomic files and folders: a power cut leaves the old one or the new one, and never a part.
//!
//! The bytes of a file and its name reach the disk in any order, unless the program waits for them.
//! A file that was renamed before its bytes were on the disk may be found empty.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

/// Writes a file as a whole: after a power cut at any moment it is the old one or the new one, and
/// the new one once this returns. Only its owner may read it.
///
/// # Errors
/// Returns what the system says. The file is the old one or the new one then.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let draft = draft_of(path);
    let done = replace_by(&mut System, path, &draft, bytes);
    if done.is_err() {
        // Removing the draft gives its space back. The first error is the one to return.
        drop(fs::remove_file(&draft));
    }
    done
}

/// Returns the path where a file is written before it gets its name.
fn draft_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    PathBuf::from(name)
}

fn replace_by<S: Steps>(steps: &mut S, path: &Path, draft: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = steps.create(draft)?;
    file.write_all(bytes)?;
    steps.sync(&file)?;
    steps.rename(draft, path)?;
    steps.sync_folder(folder_of(path))
}

/// Returns the folder of a path.
pub(crate) fn folder_of(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| *parent != Path::new(""));
    parent.unwrap_or(Path::new("."))
}

/// The steps that replace a file.
trait Steps {
    type File: Write;

    /// Creates an empty file, in place of another one if there is one.
    fn create(&mut self, path: &Path) -> io::Result<Self::File>;

    fn sync(&mut self, file: &Self::File) -> io::Result<()>;

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()>;

    fn sync_folder(&mut self, path: &Path) -> io::Result<()>;
}

/// The steps as the operating system does them.
struct System;

impl Steps for System {
    type File = File;

    fn create(&mut self, path: &Path) -> io::Result<File> {
        let file = owner_only().write(true).create(true).truncate(true).open(path)?;
        // The mode given at creation does not change the mode of a file that was there.
        #[cfg(unix)]
        file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
        Ok(file)
    }

    fn sync(&mut self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn sync_folder(&mut self, path: &Path) -> io::Result<()> {
        sync_folder(path)
    }
}

/// Creates a folder and those above it, durably and for this user alone.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let parent = folder_of(path);
    create_folder(parent)?;
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        // Another process created the folder first.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
        done => done?,
    }
    sync_folder(parent)
}

/// Makes the names in a folder durable.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    // On other systems folders cannot be opened, and the file system makes names durable.
    if cfg!(unix) {
        File::open(path)?.sync_all()?;
    }
    Ok(())
}

/// Returns options for a file that only this user may read.
pub(crate) fn owner_only() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[cfg(test)]
mod tests;
