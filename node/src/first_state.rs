//! The first state of a sim. It follows from the genesis alone, or from a successor's genesis and
//! the last state of the parent sim, which is in a file beside the genesis.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use metatopia_consensus::Base;
use metatopia_replica::{self as replica, decode_snapshot};
use metatopia_sim::{Genesis, GenesisError, Parent, StateRestoreError, Tools, World};
use metatopia_store::{self as store, Snapshot, limits::SNAPSHOT_BYTES_MAX};
use metatopia_types::{Height, Root, SimId};

/// The most bytes in front of a snapshot's content.
const SNAPSHOT_HEADER_BYTES_MAX: u64 = 4_096;

/// Says why there is no first state.
#[derive(Debug, thiserror::Error)]
pub enum FirstStateError {
    /// The genesis breaks a rule, or does not fit the state.
    #[error(transparent)]
    Genesis(#[from] GenesisError),
    /// A successor is without the state that it begins with.
    #[error(
        "the sim carries on sim {parent}, and begins with its state after turn {height}: put that \
         snapshot at {}", path.display()
    )]
    Missing {
        /// The parent whose state is missing.
        parent: SimId,
        /// The height of the missing state.
        height: Height,
        /// The path where the state is looked for.
        path: PathBuf,
    },
    /// A snapshot cannot be used.
    #[error(transparent)]
    Snapshot(#[from] SnapshotFileError),
}

/// Says why a file is not the snapshot that it should be.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotFileError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file is damaged, or is another snapshot.
    #[error("{} is not the snapshot of height {height} with root {root}: {source}", path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The height that the snapshot should have.
        height: Height,
        /// The root that the snapshot should have.
        root: Root,
        /// The fault in the file.
        source: Box<store::ReadSnapshotError>,
    },
    /// The file holds another state than it says.
    #[error("{}: {source}", path.display())]
    State {
        /// The path of the file.
        path: PathBuf,
        /// The fault in the state.
        source: Box<replica::SnapshotError>,
    },
}

impl SnapshotFileError {
    /// Returns whether the file is whole, and for a program of another engine.
    #[must_use]
    pub fn is_of_another_program(&self) -> bool {
        match self {
            Self::Read { .. } => false,
            Self::File { source, .. } => {
                matches!(**source, store::ReadSnapshotError::Version { .. })
            }
            Self::State { source, .. } => {
                matches!(**source, replica::SnapshotError::World(StateRestoreError::OtherEngine(_)))
            }
        }
    }
}

/// Returns the path of the state that a successor's genesis begins with.
#[must_use]
pub fn state_beside(genesis: &Path) -> PathBuf {
    let mut name = genesis.as_os_str().to_owned();
    name.push(".state");
    PathBuf::from(name)
}

/// Returns the world at height 0 of the genesis that was read from this file.
///
/// # Errors
/// See [`FirstStateError`]. The whole state of a parent is hashed again.
pub fn first_state(
    genesis: &Genesis,
    file: &Path,
    tools: &Tools,
) -> Result<World, FirstStateError> {
    let Some(Parent { sim, height, root, .. }) = &genesis.parent else {
        return Ok(World::genesis(genesis, tools)?);
    };
    let path = state_beside(file);
    match read_snapshot(&path, *height, *root, tools) {
        Ok((_, parent)) => Ok(World::succeed(genesis, &parent, tools)?),
        Err(SnapshotFileError::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            Err(FirstStateError::Missing { parent: *sim, height: *height, path })
        }
        Err(error) => Err(error.into()),
    }
}

/// Reads a server's snapshot from any file. It must be the snapshot of this height and root.
///
/// # Errors
/// See [`SnapshotFileError`].
pub fn read_snapshot(
    path: &Path,
    height: Height,
    root: Root,
    tools: &Tools,
) -> Result<(Base, World), SnapshotFileError> {
    let own = || path.to_owned();
    let failed = |source| SnapshotFileError::Read { path: own(), source };
    let wrong = |source| {
        let source = Box::new(source);
        SnapshotFileError::File { path: own(), height, root, source }
    };
    let bytes = fs::metadata(path).map_err(failed)?.len();
    if bytes > SNAPSHOT_BYTES_MAX + SNAPSHOT_HEADER_BYTES_MAX {
        return Err(wrong(store::ReadSnapshotError::TooLong(bytes)));
    }
    let bytes = fs::read(path).map_err(failed)?;
    let snapshot = Snapshot::from_file(height, root, bytes).map_err(wrong)?;
    let (base, world) = decode_snapshot(&snapshot.bytes, tools)
        .map_err(|source| SnapshotFileError::State { path: own(), source: Box::new(source) })?;
    Ok((base, world))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use metatopia_types::{Digest, Ed25519};

    use super::*;

    /// The file has no bytes on the disk: it is as long as was said, and empty.
    #[test]
    fn a_snapshot_that_is_longer_than_a_state_with_its_header_is_not_read() {
        let dir = std::env::temp_dir().join(format!("metatopia-snapshot-{}", std::process::id()));
        fs::create_dir_all(&dir).expect("a folder");
        let path = dir.join("long.snapshot");
        let long = SNAPSHOT_BYTES_MAX + SNAPSHOT_HEADER_BYTES_MAX + 1;
        fs::File::create(&path).and_then(|made| made.set_len(long)).expect("a file");
        let tools = Tools::new(Arc::new(Ed25519));
        let read = read_snapshot(&path, Height(1), Root(Digest::ZERO), &tools).map(drop);
        fs::remove_dir_all(&dir).expect("its own folder");
        let Err(SnapshotFileError::File { source, .. }) = read else { panic!("{read:?}") };
        assert!(
            matches!(*source, store::ReadSnapshotError::TooLong(bytes) if bytes == long),
            "{source}"
        );
    }
}
