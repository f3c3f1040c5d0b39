//! The decided turns that a server keeps: in its log, and in patches of the log.

use std::{cell::RefCell, rc::Rc, vec};

use metatopia_consensus::{Decision, Record};
use metatopia_store::{
    Disk, LogIndex, Patch, Patches, ReadDisk, ReadError, Store, limits::PATCH_BYTES_MAX, load_patch,
};
use metatopia_types::{Height, wire};

use super::records::{decisions, payloads_after};

/// Gaps that are named at once, the newest; older ones are once these are closed or given up. Each
/// fetched state and each damaged part of a log leaves one.
pub const GAPS_MAX: usize = 16;

/// Turns that a server should keep and lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gaps {
    /// The number of all missing turns.
    pub turns: u64,
    /// The newest gaps, the newest first, at most [`GAPS_MAX`].
    pub newest: Vec<Gap>,
}

impl Gaps {
    /// Returns the gap that ends with this height.
    pub(crate) fn ending(&self, last: Height) -> Option<&Gap> {
        self.newest.iter().find(|gap| gap.last == last)
    }
}

/// Missing turns that follow each other, with all that are missing there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The first height.
    pub first: Height,
    /// The last of the heights.
    pub last: Height,
    /// The last of these turns, as the one after it names it, if that is there.
    pub names: Option<metatopia_types::HeaderId>,
}

/// The decided turns on a disk.
#[derive(Clone, Copy)]
pub struct KeptTurns<'a> {
    /// The index of the log.
    pub index: &'a LogIndex,
    /// The patches of the log.
    pub patches: &'a Patches,
    /// The disk with both.
    pub disk: &'a dyn ReadDisk,
}

impl core::fmt::Debug for KeptTurns<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Kept up to {}", self.index.end())
    }
}

impl<'a> KeptTurns<'a> {
    /// Returns the turns of an open log.
    #[must_use]
    pub fn of<D: Disk>(store: &'a Store<D>) -> Self {
        Self { index: store.index(), patches: store.patches(), disk: store.disk() }
    }

    /// Returns the turns of this height and later, in order, up to the first gap.
    #[must_use]
    pub fn from(self, height: Height) -> Turns<'a> {
        let source = Source::Patch(Vec::new().into_iter());
        Turns { kept: self, next: height, source, unread: Rc::default(), bad_patch: None }
    }

    /// Returns the first height from this one on whose turn is there.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn next_from(self, height: Height) -> Result<Option<Height>, ReadError> {
        if self.patches.holding(height.0).is_some() {
            return Ok(Some(height));
        }
        let patched = self.patches.after(height.0).map(|(from, _)| from);
        let logged = self.index.tagged_from(self.disk, height.0).next().transpose()?;
        let logged = logged.and_then(|record| record.tag);
        Ok(patched.into_iter().chain(logged).min().map(Height))
    }
}

enum Source<'a> {
    Log(Box<dyn Iterator<Item = Decision> + 'a>),
    Patch(vec::IntoIter<Decision>),
}

impl Iterator for Source<'_> {
    type Item = Decision;

    fn next(&mut self) -> Option<Decision> {
        match self {
            Self::Log(turns) => turns.next(),
            Self::Patch(turns) => turns.next(),
        }
    }
}

/// An iterator over kept turns, see [`KeptTurns::from`].
pub struct Turns<'a> {
    kept: KeptTurns<'a>,
    next: Height,
    source: Source<'a>,
    unread: Rc<RefCell<Option<ReadError>>>,
    bad_patch: Option<u64>,
}

impl core::fmt::Debug for Turns<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Turns from {} on", self.next)
    }
}

impl<'a> Turns<'a> {
    /// Returns the error that ended the turns, if there was one.
    pub fn unread(&mut self) -> Option<ReadError> {
        self.unread.take()
    }

    /// Returns the first height of a patch that could not be read.
    #[must_use]
    pub const fn bad_patch(&self) -> Option<u64> {
        self.bad_patch
    }

    fn open(&mut self) -> Option<Source<'a>> {
        if let Some(range) = self.kept.patches.holding(self.next.0) {
            match load_patch(self.kept.disk, range) {
                Ok(bytes) => {
                    let mut turns = decode_patch(&bytes);
                    turns.retain(|turn| turn.height() >= self.next);
                    return Some(Source::Patch(turns.into_iter()));
                }
                Err(error) => {
                    self.bad_patch = Some(range.0);
                    self.unread.replace(Some(error));
                    return None;
                }
            }
        }
        let unread = Rc::clone(&self.unread);
        let note = move |error| drop(unread.replace(Some(error)));
        let KeptTurns { index, disk, .. } = self.kept;
        match payloads_after(index, disk, self.next) {
            Ok(payloads) => {
                let records = payloads
                    .map_while(move |payload| payload.map_err(&note).ok())
                    .filter_map(|payload| Record::decode(&payload).ok());
                Some(Source::Log(Box::new(decisions(records, self.next))))
            }
            Err(error) => {
                note(error);
                None
            }
        }
    }
}

impl Iterator for Turns<'_> {
    type Item = Decision;

    fn next(&mut self) -> Option<Decision> {
        let turn = match self.source.next() {
            Some(turn) => turn,
            // A gap in the log may be filled, and behind what fills it the log goes on.
            None if self.unread.borrow().is_none() => {
                self.source = self.open()?;
                self.source.next()?
            }
            None => return None,
        };
        self.next = turn.height().plus(1);
        Some(turn)
    }
}

/// Returns the patch of these consecutive turns, or none if there are none.
#[must_use]
pub fn encode_patch(turns: &[Decision]) -> Option<Patch> {
    let (first, last) = (turns.first()?.height().0, turns.last()?.height().0);
    Some(Patch { from: first, to: last, bytes: wire::encode(&turns) })
}

/// Returns the turns of a patch. A whole patch was written by this program, so it can be read.
#[must_use]
pub fn decode_patch(bytes: &[u8]) -> Vec<Decision> {
    wire::decode(bytes, PATCH_BYTES_MAX as usize).unwrap_or_default()
}
