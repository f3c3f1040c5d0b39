//! How much of the log is kept, and giving up the rest.
//!
//! The segments themselves are removed by [`Store::mark`](metatopia_store::Store::mark).

use metatopia_store::{self as store, Disk, ReadError, limits::SNAPSHOTS_KEPT, list_snapshots};
use metatopia_types::Height;

use super::{History, Keeper, News};
use crate::{RECALL_HEIGHTS, RECORDS_BACK_HEIGHTS};

/// Turns that are kept below the older snapshot: an hour of 20 turns a second, some 200 MiB of a busy
/// sim. Servers that were away for so long catch up turn by turn.
pub const HISTORY_TURNS: u64 = 72_000;

const _: () = assert!(HISTORY_TURNS >= RECALL_HEIGHTS, "clients get the receipts of their acts");

impl<D: Disk> Keeper<D> {
    /// Returns where the kept part of the log begins.
    pub(super) fn keep_from(&self) -> Result<store::Position, ReadError> {
        let History::Turns(turns) = self.history else {
            return Ok(store::Position::ZERO);
        };
        let snapshots = list_snapshots(self.store.disk())?;
        let older = snapshots.get(SNAPSHOTS_KEPT - 1).map(|(height, _)| *height);
        let back = turns.saturating_add(RECORDS_BACK_HEIGHTS);
        let Some(from) = older.and_then(|height| height.minus(back)) else {
            return Ok(store::Position::ZERO);
        };
        let found = self.store.find(from.0)?;
        Ok(found.map_or(store::Position::ZERO, |record| record.position))
    }

    /// Marks how far the log goes, and gives up what lies before `keep`.
    pub(super) fn mark_and_prune(&mut self, keep: store::Position) {
        match self.store.prune_before(keep) {
            Ok(()) => self.forget_unsynced(),
            Err(store::MarkError::Sync(error)) => {
                self.check(Err::<(), _>(error));
            }
            Err(store::MarkError::Disk(error)) => self.news.push(News::NotMarked(error)),
        }
    }

    /// Finds the oldest turn that is left.
    pub(super) fn look_for_oldest(&mut self) {
        let index = self.store.index();
        let first = match index.is_pruned() {
            true => index.tagged_from(self.store.disk(), 0).next(),
            false => return,
        };
        match first {
            Some(Ok(record)) => {
                let decided = Height(record.tag.unwrap_or_default());
                self.oldest = decided.plus(RECORDS_BACK_HEIGHTS + 1);
            }
            Some(Err(error)) => self.news.push(News::NoBeginning(error)),
            None => {}
        }
    }
}
