//! What the oracle sees of a server's disk: the segments of its log, and what lies beside them.

use metatopia_types::{HeaderId, Height};

/// The log of one server, as it lies on its disk.
pub trait LogDisk {
    /// Returns what reading a segment shows, or nothing if the segment is not there.
    fn bytes(&self, segment: u64) -> &[u8];

    /// The first bytes of a segment that no crash can take.
    fn durable(&self, segment: u64) -> &[u8];

    /// The turn of this height, if others gave it back to the server, which keeps it beside its log
    /// where no crash can take it.
    fn put_back(&self, _height: Height) -> Option<HeaderId> {
        None
    }
}

/// Bytes that a server is about to append to its log.
#[derive(Debug, Clone, Copy)]
pub struct Append<'a> {
    /// Which segment of the log, counted from 0.
    pub segment: u64,
    /// Where in it they will begin.
    pub from: usize,
    /// The framed record.
    pub bytes: &'a [u8],
    /// What agreement wrote in it; nothing if it is a record of another kind.
    pub payload: Option<&'a [u8]>,
}
