//! Verifying finds every single change of a log and names its height, or the change is of something
//! that verifying claims nothing about. Checksums and the hash chain are renewed after each change.
//!
//! `CHANGES=all cargo test --release -p metatopia-audit verify::changes` flips every bit of the small
//! logs, `CHANGES=10000` makes so many changes of the long ones; without it there are fewer of both.

mod written_log;

use std::{collections::BTreeSet, env, ops::RangeInclusive};

use metatopia_consensus::Record;
use metatopia_math::Stream;
use metatopia_replica::{decode_patch, encode_patch};
use metatopia_types::{Certificate, Digest, Height, Root};

use self::written_log::{RecordPlace, VerifyResult, WrittenLog};

/// One change to a log.
#[derive(Debug, Clone)]
enum LogChange {
    /// One bit of a record's content is flipped.
    Bit(usize, u64),
    /// One bit of a record's tag is flipped.
    Tag(usize, u32),
    /// A record is removed.
    Out(usize),
    /// A record is there a second time.
    Twice(usize),
    /// Two records change places.
    Order(usize, usize),
    /// All records from one decision to the next are removed, with the turn's bytes.
    Turn(u64),
    /// A certificate loses a signature.
    Signature(usize),
    /// One bit of the patch is flipped.
    PatchBit(u64),
    /// A turn of the patch states another root, by a header that nobody signed.
    PatchTurn(usize),
    /// The patch is removed.
    PatchOut,
}

impl LogChange {
    /// Makes the change. Returns false if nobody could write such a log.
    fn make(&self, to: &mut WrittenLog) -> bool {
        let at = |record: usize| (record, &to.records[record]);
        match *self {
            Self::Bit(record, bit) => {
                to.records[record].payload[(bit / 8) as usize] ^= 1 << (bit % 8);
            }
            Self::Tag(record, bit) => {
                let Some(tag) = at(record).1.tag else {
                    return false;
                };
                to.records[record].tag = Some(tag ^ (1 << bit));
            }
            Self::Out(record) => drop(to.records.remove(record)),
            Self::Twice(record) => to.records.insert(record, to.records[record].clone()),
            Self::Order(a, b) => to.records.swap(a, b),
            Self::Turn(height) => {
                let (place, cut) = (to.places(), to.cut);
                let mut records = (0..).zip(place);
                to.records.retain(|_| {
                    let (number, place) = records.next().expect("one for each");
                    number < cut || place.height != height
                });
            }
            Self::Signature(record) => {
                let Ok(Record::Decided(mut certificate)) =
                    Record::decode(&to.records[record].payload)
                else {
                    return false;
                };
                certificate.signatures.pop();
                to.records[record].payload = Record::Decided(certificate).encode();
            }
            Self::PatchBit(bit) => {
                let patch = to.patch.as_mut().expect("a patched log");
                patch.bytes[(bit / 8) as usize] ^= 1 << (bit % 8);
            }
            Self::PatchTurn(at) => {
                let patch = to.patch.as_mut().expect("a patched log");
                let mut turns = decode_patch(&patch.bytes);
                let mut turn = turns[at].turn.as_ref().clone();
                turn.header.root = Root(Digest::ZERO);
                let header = turn.id();
                turns[at].certificate = Certificate { header, ..turns[at].certificate.clone() };
                turns[at].turn = turn.into();
                *patch = encode_patch(&turns).expect("some turns");
            }
            Self::PatchOut => to.patch = None,
        }
        to.records.iter().filter_map(|record| record.tag).is_sorted_by(|a, b| a < b)
    }

    /// Returns the heights that verifying may name for the change.
    fn heights(
        &self,
        places: &[RecordPlace],
        of: &WrittenLog,
        after: &WrittenLog,
    ) -> BTreeSet<u64> {
        let about = |record: usize| {
            let now = after.records.get(record).and_then(|r| Record::decode(&r.payload).ok());
            let now = now.and_then(|record| record.height()).map(|height| height.0);
            let RecordPlace { at, height, .. } = places[record];
            // Records behind a gap may show no more than that there is one.
            let gap = (at == of.gap.end() + 1).then_some(*of.gap.start());
            [Some(at), Some(height), now, gap].into_iter().flatten()
        };
        let patched = of.patch.as_ref().map_or(0..=0, |patch| patch.from..=patch.to);
        match *self {
            Self::Bit(record, _)
            | Self::Tag(record, _)
            | Self::Out(record)
            | Self::Twice(record)
            | Self::Signature(record) => about(record).collect(),
            Self::Order(a, b) => about(a).chain(about(b)).collect(),
            // Next to a gap it makes that one longer, or leaves nothing that proves the state behind it.
            Self::Turn(height) if (1..=2).any(|ahead| of.gap.end() + ahead == height) => {
                [*of.gap.start(), height].into()
            }
            Self::Turn(height) => [height].into(),
            Self::PatchBit(_) => patched.collect(),
            Self::PatchTurn(at) => [patched.start() + at as u64].into(),
            Self::PatchOut => [*patched.start()].into(),
        }
    }

    /// Says whether something proves what was changed. Nothing proves what a server only says of itself,
    /// or that a message came to it at all, and when.
    fn is_provable(&self, places: &[RecordPlace]) -> bool {
        match *self {
            Self::Bit(record, _) => !places[record].is_own_word,
            Self::Tag(..) | Self::Turn(_) | Self::Signature(_) => true,
            Self::PatchBit(_) | Self::PatchTurn(_) | Self::PatchOut => true,
            Self::Out(record) => places[record].is_history,
            Self::Twice(_) | Self::Order(..) => false,
        }
    }
}

/// A log as it was written, and the results of its changes.
struct Trial {
    name: &'static str,
    log: WrittenLog,
    places: Vec<RecordPlace>,
    well: VerifyResult,
    found: u64,
    unprovable: u64,
    refused: u64,
    /// The changes that verifying missed, or that it named by another height.
    missed: Vec<String>,
}

impl Trial {
    fn of((name, log): (&'static str, WrittenLog)) -> Self {
        let well = log.verify().expect("the store takes it");
        assert_eq!(well.fault, None, "{name}");
        let places = log.places();
        let missed = Vec::new();
        Self { name, log, places, well, found: 0, unprovable: 0, refused: 0, missed }
    }

    /// Makes one change, and compares the verdict with what it must be.
    fn change(&mut self, change: &LogChange) {
        let mut changed = self.log.clone();
        let found = if change.make(&mut changed) { changed.verify() } else { None };
        let Some(found) = found else {
            self.refused += 1;
            return;
        };
        let heights = change.heights(&self.places, &self.log, &changed);
        if let Some((height, error)) = &found.fault {
            if !heights.contains(height) {
                self.missed.push(format!("{change:?} at {heights:?}, told as {height}: {error}"));
            }
            self.found += 1;
            return;
        }
        // The log claims nothing else than before, and nothing about removed turns.
        let claims = |height: &u64| found.turns.contains_key(&Height(*height));
        let same = |(height, id)| self.well.turns.get(height) == Some(id);
        let must_find = change.is_provable(&self.places) && heights.iter().all(claims);
        if must_find || !found.turns.iter().all(same) {
            self.missed.push(format!("{change:?} at {heights:?} is said to be in order"));
        }
        self.unprovable += 1;
    }

    fn finish(&self) {
        let Self { name, found, unprovable, refused, .. } = self;
        println!(
            "{name}: {found} found, {unprovable} of what nobody proves, {refused} not to be written"
        );
        assert!(self.found > 0, "{name}: nothing was changed");
        let first: Vec<&String> = self.missed.iter().take(20).collect();
        assert!(first.is_empty(), "{name}: {} changes, first of all {first:#?}", self.missed.len());
    }
}

#[expect(clippy::disallowed_methods, reason = "people ask for more changes by hand")]
fn asked() -> Option<String> {
    env::var("CHANGES").ok()
}

/// Removes and doubles every record and exchanges it with the next, removes every turn, shortens every
/// certificate, and flips all bits, or one in `stride`.
fn small(log: (&'static str, WrittenLog)) {
    let mut trial = Trial::of(log);
    let stride = if asked().as_deref() == Some("all") { 1 } else { 293 };
    for record in trial.log.kept() {
        trial.change(&LogChange::Out(record));
        trial.change(&LogChange::Twice(record));
        trial.change(&LogChange::Signature(record));
        if record + 1 < trial.log.records.len() {
            trial.change(&LogChange::Order(record, record + 1));
        }
        for bit in 0..8 {
            trial.change(&LogChange::Tag(record, bit));
        }
        let bits = 8 * trial.log.records[record].payload.len() as u64;
        for bit in (record as u64 % stride..bits).step_by(stride as usize) {
            trial.change(&LogChange::Bit(record, bit));
        }
    }
    let heights: BTreeSet<u64> = trial.places.iter().map(|place| place.height).collect();
    heights.into_iter().for_each(|height| trial.change(&LogChange::Turn(height)));
    if let Some(patch) = trial.log.patch.clone() {
        (0..=patch.to - patch.from).for_each(|at| trial.change(&LogChange::PatchTurn(at as usize)));
        trial.change(&LogChange::PatchOut);
        for bit in (0..8 * patch.bytes.len() as u64).step_by(stride as usize) {
            trial.change(&LogChange::PatchBit(bit));
        }
    }
    trial.finish();
}

#[test]
fn every_change_of_a_small_whole_log_is_found() {
    small(written_log::whole(6));
}

#[test]
fn every_change_of_a_small_pruned_log_is_found() {
    small(written_log::pruned(8, 5, 3));
}

#[test]
fn every_change_of_a_small_fetched_log_is_found() {
    small(written_log::fetched(8, 4..=5));
}

#[test]
fn every_change_of_a_small_patched_log_is_found() {
    small(written_log::patched(8, 4..=5));
}

/// Draws a change of any kind.
fn drawn(dice: &mut Stream, log: &WrittenLog, places: &[RecordPlace]) -> LogChange {
    let kept: RangeInclusive<usize> = *log.kept().start()..=log.records.len() - 1;
    let count = (kept.end() - kept.start() + 1) as u64;
    let mut record = || kept.start() + dice.below(count) as usize;
    let (a, b) = (record(), record());
    let bits = 8 * log.records[a].payload.len() as u64;
    let patch = log.patch.as_ref().map_or(0, |patch| 8 * patch.bytes.len() as u64);
    match dice.below(if patch > 0 { 10 } else { 8 }) {
        0..3 => LogChange::Bit(a, dice.below(bits)),
        3 => LogChange::Out(a),
        4 => LogChange::Twice(a),
        5 => LogChange::Order(a.min(b), a.max(b)),
        6 => LogChange::Turn(places[a].height),
        7 => LogChange::Signature(a),
        8 => LogChange::PatchBit(dice.below(patch)),
        _ => LogChange::PatchTurn(dice.below(log.gap.clone().count() as u64) as usize),
    }
}

#[test]
fn changes_of_long_logs_are_found() {
    let asked = asked().and_then(|count| count.parse::<u64>().ok());
    let (seed, count) = (20_261_122, asked.unwrap_or(240) / 4);
    println!("seed {seed}, {count} changes of each log");
    let logs = [
        written_log::whole(60),
        written_log::pruned(60, 30, 12),
        written_log::fetched(60, 20..=29),
        written_log::patched(60, 20..=29),
    ];
    for (number, log) in (0..).zip(logs) {
        let mut trial = Trial::of(log);
        for change in 0..count {
            let mut dice = Stream::new(&[7; 32], "changes of a log", &[seed, number, change]);
            let change = drawn(&mut dice, &trial.log, &trial.places);
            trial.change(&change);
        }
        trial.finish();
    }
}

/// The turn after the forged one was removed, and with it all that the forged one was compared with. Below
/// the snapshot the forged turn was called in order.
#[test]
fn a_forged_turn_before_one_that_was_left_out_is_wrong() {
    let (_, mut log) = written_log::pruned(12, 9, 3);
    LogChange::Turn(7).make(&mut log);
    let found = log.verify().unwrap();
    assert_eq!(found.fault.map(|(height, _)| height), Some(7), "it is missing");
    let forged = log.forge(6);
    assert!(forged, "a turn of height 6");
    let (height, error) = log.verify().unwrap().fault.unwrap();
    assert_eq!(height, 6, "{error}");
    assert!(error.contains("signature"), "{error}");
}
