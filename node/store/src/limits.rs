//! Every bound of this crate, with its arithmetic.

/// Largest payload of one record. The largest is a whole turn, 452 KiB by
/// [`TURN_BYTES_MAX`](metatopia_types::limits::TURN_BYTES_MAX), with its certificate; twice that.
pub const RECORD_BYTES_MAX: usize = 1 << 20;

/// A segment that would grow past this is closed and the next begun. A 20 turns/s world writes
/// about 5 GB a day, so some 300 files.
pub const SEGMENT_BYTES: u64 = 16 << 20;

/// Largest tag of a record; the index keeps "one more than the last tag".
pub const TAG_MAX: u64 = u64::MAX - 1;

/// The index keeps one entry of 32 bytes per this many bytes of log: 1/2048 of the log, 8 KiB for a
/// full segment and its own entry, 5 MiB for 10 GiB. Looking a record up reads at most this much before it.
pub const INDEX_STRIDE_BYTES: u64 = 64 << 10;

/// Bytes asked of the disk at once while scanning. A longer record takes one read of its own.
pub const READ_BYTES: usize = 64 << 10;

/// Largest snapshot. It is held in memory once while it is written or loaded.
pub const SNAPSHOT_BYTES_MAX: u64 = 372 << 20;

/// Snapshots that are kept: the newest, and one before it in case the newest is damaged.
pub const SNAPSHOTS_KEPT: usize = 2;

/// Bytes that may be hashed in the search for records after a bad one, see
/// [`scan`](crate::scan()). Past it the damage counts as damage, never as a torn tail.
pub const SEARCH_BYTES_MAX: u64 = 64 << 20;

/// Longest content of a patch. It is held in memory once while it is written or loaded.
pub const PATCH_BYTES_MAX: u64 = 8 << 20;
