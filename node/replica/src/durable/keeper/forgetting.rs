//! Forgetting words: what was said, and is to be forgotten, leaves the log and its patches.
//!
//! It is done after a snapshot, and only so far below it that nobody needs the bytes any more: a server that starts
//! again applies the turns since its older snapshot, and one that fell behind is given up to
//! [`BEHIND_TURNS`](crate::BEHIND_TURNS) turns before it fetches a state. What is left is a turn with a hole, which
//! its header and its certificate still prove. A segment is written anew for all that goes from it, a few segments
//! after each snapshot.

use std::collections::BTreeSet;

use metatopia_consensus::{Decision, Record};
use metatopia_sim::ForgottenWords;
use metatopia_store::{
    Disk, LogIndex, PatchError, Position, ReadError, RedactError, StoredRecord, SyncError,
    limits::SNAPSHOTS_KEPT, list_snapshots, load_patch,
};
use metatopia_types::{ActId, BlobId, Height, Millis, PublicKey, Turn, limits::EXPIRY_HEIGHTS_MAX};

use super::{AGREEMENT, Health, Keeper, News};
use crate::durable::turns::{KeptTurns, decode_patch, encode_patch};

/// Words that leave the log after one snapshot, at most; others wait for the next.
pub const FORGOTTEN_AT_ONCE: usize = 32;

/// Segments that are looked through for them after one snapshot: of 16 MiB each, which takes a tenth of a second.
pub const SEGMENTS_AT_ONCE: usize = 4;

/// What a server drops of what it keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forgetting {
    /// The words that somebody had forgotten.
    pub words: Vec<ForgottenWords>,
    /// Words of turns before this time go as well.
    pub before: Option<Millis>,
    /// Turns below the newest snapshot that stay whole: a server that is farther behind fetches a state.
    pub whole_turns: u64,
}

/// Words by their turn, their blob and whose they must be: what one person had forgotten may be another's.
type WordsPlace = (Height, BlobId, Option<PublicKey>);

const fn place_of(words: &ForgottenWords) -> WordsPlace {
    (words.height, words.body, words.by)
}

/// What has left the log since the server was started.
#[derive(Debug, Default)]
pub(super) struct ForgottenSoFar {
    /// The words that were looked for.
    looked_for: BTreeSet<WordsPlace>,
    /// Where the segments begin whose words are not too old, or were not looked at.
    aged: Position,
    /// The first height of the patch that is looked at next.
    patch: u64,
}

/// Why words did not leave the log. They are looked for again after the next snapshot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ForgetError {
    /// The log cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A segment was not written anew.
    #[error(transparent)]
    Redact(#[from] RedactError),
    /// A patch was not.
    #[error(transparent)]
    Patch(#[from] PatchError),
}

/// The words that leave some segments.
#[derive(Default)]
struct LeavingWords {
    words: Vec<ForgottenWords>,
    /// The acts that brought the words, in the decided turn and in those that were only proposed.
    acts: BTreeSet<ActId>,
    /// Where those segments begin.
    segments: BTreeSet<Position>,
}

impl<D: Disk> Keeper<D> {
    /// Has words leave the log, as far as nobody needs them any more.
    pub(super) fn forget(&mut self, forgetting: &Forgetting) {
        if self.health != Health::Sound {
            return;
        }
        match self.forget_up_to(forgetting) {
            Ok(0) => {}
            Ok(turns) => self.news.push(News::Forgotten { turns }),
            Err(error) => {
                if let ForgetError::Redact(RedactError::Sync(why)) = &error {
                    self.check(Err::<(), _>(why.clone()));
                } else if self.store.must_reopen() {
                    self.check(Err::<(), _>(SyncError::MustReopen));
                }
                self.news.push(News::NotForgotten(error));
            }
        }
    }

    /// Drops what there is to drop. Returns from how many turns.
    fn forget_up_to(&mut self, forgetting: &Forgetting) -> Result<usize, ForgetError> {
        let Some(last) = self.forgettable(forgetting.whole_turns)? else { return Ok(0) };
        // What is too old goes also where words of somebody could not.
        let turns = self.forget_words(&forgetting.words, last);
        let old = forgetting.before.map_or(Ok(0), |before| self.forget_old(before, last));
        Ok(turns? + old?)
    }

    /// Returns the height up to which words may go.
    fn forgettable(&self, whole_turns: u64) -> Result<Option<Height>, ReadError> {
        let snapshots = list_snapshots(self.store.disk()).map_err(ReadError::from)?;
        let newest = snapshots.first().and_then(|(height, _)| height.minus(whole_turns));
        let older = snapshots.get(SNAPSHOTS_KEPT - 1).map(|(height, _)| *height);
        Ok(newest.zip(older).map(|(newest, older)| newest.min(older)))
    }

    /// Drops the words that somebody had forgotten. Returns from how many turns.
    fn forget_words(
        &mut self,
        words: &[ForgottenWords],
        last: Height,
    ) -> Result<usize, ForgetError> {
        let named: BTreeSet<WordsPlace> = words.iter().map(place_of).collect();
        self.forgotten.looked_for.retain(|place| named.contains(place));
        let mut leaving = LeavingWords::default();
        for words in words.iter().filter(|words| words.height <= last) {
            if self.forgotten.looked_for.contains(&place_of(words)) {
                continue;
            }
            self.add(&mut leaving, words)?;
            let is_much = leaving.segments.len() >= SEGMENTS_AT_ONCE;
            if is_much || leaving.words.len() >= FORGOTTEN_AT_ONCE {
                break;
            }
        }
        let mut turns = self.forget_in_patches(&leaving)?;
        for at in &leaving.segments {
            let is_going = |turn: &Turn| leaving.without(turn);
            turns += self.store.redact(*at, &mut |record| redacted(record, is_going))?;
        }
        self.forgotten.looked_for.extend(leaving.words.iter().map(place_of));
        Ok(turns)
    }

    /// Adds words to what is leaving: the acts that brought them, and the segments where these may be.
    fn add(&self, leaving: &mut LeavingWords, words: &ForgottenWords) -> Result<(), ForgetError> {
        leaving.words.push(*words);
        let kept = KeptTurns::of(&self.store);
        let mut turns = kept.from(words.height);
        let found = turns.next().filter(|found| found.height() == words.height);
        // What cannot be read is looked for again.
        if let Some(unread) = turns.unread() {
            return Err(unread.into());
        }
        let Some(found) = found else { return Ok(()) };
        let acts = found.turn.body.acts().iter().filter(|act| words.are_of(act));
        let acts: Vec<ActId> = acts.map(metatopia_types::SignedEnvelope::id).collect();
        if acts.is_empty() {
            return Ok(());
        }
        leaving.acts.extend(acts);
        // The act may have been proposed for as long as it was valid, and once more before it was decided.
        let first = words.height.minus(EXPIRY_HEIGHTS_MAX).unwrap_or_default();
        let (index, disk) = (self.store.index(), self.store.disk());
        let at = |height: Height| {
            let found = index.tagged_from(disk, height.0).next().transpose();
            found.map(|found| found.map_or(index.end(), |record| record.position))
        };
        let range = (if first == Height(0) { index.begin() } else { at(first)? }, {
            at(words.height.plus(2))?
        });
        leaving.segments.extend(segments_in(index, range));
        Ok(())
    }

    /// Drops what is leaving from the patches that hold its turns.
    fn forget_in_patches(&mut self, leaving: &LeavingWords) -> Result<usize, ForgetError> {
        let heights = leaving.words.iter().map(|words| words.height.0);
        let ranges = heights.filter_map(|height| self.store.patches().holding(height));
        let ranges: BTreeSet<(u64, u64)> = ranges.collect();
        let mut turns = 0;
        for range in ranges {
            turns += self.rewrite_patch(range, &|turn| leaving.without(turn))?.0;
        }
        Ok(turns)
    }

    /// Writes a patch anew without the words that go. Returns from how many of its turns they went, and the
    /// time of its last turn.
    fn rewrite_patch(
        &mut self,
        range: (u64, u64),
        without: &dyn Fn(&Turn) -> Option<Turn>,
    ) -> Result<(usize, Option<Millis>), ForgetError> {
        let mut turns = decode_patch(&load_patch(self.store.disk(), range)?);
        let last = turns.last().map(|turn: &Decision| turn.turn.header.time);
        let mut count = 0;
        for decision in &mut turns {
            if let Some(turn) = without(&decision.turn) {
                decision.turn = turn.into();
                count += 1;
            }
        }
        if let Some(patch) = encode_patch(&turns).filter(|_| count > 0) {
            self.store.put_patch(&patch)?;
        }
        Ok((count, last))
    }

    /// Drops the words of turns before this time, from the next segment that holds no later ones and the next
    /// patch. Returns from how many turns.
    fn forget_old(&mut self, before: Millis, last: Height) -> Result<usize, ForgetError> {
        let is_old = move |turn: &Turn| {
            let is_old = turn.header.time < before && turn.header.height <= last;
            if is_old { turn.without(|_| true) } else { None }
        };
        let mut turns = 0;
        if let Some((from, to)) = self.store.patches().after(self.forgotten.patch) {
            self.forgotten.patch = from;
            turns += self.rewrite_patch((from, to), &is_old)?.0;
        } else {
            self.forgotten.patch = 0;
        }
        let starts = self.store.index().segment_starts();
        let mut starts = starts.skip_while(|start| *start < self.forgotten.aged);
        let (at, next) = (starts.next(), starts.next());
        drop(starts);
        // The segment that is written to is looked at once it is full.
        if let Some((at, next)) = at.zip(next)
            && self.first_time(next)?.is_some_and(|time| time < before)
        {
            turns += self.store.redact(at, &mut |record| redacted(record, is_old))?;
            self.forgotten.aged = next;
        }
        Ok(turns)
    }

    /// Returns the time of the first turn whose bytes are at this place of the log or behind it.
    fn first_time(&self, from: Position) -> Result<Option<Millis>, ReadError> {
        for record in self.store.index().iter_from(self.store.disk(), from)? {
            if let Ok(Record::Turn(turn)) = Record::decode(&record?.payload) {
                return Ok(Some(turn.header.time));
            }
        }
        Ok(None)
    }

    /// Has everything looked for again: turns were put back.
    pub(super) fn look_again_for_forgotten(&mut self) {
        self.forgotten = ForgottenSoFar { aged: self.forgotten.aged, ..ForgottenSoFar::default() };
    }
}

impl LeavingWords {
    /// Returns a turn without the words that go; nothing if it has none of them.
    fn without(&self, turn: &Turn) -> Option<Turn> {
        let is_named = |act: &metatopia_types::SignedEnvelope| {
            let blob = metatopia_types::forgettable_blob(act);
            self.words.iter().any(|words| blob == Some(words.body))
        };
        turn.without(|act| is_named(act) && self.acts.contains(&act.id()))
    }
}

/// Returns where the segments begin that hold something between these places.
fn segments_in(index: &LogIndex, (from, to): (Position, Position)) -> Vec<Position> {
    let starts: Vec<Position> = index.segment_starts().collect();
    let first = starts.partition_point(|start| *start <= from).saturating_sub(1);
    starts[first..].iter().copied().take_while(|start| *start <= to).collect()
}

/// Returns what takes the place of a record of a turn from which words go.
fn redacted(record: &StoredRecord, without: impl Fn(&Turn) -> Option<Turn>) -> Option<Vec<u8>> {
    if record.kind != AGREEMENT {
        return None;
    }
    match Record::decode(&record.payload) {
        Ok(Record::Turn(turn)) => Some(Record::Turn(without(&turn)?.into()).encode()),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
