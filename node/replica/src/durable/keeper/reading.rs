//! Old turns, read back from a disk.

use metatopia_consensus::Decision;
use metatopia_store::{Disk, ReadError, Store};
use metatopia_types::Height;

use super::Restart;
use crate::{RecordsError, durable::turns::KeptTurns, recall_from, records_after};

/// Returns the decided turns up to `base` that clients may still ask for, as far as they are there, and
/// why some are not, if they cannot be read.
pub(super) fn decisions_up_to(
    kept: KeptTurns<'_>,
    base: Height,
) -> Result<(Vec<Decision>, Option<ReadError>), ReadError> {
    let (mut found, mut unread) = (Vec::new(), None);
    let mut next = recall_from(base);
    while let Some(from) = kept.next_from(next)?.filter(|from| *from <= base) {
        let mut turns = kept.from(from);
        found.extend(turns.by_ref().take_while(|turn| turn.height() <= base));
        unread = unread.or(turns.unread());
        // What is there of a height need not be all of the turn.
        next = found.last().map_or(from, |turn: &Decision| turn.height().max(from)).plus(1);
    }
    Ok((found, unread))
}

/// Returns what a replica is opened with that begins with the state after `base`.
///
/// # Errors
/// When the log cannot be read.
pub fn read_back<D: Disk>(store: &Store<D>, base: Height) -> Result<Restart, RecordsError> {
    let (past, unread) = decisions_up_to(KeptTurns::of(store), base)?;
    Ok(Restart { past, unread, records: records_after(store.index(), store.disk(), base)? })
}
