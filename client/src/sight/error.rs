//! What can be wrong with a view.

use metatopia_protocol::TileName;
use metatopia_sim::CopyError;
use metatopia_types::Height;

use super::{ENTRIES_BYTES_MAX, ENTRIES_MAX, OVERLAY_MAX, TILES_MAX};

/// Why a view is not taken in. All of it is the server's fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SightError {
    /// A view is missing, or came twice.
    #[error("view {found} came where view {expected} belongs")]
    Number {
        /// The one after the last.
        expected: u32,
        /// The one that came.
        found: u32,
    },
    /// Time stands still, or goes back.
    #[error("a view of turn {found} came after one of turn {after}")]
    Height {
        /// The height of the view before.
        after: Height,
        /// The height of this one.
        found: Height,
    },
    /// The changes begin after the copy ends, or end before.
    #[error("tile {},{} changed since turn {since}, the copy is of turn {has}", tile.x, tile.y)]
    Since {
        /// The tile that is wrong.
        tile: TileName,
        /// Where the changes begin.
        since: Height,
        /// The height of the copy.
        has: Height,
    },
    /// A tile changed that there is no copy of.
    #[error("tile {},{} changed, and there is no copy of it", .0.x, .0.y)]
    NoCopy(TileName),
    /// A copy does not take what the view says.
    #[error("tile {},{}: {error}", tile.x, tile.y)]
    Copy {
        /// The tile that is wrong.
        tile: TileName,
        /// What is wrong.
        error: CopyError,
    },
    /// Something far away is malformed.
    #[error("something far away: {0}")]
    Far(CopyError),
    /// More tiles than a client holds.
    #[error("{0} tiles are more than {TILES_MAX}")]
    Tiles(usize),
    /// More entries than a client holds.
    #[error("{0} entries are more than {ENTRIES_MAX}")]
    Entries(usize),
    /// More bytes of entries than a client holds.
    #[error("{0} bytes of entries are more than {ENTRIES_BYTES_MAX}")]
    Bytes(usize),
    /// More drawn over the copies than a client looks at.
    #[error("{0} movements, far things or gestures are more than {OVERLAY_MAX}")]
    Overlay(usize),
}

/// Refuses a count above its limit.
pub(super) fn at_most(
    count: usize,
    max: usize,
    error: fn(usize) -> SightError,
) -> Result<(), SightError> {
    if count > max { Err(error(count)) } else { Ok(()) }
}
