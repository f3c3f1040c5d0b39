//! Who watches servers of a sim: what they applied, what was durable when they told of it, and in
//! the end what all their logs hold, played again from genesis.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use metatopia_consensus::{Decision, Record};
use metatopia_sim::Applied;
use metatopia_store::memory::MemoryDisk;
use metatopia_store::{FileName, Write, scan};
use metatopia_types::{ActId, HeaderId, Height, Outcome, Root, Seq, Turn, limits::ROOT_LAG};

use super::files::AGREEMENT_KIND;
use super::setting::Setting;

/// Faults that are written down; the first ones say most.
const FAULTS_MAX: usize = 20;

/// What one turn did. The same on every server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The root of the state after it.
    pub root: Root,
    /// What became of its acts.
    pub outcomes: Vec<Outcome>,
    /// Which scripts failed, and how.
    pub failures: Vec<String>,
    /// What was said.
    pub chat: Vec<String>,
}

impl Step {
    fn of(applied: &Applied) -> Self {
        let failures = applied.failures.iter();
        let chat = applied.chat.iter();
        Self {
            root: applied.root,
            outcomes: applied.outcomes.clone(),
            failures: failures
                .map(|failure| format!("{}: {}", failure.script, failure.kind))
                .collect(),
            chat: chat.map(|line| format!("{}: {}", line.name, line.text)).collect(),
        }
    }
}

/// See the module.
#[derive(Debug, Default)]
pub struct Oracle {
    /// What was wrong.
    faults: Vec<String>,
    steps: BTreeMap<Height, Step>,
    /// When each height was applied for the first time.
    first: BTreeMap<Height, Duration>,
    /// Where each living server is.
    applied: BTreeMap<usize, Height>,
    /// Where the record of each decision ends.
    places: BTreeMap<(usize, Height), (FileName, usize)>,
}

/// The decided turns in one server's log, from height 1 on.
#[derive(Debug)]
pub struct Log {
    /// Whose.
    pub seat: usize,
    /// Ascending, without a gap.
    pub decisions: Vec<Decision>,
}

/// Where an act is, and what became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) height: Height,
    pub(crate) index: u32,
    pub(crate) outcome: Outcome,
}

impl Oracle {
    /// What was wrong.
    #[must_use]
    pub fn faults(&self) -> &[String] {
        &self.faults
    }

    /// What each turn did.
    #[must_use]
    pub const fn steps(&self) -> &BTreeMap<Height, Step> {
        &self.steps
    }

    /// When a height was first applied anywhere.
    #[must_use]
    pub fn first_at(&self, height: Height) -> Option<Duration> {
        self.first.get(&height).copied()
    }

    /// The longest time between two neighbouring heights that were first applied from `from` to `to`.
    #[must_use]
    pub fn longest_pause(&self, from: Duration, to: Duration) -> Duration {
        let times: Vec<Duration> = self.first.values().copied().collect();
        let pauses = times.windows(2).filter(|pair| pair[0] >= from && pair[1] <= to);
        pauses.map(|pair| pair[1].saturating_sub(pair[0])).max().unwrap_or_default()
    }

    /// How many heights were first applied from `from` to `to`.
    #[must_use]
    pub fn turns_between(&self, from: Duration, to: Duration) -> usize {
        let within = |at: &&Duration| from <= **at && **at < to;
        self.first.values().filter(within).count()
    }

    /// Something is wrong.
    pub(crate) fn blame(&mut self, fault: String) {
        if self.faults.len() < FAULTS_MAX {
            self.faults.push(fault);
        }
    }

    pub(crate) fn died(&mut self, seat: usize) {
        self.applied.remove(&seat);
    }

    /// A server computes its state again: it must come to what the others have.
    pub(crate) fn saw_applied_again(&mut self, seat: usize, applied: &Applied) {
        let (height, step) = (applied.height, Step::of(applied));
        self.applied.insert(seat, height);
        if let Some(known) = self.steps.get(&height)
            && *known != step
        {
            let fault = format!("server {seat} again at {height}: {step:?}, others have {known:?}");
            self.blame(fault);
        }
    }

    /// A server whose bits flipped applied a turn: what it came to says nothing.
    pub(crate) fn saw_stray(&mut self, seat: usize, height: Height) {
        self.applied.insert(seat, height);
    }

    pub(crate) fn saw_applied(&mut self, at: Duration, seat: usize, applied: &Applied) {
        let (height, step) = (applied.height, Step::of(applied));
        let before = self.applied.insert(seat, height);
        if before.is_some_and(|before| before.plus(1) != height) {
            self.blame(format!(
                "server {seat} applied {height} after {}",
                before.unwrap_or_default()
            ));
        }
        self.first.entry(height).or_insert(at);
        let known = self.steps.entry(height).or_insert_with(|| step.clone());
        if *known != step {
            let fault = format!("server {seat} at {height}: {step:?} where others have {known:?}");
            self.blame(fault);
        }
    }

    pub(crate) fn saw_write(&mut self, seat: usize, write: &Write, disk: &MemoryDisk) {
        if let Some(Record::Decided(certificate)) = record(write) {
            let begun = write.begins.as_ref().map(|begins| begins.header.len());
            let from = begun.unwrap_or_else(|| disk.bytes(write.file).map_or(0, <[u8]>::len));
            let place = (write.file, from + write.bytes.len());
            self.places.insert((seat, certificate.height), place);
        }
    }

    /// A receipt left: would a power loss right now leave the decision?
    pub(crate) fn saw_receipt_leave(&mut self, seat: usize, height: Height, disk: &MemoryDisk) {
        let durable = self
            .places
            .get(&(seat, height))
            .is_some_and(|(file, end)| disk.durable(*file).len() >= *end);
        if !durable {
            self.blame(format!("server {seat} gave a receipt of {height} before that was durable"));
        }
    }

    /// Compares the logs, plays the longest one again, and says where each act is.
    pub(crate) fn check_logs(&mut self, setting: &Setting, logs: &[Log]) -> BTreeMap<ActId, Entry> {
        let Some(longest) = logs.iter().max_by_key(|log| log.decisions.len()) else {
            return BTreeMap::new();
        };
        for log in logs {
            for (one, other) in log.decisions.iter().zip(&longest.decisions) {
                if one.id() != other.id() {
                    let (seat, height) = (log.seat, one.height());
                    self.blame(format!("the log of server {seat} differs at {height}"));
                }
            }
        }
        self.check_lanes(&longest.decisions);
        self.play_again(setting, &longest.decisions)
    }

    /// Per author and lane, sequences grow from height to height, and nothing is there twice.
    fn check_lanes(&mut self, decisions: &[Decision]) {
        let mut last = BTreeMap::new();
        for turn in decisions.iter().map(|decision| &decision.turn) {
            let height = turn.header.height;
            let mut here: BTreeMap<_, BTreeSet<Seq>> = BTreeMap::new();
            for act in turn.body.acts() {
                let envelope = &act.envelope;
                let lane = (envelope.author, envelope.lane);
                let new = here.entry(lane).or_default().insert(envelope.seq);
                let after = last.get(&lane).is_none_or(|(_, last)| envelope.seq > *last);
                if !new || !after {
                    self.blame(format!("{height} repeats {lane:?} {}", envelope.seq));
                }
            }
            for (lane, seqs) in here {
                last.extend(seqs.last().map(|seq| (lane, (height, *seq))));
            }
        }
    }

    fn play_again(&mut self, setting: &Setting, decisions: &[Decision]) -> BTreeMap<ActId, Entry> {
        let mut world = setting.beginning();
        let mut roots = vec![world.root()];
        let mut previous = HeaderId::default();
        let mut places = BTreeMap::new();
        for decision in decisions {
            let (height, turn) = (decision.height(), &decision.turn);
            if let Some(fault) = wrong_header(setting, &world, decision, previous, &roots) {
                self.blame(format!("the log at {height}: {fault}"));
                break;
            }
            previous = decision.id();
            let applied = setting.apply(&mut world, turn);
            roots.push(applied.root);
            places.extend(entries(turn, &applied.outcomes));
            let step = Step::of(&applied);
            let known = self.steps.get(&height);
            if let Some(known) = known.filter(|known| **known != step) {
                let fault = format!("{height} again: {step:?} where servers had {known:?}");
                self.blame(fault);
            }
        }
        places
    }
}

fn entries(turn: &Turn, outcomes: &[Outcome]) -> Vec<(ActId, Entry)> {
    let height = turn.header.height;
    let acts = turn.body.acts().iter().zip(outcomes).zip(0..);
    acts.map(|((act, outcome), index)| {
        let outcome = *outcome;
        let entry = Entry { height, index, outcome };
        (act.id(), entry)
    })
    .collect()
}

fn wrong_header(
    setting: &Setting,
    world: &metatopia_sim::World,
    decision: &Decision,
    previous: HeaderId,
    roots: &[Root],
) -> Option<String> {
    let (height, header) = (decision.height(), &decision.turn.header);
    let stated = height.minus(ROOT_LAG).unwrap_or_default();
    let root = usize::try_from(stated.0).ok().and_then(|at| roots.get(at));
    if header.height != world.height().plus(1) || header.previous != previous {
        return Some("it does not follow".to_owned());
    }
    if root != Some(&header.root) {
        return Some(format!("another root after {stated}"));
    }
    let Some(set) = world.validators(height) else {
        return Some("nobody votes".to_owned());
    };
    let verdict = decision.certificate.verify(setting.sim, set, &*setting.verifier);
    verdict.err().map(|error| error.to_string())
}

impl Log {
    /// Reads the log of the server in `seat`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(setting: &Setting, seat: usize, disk: &MemoryDisk) -> Result<Self, String> {
        let index = scan(disk, setting.sim).map_err(|e| e.to_string())?.index;
        let (mut turns, mut decisions) = (BTreeMap::new(), Vec::new());
        for record in index.iter(disk) {
            let payload = record.map_err(|e| e.to_string())?.payload;
            match Record::decode(&payload).map_err(|e| e.to_string())? {
                Record::Turn(turn) => {
                    turns.insert(turn.id(), turn);
                }
                Record::Decided(certificate) => {
                    let height = certificate.height;
                    if height.0 != decisions.len() as u64 + 1 {
                        return Err(format!("{height} after {} turns", decisions.len()));
                    }
                    let turn = turns.remove(&certificate.header);
                    let turn = turn.ok_or_else(|| format!("no bytes of turn {height}"))?;
                    decisions.push(Decision { certificate, turn });
                }
                _ => {}
            }
        }
        Ok(Self { seat, decisions })
    }
}

/// What agreement wrote, if it did. A framed record begins with the length of its payload and its
/// kind, and ends with the payload.
fn record(write: &Write) -> Option<Record> {
    let (length, rest) = write.bytes.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    if rest.first() != Some(&AGREEMENT_KIND) {
        return None;
    }
    Record::decode(&write.bytes[write.bytes.len().checked_sub(length)?..]).ok()
}
