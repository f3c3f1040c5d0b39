//! What lies where in one server's log, and how much of it no crash can take.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::Arc;

use metatopia_consensus::{Decision, Record};
use metatopia_types::{Digest, HeaderId, Height, Root, Signature, Turn};

use crate::disk::{Append, LogDisk};

/// What messages rely on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum JournalEntry {
    /// The bytes of a turn.
    Turn(HeaderId),
    /// A vote or a proposal, by its signature.
    Signature(Signature),
    /// A height is decided.
    Decided(Height),
}

/// What a record says that is of use beyond its server.
#[derive(Debug)]
pub(crate) enum JournalNote {
    /// The root after a height.
    Root(Height, Root),
    /// The roots from this height on were wrong.
    Healed(Height),
    /// A turn is decided.
    Decided(Decision),
}

/// The bytes of a record in a segment.
#[derive(Debug, Clone, Copy)]
struct RecordSpan {
    segment: u64,
    from: usize,
    to: usize,
    digest: Digest,
}

impl RecordSpan {
    /// Returns whether these bytes of its segment hold it.
    fn is_in(&self, bytes: &[u8]) -> bool {
        bytes.get(self.from..self.to).is_some_and(|bytes| digest(bytes) == self.digest)
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    places: BTreeMap<JournalEntry, RecordSpan>,
    /// Entries that were seen to be durable.
    durable: BTreeSet<JournalEntry>,
    /// Those of them that were given up.
    given_up: BTreeSet<JournalEntry>,
    /// Heights whose turns were put back beside the log, and given up again.
    let_go: BTreeSet<Height>,
    /// All that was written to the last segment, in order: only its end can be torn.
    last: Vec<RecordSpan>,
    /// Turns whose bytes were written, until one of their height is decided.
    turns: BTreeMap<HeaderId, Arc<Turn>>,
}

fn digest(bytes: &[u8]) -> Digest {
    Digest::of("metatopia oracle place v1", bytes)
}

impl Journal {
    /// Notes a record that is about to be appended.
    pub(crate) fn note(&mut self, append: &Append<'_>) -> Option<JournalNote> {
        let Append { segment, from, bytes, payload } = *append;
        let place = RecordSpan { segment, from, to: from + bytes.len(), digest: digest(bytes) };
        if self.last.last().is_some_and(|last| last.segment != segment || last.to > from) {
            self.last.retain(|before| before.segment == segment && before.to <= from);
            // What was cut off may come again.
            self.places.retain(|_, before| before.segment != segment || before.to <= from);
        }
        self.last.push(place);
        let record = Record::decode(payload?).ok()?;
        let entry = match &record {
            Record::Turn(turn) => JournalEntry::Turn(turn.id()),
            Record::Vote(vote) => JournalEntry::Signature(vote.signature),
            Record::Proposal(proposal) | Record::Early(proposal) => {
                JournalEntry::Signature(proposal.signature)
            }
            Record::Decided(certificate) => JournalEntry::Decided(certificate.height),
            Record::Applied { height, root, .. } => return Some(JournalNote::Root(*height, *root)),
            Record::Healed { from } => return Some(JournalNote::Healed(*from)),
            Record::Recovered(signed) => {
                let from = signed.recovery.height.minus(1).unwrap_or_default();
                return Some(JournalNote::Healed(from));
            }
            Record::Verdict(_)
            | Record::Timeout(_)
            | Record::Polka(_)
            | Record::Voice
            | Record::Silence => return None,
        };
        // What is there already is not made less durable by being there twice.
        self.places.entry(entry).or_insert(place);
        match record {
            Record::Turn(turn) => {
                self.turns.insert(turn.id(), turn);
                None
            }
            Record::Decided(certificate) => {
                let turn = self.turns.remove(&certificate.header)?;
                self.turns.retain(|_, turn| turn.header.height > certificate.height);
                Some(JournalNote::Decided(Decision { certificate, turn }))
            }
            _ => None,
        }
    }

    /// Returns whether a power loss right now would leave this entry.
    pub(crate) fn is_durable(&mut self, entry: &JournalEntry, disk: &dyn LogDisk) -> bool {
        if self.durable.contains(entry) {
            return true;
        }
        let Some(place) = self.places.get(entry) else {
            return false;
        };
        let there = place.is_in(disk.durable(place.segment));
        if there {
            self.durable.insert(*entry);
        }
        there
    }

    /// Returns whether a power loss right now would leave this turn and that it is decided, in the log or
    /// beside it.
    pub(crate) fn keeps(&mut self, height: Height, id: HeaderId, disk: &dyn LogDisk) -> bool {
        let in_log = [JournalEntry::Decided(height), JournalEntry::Turn(id)];
        in_log.iter().all(|entry| self.is_durable(entry, disk))
            || disk.put_back(height) == Some(id)
            // What was read before may be told of afterwards.
            || self.let_go.contains(&height)
    }

    /// The server gives up turns that were put back.
    pub(crate) fn let_go(&mut self, heights: RangeInclusive<u64>) {
        self.let_go.extend(heights.map(Height));
    }

    /// Notes what is durable, because the process is about to lose the rest.
    pub(crate) fn note_death(&mut self, disk: &dyn LogDisk) {
        let entries: Vec<JournalEntry> = self.places.keys().copied().collect();
        for entry in entries {
            self.is_durable(&entry, disk);
        }
    }

    /// The process read its log again: the first byte at its end that it did not write there, and
    /// in which segment. What was written before it was watched is not known.
    pub(crate) fn strange(&self, disk: &dyn LogDisk) -> Option<(u64, usize)> {
        let RecordSpan { segment, mut from, .. } = *self.last.first()?;
        let bytes = disk.bytes(segment);
        for place in &self.last {
            if from >= bytes.len() || !place.is_in(bytes) {
                break;
            }
            from = place.to;
        }
        (from < bytes.len()).then_some((segment, from))
    }

    /// The process read its log again: forgets what is gone, and returns what must not be.
    pub(crate) fn reread(&mut self, disk: &dyn LogDisk) -> Vec<JournalEntry> {
        let there = |place: &RecordSpan| place.is_in(disk.bytes(place.segment));
        self.places.retain(|_, place| there(place));
        self.last.retain(|place| there(place));
        let places = &self.places;
        let missing = |entry: &&JournalEntry| !places.contains_key(entry);
        let gone: Vec<JournalEntry> = self.durable.iter().filter(missing).copied().collect();
        self.durable.retain(|entry| places.contains_key(entry));
        gone.into_iter().filter(|entry| !self.given_up.contains(entry)).collect()
    }

    /// The process found its log damaged: what is gone is gone, and what follows the rest is not known.
    pub(crate) fn note_damage(&mut self, disk: &dyn LogDisk) {
        self.reread(disk);
        self.last.clear();
    }

    /// The server gives up a segment. The last turn that was decided in it, if one was.
    pub(crate) fn give_up(&mut self, segment: u64) -> Option<Height> {
        let gone = self.places.extract_if(.., |_, place| place.segment == segment);
        let gone: Vec<JournalEntry> = gone.map(|(entry, _)| entry).collect();
        // Only what is durable is given up; what was read before may be told of afterwards.
        self.durable.extend(&gone);
        self.given_up.extend(&gone);
        let decided = gone.into_iter().filter_map(|entry| match entry {
            JournalEntry::Decided(height) => Some(height),
            _ => None,
        });
        decided.max()
    }

    /// Returns whether the log says, or said in what was given up, that this height is decided.
    pub(crate) fn held(&self, height: Height) -> bool {
        let entry = JournalEntry::Decided(height);
        self.places.contains_key(&entry) || self.given_up.contains(&entry)
    }

    /// The last height of which it is written down that it is decided.
    pub(crate) fn last_decided(&self) -> Option<Height> {
        let all = JournalEntry::Decided(Height(0))..=JournalEntry::Decided(Height(u64::MAX));
        self.places.range(all).next_back().and_then(|(entry, _)| match entry {
            JournalEntry::Decided(height) => Some(*height),
            _ => None,
        })
    }

    /// Forgets everything, because the server's disk was taken away on purpose.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::Journal;
    use crate::disk::{Append, LogDisk};

    /// A log of one segment, of which so many bytes are durable.
    struct Paper(Vec<u8>, usize);

    impl LogDisk for Paper {
        fn bytes(&self, segment: u64) -> &[u8] {
            if segment == 0 { &self.0 } else { &[] }
        }

        fn durable(&self, segment: u64) -> &[u8] {
            if segment == 0 { &self.0[..self.1] } else { &[] }
        }
    }

    /// Writes `header first second` to a log. Returns what is strange about the log when this is left of it.
    fn strange(left: &[u8]) -> Option<(u64, usize)> {
        let (mut journal, mut log) = (Journal::default(), b"header".to_vec());
        for bytes in [&b" first"[..], b" second"] {
            let (segment, from, payload) = (0, log.len(), None);
            journal.note(&Append { segment, from, bytes, payload });
            log.extend_from_slice(bytes);
        }
        journal.strange(&Paper(left.to_vec(), left.len()))
    }

    #[test]
    fn a_log_that_goes_on_from_bytes_that_nobody_wrote_is_strange() {
        for whole in [&b"header first second"[..], b"header first", b"header", b"", b"head"] {
            assert_eq!(strange(whole), None);
        }
        for (left, at) in [
            (&b"header first sec"[..], 12),
            (b"header first s\0cond", 12),
            (b"header f", 6),
            (b"header fi\0\0t second", 6),
            (b"header first second\0", 19),
        ] {
            assert_eq!(strange(left), Some((0, at)), "{left:?}");
        }
    }

    #[test]
    fn a_new_segment_is_all_that_is_looked_at() {
        let mut journal = Journal::default();
        for segment in [3, 4] {
            let (from, bytes, payload) = (9, &b"record"[..], None);
            journal.note(&Append { segment, from, bytes, payload });
        }

        assert_eq!(journal.strange(&Paper(b"anything".to_vec(), 0)), None);
    }
}
