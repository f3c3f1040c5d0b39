//! Fetches the state of a sim, part by part, and checks it against a certified root.

use alloc::vec::Vec;

use metatopia_protocol::{SNAPSHOT_PART_BYTES, SnapshotOffer};
use metatopia_sim::{SNAPSHOT_BYTES_MAX, StateRestoreError, Tools, World};
use metatopia_types::{Height, SimId, limits::ROOT_LAG};

/// Why a snapshot is not taken. No honest node offers or sends such a one.
#[derive(Debug, thiserror::Error)]
pub enum DownloadError {
    /// The header of the offer states the root of another turn.
    #[error("header {header} states no root of turn {of}")]
    Header {
        /// The height of the header.
        header: Height,
        /// The turn after which the snapshot is said to be.
        of: Height,
    },
    /// The snapshot is empty, or longer than one may be.
    #[error("{0} bytes where 1 to {SNAPSHOT_BYTES_MAX} are allowed")]
    Length(u64),
    /// A part is shorter or longer than it must be.
    #[error("a part of {found} bytes where {due} are due")]
    Part {
        /// The length that came.
        found: usize,
        /// The length that it must have.
        due: u64,
    },
    /// The bytes are no state with the root that the header states.
    #[error(transparent)]
    State(#[from] StateRestoreError),
    /// The state is that of another turn or sim.
    #[error("the state is that of turn {height} of sim {sim}")]
    Other {
        /// The sim whose state it is.
        sim: SimId,
        /// The turn after which it is.
        height: Height,
    },
}

/// A snapshot under way. Its header must be believed before the download begins
/// ([`LightClient::believe`](crate::LightClient::believe)).
#[derive(Debug)]
pub struct SnapshotDownload {
    offer: SnapshotOffer,
    bytes: Vec<u8>,
}

impl SnapshotDownload {
    /// Begins with an offer whose header is believed.
    ///
    /// # Errors
    /// When the offer contradicts itself, or is of more bytes than a state has.
    pub fn new(offer: SnapshotOffer) -> Result<Self, DownloadError> {
        if offer.header.height != offer.height.plus(ROOT_LAG) {
            let header = offer.header.height;
            return Err(DownloadError::Header { header, of: offer.height });
        }
        if offer.bytes == 0 || offer.bytes > SNAPSHOT_BYTES_MAX as u64 {
            return Err(DownloadError::Length(offer.bytes));
        }
        Ok(Self { offer, bytes: Vec::new() })
    }

    /// Returns the turn after which the state is.
    #[must_use]
    pub const fn height(&self) -> Height {
        self.offer.height
    }

    /// Returns the bytes of the whole snapshot.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.offer.bytes
    }

    /// Returns the bytes that have come.
    #[must_use]
    pub const fn received(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Returns the number of the part to ask for.
    #[must_use]
    pub fn next_part(&self) -> u32 {
        u32::try_from(self.bytes.len() / SNAPSHOT_PART_BYTES).unwrap_or(u32::MAX)
    }

    /// Takes the next part, and returns the world when that was the last one.
    ///
    /// # Errors
    /// When the part, or the whole state, is not what the offer says.
    pub fn part(&mut self, part: &[u8], tools: &Tools) -> Result<Option<World>, DownloadError> {
        let left = self.offer.bytes.saturating_sub(self.received());
        let due = left.min(SNAPSHOT_PART_BYTES as u64);
        if part.len() as u64 != due {
            return Err(DownloadError::Part { found: part.len(), due });
        }
        self.bytes.extend_from_slice(part);
        if self.received() < self.offer.bytes {
            return Ok(None);
        }
        let header = &self.offer.header;
        let world = World::from_snapshot(&self.bytes, header.root, tools)?;
        if world.height() != self.offer.height || world.sim() != header.sim {
            return Err(DownloadError::Other { sim: world.sim(), height: world.height() });
        }
        Ok(Some(world))
    }
}
