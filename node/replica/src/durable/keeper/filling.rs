//! Which turns a server lacks that it should keep, and putting them back.
//!
//! A log lacks turns when a damaged part of it was put aside, and when the server went on from a
//! state that it fetched. What others kept of them is put back as patches beside the log; these are
//! given up like the log itself, once they lie far below the older snapshot.

use metatopia_consensus::Decision;
use metatopia_store::{Disk, ReadError, list_snapshots, load_patch};
use metatopia_types::{HeaderId, Height};

use super::{Health, History, Keeper, News};
use crate::{
    RECORDS_BACK_HEIGHTS,
    durable::turns::{GAPS_MAX, Gap, Gaps, KeptTurns, encode_patch},
};

impl<D: Disk> Keeper<D> {
    /// Returns the missing turns.
    #[must_use]
    pub const fn gaps(&self) -> &Gaps {
        &self.gaps
    }

    /// Reads all that was put back. What is damaged of it others have.
    pub(super) fn check_patches(&mut self) {
        let ranges: Vec<(u64, u64)> = self.store.patches().iter().collect();
        for range in ranges {
            match load_patch(self.store.disk(), range) {
                Ok(_) => {}
                Err(error @ ReadError::Damaged(_)) => self.drop_patch(range.0, error),
                Err(error) => self.news.push(News::Unread { from: Height(range.0), error }),
            }
        }
    }

    /// Gives a patch up that cannot be read.
    pub(super) fn drop_patch(&mut self, from: u64, error: ReadError) {
        self.news.push(News::Unread { from: Height(from), error });
        // If it stays, it is found again at the next start.
        let _stays = self.store.drop_patch(from);
        self.look_for_gaps();
    }

    /// Puts the last turns of a gap back.
    pub(super) fn put_back(&mut self, turns: &[Decision]) {
        let first = turns.first().map(Decision::height);
        let gap = turns.last().and_then(|last| self.gaps.ending(last.height()));
        if self.health == Health::Sound
            && gap.zip(first).is_some_and(|(gap, first)| gap.first <= first)
            && let Some(patch) = encode_patch(turns)
        {
            let (first, last) = (Height(patch.from), Height(patch.to));
            let put = self.store.put_patch(&patch);
            if put.is_ok() {
                self.look_again_for_forgotten();
            }
            self.news.push(match put {
                Ok(()) => News::PutBack { first, last },
                Err(error) => News::NotPutBack(error),
            });
        }
        self.look_for_gaps();
        // Whoever handed them in waits for that, also if they were not taken.
        self.are_gaps_due = true;
    }

    /// Lets go of what was put back and lies before what is kept.
    pub(super) fn forget_patches(&mut self) {
        let Ok(floor) = self.floor() else {
            return;
        };
        let over = |(_, to): &(u64, u64)| *to < floor.0;
        let over: Vec<(u64, u64)> = self.store.patches().iter().take_while(over).collect();
        for (from, _) in over {
            if let Err(error) = self.store.drop_patch(from) {
                self.news.push(News::NotMarked(error));
            }
        }
    }

    pub(super) fn look_for_gaps(&mut self) {
        match self.find_gaps() {
            Ok(gaps) => {
                self.are_gaps_due |= gaps != self.gaps;
                self.gaps = gaps;
            }
            Err(error) => self.news.push(News::NoBeginning(error)),
        }
    }

    /// Returns the first height that is to be kept.
    fn floor(&self) -> Result<Height, ReadError> {
        let History::Turns(turns) = self.history else {
            return Ok(Height(1));
        };
        let older = list_snapshots(self.store.disk())?.last().map(|(height, _)| *height);
        let below = older.and_then(|older| older.minus(turns)).unwrap_or_default();
        Ok(below.plus(1))
    }

    fn find_gaps(&self) -> Result<Gaps, ReadError> {
        let kept = KeptTurns::of(&self.store);
        let floor = self.floor()?.0;
        let newest = list_snapshots(kept.disk)?.first().map_or(0, |(height, _)| height.0);
        let first = kept.index.tagged_from(kept.disk, 0).next().transpose()?;
        let first = first.and_then(|record| record.tag).unwrap_or(newest.saturating_add(1));
        // The bytes of the first decided turns may have been in what is gone.
        let whole = match kept.index.is_pruned() {
            true => first.saturating_add(RECORDS_BACK_HEIGHTS + 1),
            false => first,
        };
        let last = kept.index.last_tagged().map_or(newest, |(last, _)| last);
        let before = (floor, whole.saturating_sub(1));
        let after = (last.saturating_add(1), newest);
        let mut gaps = Gaps::default();
        let mut end = u64::MAX;
        for (from, to) in [after].into_iter().chain(kept.index.gaps().rev()).chain([before]) {
            end = end.min(to);
            while let Some((first, last)) = unpatched(kept, from.max(floor), end) {
                end = first.saturating_sub(1);
                gaps.turns = gaps.turns.saturating_add(last - end);
                if gaps.newest.len() < GAPS_MAX {
                    let (first, last) = (Height(first), Height(last));
                    gaps.newest.push(Gap { first, last, names: self.named_after(last) });
                }
            }
        }
        Ok(gaps)
    }

    /// Returns the id of a missing turn, as the turn after it names it.
    fn named_after(&self, last: Height) -> Option<HeaderId> {
        let known = self.gaps.ending(last).and_then(|gap| gap.names);
        known.or_else(|| {
            let next = KeptTurns::of(&self.store).from(last.plus(1)).next();
            next.map(|turn| turn.turn.header.previous)
        })
    }
}

/// Returns the last of these heights that follow each other and were not put back.
fn unpatched(kept: KeptTurns<'_>, from: u64, to: u64) -> Option<(u64, u64)> {
    let mut last = to;
    while let Some((first, _)) = kept.patches.holding(last) {
        last = first.checked_sub(1)?;
    }
    let before = kept.patches.before(last).map_or(from, |(_, to)| from.max(to.saturating_add(1)));
    (before <= last).then_some((before, last))
}

#[cfg(test)]
mod tests;
