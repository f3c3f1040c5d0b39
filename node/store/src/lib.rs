//! What a server keeps: an append-only log, snapshots, blobs, and whose they are. Sans-IO.
//!
//! This crate opens no file: it says what to do to a [`Disk`], a small trait that the node
//! implements with real files and the simulated world with [`memory::MemoryDisk`]. It knows nothing
//! of what it stores: a record is a kind byte, an optional tag and bytes.
//!
//! * [`Store`] is the log of one server: append, sync, read back by [`Position`] or by tag.
//!   [`LogWriter`], [`recover`] and [`scan()`] are its parts, for those who drive a disk themselves.
//! * [`Snapshot`]s and blobs are whole files, written atomically and verified when loaded.
//! * [`Identity`] says whose data directory it is.
//!
//! # The log
//! Records lie in segments, `log/segment-0000000000` and on. Each record carries 16 bytes of blake3
//! over itself and the hash of the record before; the first follows from the sim's id. A segment
//! begins only after the one before it is durable, and its header is durable before its first
//! record. So a crash can harm nothing but the end of the last segment, where [`recover`] cuts what
//! is no record and reports it. Anything else that differs from what was written is an error that
//! names file and byte, never a shorter log.
//!
//! [`Store::mark`] writes down, in a file of its own, how far the log was durable, and from which
//! segment on it is kept; earlier ones are removed. Of what was appended after the last mark, a last
//! record that was damaged cannot be told from one that was torn, nor bytes taken out from an end
//! that was never written. [`quarantine()`] makes a damaged log one that can be opened again.
//!
//! What a record holds may have to go, and its place in the chain to stay. [`Store::redact`] puts a shorter payload
//! in its place, and writes the segment anew as a whole: a crash leaves the old one or the new one.
//!
//! What a log lost that way others may have kept. [`Store::put_patch`] puts it back: beside the
//! segments, by tag, in files of its own that never change, since nothing can be put between the
//! records of a hash chain.
//!
//! ```
//! use metatopia_store::{Identity, Opening, Store, memory::{MemoryDisk, CrashEffect}};
//! use metatopia_types::{Digest, PublicKey, SimId};
//!
//! let identity = Identity {
//!     sim: SimId(Digest::of("an example", b"plaza")),
//!     server: PublicKey([7; 32]),
//! };
//! let mut store = Store::open(MemoryDisk::new(), Opening::new(identity))?.store;
//! store.append(1, Some(40), b"a turn")?;
//! store.sync()?;
//! store.append(2, None, b"a vote that was not synced")?;
//!
//! let mut disk = store.into_disk();
//! disk.crash(CrashEffect::Torn(3));
//! let store = Store::open(disk, Opening::new(identity))?.store;
//! let found = store.find(40)?.expect("it was synced");
//! assert_eq!((found.kind, found.payload.as_slice()), (1, b"a turn".as_slice()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod blobs;
mod chain;
mod content;
mod controls;
mod damage;
mod disk;
mod file_name;
mod format;
mod frame;
mod identity;
mod index;
pub mod limits;
mod mark;
pub mod memory;
mod patches;
mod position;
mod quarantine;
mod reader;
mod recover;
mod redact;
mod scan;
mod sealed;
mod snapshots;
mod store;
mod torn;
mod writer;

pub use blobs::{BlobError, forget_blob, get_blob, put_blob};
#[cfg(feature = "controls")]
pub use controls::LogControls;
pub use damage::{Damage, Damaged};
pub use disk::{Cause, Disk, DiskError, DiskTarget, Operation, ReadDisk};
pub use file_name::{FileKind, FileName, Folder};
pub use format::{UnknownFormat, unknown_format};
pub use identity::{IDENTITY_VERSION, Identity, IdentityError, claim_identity, read_identity};
pub use index::{LogIndex, ReadError, Records, StoredRecord};
pub use patches::{PATCH_VERSION, Patch, PatchError, Patches, load_patch};
pub use position::Position;
pub use quarantine::{Quarantine, begins_behind_damage, quarantine};
#[cfg(feature = "controls")]
pub use recover::recover_broken;
pub use recover::{RecoverError, Recovered, recover};
pub use redact::RedactError;
pub use scan::{LogSurvey, Scan, ScanError, TailReport, scan, survey};
pub use snapshots::{
    Newest, ReadSnapshotError, SNAPSHOT_VERSION, Snapshot, list_snapshots, load_snapshot,
    newest_snapshot, put_only_snapshot, put_snapshot,
};
pub use store::{AppendError, MarkError, OpenStoreError, OpenedStore, Opening, Store, SyncError};
pub use writer::{FrameError, LogWriter, NewSegment, SyncRequest, Write};
