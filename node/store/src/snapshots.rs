//! Snapshots: the encoded state after a height, opaque here, in a file that carries its own hash.
//!
//! The hash covers the bytes, so damage is found before anybody decodes them; whether the state
//! has the root in the file's name is for the caller to check.

use metatopia_types::{Height, Root};

use crate::{
    Cause, Damaged, Disk, DiskError, FileKind, FileName, Folder, ReadDisk,
    content::{CONTENT_FIELD_BYTES, ContentFile},
    limits::{SNAPSHOT_BYTES_MAX, SNAPSHOTS_KEPT},
    sealed::{Seal, SealedFileError},
};

/// The version of snapshot files this program writes, and the only one it loads.
pub const SNAPSHOT_VERSION: u32 = 1;

pub(crate) const FILE: ContentFile = ContentFile {
    seal: Seal {
        mark: b"mtopsnap",
        version: SNAPSHOT_VERSION,
        context: "metatopia snapshot header v1",
        field_bytes: 8 + 32 + CONTENT_FIELD_BYTES,
    },
    context: "metatopia snapshot content v1",
    bytes_max: SNAPSHOT_BYTES_MAX,
};

/// A snapshot as it was put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The state is the one after this turn.
    pub height: Height,
    /// The root that the state should have.
    pub root: Root,
    /// The encoded state.
    pub bytes: Vec<u8>,
}

/// Why there is no such snapshot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadSnapshotError {
    /// The disk failed, or there is no such file.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The file is not what was written.
    #[error(transparent)]
    Damaged(#[from] Damaged),
    /// The file has another format.
    #[error("{file} has format version {found}; this program reads version {known}",
        known = SNAPSHOT_VERSION)]
    Version {
        /// The name of the file.
        file: FileName,
        /// The version of the file.
        found: u32,
    },
    /// The state is larger than a snapshot may be, or the file than one can be.
    #[error("a snapshot of {0} bytes where {max} are allowed", max = SNAPSHOT_BYTES_MAX)]
    TooLong(u64),
}

fn holds(height: Height, root: Root) -> Vec<u8> {
    [&height.0.to_le_bytes(), root.bytes().as_slice()].concat()
}

fn loaded(
    height: Height,
    root: Root,
    content: Result<Vec<u8>, SealedFileError>,
) -> Result<Snapshot, ReadSnapshotError> {
    let file = FileName::new(FileKind::Snapshot(height, root));
    match content {
        Ok(bytes) => Ok(Snapshot { height, root, bytes }),
        Err(SealedFileError::Disk(error)) => Err(error.into()),
        Err(SealedFileError::Damaged(damaged)) => Err(damaged.into()),
        Err(SealedFileError::Version(found)) => Err(ReadSnapshotError::Version { file, found }),
    }
}

impl Snapshot {
    /// The file that it is kept in, whole, also for other places than a data directory.
    #[must_use]
    pub fn to_file(&self) -> Vec<u8> {
        FILE.close(&holds(self.height, self.root), &self.bytes)
    }

    /// Reads such a file. It must be the one of this height and root.
    ///
    /// # Errors
    /// See [`ReadSnapshotError`].
    pub fn from_file(
        height: Height,
        root: Root,
        bytes: Vec<u8>,
    ) -> Result<Self, ReadSnapshotError> {
        let file = FileName::new(FileKind::Snapshot(height, root));
        loaded(height, root, FILE.open(file, &holds(height, root), bytes))
    }
}

/// Writes a snapshot durably, then removes all but the newest [`SNAPSHOTS_KEPT`], and what was kept
/// of its height before.
///
/// # Errors
/// See [`ReadSnapshotError`]. The snapshots that were there before are still there, except that some may
/// have been removed if the new one is durable.
pub fn put_snapshot(disk: &mut dyn Disk, snapshot: &Snapshot) -> Result<(), ReadSnapshotError> {
    write_snapshot(disk, snapshot)?;
    let mut kept = 0;
    remove_snapshots(disk, |height, root| {
        let replaced = height == snapshot.height && root != snapshot.root;
        kept += usize::from(!replaced);
        replaced || kept > SNAPSHOTS_KEPT
    })
}

/// Does what [`put_snapshot`] does, and removes all other snapshots: what they hold is not believed any more.
///
/// # Errors
/// See [`put_snapshot`].
pub fn put_only_snapshot(
    disk: &mut dyn Disk,
    snapshot: &Snapshot,
) -> Result<(), ReadSnapshotError> {
    write_snapshot(disk, snapshot)?;
    remove_snapshots(disk, |height, root| (height, root) != (snapshot.height, snapshot.root))
}

/// Removes those that are named, newest first.
fn remove_snapshots(
    disk: &mut dyn Disk,
    mut is_over: impl FnMut(Height, Root) -> bool,
) -> Result<(), ReadSnapshotError> {
    for (height, root) in list_snapshots(disk)? {
        if is_over(height, root) {
            disk.remove(FileName::new(FileKind::Snapshot(height, root)))?;
        }
    }
    // Not synced: a removed one that comes back after a crash does no harm.
    Ok(())
}

fn write_snapshot(disk: &mut dyn Disk, snapshot: &Snapshot) -> Result<(), ReadSnapshotError> {
    let Snapshot { height, root, .. } = *snapshot;
    if snapshot.bytes.len() as u64 > SNAPSHOT_BYTES_MAX {
        return Err(ReadSnapshotError::TooLong(snapshot.bytes.len() as u64));
    }
    Ok(disk.write_new(FileName::new(FileKind::Snapshot(height, root)), &snapshot.to_file())?)
}

/// Lists the snapshots, newest first. They are not verified.
///
/// # Errors
/// When the folder cannot be read.
pub fn list_snapshots(disk: &dyn ReadDisk) -> Result<Vec<(Height, Root)>, DiskError> {
    let mut found: Vec<(Height, Root)> = disk
        .list(Folder::Snapshots)?
        .into_iter()
        .filter_map(|file| match file.kind {
            FileKind::Snapshot(height, root) if !file.temporary => Some((height, root)),
            _ => None,
        })
        .collect();
    found.sort_unstable();
    found.reverse();
    Ok(found)
}

/// Loads and verifies a snapshot.
///
/// # Errors
/// See [`ReadSnapshotError`].
pub fn load_snapshot(
    disk: &dyn ReadDisk,
    height: Height,
    root: Root,
) -> Result<Snapshot, ReadSnapshotError> {
    let file = FileName::new(FileKind::Snapshot(height, root));
    loaded(height, root, FILE.load(disk, file, &holds(height, root)))
}

/// The newest snapshot that is whole, and what is wrong with the newer ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Newest {
    /// The snapshot, when any is whole.
    pub snapshot: Option<Snapshot>,
    /// Why newer ones were passed over, newest first.
    pub passed_over: Vec<ReadSnapshotError>,
}

/// Loads the newest snapshot that is whole.
///
/// # Errors
/// When the disk fails; damage is not an error but reported.
pub fn newest_snapshot(disk: &dyn ReadDisk) -> Result<Newest, DiskError> {
    let mut passed_over = Vec::new();
    for (height, root) in list_snapshots(disk)? {
        match load_snapshot(disk, height, root) {
            Ok(snapshot) => {
                return Ok(Newest { snapshot: Some(snapshot), passed_over });
            }
            Err(ReadSnapshotError::Disk(error)) if error.cause != Cause::NotFound => {
                return Err(error);
            }
            Err(error) => passed_over.push(error),
        }
    }
    Ok(Newest { snapshot: None, passed_over })
}
