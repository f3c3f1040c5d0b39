//! Watches simulated servers and says what they did wrong.
//!
//! It knows the rules from the design, not from the code: it counts voting power, follows the
//! membership and compares histories by itself, and calls none of production's checks. What it
//! shares with production are the shapes of messages and records, the digests that name things, and
//! signatures.

mod checks;
mod electorate;
mod history;
mod journal;
mod law;
mod locks;
mod words;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use metatopia_consensus::{Decision, Message};
use metatopia_store::Write;
use metatopia_store::memory::MemoryDisk;
use metatopia_types::{Evidence, HeaderId, Height, Millis, PublicKey, SimId, Verify};

use super::setting::Setting;
use electorate::Electorate;
pub use history::History;
use journal::Journal;
pub(crate) use journal::record;
pub use law::{Fault, Law};
use locks::Locks;
use words::{Slot, Words};

/// Faults that are written down; more of one run add nothing.
const FAULTS_KEPT: usize = 40;

/// Who says two things in one place so often, each time to one server, is accused by somebody: one
/// time is not enough, for a height may be over when the second word comes.
const LIES_SHOWN: u64 = 100;

/// How far ahead of a clock a turn may be that its server votes for, in milliseconds.
const AHEAD_MS: u64 = 500;

/// Why nobody honest may vote for a turn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Forbidden {
    /// For people.
    pub(crate) why: &'static str,
    /// It is only void for clocks that are far from this time.
    pub(crate) ahead: Option<Millis>,
}

/// See the module.
#[derive(Debug)]
pub struct Oracle {
    sim: SimId,
    names: Vec<PublicKey>,
    verifier: Verifier,
    /// Which seats are held to the rules.
    honest: Vec<bool>,
    now: Duration,
    faults: Vec<Fault>,
    words: Words,
    locks: Locks,
    journals: Vec<Journal>,
    history: History,
    electorate: Electorate,
    /// Turns that a liar made, and that nobody honest may vote for.
    void: BTreeMap<HeaderId, Forbidden>,
    /// The latest that each honest wall clock ever showed.
    walls: BTreeMap<usize, Millis>,
    /// So many honest servers at least take part in the first quorum for a turn.
    witnesses: usize,
    turn_length: u64,
    evidence: BTreeMap<PublicKey, u64>,
    /// How often a liar said two things in one place to one honest server.
    shown: BTreeMap<PublicKey, u64>,
}

struct Verifier(Arc<dyn Verify>);

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Verifier")
    }
}

impl Oracle {
    /// An oracle for the sim of `setting`; the seats in `liars` may do what they want.
    #[must_use]
    pub fn new(setting: &Setting, liars: &[usize]) -> Self {
        let seats = setting.keys.len();
        let names: Vec<_> = (0..seats).map(|seat| setting.name(seat)).collect();
        let power = |seat: usize| u64::from(setting.power(seat));
        let founders = (0..setting.founders).map(|seat| (names[seat], power(seat))).collect();
        let mut history = History::new(seats);
        for seat in 0..seats {
            history.note_root(seat, Height(0), setting.genesis_state().root());
        }
        // Two seats with one name are one liar.
        let alone = |seat: usize| names.iter().filter(|name| **name == names[seat]).count() == 1;
        let honest: Vec<bool> =
            (0..seats).map(|seat| !liars.contains(&seat) && alone(seat)).collect();
        let lying = honest.iter().take(setting.founders).filter(|honest| !**honest).count();
        Self {
            sim: setting.sim,
            honest,
            verifier: Verifier(Arc::clone(&setting.verifier)),
            now: Duration::ZERO,
            faults: Vec::new(),
            words: Words::default(),
            locks: Locks::default(),
            journals: (0..seats).map(|_| Journal::default()).collect(),
            history,
            electorate: Electorate::new(founders, setting.admin.public()),
            void: BTreeMap::new(),
            walls: BTreeMap::new(),
            witnesses: witnesses(setting, lying),
            turn_length: setting.turn_length,
            evidence: BTreeMap::new(),
            shown: BTreeMap::new(),
            names,
        }
    }

    /// What is wrong so far.
    #[must_use]
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// Whom how many pieces of evidence accuse.
    #[must_use]
    pub const fn evidence(&self) -> &BTreeMap<PublicKey, u64> {
        &self.evidence
    }

    /// The turns that were told to be decided.
    #[must_use]
    pub const fn history(&self) -> &History {
        &self.history
    }

    /// Whether this seat is held to the rules.
    #[must_use]
    pub fn is_honest(&self, seat: usize) -> bool {
        self.honest[seat]
    }

    /// Holds a liar to the rules: then the oracle must complain, or it is blind.
    pub fn take_for_honest(&mut self, seat: usize) {
        self.honest[seat] = true;
    }

    /// Nobody honest may vote for this turn.
    pub(crate) fn forbid(&mut self, turn: HeaderId, why: Forbidden) {
        self.void.insert(turn, why);
    }

    /// Writes a fault down.
    pub fn blame(&mut self, seat: Option<usize>, law: Law, what: impl FnOnce() -> String) {
        if self.faults.len() < FAULTS_KEPT {
            let fault = Fault { at: self.now, seat, law, what: what() };
            self.faults.push(fault);
        }
    }

    /// Time goes on; these are the wall clocks.
    pub(crate) fn watch_clocks(&mut self, at: Duration, wall: impl Fn(usize) -> Millis) {
        self.now = at;
        for seat in (0..self.honest.len()).filter(|seat| self.honest[*seat]) {
            let latest = self.walls.entry(seat).or_default();
            *latest = wall(seat).max(*latest);
        }
    }

    /// The latest time that a turn may state: so many clocks must have been near it.
    fn latest_time(&self) -> Millis {
        let mut walls: Vec<Millis> = self.walls.values().copied().collect();
        walls.sort();
        let nearest = walls.iter().rev().nth(self.witnesses - 1).or(walls.first());
        nearest.copied().unwrap_or_default().plus(AHEAD_MS)
    }

    /// A server appends to its log.
    pub(crate) fn saw_write(&mut self, seat: usize, write: &Write, disk: &MemoryDisk) {
        if let Some((height, root)) = self.journals[seat].note(write, disk) {
            self.history.note_root(seat, height, root);
        }
    }

    /// The disk of a server was taken away: it has said nothing that it remembers.
    pub fn forget_disk(&mut self, seat: usize) {
        self.journals[seat].clear();
        self.history.forget_told(seat);
    }

    /// At which heights the server in `seat` signed something new since a moment, ascending.
    #[must_use]
    pub fn voted_since(&self, seat: usize, since: Duration) -> Vec<Height> {
        self.words.heights_of(self.names[seat], since)
    }

    /// A process died, before its disk changes.
    pub(crate) fn saw_death(&mut self, seat: usize, disk: &MemoryDisk) {
        self.journals[seat].note_death(disk);
    }

    /// A process started, after it recovered its log.
    pub(crate) fn saw_start(&mut self, seat: usize, disk: &MemoryDisk) {
        for entry in self.journals[seat].reread(disk) {
            self.blame(Some(seat), Law::Forgotten, || format!("{entry:?} was durable"));
        }
    }

    /// A server shows evidence.
    pub(crate) fn saw_evidence(&mut self, seat: usize, evidence: &Evidence) {
        let (slots, contents, names, genuine) = match evidence {
            Evidence::Votes(a, b) => (
                (Slot::vote(&a.message), Slot::vote(&b.message)),
                (format!("{:?}", a.message.header), format!("{:?}", b.message.header)),
                (a.message.voter, b.message.voter),
                [a, b].map(|vote| {
                    let said = vote.message.sign_bytes(self.sim);
                    self.verifier.0.verify(&vote.message.voter, &said, &vote.signature)
                }),
            ),
            Evidence::Proposals(a, b) => (
                (Slot::proposal(&a.message), Slot::proposal(&b.message)),
                (format!("{:?}", a.message), format!("{:?}", b.message)),
                (a.message.proposer, b.message.proposer),
                [a, b].map(|proposal| {
                    let said = proposal.message.sign_bytes(self.sim);
                    self.verifier.0.verify(&proposal.message.proposer, &said, &proposal.signature)
                }),
            ),
        };
        *self.evidence.entry(names.0).or_default() += 1;
        let proves = slots.0 == slots.1 && contents.0 != contents.1 && genuine == [true; 2];
        if !proves {
            self.blame(Some(seat), Law::Slander, || format!("{evidence:?} proves nothing"));
        } else if let Some(victim) = self.honest_seat(&names.0) {
            self.blame(Some(victim), Law::DoubleSign, || format!("{evidence:?}"));
        }
    }

    /// A liar says all this to one honest server: two things in one place are a reason to accuse it.
    pub(crate) fn saw_lies(&mut self, liar: PublicKey, frames: &[Message]) {
        let mut said = BTreeMap::new();
        for frame in frames {
            let (slot, header) = match frame {
                Message::Vote(vote) => (Slot::vote(&vote.message), vote.message.header),
                Message::Proposal(proposal) => {
                    (Slot::proposal(&proposal.message), Some(proposal.message.header))
                }
                _ => continue,
            };
            if said.insert(slot, header).is_some_and(|before| before != header) {
                *self.shown.entry(liar).or_default() += 1;
            }
        }
    }

    fn honest_seat(&self, name: &PublicKey) -> Option<usize> {
        let seat = self.names.iter().position(|known| known == name)?;
        self.honest[seat].then_some(seat)
    }

    /// The run is over; `logs` is what each honest server's disk says in the end.
    pub(crate) fn close(
        &mut self,
        at: Duration,
        logs: &BTreeMap<usize, BTreeMap<Height, Arc<Decision>>>,
    ) {
        self.now = at;
        for (name, height) in self.words.voters() {
            if self.electorate.has_voted_outside(&name, height) {
                let seat = self.honest_seat(&name);
                self.blame(seat, Law::Outsider, || format!("{name:?} votes at {height}"));
            }
        }
        for (seat, height) in self.history.diverged() {
            self.blame(Some(seat), Law::Root, || format!("another root after {height}"));
        }
        for (height, what) in self.history.breaks() {
            self.blame(None, Law::Chain, || format!("{height} {what}"));
        }
        for (seat, decisions) in logs {
            for (law, what) in self.history.missing(*seat, decisions) {
                self.blame(Some(*seat), law, || what);
            }
        }
        for (liar, times) in self.shown.clone() {
            if times >= LIES_SHOWN && !self.evidence.contains_key(&liar) {
                let what = || format!("{liar:?} spoke twice {times} times, and nobody shows it");
                self.blame(None, Law::Impunity, what);
            }
        }
    }
}

/// How many honest servers there are at least among those that first vote for a turn.
fn witnesses(setting: &Setting, liars: usize) -> usize {
    let equal = setting.powers.is_empty();
    let quorum = setting.founders * 2 / 3 + 1;
    if equal { quorum.saturating_sub(liars).max(1) } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::{Law, Oracle};
    use crate::agreement::{Scheme, Setting};
    use metatopia_types::{Evidence, HeaderId, Height, Round, Vote, VoteKind};

    #[test]
    fn evidence_that_proves_nothing_is_slander_and_good_evidence_is_not() {
        let setting = Setting::new(Scheme::StandIn, 4, 4);
        let mut oracle = Oracle::new(&setting, &[3]);
        let vote = |round, header| {
            let (kind, height, voter) = (VoteKind::Prevote, Height(7), setting.name(3));
            let vote = Vote { kind, height, round: Round(round), header, voter };
            vote.sign(setting.sim, &*setting.keys[3])
        };
        let nil = vote(0, None);

        oracle.saw_evidence(0, &Evidence::votes(nil.clone(), vote(0, Some(HeaderId::default()))));
        assert!(oracle.faults().is_empty());
        oracle.saw_evidence(1, &Evidence::votes(nil.clone(), vote(1, Some(HeaderId::default()))));
        oracle.saw_evidence(1, &Evidence::votes(nil.clone(), nil));

        let broken: Vec<_> = oracle.faults().iter().map(|fault| fault.law).collect();
        assert_eq!(broken, [Law::Slander; 2]);
    }
}
