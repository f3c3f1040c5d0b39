//! Fetching a snapshot, part by part.

use metatopia_protocol::{SNAPSHOT_PART_BYTES, SnapshotOffer};
use metatopia_sim::{SNAPSHOT_BYTES_MAX, Tools, World};
use metatopia_types::{Height, limits::ROOT_LAG};

use crate::CallError;

/// An offer whose header is believed, and what came of it.
#[derive(Debug)]
pub(super) struct Download {
    offer: SnapshotOffer,
    bytes: Vec<u8>,
}

impl Download {
    pub(super) fn new(offer: SnapshotOffer) -> Result<Self, CallError> {
        if offer.header.height != offer.height.plus(ROOT_LAG) {
            let text =
                format_args!("header {} states no root of {}", offer.header.height, offer.height);
            return Err(CallError::new("snapshot", text));
        }
        let most = SNAPSHOT_BYTES_MAX as u64;
        if offer.bytes == 0 || offer.bytes > most {
            let text = format_args!("{} bytes where 1 to {most} are allowed", offer.bytes);
            return Err(CallError::new("snapshot", text));
        }
        Ok(Self { offer, bytes: Vec::new() })
    }

    pub(super) fn height(&self) -> Height {
        self.offer.height
    }

    pub(super) fn bytes(&self) -> u64 {
        self.offer.bytes
    }

    pub(super) fn received(&self) -> u64 {
        self.bytes.len() as u64
    }

    pub(super) fn next_part(&self) -> u32 {
        u32::try_from(self.bytes.len() / SNAPSHOT_PART_BYTES).unwrap_or(u32::MAX)
    }

    /// Takes the next part in; the world, when that was the last one.
    pub(super) fn part(&mut self, part: &[u8], tools: &Tools) -> Result<Option<World>, CallError> {
        let left = self.offer.bytes.saturating_sub(self.received());
        let due = left.min(SNAPSHOT_PART_BYTES as u64);
        if part.len() as u64 != due {
            let text = format_args!("a part of {} bytes where {due} are due", part.len());
            return Err(CallError::new("snapshot", text));
        }
        self.bytes.extend_from_slice(part);
        if self.received() < self.offer.bytes {
            return Ok(None);
        }
        let world = World::from_snapshot(&self.bytes, self.offer.header.root, tools)
            .map_err(|error| CallError::new("snapshot", error))?;
        let header = &self.offer.header;
        if world.height() != self.offer.height || world.sim() != header.sim {
            return Err(CallError::new("snapshot", "the state is that of another height or sim"));
        }
        Ok(Some(world))
    }
}
