//! What can be wrong with bytes that were read back.

use crate::{FileName, limits};

/// How bytes differ from anything that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// The file does not begin like a file of its kind.
    #[error("it does not begin with the mark of its kind")]
    Mark,
    /// A header differs from its own hash.
    #[error("the header does not match its hash")]
    Header,
    /// A file ends inside its header, or has bytes after its end.
    #[error("it has {found} bytes where {expected} are due")]
    Length {
        /// Bytes that there are.
        found: u64,
        /// Bytes that there must be.
        expected: u64,
    },
    /// A segment's header is that of another segment.
    #[error("this is segment {0}")]
    OtherSegment(u64),
    /// A segment does not continue the one before it.
    #[error("it does not continue the segment before it")]
    Discontinued,
    /// The log ends before a place that was marked as durable.
    #[error("the log ends {0} bytes before the end that is marked as durable")]
    Ends(u64),
    /// The log does not have the record that its mark names.
    #[error("it marks a record that the log does not have")]
    Unmarked,
    /// The file ends inside a record.
    #[error("the record is cut off")]
    CutOff,
    /// A record's length is above the limit.
    #[error("a record of {0} bytes where {max} are allowed", max = limits::RECORD_BYTES_MAX)]
    RecordLength(u32),
    /// A record does not state the position that it is at.
    #[error("the record states position {0}")]
    RecordPosition(u64),
    /// A record differs from its hash, or from the record before it.
    #[error("the record does not match its hash")]
    RecordHash,
    /// A record's tag is not above the last.
    #[error("tag {0} is not above the tags before it")]
    TagOrder(u64),
    /// A content differs from its hash.
    #[error("the content does not match its hash")]
    Content,
}

/// Damage, and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file} is damaged at byte {offset}: {damage}")]
pub struct Damaged {
    /// The damaged file's name.
    pub file: FileName,
    /// First byte of the header, record or content that is damaged.
    pub offset: u64,
    /// What is wrong there.
    pub damage: Damage,
}
