//! The oracle: whom it watches, and what it is told.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use metatopia_consensus::{Decision, Message};
use metatopia_types::{Evidence, HeaderId, Height, Millis, PublicKey, Root};

use crate::clocks::Clocks;
use crate::disk::{Append, LogDisk};
use crate::electorate::Electorate;
use crate::founding::Founding;
use crate::history::TurnHistory;
use crate::journal::{Journal, JournalNote};
use crate::law::{Law, Violation};
use crate::locks::Locks;
use crate::words::{Slot, Words};

/// Faults that are written down; more of one run add nothing.
const FAULTS_KEPT: usize = 40;

/// Who says two things in one place so often, each time to one server, is accused by somebody: one
/// time is not enough, for a height may be over when the second word comes.
const LIES_SHOWN: u64 = 100;

/// The same for what honest servers read, of heights that they had not decided, from a server that
/// runs twice: fewer are enough, for nothing of it was lost on the way.
const CONTRADICTIONS_HEARD: u64 = 3;

/// The decisions in the logs of some seats.
pub type Logs = BTreeMap<usize, BTreeMap<Height, Arc<Decision>>>;

/// Why nobody honest may vote for a turn.
#[derive(Debug, Clone, Copy)]
pub struct Forbidden {
    /// The reason, for people.
    pub why: &'static str,
    /// It is only void for clocks that are far from this time.
    pub ahead: Option<Millis>,
}

/// Holds the servers of one sim to the laws.
#[derive(Debug)]
pub struct Oracle {
    pub(crate) founding: Founding,
    /// Which seats are held to the rules.
    pub(crate) honest: Vec<bool>,
    pub(crate) now: Duration,
    faults: Vec<Violation>,
    pub(crate) words: Words,
    pub(crate) locks: Locks,
    pub(crate) journals: Vec<Journal>,
    pub(crate) history: TurnHistory,
    pub(crate) electorate: Electorate,
    /// Which acts of each turn the servers say they carried out.
    carried_out: BTreeMap<Height, Vec<bool>>,
    /// Decisions of seats that were looked at.
    pub(crate) checked: BTreeSet<(usize, HeaderId)>,
    /// Turns that a liar made, and that nobody honest may vote for.
    pub(crate) void: BTreeMap<HeaderId, Forbidden>,
    pub(crate) clocks: Clocks,
    /// Seats whose disks take nothing, so that they vote for nothing.
    pub(crate) muted: BTreeSet<usize>,
    evidence: BTreeMap<PublicKey, u64>,
    /// How often a liar said two things in one place to one honest server.
    shown: BTreeMap<PublicKey, u64>,
    /// What a server heard from those who run twice, about heights that it had not decided.
    heard: BTreeMap<(usize, Slot), Option<HeaderId>>,
    /// How often one server heard both of them say different things in one place.
    contradicted: BTreeMap<PublicKey, u64>,
}

impl Oracle {
    /// An oracle for a sim; the seats in `liars` may do what they want.
    #[must_use]
    pub fn new(founding: Founding, liars: &[usize]) -> Self {
        let seats = founding.names.len();
        let mut history = TurnHistory::new(seats, founding.time);
        for seat in 0..seats {
            history.note_root(seat, Height(0), founding.root);
        }
        // Two seats with one name are one liar.
        let honest: Vec<bool> =
            (0..seats).map(|seat| !liars.contains(&seat) && founding.is_alone(seat)).collect();
        let members = founding.names.iter().copied().zip(founding.powers.iter().copied());
        Self {
            honest,
            now: Duration::ZERO,
            faults: Vec::new(),
            words: Words::default(),
            locks: Locks::default(),
            journals: (0..seats).map(|_| Journal::default()).collect(),
            history,
            electorate: Electorate::new(members.collect(), founding.admin),
            carried_out: BTreeMap::new(),
            checked: BTreeSet::new(),
            void: BTreeMap::new(),
            clocks: Clocks::default(),
            muted: BTreeSet::new(),
            evidence: BTreeMap::new(),
            shown: BTreeMap::new(),
            heard: BTreeMap::new(),
            contradicted: BTreeMap::new(),
            founding,
        }
    }

    /// Returns what is wrong so far.
    #[must_use]
    pub fn faults(&self) -> &[Violation] {
        &self.faults
    }

    /// Returns how many pieces of evidence accuse each server.
    #[must_use]
    pub const fn evidence(&self) -> &BTreeMap<PublicKey, u64> {
        &self.evidence
    }

    /// The turns that were told to be decided.
    #[must_use]
    pub const fn history(&self) -> &TurnHistory {
        &self.history
    }

    /// The last height that is decided in the log of an honest server, whatever was applied since it
    /// started.
    #[must_use]
    pub fn last_decided(&self) -> Height {
        let honest = self.journals.iter().zip(&self.honest).filter(|(_, honest)| **honest);
        honest.filter_map(|(journal, _)| journal.last_decided()).max().unwrap_or_default()
    }

    /// Returns whether this seat is held to the rules.
    #[must_use]
    pub fn is_honest(&self, seat: usize) -> bool {
        self.honest[seat]
    }

    /// Holds a liar to the rules: then the oracle must complain, or it is blind.
    pub fn take_for_honest(&mut self, seat: usize) {
        self.honest[seat] = true;
    }

    /// Forbids honest servers to vote for this turn.
    pub fn forbid(&mut self, turn: HeaderId, why: Forbidden) {
        self.void.insert(turn, why);
    }

    /// Writes a fault down.
    pub fn blame(&mut self, seat: Option<usize>, law: Law, what: impl FnOnce() -> String) {
        if self.faults.len() < FAULTS_KEPT {
            let fault = Violation { at: self.now, seat, law, what: what() };
            self.faults.push(fault);
        }
    }

    /// Notes what a server is about to append to its log.
    pub fn saw_write(&mut self, seat: usize, append: &Append<'_>) {
        match self.journals[seat].note(append) {
            Some(JournalNote::Root(height, root)) => self.saw_root(seat, height, root),
            Some(JournalNote::Healed(from)) => self.history.forget_roots(seat, from),
            Some(JournalNote::Decided(decision)) => self.check_decided(seat, &decision),
            None => {}
        }
    }

    /// Notes which root a server says that the state has after a height.
    pub fn saw_root(&mut self, seat: usize, height: Height, root: Root) {
        self.history.note_root(seat, height, root);
    }

    /// Notes which acts of a turn servers say that they carried out, in the order of its acts. Who votes
    /// later may depend on it.
    pub fn saw_carried_out(&mut self, height: Height, acts: Vec<bool>) {
        self.carried_out.entry(height).or_insert(acts);
        self.follow_membership();
    }

    pub(crate) fn follow_membership(&mut self) {
        while let Some(turn) = self.history.turn(self.electorate.next_height()) {
            let carried_out = self.carried_out.get(&turn.header.height);
            if !self.electorate.judges() && carried_out.is_none() {
                return;
            }
            let carried_out = carried_out.map(Vec::as_slice);
            self.electorate.follow(turn, carried_out, |height| self.history.root(height));
        }
    }

    /// Notes that the disk of a server was taken away, so that it has said nothing that it remembers.
    pub fn forget_disk(&mut self, seat: usize) {
        self.journals[seat].clear();
        self.history.forget_told(seat);
        self.history.begin_after(seat, self.history.last());
    }

    /// Returns the heights at which the server in `seat` signed something new since a moment, ascending.
    #[must_use]
    pub fn voted_since(&self, seat: usize, since: Duration) -> Vec<Height> {
        self.words.heights_of(self.founding.names[seat], since)
    }

    /// Notes whether a server's disk takes its log. As long as it does not, the server may tell what others
    /// decided, and nothing that rests on its own log.
    pub fn saw_muted(&mut self, seat: usize, muted: bool) {
        if muted {
            self.muted.insert(seat);
        } else {
            self.muted.remove(&seat);
        }
    }

    /// A process died, before its disk changes.
    pub fn saw_death(&mut self, seat: usize, disk: &dyn LogDisk) {
        self.muted.remove(&seat);
        self.heard.retain(|(by, _), _| *by != seat);
        self.journals[seat].note_death(disk);
    }

    /// Checks the log of a process that started, after the process recovered it.
    pub fn saw_start(&mut self, seat: usize, disk: &dyn LogDisk) {
        if let Some((segment, at)) = self.journals[seat].strange(disk) {
            let what = || format!("it goes on from segment {segment}, and did not write byte {at}");
            self.blame(Some(seat), Law::Damage, what);
        }
        for entry in self.journals[seat].reread(disk) {
            self.blame(Some(seat), Law::Forgotten, || format!("{entry:?} was durable"));
        }
    }

    /// Notes that a process started whose disk was damaged behind its back, and that it put aside what was
    /// damaged. What it signed still counts.
    pub fn saw_damage(&mut self, seat: usize, disk: &dyn LogDisk) {
        self.journals[seat].note_damage(disk);
        self.history.forget_told(seat);
        self.history.begin_after(seat, self.history.last());
    }

    /// Notes that a server goes on from the state after this height, which others gave it.
    pub fn saw_state_taken(&mut self, seat: usize, height: Height) {
        self.history.begin_after(seat, height);
    }

    /// A server gave up a segment of its log. It needs all turns from the height `needed` on.
    pub fn saw_given_up(&mut self, seat: usize, segment: u64, needed: Height) {
        if let Some(last) = self.journals[seat].give_up(segment).filter(|last| *last >= needed) {
            let what = || format!("it gives up {last}, and needs all from {needed} on");
            self.blame(Some(seat), Law::Lost, what);
        }
    }

    /// A server gave up turns that others had given back to it.
    pub fn saw_let_go(&mut self, seat: usize, heights: RangeInclusive<u64>) {
        self.journals[seat].let_go(heights);
    }

    /// A server shows evidence.
    pub fn saw_evidence(&mut self, seat: usize, evidence: &Evidence) {
        let (slots, contents, names, genuine) = match evidence {
            Evidence::Votes(a, b) => (
                (Slot::vote(&a.message), Slot::vote(&b.message)),
                (format!("{:?}", a.message.header), format!("{:?}", b.message.header)),
                (a.message.voter, b.message.voter),
                [a, b].map(|vote| {
                    let said = vote.message.sign_bytes(self.founding.sim);
                    self.founding.verifier.verify(&vote.message.voter, &said, &vote.signature)
                }),
            ),
            Evidence::Proposals(a, b) => (
                (Slot::proposal(&a.message), Slot::proposal(&b.message)),
                (format!("{:?}", a.message), format!("{:?}", b.message)),
                (a.message.proposer, b.message.proposer),
                [a, b].map(|proposal| {
                    let (proposer, signature) = (&proposal.message.proposer, &proposal.signature);
                    let said = proposal.message.sign_bytes(self.founding.sim);
                    self.founding.verifier.verify(proposer, &said, signature)
                }),
            ),
        };
        self.note_evidence(names.0);
        let proves = slots.0 == slots.1 && contents.0 != contents.1 && genuine == [true; 2];
        if !proves {
            self.blame(Some(seat), Law::Slander, || format!("{evidence:?} proves nothing"));
        } else if let Some(victim) = self.honest_seat(&names.0) {
            self.blame(Some(victim), Law::DoubleSign, || format!("{evidence:?}"));
        }
    }

    /// A server accuses another one of having signed two things at once, and does not say which.
    pub fn saw_accusation(&mut self, seat: usize, accused: PublicKey) {
        self.note_evidence(accused);
        if self.honest_seat(&accused).is_some() {
            self.blame(Some(seat), Law::Slander, || format!("it accuses {accused:?}"));
        }
    }

    fn note_evidence(&mut self, accused: PublicKey) {
        *self.evidence.entry(accused).or_default() += 1;
    }

    /// Notes all that a liar says to one honest server. Two conflicting messages for one slot are a reason to
    /// accuse the liar.
    pub fn saw_lies(&mut self, liar: PublicKey, frames: &[Message]) {
        let mut said = BTreeMap::new();
        for frame in frames {
            let Some((slot, header)) = Slot::of(frame) else { continue };
            if said.insert(slot, header).is_some_and(|before| before != header) {
                *self.shown.entry(liar).or_default() += 1;
            }
        }
    }

    /// An honest server hears this from somebody who runs twice, and passes it on to agreement.
    pub fn saw_heard(&mut self, seat: usize, word: &Message) {
        let Some((slot, header)) = Slot::of(word) else { return };
        if self.journals[seat].held(slot.height) {
            return;
        }
        let first = *self.heard.entry((seat, slot)).or_insert(header);
        if first != header {
            *self.contradicted.entry(slot.name).or_default() += 1;
        }
    }

    /// Returns how often an honest server heard two conflicting messages for one slot from a duplicated
    /// server.
    #[must_use]
    pub const fn contradicted(&self) -> &BTreeMap<PublicKey, u64> {
        &self.contradicted
    }

    pub(crate) fn honest_seat(&self, name: &PublicKey) -> Option<usize> {
        let seat = self.founding.names.iter().position(|known| known == name)?;
        self.honest[seat].then_some(seat)
    }

    /// Checks what can only be checked when the run is over. `logs` are the decisions on the disks of some
    /// honest servers, by seat.
    pub fn close(&mut self, at: Duration, logs: &Logs) {
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
            // What it gave up it had to have: who was told of an act may ask whoever keeps more.
            for height in self.history.before_log(*seat, decisions).collect::<Vec<_>>() {
                if !self.journals[*seat].held(height) {
                    let what =
                        || format!("{height} is not in the log, and was never written there");
                    self.blame(Some(*seat), Law::Lost, what);
                }
            }
            for what in TurnHistory::lanes_go_back(decisions) {
                self.blame(Some(*seat), Law::Lane, || what);
            }
        }
        let shown = self.shown.clone().into_iter().map(|(liar, times)| (liar, times, LIES_SHOWN));
        let heard = self.contradicted.clone().into_iter();
        let heard = heard.map(|(liar, times)| (liar, times, CONTRADICTIONS_HEARD));
        for (liar, times, enough) in shown.chain(heard) {
            if times >= enough && !self.evidence.contains_key(&liar) {
                let what = || format!("{liar:?} spoke twice {times} times, and nobody shows it");
                self.blame(None, Law::Impunity, what);
            }
        }
    }
}

#[cfg(test)]
mod tests;
