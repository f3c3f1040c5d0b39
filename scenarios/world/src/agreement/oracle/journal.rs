//! What lies where in one server's log, and how much of it no crash can take.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_consensus::Record;
use metatopia_store::memory::MemoryDisk;
use metatopia_store::{FileName, Write};
use metatopia_types::{Digest, HeaderId, Height, Root, Signature};

use crate::agreement::server::AGREEMENT_KIND;

/// What messages rely on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Entry {
    /// The bytes of a turn.
    Turn(HeaderId),
    /// A vote or a proposal, by its signature.
    Signature(Signature),
    /// That a height is decided.
    Decided(Height),
}

/// The bytes of a record in a file.
#[derive(Debug, Clone, Copy)]
struct Place {
    file: FileName,
    from: usize,
    to: usize,
    digest: Digest,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    places: BTreeMap<Entry, Place>,
    /// Entries that were seen to be durable.
    durable: BTreeSet<Entry>,
}

/// What agreement wrote, if it did. A framed record begins with the length of its payload and its
/// kind, and ends with the payload.
pub(crate) fn record(write: &Write) -> Option<Record> {
    let (length, rest) = write.bytes.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    if rest.first() != Some(&AGREEMENT_KIND) {
        return None;
    }
    Record::decode(&write.bytes[write.bytes.len().checked_sub(length)?..]).ok()
}

fn digest(bytes: &[u8]) -> Digest {
    Digest::of("metatopia oracle place v1", bytes)
}

impl Journal {
    /// A record is about to be appended. Returns the root that it says a turn gave, if it does.
    pub(crate) fn note(&mut self, write: &Write, disk: &MemoryDisk) -> Option<(Height, Root)> {
        let record = record(write)?;
        let begun = write.begins.as_ref().map(|begins| begins.header.len());
        let from = begun.unwrap_or_else(|| disk.bytes(write.file).map_or(0, <[u8]>::len));
        let place = Place {
            file: write.file,
            from,
            to: from + write.bytes.len(),
            digest: digest(&write.bytes),
        };
        let entry = match &record {
            Record::Turn(turn) => Entry::Turn(turn.id()),
            Record::Vote(vote) => Entry::Signature(vote.signature),
            Record::Proposal(proposal) | Record::Early(proposal) => {
                Entry::Signature(proposal.signature)
            }
            Record::Decided(certificate) => Entry::Decided(certificate.height),
            Record::Applied { height, root, .. } => return Some((*height, *root)),
            Record::Verdict(_)
            | Record::Timeout(_)
            | Record::Polka(_)
            | Record::Voice
            | Record::Silence
            | Record::Healed { .. } => return None,
        };
        // What is there already is not made less durable by being there twice.
        self.places.entry(entry).or_insert(place);
        None
    }

    /// Would a power loss right now leave this entry?
    pub(crate) fn is_durable(&mut self, entry: &Entry, disk: &MemoryDisk) -> bool {
        if self.durable.contains(entry) {
            return true;
        }
        let Some(place) = self.places.get(entry) else {
            return false;
        };
        let left = disk.durable(place.file);
        let there = left.get(place.from..place.to).is_some_and(|b| digest(b) == place.digest);
        if there {
            self.durable.insert(*entry);
        }
        there
    }

    /// The process is about to lose what is not durable.
    pub(crate) fn note_death(&mut self, disk: &MemoryDisk) {
        let entries: Vec<Entry> = self.places.keys().copied().collect();
        for entry in entries {
            self.is_durable(&entry, disk);
        }
    }

    /// The process read its log again: forgets what is gone, and returns what must not be.
    pub(crate) fn reread(&mut self, disk: &MemoryDisk) -> Vec<Entry> {
        let there = |place: &Place| {
            let bytes = disk.bytes(place.file).unwrap_or_default();
            bytes.get(place.from..place.to).is_some_and(|bytes| digest(bytes) == place.digest)
        };
        self.places.retain(|_, place| there(place));
        let places = &self.places;
        let gone: Vec<Entry> =
            self.durable.iter().filter(|entry| !places.contains_key(entry)).copied().collect();
        self.durable.retain(|entry| places.contains_key(entry));
        gone
    }

    /// The server's disk was taken away on purpose.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}
