//! Logs with all that servers write on their way to a turn, to be changed and written anew.

use std::{collections::BTreeMap, ops::RangeInclusive, sync::OnceLock};

use metatopia_consensus::{Decision, Polka, Record, Step as Wait, Timeout, TurnVerdict};
use metatopia_replica::{encode_patch, keeper::AGREEMENT};
use metatopia_sim::{Serial, World};
use metatopia_store::{Opening, Patch, Snapshot, Store, memory::MemoryDisk, put_snapshot};
use metatopia_types::{
    Digest, HeaderId, Height, Millis, Proposal, PublicKey, Root, Round, Sign as _, SigningKey,
    Turn, Vote, VoteKind,
};

use crate::{
    SimStart,
    fixture::{
        FixtureTurn, base, genesis, identity, server_key, snapshot, start_of, steps_until, tag,
    },
    tools,
    verify::{LogVerdict, check_log},
};

/// The bytes of a record with its tag.
#[derive(Debug, Clone)]
pub(super) struct RawRecord {
    pub(super) tag: Option<u64>,
    pub(super) payload: Vec<u8>,
}

/// The place of a record, and its kind.
pub(super) struct RecordPlace {
    /// The height that the log has come to there.
    pub(super) at: u64,
    /// The height that the record is about.
    pub(super) height: u64,
    /// Says whether it is a decided turn, or its certificate.
    pub(super) is_history: bool,
    /// Says whether nothing proves or contradicts it: it is what the server says of itself.
    pub(super) is_own_word: bool,
}

/// A log, and the files beside it.
#[derive(Debug, Clone)]
pub(super) struct WrittenLog {
    pub(super) records: Vec<RawRecord>,
    pub(super) patch: Option<Patch>,
    /// The turns that its own records lack.
    pub(super) gap: RangeInclusive<u64>,
    snapshot: Option<Snapshot>,
    /// The records before this one are removed.
    pub(super) cut: usize,
    allow_gaps: bool,
}

/// The result of verifying.
#[derive(Debug)]
pub(super) struct VerifyResult {
    pub(super) fault: Option<(u64, String)>,
    pub(super) turns: BTreeMap<Height, HeaderId>,
}

const SEGMENT_BYTES: u64 = 4_000;

impl WrittenLog {
    /// Returns the records that are not removed.
    pub(super) fn kept(&self) -> RangeInclusive<usize> {
        self.cut..=self.records.len() - 1
    }

    pub(super) fn places(&self) -> Vec<RecordPlace> {
        let decode = |raw: &RawRecord| Record::decode(&raw.payload).expect("as it was written");
        let records: Vec<Record> = self.records.iter().map(decode).collect();
        let decided = |record: &Record| match record {
            Record::Decided(certificate) => Some(certificate.clone()),
            _ => None,
        };
        let ids: Vec<HeaderId> = records.iter().filter_map(decided).map(|c| c.header).collect();
        let mut next = records.iter().filter_map(decided).map(|c| c.height.0).peekable();
        let mut last = 0;
        let place = |record: &Record| {
            let at = next.peek().copied().unwrap_or(last + 1);
            if matches!(record, Record::Decided(_)) {
                last = next.next().unwrap_or_default();
            }
            RecordPlace {
                at,
                height: record.height().map_or(at, |height| height.0),
                is_history: match record {
                    Record::Turn(turn) => ids.contains(&turn.id()),
                    record => matches!(record, Record::Decided(_)),
                },
                is_own_word: matches!(
                    record,
                    Record::Verdict(_) | Record::Timeout(_) | Record::Voice
                ),
            }
        };
        records.iter().map(place).collect()
    }

    /// Gives the turn of a height another root, and its certificate the new digest. Nobody signs it.
    pub(super) fn forge(&mut self, height: u64) -> bool {
        let mut forged = None;
        for raw in &mut self.records[self.cut..] {
            match Record::decode(&raw.payload) {
                Ok(Record::Turn(turn)) if turn.header.height.0 == height && forged.is_none() => {
                    let mut turn = turn.as_ref().clone();
                    turn.header.root = Root(Digest::ZERO);
                    forged = Some(turn.id());
                    raw.payload = Record::Turn(turn.into()).encode();
                }
                Ok(Record::Decided(mut certificate)) if certificate.height.0 == height => {
                    certificate.header = forged.unwrap_or(HeaderId::BEFORE_FIRST);
                    raw.payload = Record::Decided(certificate).encode();
                }
                // A record that names the old turn would give it away.
                Ok(Record::Verdict(mut verdict)) if verdict.height.0 == height => {
                    verdict.header = forged.unwrap_or(HeaderId::BEFORE_FIRST);
                    raw.payload = Record::Verdict(verdict).encode();
                }
                _ => {}
            }
        }
        forged.is_some()
    }

    /// Writes the log with checksums and a chain of its own, and verifies it. Returns nothing if the store
    /// does not take it.
    pub(super) fn verify(&self) -> Option<VerifyResult> {
        static START: OnceLock<SimStart> = OnceLock::new();
        let start = START.get_or_init(|| start_of(genesis()));
        let identity = identity(&start.genesis);
        let opening = Opening { segment_bytes: SEGMENT_BYTES, ..Opening::new(identity) };
        let mut store = Store::open(MemoryDisk::new(), opening).unwrap().store;
        let mut keep = store.end();
        for (number, record) in self.records.iter().enumerate() {
            if number == self.cut {
                keep = store.end();
            }
            store.append(AGREEMENT, record.tag, &record.payload).ok()?;
        }
        store.sync().unwrap();
        if let Some(snapshot) = &self.snapshot {
            put_snapshot(store.disk_mut(), snapshot).unwrap();
        }
        if let Some(patch) = &self.patch {
            store.put_patch(patch).unwrap();
        }
        if self.cut > 0 {
            store.prune_before(keep).unwrap();
        }
        let disk = store.into_disk();
        let checked = check_log(&disk, identity, start, &Serial, &mut ()).unwrap();
        let verdict = LogVerdict::of("a log".to_owned(), &checked, self.allow_gaps);
        let fault = verdict.failure().map(|failure| (verdict.height, failure.to_string()));
        assert_eq!(fault.is_none(), verdict.ok);
        Some(VerifyResult { fault, turns: checked.turns })
    }
}

/// Returns the first record of the segment of this one: a log that keeps this one begins with it.
fn segment_of(records: &[RawRecord], wanted: usize) -> usize {
    let opening = Opening { segment_bytes: SEGMENT_BYTES, ..Opening::new(identity(&genesis())) };
    let mut store = Store::open(MemoryDisk::new(), opening).unwrap().store;
    let (mut first, mut segments) = (0, 0);
    for (number, record) in records.iter().enumerate().take(wanted + 1) {
        store.append(AGREEMENT, record.tag, &record.payload).unwrap();
        if store.index().segments() > segments {
            (first, segments) = (number, store.index().segments());
        }
    }
    first
}

fn key(of: PublicKey) -> SigningKey {
    (0..4).map(server_key).find(|key| key.public() == of).expect("one of the servers")
}

/// Returns what server 0 writes at a height whose turn is decided in its first round.
fn written(before: &World, step: &FixtureTurn, next: Option<&FixtureTurn>) -> Vec<Record> {
    let (sim, height, header) = (before.sim(), step.turn.header.height, step.turn.id());
    let proposal = |turn: &Turn, round| {
        let Turn { header, .. } = turn;
        let (height, header, proposer) = (header.height, header.id(), header.proposer);
        let proposal = Proposal { height, round, header, valid_round: None, proposer };
        proposal.sign(sim, &key(proposer))
    };
    let vote = |n: u8, kind, round, header| {
        let key = server_key(n);
        Record::Vote(Vote { kind, height, round, header, voter: key.public() }.sign(sim, &key))
    };
    let verdict = |turn: &Turn, round, valid| {
        let (header, proposer, valid_round) = (turn.id(), turn.header.proposer, None);
        let certified = false;
        Record::Verdict(TurnVerdict {
            height,
            round,
            valid_round,
            proposer,
            header,
            valid,
            certified,
        })
    };
    let bytes = |turn: &Turn| Record::Turn(turn.clone().into());
    let (first, second) = (Round(0), Round(1));
    let mut records = Vec::new();
    let promised = step.turn.header.proposer == server_key(0).public() && height > Height(1);
    if !promised {
        records.push(bytes(&step.turn));
    }
    records.push(Record::Proposal(proposal(&step.turn, first)));
    records.push(verdict(&step.turn, first, true));
    if height.0 % 5 == 3 {
        // Another turn was proposed as well, and came to nothing.
        let mut other = step.turn.clone();
        other.header.time = Millis(other.header.time.0 + 1);
        records.extend([bytes(&other), Record::Proposal(proposal(&other, second))]);
        records.push(verdict(&other, second, true));
        records.push(vote(1, VoteKind::Prevote, second, None));
        let step = Wait::Prevote;
        records.push(Record::Timeout(Timeout { height, round: second, step }));
    }
    records.extend((0..4).map(|n| vote(n, VoteKind::Prevote, first, Some(header))));
    let signature = |n: u8| {
        let voter = server_key(n).public();
        let kind = VoteKind::Prevote;
        let vote = Vote { kind, height, round: first, header: Some(header), voter };
        (voter, server_key(n).sign(&vote.sign_bytes(sim)))
    };
    let signatures = (1..4).map(signature).collect();
    records.push(Record::Polka(Polka { height, round: first, header, signatures }));
    records.extend((0..3).map(|n| vote(n, VoteKind::Precommit, first, Some(header))));
    if let Some(next) = next.filter(|next| next.turn.header.proposer == server_key(0).public()) {
        records.extend([bytes(&next.turn), Record::Early(proposal(&next.turn, first))]);
    }
    records.push(Record::Decided(step.certificate.clone()));
    let set = |ahead| step.world.validators(height.plus(ahead));
    let validators = set(3).filter(|new| set(2) != Some(new)).cloned();
    records.push(Record::Applied { height, root: step.world.root(), validators });
    records
}

fn raw(record: &Record) -> RawRecord {
    RawRecord { tag: tag(record), payload: record.encode() }
}

fn log(steps: &[FixtureTurn]) -> WrittenLog {
    let begin = World::genesis(&genesis(), &tools()).unwrap();
    let before = [&begin].into_iter().chain(steps.iter().map(|step| &step.world));
    let next = steps.iter().skip(1).map(Some).chain([None]);
    let at_each = before.zip(steps).zip(next);
    let records = at_each.flat_map(|((before, step), next)| written(before, step, next));
    let records = [Record::Voice].into_iter().chain(records);
    let records = records.map(|record| raw(&record)).collect();
    // A range that ends before it begins holds no height: there is no gap.
    let gap = RangeInclusive::new(1, 0);
    WrittenLog { records, patch: None, gap, snapshot: None, cut: 0, allow_gaps: false }
}

fn steps(turns: usize) -> Vec<FixtureTurn> {
    steps_until(&genesis(), turns, |_| ())
}

pub(super) fn whole(turns: usize) -> (&'static str, WrittenLog) {
    ("whole", log(&steps(turns)))
}

/// Returns a log with a snapshot. It begins with the segment that holds the decision of height `keep`.
pub(super) fn pruned(turns: usize, state: usize, keep: u64) -> (&'static str, WrittenLog) {
    let steps = steps(turns);
    let mut log = log(&steps);
    let wanted = log.records.iter().position(|record| record.tag == Some(keep)).unwrap();
    log.cut = segment_of(&log.records, wanted);
    assert!(log.cut > 0, "there is a segment before it");
    log.snapshot = Some(snapshot(&steps, state, &base(&steps, state)));
    ("pruned", log)
}

/// Returns a log without some turns: its server went on with the state after them.
pub(super) fn fetched(turns: usize, gap: RangeInclusive<u64>) -> (&'static str, WrittenLog) {
    let steps = steps(turns);
    let mut log = log(&steps);
    let mut places = log.places().into_iter();
    log.records.retain(|_| {
        let RecordPlace { at, height, .. } = places.next().expect("one for each");
        // A promise for the first turn behind the gap was made in it.
        !(gap.contains(&height) || gap.contains(&at) && height > *gap.end())
    });
    // A turn that was promised in the gap is written down when it is decided.
    let behind = &steps[*gap.end() as usize].turn;
    let after = log.records.iter().position(|r| r.tag == Some(gap.start() - 1)).unwrap() + 2;
    let turn = Record::Turn(behind.clone().into());
    if !log.records[after..].iter().any(|record| record.payload == turn.encode()) {
        log.records.insert(after, raw(&turn));
    }
    let state = *gap.end() as usize;
    log.snapshot = Some(snapshot(&steps, state, &base(&steps, state)));
    (log.gap, log.allow_gaps) = (gap, true);
    ("fetched", log)
}

/// Returns the same log with a patch that holds these turns.
pub(super) fn patched(turns: usize, gap: RangeInclusive<u64>) -> (&'static str, WrittenLog) {
    let steps = steps(turns);
    let (_, log) = fetched(turns, gap.clone());
    let of = |step: &FixtureTurn| Decision {
        turn: step.turn.clone().into(),
        certificate: step.certificate.clone(),
    };
    let turns: Vec<Decision> = gap.map(|height| of(&steps[height as usize - 1])).collect();
    ("patched", WrittenLog { patch: encode_patch(&turns), allow_gaps: false, ..log })
}
